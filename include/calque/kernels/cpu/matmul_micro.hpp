// SPDX-License-Identifier: MIT
// The micro-kernel of matrix products: one tile of the result, kept in registers over the whole inner extent.
//
// There is one family of it for every path: unpacked, packed, transposed, with or without an epilogue. What differs is
// only strides and where the tile is stored, so a translation unit pays for 30 functions a dtype (18 where there are 16
// registers).
#pragma once

#include <calque/kernels/cpu/advance.hpp>
#include <calque/kernels/cpu/pack_memory.hpp>
#include <calque/kernels/cpu/simd.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace calque {
inline namespace v0 {
namespace kernels {

/// The operands of one tile, `rows` x `vectors` registers wide: to = from + A B.
template <class T>
struct matmul_tile {
    std::ptrdiff_t depth = 0;        // the extent that is summed over
    T const* a = nullptr;            // element (i, k) at a[i * a_row_stride + k * a_step]
    std::ptrdiff_t a_row_stride = 0; //
    std::ptrdiff_t a_step = 0;       //
    T const* b = nullptr;            // element (k, j) at b[k * b_step + j]
    std::ptrdiff_t b_step = 0;       //
    int last_lanes = 0;              // the columns in the last register
    T const* from = nullptr;         // what the sum starts from: an earlier block's result, or null for zero
    std::ptrdiff_t from_stride = 0;  //
    T* to = nullptr;                 //
    std::ptrdiff_t to_stride = 0;    //
};

/// The widest tile, in registers. Two make each broadcast element of A count twice.
inline constexpr int matmul_tile_vectors = 2;

/// The most rows of a tile that is `vectors` registers wide: the sums, a row of B and a broadcast fill the registers.
constexpr int matmul_tile_rows(int vectors) {
    if (simd::register_count == 32) {
        return vectors == 2 ? thresholds::tile_rows_of_32_registers : thresholds::narrow_tile_rows_of_32_registers;
    }
    return vectors == 2 ? thresholds::tile_rows_of_16_registers : thresholds::narrow_tile_rows_of_16_registers;
}

/// Computes one tile. Each element's sum runs over k in order, whatever the tile's size and alignment.
///
/// The loops over rows and registers are unrolled by pragma rather than by expansion: at these sizes both compilers
/// keep the sums in registers, and a kernel costs a quarter of the compile time.
template <int Rows, int Vectors, class T>
CALQUE_INLINE void compute_tile(matmul_tile<T> const& tile) {
    constexpr int lanes = simd::lanes<T>;
    // The empty statement keeps the count out of the vector registers, which tiles of 14 x 2 need all: g++ 12 would
    // clamp it there, and read a row of B from the stack instead (doubles: 88 GFLOP/s instead of 131).
    int last_lanes = tile.last_lanes;
    asm("" : "+r"(last_lanes));
    constexpr bool masks_are_free = simd::width >= 8; // AVX2 and AVX-512: elsewhere load_n goes through memory
    auto const load = [last_lanes](T const* row, int v) CALQUE_INLINE_LAMBDA {
        bool const whole = v != Vectors - 1 || (!masks_are_free && last_lanes == lanes);
        return whole ? simd::load(row + v * lanes) : simd::load_n(row + v * lanes, last_lanes);
    };

    simd::reg<T> sums[Rows][Vectors];
    bool const starts_at_zero = tile.from == nullptr;
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) {
            sums[i][v] = starts_at_zero ? simd::splat(T(0)) : load(tile.from + i * tile.from_stride, v);
        }
    }

    // A pointer to every third row: the two rows below it are one and two strides away, which an address can say.
    constexpr int pointers = (Rows + 2) / 3;
    std::ptrdiff_t const a_row_stride = tile.a_row_stride, a_step = tile.a_step, b_step = tile.b_step;
    T const* a[pointers];
#pragma GCC unroll 16
    for (int p = 0; p < pointers; ++p) {
        a[p] = tile.a + 3 * p * a_row_stride;
    }
    T const* b = tile.b;
    constexpr bool asks_ahead = Rows * Vectors >= thresholds::least_sums_that_ask_ahead;
    std::ptrdiff_t const ahead = thresholds::rows_of_b_ahead * b_step * static_cast<std::ptrdiff_t>(sizeof(T));
    for (std::ptrdiff_t k = tile.depth; k != 0; --k) {
        simd::reg<T> row_of_b[Vectors];
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) {
            row_of_b[v] = load(b, v);
        }
        if constexpr (asks_ahead) {
            simd::prefetch<Vectors * lanes>(b, ahead);
        }
#pragma GCC unroll 16
        for (int i = 0; i < Rows; ++i) {
            simd::reg<T> const element = simd::splat(a[i / 3][i % 3 * a_row_stride]);
#pragma GCC unroll 2
            for (int v = 0; v < Vectors; ++v) {
                sums[i][v] = simd::fma(element, row_of_b[v], sums[i][v]);
            }
        }
#pragma GCC unroll 16
        for (int p = 0; p < pointers; ++p) {
            advance(a[p], a_step);
        }
        b += b_step;
    }

#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
        T* const to = tile.to + i * tile.to_stride;
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) {
            if (v == Vectors - 1 && last_lanes != lanes) {
                simd::store_n(to + v * lanes, sums[i][v], last_lanes);
            } else {
                simd::store(to + v * lanes, sums[i][v]);
            }
        }
    }
}

namespace detail {

template <int Rows, int Vectors, class T>
CALQUE_NOINLINE void compute_tile_out_of_line(matmul_tile<T> const& tile) {
    compute_tile<Rows, Vectors>(tile);
}

template <int Vectors, class T>
inline constexpr auto tile_kernels = []<int... Row>(std::integer_sequence<int, Row...>) {
    return std::array<void (*)(matmul_tile<T> const&), sizeof...(Row)>{
        &compute_tile_out_of_line<Row + 1, Vectors, T>...};
}(std::make_integer_sequence<int, matmul_tile_rows(Vectors)>{});

} // namespace detail

/// What computes a tile of `rows` rows, at most `matmul_tile_rows(vectors)`, and 1 or 2 registers.
template <class T>
CALQUE_INLINE auto tile_kernel(int rows, int vectors) {
    auto const row = static_cast<std::size_t>(rows - 1);
    return vectors == 2 ? detail::tile_kernels<2, T>[row] : detail::tile_kernels<1, T>[row];
}

template <class T>
void compute_tile(int rows, int vectors, matmul_tile<T> const& tile) {
    tile_kernel<T>(rows, vectors)(tile);
}

} // namespace kernels
} // namespace v0
} // namespace calque
