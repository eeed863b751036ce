// SPDX-License-Identifier: MIT
// Schedules whose arrays all fit into a few registers, a step of a Kalman filter say, as one function: what a kernel
// makes stays in registers, where the next one finds it, and views, broadcasts and products are permutations of these.
#pragma once

#include <calque/kernels/cpu/first_elements.hpp>
#include <calque/kernels/cpu/rearrange.hpp>
#include <calque/kernels/cpu/registers_of_steps.hpp>
#include <calque/kernels/cpu/unroll_steps.hpp>
#include <calque/runtime/flat_arrays.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace calque {
inline namespace v0 {
namespace runtime {

namespace detail {

constexpr int groups_of(extent_t elements) {
    return static_cast<int>((elements + simd::width - 1) / simd::width);
}

/// The first of the axes that a group's reductions fold.
constexpr int first_folded_axis(graph::group const& x, shape const& space) {
    return x.kind == graph::group_kind::columns ? x.first_reduced_axis : space.rank - x.reduced_axes;
}

} // namespace detail

/// Group `K` of a schedule, whose space is flat: what has more than one element varies along its one axis.
template <class Compiled, int K>
class flat_group : public Compiled::template group<K> {
    using arrays = flat_arrays<Compiled>;
    static constexpr graph::group const& x = Compiled::schedule.groups[K];
    static constexpr auto const& schedule = Compiled::schedule;

    static constexpr int first_folded = detail::first_folded_axis(x, Compiled::optimized.shapes[x.space]);
    static constexpr int end_folded = first_folded + x.reduced_axes;

public:
    static constexpr int space_number = x.space;
    static constexpr shape const& space = Compiled::optimized.shapes[space_number];
    static constexpr int points = static_cast<int>(space.size());
    static constexpr int groups = detail::groups_of(points);

    /// How many points are folded to one, how many follow each other before the next of those, and how many are left.
    static constexpr int folded = static_cast<int>(run_size(space, first_folded, end_folded));
    static constexpr int inner = static_cast<int>(run_size(space, end_folded, space.rank));
    static constexpr int kept = points / folded;

    /// The stored value that a leaf or a result is.
    static constexpr int leaf_value(int leaf) { return schedule.leaves[x.first_leaf + leaf]; }
    static constexpr int result_value(int result) { return schedule.results[x.first_result + result]; }

    static constexpr bool is_product(int i) {
        return Compiled::template group<K>::steps()[i].node == x.node && x.kind == graph::group_kind::product;
    }

    static constexpr graph::step const* steps() { return flat.of; }

private:
    struct step_array {
        graph::step of[x.step_count];

        constexpr step_array() {
            for (int i = 0; i < x.step_count; ++i) {
                graph::step& s = of[i] = Compiled::template group<K>::steps()[i];
                bool is_array = s.leaf >= 0 ? arrays::size_of(leaf_value(s.leaf)) != 1 : is_product(i) && points != 1;
                for (int k = 0; k < s.input_count && s.leaf < 0 && !is_product(i); ++k) {
                    is_array = is_array || of[s.inputs[k]].varies_along_columns;
                }
                s.varies_along_columns = is_array && !(kernels::detail::is_reduction(s) && kept == 1);
                s.varies_along_rows = false;
            }
        }
    };
    static constexpr step_array flat{};
};

namespace detail {

/// Whether `Compiled` can be a `register_program`.
template <class Compiled>
class register_program_checks {
    using arrays = flat_arrays<Compiled>;
    static constexpr auto const& schedule = Compiled::schedule;

public:
    static constexpr bool hold() {
        bool do_hold = Compiled::size.groups > 0;
        for (int v = 0; do_hold && v < Compiled::size.values; ++v) {
            do_hold = fits(v);
        }
        int work = 0;
        for (int k = 0; do_hold && k < Compiled::size.groups; ++k) {
            do_hold = suits(schedule.groups[k], work);
        }
        return do_hold && work <= kernels::thresholds::work_of_a_register_program;
    }

private:
    static constexpr bool fits(shape const& s) {
        return s.is_static() && s.size() > 0 &&
               s.size() <= kernels::thresholds::groups_of_a_register_program * simd::width;
    }
    static constexpr bool fits(int v) {
        return fits(arrays::shape_of(v)) && is_element(arrays::node_of(v).type) &&
               schedule.values[v].kind != graph::storage_kind::indices;
    }
    /// Whether permutations move such elements.
    static constexpr bool is_element(dtype type) { return size_of(type) >= sizeof(float); }

    /// Adds to `work` what registers the group computes.
    static constexpr bool suits(graph::group const& x, int& work) {
        graph::node const n = Compiled::optimized.nodes[x.node < 0 ? 0 : x.node];
        if (x.kind == graph::group_kind::movement) {
            ++work;
            return n.op == graph::code_of<graph::ops::concatenate> || n.op == graph::code_of<graph::ops::iota> ||
                   n.op == graph::code_of<graph::ops::literal_elements>;
        }
        shape const& space = Compiled::optimized.shapes[x.space];
        if (x.kind == graph::group_kind::control || !fits(space)) {
            return false;
        }
        bool suits = true;
        int const first_folded = first_folded_axis(x, space);
        extent_t const folded = run_size(space, first_folded, first_folded + x.reduced_axes);
        extent_t steps = 0; // on all points
        for (int i = 0; i < x.step_count; ++i) {
            graph::step const& s = schedule.steps[x.first_step + i];
            suits = suits && s.index < 0;
            ++steps;
            if (kernels::detail::is_reduction(s)) {
                suits = suits && is_element(s.type) && s.op != graph::code_of<graph::ops::first_index>;
                steps += 2 * std::bit_width(static_cast<std::uint64_t>(folded - 1));
            }
        }
        if (x.kind == graph::group_kind::product) {
            shape const& left = arrays::shape_of(schedule.leaves[x.first_leaf]);
            suits = suits && (n.type == dtype::float32 || n.type == dtype::float64);
            steps += 3 * left[left.rank - 1];
        }
        work += static_cast<int>(steps) * groups_of(space.size());
        return suits;
    }
};

} // namespace detail

/// Whether all arrays of a schedule fit into registers, and all its kernels are such that they may stay there.
template <class Compiled>
inline constexpr bool is_register_program = detail::register_program_checks<Compiled>::hold();

/// Runs the kernels of `Compiled`: arguments are loaded, all is computed, outputs are stored, so that these may share
/// memory with those.
template <class Compiled>
class register_program {
    using arrays = flat_arrays<Compiled>;
    static constexpr auto const& schedule = Compiled::schedule;
    static constexpr int value_count = Compiled::size.values;

    template <int V>
    using element = typename arrays::template element<V>;

public:
    /// The registers of a stored value. What has one element has it in all lanes.
    template <int V>
    using pack_of = simd::pack<element<V>, detail::groups_of(arrays::size_of(V))>;

    /// `bases`: the arguments, row-major and without gaps, then the outputs.
    static CALQUE_NOINLINE void run(std::byte* const* bases) {
        register_program program;
        kernels::unroll_steps<0, value_count>([&](auto v) CALQUE_INLINE_LAMBDA {
            if constexpr (constexpr int a = schedule.values[v].argument; a >= 0) {
                program.template value<v>() = load<v>(bases[a]);
            }
        });
        program.compute();
        kernels::unroll_steps<0, Compiled::output_count>([&](auto o) CALQUE_INLINE_LAMBDA {
            store<o>(bases[Compiled::argument_count + o], program.template output<o>());
        });
    }

    /// A stored value that is row-major and has no gaps.
    template <int V>
    static CALQUE_INLINE pack_of<V> load(std::byte const* at) {
        using T = element<V>;
        auto const* const from = reinterpret_cast<T const*>(at);
        if constexpr (arrays::size_of(V) == 1) {
            return pack_of<V>(*from);
        } else {
            return pack_of<V>::generate([&](auto r) CALQUE_INLINE_LAMBDA {
                constexpr int first = r * simd::lanes<T>;
                return kernels::load_first<arrays::size_of(V) - first>(from + first);
            });
        }
    }

    /// Writes output `O`.
    template <int O>
    static CALQUE_INLINE void store(std::byte* at, pack_of<schedule.outputs[O]> const& x) {
        using T = element<schedule.outputs[O]>;
        constexpr int size = arrays::size_of(schedule.outputs[O]);
        auto* const to = reinterpret_cast<T*>(at);
        simd::unroll<(size + simd::lanes<T> - 1) / simd::lanes<T>>([&](auto r) CALQUE_INLINE_LAMBDA {
            constexpr int first = r * simd::lanes<T>;
            kernels::store_first<size - first>(to + first, x.r[r]);
        });
    }

    /// The registers of a stored value that is no view: arguments are to be set before `compute`.
    template <int V>
    CALQUE_INLINE pack_of<V>& value() {
        return static_cast<slot<V>&>(values_).pack;
    }

    CALQUE_INLINE void compute() {
        set_constants();
        kernels::unroll_steps<0, Compiled::size.groups>([&](auto k) CALQUE_INLINE_LAMBDA {
            if constexpr (schedule.groups[k].kind == graph::group_kind::movement) {
                move<k>();
            } else {
                compute_group<k>();
            }
        });
    }

    /// What output `O` is then.
    template <int O>
    CALQUE_INLINE pack_of<schedule.outputs[O]> output() {
        constexpr int v = schedule.outputs[O];
        if constexpr (arrays::size_of(v) == 1) {
            return taken<place_of_one<v>, 1, root<v>>();
        } else {
            return taken<element_places<Compiled, v>, pack_of<v>::groups, root<v>>();
        }
    }

private:
    template <int V>
    struct slot {
        pack_of<V> pack;
    };
    template <class Indices>
    struct slots;
    template <int... V>
    struct slots<std::integer_sequence<int, V...>> : slot<V>... {};

    template <int V>
    static constexpr int root = schedule.view().root_of(V);

    /// The element of a stored value that has one, for all lanes.
    template <int V>
    struct place_of_one {
        static constexpr int count = simd::width;

        static constexpr int at(int) { return arrays::template roots_v<V>.of[0]; }
    };

    /// The elements of the stored value `V` at some places. (What has one element has it everywhere.)
    template <class Places, int Groups, int V>
    CALQUE_INLINE simd::pack<element<V>, Groups> taken() {
        if constexpr (arrays::size_of(V) == 1) {
            return kernels::widen<Groups>(value<V>());
        } else {
            return kernels::rearranged<Places, Groups>(value<V>());
        }
    }

    CALQUE_INLINE void set_constants() {
        kernels::unroll_steps<0, value_count>([&](auto v) CALQUE_INLINE_LAMBDA {
            using T = element<v>;
            constexpr graph::stored_value s = schedule.values[v];
            if constexpr (s.kind == graph::storage_kind::constant) {
                value<v>() = pack_of<v>(graph::from_bits<T>(arrays::node_of(v).attribute));
            } else if constexpr (s.kind == graph::storage_kind::count) {
                value<v>() = pack_of<v>(static_cast<T>(count_of(arrays::node_of(v))));
            }
        });
    }

    static constexpr extent_t count_of(graph::node const& n) {
        graph::graph_view const g = Compiled::optimized.view();
        return graph::ops::element_count::count(g.shape(g.input(n, 0)), n.attribute);
    }

    // ---- movement

    /// The elements of part `Part` of a concatenation `V` along `Axis`, from the index `First` on.
    template <int V, int Part, int Axis, extent_t First>
    struct part_places {
        static constexpr int count = arrays::size_of(V);

        static constexpr int at(int i) {
            shape const& all = arrays::shape_of(V);
            shape const& part = arrays::shape_of(Part);
            extent_t offset = 0;
            extent_t unit = 1;
            bool is_inside = true;
            for (int axis = all.rank - 1; axis >= 0; --axis) {
                extent_t const index = i % all[axis] - (axis == Axis ? First : 0);
                is_inside = is_inside && index >= 0 && index < part[axis];
                offset += index * unit;
                unit *= part[axis];
                i /= static_cast<int>(all[axis]);
            }
            return is_inside ? arrays::template roots_v<Part>.of[offset] : -1;
        }
    };

    template <int K>
    CALQUE_INLINE void move() {
        constexpr graph::group const& x = schedule.groups[K];
        constexpr int v = schedule.results[x.first_result];
        constexpr graph::node n = arrays::node_of(v);
        using T = element<v>;
        if constexpr (n.op == graph::code_of<graph::ops::concatenate>) {
            kernels::unroll_steps<0, x.leaf_count>([&](auto i) CALQUE_INLINE_LAMBDA { add_part<K, i>(); });
        } else {
            value<v>() = pack_of<v>::generate([&](auto r) CALQUE_INLINE_LAMBDA {
                return simd::indices<simd::lanes<T>>([&](auto... lane) CALQUE_INLINE_LAMBDA {
                    return simd::reg<T>{
                        constant_element<T>(n, std::min<int>(r * simd::lanes<T> + lane, arrays::size_of(v) - 1))...};
                });
            });
        }
    }

    template <int K, int I>
    CALQUE_INLINE void add_part() {
        constexpr graph::group const& x = schedule.groups[K];
        constexpr int v = schedule.results[x.first_result], part = schedule.leaves[x.first_leaf + I];
        constexpr int axis = static_cast<int>(arrays::node_of(v).attribute);
        using places = part_places<v, part, axis, first_of_part(x, I, axis)>;
        if constexpr (I == 0) {
            value<v>() = taken<places, pack_of<v>::groups, root<part>>();
        } else {
            value<v>() = kernels::either<places>(value<v>(), taken<places, pack_of<v>::groups, root<part>>());
        }
    }

    static constexpr extent_t first_of_part(graph::group const& x, int part, int axis) {
        extent_t first = 0;
        for (int i = 0; i < part; ++i) {
            first += arrays::shape_of(schedule.leaves[x.first_leaf + i])[axis];
        }
        return first;
    }

    /// Element `i` of `iota` or of a list of literals.
    template <class T>
    static constexpr T constant_element(graph::node const& n, int i) {
        if (n.op == graph::code_of<graph::ops::iota>) {
            return static_cast<T>(i);
        }
        return graph::from_bits<T>(static_cast<std::uint64_t>(Compiled::optimized.shapes[n.attribute][i]));
    }

    // ---- kernels

    /// For each point the one that is so many further of those that are folded together, if there is one.
    template <class Group, int Distance>
    struct further_places {
        static constexpr int count = Group::points;

        static constexpr int at(int i) {
            return i / Group::inner % Group::folded + Distance < Group::folded ? i + Distance * Group::inner : -1;
        }
    };

    /// For each point the first one of those that are folded together.
    template <class Group>
    struct first_places {
        static constexpr int count = Group::points;

        static constexpr int at(int i) { return i - i / Group::inner % Group::folded * Group::inner; }
    };

    /// For each fold the first of its points.
    template <class Group>
    struct kept_places {
        static constexpr int count = Group::kept;

        static constexpr int at(int i) { return i / Group::inner * Group::folded * Group::inner + i % Group::inner; }
    };

    /// For each element of a product of `Columns` columns what it multiplies in step `Index`: of the left operand, the
    /// element of that column in its row, or of the right one.
    template <int V, bool IsLeft, int Index, int Points, int Columns, int Depth>
    struct product_places {
        static constexpr int count = Points;

        static constexpr int at(int i) {
            return arrays::template roots_v<V>.of[IsLeft ? i / Columns * Depth + Index : Index * Columns + i % Columns];
        }
    };

    template <class Group>
    struct registers {
        kernels::step_registers<Group, Group::groups> arrays;
        kernels::step_registers<Group, 1> numbers;
    };

    template <int K>
    CALQUE_INLINE void compute_group() {
        using group = flat_group<Compiled, K>;
        registers<group> r;
        kernels::unroll_steps<0, group::step_count>([&](auto i) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = kernels::step_v<group, i>;
            if constexpr (is_fold<group, i> && s.varies_along_columns) {
                auto const folds = fold_lanes<group, i, group::folded>(folded_input<group, i>(r));
                r.arrays.template at<i>() = kernels::rearranged<first_places<group>, group::groups>(folds);
                keep<group, i>(folds);
            } else {
                if constexpr (s.varies_along_columns) {
                    r.arrays.template at<i>() = compute_array<group, i>(r);
                } else if constexpr (!kernels::is_number<group, i>) {
                    r.numbers.template at<i>() = compute_number<group, i>(r);
                }
                keep<group, i>(kernels::column_input<i>(r.arrays, r.numbers));
            }
        });
    }

    template <class Group, int I>
    CALQUE_INLINE auto compute_array(registers<Group>& r) {
        constexpr graph::step s = kernels::step_v<Group, I>;
        if constexpr (s.leaf >= 0) {
            constexpr int v = Group::leaf_value(s.leaf);
            using places = leaf_places<Compiled, v, Group::space_number>;
            return taken<places, Group::groups, root<v>>();
        } else if constexpr (Group::is_product(I)) {
            return multiply<Group, I>();
        } else {
            return kernels::apply_step<I>(r.arrays, r.numbers);
        }
    }

    template <class Group, int I>
    CALQUE_INLINE auto compute_number(registers<Group>& r) {
        constexpr graph::step s = kernels::step_v<Group, I>;
        using T = kernels::step_element<Group, I>;
        if constexpr (s.leaf >= 0) {
            constexpr int v = Group::leaf_value(s.leaf);
            return taken<place_of_one<v>, 1, root<v>>();
        } else if constexpr (Group::is_product(I)) {
            return simd::pack<T, 1>(simd::first_element(multiply<Group, I>()));
        } else if constexpr (is_fold<Group, I>) {
            using op = kernels::step_op<Group, I>;
            simd::pack<T, Group::groups> const none(op::template identity<T>);
            // Of all points, or of so many of what is the same at each.
            auto const all = simd::keep_first(folded_input<Group, I>(r), none, Group::folded);
            return simd::pack<T, 1>(kernels::fold_pack<op>(all));
        } else {
            return kernels::apply_uniform_step<I>(r.numbers);
        }
    }

    /// Keeps a step, if it is a result: `all` has its value at each point, or a fold's at the first of its points.
    template <class Group, int I, class Pack>
    CALQUE_INLINE void keep(Pack const& all) {
        if constexpr (constexpr int result = kernels::step_v<Group, I>.result; result >= 0) {
            constexpr int v = Group::result_value(result);
            if constexpr (arrays::size_of(v) == Group::points) {
                value<v>() = all;
            } else if constexpr (arrays::size_of(v) == 1) {
                value<v>() = pack_of<v>(simd::first_element(all));
            } else {
                value<v>() = kernels::rearranged<kept_places<Group>, pack_of<v>::groups>(all);
            }
        }
    }

    template <class Group, int I>
    static constexpr bool is_fold = kernels::detail::is_reduction(kernels::step_v<Group, I>);

    template <class Group, int I>
    static CALQUE_INLINE auto folded_input(registers<Group>& r) {
        return kernels::column_input<kernels::step_v<Group, I>.inputs[0]>(r.arrays, r.numbers);
    }

    /// At each point the fold of it and of those behind it, `Count` in all, as far as there are so many: in few steps,
    /// each of which doubles how many.
    template <class Group, int I, int Count, class Pack>
    static CALQUE_INLINE Pack fold_lanes(Pack const& x) {
        using op = kernels::step_op<Group, I>;
        if constexpr (Count == 1) {
            return x;
        } else if constexpr (Count % 2 == 0) {
            Pack const half = fold_lanes<Group, I, Count / 2>(x);
            return op::combine(half, kernels::rearranged<further_places<Group, Count / 2>, Pack::groups>(half));
        } else {
            Pack const but_one = fold_lanes<Group, I, Count - 1>(x);
            return op::combine(but_one, kernels::rearranged<further_places<Group, Count - 1>, Pack::groups>(x));
        }
    }

    /// The matrix product of a group's first two leaves. The sum of each element runs over k in order, as in a tile.
    template <class Group, int I>
    CALQUE_INLINE auto multiply() {
        using T = kernels::step_element<Group, I>;
        constexpr int left = Group::leaf_value(0), right = Group::leaf_value(1);
        constexpr shape a = arrays::shape_of(left);
        constexpr int columns = static_cast<int>(Group::space[Group::space.rank - 1]);
        constexpr int depth = static_cast<int>(a[a.rank - 1]);
        simd::pack<T, Group::groups> sum(T(0));
        kernels::unroll_steps<0, depth>([&](auto k) CALQUE_INLINE_LAMBDA {
            using of_left = product_places<left, true, k, Group::points, columns, depth>;
            using of_right = product_places<right, false, k, Group::points, columns, depth>;
            sum = simd::fma(taken<of_left, Group::groups, root<left>>(), taken<of_right, Group::groups, root<right>>(),
                            sum);
        });
        return sum;
    }

    slots<std::make_integer_sequence<int, value_count>> values_;
};

} // namespace runtime
} // namespace v0
} // namespace calque
