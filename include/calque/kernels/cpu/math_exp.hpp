// SPDX-License-Identifier: MIT
// exp, exp2, expm1 and the logistic function.
#pragma once

#include <calque/kernels/cpu/math_tools.hpp>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

/// x = n ln 2 + r + r_low with |r| <= ln(2) / 2, for |x| up to a few thousand.
template <class V>
struct exp_argument {
    V n_plus_rounder;
    V n;
    V r;
    V r_low;
};

/// ln 2 in two constants: the products of n with the first are exact (Cody and Waite).
template <class V>
inline constexpr element_of<V> ln2_high =
    is_float<V> ? element_of<V>(0.693359375) : element_of<V>(6.93147180369123816490e-01);
template <class V>
inline constexpr element_of<V> ln2_low =
    is_float<V> ? element_of<V>(-2.12194440e-4) : element_of<V>(1.90821492927058770002e-10);

template <class V>
CALQUE_INLINE exp_argument<V> reduce_exp_argument(V x) {
    using T = element_of<V>;
    V const z = simd::fma(x, V(T(1.4426950408889634)), V(rounder<V>));
    V const n = z - V(rounder<V>);
    V const high = simd::fnma(n, V(ln2_high<V>), x);
    V const r = simd::fnma(n, V(ln2_low<V>), high);
    return {z, n, r, simd::fnma(n, V(ln2_low<V>), high - r)};
}

/// p in exp(r) = 1 + r + r^2 p(r), minimax: the relative error of exp(r) - 1 is 2^-32 and 2^-61.
template <class V>
CALQUE_INLINE V exp_tail(V r) {
    if constexpr (is_float<V>) {
        return polynomial(r, 1.9914409e-4f, 1.3941108e-3f, 8.3332723e-3f, 4.1666355e-2f, 1.6666667e-1f, 0.5f);
    } else {
        return polynomial(r, 2.092453436489198e-09, 2.5109147572601562e-08, 2.755724246733623e-07,
                          2.755724391108136e-06, 2.4801587360895105e-05, 0.00019841269886401757, 0.0013888888888866668,
                          0.008333333333321532, 0.0416666666666667, 0.16666666666666677, 0.5);
    }
}

/// power * exp(r + r_low) - rest, with the small terms added last.
template <class V>
CALQUE_INLINE V scaled_exp_minus(exp_argument<V> const& x, V power, element_of<V> rest) {
    V const low = simd::fma(exp_tail(x.r), x.r * x.r, x.r_low);
    return simd::fma(power, low, simd::fma(power, x.r, power - V(rest)));
}

/// exp(r) - 1, good enough beside 1 (relative errors of exp(r): 2^-28 and 2^-58).
template <class V>
CALQUE_INLINE V exp_minus_one_beside_one(V r) {
    V p;
    if constexpr (is_float<V>) {
        p = polynomial(r, 1.3950603e-3f, 8.368953e-3f, 4.1666206e-2f, 1.6666518e-1f, 0.5f);
    } else {
        p = polynomial(r, 2.5118082814531992e-08, 2.763140858148516e-07, 2.7557215580639283e-06, 2.4801489611483835e-05,
                       0.0001984126991821276, 0.0013888888947303508, 0.008333333333306813, 0.04166666666651446,
                       0.166666666666667, 0.5000000000000013);
    }
    return simd::fma(p, r * r, r);
}

/// 2^r for |r| <= 1/2: 1 + r p(r), minimax (relative error 2^-28 and 2^-58).
template <class V>
CALQUE_INLINE V exp2_of_fraction(V r) {
    V p;
    if constexpr (is_float<V>) {
        p = polynomial(r, 0.000153533518f, 0.0013398875f, 0.00961843692f, 0.0555033237f, 0.240226477f, 0.693147182f);
    } else {
        p = polynomial(r, 4.434807463506195e-10, 7.07378473233262e-09, 1.0178199335560433e-07, 1.3215435273223947e-06,
                       1.525273349368418e-05, 0.0001540353045713102, 0.0013333558146774059, 0.009618129107594105,
                       0.055504108664820084, 0.2402265069591013, 0.6931471805599453);
    }
    return simd::fma(p, r, V(element_of<V>(1)));
}

