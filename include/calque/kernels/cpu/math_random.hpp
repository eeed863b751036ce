// SPDX-License-Identifier: MIT
// What distributions make of random words, lane by lane.
#pragma once

#include <calque/kernels/cpu/math_log.hpp>
#include <calque/kernels/cpu/pack_random.hpp>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

/// The floating type of a distribution from words of type `T`.
template <class T>
using floating_of_word = std::conditional_t<sizeof(T) == 4, float, double>;

/// Words below 2^(bits - 1) as numbers: they convert as signed ones, for which there are instructions.
template <class T, int U>
CALQUE_INLINE pack<floating_of_word<T>, U> to_floating(pack<T, U> words) {
    return simd::convert<floating_of_word<T>>(simd::bits_as<simd::signed_of<T>>(words));
}

/// 2^-n.
template <class F>
constexpr F inverse_power_of_two(int n) {
    F result = 1;
    for (int i = 0; i < n; ++i) {
        result /= 2;
    }
    return result;
}

/// The quotient of two polynomials as its parts, so that one division serves all pieces.
template <class V>
struct quotient {
    V numerator, denominator;
};

/// Chooses a piece, lane by lane.
template <class V>
CALQUE_INLINE quotient<V> choose_below(V x, element_of<V> bound, quotient<V> const& below, quotient<V> const& above) {
    return {select_if<comparison::less>(x, V(bound), below.numerator, above.numerator),
            select_if<comparison::less>(x, V(bound), below.denominator, above.denominator)};
}

/// The normal number that is exceeded with probability (1 - |x|) / 2 on the side of x's sign: `tail` is 1 - |x|.
///
/// M. J. Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37 (1988):
/// PPND7 for float, to which tails below exp(-25) do not exist, PPND16 for double.
template <class V>
CALQUE_INLINE V normal_quantile(V x, V tail) {
    using T = element_of<V>;
    V const q = x * V(T(0.5)); // the probability less 1/2
    V const r = simd::fnma(q, q, V(T(0.180625)));
    V const depth = simd::sqrt(-log(tail * V(T(0.5))));
    V const s = depth - V(T(1.6));
    quotient<V> centre, side;
    if constexpr (is_float<V>) {
        centre = {polynomial(r, 59.109374720f, 159.29113202f, 50.434271938f, 3.3871327179f),
                  polynomial(r, 67.187563600f, 78.757757664f, 17.895169469f, 1.f)};
        side = {polynomial(s, 0.17023821103f, 1.3067284816f, 2.7568153900f, 1.4234372777f),
                polynomial(s, 0.12021132975f, 0.73700164250f, 1.f)};
    } else {
        centre = {
            polynomial(r, 2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
                       13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
            polynomial(r, 5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
                       5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.)};
        side = {polynomial(s, 7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
                           1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959,
                           1.42343711074968357734),
                polynomial(s, 1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
                           0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494,
                           2.05319162663775882187, 1.)};
        V const t = depth - V(5.);
        quotient<V> const far{polynomial(t, 2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                         0.0012426609473880784386, 0.026532189526576123093, 0.29656057182850489123,
                                         1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
                              polynomial(t, 2.04426310338993978564e-15, 1.4215117583164458887e-7,
                                         1.8463183175100546818e-5, 7.868691311456132591e-4, 0.0148753612908506148525,
                                         0.13692988092273580531, 0.59983220655588793769, 1.)};
        side = choose_below(depth, T(5), side, far);
    }
    // The centre is where |q| is at most 0.425, and its numerator has the factor q.
    quotient<V> const signed_side{copysign(side.numerator, x), side.denominator};
    quotient<V> const piece =
        choose_below(simd::abs(q), T(0.425), {centre.numerator * q, centre.denominator}, signed_side);
    return piece.numerator / piece.denominator;
}

} // namespace detail

template <class V>
CALQUE_INLINE V random_bits(std::uint64_t key, std::uint64_t first) {
    V words;
    simd::random_bits(key, first, words);
    return words;
}

template <class V>
CALQUE_INLINE auto random_word32(V key, V place) {
    V const one(1);
    V const pair = simd::random_word(key, place >> one);
    return simd::convert<std::uint32_t>(pair >> ((place & one) << V(5)));
}

template <class V>
CALQUE_INLINE V random_word64(V key, V place) {
    return simd::random_word(key, place);
}

template <class V>
CALQUE_INLINE V derive_key(V key, V number) {
    return simd::derive_key(key, number);
}

template <class V>
CALQUE_INLINE auto uniform_of_bits(V bits) {
    using T = detail::element_of<V>;
    using F = detail::floating_of_word<T>;
    using W = simd::pack<F, V::groups>;
    constexpr int digits = std::numeric_limits<F>::digits;
    return detail::to_floating(bits >> V(T(std::numeric_limits<T>::digits - digits))) *
           W(detail::inverse_power_of_two<F>(digits));
}

/// A bit less than a word has, so that it converts as a signed number.
template <class V>
CALQUE_INLINE auto positive_uniform_of_bits(V bits) {
    using T = detail::element_of<V>;
    using F = detail::floating_of_word<T>;
    using W = simd::pack<F, V::groups>;
    constexpr int digits = std::numeric_limits<T>::digits - 1;
    return (detail::to_floating(bits >> V(T(1))) + W(F(0.5))) * W(detail::inverse_power_of_two<F>(digits));
}

/// The upper bit is the sign, the others n are |x| = (n + 1/2) / 2^31 and its distance from 1 (double: 2^63), both with
/// all the digits they can have: the tails are as fine as the middle.
template <class V>
CALQUE_INLINE auto normal_of_bits(V bits) {
    using T = detail::element_of<V>;
    using F = detail::floating_of_word<T>;
    using W = simd::pack<F, V::groups>;
    constexpr int digits = std::numeric_limits<T>::digits - 1;
    V const lower(static_cast<T>(std::numeric_limits<T>::max() >> 1));
    W const half(F(0.5));
    W const scale(detail::inverse_power_of_two<F>(digits));
    V const n = bits & lower;
    W const magnitude = (detail::to_floating(n) + half) * scale;
    W const tail = (detail::to_floating(n ^ lower) + half) * scale;
    return detail::normal_quantile(copysign(magnitude, simd::bits_as<F>(bits)), tail);
}

} // namespace math
} // namespace v0
} // namespace calque
