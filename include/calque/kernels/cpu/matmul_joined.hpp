// SPDX-License-Identifier: MIT
// Products of many rows with a small matrix, points with a rotation say: the lanes of a register have several rows.
#pragma once

#include <calque/kernels/cpu/matmul_result.hpp>
#include <calque/kernels/cpu/matmul_variant.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// The product of an M x K matrix without gaps and a K x N matrix, K and N as `joins_rows` has it.
///
/// A block of as many rows as a register has lanes makes N registers of the result. For each step of the sum a
/// permutation of two registers of A brings the elements that their lanes need; the rows of B are repeated.
template <class T>
class joined_product {
    static constexpr int lanes = simd::lanes<T>;
    static constexpr std::ptrdiff_t most_columns = thresholds::most_columns_of_joined_products;
    static constexpr int most_depth = thresholds::most_depth_of_joined_products;
    static constexpr std::ptrdiff_t blocks_of_a_tile = 8;
    using index_type = simd::signed_of<T>;

public:
    joined_product(std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> b) : n_(n), k_(k) {
        for (std::ptrdiff_t t = 0; t < k; ++t) {
            for (std::ptrdiff_t j = 0; j < n; ++j) {
                rows_of_b_[t][j] = *b.at(t, j);
            }
        }
        for (std::ptrdiff_t row = 0, element = 0; row < lanes; ++row) {
            for (std::ptrdiff_t j = 0; j < n; ++j, ++element) {
                if (element % lanes == 0) {
                    first_[element / lanes] = row * k;
                }
                places_[element] = static_cast<index_type>(row * k - first_[element / lanes]);
                columns_[element] = static_cast<index_type>(j);
            }
        }
    }

    void run(std::ptrdiff_t m, T const* a, matmul_result<T> const& result) {
        bool const is_in_place = result.is_in_memory() && result.stride == n_;
        std::ptrdiff_t const most_blocks = is_in_place ? m : blocks_of_a_tile;
        // Of the last block registers would end behind A.
        std::ptrdiff_t const read = (first_[n_ - 1] + 2 * lanes + k_ - 1) / k_;
        std::ptrdiff_t const blocks = m < read ? 0 : (m - read) / lanes + 1;
        for (std::ptrdiff_t block = 0; block < blocks; block += most_blocks) {
            std::ptrdiff_t const n = std::min(most_blocks, blocks - block);
            std::ptrdiff_t const i = block * lanes;
            multiply_blocks(n, a + i * k_, is_in_place ? result.data + i * n_ : tile_);
            if (!is_in_place) {
                result.accept(tile_, n_, i, 0, n * lanes, n_);
            }
        }
        for (std::ptrdiff_t i = blocks * lanes; i < m; i += lanes) {
            std::ptrdiff_t const rows = std::min<std::ptrdiff_t>(lanes, m - i);
            T padded[(most_depth + 2) * lanes] = {};
            std::copy_n(a + i * k_, rows * k_, padded);
            multiply_blocks(1, padded, tile_);
            result.accept(tile_, n_, i, 0, rows, n_);
        }
    }

private:
    void multiply_blocks(std::ptrdiff_t blocks, T const* a, T* to) const {
        switch (k_) {
        case 1: return multiply<1>(blocks, a, to);
        case 2: return multiply<2>(blocks, a, to);
        case 3: return multiply<3>(blocks, a, to);
        default: return multiply<most_depth>(blocks, a, to);
        }
    }

    template <int K>
    void multiply(std::ptrdiff_t blocks, T const* a, T* to) const {
        std::ptrdiff_t const n = n_;
        for (std::ptrdiff_t q = 0; q < n; ++q) {
            simd::reg<index_type> const columns = simd::load(columns_ + q * lanes);
            simd::reg<index_type> places[K];
            simd::reg<T> factors[K];
            simd::unroll<K>([&](auto t) CALQUE_INLINE_LAMBDA {
                places[t] = simd::load(places_ + q * lanes) + static_cast<index_type>(t);
                simd::reg<T> const row = simd::load(rows_of_b_[t]);
                factors[t] = simd::lookup(row, row, columns);
            });
            T const* from = a + first_[q];
            T* result = to + q * lanes;
            for (std::ptrdiff_t block = 0; block < blocks; ++block, from += K * lanes, result += n * lanes) {
                simd::reg<T> const low = simd::load(from);
                simd::reg<T> const high = simd::load(from + lanes);
                simd::reg<T> sum = simd::splat(T(0));
                simd::unroll<K>([&](auto t) CALQUE_INLINE_LAMBDA {
                    sum = simd::fma(simd::lookup(low, high, places[t]), factors[t], sum);
                });
                simd::store(result, sum);
            }
        }
    }

    std::ptrdiff_t const n_, k_;
    // Of each register of the result: the first element of A that it needs, where behind that its lanes find theirs for
    // the first step of the sum, and the columns that they are in.
    std::ptrdiff_t first_[most_columns];
    alignas(64) index_type places_[most_columns * lanes];
    alignas(64) index_type columns_[most_columns * lanes];
    alignas(64) T rows_of_b_[most_depth][lanes];
    alignas(64) T tile_[blocks_of_a_tile * lanes * most_columns];
};

} // namespace detail
} // namespace kernels
} // namespace v0
} // namespace calque