/// (1 + x) 2^n, rounded once to what it is without bounds of exponents, and again to a denormal.
template <class V>
CALQUE_INLINE V scale_one_plus(V x, exp_argument<V> const& argument) {
#if CALQUE_AVX512
    return scale(x + V(element_of<V>(1)), argument.n);
#else
    auto const power = factors_of_power(argument.n_plus_rounder);
    return simd::fma(x, power.first, power.first) * power.second;
#endif
}

/// x 2^n, rounded to a denormal at most.
template <class V>
CALQUE_INLINE V times_power_of_two(V x, V n_plus_rounder) {
#if CALQUE_AVX512
    return scale(x, n_plus_rounder - V(rounder<V>));
#else
    auto const power = factors_of_power(n_plus_rounder);
    return x * power.first * power.second;
#endif
}

} // namespace detail

template <class V>
CALQUE_INLINE V exp(V x) {
    using T = detail::element_of<V>;
    // Beyond these bounds the result is 0 or infinity; within them 2^n is still within the reach of `scale`.
    constexpr bool is_float = detail::is_float<V>;
    auto const argument =
        detail::reduce_exp_argument(clamp(x, is_float ? T(-104) : T(-746), is_float ? T(89) : T(710)));
    return detail::scale_one_plus(detail::exp_minus_one_beside_one(argument.r), argument);
}

template <class V>
CALQUE_INLINE V exp2(V x) {
    using namespace detail;
    using T = element_of<V>;
    V const bounded = clamp(x, is_float<V> ? T(-151) : T(-1076), is_float<V> ? T(129) : T(1025));
    V const n = simd::round_even(bounded);
    return scale(exp2_of_fraction(bounded - n), n);
}

/// Twice 2^(n-1) exp(r) - 1/2: halves, so that the power of two does not overflow before the result does.
template <class V>
CALQUE_INLINE V expm1(V x) {
    using namespace detail;
    using T = element_of<V>;
    auto const argument = reduce_exp_argument(clamp(x, is_float<V> ? T(-18) : T(-40), is_float<V> ? T(88.8) : T(710)));
    V const half = scaled_exp_minus(argument, power_of_two<-1>(argument.n_plus_rounder), T(0.5));
    // Tiny x: half a denormal would lose a bit, and -0 its sign.
    return select_if<comparison::less>(abs(x), V(std::numeric_limits<T>::epsilon() / 4), x, half + half);
}

/// 2^n / (2^n + exp(r)) with -x = r - n ln 2, which does not overflow; the result may be denormal. So that 2^n need not
/// be, both sides of the quotient are lifted where no instruction scales by it.
///
/// The order of the sum: 2^n is not lost beside 1 where it is small, and adding 1 loses nothing where 2^n is large.
template <class V>
CALQUE_INLINE V sigmoid(V x) {
    using namespace detail;
    using T = element_of<V>;
    V const bounded = clamp(x, is_float<V> ? T(-104) : T(-746), is_float<V> ? T(18) : T(38)); // beyond: 0 and 1
    V const n_plus_rounder = simd::fma(bounded, V(T(1.4426950408889634)), V(rounder<V>));
    V const n = n_plus_rounder - V(rounder<V>);
    V const r = simd::fma(n, V(ln2_low<V>), simd::fms(n, V(ln2_high<V>), bounded));
#if CALQUE_AVX512
    V const one(T(1));
    V const power = scale(one, n);
    return scale(one / ((power + exp_minus_one_beside_one(r)) + one), n);
#else
    constexpr int lift = is_float<V> ? 24 : 56;
    V const lifted_one(T(std::int64_t{1} << lift));
    V const power = power_of_two<lift>(n_plus_rounder);
    return power / (simd::fma(exp_minus_one_beside_one(r), lifted_one, power) + lifted_one);
#endif
}

} // namespace math
} // namespace v0
} // namespace calque
