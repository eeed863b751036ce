// SPDX-License-Identifier: MIT
// Transposition through square tiles of registers: 16x16 floats or 8x8 doubles with AVX-512, 8x8 or 4x4 with AVX2.
#pragma once

#include <calque/kernels/cpu/simd.hpp>
#include <calque/kernels/cpu/unroll.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace calque {
inline namespace v0 {
namespace kernels {

namespace detail {

// Both shuffles below are one instruction on x86: the first never leaves a chunk of 16 bytes, the second moves whole
// chunks. Indices count through the lanes of `a` and on through those of `b`.

/// Interleaves the lower (Half = 0) or upper (1) half of each chunk of `a` with that of `b`: a0 b0 a1 b1.
template <int Half, int Chunk, class R>
CALQUE_INLINE R interleave(R a, R b) {
    constexpr int lanes = simd::lanes_of<R>;
    return simd::indices<lanes>([&](auto... lane) CALQUE_INLINE_LAMBDA {
        return __builtin_shufflevector(
            a, b, (lane / Chunk * Chunk + Half * (Chunk / 2) + lane % Chunk / 2 + lane % 2 * lanes)...);
    });
}

/// The even (Odd = 0) or odd (1) chunks of `a`, then those of `b`.
template <int Odd, int Chunk, class R>
CALQUE_INLINE R every_second_chunk(R a, R b) {
    return simd::indices<simd::lanes_of<R>>([&](auto... lane) CALQUE_INLINE_LAMBDA {
        return __builtin_shufflevector(a, b, ((lane / Chunk * 2 + Odd) * Chunk + lane % Chunk)...);
    });
}

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

/// Transposes a square tile that lies in registers: lane j of register i changes places with lane i of register j.
template <class R, int Lanes>
CALQUE_INLINE void transpose_registers(R (&r)[Lanes]) {
    static_assert(Lanes == simd::lanes_of<R>, "calque: a tile has as many registers as a register has lanes");
    constexpr int chunk = static_cast<int>(16 / sizeof(simd::element_of<R>));
    constexpr int chunks = Lanes / chunk;
    // A perfect shuffle of the rows, log2(n) times, is a transposition: first of the elements within each chunk...
    R t[Lanes];
    simd::unroll<chunk == 4 ? 2 : 1>([&](auto) CALQUE_INLINE_LAMBDA {
        simd::unroll<Lanes / 2>([&](auto i) CALQUE_INLINE_LAMBDA {
            constexpr int group = i / (chunk / 2) * chunk, row = i % (chunk / 2);
            t[group + 2 * row] = detail::interleave<0, chunk>(r[group + row], r[group + row + chunk / 2]);
            t[group + 2 * row + 1] = detail::interleave<1, chunk>(r[group + row], r[group + row + chunk / 2]);
        });
        simd::unroll<Lanes>([&](auto i) CALQUE_INLINE_LAMBDA { r[i] = t[i]; });
    });
    // ... then of the chunks.
    simd::unroll<chunks == 1   ? 0
                 : chunks == 2 ? 1
                 : chunks == 4 ? 2
                               : 3>([&](auto) CALQUE_INLINE_LAMBDA {
        simd::unroll<Lanes / 2>([&](auto i) CALQUE_INLINE_LAMBDA {
            constexpr int pair = i / chunk * (2 * chunk) + i % chunk;
            t[i] = detail::every_second_chunk<0, chunk>(r[pair], r[pair + chunk]);
            t[i + Lanes / 2] = detail::every_second_chunk<1, chunk>(r[pair], r[pair + chunk]);
        });
        simd::unroll<Lanes>([&](auto i) CALQUE_INLINE_LAMBDA { r[i] = t[i]; });
    });
}

namespace detail {

/// Writes element (i, j) of a tile at `in` to (j, i) at `out`: of 1 to `tile_extent<T>` rows and columns, all of them
/// where `AllRows` and `AllColumns` say so. Strides are those of rows, in elements. `Pads`: rows that are not there,
/// which may be all, are written as zeros.
template <bool AllRows, bool AllColumns, bool Pads = false, class T>
CALQUE_INLINE void transpose_tile(T const* in, std::ptrdiff_t in_stride, int rows, int columns, T* out,
                                  std::ptrdiff_t out_stride) {
    using carrier = detail::carrier<T>; // simd::load may alias
    constexpr int extent = tile_extent<T>;
    simd::reg<carrier> r[extent]{};
    simd::unroll<extent>([&](auto i) CALQUE_INLINE_LAMBDA {
        auto const* const row = reinterpret_cast<carrier const*>(in + i * in_stride);
        if (AllRows || i < rows) {
            if constexpr (AllColumns) {
                r[i] = simd::load(row);
            } else {
                r[i] = simd::load_n(row, columns);
            }
        }
    });
    transpose_registers(r);
    simd::unroll<extent>([&](auto i) CALQUE_INLINE_LAMBDA {
        auto* const row = reinterpret_cast<carrier*>(out + i * out_stride);
        if (AllColumns || i < columns) {
            if constexpr (AllRows || Pads) {
                simd::store(row, r[i]);
            } else {
                simd::store_n(row, r[i], rows);
            }
        }
    });
}

/// A tile that is cut off: out of line, since each has hundreds of instructions.
template <bool AllRows, bool AllColumns, class T>
CALQUE_NOINLINE void transpose_cut_tile(T const* in, std::ptrdiff_t in_stride, int rows, int columns, T* out,
                                        std::ptrdiff_t out_stride) {
    transpose_tile<AllRows, AllColumns>(in, in_stride, rows, columns, out, out_stride);
}

} // namespace detail

/// Which tiles that are cut off have code of their own: none, or (`along_one_side`) those that are whole along the
/// other side too, for matrices that are so narrow that all tiles are such.
enum class cut_tiles { alike, along_one_side };

namespace detail {

/// `copy_transposed`, to be inlined where some extents and strides are constants.
template <cut_tiles Cut, class T>
CALQUE_INLINE void copy_in_tiles(T const* in, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t in_stride,
                                 T* out, std::ptrdiff_t out_stride) {
    if constexpr (has_tiles<T>) {
        constexpr std::ptrdiff_t extent = tile_extent<T>;
        constexpr bool one_side = Cut == cut_tiles::along_one_side;
        for (std::ptrdiff_t j = 0; j < columns; j += extent) {
            int const width = static_cast<int>(std::min(extent, columns - j));
            for (std::ptrdiff_t i = 0; i < rows; i += extent) {
                int const height = static_cast<int>(std::min(extent, rows - i));
                T const* const from = in + i * in_stride + j;
                T* const to = out + j * out_stride + i;
                if (width == extent && height == extent) {
                    transpose_tile<true, true>(from, in_stride, extent, extent, to, out_stride);
                } else if (one_side && (width == extent || height == extent)) {
                    if (height == extent) {
                        transpose_cut_tile<one_side, false>(from, in_stride, extent, width, to, out_stride);
                    } else {
                        transpose_cut_tile<false, one_side>(from, in_stride, height, extent, to, out_stride);
                    }
                } else {
                    transpose_cut_tile<false, false>(from, in_stride, height, width, to, out_stride);
                }
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

} // namespace detail

/// Writes element (i, j) of a `rows` x `columns` matrix to (j, i) of `out`, which must not overlap `in`.
///
/// Tiles follow each other down the rows, so that `out` is written in runs. Elements of 4 and 8 bytes go through
/// registers, others one by one, in blocks whose cache lines are used whole.
template <cut_tiles Cut = cut_tiles::alike, class T>
void copy_transposed(T const* in, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t in_stride, T* out,
                     std::ptrdiff_t out_stride) {
    detail::copy_in_tiles<Cut>(in, rows, columns, in_stride, out, out_stride);
}

namespace detail {

/// `transpose_to_lanes` for as many rows as lanes. Out of line: one for all kernels, in which compilers know the lanes.
template <int Lanes, class T>
CALQUE_NOINLINE void transpose_to_all_lanes(T const* in, std::ptrdiff_t columns, std::ptrdiff_t in_stride, T* out) {
    copy_in_tiles<cut_tiles::along_one_side>(in, Lanes, columns, in_stride, out, Lanes);
}

/// `transpose_to_lanes` for fewer rows than lanes. Out of line: one for any number of lanes.
template <class T>
CALQUE_NOINLINE void transpose_and_pad(T const* in, std::ptrdiff_t rows, std::ptrdiff_t columns,
                                       std::ptrdiff_t in_stride, T* out, std::ptrdiff_t lanes) {
    if constexpr (has_tiles<T>) {
        constexpr std::ptrdiff_t extent = tile_extent<T>;
        for (std::ptrdiff_t j = 0; j < columns; j += extent) {
            int const width = static_cast<int>(std::min(extent, columns - j));
            for (std::ptrdiff_t i = 0; i < lanes; i += extent) {
                int const height = static_cast<int>(std::clamp<std::ptrdiff_t>(rows - i, 0, extent));
                transpose_tile<false, false, true>(in + i * in_stride + j, in_stride, height, width,
                                                   out + j * lanes + i, lanes);
            }
        }
    } else {
        std::fill_n(out, columns * lanes, T{});
        copy_transposed(in, rows, columns, in_stride, out, lanes);
    }
}

} // namespace detail

/// Writes element (i, j) of a matrix of few columns to (j, i) of `out`, whose rows have `Lanes` elements: zeros where
/// `in` has no row.
template <int Lanes, class T>
CALQUE_INLINE void transpose_to_lanes(T const* in, std::ptrdiff_t rows, std::ptrdiff_t columns,
                                      std::ptrdiff_t in_stride, T* out) {
    if (rows == Lanes) {
        detail::transpose_to_all_lanes<Lanes>(in, columns, in_stride, out);
    } else {
        detail::transpose_and_pad(in, rows, columns, in_stride, out, Lanes);
    }
}

/// The way back: writes the first `rows` elements of each row of `in`, which has `Lanes`, to the columns of `out`.
template <int Lanes, class T>
CALQUE_NOINLINE void transpose_from_lanes(T const* in, std::ptrdiff_t rows, std::ptrdiff_t columns, T* out,
                                          std::ptrdiff_t out_stride) {
    detail::copy_in_tiles<cut_tiles::along_one_side>(in, columns, rows, Lanes, out, out_stride);
}

} // namespace kernels
} // namespace v0
} // namespace calque
