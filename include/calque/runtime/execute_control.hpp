// SPDX-License-Identifier: MIT
// Runs branches and loops: each region has a schedule and a plan of its own, and sees the values around it as
// arguments.
#pragma once

#include <calque/kernels/cpu/movement.hpp>
#include <calque/runtime/aliasing.hpp>
#include <calque/runtime/arena.hpp>
#include <calque/runtime/placement.hpp>
#include <calque/runtime/plan_needs.hpp>
#include <calque/runtime/register_loop.hpp>

#include <cstring>
#include <tuple>

namespace calque {
inline namespace v0 {
namespace runtime {

template <class Compiled, plan_needs Needs = plan_needs{}>
class executor;

namespace detail {

template <class Compiled, int K, class Regions>
struct plans_of_group;
template <class Compiled, int K, int... R>
struct plans_of_group<Compiled, K, std::integer_sequence<int, R...>> {
    std::tuple<typename executor<typename Compiled::template region<K, R>>::plan...> plans{};
};

/// The number of regions of group `K`: none, unless it is a branch or loop.
template <class Compiled, int K>
constexpr int region_count_of() {
    if constexpr (Compiled::schedule.groups[K].kind == graph::group_kind::control) {
        return graph::region_count(Compiled::control_node(K));
    } else {
        return 0;
    }
}

template <class Compiled, class Groups>
struct nested_plans;
template <class Compiled, int... K>
struct nested_plans<Compiled, std::integer_sequence<int, K...>> {
    std::tuple<plans_of_group<Compiled, K, std::make_integer_sequence<int, region_count_of<Compiled, K>()>>...>
        groups{};
};

/// The shapes of the nodes of one branch or loop, from those of another that is like it: `scratch`, by node, of which
/// other elements mean nothing.
constexpr shape const* shapes_of_twin(graph::graph_view const& g, graph::node_id first, graph::node_id own,
                                      shape const* shapes, sequence<shape>& scratch) {
    scratch.resize(g.node_count);
    for (auto const& x : graph::region_comparison(g, first, own).images()) {
        scratch[x.stands_for] = shapes[x.node];
    }
    return scratch.data();
}

} // namespace detail

/// The plan of a schedule with regions: its own, and one for each region.
template <class Compiled>
struct plan_with_regions
    : plan_storage<capacity_of(Compiled::view(), Compiled::schedule.view(), Compiled::size, plan_needs{})> {
    detail::nested_plans<Compiled, std::make_integer_sequence<int, Compiled::size.groups>> nested{};

    template <int K, int R>
    constexpr auto& region() {
        return std::get<static_cast<std::size_t>(R)>(std::get<static_cast<std::size_t>(K)>(nested.groups).plans);
    }
    template <int K, int R>
    constexpr auto const& region() const {
        return std::get<static_cast<std::size_t>(R)>(std::get<static_cast<std::size_t>(K)>(nested.groups).plans);
    }
};

/// Calls a region of branches or loops: those that are alike share this.
template <class Region>
struct region_caller {
    using plan = typename executor<Region>::plan;

    /// `shapes`: by node of the graph; `around` and `inputs`: the values around the branch or loop, and which of them
    /// it reads.
    static constexpr void make_plan(plan& p, shape const* shapes, value_plan const* around, int const* inputs,
                                    graph::control_counts const& counts) {
        calque::strides steps[Region::argument_count + 1];
        for (int i = 0; i < counts.data; ++i) {
            value_plan const& v = around[inputs[i]];
            if (i < counts.carried) {
                steps[i] = contiguous_strides(v.extents);
            } else if (i < counts.carried + counts.items) {
                for (int axis = 1; axis < v.extents.rank; ++axis) {
                    steps[i][axis - 1] = v.steps[axis];
                }
            } else {
                steps[i] = v.steps;
            }
        }
        executor<Region>::make_plan(p, shapes, steps);
    }

    /// The addresses that a region sees: of what it reads, of its outputs, which are still to be set, then its memory.
    struct addresses {
        static constexpr int outputs = Region::argument_count;
        static constexpr int arena = outputs + Region::output_count;
        std::byte* all[arena + 2];

        addresses(plan const& p, value_plan const* around, std::byte* const* bases, int const* inputs,
                  std::byte* memory) {
            for (int i = 0; i < outputs; ++i) {
                all[i] = bases[around[inputs[i]].at.base] + around[inputs[i]].at.offset;
            }
            all[arena] = memory;
            all[arena + 1] = reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(p.scalars));
        }
    };

    /// Runs a region of a branch. `outputs`: which of the values around it writes.
    CALQUE_NOINLINE static void run(plan const& p, value_plan const* around, std::byte* const* bases, int const* inputs,
                                    int const* outputs) {
        arena::frame const frame(p.arena_bytes + 64);
        addresses seen(p, around, bases, inputs, frame.data());
        for (int o = 0; o < Region::output_count; ++o) {
            location const& at = around[outputs[o]].at;
            seen.all[addresses::outputs + o] = bases[at.base] + at.offset;
        }
        executor<Region>(p, seen.all).run();
    }
};

/// The branch or loop that group `K` of a schedule is.
template <class Compiled, int K>
class control_executor {
    static constexpr auto const& schedule = Compiled::schedule;
    static constexpr graph::group const& group = schedule.groups[K];
    static constexpr graph::node const& node = Compiled::control_node(K);
    static constexpr graph::control_counts counts = graph::control_counts::unpack(node.attribute);
    static constexpr int region_count = graph::region_count(node);

    template <int R>
    using region = typename Compiled::template region<K, R>;
    template <int R>
    using region_source = typename region<R>::source;

    using plan_type = typename executor<Compiled>::plan;

public:
    /// Plans the regions; the values around them have their places. `scratch`: memory for all branches and loops.
    static constexpr void make_plans(plan_type& p, shape const* shapes, sequence<shape>& scratch) {
        shape const* const seen = shapes_of_regions(shapes, scratch);
        [&]<int... R>(std::integer_sequence<int, R...>) {
            (region_caller<region<R>>::make_plan(p.template region<K, R>(), seen, p.values, inputs(), counts), ...);
        }(std::make_integer_sequence<int, region_count>{});
    }

    /// Whether the shapes of a call are those that fusion in the regions has taken for equal.
    static constexpr bool suits_fusion(shape const* shapes, sequence<shape>& scratch) {
        shape const* const seen = shapes_of_regions(shapes, scratch);
        return [&]<int... R>(std::integer_sequence<int, R...>) {
            return (executor<region<R>>::suits_fusion(seen) && ...);
        }(std::make_integer_sequence<int, region_count>{});
    }

    control_executor(plan_type const& p, std::byte* const* bases) : plan_(p), bases_(bases) {}

    void run() const {
        if constexpr (node.op == graph::code_of<graph::ops::branch> && region_count == 1) {
            run_branch_region<0>();
        } else if constexpr (node.op == graph::code_of<graph::ops::branch>) {
            run_branch();
        } else if constexpr (node.op == graph::code_of<graph::ops::while_loop>) {
            if constexpr (stays_in_registers<Compiled, K>()) {
                run_while_in_registers();
            } else {
                run_while();
            }
        } else if constexpr (stays_in_registers<Compiled, K>()) {
            run_scan_in_registers();
        } else {
            run_scan();
        }
    }

private:
    /// The shapes of the nodes that the regions were compiled for: their own, or those of the first ones like them.
    static constexpr shape const* shapes_of_regions(shape const* shapes, sequence<shape>& scratch) {
        constexpr int twin = Compiled::twin_of(K);
        if constexpr (twin == K) {
            return shapes;
        } else {
            return detail::shapes_of_twin(Compiled::view(), Compiled::control_node_id(twin),
                                          Compiled::control_node_id(K), shapes, scratch);
        }
    }

    // ---- memory

    /// The stored values that the regions see, in order.
    static constexpr int const* inputs() { return schedule.leaves + group.first_leaf; }
    value_plan const& input(int i) const { return plan_.values[inputs()[i]]; }
    static constexpr dtype input_type(int i) {
        return Compiled::optimized.nodes[schedule.values[inputs()[i]].node].type;
    }
    std::byte* at(location const& where) const { return bases_[where.base] + where.offset; }

    /// The stored value of the result of a kind and number; -1: nobody needs it.
    template <class Op>
    static constexpr int find_result(int number) {
        for (int i = 0; i < group.result_count; ++i) {
            int const v = schedule.results[group.first_result + i];
            graph::node const& n = Compiled::optimized.nodes[schedule.values[v].node];
            if (n.op == graph::code_of<Op> && n.attribute == static_cast<std::uint64_t>(number)) {
                return v;
            }
        }
        return -1;
    }

    static std::size_t bytes_of(value_plan const& v, dtype type) {
        return static_cast<std::size_t>(v.extents.size()) * size_of(type);
    }
    static std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

    template <int R>
    using region_bases = typename region_caller<region<R>>::addresses;

    template <int R>
    region_bases<R> bases_of(std::byte* memory) const {
        return {plan_.template region<K, R>(), plan_.values, bases_, inputs(), memory};
    }

    template <int R>
    auto executor_of(region_bases<R> const& bases) const {
        return executor<region<R>>(plan_.template region<K, R>(), bases.all);
    }

    void copy_input(int i, std::byte* to) const {
        value_plan const& v = input(i);
        kernels::copy_strided(v.extents, {to, contiguous_strides(v.extents)}, {at(v.at), v.steps},
                              size_of(input_type(i)));
    }

    // ---- branches

    void run_branch() const {
        using index_type = type_of<input_type(0)>;
        auto const index = *reinterpret_cast<index_type const*>(at(input(0).at));
        std::int64_t chosen = 0;
        if constexpr (std::is_same_v<index_type, bool>) {
            chosen = index ? 0 : 1;
        } else if constexpr (std::is_unsigned_v<index_type>) {
            chosen =
                index < static_cast<index_type>(region_count) ? static_cast<std::int64_t>(index) : region_count - 1;
        } else {
            chosen = index < 0 ? 0 : index < region_count ? static_cast<std::int64_t>(index) : region_count - 1;
        }
        [&]<int... R>(std::integer_sequence<int, R...>) {
            (void)((R == chosen && (run_branch_region<R>(), true)) || ...);
        }(std::make_integer_sequence<int, region_count>{});
    }

    /// The stored values that a region of a branch writes.
    template <int R>
    struct written_values {
        int of_output[region<R>::output_count]{};

        constexpr written_values() {
            for (int o = 0; o < region<R>::output_count; ++o) {
                of_output[o] = find_result<graph::ops::result>(region_source<R>::yield_of(o));
            }
        }
    };

    template <int R>
    void run_branch_region() const {
        static constexpr written_values<R> written{};
        region_caller<region<R>>::run(plan_.template region<K, R>(), plan_.values, bases_, inputs(), written.of_output);
    }

    // ---- loops

    /// Where a carried value is: read from one place and written to another, which then change roles; or in one place,
    /// if no kernel of the body minds; or, if it is stacked or kept from step to step, in the elements of that array.
    struct carried_place {
        std::byte* now = nullptr;
        std::byte* next = nullptr;
        std::byte* result = nullptr;
        std::byte* history = nullptr;
        int stacked = -1; // the output of the body in whose place it is carried on
        std::size_t bytes = 0;

        void advance() {
            std::byte* const was = now;
            now = next;
            next = was;
        }
    };

    template <int R>
    static constexpr bool is_in_place(int k) {
        constexpr alias_table<region<R>> aliases{};
        return aliases.in_place(k, k);
    }
    static constexpr int at_least_one(int n) { return n == 0 ? 1 : n; }

    /// Bytes of memory for carried values, beside those of the results.
    std::size_t carried_bytes() const {
        std::size_t bytes = 0;
        for (int k = 0; k < counts.carried; ++k) {
            bytes += 2 * rounded(bytes_of(input(k), input_type(k)));
        }
        return bytes;
    }

    void place_carried(carried_place* places, std::byte* memory) const {
        for (int k = 0; k < counts.carried; ++k) {
            carried_place& p = places[k];
            p.bytes = bytes_of(input(k), input_type(k));
            int const result = find_result<graph::ops::result>(k);
            int const history = find_result<graph::ops::history>(k);
            p.result = result < 0 ? memory : at(plan_.values[result].at);
            p.history = history < 0 ? nullptr : at(plan_.values[history].at);
            p.stacked = region_source<0>::output_that_stacks(k);
            p.now = p.result;
            p.next = memory + rounded(p.bytes);
            memory = p.next + rounded(p.bytes);
        }
    }

    CALQUE_NOINLINE void run_while() const {
        std::size_t const asked_bytes = rounded(plan_.template region<K, 0>().arena_bytes);
        std::size_t const body_bytes = rounded(plan_.template region<K, 1>().arena_bytes);
        std::size_t const region_bytes = asked_bytes > body_bytes ? asked_bytes : body_bytes;
        arena::frame const frame(region_bytes + carried_bytes() + 64);
        carried_place places[at_least_one(counts.carried)];
        place_carried(places, frame.data() + region_bytes);
        region_bases<0> asked = bases_of<0>(frame.data());
        region_bases<1> body = bases_of<1>(frame.data());
        bool goes_on = false;
        asked.all[region_bases<0>::outputs] = reinterpret_cast<std::byte*>(&goes_on);
        for (int k = 0; k < counts.carried; ++k) {
            copy_input(k, places[k].now);
            if (is_in_place<1>(k)) {
                places[k].next = places[k].now;
            }
        }
        auto const condition = executor_of<0>(asked);
        auto const step = executor_of<1>(body);
        while (true) {
            for (int k = 0; k < counts.carried; ++k) {
                asked.all[k] = body.all[k] = places[k].now;
                body.all[region_bases<1>::outputs + k] = places[k].next;
            }
            condition.run();
            if (!goes_on) {
                break;
            }
            step.run();
            for (carried_place& p : places) {
                p.advance();
            }
        }
        for (carried_place const& p : places) {
            if (p.now != p.result) {
                std::memcpy(p.result, p.now, p.bytes);
            }
        }
    }

    // ---- scans

    static constexpr std::ptrdiff_t direction = counts.backwards ? -1 : 1;

    std::ptrdiff_t step_count() const { return input(counts.carried).extents[0]; }
    static constexpr std::ptrdiff_t first_step(std::ptrdiff_t steps) { return counts.backwards ? steps - 1 : 0; }

    /// How far the items that a step reads and the elements that it stacks are from those of the next, in bytes.
    struct moving_places {
        std::ptrdiff_t item_bytes[at_least_one(counts.items)];
        std::ptrdiff_t stacked_bytes[at_least_one(region<0>::output_count)];

        void advance(region_bases<0>& bases) const {
            for (int j = 0; j < counts.items; ++j) {
                bases.all[counts.carried + j] += item_bytes[j];
            }
            for (int o = counts.carried; o < region<0>::output_count; ++o) {
                bases.all[region_bases<0>::outputs + o] += stacked_bytes[o];
            }
        }
    };

    /// Lets `bases` have the places of the first step.
    moving_places place_moving(region_bases<0>& bases, std::ptrdiff_t steps) const {
        moving_places moving;
        std::ptrdiff_t const first = first_step(steps);
        for (int j = 0; j < counts.items; ++j) {
            int const i = counts.carried + j;
            std::ptrdiff_t const bytes = input(i).steps[0] * static_cast<std::ptrdiff_t>(size_of(input_type(i)));
            bases.all[i] += first * bytes;
            moving.item_bytes[j] = bytes * direction;
        }
        for (int o = counts.carried; o < region<0>::output_count; ++o) {
            int const v = find_result<graph::ops::stacked>(region_source<0>::yield_of(o) - counts.carried);
            value_plan const& all = plan_.values[v];
            dtype const type = Compiled::optimized.nodes[schedule.values[v].node].type;
            std::ptrdiff_t const bytes = steps == 0 ? 0 : static_cast<std::ptrdiff_t>(bytes_of(all, type)) / steps;
            bases.all[region_bases<0>::outputs + o] = at(all.at) + first * bytes;
            moving.stacked_bytes[o] = bytes * direction;
        }
        return moving;
    }

    CALQUE_NOINLINE void run_scan() const {
        auto const& region_plan = plan_.template region<K, 0>();
        std::size_t const region_bytes = rounded(region_plan.arena_bytes);
        arena::frame const frame(region_bytes + carried_bytes() + 64);
        carried_place places[at_least_one(counts.carried)];
        place_carried(places, frame.data() + region_bytes);
        region_bases<0> bases = bases_of<0>(frame.data());
        auto const step = executor_of<0>(bases);
        std::ptrdiff_t const steps = step_count();

        for (int k = 0; k < counts.carried; ++k) {
            carried_place& p = places[k];
            if (p.history != nullptr && steps != 0) {
                p.now = p.history + static_cast<std::size_t>(first_step(steps)) * p.bytes;
            } else if (p.stacked >= 0) {
                p.now = p.next; // the result is written at last
            } else if (is_in_place<0>(k)) {
                p.next = p.now;
            } else if (steps % 2 != 0) {
                p.advance(); // so that the last step ends in the result
            }
            copy_input(k, p.now);
        }
        moving_places const moving = place_moving(bases, steps);
        for (std::ptrdiff_t i = 0; i < steps; ++i) {
            for (int k = 0; k < counts.carried; ++k) {
                carried_place& p = places[k];
                if (p.history != nullptr) {
                    p.next = i + 1 == steps ? p.result : p.now + direction * static_cast<std::ptrdiff_t>(p.bytes);
                } else if (p.stacked >= 0) {
                    p.next = bases.all[region_bases<0>::outputs + p.stacked];
                }
                bases.all[k] = p.now;
                bases.all[region_bases<0>::outputs + k] = p.next;
            }
            step.run();
            for (carried_place& p : places) {
                p.advance();
            }
            moving.advance(bases);
        }
        for (carried_place const& p : places) {
            if (p.stacked >= 0) {
                std::memcpy(p.result, p.now, p.bytes);
            }
        }
    }

    // ---- loops whose steps compute a few numbers

    template <class Step>
    CALQUE_INLINE auto load_carried() const {
        return simd::indices<counts.carried>([&](auto... k) CALQUE_INLINE_LAMBDA {
            return std::tuple{
                Step::template load<Step::template output_value<k>>(at(input(k).at), input(k).steps)...};
        });
    }

    /// Writes what a loop ends with to where anyone reads it.
    template <class Step, class Carried>
    CALQUE_INLINE void store_carried(Carried const& carried) const {
        simd::unroll<counts.carried>([&](auto k) CALQUE_INLINE_LAMBDA {
            if constexpr (constexpr int v = find_result<graph::ops::result>(k); v >= 0) {
                Step::template store<k>(at(plan_.values[v].at), std::get<k>(carried));
            }
        });
    }

    CALQUE_NOINLINE void run_while_in_registers() const {
        using condition = register_step<region<0>, counts.carried>;
        using step = register_step<region<1>, counts.carried>;
        condition asked(plan_.template region<K, 0>().values, bases_of<0>(nullptr).all);
        step next(plan_.template region<K, 1>().values, bases_of<1>(nullptr).all);
        auto carried = load_carried<step>();
        auto const argument = [&](auto a) CALQUE_INLINE_LAMBDA { return std::get<a>(carried); };
        while (true) {
            asked.run(argument);
            if (!simd::first_element(asked.template output<0>(argument))) {
                break;
            }
            next.run(argument);
            carried = next.template first_outputs<counts.carried>(argument);
        }
        store_carried<step>(carried);
    }

    CALQUE_NOINLINE void run_scan_in_registers() const {
        using step = register_step<region<0>, counts.carried + counts.items>;
        region_bases<0> bases = bases_of<0>(nullptr);
        std::ptrdiff_t const steps = step_count();
        moving_places const moving = place_moving(bases, steps);
        step next(plan_.template region<K, 0>().values, bases.all);

        auto carried = load_carried<step>();
        auto const argument = [&](auto a) CALQUE_INLINE_LAMBDA {
            if constexpr (a < counts.carried) {
                return std::get<a>(carried);
            } else {
                return next.template load_argument<a>(bases.all[a]);
            }
        };
        for (std::ptrdiff_t i = 0; i < steps; ++i) {
            simd::unroll<counts.carried>([&](auto k) CALQUE_INLINE_LAMBDA {
                if constexpr (constexpr int v = find_result<graph::ops::history>(k); v >= 0) {
                    std::ptrdiff_t const number = first_step(steps) + i * direction;
                    step::template store<k>(at(plan_.values[v].at) + number * step::template bytes_of_output<k>,
                                            std::get<k>(carried));
                }
            });
            next.run(argument);
            simd::unroll<region<0>::output_count - counts.carried>([&](auto j) CALQUE_INLINE_LAMBDA {
                constexpr int o = counts.carried + j;
                step::template store<o>(bases.all[region_bases<0>::outputs + o], next.template output<o>(argument));
            });
            carried = next.template first_outputs<counts.carried>(argument);
            moving.advance(bases);
        }
        store_carried<step>(carried);
    }

    plan_type const& plan_;
    std::byte* const* bases_;
};

} // namespace runtime
} // namespace v0
} // namespace calque
