// SPDX-License-Identifier: MIT
// Transposition through square tiles of registers: 16x16 floats or 8x8 doubles with AVX-512, 8x8 or 4x4 with AVX2.
#pragma once

#include <calque/kernels/cpu/advance.hpp>
#include <calque/kernels/cpu/cache_sets.hpp>
#include <calque/kernels/cpu/loaded_once.hpp>
#include <calque/kernels/cpu/pack_lines.hpp>
#include <calque/kernels/cpu/rolled.hpp>
#include <calque/kernels/cpu/thresholds.hpp>
#include <calque/kernels/cpu/transpose_registers.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace calque {
inline namespace v0 {
namespace kernels {

namespace detail {

/// The type whose registers carry elements of `T`'s size: moving bits needs no arithmetic of `T`.
template <class T>
using carrier = std::conditional_t<sizeof(T) == sizeof(float), float, double>;

/// Whether `T` goes through register tiles.
template <class T>
inline constexpr bool has_tiles = sizeof(T) == sizeof(float) || sizeof(T) == sizeof(double);

} // namespace detail

/// The rows and columns of a register tile of `T`.
template <class T>
inline constexpr int tile_extent = simd::lanes<detail::carrier<T>>;

namespace detail {

/// From row `i` to the one behind it. Of four rows the first is a place of its own: an address can say where the others
/// are.
template <class T>
CALQUE_INLINE void go_to_next_row(T*& row, std::ptrdiff_t stride, int i) {
    if (i % 4 == 3) {
        advance(row, stride);
    } else {
        row += stride;
    }
}

/// Writes element (i, j) of a tile at `in` to (j, i) at `out`: of 1 to `tile_extent<T>` rows and columns, all of them
/// where `AllRows` and `AllColumns` say so. Strides are those of rows, in elements. `Pads`: rows that are not there,
/// which may be all, are written as zeros.
template <bool AllRows, bool AllColumns, bool Pads = false, class T>
CALQUE_INLINE void transpose_tile(T const* in, std::ptrdiff_t in_stride, int rows, int columns, T* out,
                                  std::ptrdiff_t out_stride) {
    using carrier = detail::carrier<T>; // simd::load may alias
    constexpr int extent = tile_extent<T>;
    simd::reg<carrier> r[extent]{};
    auto const* from = reinterpret_cast<carrier const*>(in);
    simd::unroll<extent>([&](int i) CALQUE_INLINE_LAMBDA {
        if (AllRows || i < rows) {
            if constexpr (AllColumns) {
                r[i] = simd::load(from);
                simd::keep_in_register(r[i]); // two permutations use it
            } else {
                r[i] = simd::load_n(from, columns);
            }
        }
        go_to_next_row(from, in_stride, i);
    });
    transpose_rows<carrier>(r);
    auto* to = reinterpret_cast<carrier*>(out);
    simd::unroll<extent>([&](int i) CALQUE_INLINE_LAMBDA {
        if (AllColumns || i < columns) {
            if constexpr (AllRows || Pads) {
                simd::store(to, r[i]);
            } else {
                simd::store_n(to, r[i], rows);
            }
        }
        go_to_next_row(to, out_stride, i);
    });
}

/// `count` whole tiles below each other. `asks`: ahead for the next lines that tiles fill.
template <class T>
CALQUE_NOINLINE void transpose_whole_tiles(T const* in, std::ptrdiff_t in_stride, std::ptrdiff_t count, T* out,
                                           std::ptrdiff_t out_stride, bool asks) {
    constexpr int extent = tile_extent<T>;
    constexpr int tiles_of_a_line = static_cast<int>(simd::line_bytes / sizeof(T)) / extent;
    for (; count > 0; --count) {
        if (simd::waits_for_lines_that_are_stored && asks && count > tiles_of_a_line) {
            T const* row = out;
            CALQUE_ROLLED
            for (int i = 0; i < extent; ++i) {
                simd::prefetch<1, true>(row, simd::line_bytes);
                row += out_stride;
            }
        }
        transpose_tile<true, true>(in, in_stride, extent, extent, out, out_stride);
        in += extent * in_stride;
        out += extent;
    }
}

/// A tile that is cut off: out of line, since each has hundreds of instructions.
template <bool AllRows, bool AllColumns, class T>
CALQUE_NOINLINE void transpose_cut_tile(T const* in, std::ptrdiff_t in_stride, int rows, int columns, T* out,
                                        std::ptrdiff_t out_stride) {
    transpose_tile<AllRows, AllColumns>(in, in_stride, rows, columns, out, out_stride);
}

/// The same of `tile_extent<T>` rows of at most `Width` columns, half a register or less: several share one.
template <int Width, class T>
CALQUE_NOINLINE void transpose_narrow_rows(T const* in, std::ptrdiff_t in_stride, int columns, T* out,
                                           std::ptrdiff_t out_stride) {
    using carrier = detail::carrier<T>;
    auto const* const from = reinterpret_cast<carrier const*>(in);
    auto const row = [&](int i, int part) CALQUE_INLINE_LAMBDA {
        return simd::load_part<Width>(from + row_of_part<carrier, Width>(i, part) * in_stride, columns);
    };
    simd::reg<carrier> r[Width];
    simd::unroll<Width>([&](int i) CALQUE_INLINE_LAMBDA {
        r[i] = simd::join_parts<Width>(row(i, 0), row(i, 1));
        if constexpr (4 * Width == tile_extent<T>) {
            r[i] = simd::join_parts<2 * Width>(r[i], simd::join_parts<Width>(row(i, 2), row(i, 3)));
        }
    });
    transpose_rows<carrier>(r);
    auto* const to = reinterpret_cast<carrier*>(out);
    simd::unroll<Width>([&](int j) CALQUE_INLINE_LAMBDA {
        if (j < columns) {
            simd::store(to + j * out_stride, r[j]);
        }
    });
}

/// The way back: at most `Width` rows become the columns of `tile_extent<T>` rows.
template <int Width, class T>
CALQUE_NOINLINE void transpose_to_narrow_rows(T const* in, std::ptrdiff_t in_stride, int rows, T* out,
                                              std::ptrdiff_t out_stride) {
    using carrier = detail::carrier<T>;
    auto const* const from = reinterpret_cast<carrier const*>(in);
    simd::reg<carrier> r[Width]{};
    simd::unroll<Width>([&](int i) CALQUE_INLINE_LAMBDA {
        if (i < rows) {
            r[i] = simd::load(from + i * in_stride);
        }
    });
    transpose_columns<carrier>(r);
    auto* const to = reinterpret_cast<carrier*>(out);
    simd::unroll<tile_extent<T> / Width>([&](auto part) CALQUE_INLINE_LAMBDA {
        simd::unroll<Width>([&](int i) CALQUE_INLINE_LAMBDA {
            simd::store_part<Width, part>(to + row_of_part<carrier, Width>(i, part) * out_stride, r[i], rows);
        });
    });
}

/// A tile that is cut off along one side only, by code of its own.
template <class T>
CALQUE_INLINE void transpose_cut_along_one_side(T const* in, std::ptrdiff_t in_stride, int rows, int columns, T* out,
                                                std::ptrdiff_t out_stride) {
    constexpr int extent = tile_extent<T>;
    constexpr int chunk = chunk_elements<carrier<T>>;
    bool const has_all_rows = rows == extent;
    int const n = has_all_rows ? columns : rows;
    if constexpr (chunk < extent) {
        if (n <= chunk) {
            return has_all_rows ? transpose_narrow_rows<chunk>(in, in_stride, n, out, out_stride)
                                : transpose_to_narrow_rows<chunk>(in, in_stride, n, out, out_stride);
        }
    }
    if constexpr (2 * chunk < extent) {
        if (n <= 2 * chunk) {
            return has_all_rows ? transpose_narrow_rows<2 * chunk>(in, in_stride, n, out, out_stride)
                                : transpose_to_narrow_rows<2 * chunk>(in, in_stride, n, out, out_stride);
        }
    }
    if (has_all_rows) {
        transpose_cut_tile<true, false>(in, in_stride, extent, n, out, out_stride);
    } else {
        transpose_cut_tile<false, true>(in, in_stride, n, extent, out, out_stride);
    }
}

} // namespace detail

/// Which tiles that are cut off have code of their own: none, or (`along_one_side`) those that are whole along the
/// other side too, for matrices that are so narrow that all tiles are such.
enum class cut_tiles { alike, along_one_side };

namespace detail {

/// Whether a tile that would be cut off is a whole one that ends where the matrix does, and copies some elements again:
/// where masks cost. Measured without, an AMD Zen 3: rows of 9 to 15 floats or doubles to lanes and back 1.15 to 1.6,
/// matrices of 256 such rows or columns 1.15 to 1.5. (With AVX-512 tiles that are cut off have less to permute.)
inline constexpr bool tiles_overlap = simd::register_count != 32;

/// Where the tile begins that has the rows or columns from `rest` on, of `n` of them.
template <std::ptrdiff_t Extent>
constexpr std::ptrdiff_t begin_of_tile(std::ptrdiff_t rest, std::ptrdiff_t n) {
    return tiles_overlap && n >= Extent ? std::min(rest, n - Extent) : rest;
}

/// `copy_transposed`, to be inlined where some extents and strides are constants. `asks`: ahead for where it stores.
template <cut_tiles Cut, class T>
CALQUE_INLINE void copy_in_tiles(T const* in, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t in_stride,
                                 T* out, std::ptrdiff_t out_stride, [[maybe_unused]] bool asks = false) {
    if constexpr (has_tiles<T>) {
        constexpr std::ptrdiff_t extent = tile_extent<T>;
        for (std::ptrdiff_t j_of_rest = 0; j_of_rest < columns; j_of_rest += extent) {
            std::ptrdiff_t const j = begin_of_tile<extent>(j_of_rest, columns);
            int const width = static_cast<int>(std::min(extent, columns - j));
            std::ptrdiff_t i_of_rest = 0;
            if (width == extent) {
                transpose_whole_tiles(in + j, in_stride, rows / extent, out + j * out_stride, out_stride, asks);
                i_of_rest = rows / extent * extent;
            }
            for (; i_of_rest < rows; i_of_rest += extent) {
                std::ptrdiff_t const i = begin_of_tile<extent>(i_of_rest, rows);
                int const height = static_cast<int>(std::min(extent, rows - i));
                T const* const from = in + i * in_stride + j;
                T* const to = out + j * out_stride + i;
                if (tiles_overlap && width == extent && height == extent) {
                    transpose_whole_tiles(from, in_stride, 1, to, out_stride, false);
                    continue;
                }
                if constexpr (Cut == cut_tiles::along_one_side) {
                    if (width == extent || height == extent) {
                        transpose_cut_along_one_side(from, in_stride, height, width, to, out_stride);
                        continue;
                    }
                }
                transpose_cut_tile<false, false>(from, in_stride, height, width, to, out_stride);
            }
        }
    } else {
        constexpr std::ptrdiff_t extent = 64;
        for (std::ptrdiff_t j0 = 0; j0 < columns; j0 += extent) {
            for (std::ptrdiff_t i0 = 0; i0 < rows; i0 += extent) {
                for (std::ptrdiff_t j = j0; j < std::min(j0 + extent, columns); ++j) {
                    for (std::ptrdiff_t i = i0; i < std::min(i0 + extent, rows); ++i) {
                        out[j * out_stride + i] = in[i * in_stride + j];
                    }
                }
            }
        }
    }
}

/// Whether rows crowd one set of L1, or two, so that it takes less to copy runs of them first.
constexpr bool gains_from_blocks(std::ptrdiff_t rows, std::ptrdiff_t row_bytes) {
    bool const crowd_one_set = crowd_a_set(rows) && are_in_one_set(row_bytes, 0);
    bool const crowd_those_beside_it =
        crowd_a_set(rows) && are_in_one_set(row_bytes, thresholds::bytes_past_one_set_of_blocks);
    bool const crowd_two_sets =
        crowd_a_set(rows / 2) && row_bytes % (thresholds::bytes_between_rows_in_one_set / 2) == 0;
    return crowd_one_set || ((crowd_those_beside_it || crowd_two_sets) &&
                             rows * row_bytes <= thresholds::most_bytes_of_nearly_crowded_blocks);
}

/// `copy_transposed` of a few columns of rows that crowd a set of L1: tiles follow each other along the rows.
template <class T>
CALQUE_NOINLINE void copy_along_rows(T const* in, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t in_stride,
                                     T* out, std::ptrdiff_t out_stride, bool asks) {
    constexpr std::ptrdiff_t extent = tile_extent<T>;
    for (std::ptrdiff_t i = 0; i < rows; i += extent) {
        copy_in_tiles<cut_tiles::alike>(in + i * in_stride, std::min(extent, rows - i), columns, in_stride, out + i,
                                        out_stride, asks);
    }
}

/// The same of many columns, by blocks: runs of rows are first copied to where they crowd no set.
template <class T>
CALQUE_NOINLINE void copy_in_blocks(T const* in, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t in_stride,
                                    T* out, std::ptrdiff_t out_stride, bool asks) {
    constexpr std::ptrdiff_t extent = thresholds::extent_of_a_transposed_block;
    constexpr std::ptrdiff_t stride = extent + 64 / static_cast<std::ptrdiff_t>(sizeof(T));
    alignas(64) T block[extent * stride];
    for (std::ptrdiff_t j = 0; j < columns; j += extent) {
        std::ptrdiff_t const width = std::min(extent, columns - j);
        for (std::ptrdiff_t i = 0; i < rows; i += extent) {
            std::ptrdiff_t const height = std::min(extent, rows - i);
            for (std::ptrdiff_t r = 0; r < height; ++r) {
                std::copy_n(in + (i + r) * in_stride + j, width, block + r * stride);
            }
            copy_in_tiles<cut_tiles::alike>(block, height, width, stride, out + j * out_stride + i, out_stride, asks);
        }
    }
}

} // namespace detail

/// Writes element (i, j) of a `rows` x `columns` matrix to (j, i) of `out`, which must not overlap `in`.
///
/// Tiles follow each other down the rows, so that `out` is written in runs, unless the rows put each other out of L1
/// meanwhile. Elements of 4 and 8 bytes go through registers, others one by one, in blocks whose cache lines are used
/// whole.
template <cut_tiles Cut = cut_tiles::alike, class T>
void copy_transposed(T const* in, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t in_stride, T* out,
                     std::ptrdiff_t out_stride) {
    bool const asks = rows * columns > thresholds::most_bytes_in_l1 / static_cast<std::ptrdiff_t>(2 * sizeof(T));
    if constexpr (detail::has_tiles<T>) {
        std::ptrdiff_t const row_bytes = in_stride * static_cast<std::ptrdiff_t>(sizeof(T));
        bool const is_strip = columns <= thresholds::most_columns_of_a_transposed_strip;
        if (!is_strip && detail::gains_from_blocks(rows, row_bytes)) {
            return detail::copy_in_blocks(in, rows, columns, in_stride, out, out_stride, asks);
        }
        if (is_strip && sizeof(T) == sizeof(float) && crowd_a_set(rows) && are_in_one_set(row_bytes, 0)) {
            return detail::copy_along_rows(in, rows, columns, in_stride, out, out_stride, asks);
        }
    }
    detail::copy_in_tiles<Cut>(in, rows, columns, in_stride, out, out_stride, asks);
}

} // namespace kernels
} // namespace v0
} // namespace calque
