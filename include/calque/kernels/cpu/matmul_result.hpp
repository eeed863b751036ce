// SPDX-License-Identifier: MIT
// Where a product's elements go: into a matrix, or tile by tile into a sink (a fused epilogue).
#pragma once

#include <calque/kernels/cpu/matmul_micro.hpp>
#include <calque/kernels/cpu/matmul_variant.hpp>
#include <calque/kernels/cpu/transpose.hpp>

#include <algorithm>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// The destination of a product: a row-major matrix, or a sink if `data` is null.
template <class T>
struct matmul_result {
    T* data = nullptr;
    std::ptrdiff_t stride = 0;
    tile_sink<T> sink{};

    bool is_in_memory() const { return data != nullptr; }

    /// Hands over a tile that was computed elsewhere.
    void accept(T const* tile, std::ptrdiff_t tile_stride, std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t rows,
                std::ptrdiff_t columns) const {
        if (!is_in_memory()) {
            sink.consume(sink.context, tile, tile_stride, i, j, rows, columns);
            return;
        }
        for (std::ptrdiff_t r = 0; r < rows; ++r) {
            std::copy_n(tile + r * tile_stride, columns, data + (i + r) * stride + j);
        }
    }
};

/// Gives the micro-kernel a place for each tile: in the result itself, or in a buffer that is handed over at the end.
///
/// For the transposed product, positions are those in the transposed result, and tiles are turned on the way.
template <class T>
class tile_writer {
public:
    tile_writer(matmul_result<T> const& result, bool is_transposed)
        : result_(result), is_transposed_(is_transposed), is_buffered_(is_transposed || !result.is_in_memory()) {}

    T* place(std::ptrdiff_t i, std::ptrdiff_t j) {
        return is_buffered_ ? tile_ : result_.data + i * result_.stride + j;
    }

    std::ptrdiff_t stride() const { return is_buffered_ ? columns : result_.stride; }

    /// Has a tile at (i, j) start from the sums of the blocks of the inner extent before, and leave its own: in the
    /// result, or for a sink, which sees only finished elements, in `kept` until the last block.
    void continue_sums(matmul_tile<T>& tile, std::ptrdiff_t i, std::ptrdiff_t j, bool is_first, bool is_last, T* kept,
                       std::ptrdiff_t kept_stride) {
        T* const sums = result_.is_in_memory() ? place(i, j) : kept;
        std::ptrdiff_t const sums_stride = result_.is_in_memory() ? stride() : kept_stride;
        tile.from = is_first ? nullptr : sums;
        tile.from_stride = sums_stride;
        tile.to = is_last ? place(i, j) : sums;
        tile.to_stride = is_last ? stride() : sums_stride;
    }

    /// The tile at (i, j) is where `place` said.
    void finish(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t tile_rows, std::ptrdiff_t tile_columns_) {
        if (!is_buffered_) {
            return;
        }
        if (!is_transposed_) {
            result_.accept(tile_, columns, i, j, tile_rows, tile_columns_);
        } else if (result_.is_in_memory()) {
            copy_transposed(tile_, tile_rows, tile_columns_, columns, result_.data + j * result_.stride + i,
                            result_.stride);
        } else {
            copy_transposed(tile_, tile_rows, tile_columns_, columns, turned_, rows);
            result_.accept(turned_, rows, j, i, tile_columns_, tile_rows);
        }
    }

private:
    static constexpr std::ptrdiff_t columns = tile_columns<T>;
    static constexpr std::ptrdiff_t rows = 16; // of a tile, at most, and a whole number of cache lines

    matmul_result<T> result_;
    bool is_transposed_;
    bool is_buffered_;
    alignas(64) T tile_[rows * columns];
    alignas(64) T turned_[rows * columns];
};

} // namespace detail
} // namespace kernels
} // namespace v0
} // namespace calque
