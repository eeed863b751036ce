// SPDX-License-Identifier: MIT
// Comparisons and blends where masks are ordinary registers (all-ones and all-zero lanes): x86 before AVX-512, ARM.
//
// A mask that is kept is one bit a lane, so that it fits any dtype; `select_if` compares and blends without that
// detour.
#pragma once

#include <calque/kernels/cpu/registers.hpp>

namespace calque {
inline namespace v0 {
namespace simd {

namespace detail {

template <comparison C, class R>
CALQUE_INLINE auto compare_lanes(R a, R b) {
    if constexpr (C == comparison::equal) {
        return a == b;
    } else if constexpr (C == comparison::not_equal) {
        return a != b;
    } else if constexpr (C == comparison::less) {
        return a < b;
    } else if constexpr (C == comparison::less_equal) {
        return a <= b;
    } else if constexpr (C == comparison::greater) {
        return a > b;
    } else {
        return a >= b;
    }
}

// The masks of lanes of 1 and 2 bytes are widened to 4: such registers have as many lanes as one of int32.
template <class T>
using mask_lane = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

template <class T>
CALQUE_INLINE vec<signed_of<T>, lanes<T>> mask_from_bits(unsigned bits) {
    using M = mask_lane<T>;
    constexpr int n = lanes<T>;
    auto const lane_bit = indices<n>([](auto... i) CALQUE_INLINE_LAMBDA { return vec<M, n>{(M(1) << i)...}; });
    auto const mask = (splat<M>(static_cast<M>(bits)) & lane_bit) == lane_bit;
    return __builtin_convertvector(mask, vec<signed_of<T>, n>);
}

} // namespace detail

/// One bit a lane, from a mask of all-ones and all-zero lanes. (registers_x86.hpp has it as one instruction.)
template <class M>
CALQUE_INLINE unsigned mask_bits(M mask) {
    return indices<lanes_of<M>>(
        [&](auto... i) CALQUE_INLINE_LAMBDA { return ((static_cast<unsigned>(mask[i.value] & 1) << i) | ...); });
}

/// One bit a lane: whether the comparison holds.
template <comparison C, class R>
CALQUE_INLINE unsigned compare(R a, R b) {
    using T = element_of<R>;
    auto const mask = detail::compare_lanes<C>(a, b);
    if constexpr (sizeof(T) == 8 || sizeof(T) == 4) {
        return mask_bits(bits_as<vec<signed_of<T>, lanes<T>>>(mask));
    } else {
        return mask_bits(__builtin_convertvector(mask, vec<std::int32_t, lanes<T>>));
    }
}

/// The bits of two registers of a group as those of the group.
CALQUE_INLINE unsigned join_bits(unsigned low, unsigned high) {
    return low | high << (width / 2);
}

/// The bits of a group as a number.
CALQUE_INLINE unsigned as_number(std::uint8_t bits) {
    return bits;
}

/// The lanes of `a` whose bit is set, of `b` elsewhere.
template <class R>
CALQUE_INLINE R select(unsigned bits, R a, R b) {
    return detail::mask_from_bits<element_of<R>>(bits) ? a : b;
}

/// The lanes of `a` where the comparison of `x` and `y` holds, of `b` elsewhere.
template <comparison C, class R, class V>
CALQUE_INLINE V select_if(R x, R y, V a, V b) {
    return detail::compare_lanes<C>(x, y) ? a : b;
}

// A group of bools in memory (one byte each, 0 or 1) from and to bits. `width` is 4 or 8 here: one word holds a group.
CALQUE_INLINE unsigned load_bools_n(bool const* p, int n) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, p, static_cast<std::size_t>(n <= 0 ? 0 : n >= width ? width : n));
    return static_cast<unsigned>(word * 0x0102040810204080u >> 56);
}
CALQUE_INLINE unsigned load_bools(bool const* p) {
    return load_bools_n(p, width);
}
CALQUE_INLINE void store_bools_n(bool* p, unsigned bits, int n) {
    std::uint64_t const spread = (bits & 0xffu) * 0x0101010101010101u & 0x8040201008040201u;
    std::uint64_t const word = ((spread + 0x7f7f7f7f7f7f7f7fu) | spread) >> 7 & 0x0101010101010101u;
    __builtin_memcpy(p, &word, static_cast<std::size_t>(n <= 0 ? 0 : n >= width ? width : n));
}
CALQUE_INLINE void store_bools(bool* p, unsigned bits) {
    store_bools_n(p, bits, width);
}

} // namespace simd
} // namespace v0
} // namespace calque
