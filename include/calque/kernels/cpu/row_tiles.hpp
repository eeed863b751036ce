// SPDX-License-Identifier: MIT
// Tiles of short rows, in which each row has a lane: how they are filled from rows in memory, and written back.
#pragma once

#include <calque/kernels/cpu/interleave.hpp>
#include <calque/kernels/cpu/spaced.hpp>
#include <calque/kernels/cpu/transpose.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Writes element (i, j) of a matrix of few columns to (j, i) of a tile, or the way back. The rows of the tile have
/// `Lanes` elements, of which the first `rows` are rows of the matrix; when a tile is filled, the others get some
/// number. `stride`: from row to row of the matrix, in elements.
using move_row_tile = void (*)(std::byte const* in, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t stride,
                               std::byte* out);

namespace detail {

/// Through transposition in registers.
template <int Lanes, class T>
CALQUE_NOINLINE void transpose_to_lanes(std::byte const* from, std::ptrdiff_t rows, std::ptrdiff_t columns,
                                        std::ptrdiff_t stride, std::byte* to) {
    auto const* const in = reinterpret_cast<T const*>(from);
    auto* const out = reinterpret_cast<T*>(to);
    if (rows == Lanes) {
        copy_in_tiles<cut_tiles::along_one_side>(in, Lanes, columns, stride, out, Lanes);
    } else if constexpr (has_tiles<T>) {
        constexpr std::ptrdiff_t extent = tile_extent<T>;
        for (std::ptrdiff_t j = 0; j < columns; j += extent) {
            int const width = static_cast<int>(std::min(extent, columns - j));
            for (std::ptrdiff_t i = 0; i < Lanes; i += extent) {
                int const height = static_cast<int>(std::clamp<std::ptrdiff_t>(rows - i, 0, extent));
                transpose_tile<false, false, true>(in + i * stride + j, stride, height, width, out + j * Lanes + i,
                                                   Lanes);
            }
        }
    } else {
        std::fill_n(out, columns * Lanes, T{});
        copy_transposed(in, rows, columns, stride, out, Lanes);
    }
}

template <int Lanes, class T>
CALQUE_NOINLINE void transpose_from_lanes(std::byte const* from, std::ptrdiff_t rows, std::ptrdiff_t columns,
                                          std::ptrdiff_t stride, std::byte* to) {
    copy_in_tiles<cut_tiles::along_one_side>(reinterpret_cast<T const*>(from), columns, rows, Lanes,
                                             reinterpret_cast<T*>(to), stride);
}

/// One row, which all lanes get.
template <int Lanes, class T>
CALQUE_NOINLINE void repeat_row(std::byte const* from, std::ptrdiff_t, std::ptrdiff_t columns, std::ptrdiff_t,
                                std::byte* to) {
    auto const* const in = reinterpret_cast<T const*>(from);
    auto* out = reinterpret_cast<T*>(to);
    for (std::ptrdiff_t j = 0; j < columns; ++j, out += Lanes) {
        for (std::ptrdiff_t i = 0; i < Lanes; i += simd::lanes<T>) {
            simd::store(out + i, simd::splat(in[j]));
        }
    }
}

/// Copies `count` elements to whole registers: those from `first` on, and zeros where there are none up to `end`.
template <class T>
CALQUE_NOINLINE T const* pad(T const* in, std::ptrdiff_t first, std::ptrdiff_t end, T* out, std::ptrdiff_t count) {
    constexpr int width = simd::lanes<T>;
    for (std::ptrdiff_t k = 0; k < count; k += width) {
        int const n = static_cast<int>(std::clamp<std::ptrdiff_t>(end - first - k, 0, width));
        simd::store(out + k, n == 0 ? simd::splat(T(0)) : simd::load_n(in + first + k, n));
    }
    return out;
}

/// Rows that follow each other, through permutations of whole registers.
template <int Lanes, int Columns, class T>
CALQUE_NOINLINE void take_rows_apart(std::byte const* from, std::ptrdiff_t rows, std::ptrdiff_t, std::ptrdiff_t,
                                     std::byte* to) {
    constexpr int width = simd::lanes<T>;
    auto const* const in = reinterpret_cast<T const*>(from);
    auto* const out = reinterpret_cast<T*>(to);
    for (std::ptrdiff_t i = 0; i < Lanes; i += width) {
        T padded[Columns * width];
        auto const all = load_registers<Columns>(
            i + width <= rows ? in + Columns * i : pad(in, Columns * i, Columns * rows, padded, Columns * width));
        simd::unroll<Columns>([&](auto j)
                                  CALQUE_INLINE_LAMBDA { simd::store(out + j * Lanes + i, every<Columns, j>(all)); });
    }
}

template <int Lanes, int Columns, class T>
CALQUE_NOINLINE void put_rows_together(std::byte const* from, std::ptrdiff_t rows, std::ptrdiff_t, std::ptrdiff_t,
                                       std::byte* to) {
    constexpr int width = simd::lanes<T>;
    auto const* const in = reinterpret_cast<T const*>(from);
    auto* out = reinterpret_cast<T*>(to);
    for (std::ptrdiff_t i = 0; i < rows; i += width, out += Columns * width) {
        simd::register_array<T, Columns> all;
        simd::unroll<Columns>([&](auto j) CALQUE_INLINE_LAMBDA { all[j] = simd::load(in + j * Lanes + i); });
        all = in_turn(all);
        std::ptrdiff_t const left = Columns * (rows - i);
        if (left >= Columns * width) {
            simd::unroll<Columns>([&](auto k) CALQUE_INLINE_LAMBDA { simd::store(out + k * width, all[k]); });
        } else {
            T some[Columns * width];
            simd::unroll<Columns>([&](auto k) CALQUE_INLINE_LAMBDA { simd::store(some + k * width, all[k]); });
            std::copy_n(some, left, out);
        }
    }
}

/// Whether rows of so many elements that follow each other are moved by such permutations: not to tiles of one group,
/// which are those of what remains.
template <int Lanes, class T>
constexpr bool has_row_permutations(int columns) {
    constexpr int width = simd::lanes<T>;
    if (Lanes == simd::width) {
        return false;
    }
    bool const are_few = columns <= thresholds::most_columns_by_permutations;
    bool const are_even = width == 16 && columns % 2 == 0 && columns <= thresholds::most_even_columns_by_permutations;
    return columns >= 2 && (are_few || are_even) && columns != width; // else a whole tile is transposed
}

/// What fills, or writes, tiles by permutations.
template <bool Fills, int Lanes, class T, int Columns>
constexpr move_row_tile row_permutation() {
    if constexpr (!has_row_permutations<Lanes, T>(Columns)) {
        return nullptr;
    } else if constexpr (Fills) {
        return &take_rows_apart<Lanes, Columns, T>;
    } else {
        return &put_rows_together<Lanes, Columns, T>;
    }
}

/// The same by the number of columns: null where tiles are transposed.
template <bool Fills, int Lanes, class T>
CALQUE_INLINE move_row_tile row_permutation(std::ptrdiff_t columns) {
    constexpr int count = thresholds::most_even_columns_by_permutations + 1;
    static constexpr auto moves = []<int... C>(std::integer_sequence<int, C...>) {
        return std::array<move_row_tile, count>{row_permutation<Fills, Lanes, T, C>()...};
    }(std::make_integer_sequence<int, count>{});
    return columns < count ? moves[static_cast<std::size_t>(columns)] : nullptr;
}

} // namespace detail

/// What fills tiles of `Lanes` rows from arrays of `T`.
template <int Lanes, class T>
CALQUE_INLINE move_row_tile filling_of_row_tiles(std::ptrdiff_t columns, std::ptrdiff_t stride) {
    if constexpr (detail::has_tiles<T>) {
        using carrier = detail::carrier<T>;
        if (stride == 0) {
            return &detail::repeat_row<Lanes, T>; // which reads elements, not bits
        }
        move_row_tile const move = detail::row_permutation<true, Lanes, carrier>(columns);
        if (move != nullptr && stride == columns) {
            return move;
        }
    }
    return &detail::transpose_to_lanes<Lanes, T>;
}

/// What writes them to arrays of `T`.
template <int Lanes, class T>
CALQUE_INLINE move_row_tile writing_of_row_tiles(std::ptrdiff_t columns, std::ptrdiff_t stride) {
    if constexpr (detail::has_tiles<T>) {
        using carrier = detail::carrier<T>;
        move_row_tile const move = detail::row_permutation<false, Lanes, carrier>(columns);
        if (move != nullptr && stride == columns) {
            return move;
        }
    }
    return &detail::transpose_from_lanes<Lanes, T>;
}

} // namespace kernels
} // namespace v0
} // namespace calque
