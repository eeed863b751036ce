// SPDX-License-Identifier: MIT
// The registers of a fused kernel, one slot a step, and how a step is computed from those of its inputs.
#pragma once

#include <calque/graph/schedule.hpp>
#include <calque/kernels/cpu/math.hpp>
#include <calque/kernels/cpu/pack.hpp>
#include <calque/kernels/cpu/phases.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Step `I` of a group, and its operation and element type.
template <class Group, int I>
inline constexpr graph::step step_v = Group::steps()[I];
template <class Group, int I>
using step_op = graph::op_at<step_v<Group, I>.op>;
template <class Group, int I>
using step_element = type_of<step_v<Group, I>.type>;

/// Whether the mask of a step has words of 4 bytes: of numbers that are compared, and of what is made of such.
constexpr bool has_mask_of_words(graph::step const* steps, int i) {
    graph::step const& s = steps[i];
    bool has = s.type == dtype::bool_ && s.leaf < 0 && s.index < 0 && s.varies_along_columns && s.input_count > 0;
    for (int k = 0; k < s.input_count; ++k) {
        graph::step const& from = steps[s.inputs[k]];
        has = has && (from.type == dtype::bool_ ? has_mask_of_words(steps, s.inputs[k]) : size_of(from.type) == 4);
    }
    return has;
}

/// The step whose elements a sum counts: where it adds bools as integers, which takes longer. -1 if there is none.
constexpr int counted_step(graph::step const* steps, int i) {
    graph::step const& s = steps[i];
    if (simd::register_count != 32 && s.op == graph::code_of<graph::ops::sum> && s.type == dtype::int64) {
        graph::step const& added = steps[s.inputs[0]];
        if (added.op == graph::code_of<graph::ops::cast> && has_mask_of_words(steps, added.inputs[0])) {
            return added.inputs[0];
        }
    }
    return -1;
}

/// Whether the code of two steps is the same, but for where their operands are.
constexpr bool are_alike(graph::step const* steps, int i, int j) {
    graph::step const& a = steps[i];
    graph::step const& b = steps[j];
    bool alike = a.op == b.op && a.type == b.type && a.input_count == b.input_count && (a.leaf >= 0) == (b.leaf >= 0) &&
                 (a.index >= 0) == (b.index >= 0) && a.varies_along_rows == b.varies_along_rows &&
                 a.varies_along_columns == b.varies_along_columns;
    for (int k = 0; alike && k < a.input_count; ++k) {
        graph::step const& from = steps[a.inputs[k]];
        graph::step const& other = steps[b.inputs[k]];
        bool const is_constant = from.op == graph::code_of<graph::ops::constant>;
        alike = (counted_step(steps, i) < 0) == (counted_step(steps, j) < 0) && from.type == other.type &&
                from.varies_along_columns == other.varies_along_columns &&
                is_constant == (other.op == graph::code_of<graph::ops::constant>);
    }
    return alike;
}

/// Whether 16 registers are all that there are, and a pack of one group of some values takes two of them.
template <class Group>
inline constexpr bool is_short_of_registers =
    simd::register_count != 32 && has_wide_values(Group::steps(), Group::step_count);

/// The dtypes of a group's steps, each once.
template <class Group>
struct step_types {
    int count = 0;
    dtype at[Group::step_count]{};

    constexpr step_types() {
        for (int i = 0; i < Group::step_count; ++i) {
            dtype const type = Group::steps()[i].type;
            bool is_new = true;
            for (int k = 0; k < count; ++k) {
                is_new &= at[k] != type;
            }
            if (is_new) {
                at[count++] = type;
            }
        }
    }
};
template <class Group>
inline constexpr step_types<Group> step_types_v{};

/// The registers of the steps that have elements `T`, by step: a base class each, found by its type alone.
template <class T, int U, int N>
struct typed_registers {
    simd::pack<T, U> of[N];
};

