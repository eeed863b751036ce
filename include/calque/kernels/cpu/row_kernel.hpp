// SPDX-License-Identifier: MIT
// The kernel of a group over rows in its variants, of which only those are instantiated that a call can ask for.
#pragma once

#include <calque/kernels/cpu/fused_rows.hpp>
#include <calque/kernels/cpu/fused_short_rows.hpp>
#include <calque/kernels/cpu/row_variant.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// The kernels of a group over rows. `Group`: as for `row_program`, with the constants `rows` and `columns`, extents
/// that may be dynamic.
template <class Group>
class row_kernel {
    static constexpr bool may_be_short = detail::may_be_short(Group::steps(), Group::step_count) &&
                                         (!is_static(Group::columns) || Group::columns <= detail::longest_short_row) &&
                                         (!is_static(Group::rows) || Group::rows >= detail::fewest_short_rows);
    static constexpr bool must_be_short = may_be_short && is_static(Group::columns);

public:
    using arguments = fused_arguments<Group::leaf_count, Group::result_count>;

    static constexpr bool needs_scratch = may_be_short || row_program<Group>::plan.scratch_rows != 0;

    static constexpr row_variant choose(std::ptrdiff_t rows, std::ptrdiff_t columns) {
        bool const is_short = must_be_short || (may_be_short && columns <= detail::longest_short_row &&
                                                rows >= detail::fewest_short_rows);
        return is_short ? row_variant::lanes_along_rows : row_variant::lanes_along_columns;
    }

    static constexpr std::size_t scratch_bytes(row_variant variant, std::ptrdiff_t columns) {
        if constexpr (may_be_short) {
            if (variant == row_variant::lanes_along_rows) {
                return fused_short_rows<Group>::scratch_bytes(columns);
            }
        }
        return fused_rows<Group>::scratch_bytes(columns);
    }

    static CALQUE_INLINE void run([[maybe_unused]] row_variant variant, arguments const& a, std::ptrdiff_t rows,
                                  std::ptrdiff_t columns) {
        if constexpr (must_be_short) {
            fused_short_rows<Group>::run(a, rows, columns);
        } else {
            if constexpr (may_be_short) {
                if (variant == row_variant::lanes_along_rows) {
                    fused_short_rows<Group>::run(a, rows, columns);
                    return;
                }
            }
            fused_rows<Group>::run(a, rows, columns);
        }
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
