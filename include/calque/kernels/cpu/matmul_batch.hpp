// SPDX-License-Identifier: MIT
// The products of a batch of pairs of matrices, small ones above all: what is chosen and called is so once for all.
#pragma once

#include <calque/kernels/cpu/advance.hpp>
#include <calque/kernels/cpu/matmul.hpp>
#include <calque/kernels/cpu/matmul_small.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {

/// The matrices of a batch: the first one, and how many elements the next one is behind it.
template <class T>
struct matrix_batch {
    matrix_ref<T> first;
    std::ptrdiff_t stride;
};

/// Where the products of a batch go: matrices whose rows have no gaps.
template <class T>
struct product_batch {
    T* first;
    std::ptrdiff_t stride;
    std::ptrdiff_t row_stride;
};

/// Calls `multiply(a, b, c)` for each product of a batch: its matrices, and where it goes.
template <class T, class F>
CALQUE_INLINE void for_each_product(std::ptrdiff_t count, matrix_batch<T> a, matrix_batch<T> b, product_batch<T> c,
                                    F multiply) {
    for (; count > 0; --count) {
        multiply(a.first, b.first, c.first);
        advance(a.first.data, a.stride);
        advance(b.first.data, b.stride);
        advance(c.first, c.stride);
    }
}

/// Whether products with these strides are those of square matrices of up to four rows, rotations and poses say, which
/// have code of their own.
template <class T>
constexpr bool are_small_squares(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_strides a,
                                 matrix_strides b) {
    bool const are_by_rows = a.column == 1 && a.row == k && b.column == 1 && b.row == n;
    return simd_product<T> && m == n && n == k && k >= 2 && k <= 4 && are_by_rows;
}

/// Stores the products of a batch whose extents the compiler knows, by a variant that `choose_known_matmul` chose;
/// false if it is none of these.
template <extent_t M, extent_t N, extent_t K, operand_orders Orders = operand_orders{}, class T>
    requires(is_known_tile<T>(M, N, K))
CALQUE_NOINLINE bool multiply_known_batch(matmul_variant variant, std::ptrdiff_t count, matrix_batch<T> const& a,
                                          matrix_batch<T> const& b, product_batch<T> const& c) {
    using matrix = matrix_ref<T>;
    if constexpr (is_product_in_registers<T>(M, N, K)) {
        if (variant == matmul_variant::in_registers && c.row_stride == N) {
            for_each_product(count, a, b, c, [](matrix const& x, matrix const& y, T* to) CALQUE_INLINE_LAMBDA {
                multiply_in_registers<M, N, K, Orders>(x.data, y.data, to);
            });
            return true;
        }
    }
    if (variant != matmul_variant::known_tile) {
        return false;
    }
    std::ptrdiff_t const row_stride = c.row_stride;
    for_each_product(count, a, b, c, [=](matrix const& x, matrix const& y, T* to) CALQUE_INLINE_LAMBDA {
        multiply_known_tile<M, N, K>(x, y, to, row_stride);
    });
    return true;
}

namespace detail {

template <int N, class T>
bool multiply_squares(std::ptrdiff_t count, matrix_batch<T> const& a, matrix_batch<T> const& b,
                      product_batch<T> const& c) {
    constexpr matrix_strides by_rows{N, 1};
    constexpr auto variant =
        choose_known_matmul<N, N, N, operand_orders{}, T>(by_rows, by_rows, matmul_variant::direct);
    return multiply_known_batch<N, N, N>(variant, count, a, b, c);
}

/// Products of one tile each, of matrices whose rows of B are contiguous.
template <class T>
void multiply_tiles(std::ptrdiff_t count, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k,
                    matrix_batch<T> const& a, matrix_batch<T> const& b, product_batch<T> const& c) {
    auto const compute = tile_kernel<T>(static_cast<int>(m), n > simd::lanes<T> ? 2 : 1);
    matmul_tile<T> tile = one_tile(n, k, a.first, b.first, c.first, c.row_stride);
    for_each_product(count, a, b, c, [&](matrix_ref<T> const& x, matrix_ref<T> const& y, T* to) CALQUE_INLINE_LAMBDA {
        tile.a = x.data;
        tile.b = y.data;
        tile.to = to;
        compute(tile);
    });
}

} // namespace detail

/// Stores the products of `count` M x K and K x N matrices, by a variant that `choose_matmul` chose for one of them, or
/// by `small_squares` if they are such.
template <class T>
void multiply_batch(matmul_variant variant, std::ptrdiff_t count, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k,
                    matrix_batch<T> const& a, matrix_batch<T> const& b, product_batch<T> const& c, void* workspace) {
    if constexpr (simd_product<T>) {
        bool const are_squares = variant == matmul_variant::small_squares;
        if (are_squares && ((n == 2 && detail::multiply_squares<2>(count, a, b, c)) ||
                            (n == 3 && detail::multiply_squares<3>(count, a, b, c)) ||
                            (n == 4 && detail::multiply_squares<4>(count, a, b, c)))) {
            return;
        }
        if (are_squares || (variant == matmul_variant::direct && is_one_tile<T>(m, n) && b.first.column_stride == 1)) {
            detail::multiply_tiles(count, m, n, k, a, b, c);
            return;
        }
    }
    for_each_product(count, a, b, c, [&](matrix_ref<T> const& x, matrix_ref<T> const& y, T* to) {
        matmul<T>(variant, m, n, k, x, y, to, c.row_stride, workspace);
    });
}

} // namespace kernels
} // namespace v0
} // namespace calque
