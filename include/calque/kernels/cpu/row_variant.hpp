// SPDX-License-Identifier: MIT
// Which way the lanes of a row program run: a plan chooses by the sizes of a call, the compiler where it knows them.
#pragma once

#include <calque/kernels/cpu/phases.hpp>
#include <calque/kernels/cpu/simd.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

enum class row_variant : std::uint8_t { lanes_along_columns, lanes_along_rows };

/// The groups of rows that lanes along the rows compute in lockstep, of so many rows, which may be dynamic.
constexpr int groups_of_short_rows(extent_t rows) {
    return is_static(rows) && rows <= simd::width ? 1 : thresholds::groups_of_short_rows;
}

/// The row program of `Group` as far as the choice of a variant goes.
struct row_traits {
    bool reduces = false;
    bool may_be_short = false; // it reduces rows, and no operation of it counts elements along them
    bool is_light = false;     // one walk along a row, or elements of which a register holds half a group

    template <int N>
    constexpr row_traits(graph::step const* steps, phase_plan<N> const& plan) : is_light(plan.count == 1) {
        bool is_indexed = false;
        for (int i = 0; i < N; ++i) {
            reduces |= detail::is_reduction(steps[i]);
            is_indexed |= steps[i].index >= 0;
            is_light |= steps[i].varies_along_columns && size_of(steps[i].type) > sizeof(float);
        }
        may_be_short = reduces && !is_indexed;
    }

    /// The columns from which on lanes run along them, however many rows there are.
    constexpr extent_t first_long_row() const {
        return (is_light ? thresholds::long_light_row_groups : thresholds::long_row_groups) * simd::width;
    }

    /// Lanes along the rows compute `rows_at_once` rows or none; lanes along the columns pay, for each row, as much as
    /// for more registers of columns: for the tail, the fold of the lanes, what a row computes once. (Softmax, layer
    /// norm and sums over 10 to 100 columns take the same time either way at about this number of rows.)
    constexpr bool fill_lanes(extent_t rows, extent_t columns, extent_t rows_at_once) const {
        extent_t const computed = (rows + rows_at_once - 1) / rows_at_once * rows_at_once;
        return computed * columns < rows * (columns + (is_light ? 1 : 2) * simd::width);
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