template <class Group, int U, class Indices>
struct step_slots;
template <class Group, int U, int... I>
struct step_slots<Group, U, std::integer_sequence<int, I...>>
    : typed_registers<type_of<step_types_v<Group>.at[I]>, U, Group::step_count>... {};

/// One pack of `U` groups for every step of a group of nodes. Unused ones cost nothing: they are never written. Which
/// step is asked for may be a run-time value to the code, but must be a constant where that is inlined: compilers keep
/// an array in registers only then.
template <class Group, int U>
struct step_registers : step_slots<Group, U, std::make_integer_sequence<int, step_types_v<Group>.count>> {
    static constexpr int groups = U;

    step_registers() = default;
    step_registers(step_registers const&) = delete; // a loop over the arrays: they would be in memory
    step_registers& operator=(step_registers const&) = delete;

    /// The register of a step that is like step `Model`.
    template <int Model>
    CALQUE_INLINE simd::pack<step_element<Group, Model>, U>& at(int step = Model) {
        return static_cast<typed_registers<step_element<Group, Model>, U, Group::step_count>&>(*this).of[step];
    }
};

/// The values of rows in each group of a wider pack.
template <int U, class T, int R>
CALQUE_INLINE simd::pack<T, U> widen(simd::pack<T, R> const& x) {
    if constexpr (U == R) {
        return x;
    } else {
        return simd::pack<T, U>::generate([&](int i)
                                              CALQUE_INLINE_LAMBDA { return x.r[i % simd::pack<T, R>::registers]; });
    }
}

/// Whether a step is a number that the compiler knows, and that of a step like step `Model`.
template <class Group, int I>
inline constexpr bool is_number = std::is_same_v<step_op<Group, I>, graph::ops::constant>;
template <class Group, int Model>
CALQUE_INLINE auto number(int step) {
    return graph::from_bits<step_element<Group, Model>>(Group::steps()[step].attribute);
}

/// The value of a step like step `Model`, for one that is computed along columns: from the column's registers or,
/// splat, from the row's.
template <int Model, class Group, int U, int R>
CALQUE_INLINE auto column_input(step_registers<Group, U>& column, step_registers<Group, R>& row, int step = Model) {
    using T = step_element<Group, Model>;
    if constexpr (is_number<Group, Model>) {
        return simd::pack<T, U>(number<Group, Model>(step));
    } else if constexpr (step_v<Group, Model>.varies_along_columns) {
        return column.template at<Model>(step);
    } else {
        return widen<U>(row.template at<Model>(step));
    }
}

/// Whether the code of an operation is one function, which all steps of a group call, as they would be long: inlined it
/// takes less time, as registers need not be stored around a call, but each copy is compiled anew.
template <class Group>
constexpr bool is_called(graph::step const& s) {
    return Group::step_count > thresholds::steps_with_inlined_functions &&
           graph::info(s.op).cost >= thresholds::cost_of_a_function;
}

/// What is called: compilers need not inline it.
template <class Op, class... V>
inline auto apply_called(V... x) {
    return Op::apply(x...);
}

constexpr bool is_full_float(dtype type) {
    return type == dtype::float32 || type == dtype::float64;
}

/// Whether a step divides floats or doubles by what a row has once.
constexpr bool divides_by_uniform(graph::step const* steps, int i) {
    graph::step const& s = steps[i];
    return s.op == graph::code_of<graph::ops::divide> && is_full_float(s.type) &&
           !steps[s.inputs[1]].varies_along_columns;
}

/// What a group has for the divider, of each element, and what it costs beside that.
struct divider_work {
    int roots = 0;
    int quotients = 0;
    int cost_of_others = 0;

