// SPDX-License-Identifier: MIT
// The kernel of a group over rows in its variants, of which only those are instantiated that a call can ask for.
#pragma once

#include <calque/kernels/cpu/fused_rows.hpp>
#include <calque/kernels/cpu/fused_short_rows.hpp>
#include <calque/kernels/cpu/row_variant.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// `Group`: as for `row_program`, with the constants `rows` and `columns`, extents that may be dynamic.
template <class Group>
class row_kernel {
    static constexpr row_traits traits{Group::steps(), row_program<Group>::plan};
    static constexpr extent_t rows_known = Group::rows;
    static constexpr extent_t columns_known = Group::columns;
    static constexpr int groups_at_once = groups_of_short_rows(rows_known);
    static constexpr extent_t rows_at_once = groups_at_once * simd::width;
    using short_rows = fused_short_rows<Group, groups_at_once>;

    static constexpr bool may_be_short = traits.may_be_short &&
                                         columns_known < traits.first_long_row() && // also if it is dynamic: negative
                                         (!is_static(columns_known) || !is_static(rows_known) ||
                                          traits.fill_lanes(rows_known, columns_known, rows_at_once));
    /// Over columns of one register, few rows lose little to idle lanes: not worth a second kernel.
    static constexpr bool must_be_short =
        may_be_short && is_static(columns_known) && (is_static(rows_known) || columns_known <= simd::width);

    /// The loop over rows is a good part of a call of little elementwise work on a few elements, and most matrices are
    /// one row in memory.
    static constexpr bool has_kernel_of_one_row =
        !is_static(rows_known) && !traits.reduces && Group::step_count <= thresholds::steps_with_kernel_of_one_row;

public:
    using arguments = fused_arguments<Group::leaf_count, Group::result_count>;

    static constexpr bool needs_scratch = may_be_short || row_program<Group>::plan.scratch_rows != 0;

    static constexpr row_variant choose(std::ptrdiff_t rows, std::ptrdiff_t columns) {
        bool const is_short = must_be_short || (may_be_short && columns < traits.first_long_row() &&
                                                traits.fill_lanes(rows, columns, rows_at_once));
        return is_short ? row_variant::lanes_along_rows : row_variant::lanes_along_columns;
    }

    static constexpr std::size_t scratch_bytes(row_variant variant, std::ptrdiff_t columns) {
        if constexpr (may_be_short) {
            if (variant == row_variant::lanes_along_rows) {
                return short_rows::scratch_bytes(columns);
            }
        }
        return fused_rows<Group>::scratch_bytes(columns);
    }

    template <bool OneRow>
    static CALQUE_INLINE void run([[maybe_unused]] row_variant variant, arguments const& a, std::ptrdiff_t rows,
                                  std::ptrdiff_t columns) {
        if constexpr (must_be_short) {
            short_rows::run(a, rows, columns);
        } else {
            if constexpr (may_be_short) {
                if (variant == row_variant::lanes_along_rows) {
                    short_rows::run(a, rows, columns);
                    return;
                }
            }
            if constexpr (!OneRow && has_kernel_of_one_row) {
                if (rows == 1) {
                    fused_rows<Group>::template run<true>(a, rows, columns);
                    return;
                }
            }
            fused_rows<Group>::template run<OneRow>(a, rows, columns);
        }
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
