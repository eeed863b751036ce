// SPDX-License-Identifier: MIT
// Products of many rows of a few elements and a small matrix, points and a rotation: each lane has a row of its own.
#pragma once

#include <calque/kernels/cpu/interleave.hpp>
#include <calque/kernels/cpu/matmul_variant.hpp>
#include <calque/kernels/cpu/overlapping.hpp>
#include <calque/kernels/cpu/spaced.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Whether there is a kernel for products of any number of rows and a K x N matrix, whose extents the compiler knows:
/// the columns do not fill registers.
template <class T>
constexpr bool has_lane_a_row(extent_t n, extent_t k) {
    if constexpr (simd_product<T>) {
        return n >= 2 && n <= thresholds::most_columns_of_a_lane_a_row && n % simd::lanes<T> != 0 && k >= 2 &&
               k <= thresholds::most_columns_of_a_lane_a_row;
    } else {
        return false;
    }
}

/// Whether it suits so many rows of `k` elements, with these strides.
template <class T>
constexpr bool suits_lane_a_row(std::ptrdiff_t m, std::ptrdiff_t k, matrix_strides a) {
    return m >= simd::lanes<T> && a.column == 1 && a.row == k;
}

/// Stores the product of an M x K matrix without gaps, of at least as many rows as a register has lanes, and a K x N
/// matrix of any strides. Each element's sum runs over k in order, as in a tile.
template <extent_t N, extent_t K, class T>
    requires(simd_product<T>)
CALQUE_NOINLINE void multiply_a_lane_a_row(std::ptrdiff_t m, T const* a, matrix_ref<T> const& b, T* c) {
    constexpr auto rows = static_cast<int>(K);
    constexpr auto columns = static_cast<int>(N);
    constexpr int lanes = simd::lanes<T>;
    simd::reg<T> factors[rows][columns];
    simd::unroll<rows>([&](auto k) CALQUE_INLINE_LAMBDA {
        simd::unroll<columns>([&](auto j)
                                  CALQUE_INLINE_LAMBDA { factors[k][j] = simd::splat(*b.at(k.value, j.value)); });
    });
    detail::for_overlapping<lanes>(m, [&](std::ptrdiff_t i) CALQUE_INLINE_LAMBDA {
        auto const all = detail::load_registers<rows>(a + K * i);
        simd::register_array<T, columns> sums;
        simd::unroll<columns>([&](auto j) CALQUE_INLINE_LAMBDA { sums[j] = simd::splat(T(0)); });
        simd::unroll<rows>([&](auto k) CALQUE_INLINE_LAMBDA {
            simd::reg<T> const column = detail::every<rows, k>(all);
            simd::unroll<columns>([&](auto j)
                                      CALQUE_INLINE_LAMBDA { sums[j] = simd::fma(column, factors[k][j], sums[j]); });
        });
        sums = detail::in_turn(sums);
        simd::unroll<columns>([&](auto j) CALQUE_INLINE_LAMBDA { simd::store(c + N * i + j * lanes, sums[j]); });
    });
}

} // namespace kernels
} // namespace v0
} // namespace calque
