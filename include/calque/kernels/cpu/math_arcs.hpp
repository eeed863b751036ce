// SPDX-License-Identifier: MIT
// The inverses of sin, cos and tan: a polynomial, and the multiple of pi/2 that it is added to, in two words.
#pragma once

#include <calque/kernels/cpu/math_tools.hpp>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

/// pi/2 in two words.
template <class V>
inline constexpr element_of<V> half_pi = is_float<V> ? 1.57079637e+00f : element_of<V>(1.57079632679489656e+00);
template <class V>
inline constexpr element_of<V> half_pi_low = is_float<V> ? -4.37113883e-08f : element_of<V>(6.12323399573676604e-17);

/// quarters pi/2 + angle, of which the angle's high word is at most 1 or the quarters are 0.
template <class V>
CALQUE_INLINE V add_quarters(V quarters, two_words<V> angle) {
    auto const sum = fast_two_sum(quarters * V(half_pi<V>), angle.high);
    return sum.high + (sum.low + simd::fma(quarters, V(half_pi_low<V>), angle.low));
}

/// `x`, or -`x` where the comparison of `a` and `b` holds.
template <comparison C, class V>
CALQUE_INLINE two_words<V> negate_if(V a, V b, two_words<V> x) {
    return {select_if<C>(a, b, -x.high, x.high), select_if<C>(a, b, -x.low, x.low)};
}

/// atan(n / d) for 0 <= n <= d: q + q^3 p(q^2), minimax (relative error 2^-31 and 2^-60), q being the quotient.
template <class V>
CALQUE_INLINE two_words<V> atan_of_quotient(V n, V d) {
    using T = element_of<V>;
    V const q = n / d;
    V const z = q * q;
    V p;
    if constexpr (is_float<V>) {
        p = polynomial(z, 0.00111377146f, -0.00731785875f, 0.0225396324f, -0.044689633f, 0.0674157292f, -0.0881107971f,
                       0.110582203f, -0.142798319f, 0.19999671f, -0.333333284f);
    } else {
        p = polynomial(z, -8.654394512210539e-06, 0.00010387372645413594, -0.0005929013696497444, 0.0021516097353015506,
                       -0.005612426119249581, 0.011317699079410081, -0.01861424228143853, 0.026151694028369914,
                       -0.03278543999665129, 0.038210065777065004, -0.0428639079049103, 0.04744925994730608,
                       -0.052594337333474975, 0.05881716137590621, -0.06666583719382244, 0.07692299711273676,
                       -0.09090908547203737, 0.1111111108644382, -0.1428571428503648, 0.19999999999990445,
                       -0.33333333333333287);
    }
    // What rounding the quotient lost, times the slope 1 / (1 + z); nothing where d is so large or small that it is not
    // known, which shows by more than half a unit.
    auto const back = two_product(q, d);
    V const residue = ((n - back.high) - back.low) / d;
    V const slope = simd::fma(z, simd::fma(V(T(0.5)), z, V(T(-1))), V(T(1)));
    V const known = select_if<comparison::less_equal>(simd::abs(residue), q * V(std::numeric_limits<T>::epsilon() / 2),
                                                      residue, V(T(0)));
    return {q, simd::fma(p, z * q, known * slope)};
}

/// For a = |x|: asin(a) up to 1/2, and from there acos(a) = 2 asin(sqrt((1 - a) / 2)).
template <class V>
CALQUE_INLINE two_words<V> arc_of_magnitude(V a) {
    using T = element_of<V>;
    V const zero(T(0)), half(T(0.5));
    V const z = select_if<comparison::less_equal>(a, half, a * a, simd::fnma(half, a, half));
    V const root = simd::sqrt(z);
    V p; // in s + s^3 p(s^2), minimax (relative error 2^-31 and 2^-63)
    if constexpr (is_float<V>) {
        p = polynomial(z, 0.0375161208f, 0.0144388648f, 0.0318076424f, 0.0445169657f, 0.0750050396f, 0.166666597f);
    } else {
        p = polynomial(z, 0.03364087498037067, -0.02614460595057718, 0.024822829404121116, 0.000683633808891853,
                       0.01000940139788707, 0.009483985001203536, 0.011585697449845582, 0.01396190035917942,
                       0.017352943521083318, 0.022372151682319832, 0.030381944642308086, 0.04464285713972962,
                       0.07500000000002495, 0.1666666666666666);
    }
    auto const back = two_product(root, root);
    V const lost = ((z - back.high) - back.low) / (root + root);
    V const root_low = select_if<comparison::greater>(root, zero, lost, zero);
    V const doubled = simd::fma(p, z * root, root_low);
    return {select_if<comparison::less_equal>(a, half, a, root + root),
            select_if<comparison::less_equal>(a, half, p * (z * a), doubled + doubled)};
}

} // namespace detail

/// Beyond 1 it is pi/2 - atan(1 / x).
template <class V>
CALQUE_INLINE V atan(V x) {
    using namespace detail;
    V const zero(element_of<V>(0)), one(element_of<V>(1)), a = simd::abs(x);
    auto const angle = atan_of_quotient(select_if<comparison::greater>(a, one, one, a),
                                        select_if<comparison::greater>(a, one, a, one));
    V const quarters = select_if<comparison::greater>(a, one, one, zero);
    return copysign(add_quarters(quarters, negate_if<comparison::greater>(a, one, angle)), x);
}

/// The angle of the lesser to the greater magnitude, from the axis that is nearest.
template <class V>
CALQUE_INLINE V atan2(V y, V x) {
    using namespace detail;
    using T = element_of<V>;
    V const zero(T(0)), one(T(1)), infinity(std::numeric_limits<T>::infinity());
    V const a = simd::abs(x), b = simd::abs(y), side = copysign(one, x);
    V least = select_if<comparison::greater>(b, a, a, b);
    V most = select_if<comparison::greater>(b, a, b, a);
    most = select_if<comparison::equal>(least, infinity, one, most); // both infinite: 45 degrees off the axis
    least = select_if<comparison::equal>(least, infinity, one, least);
    most = select_if<comparison::equal>(most, zero, one, most); // both zero: on it
    V const beyond = select_if<comparison::less>(side, zero, one + one, zero);
    V const quarters = select_if<comparison::greater>(b, a, one, beyond);
    V const turn = select_if<comparison::greater>(b, a, -side, side); // -1: back from the axis
    V const angle = add_quarters(quarters, negate_if<comparison::less>(turn, zero, atan_of_quotient(least, most)));
    return select_if<comparison::equal>(x, x, copysign(angle, y), x + y);
}

template <class V>
CALQUE_INLINE V asin(V x) {
    using namespace detail;
    V const zero(element_of<V>(0)), one(element_of<V>(1)), half(element_of<V>(0.5)), a = simd::abs(x);
    V const quarters = select_if<comparison::less_equal>(a, half, zero, one);
    return copysign(add_quarters(quarters, negate_if<comparison::greater>(a, half, arc_of_magnitude(a))), x);
}

template <class V>
CALQUE_INLINE V acos(V x) {
    using namespace detail;
    V const zero(element_of<V>(0)), one(element_of<V>(1)), half(element_of<V>(0.5)), a = simd::abs(x);
    V const beyond = select_if<comparison::less>(x, zero, one + one, zero);
    V const quarters = select_if<comparison::less_equal>(a, half, one, beyond);
    V const turn = select_if<comparison::less_equal>(a, half, -x, x); // -1: back from pi/2 or from pi
    return add_quarters(quarters, negate_if<comparison::less>(turn, zero, arc_of_magnitude(a)));
}

} // namespace math
} // namespace v0
} // namespace calque
