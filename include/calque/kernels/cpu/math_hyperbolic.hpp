// SPDX-License-Identifier: MIT
// sinh and cosh, and the inverses of sinh, cosh and tanh. (math_tanh.hpp has tanh.)
#pragma once

#include <calque/kernels/cpu/math_exp.hpp>
#include <calque/kernels/cpu/math_log.hpp>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

/// (exp(a) + sign exp(-a)) / 2 for a >= 0: exp(a) / 4 in two words and exp(-a) / 4 as its inverse, then doubled, so
/// that nothing overflows before the result does.
template <int Sign, class V>
CALQUE_INLINE V half_exp_sum(V magnitude) {
    using T = element_of<V>;
    auto const argument = reduce_exp_argument(clamp(magnitude, T(0), is_float<V> ? T(89.5) : T(710.5)));
    V const quarter = power_of_two<-2>(argument.n_plus_rounder);
    auto const [high, lost] = fast_two_sum(V(T(1)), argument.r);
    V const low = lost + simd::fma(exp_tail(argument.r), argument.r * argument.r, argument.r_low);
    V const inverse = V(T(Sign * 0.0625)) / (quarter * (high + low));
    V const half = simd::fma(quarter, high, simd::fma(quarter, low, inverse));
    return half + half;
}

/// From here on log(2 x) is what asinh and acosh round to.
template <class V>
inline constexpr element_of<V> large_for_log = is_float<V> ? 16384.f : element_of<V>(1 << 30);

} // namespace detail

/// Below 1 x + x^3 p(x^2), minimax (relative error 2^-34 and 2^-63).
template <class V>
CALQUE_INLINE V sinh(V x) {
    using namespace detail;
    V const z = x * x;
    V p;
    if constexpr (is_float<V>) {
        p = polynomial(z, 2.81695247e-06f, 0.000198361595f, 0.0083333496f, 0.166666672f);
    } else {
        p = polynomial(z, 7.758750810072994e-13, 1.6057259697369334e-10, 2.5052123137711786e-08, 2.755731915706516e-06,
                       0.00019841269841431897, 0.008333333333333148, 0.16666666666666669);
    }
    V const large = copysign(half_exp_sum<-1>(simd::abs(x)), x);
    return select_if<comparison::less>(simd::abs(x), V(element_of<V>(1)), simd::fma(p, z * x, x), large);
}

template <class V>
CALQUE_INLINE V cosh(V x) {
    return detail::half_exp_sum<1>(simd::abs(x));
}

/// log(1 + t) with t = a + a^2 / (1 + sqrt(1 + a^2)) for a = |x|.
template <class V>
CALQUE_INLINE V asinh(V x) {
    using namespace detail;
    using T = element_of<V>;
    V const zero(T(0)), one(T(1)), a = simd::abs(x), large(large_for_log<V>);
    V const square = a * a;
    auto const t = fast_two_sum(a, square / (one + simd::sqrt(one + square)));
    V const result = log_of_one_plus(select_if<comparison::less>(a, large, t.high, a - one),
                                     select_if<comparison::less>(a, large, t.low, zero),
                                     select_if<comparison::less>(a, large, zero, one));
    return copysign(select_if<comparison::less>(a, V(std::numeric_limits<T>::epsilon() / 4), a, result), x);
}

/// log(1 + t + sqrt(2 t + t^2)) with t = x - 1, the root in two words.
template <class V>
CALQUE_INLINE V acosh(V x) {
    using namespace detail;
    using T = element_of<V>;
    V const zero(T(0)), one(T(1)), large(large_for_log<V>);
    V const t = x - one, twice = t + t;
    auto const square = two_product(t, t);
    auto const radicand = two_sum(twice, square.high);
    V const root = simd::sqrt(radicand.high);
    auto const back = two_product(root, root);
    V const residue = ((radicand.high - back.high) - back.low) + (radicand.low + square.low);
    V const root_low = select_if<comparison::greater>(root, zero, residue / (root + root), zero);
    auto const sum = two_sum(root, t);
    V const result = log_of_one_plus(select_if<comparison::less>(x, large, sum.high, t),
                                     select_if<comparison::less>(x, large, sum.low + root_low, zero),
                                     select_if<comparison::less>(x, large, zero, one));
    return select_if<comparison::less>(x, one, V(std::numeric_limits<T>::quiet_NaN()), result);
}

/// log(1 + q) / 2 with q = 2 a / (1 - a) in two words, for a = |x|.
template <class V>
CALQUE_INLINE V atanh(V x) {
    using namespace detail;
    using T = element_of<V>;
    V const zero(T(0)), one(T(1)), half(T(0.5)), a = simd::abs(x);
    auto const divisor = two_sum(one, -a);
    V const q = (a + a) / divisor.high;
    auto const back = two_product(q, divisor.high);
    V const residue = (((a + a) - back.high) - back.low) - q * divisor.low;
    V const result = half * log_of_one_plus(q, residue / divisor.high, zero);
    return copysign(select_if<comparison::less>(a, V(std::numeric_limits<T>::epsilon() / 4), a, result), x);
}

} // namespace math
} // namespace v0
} // namespace calque
