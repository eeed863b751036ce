// SPDX-License-Identifier: MIT
// Comparisons and blends where masks are ordinary registers (all-ones and all-zero lanes): x86 before AVX-512, ARM.
//
// A mask that is kept has several forms, as it fits any dtype: compilers drop those that nobody reads. `select_if`
// compares and blends at once. (registers_x86.hpp has as one instruction or two what is generic here.)
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

/// One bit a lane, from a mask of all-ones and all-zero lanes.
template <class M>
CALQUE_INLINE unsigned mask_bits(M mask) {
    return indices<lanes_of<M>>(
        [&](auto... i) CALQUE_INLINE_LAMBDA { return ((static_cast<unsigned>(mask[i.value] & 1) << i) | ...); });
}

/// Half a mask of 4 bytes a lane as one of 8 bytes, and two of these as one of 4.
template <class M>
CALQUE_INLINE vec<std::int64_t, lanes_of<M>> widen_mask(M half) {
    return __builtin_convertvector(half, vec<std::int64_t, lanes_of<M>>);
}
template <class M>
CALQUE_INLINE vec<std::int32_t, 2 * lanes_of<M>> join_masks(M low, M high) {
    using half = vec<std::int32_t, lanes_of<M>>;
    return concatenate(__builtin_convertvector(low, half), __builtin_convertvector(high, half));
}

/// The lanes of `a` where a mask of their size is set, of `b` elsewhere.
template <class M, class R>
CALQUE_INLINE R blend(M mask, R a, R b) {
    return mask ? a : b;
}

/// A group of bools: one bit a lane, and the lanes as all ones or all zeros, as wide as float and as double.
struct group_mask {
    std::uint8_t bits;
    vec<std::int32_t, width> words;
    vec<std::int64_t, width / 2> longs[2]; // the first half of the lanes, and the second

    group_mask() = default;
    CALQUE_INLINE explicit group_mask(unsigned lanes)
        : bits(static_cast<std::uint8_t>(lanes & ((1u << width) - 1))),
          words(detail::mask_from_bits<std::int32_t>(bits)),
          longs{detail::mask_from_bits<std::int64_t>(bits), detail::mask_from_bits<std::int64_t>(bits >> (width / 2))} {
    }
    CALQUE_INLINE explicit group_mask(vec<std::int32_t, width> lanes)
        : bits(static_cast<std::uint8_t>(mask_bits(lanes))),
          words(lanes),
          longs{widen_mask(slice<0, width / 2>(lanes)), widen_mask(slice<1, width / 2>(lanes))} {}
    CALQUE_INLINE group_mask(vec<std::int64_t, width / 2> low, vec<std::int64_t, width / 2> high)
        : bits(static_cast<std::uint8_t>(mask_bits(low) | mask_bits(high) << (width / 2))),
          words(join_masks(low, high)),
          longs{low, high} {}
};

CALQUE_INLINE group_mask operator&(group_mask const& a, group_mask const& b) {
    group_mask both;
    both.bits = a.bits & b.bits;
    both.words = a.words & b.words;
    both.longs[0] = a.longs[0] & b.longs[0];
    both.longs[1] = a.longs[1] & b.longs[1];
    return both;
}
CALQUE_INLINE group_mask operator^(group_mask const& a, group_mask const& b) {
    group_mask either;
    either.bits = a.bits ^ b.bits;
    either.words = a.words ^ b.words;
    either.longs[0] = a.longs[0] ^ b.longs[0];
    either.longs[1] = a.longs[1] ^ b.longs[1];
    return either;
}
CALQUE_INLINE group_mask operator|(group_mask const& a, group_mask const& b) {
    group_mask some;
    some.bits = a.bits | b.bits;
    some.words = a.words | b.words;
    some.longs[0] = a.longs[0] | b.longs[0];
    some.longs[1] = a.longs[1] | b.longs[1];
    return some;
}
CALQUE_INLINE group_mask operator~(group_mask const& a) {
    return a ^ group_mask(~0u);
}

/// Whether the comparison holds of the lanes of a group: of one register each or, where elements have 8 bytes, of two.
template <comparison C, class R>
CALQUE_INLINE group_mask compare(R a, R b) {
    auto const mask = detail::compare_lanes<C>(a, b);
    if constexpr (sizeof(element_of<R>) == 4) {
        return group_mask(bits_as<vec<std::int32_t, width>>(mask));
    } else {
        return group_mask(mask_bits(__builtin_convertvector(mask, vec<std::int32_t, width>)));
    }
}
template <comparison C, class R>
CALQUE_INLINE group_mask compare(R a, R b, R next_a, R next_b) {
    using half = vec<std::int64_t, width / 2>;
    return {bits_as<half>(detail::compare_lanes<C>(a, b)), bits_as<half>(detail::compare_lanes<C>(next_a, next_b))};
}

/// The bits of a group as a number.
CALQUE_INLINE unsigned as_number(group_mask const& mask) {
    return mask.bits;
}

/// The lanes of `a` that are set, of `b` elsewhere. `Register`: which one of a group it is.
template <int Register, class R>
CALQUE_INLINE R select(group_mask const& mask, R a, R b) {
    using T = element_of<R>;
    if constexpr (sizeof(T) == 4) {
        return blend(mask.words, a, b);
    } else if constexpr (sizeof(T) == 8) {
        return blend(mask.longs[Register], a, b);
    } else {
        return detail::mask_from_bits<T>(mask.bits) ? a : b;
    }
}

/// The lanes of `a` that are set, zeros elsewhere.
template <int Register, class R>
CALQUE_INLINE R select_or_zero(group_mask const& mask, R a) {
    using T = element_of<R>;
    if constexpr (sizeof(T) == 4) {
        return bits_as<R>(mask.words & bits_as<vec<std::int32_t, width>>(a));
    } else if constexpr (sizeof(T) == 8) {
        return bits_as<R>(mask.longs[Register] & bits_as<vec<std::int64_t, width / 2>>(a));
    } else {
        return select<Register>(mask, a, R{});
    }
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
