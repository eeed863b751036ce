// SPDX-License-Identifier: MIT
// Products whose extents are known at compile time: tiles, masks and the inner loop's length are constants.
#pragma once

#include <calque/kernels/cpu/matmul_variant.hpp>

#include <algorithm>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {

namespace detail {

/// One strip of a static product: `Columns` columns of the result, at most as many as a tile has.
template <std::ptrdiff_t M, std::ptrdiff_t Columns, std::ptrdiff_t K, class T>
CALQUE_INLINE void multiply_strip(matrix_ref<T> a, T const* b, std::ptrdiff_t b_row_stride, T* c,
                                  std::ptrdiff_t c_stride) {
    constexpr int vectors = Columns > simd::lanes<T> ? 2 : 1;
    constexpr std::ptrdiff_t tile_rows = balanced(M, matmul_tile_rows(vectors));
    matmul_tile<T> tile{.depth = K,
                        .a = a.data,
                        .a_row_stride = a.row_stride,
                        .a_step = a.column_stride,
                        .b = b,
                        .b_step = b_row_stride,
                        .last_lanes = static_cast<int>(Columns - (vectors - 1) * simd::lanes<T>),
                        .to = c,
                        .to_stride = c_stride};
    for (std::ptrdiff_t i = 0; i + tile_rows <= M; i += tile_rows) {
        compute_tile<static_cast<int>(tile_rows), vectors>(tile);
        tile.a += tile_rows * a.row_stride;
        tile.to += tile_rows * c_stride;
    }
    if constexpr (M % tile_rows != 0) {
        compute_tile<static_cast<int>(M % tile_rows), vectors>(tile);
    }
}

} // namespace detail

/// Stores the product of an M x K matrix of any strides and a K x N matrix with contiguous rows. Each extent is 1 or
/// more.
///
/// Bit for bit the product of the variants `direct`, `transposed` and `packed`. Every set of extents is code of its
/// own: meant for products of up to 64 x 64 matrices, where it is faster than a plan.
template <std::ptrdiff_t M, std::ptrdiff_t N, std::ptrdiff_t K, simd_product T>
CALQUE_INLINE void matmul_static(matrix_ref<T> a, T const* b, std::ptrdiff_t b_row_stride, T* c,
                                 std::ptrdiff_t c_stride) {
    constexpr std::ptrdiff_t width = detail::tile_columns<T>;
    constexpr std::ptrdiff_t whole = N / width * width;
    for (std::ptrdiff_t j = 0; j < whole; j += width) {
        detail::multiply_strip<M, width, K>(a, b + j, b_row_stride, c + j, c_stride);
    }
    if constexpr (N != whole) {
        detail::multiply_strip<M, N - whole, K>(a, b + whole, b_row_stride, c + whole, c_stride);
    }
}

} // namespace kernels
} // namespace v0
} // namespace calque
