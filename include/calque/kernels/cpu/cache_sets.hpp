// SPDX-License-Identifier: MIT
// Rows that compete for the sets of a cache: an address says which set a line is in, and a set has a few lines only.
#pragma once

#include <calque/kernels/cpu/registers.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <algorithm>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Whether rows so many bytes apart are in the same set of L1 or in those beside it: up to `most_past` bytes more or less
/// than where they would be in one.
constexpr bool are_in_one_set(std::ptrdiff_t row_bytes, std::ptrdiff_t most_past = thresholds::bytes_past_one_set) {
    constexpr std::ptrdiff_t apart = thresholds::bytes_between_rows_in_one_set;
    std::ptrdiff_t const bytes = row_bytes < 0 ? -row_bytes : row_bytes;
    std::ptrdiff_t const past = bytes % apart;
    return bytes > apart / 2 && std::min(past, apart - past) <= most_past;
}

/// Whether so many rows in one set are more than it has lines: if one walks down them, they put each other out of L1
/// before they are read to the end of a line.
constexpr bool crowd_a_set(std::ptrdiff_t rows) {
    return rows >= (simd::register_count == 32 ? thresholds::least_rows_that_crowd_a_set
                                               : thresholds::least_rows_that_crowd_a_set_of_16_registers);
}

/// The largest power of two that is, or nearly is, a divisor of the bytes between `rows` that are `stride` elements of
/// `T` apart: they are in the fewer sets of a cache the larger it is.
template <class T>
constexpr std::ptrdiff_t power_of_two_between_rows(std::ptrdiff_t stride, std::ptrdiff_t rows) {
    constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
    std::ptrdiff_t largest = 0;
    for (std::ptrdiff_t past = -thresholds::bytes_past_a_power_of_two; past <= thresholds::bytes_past_a_power_of_two;
         past += size) {
        std::ptrdiff_t const bytes = stride * size - past;
        std::ptrdiff_t const divisor = bytes & -bytes;
        bool const stay_near = rows * (past < 0 ? -past : past) <= divisor / thresholds::parts_of_sets_of_near_rows;
        largest = stay_near ? std::max(largest, divisor) : largest;
    }
    return largest;
}

} // namespace kernels
} // namespace v0
} // namespace calque
