// SPDX-License-Identifier: MIT
// Products of large matrices: blocks of B, and of A where that pays, are copied into panels, in the order in which
// tiles read them.
#pragma once

#include <calque/kernels/cpu/matmul_result.hpp>
#include <calque/kernels/cpu/pack_memory.hpp>

#include <algorithm>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// Copies the transpose of a matrix with any strides: element (i, k) to out[k * out_stride + i].
template <class T>
void copy_to_panel(matrix_ref<T> in, std::ptrdiff_t rows, std::ptrdiff_t depth, T* out, std::ptrdiff_t out_stride) {
    if (in.column_stride == 1) {
        copy_transposed(in.data, rows, depth, in.row_stride, out, out_stride);
        return;
    }
    for (std::ptrdiff_t k = 0; k < depth; ++k) {
        T const* const column = in.at(0, k);
        T* const to = out + k * out_stride;
        if (in.row_stride == 1) {
            constexpr std::ptrdiff_t lanes = simd::lanes<T>;
            std::ptrdiff_t i = 0;
            for (; i + lanes <= rows; i += lanes) {
                simd::store(to + i, simd::load(column + i));
            }
            if (i != rows) {
                int const rest = static_cast<int>(rows - i);
                simd::store_n(to + i, simd::load_n(column + i, rest), rest);
            }
        } else {
            for (std::ptrdiff_t i = 0; i < rows; ++i) {
                to[i] = column[i * in.row_stride];
            }
        }
    }
}

/// The packed product. Blocks of B (depth x columns) are packed once if they fit the budget, else again for each block
/// of A; sums over several blocks continue in the result, or for a sink in the workspace, so that it sees only
/// finished elements.
template <class T>
class packed_product {
public:
    packed_product(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> a, matrix_ref<T> b,
                   matmul_result<T> result, T* workspace)
        : m_(m), n_(n), k_(k), blocks_(m, n, k, a.strides()), a_(a), b_(b), writer_(result, false),
          panels_of_b_(workspace), panels_of_a_(panels_of_b_ + blocks_.size_of_b(k)),
          sums_(panels_of_a_ + blocks_.size_of_a()) {}

    void run() {
        for (std::ptrdiff_t j = 0; j < n_; j += blocks_.columns) {
            std::ptrdiff_t const columns = std::min(blocks_.columns, n_ - j);
            for (std::ptrdiff_t i = 0; i < m_; i += blocks_.rows) {
                std::ptrdiff_t const rows = std::min(blocks_.rows, m_ - i);
                for (std::ptrdiff_t k = 0; k < k_; k += blocks_.depth) {
                    std::ptrdiff_t const depth = std::min(blocks_.depth, k_ - k);
                    T* const panels_of_b = panels_of_b_ + (blocks_.keeps_b ? k * blocks_.columns : 0);
                    if (i == 0 || !blocks_.keeps_b) {
                        pack_b(k, j, depth, columns, panels_of_b);
                    }
                    if (blocks_.copies_a) {
                        pack_a(i, k, rows, depth);
                    }
                    multiply_block(i, j, k, rows, columns, depth, panels_of_b);
                }
            }
        }
    }

private:
    static constexpr std::ptrdiff_t width = tile_columns<T>;

    void pack_b(std::ptrdiff_t k, std::ptrdiff_t j, std::ptrdiff_t depth, std::ptrdiff_t columns, T* panels) const {
        for (std::ptrdiff_t c = 0; c < columns; c += width) {
            matrix_ref<T> const panel{b_.at(k, j + c), b_.row_stride, b_.column_stride};
            copy_to_panel(panel.transposed(), std::min(width, columns - c), depth, panels + c * depth, width);
        }
    }

    void pack_a(std::ptrdiff_t i, std::ptrdiff_t k, std::ptrdiff_t rows, std::ptrdiff_t depth) const {
        for (std::ptrdiff_t r = 0; r < rows; r += blocks_.tile_rows) {
            matrix_ref<T> const panel{a_.at(i + r, k), a_.row_stride, a_.column_stride};
            copy_to_panel(panel, std::min(blocks_.tile_rows, rows - r), depth, panels_of_a_ + r * depth,
                          blocks_.tile_rows);
        }
    }

    void multiply_block(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k, std::ptrdiff_t rows,
                        std::ptrdiff_t columns, std::ptrdiff_t depth, T const* panels_of_b) {
        bool const is_first = k == 0, is_last = k + depth == k_;
        for (std::ptrdiff_t c = 0; c < columns; c += width) {
            std::ptrdiff_t const tile_width = std::min(width, columns - c);
            int const vectors = tile_width > simd::lanes<T> ? 2 : 1;
            for (std::ptrdiff_t r = 0; r < rows; r += blocks_.tile_rows) {
                std::ptrdiff_t const tile_rows = std::min(blocks_.tile_rows, rows - r);
                matmul_tile<T> tile{
                    .depth = depth,
                    .a = blocks_.copies_a ? panels_of_a_ + r * depth : a_.at(i + r, k),
                    .a_row_stride = blocks_.copies_a ? 1 : a_.row_stride,
                    .a_step = blocks_.copies_a ? blocks_.tile_rows : a_.column_stride,
                    .b = panels_of_b + c * depth,
                    .b_step = width,
                    .last_lanes = static_cast<int>(tile_width - (vectors - 1) * simd::lanes<T>),
                };
                writer_.continue_sums(tile, i + r, j + c, is_first, is_last, sums_ + r * blocks_.columns + c,
                                      blocks_.columns);
                // The rows of the tile below lie in other pages, where no processor looks for them by itself.
                for (std::ptrdiff_t next = tile_rows; next < std::min(2 * tile_rows, rows - r); ++next) {
                    simd::prefetch<2 * simd::width>(tile.to + next * tile.to_stride, 0);
                }
                compute_tile(static_cast<int>(tile_rows), vectors, tile);
                if (is_last) {
                    writer_.finish(i + r, j + c, tile_rows, tile_width);
                }
            }
        }
    }

    std::ptrdiff_t m_, n_, k_;
    packed_blocks<T> blocks_;
    matrix_ref<T> a_, b_;
    tile_writer<T> writer_;
    T* panels_of_b_;
    T* panels_of_a_;
    T* sums_;
};

} // namespace detail
} // namespace kernels
} // namespace v0
} // namespace calque