    constexpr divider_work(graph::step const* steps, int count) {
        for (int i = 0; i < count; ++i) {
            graph::step const& s = steps[i];
            if (s.varies_along_columns) {
                bool const is_root = s.op == graph::code_of<graph::ops::sqrt>;
                bool const divides =
                    !is_root && s.leaf < 0 && graph::info(s.op).uses_divider && !divides_by_uniform(steps, i);
                roots += is_root;
                quotients += divides;
                cost_of_others += is_root || divides ? 0 : cost_of_step(steps, i);
            }
        }
    }
};
template <class Group>
inline constexpr divider_work divider_work_v{Group::steps(), Group::step_count};

/// How many of four roots of `T` the divider takes: beside light work no more than are ready when the others are.
template <class Group, class T>
inline constexpr int roots_by_divider = [] {
    constexpr divider_work const& work = divider_work_v<Group>;
    constexpr bool is_wide = sizeof(T) == 8;
    constexpr int most = is_wide ? thresholds::cost_beside_a_wide_division : thresholds::cost_beside_a_division;
    constexpr int beside_other_work = simd::roots_by_divider<T>;
    bool const is_light = work.cost_of_others <= (work.roots + work.quotients) * most;
    return !is_light ? beside_other_work : work.quotients > 0 ? 0 : beside_other_work / 2;
}();

/// How many of four quotients of `T`: half beside light work, all beside roots, which leave it to them, or other work.
template <class Group, class T>
inline constexpr int quotients_by_divider = [] {
    constexpr divider_work const& work = divider_work_v<Group>;
    constexpr int most = sizeof(T) == 8 ? thresholds::cost_beside_a_wide_quotient : thresholds::cost_beside_a_quotient;
    return work.roots == 0 && work.cost_of_others <= work.quotients * most ? 2 : 4;
}();

/// Whether the operation of a step gets an input as a number instead of a pack.
template <class Group, int Model>
constexpr bool takes_number(int input) {
    if constexpr (step_op<Group, Model>::takes_numbers) {
        constexpr bool is_second = is_number<Group, step_v<Group, Model>.inputs[1]>;
        return is_second ? input == 1 : input == 0 && is_number<Group, step_v<Group, Model>.inputs[0]>;
    } else {
        return false;
    }
}

/// What the lanes of a pack are: elements of a row, or rows of a column, of which each has values of its own.
enum class lanes_are { columns, rows };

/// Applies the operation of a step like step `Model` to its inputs.
template <int Model, lanes_are Lanes = lanes_are::columns, class Group, int U, int R>
CALQUE_INLINE auto apply_step(step_registers<Group, U>& column, step_registers<Group, R>& row, int step = Model) {
    constexpr graph::step s = step_v<Group, Model>;
    using Op = step_op<Group, Model>;
    auto const input = [&](auto k) CALQUE_INLINE_LAMBDA {
        int const from = Group::steps()[step].inputs[k];
        if constexpr (takes_number<Group, Model>(k)) {
            return number<Group, s.inputs[k]>(from);
        } else {
            return column_input<s.inputs[k]>(column, row, from);
        }
    };
    constexpr std::integral_constant<int, 0> first;
    constexpr std::integral_constant<int, 1> second;
    if constexpr (std::is_same_v<Op, graph::ops::cast>) {
        return Op::template apply_to<step_element<Group, Model>>(input(first));
    } else if constexpr (is_called<Group>(s) && s.input_count == 1) {
        return apply_called<Op>(input(first));
    } else if constexpr (std::is_same_v<Op, graph::ops::sqrt>) {
        return Op::template apply_in_turns<roots_by_divider<Group, step_element<Group, Model>>>(input(first));
    } else if constexpr (s.input_count == 1) {
        return Op::apply(input(first));
    } else if constexpr (is_called<Group>(s) && s.input_count == 2) {
        return apply_called<Op>(input(first), input(second));
    } else if constexpr (divides_by_uniform(Group::steps(), Model) && Lanes == lanes_are::columns) {
        return Op::apply_by_uniform(input(first), input(second));
    } else if constexpr (std::is_same_v<Op, graph::ops::divide> && is_full_float(s.type)) {
        return Op::template apply_in_turns<quotients_by_divider<Group, step_element<Group, Model>>>(input(first),
                                                                                                    input(second));
    } else if constexpr (s.input_count == 2) {
        return Op::apply(input(first), input(second));
    } else {
        return Op::apply(input(first), input(second), input(std::integral_constant<int, 2>{}));
    }
}

