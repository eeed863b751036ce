// SPDX-License-Identifier: MIT
// The kernel of elementwise work on short rows that cannot be joined to longer ones: register by register, the last of
// which ends with the row; of functions several rows in lockstep, as the steps of one would wait for each other.
#pragma once

#include <calque/kernels/cpu/joined_rows.hpp>
#include <calque/kernels/cpu/rolled.hpp>
#include <calque/kernels/cpu/row_block.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <algorithm>
#include <type_traits>

namespace calque {
inline namespace v0 {
namespace kernels {

namespace detail {

/// `Group`, in which leaves of one element a row vary along the columns, too.
template <class Group>
using group_of_columns = std::conditional_t<find_elements_a_row<Group>() != 0, joined_group<Group>, Group>;

/// The blocks of such rows.
template <class Group, bool MayBroadcast>
using block_of_rows =
    row_block<group_of_columns<Group>,
              MayBroadcast || find_elements_a_row<Group>() != 0 ? broadcast::rows : broadcast::none, 1, false>;

} // namespace detail

/// `MayBroadcast`: some call may have leaves with one element a row that the compiler knows nothing of.
template <class Group, bool MayBroadcast>
class separate_rows : detail::block_of_rows<Group, MayBroadcast> {
    using base = detail::block_of_rows<Group, MayBroadcast>;
    using base::columns_;
    using base::plan;
    using typename base::program;
    using typename base::rows_in_lockstep;
    using group = detail::group_of_columns<Group>;
    using phase = row_phase<group, 0, false, false>;

    static constexpr bool is_light = phase::is_light;
    static constexpr int rows_at_once = is_light ? 1 : phase::groups;
    static constexpr bool has_32_registers = simd::register_count == 32;
    static constexpr thresholds::separate_rows const& most =
        has_32_registers ? thresholds::most_separate_rows_of_32_registers : thresholds::most_separate_rows;

public:
    using arguments = typename base::arguments;

    /// Whether a group has such a kernel.
    static constexpr bool exists = plan.count == 1 && !phase::always_masked && program::row_results.size == 0 &&
                                   has_same_work_for_columns<Group>(Group::step_count, true);

    /// Whether rows are short, and such that the kernel can run them.
    static CALQUE_INLINE bool suits(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if constexpr (is_light) {
            bool const have_elements = a.broadcast_leaves != 0 || find_elements_a_row<Group>() != 0;
            constexpr bool is_wide = has_wide_values(Group::steps(), Group::step_count);
            constexpr std::ptrdiff_t with_elements =
                is_wide ? most.wide_columns_with_elements : most.light_columns_with_elements;
            return rows > 1 && columns <= (have_elements ? with_elements : most.light_columns);
        } else {
            return rows >= rows_at_once && columns >= simd::width && columns <= most.columns &&
                   !base::template rewrites<0>(a);
        }
    }

    /// Whether some array has gaps between its rows.
    static CALQUE_INLINE bool have_gaps(arguments const& a, std::ptrdiff_t columns) {
        bool have = false;
        unroll_steps<0, Group::step_count>([&](auto step) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = Group::steps()[step];
            if constexpr (s.leaf >= 0 && s.varies_along_rows && s.varies_along_columns) {
                have |= a.leaf_row_strides[s.leaf] != columns && !a.has_one_element(s.leaf);
            }
            if constexpr (s.result >= 0 && Group::is_full(s.result)) {
                have |= a.result_row_strides[s.result] != columns;
            }
        });
        return have;
    }

    static CALQUE_NOINLINE void run(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        arguments row = a; // for all that a compiler knows, a store could change what it has by reference
        row.broadcast_leaves |= find_elements_a_row<Group>();
        separate_rows kernel(columns);
        kernel.base::template compute_row_values<0, false>(row);
        if constexpr (is_light) {
            // Masks of AVX-512 cost less than what is stored twice.
            bool const may_overlap = !has_32_registers && columns >= simd::width && !base::template rewrites<0>(row);
            for (std::ptrdiff_t i = 0; i < rows; ++i) {
                kernel.run_row(row, may_overlap);
                move_to_row<Group>(row, 1);
            }
        } else {
            for (std::ptrdiff_t left = rows; left > 0; left -= rows_at_once) {
                if (left < rows_at_once) { // some of those before again
                    move_to_row<Group>(row, left - rows_at_once);
                }
                kernel.run_rows(row);
                move_to_row<Group>(row, rows_at_once);
            }
        }
    }

private:
    CALQUE_INLINE explicit separate_rows(std::ptrdiff_t columns) : base(columns) {}

    /// A row, register by register. The last one ends with it, if it may overlap the one before.
    CALQUE_INLINE void run_row(arguments const& row, bool may_overlap) {
        step_registers<group, 1> none; // there are no totals
        base::template run_in_lockstep<0>(none, rows_in_lockstep{row}, 0, may_overlap);
    }

    /// Rows in lockstep. One loop has the last registers, too: a second one would take as long to compile.
    CALQUE_INLINE void run_rows(arguments const& row) {
        step_registers<group, rows_at_once> none; // there are no totals
        std::ptrdiff_t const last = columns_ - simd::width;
        CALQUE_ROLLED
        for (std::ptrdiff_t j = 0; j < columns_; j += simd::width) {
            base::template run_block<0, false>(none, rows_in_lockstep{row}, std::min(j, last), 0);
        }
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
