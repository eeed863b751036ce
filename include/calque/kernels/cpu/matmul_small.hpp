// SPDX-License-Identifier: MIT
// Products of small matrices whose extents the compiler knows: one tile, whose rows, masks and inner loop are
// constants, or, if both operands and the result fit two registers each, permutations of those.
#pragma once

#include <calque/core/shape.hpp>
#include <calque/kernels/cpu/first_elements.hpp>
#include <calque/kernels/cpu/matmul_variant.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Whether the product of an M x K and a K x N matrix is one tile, and short enough for code of its own.
template <class T>
constexpr bool is_known_tile(extent_t m, extent_t n, extent_t k) {
    if constexpr (simd_product<T>) {
        return is_static(m) && is_static(n) && is_static(k) && m > 0 && n > 0 && k > 0 &&
               k <= thresholds::most_depth_of_known_tiles && is_one_tile<T>(m, n);
    } else {
        return false;
    }
}

/// Stores the product of an M x K matrix of any strides and a K x N matrix with contiguous rows. Bit for bit the
/// product of the variants `direct`, `transposed` and `packed`.
template <extent_t M, extent_t N, extent_t K, class T>
    requires(is_known_tile<T>(M, N, K))
CALQUE_INLINE void multiply_known_tile(matrix_ref<T> const& a, matrix_ref<T> const& b, T* c, std::ptrdiff_t c_stride) {
    compute_tile<static_cast<int>(M), (N > simd::lanes<T> ? 2 : 1)>(one_tile(N, K, a, b, c, c_stride));
}

/// Whether an M x K and a K x N matrix, and their product, are at most two registers each.
template <class T>
constexpr bool is_product_in_registers(extent_t m, extent_t n, extent_t k) {
    return simd::has_lookup_of_pairs<T> && is_known_tile<T>(m, n, k) && m * n <= 2 * simd::lanes<T> &&
           m * k <= 2 * simd::lanes<T> && k * n <= 2 * simd::lanes<T>;
}

namespace detail {

/// `Count` elements in two registers.
template <extent_t Count, class T>
struct register_pair {
    static constexpr int lanes = simd::lanes<T>;

    CALQUE_INLINE explicit register_pair(T const* p)
        : low_(load_first<Count>(p)), high_(load_first<Count - lanes>(p + (Count > lanes ? lanes : 0))) {}

    template <std::array<int, lanes> Places>
    CALQUE_INLINE simd::reg<T> at() const {
        return simd::indices<lanes>(
            [this](auto... lane)
                CALQUE_INLINE_LAMBDA { return simd::shuffle<Places[lane.value]...>(low_, high_); });
    }

private:
    simd::reg<T> low_, high_;
};

/// For each lane of a register that begins at an element of a result of `columns` columns: where an operand has what
/// the lane needs, `of_row` elements from row to row and `of_column` from column to column.
template <int Lanes>
constexpr std::array<int, Lanes> places(extent_t first, extent_t size, extent_t columns, extent_t of_row,
                                        extent_t of_column, extent_t start) {
    std::array<int, Lanes> result{};
    for (extent_t lane = 0; lane < Lanes; ++lane) {
        extent_t const element = std::min(first + lane, size - 1);
        result[static_cast<std::size_t>(lane)] =
            static_cast<int>(start + element / columns * of_row + element % columns * of_column);
    }
    return result;
}

} // namespace detail

/// Which operands of a product are transposes, and lie by columns.
struct operand_orders {
    bool is_left_by_columns = false;
    bool is_right_by_columns = false;
};

/// Stores such a product of matrices without gaps: permutations bring the elements of A and B that a register of the
/// result needs to their lanes. Each element's sum runs over k in order, as in a tile.
template <extent_t M, extent_t N, extent_t K, operand_orders Orders = operand_orders{}, class T>
    requires(is_product_in_registers<T>(M, N, K))
CALQUE_INLINE void multiply_in_registers(T const* a, T const* b, T* c) {
    constexpr int lanes = simd::lanes<T>;
    constexpr int size = static_cast<int>(M * N);
    detail::register_pair<M * K, T> const left(a);
    detail::register_pair<K * N, T> const right(b);
    simd::unroll<(size + lanes - 1) / lanes>([&](auto r) CALQUE_INLINE_LAMBDA {
        constexpr int first = r * lanes;
        simd::reg<T> sum = simd::splat(T(0));
        simd::unroll<static_cast<int>(K)>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr auto of_left = Orders.is_left_by_columns ? detail::places<lanes>(first, size, N, 1, 0, k * M)
                                                               : detail::places<lanes>(first, size, N, K, 0, k);
            constexpr auto of_right = Orders.is_right_by_columns ? detail::places<lanes>(first, size, N, 0, K, k)
                                                                 : detail::places<lanes>(first, size, N, 0, 1, k * N);
            sum = simd::fma(left.template at<of_left>(), right.template at<of_right>(), sum);
        });
        store_first<size - first>(c + first, sum);
    });
}

/// The variant for such a product of matrices with strides `a` and `b`, where any others have `other`.
template <extent_t M, extent_t N, extent_t K, operand_orders Orders, class T>
constexpr matmul_variant choose_known_matmul(matrix_strides a, matrix_strides b, matmul_variant other) {
    bool const is_a_gapless =
        Orders.is_left_by_columns ? a.column == M && (a.row == 1 || M == 1) : a.column == 1 && (a.row == K || M == 1);
    bool const is_b_gapless =
        Orders.is_right_by_columns ? b.row == 1 && (b.column == K || N == 1) : b.row == N && (b.column == 1 || N == 1);
    if (is_product_in_registers<T>(M, N, K) && is_a_gapless && is_b_gapless) {
        return matmul_variant::in_registers;
    }
    bool const is_tile = is_known_tile<T>(M, N, K) && other == matmul_variant::direct && b.column == 1;
    return is_tile ? matmul_variant::known_tile : other;
}

/// Stores the product of an M x K and a K x N matrix by a variant that `choose_known_matmul` chose; false if it is none
/// of these.
template <extent_t M, extent_t N, extent_t K, operand_orders Orders, class T>
CALQUE_INLINE bool multiply_known(matmul_variant variant, [[maybe_unused]] matrix_ref<T> const& a,
                                  [[maybe_unused]] matrix_ref<T> const& b, [[maybe_unused]] T* c,
                                  [[maybe_unused]] std::ptrdiff_t c_stride) {
    if constexpr (is_product_in_registers<T>(M, N, K)) {
        if (variant == matmul_variant::in_registers && c_stride == N) [[likely]] {
            multiply_in_registers<M, N, K, Orders>(a.data, b.data, c);
            return true;
        }
    }
    if constexpr (is_known_tile<T>(M, N, K)) {
        if (variant == matmul_variant::known_tile) [[likely]] {
            multiply_known_tile<M, N, K>(a, b, c, c_stride);
            return true;
        }
    }
    return false;
}

} // namespace kernels
} // namespace v0
} // namespace calque
