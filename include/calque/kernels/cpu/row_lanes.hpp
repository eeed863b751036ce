// SPDX-License-Identifier: MIT
// What rows have once, with a lane each: how a kernel loads, computes and stores it.
#pragma once

#include <calque/kernels/cpu/row_program.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// `Groups` groups of rows, from row `i` of some arguments on, of which there are `n`.
template <class Group, int Groups>
struct row_lanes {
    using program = row_program<Group>;
    using arguments = fused_arguments<Group::leaf_count, Group::result_count>;
    using registers = step_registers<Group, Groups>;

    /// Where the row `i` lies in the array of a step like step `Model`.
    template <int Model>
    static CALQUE_INLINE auto const* leaf(arguments const& a, std::ptrdiff_t i, int step = Model) {
        int const index = Group::steps()[step].leaf;
        std::ptrdiff_t const offset = step_v<Group, Model>.varies_along_rows ? i * a.leaf_row_strides[index] : 0;
        return static_cast<step_element<Group, Model> const*>(a.leaves[index]) + offset;
    }

    template <int I>
    static CALQUE_INLINE auto* result(arguments const& a, std::ptrdiff_t i) {
        constexpr int r = step_v<Group, I>.result;
        return static_cast<step_element<Group, I>*>(a.results[r]) + i * a.result_row_strides[r];
    }

    /// Values that do not vary along columns and become computable in `Phase`: once a row, or once a call.
    template <int Phase, bool PerRow>
    static CALQUE_INLINE void compute_row_values(registers& row, arguments const& a, std::ptrdiff_t i, int n) {
        unroll_steps<0, program::template row_values<Phase, PerRow>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template row_values<Phase, PerRow>.at[k];
            constexpr graph::step s = step_v<Group, step>;
            using V = simd::pack<step_element<Group, step>, Groups>;
            if constexpr (s.leaf < 0) {
                row.template at<step>() = apply_step<step, lanes_are::rows>(row, row);
            } else if constexpr (s.varies_along_rows) {
                row.template at<step>() = V::load_strided(leaf<step>(a, i), a.leaf_row_strides[s.leaf], n);
            } else {
                row.template at<step>() = V(*leaf<step>(a, i));
            }
        });
    }

    /// Stores the results that a row has once.
    static CALQUE_INLINE void store_row_results(registers& row, arguments const& a, std::ptrdiff_t i, int n) {
        unroll_steps<0, program::row_results.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::row_results.at[k];
            constexpr int r = step_v<Group, step>.result;
            column_input<step>(row, row).store_strided(result<step>(a, i), a.result_row_strides[r], n);
        });
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
