// SPDX-License-Identifier: MIT
// The registers of a fused kernel, one slot a step, and how a step is computed from those of its inputs.
#pragma once

#include <calque/graph/schedule.hpp>
#include <calque/kernels/cpu/math.hpp>
#include <calque/kernels/cpu/pack.hpp>

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

/// The register of one step: a base class each, so that the slot of a step is found by its type alone.
template <int I, class T, int U>
struct step_slot {
    simd::pack<T, U> value;
};

template <class Group, int U, class Indices>
struct step_slots;
template <class Group, int U, int... I>
struct step_slots<Group, U, std::integer_sequence<int, I...>> : step_slot<I, step_element<Group, I>, U>... {};

/// One pack of `U` groups for every step of a group of nodes. Unused ones cost nothing: they are never written.
template <class Group, int U>
struct step_registers : step_slots<Group, U, std::make_integer_sequence<int, Group::step_count>> {
    static constexpr int groups = U;

    template <int I>
    CALQUE_INLINE simd::pack<step_element<Group, I>, U>& at() {
        return static_cast<step_slot<I, step_element<Group, I>, U>&>(*this).value;
    }
};

/// The values of rows in each group of a wider pack.
template <int U, class T>
CALQUE_INLINE simd::pack<T, U> widen(simd::pack<T, 1> const& x) {
    if constexpr (U == 1) {
        return x;
    } else {
        return simd::pack<T, U>::generate([&](auto i)
                                              CALQUE_INLINE_LAMBDA { return x.r[i % simd::pack<T, 1>::registers]; });
    }
}

/// Input step `I` of a step that is computed along columns: from the column's registers or, splat, from the row's.
template <int I, class Group, int U>
CALQUE_INLINE auto column_input(step_registers<Group, U>& column, step_registers<Group, 1>& row) {
    using T = step_element<Group, I>;
    if constexpr (std::is_same_v<step_op<Group, I>, graph::ops::constant>) {
        return simd::pack<T, U>(graph::from_bits<T>(step_v<Group, I>.attribute));
    } else if constexpr (step_v<Group, I>.varies_along_columns) {
        return column.template at<I>();
    } else {
        return widen<U>(row.template at<I>());
    }
}

/// Applies the operation of step `I` to its inputs.
template <int I, class Group, int U>
CALQUE_INLINE auto apply_step(step_registers<Group, U>& column, step_registers<Group, 1>& row) {
    constexpr graph::step s = step_v<Group, I>;
    using Op = step_op<Group, I>;
    if constexpr (std::is_same_v<Op, graph::ops::cast>) {
        return Op::template apply_to<step_element<Group, I>>(column_input<s.inputs[0]>(column, row));
    } else if constexpr (s.input_count == 1) {
        return Op::apply(column_input<s.inputs[0]>(column, row));
    } else if constexpr (s.input_count == 2) {
        return Op::apply(column_input<s.inputs[0]>(column, row), column_input<s.inputs[1]>(column, row));
    } else {
        return Op::apply(column_input<s.inputs[0]>(column, row), column_input<s.inputs[1]>(column, row),
                         column_input<s.inputs[2]>(column, row));
    }
}

/// The elements from place `first` on of step `I`, whose operation is indexed: as many as `V` holds.
template <int I, class V, class Group>
CALQUE_INLINE V generate_step(std::ptrdiff_t first, step_registers<Group, 1>& row) {
    auto const key = column_input<step_v<Group, I>.inputs[0]>(row, row);
    return step_op<Group, I>::template generate<V>(key.r[0][0], static_cast<std::uint64_t>(first));
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
