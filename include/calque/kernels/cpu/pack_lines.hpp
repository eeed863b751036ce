// SPDX-License-Identifier: MIT
// Packs loaded as whole cache lines from an array that begins within one.
//
// A register that crosses from one line into the next takes two accesses, and the next register reads the second line
// again. Read line by line and permuted, each line takes one. AVX-512 permutes two registers by any offset; without it
// these are ordinary loads.
#pragma once

#include <calque/core/dtype.hpp>
#include <calque/kernels/cpu/loaded_once.hpp>

namespace calque {
inline namespace v0 {
namespace simd {

inline constexpr std::size_t line_bytes = 64;

/// Elements from the beginning of its cache line to `p`.
template <class T>
CALQUE_INLINE std::ptrdiff_t place_in_line(T const* p) {
    return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(p) % line_bytes / sizeof(T));
}

/// Elements from `p` to where a register of them is aligned.
template <class T>
CALQUE_INLINE int count_unaligned(T const* p) {
    return static_cast<int>(-place_in_line(p) & (lanes<T> - 1));
}

#if CALQUE_AVX512

/// Whether arrays of a dtype can be loaded line by line.
constexpr bool has_line_loads(dtype type) {
    return size_of(type) == 4 || size_of(type) == 8;
}

/// Where an array lies in its cache lines, and the permutation that makes its elements of two of them.
struct line_offset {
    std::ptrdiff_t elements;
    __m512i permutation;

    line_offset() = default;

    template <class T>
    CALQUE_INLINE explicit line_offset(T const* p) : elements(place_in_line(p)) {
        using Index = unsigned_of<T>;
        auto const first = splat(static_cast<Index>(elements));
        permutation = bits_as<__m512i>(pack<Index, 1>::iota(0).r[0] + first);
    }
};

/// The elements from `p` on, which lies in its line as `offset` says. The lines must be readable to their ends, also
/// that of the element behind the last one.
template <class T, int U>
CALQUE_INLINE pack<T, U> load_lines(T const* p, line_offset const& offset) {
    constexpr int registers = pack<T, U>::registers;
    T const* const first = p - offset.elements;
    __m512i line[registers + 1];
    unroll<registers + 1>([&](auto i) CALQUE_INLINE_LAMBDA {
        line[i] = _mm512_loadu_si512(first + i * lanes<T>);
        keep_in_register(line[i]);
    });
    return pack<T, U>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
        if constexpr (sizeof(T) == 4) {
            return bits_as<reg<T>>(_mm512_permutex2var_epi32(line[i], offset.permutation, line[i + 1]));
        } else {
            return bits_as<reg<T>>(_mm512_permutex2var_epi64(line[i], offset.permutation, line[i + 1]));
        }
    });
}

#else

constexpr bool has_line_loads(dtype) {
    return false;
}

struct line_offset {
    std::ptrdiff_t elements;

    line_offset() = default;

    template <class T>
    CALQUE_INLINE explicit line_offset(T const* p) : elements(place_in_line(p)) {}
};

template <class T, int U>
CALQUE_INLINE pack<T, U> load_lines(T const* p, line_offset const&) {
    return pack<T, U>::load(p);
}

#endif

} // namespace simd
} // namespace v0
} // namespace calque
