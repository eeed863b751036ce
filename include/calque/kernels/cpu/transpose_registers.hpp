// SPDX-License-Identifier: MIT
// Transposition of rows that lie in registers, by perfect shuffles: whole tiles, and rows of half a register or less.
//
// `Count` registers hold as many rows as a register has lanes. If `Count` is that too, each holds one row; else several
// of them share a register, each in its part of `Count` lanes.
#pragma once

#include <calque/kernels/cpu/simd.hpp>
#include <calque/kernels/cpu/unroll.hpp>

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

constexpr int log2(int x) {
    return x < 2 ? 0 : 1 + log2(x / 2);
}

} // namespace detail

/// The elements of a chunk, 16 bytes: no row is narrower.
template <class T>
inline constexpr int chunk_elements = static_cast<int>(16 / sizeof(T));

/// The row that part `part` of register `i` of `Count` holds, of elements of `T`.
template <class T, int Count>
constexpr int row_of_part(int i, int part) {
    constexpr int chunk = chunk_elements<T>;
    constexpr int parts = simd::lanes<T> / Count;
    return i / chunk * (chunk * parts) + part * chunk + i % chunk;
}

namespace detail {

/// Transposes the square within each chunk of so many registers behind each other.
template <class T, int Count>
CALQUE_INLINE void transpose_within_chunks(simd::reg<T> (&r)[Count]) {
    constexpr int chunk = chunk_elements<T>;
    simd::reg<T> t[Count];
    simd::unroll<log2(chunk)>([&](int) CALQUE_INLINE_LAMBDA {
        simd::unroll<Count / 2>([&](int i) CALQUE_INLINE_LAMBDA {
            int const group = i / (chunk / 2) * chunk, row = i % (chunk / 2);
            t[group + 2 * row] = interleave<0, chunk>(r[group + row], r[group + row + chunk / 2]);
            t[group + 2 * row + 1] = interleave<1, chunk>(r[group + row], r[group + row + chunk / 2]);
        });
        simd::unroll<Count>([&](int i) CALQUE_INLINE_LAMBDA { r[i] = t[i]; });
    });
}

/// A perfect shuffle: of the bits that number registers (behind those of a chunk) and chunks, the chunks' lowest becomes
/// the registers' highest, and the registers' lowest the chunks' highest.
template <int Times, class T, int Count>
CALQUE_INLINE void shuffle_chunks(simd::reg<T> (&r)[Count]) {
    constexpr int chunk = chunk_elements<T>;
    simd::reg<T> t[Count];
    simd::unroll<Times>([&](int) CALQUE_INLINE_LAMBDA {
        simd::unroll<Count / 2>([&](int i) CALQUE_INLINE_LAMBDA {
            int const pair = i / chunk * (2 * chunk) + i % chunk;
            t[i] = every_second_chunk<0, chunk>(r[pair], r[pair + chunk]);
            t[i + Count / 2] = every_second_chunk<1, chunk>(r[pair], r[pair + chunk]);
        });
        simd::unroll<Count>([&](int i) CALQUE_INLINE_LAMBDA { r[i] = t[i]; });
    });
}

} // namespace detail

/// Makes register i the i-th elements of all rows, one after another.
template <class T, int Count>
CALQUE_INLINE void transpose_rows(simd::reg<T> (&r)[Count]) {
    detail::transpose_within_chunks<T>(r);
    detail::shuffle_chunks<detail::log2(Count / chunk_elements<T>), T>(r);
}

/// The way back.
template <class T, int Count>
CALQUE_INLINE void transpose_columns(simd::reg<T> (&r)[Count]) {
    constexpr int chunk = chunk_elements<T>;
    detail::transpose_within_chunks<T>(r);
    detail::shuffle_chunks<Count == chunk ? 0 : detail::log2(simd::lanes<T> / chunk), T>(r);
}

} // namespace kernels
} // namespace v0
} // namespace calque
