// SPDX-License-Identifier: MIT
// Packs loaded as whole cache lines from an array that begins within one, and totals that change lanes for that.
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

/// Whether the processor is one of Intel, for all that the compiler knows: it names those of AMD by an instruction set
/// that no other has.
#if (defined(__x86_64__) || defined(__i386__)) && !defined(__SSE4A__)
inline constexpr bool is_of_intel = true;
#else
inline constexpr bool is_of_intel = false;
#endif

/// Whether stores behind L1 wait, unless their lines are asked for ahead. They do on processors of Intel.
inline constexpr bool waits_for_lines_that_are_stored = is_of_intel;

#if CALQUE_AVX512

/// Whether arrays of a dtype can be loaded line by line.
constexpr bool has_line_loads(dtype type) {
    return size_of(type) == 4 || size_of(type) == 8;
}

/// Whether what crosses lines takes L2 twice as long, so that many rows gain from lines, too. It does on processors of
/// Intel.
inline constexpr bool waits_for_lines_that_are_crossed = is_of_intel;

namespace detail {

// The permutation that takes a register of elements `T` from two, from the `n`-th element of the first on.
template <class T>
CALQUE_INLINE __m512i permutation_from(std::ptrdiff_t n) {
    using Index = unsigned_of<T>;
    return bits_as<__m512i>(pack<Index, 1>::iota(0).r[0] + splat(static_cast<Index>(n)));
}

template <class T>
CALQUE_INLINE reg<T> permute_two(reg<T> a, __m512i permutation, reg<T> b) {
    auto const x = bits_as<__m512i>(a);
    auto const y = bits_as<__m512i>(b);
    if constexpr (sizeof(T) == 4) {
        return bits_as<reg<T>>(_mm512_permutex2var_epi32(x, permutation, y));
    } else {
        return bits_as<reg<T>>(_mm512_permutex2var_epi64(x, permutation, y));
    }
}

} // namespace detail

/// Where an array lies in its cache lines, and the permutation that makes its elements of two of them.
struct line_offset {
    std::ptrdiff_t elements;
    __m512i permutation;

    line_offset() = default;

    template <class T>
    CALQUE_INLINE explicit line_offset(T const* p)
        : elements(place_in_line(p)), permutation(detail::permutation_from<T>(elements)) {}
};

/// The elements from `p` on, which lies in its line as `offset` says. The lines must be readable to their ends, also
/// that of the element behind the last one.
template <class T, int U>
CALQUE_INLINE pack<T, U> load_lines(T const* p, line_offset const& offset) {
    constexpr int registers = pack<T, U>::registers;
    T const* const first = p - offset.elements;
    reg<T> line[registers + 1];
    unroll<registers + 1>([&](auto i) CALQUE_INLINE_LAMBDA {
        line[i] = load(first + i * lanes<T>);
        keep_in_register(line[i]);
    });
    return pack<T, U>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
        return detail::permute_two<T>(line[i], offset.permutation, line[i + 1]);
    });
}

#else

constexpr bool has_line_loads(dtype) {
    return false;
}

inline constexpr bool waits_for_lines_that_are_crossed = false;

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

namespace detail {

/// The registers of a pack from the `n`-th on, then those before it.
template <int N, class T, int U>
CALQUE_INLINE pack<T, U> rotate_registers(pack<T, U> const& x) {
    return pack<T, U>::generate(
        [&](auto i) CALQUE_INLINE_LAMBDA { return x.r[(i + N) % pack<T, U>::registers]; });
}

} // namespace detail

/// The elements from the `n`-th on, at most the first of the second group, then those before it.
template <class T, int U>
CALQUE_INLINE pack<T, U> rotate_left(pack<T, U> x, std::ptrdiff_t n) {
#if CALQUE_AVX512
    if constexpr (!std::same_as<T, bool> && has_line_loads(dtype_of<T>)) {
        if (lanes<T> < width && n >= lanes<T>) {
            x = detail::rotate_registers<1>(x);
            n -= lanes<T>;
        }
        pack<T, U> const next = detail::rotate_registers<1>(x);
        auto const permutation = detail::permutation_from<T>(n);
        return pack<T, U>::generate(
            [&](auto i) CALQUE_INLINE_LAMBDA { return detail::permute_two<T>(x.r[i], permutation, next.r[i]); });
    }
#endif
    T elements[2 * pack<T, U>::size];
    x.store(elements);
    x.store(elements + pack<T, U>::size);
    return pack<T, U>::load(elements + n);
}

/// The last `n` elements, at most as many as a group has, then those before them.
template <class T, int U>
CALQUE_INLINE pack<T, U> rotate_right(pack<T, U> const& x, std::ptrdiff_t n) {
    constexpr int registers_of_others = pack<T, U>::registers - pack<T, 1>::registers;
    return rotate_left(detail::rotate_registers<registers_of_others>(x), width - n);
}

} // namespace simd
} // namespace v0
} // namespace calque
