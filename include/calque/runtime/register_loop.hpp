// SPDX-License-Identifier: MIT
// Steps of loops on a few numbers: what the loop carries stays in registers, where kernels for each step would wait for
// what those of the one before have written to memory.
#pragma once

#include <calque/kernels/cpu/step_kernel.hpp>
#include <calque/runtime/compiled.hpp>
#include <calque/runtime/plan.hpp>
#include <calque/runtime/register_program.hpp>

#include <cstddef>
#include <tuple>

namespace calque {
inline namespace v0 {
namespace runtime {

namespace detail {

/// What a region looks like to `register_step`.
template <class Region>
struct register_region {
    static constexpr auto const& schedule = Region::schedule;

    static constexpr shape const& shape_of(int v) {
        return Region::optimized.shapes[Region::optimized.nodes[schedule.values[v].node].shape];
    }
    static constexpr shape const& space() { return Region::optimized.shapes[schedule.groups[0].space]; }

    /// The stored value that is an argument of the region; -1: nobody reads it.
    static constexpr int value_of_argument(int argument) {
        for (int v = 0; v < Region::size.values; ++v) {
            if (schedule.values[v].kind == graph::storage_kind::argument && schedule.values[v].argument == argument) {
                return v;
            }
        }
        return -1;
    }

    /// Whether all that the region does is one kernel on scalars and on arrays of one extent, which fit into a few
    /// registers. `moving`: its arguments that differ from step to step, of which outputs may be some.
    static constexpr bool is_one_kernel(int moving) {
        if (Region::size.groups != 1) {
            return false;
        }
        graph::group const& x = schedule.groups[0];
        bool is_one = x.kind == graph::group_kind::rows && x.reduced_axes == 0 && space().rank <= 1 &&
                      space().is_static() && space().size() > 0 &&
                      space().size() <= most_groups(x.step_count) * simd::width;
        for (int i = 0; i < x.leaf_count; ++i) {
            int const v = schedule.leaves[x.first_leaf + i];
            is_one = is_one && fits(v) && schedule.values[v].kind != graph::storage_kind::view &&
                     schedule.values[v].kind != graph::storage_kind::indices;
        }
        for (int o = 0; o < Region::output_count; ++o) {
            int const v = schedule.outputs[o];
            graph::stored_value const& value = schedule.values[v];
            bool const is_made = value.kind == graph::storage_kind::buffer && value.made_by == 0;
            bool const is_moving = value.kind == graph::storage_kind::argument && value.argument < moving;
            is_one = is_one && fits(v) && (is_made || is_moving);
        }
        return is_one;
    }

private:
    static constexpr int most_groups(int steps) {
        bool const are_many =
            simd::register_count != 32 && steps > kernels::thresholds::steps_of_a_loop_of_16_registers;
        return are_many ? 1 : kernels::thresholds::groups_of_a_loop;
    }

    static constexpr bool fits(int v) { return shape_of(v) == space() || shape_of(v).rank == 0; }
};

/// Whether a step of a loop, a region whose first `moving` arguments differ from step to step, may stay in registers.
template <class Region>
constexpr bool is_step_in_registers(int moving) {
    return register_region<Region>::is_one_kernel(moving) || is_register_program<Region>;
}

} // namespace detail

/// Whether group `K` of a schedule is a loop, each region of which computes a few numbers.
template <class Compiled, int K>
constexpr bool stays_in_registers() {
    constexpr graph::node const& loop = Compiled::control_node(K);
    constexpr graph::control_counts counts = graph::control_counts::unpack(loop.attribute);
    if constexpr (loop.op == graph::code_of<graph::ops::while_loop>) {
        return detail::is_step_in_registers<typename Compiled::template region<K, 0>>(counts.carried) &&
               detail::is_step_in_registers<typename Compiled::template region<K, 1>>(counts.carried);
    } else if constexpr (loop.op == graph::code_of<graph::ops::scan>) {
        return detail::is_step_in_registers<typename Compiled::template region<K, 0>>(counts.carried + counts.items);
    } else {
        return false;
    }
}

/// A step of a loop that is one kernel, the region `Region`, whose first `Moving` arguments differ from step to step.
template <class Region, int Moving>
class kernel_step {
    using seen = detail::register_region<Region>;
    static constexpr auto const& schedule = Region::schedule;
    static constexpr graph::group const& description = schedule.groups[0];
    static constexpr int elements = static_cast<int>(seen::space().size());
    static constexpr int groups = (elements + simd::width - 1) / simd::width;
    using kernel = kernels::step_kernel<typename Region::template group<0>, groups>;

    template <int V>
    static constexpr bool is_array = elements != 1 && seen::shape_of(V).rank != 0;

public:
    /// The element and the registers of a stored value of the region.
    template <int V>
    using element = type_of<Region::optimized.nodes[schedule.values[V].node].type>;
    template <int V>
    using pack = simd::pack<element<V>, is_array<V> ? groups : 1>;

    template <int O>
    static constexpr int output_value = schedule.outputs[O];

    template <int O>
    static constexpr std::ptrdiff_t bytes_of_output =
        static_cast<std::ptrdiff_t>(sizeof(element<output_value<O>>)) * (is_array<output_value<O>> ? elements : 1);

    /// A value with these strides.
    template <int V>
    static CALQUE_INLINE pack<V> load(std::byte const* from, calque::strides const& steps) {
        auto const* const first = reinterpret_cast<element<V> const*>(from);
        if constexpr (is_array<V>) {
            return pack<V>::load_strided(first, steps[0], elements);
        } else {
            return pack<V>(*first);
        }
    }

    /// Writes the output `O`.
    template <int O>
    static CALQUE_INLINE void store(std::byte* to, pack<output_value<O>> const& x) {
        auto* const first = reinterpret_cast<element<output_value<O>>*>(to);
        if constexpr (is_array<output_value<O>>) {
            x.store(first, elements);
        } else {
            *first = simd::first_element(x);
        }
    }

    /// Loads what all steps read. `values`: the region's, as they are planned.
    CALQUE_INLINE kernel_step(value_plan const* values, std::byte* const* bases) : values_(values) {
        for_each_leaf([&](auto step, auto v) CALQUE_INLINE_LAMBDA {
            if constexpr (!is_moving(v)) {
                value_plan const& value = values[v];
                kernel_.template at<step>() = load<v>(bases[value.at.base] + value.at.offset, value.steps);
            }
        });
    }

    /// An argument of the region that is at `from`.
    template <int A>
    CALQUE_INLINE auto load_argument(std::byte const* from) const {
        constexpr int v = seen::value_of_argument(A);
        return load<v>(from, values_[v].steps);
    }

    /// Computes a step. `argument(a)` is the value of the moving argument `a`.
    template <class Argument>
    CALQUE_INLINE void run(Argument&& argument) {
        for_each_leaf([&](auto step, auto v) CALQUE_INLINE_LAMBDA {
            if constexpr (is_moving(v)) {
                kernel_.template at<step>() = argument(std::integral_constant<int, schedule.values[v].argument>{});
            }
        });
        kernel_.run();
    }

    /// What output `O` is after a step that had these arguments.
    template <int O, class Argument>
    CALQUE_INLINE pack<output_value<O>> output(Argument&& argument) {
        constexpr graph::stored_value value = schedule.values[output_value<O>];
        if constexpr (value.made_by == 0) {
            return kernel_.template at<kernel::step_of_result(result_of(output_value<O>))>();
        } else {
            return argument(std::integral_constant<int, value.argument>{});
        }
    }

    /// The same of the first `N` outputs.
    template <int N, class Argument>
    CALQUE_INLINE auto first_outputs(Argument&& argument) {
        return simd::indices<N>([&](auto... o) CALQUE_INLINE_LAMBDA { return std::tuple{output<o>(argument)...}; });
    }

private:
    static constexpr bool is_moving(int v) {
        int const argument = schedule.values[v].argument;
        return argument >= 0 && argument < Moving;
    }

    static constexpr int result_of(int v) {
        int r = 0;
        while (schedule.results[description.first_result + r] != v) {
            ++r;
        }
        return r;
    }

    /// Calls `f(step, v)` for the steps that read the stored value `v`.
    template <class F>
    static CALQUE_INLINE void for_each_leaf(F&& f) {
        kernels::unroll_steps<0, description.step_count>([&](auto i) CALQUE_INLINE_LAMBDA {
            constexpr int leaf = schedule.steps[description.first_step + i].leaf;
            if constexpr (leaf >= 0) {
                f(i, std::integral_constant<int, schedule.leaves[description.first_leaf + leaf]>{});
            }
        });
    }

    value_plan const* values_;
    kernel kernel_;
};

/// The same of a step of several kernels.
template <class Region, int Moving>
class program_step {
    using arrays = flat_arrays<Region>;
    using program = register_program<Region>;
    static constexpr auto const& schedule = Region::schedule;

public:
    template <int V>
    using pack = typename program::template pack_of<V>;

    template <int O>
    static constexpr int output_value = schedule.outputs[O];

    template <int O>
    static constexpr std::ptrdiff_t bytes_of_output =
        static_cast<std::ptrdiff_t>(sizeof(typename arrays::template element<output_value<O>>)) *
        arrays::size_of(output_value<O>);

    template <int V>
    static CALQUE_INLINE pack<V> load(std::byte const* from, calque::strides const& steps) {
        if (is_contiguous(arrays::shape_of(V), steps)) [[likely]] {
            return program::template load<V>(from);
        }
        using T = typename arrays::template element<V>;
        T elements[static_cast<std::size_t>(arrays::size_of(V))];
        for (int i = 0; i < arrays::size_of(V); ++i) {
            elements[i] = reinterpret_cast<T const*>(from)[arrays::offset_of(i, arrays::shape_of(V), steps)];
        }
        return program::template load<V>(reinterpret_cast<std::byte const*>(elements));
    }

    template <int O>
    static CALQUE_INLINE void store(std::byte* to, pack<output_value<O>> const& x) {
        program::template store<O>(to, x);
    }

    CALQUE_INLINE program_step(value_plan const* values, std::byte* const* bases) : values_(values) {
        for_each_argument([&](auto v, auto a) CALQUE_INLINE_LAMBDA {
            if constexpr (a >= Moving) {
                program_.template value<v>() = load<v>(bases[a], values[v].steps);
            }
        });
    }

    template <int A>
    CALQUE_INLINE auto load_argument(std::byte const* from) const {
        constexpr int v = detail::register_region<Region>::value_of_argument(A);
        return load<v>(from, values_[v].steps);
    }

    template <class Argument>
    CALQUE_INLINE void run(Argument&& argument) {
        for_each_argument([&](auto v, auto a) CALQUE_INLINE_LAMBDA {
            if constexpr (a < Moving) {
                program_.template value<v>() = argument(a);
            }
        });
        program_.compute();
    }

    template <int O, class Argument>
    CALQUE_INLINE auto output(Argument&&) {
        return program_.template output<O>();
    }

    template <int N, class Argument>
    CALQUE_INLINE auto first_outputs(Argument&&) {
        return simd::indices<N>([&](auto... o)
                                    CALQUE_INLINE_LAMBDA { return std::tuple{program_.template output<o>()...}; });
    }

private:
    /// Calls `f(v, a)` for the stored values that are arguments.
    template <class F>
    static CALQUE_INLINE void for_each_argument(F&& f) {
        kernels::unroll_steps<0, Region::size.values>([&](auto v) CALQUE_INLINE_LAMBDA {
            if constexpr (constexpr int a = schedule.values[v].argument; a >= 0) {
                f(v, std::integral_constant<int, a>{});
            }
        });
    }

    value_plan const* values_;
    program program_;
};

/// A step of a loop that stays in registers.
template <class Region, int Moving>
using register_step = std::conditional_t<detail::register_region<Region>::is_one_kernel(Moving),
                                         kernel_step<Region, Moving>, program_step<Region, Moving>>;

} // namespace runtime
} // namespace v0
} // namespace calque
