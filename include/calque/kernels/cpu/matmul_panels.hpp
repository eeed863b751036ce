// SPDX-License-Identifier: MIT
// Products where there are 16 registers: the columns of B under a tile are copied together before the tiles use them.
#pragma once

#include <calque/kernels/cpu/matmul_pack.hpp>
#include <calque/kernels/cpu/matmul_result.hpp>
#include <calque/kernels/cpu/transpose.hpp>

#include <algorithm>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// The product by panels of B. Rows of A are read where they lie, or from a copy if its columns are contiguous.
///
/// A tile of 16 registers takes one or two cache lines from each row of B: read in place they are in as many pages as
/// there are rows, and often in the same few sets of a cache. Sums over several blocks of the inner extent continue in
/// the result, or for a sink in the workspace.
template <class T>
class panel_product {
public:
    panel_product(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> a, matrix_ref<T> b,
                  matmul_result<T> result, T* workspace)
        : m_(m), n_(n), k_(k), blocks_(m, k), a_(a), b_(b), writer_(result, false), panel_(workspace),
          rows_of_a_(panel_ + blocks_.size_of_b()), sums_(rows_of_a_ + blocks_.size_of_a(a.strides())) {}

    void run() {
        for (std::ptrdiff_t i = 0; i < m_; i += blocks_.rows) {
            std::ptrdiff_t const rows = std::min(blocks_.rows, m_ - i);
            for (std::ptrdiff_t k = 0; k < k_; k += blocks_.depth) {
                std::ptrdiff_t const depth = std::min(blocks_.depth, k_ - k);
                matrix_ref<T> const a = rows_of_a(i, k, rows, depth);
                for (std::ptrdiff_t j = 0; j < n_; j += width) {
                    std::ptrdiff_t const columns = std::min(width, n_ - j);
                    copy_to_panel(matrix_ref<T>{b_.at(k, j), b_.row_stride, b_.column_stride}.transposed(), columns,
                                  depth, panel_, width);
                    multiply_panel(a, i, j, k, rows, columns, depth);
                }
            }
        }
    }

private:
    static constexpr std::ptrdiff_t width = tile_columns<T>;

    /// A block of A whose rows are contiguous.
    matrix_ref<T> rows_of_a(std::ptrdiff_t i, std::ptrdiff_t k, std::ptrdiff_t rows, std::ptrdiff_t depth) const {
        T const* const block = a_.at(i, k);
        if (a_.row_stride != 1) {
            return {block, a_.row_stride, a_.column_stride};
        }
        // A few steps of the sum at a time: each is a run of A, and the lines that they begin in the copy stay in L1.
        constexpr std::ptrdiff_t steps = tile_extent<T>;
        std::ptrdiff_t const stride = blocks_.stride_of_a();
        for (std::ptrdiff_t step = 0; step < depth; step += steps) {
            copy_transposed(block + step * a_.column_stride, std::min(steps, depth - step), rows, a_.column_stride,
                            rows_of_a_ + step, stride);
        }
        return {rows_of_a_, stride, 1};
    }

    void multiply_panel(matrix_ref<T> a, std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k, std::ptrdiff_t rows,
                        std::ptrdiff_t columns, std::ptrdiff_t depth) {
        bool const is_first = k == 0, is_last = k + depth == k_;
        int const vectors = columns > simd::lanes<T> ? 2 : 1;
        std::ptrdiff_t const tile_rows = balanced(rows, matmul_tile_rows(vectors));
        // The next panel's lines come while this one is used: each tile asks for its part.
        bool const has_next = b_.column_stride == 1 && j + width < n_;
        std::ptrdiff_t const asked = has_next ? (depth * tile_rows + rows - 1) / rows : 0;
        T const* next = b_.at(k, has_next ? j + width : j);
        for (std::ptrdiff_t r = 0, line = 0; r < rows; r += tile_rows) {
            std::ptrdiff_t const height = std::min(tile_rows, rows - r);
            matmul_tile<T> tile{
                .depth = depth,
                .a = a.at(r, 0),
                .a_row_stride = a.row_stride,
                .a_step = a.column_stride,
                .b = panel_,
                .b_step = width,
                .last_lanes = static_cast<int>(columns - (vectors - 1) * simd::lanes<T>),
            };
            writer_.continue_sums(tile, i + r, j, is_first, is_last, sums_ + r * n_ + j, n_);
            for (std::ptrdiff_t const end = std::min(line + asked, has_next ? depth : 0); line < end; ++line) {
                simd::prefetch<static_cast<int>(width)>(next, 0);
                next += b_.row_stride;
            }
            compute_tile(static_cast<int>(height), vectors, tile);
            if (is_last) {
                writer_.finish(i + r, j, height, columns);
            }
        }
    }

    std::ptrdiff_t m_, n_, k_;
    panel_blocks<T> blocks_;
    matrix_ref<T> a_, b_;
    tile_writer<T> writer_;
    T* panel_;
    T* rows_of_a_;
    T* sums_;
};

} // namespace detail
} // namespace kernels
} // namespace v0
} // namespace calque
