// SPDX-License-Identifier: MIT
// Products of many short rows and a vector: rows in lockstep, whose lanes are folded together.
#pragma once

#include <calque/kernels/cpu/fused_arguments.hpp>
#include <calque/kernels/cpu/pack_fold_rows.hpp>
#include <calque/kernels/cpu/rolled.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// The sums of the products of `Rows` rows and `x`, in the lanes of a group each.
template <int Rows, class T>
CALQUE_INLINE simd::pack<T, Rows> multiply_in_lockstep(std::ptrdiff_t depth, T const* rows, std::ptrdiff_t row_stride,
                                                       T const* x) {
    simd::pack<T, Rows> sums(T(0));
    auto const add_products = [&](simd::pack<T, Rows> const& of_rows,
                                  simd::pack<T, 1> const& factors) CALQUE_INLINE_LAMBDA {
        auto const of_each = simd::generate_groups<T, Rows>([&](auto) CALQUE_INLINE_LAMBDA { return factors; });
        sums = simd::fma(of_rows, of_each, sums);
    };
    std::ptrdiff_t const whole = depth & -simd::width;
    CALQUE_ROLLED
    for (std::ptrdiff_t k = 0; k < whole; k += simd::width) {
        add_products(load_rows<false, Rows>(rows + k, row_stride, 0), load<false, 1>(x + k, 0));
    }
    if (whole < depth) {
        int const left = static_cast<int>(depth - whole);
        add_products(load_rows<true, Rows>(rows + whole, row_stride, left), load<true, 1>(x + whole, left));
    }
    return sums;
}

inline constexpr auto add_lanes = [](auto const& a, auto const& b) CALQUE_INLINE_LAMBDA { return a + b; };

/// The products of as many rows as a group has lanes.
template <class T>
CALQUE_NOINLINE void multiply_folded_rows(std::ptrdiff_t depth, T const* rows, std::ptrdiff_t row_stride, T const* x,
                                          T* y) {
    constexpr int in_lockstep = 4;
    constexpr int turns = simd::width / in_lockstep;
    simd::pack<T, turns * simd::groups_of_two_registers<T>> folded;
    simd::unroll<turns>([&](auto turn) CALQUE_INLINE_LAMBDA {
        T const* const first = rows + turn * in_lockstep * row_stride;
        auto const sums = multiply_in_lockstep<in_lockstep>(depth, first, row_stride, x);
        auto const pairs = simd::fold_four_rows(sums, add_lanes);
        folded.r[2 * turn] = pairs.r[0];
        folded.r[2 * turn + 1] = pairs.r[1];
    });
    simd::fold_rows(folded, add_lanes).store(y);
}

/// y[i] = the dot product of row i of `matrix` (columns contiguous) with the contiguous vector `x`: the same bits
/// however many rows there are. Nothing overlaps y.
template <class T>
void multiply_short_rows(std::ptrdiff_t rows, std::ptrdiff_t depth, T const* matrix, std::ptrdiff_t row_stride,
                         T const* x, T* y) {
    std::ptrdiff_t i = 0;
    for (; i + simd::width <= rows; i += simd::width) {
        multiply_folded_rows(depth, matrix + i * row_stride, row_stride, x, y + i);
    }
    if (i < rows && rows >= simd::width) { // some of those before again
        multiply_folded_rows(depth, matrix + (rows - simd::width) * row_stride, row_stride, x, y + rows - simd::width);
        return;
    }
    for (; i < rows; ++i) {
        y[i] = simd::fold_row(multiply_in_lockstep<1>(depth, matrix + i * row_stride, row_stride, x), add_lanes);
    }
}

} // namespace detail
} // namespace kernels
} // namespace v0
} // namespace calque
