// SPDX-License-Identifier: MIT
// Rows without gaps, seen as one row of aligned registers: after a few rows a register has the same columns again.
#pragma once

#include <calque/kernels/cpu/simd.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <bit>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Where the columns of rows without gaps are in groups of `simd::width` elements, the first of which begins where a
/// register is aligned. Groups come in rounds: the same group of each round has the same columns.
struct flat_rows {
    std::ptrdiff_t before; // elements before the first group, fewer than a group has
    std::ptrdiff_t joined; // rows of a round, a power of two
    std::ptrdiff_t groups; // of a round
    std::ptrdiff_t rounds; // whole ones
    std::ptrdiff_t rest;   // elements behind them

    /// Rounds have `least_groups` at least, and more if there would be too many rounds: rounding errors grow with them.
    flat_rows(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t unaligned, std::ptrdiff_t least_groups)
        : before(unaligned) {
        int const shift = std::countr_zero(static_cast<std::size_t>(columns | simd::width));
        joined = simd::width >> shift;
        groups = columns >> shift;
        while (groups < least_groups || joined * thresholds::most_rounds_of_flat_folds < rows) {
            joined *= 2;
            groups *= 2;
        }
        // (A division would take as long as a round.)
        rounds = rows >> std::countr_zero(static_cast<std::size_t>(joined));
        rest = (rows & (joined - 1)) * columns - before;
        if (rest < 0) {
            rounds -= 1;
            rest += groups * simd::width;
        }
    }
};

/// Whether it takes less to fold rows so, with what folds the totals of a round in the end and repeats rows that all
/// have, than row by row. This does not depend on where they begin, since the bits of sums would.
CALQUE_NOINLINE inline bool gains_from_flat_rows(std::ptrdiff_t rows, std::ptrdiff_t columns,
                                                 std::ptrdiff_t least_groups, std::ptrdiff_t repeated_rows,
                                                 thresholds::flat_costs const& costs) {
    std::ptrdiff_t const groups_of_row = (columns + simd::width - 1) / simd::width;
    flat_rows const flat(rows, columns, 0, least_groups);
    std::ptrdiff_t const repeated = repeated_rows * flat.groups;
    std::ptrdiff_t const totals = flat.groups + flat.joined * groups_of_row;
    std::ptrdiff_t const calls = (1 + repeated_rows) * costs.call;
    std::ptrdiff_t const loads = rows * columns / simd::width + calls + repeated + costs.total * totals;
    return repeated <= thresholds::most_repeated_groups_of_flat_folds &&
           loads * 100 < rows * groups_of_row * costs.percent_of_a_load;
}

} // namespace kernels
} // namespace v0
} // namespace calque