/// The same for values that a row has once, in all lanes.
template <int I, class Group>
CALQUE_INLINE auto apply_uniform_step(step_registers<Group, 1>& row) {
    using Op = step_op<Group, I>;
    using T = step_element<Group, I>;
    if constexpr (Op::uses_divider && simd::has_uniform<T>) {
        constexpr graph::step s = step_v<Group, I>;
        auto const input = [&](auto k) CALQUE_INLINE_LAMBDA {
            return simd::uniform<T>(column_input<s.inputs[k]>(row, row));
        };
        return simd::indices<s.input_count>(
            [&](auto... k) CALQUE_INLINE_LAMBDA { return simd::pack<T, 1>(Op::apply(input(k)...)); });
    } else {
        return apply_step<I>(row, row);
    }
}

/// The elements from place `first` on of a step like step `Model`, whose operation is indexed: as many as `V` holds.
template <int Model, class V, class Group>
CALQUE_INLINE V generate_step(std::ptrdiff_t first, step_registers<Group, 1>& row, int step = Model) {
    if constexpr (step_v<Group, Model>.input_count == 0) {
        return step_op<Group, Model>::template generate<V>(static_cast<std::uint64_t>(first));
    } else {
        auto const key = column_input<step_v<Group, Model>.inputs[0]>(row, row, Group::steps()[step].inputs[0]);
        return step_op<Group, Model>::template generate<V>(key.r[0][0], static_cast<std::uint64_t>(first));
    }
}

/// A reduction of `x` and of totals whose lanes `fold_pack` folds at last.
template <class Op, class T, int U>
CALQUE_INLINE simd::pack<T, U> combine_with_totals(simd::pack<T, U> const& x, simd::pack<T, U> const& totals) {
    if constexpr (std::is_same_v<Op, graph::ops::reduce_max>) {
        return simd::max_into(x, totals);
    } else if constexpr (std::is_same_v<Op, graph::ops::reduce_min>) {
        return simd::min_into(x, totals);
    } else {
        return Op::combine(x, totals);
    }
}

/// Whether a reduction keeps NaN, for which two packs may be looked at together.
template <class Op, class T>
inline constexpr bool keeps_nan = std::floating_point<T> && (std::is_same_v<Op, graph::ops::reduce_max> ||
                                                             std::is_same_v<Op, graph::ops::reduce_min>);

/// Folds two packs into totals for each lane, by such a reduction.
template <class Op, class T, int U>
CALQUE_INLINE simd::pack<T, U> combine_two(simd::pack<T, U> const& x, simd::pack<T, U> const& y,
                                           simd::pack<T, U> const& totals) {
    static_assert(keeps_nan<Op, T>);
    if constexpr (std::is_same_v<Op, graph::ops::reduce_max>) {
        return simd::max_of_three(x, y, totals);
    } else {
        return simd::min_of_three(x, y, totals);
    }
}

/// The fold of all lanes of a pack by a reduction.
template <class Op, class T, int U>
CALQUE_INLINE T fold_pack(simd::pack<T, U> const& x) {
    if constexpr (std::is_same_v<Op, graph::ops::sum>) {
        return simd::reduce_add(x);
    } else if constexpr (std::is_same_v<Op, graph::ops::reduce_product>) {
        return simd::reduce_mul(x);
    } else if constexpr (std::is_same_v<Op, graph::ops::reduce_max>) {
        return simd::reduce_max(x);
    } else {
        static_assert(std::is_same_v<Op, graph::ops::reduce_min> || std::is_same_v<Op, graph::ops::first_index>);
        return simd::reduce_min(x);
    }
}

} // namespace kernels
} // namespace v0
} // namespace calque
