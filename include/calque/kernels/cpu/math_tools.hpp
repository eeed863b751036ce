// SPDX-License-Identifier: MIT
// What the vector functions share: polynomials, exponents as numbers, arithmetic in two words.
//
// The functions hold for every lane alike: no shortcut depends on where a value stands. A branch for a whole pack may
// only choose between ways that give the same bits to the lanes that both serve.
#pragma once

#include <calque/graph/math.hpp>
#include <calque/kernels/cpu/pack.hpp>

#include <concepts>
#include <limits>

namespace calque {
inline namespace v0 {
namespace math {

// What is called with packs is found here, before a global name of the program's.
using simd::any;
using simd::clamp;
using simd::max_or_second;
using simd::min_or_second;
using simd::scale;
using simd::select;
using simd::select_if;

namespace detail {

using simd::comparison;
using simd::pack;

/// The element type of a pack.
template <class V>
using element_of = typename V::value_type;

template <class V>
inline constexpr bool is_float = std::same_as<element_of<V>, float>;

/// The polynomial with these coefficients, the highest first, by Horner's rule.
///
/// Packs and neighbouring iterations give the processor enough chains to fill the time of one.
template <class V, class... Coefficients>
CALQUE_INLINE V polynomial(V x, element_of<V> highest, Coefficients... lower) {
    V sum(highest);
    ((sum = simd::fma(sum, x, V(lower))), ...);
    return sum;
}

/// An integral number n as n + `rounder`, which has n in its low bits; see `simd::floating_layout`.
template <class V>
inline constexpr element_of<V> rounder = simd::floating_layout<element_of<V>>::rounder;

/// 2^(n + More) for n + rounder, where that is a normal number.
template <int More = 0, class T, int U>
CALQUE_INLINE pack<T, U> power_of_two(pack<T, U> n_plus_rounder) {
    using layout = simd::floating_layout<T>;
    using I = typename layout::integer;
    auto const exponent = simd::bits_as<I>(n_plus_rounder) << pack<I, U>(layout::fraction_bits);
    return simd::bits_as<T>(exponent + pack<I, U>(layout::one + (I(More) << layout::fraction_bits)));
}

/// A power of two as the product of two numbers that are normal where it need not be.
template <class V>
struct power_in_factors {
    V first;
    V second;
};

/// 2^n for n + rounder, with |n| of at most twice the largest exponent.
template <class T, int U>
CALQUE_INLINE power_in_factors<pack<T, U>> factors_of_power(pack<T, U> n_plus_rounder) {
    using layout = simd::floating_layout<T>;
    using B = pack<simd::unsigned_of<T>, U>;
    B const one(static_cast<simd::unsigned_of<T>>(layout::one)), fraction_bits(layout::fraction_bits);
    // Of the rounder nothing is left behind the shifts.
    B const n = simd::bits_as<simd::unsigned_of<T>>(n_plus_rounder);
    B const half = n >> B(1);
    return {simd::bits_as<T>((half << fraction_bits) + one), simd::bits_as<T>(((n - half) << fraction_bits) + one)};
}

/// x = significand * 2^exponent, with the significand between sqrt(1/2) and sqrt(2).
template <class V>
struct decomposition {
    V significand;
    V exponent;
};

/// Takes a positive, finite x apart; denormals as well. (Of other x the parts are meaningless, but harmless.)
template <class T, int U>
CALQUE_INLINE decomposition<pack<T, U>> decompose(pack<T, U> x) {
    using layout = simd::floating_layout<T>;
    using I = typename layout::integer;
    using V = pack<T, U>;
    using B = pack<simd::unsigned_of<T>, U>;
    constexpr auto sqrt_half = static_cast<simd::unsigned_of<T>>(
        std::same_as<T, float> ? std::int64_t{0x3f3504f3} : std::int64_t{0x3fe6a09e667f3bcd});
    constexpr auto one = static_cast<simd::unsigned_of<T>>(layout::one);
    constexpr T normaliser = T(I(1) << layout::fraction_bits);
    V const tiny(std::numeric_limits<T>::min());
    V const normal = select_if<comparison::less>(x, tiny, x * V(normaliser), x);
    V const bias = select_if<comparison::less>(x, tiny, V(T(rounder<V> + layout::bias + layout::fraction_bits)),
                                               V(T(rounder<V> + layout::bias)));
    B const bits = simd::bits_as<simd::unsigned_of<T>>(normal) + B(one - sqrt_half);
    B const biased = bits >> B(layout::fraction_bits);
    B const fraction = bits & B((simd::unsigned_of<T>(1) << layout::fraction_bits) - 1);
    B const rounder_bits = simd::bits_as<simd::unsigned_of<T>>(V(rounder<V>));
    return {simd::bits_as<T>(fraction + B(sqrt_half)), simd::bits_as<T>(biased + rounder_bits) - bias};
}

/// A number in two words: high + low, with |low| at most half an ulp of high.
template <class V>
struct two_words {
    V high;
    V low;
};

/// a + b exactly.
template <class V>
CALQUE_INLINE two_words<V> two_sum(V a, V b) {
    V const sum = a + b;
    V const b_part = sum - a;
    V const a_part = sum - b_part;
    return {sum, (a - a_part) + (b - b_part)};
}

/// a + b exactly, where |a| >= |b| or a is 0.
template <class V>
CALQUE_INLINE two_words<V> fast_two_sum(V a, V b) {
    V const sum = a + b;
    return {sum, b - (sum - a)};
}

/// The upper half of the bits of `x`: products of such halves are exact (Veltkamp's splitting).
template <class V>
CALQUE_INLINE V upper_half(V x) {
    constexpr int bits = (std::numeric_limits<element_of<V>>::digits + 1) / 2;
    V const scaled = x * V(element_of<V>((std::int64_t{1} << bits) + 1));
    return scaled - (scaled - x);
}

/// a * b exactly: with a fused multiply-add, or with Dekker's product of halves.
template <class V>
CALQUE_INLINE two_words<V> two_product(V a, V b) {
    V const product = a * b;
    if constexpr (simd::has_fused_multiply) {
        return {product, simd::fms(a, b, product)};
    } else {
        V const a_high = upper_half(a), b_high = upper_half(b);
        V const a_low = a - a_high, b_low = b - b_high;
        return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
    }
}

/// c - a * b, where that is so small that it is exact but for what it is rounded to.
template <class V>
CALQUE_INLINE V subtract_product(V c, V a, V b) {
    if constexpr (simd::has_fused_multiply) {
        return simd::fnma(a, b, c);
    } else {
        auto const product = two_product(a, b);
        return (c - product.high) - product.low;
    }
}

/// `f` of each element, one by one: for the rare lanes that a vector path does not serve.
template <class T, int U, class F>
CALQUE_COLD pack<T, U> element_by_element(pack<T, U> const& x, F f) {
    T element[pack<T, U>::size];
    x.store(element);
    for (T& e : element) {
        e = f(e);
    }
    return pack<T, U>::load(element);
}
template <class T, int U, class F>
CALQUE_COLD pack<T, U> element_by_element(pack<T, U> const& x, pack<T, U> const& y, F f) {
    T element[pack<T, U>::size], other[pack<T, U>::size];
    x.store(element);
    y.store(other);
    for (int i = 0; i < pack<T, U>::size; ++i) {
        element[i] = f(element[i], other[i]);
    }
    return pack<T, U>::load(element);
}

} // namespace detail
} // namespace math
} // namespace v0
} // namespace calque
