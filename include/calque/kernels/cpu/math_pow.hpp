// SPDX-License-Identifier: MIT
// pow: exp(y log x) with enough bits in the logarithm. Floats compute in double, doubles in two words.
#pragma once

#include <calque/kernels/cpu/math_exp.hpp>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

/// 2^(y log2 m): error 2^-33 relative, so that rounding to float is nearly the only one.
template <int U>
CALQUE_INLINE pack<double, U> power_for_float(pack<double, U> x, pack<double, U> y) {
    using V = pack<double, U>;
    // log2 = s p(s^2) with s = (m - 1) / (m + 1), minimax (2^-45), and the exponent
    auto const [m, k] = decompose(x);
    V const s = (m - V(1.)) / (m + V(1.));
    V const p = polynomial(s * s, 0.28301639923536015, 0.3198979099870386, 0.41220943308526337, 0.5770779406748544,
                           0.9617966941187855, 2.8853900817778473);
    V const exponent = clamp(y * simd::fma(s, p, k), -200., 200.);
    V const z = exponent + V(rounder<V>);
    V const n = z - V(rounder<V>);
    V const power = polynomial(exponent - n, 1.5316461574910607e-05, 1.54697347408328e-04, 0.0013333422647083518,
                               0.00961802559259364, 0.05550410976105039, 0.24022651213692373, 0.6931471805350286,
                               0.9999999999595348); // minimax (2^-34)
    return power * power_of_two(z);
}

/// The natural logarithm of a positive finite x in two words: 2 atanh(s) + k ln 2 with s = (m - 1) / (m + 1).
template <int U>
CALQUE_INLINE two_words<pack<double, U>> log_in_two_words(pack<double, U> x) {
    using V = pack<double, U>;
    auto const [m, k] = decompose(x);
    V const numerator = m - V(1.);
    auto const denominator = two_sum(m, V(1.));
    V const s = numerator / denominator.high;
    auto const back = two_product(s, denominator.high);
    V const s_low = (((numerator - back.high) - back.low) - s * denominator.low) / denominator.high;
    auto const square = two_product(s, s);
    V const square_low = simd::fma(s + s, s_low, square.low);
    V const z = square.high;
    // 2 s + s^3 (2/3 + z p(z)), minimax (2^-73)
    V const tail = z * polynomial(z, 0.11996748707877075, 0.11673889066363326, 0.1333636323804857, 0.15384555679132672,
                                  0.1818181888779986, 0.22222222217393822, 0.285714285714457, 0.39999999999999974);
    auto const factor = fast_two_sum(V(6.66666666666666629659e-01), tail + V(3.70074341541718826050e-17));
    auto const cube = two_product(z, s);
    V const cube_low = cube.low + simd::fma(z, s_low, square_low * s);
    auto const product = two_product(cube.high, factor.high);
    V const product_low = product.low + simd::fma(cube.high, factor.low, cube_low * factor.high);
    auto const series = fast_two_sum(s + s, product.high);
    V const series_low = (series.low + (s_low + s_low)) + product_low;
    auto const sum = two_sum(k * V(6.93147180369123816490e-01), series.high); // the first product is exact
    auto const ln2_low = two_product(k, V(1.90821492927058770002e-10));
    auto const high = fast_two_sum(sum.high, (sum.low + ln2_low.high) + (series_low + ln2_low.low));
    return {high.high, high.low};
}

/// exp(y log x): the product in two words, whose lower one goes into the reduced argument of exp.
template <int U>
CALQUE_INLINE pack<double, U> power_of_positive(pack<double, U> x, pack<double, U> y) {
    using V = pack<double, U>;
    auto const logarithm = log_in_two_words(x);
    // Beyond 2^65 the result is 0, 1 or infinity whatever y is, and products of halves must not overflow.
    V const bounded_y = clamp(y, -36893488147419103232., 36893488147419103232.);
    auto const product = two_product(bounded_y, logarithm.high);
    V const low = simd::fma(bounded_y, logarithm.low, product.low);
    V const high = clamp(product.high, -800., 800.);
    auto const argument = reduce_exp_argument(high);
    V const r = argument.r + select_if<comparison::equal>(high, product.high, low, V(0.));
    return scale_one_plus(simd::fma(exp_tail(r), r * r, r), argument);
}

/// |x|^y for finite x that are not 0.
template <class V>
CALQUE_INLINE V power_of_magnitude(V x, V y) {
    if constexpr (is_float<V>) {
        return simd::convert<float>(power_for_float(simd::convert<double>(x), simd::convert<double>(y)));
    } else {
        return power_of_positive(x, y);
    }
}

} // namespace detail

template <class V>
CALQUE_INLINE V pow(V x, V y) {
    using namespace detail;
    using T = element_of<V>;
    using limits = std::numeric_limits<T>;
    V const zero(T(0)), one(T(1)), half(T(0.5)), infinity(limits::infinity()), nan(limits::quiet_NaN());
    V const magnitude = simd::abs(x);
    V result = power_of_magnitude(magnitude, y);
    // 0 and infinity: to a positive power themselves, to a negative one each other.
    auto const grows = (magnitude > one) == (y > zero);
    auto const is_extreme = (magnitude == zero) | (magnitude == infinity) | (simd::abs(y) == infinity);
    result = select(is_extreme, select(grows, infinity, zero), result);
    // A negative x has a power if y is an integer, and a negative one if y is odd.
    auto const is_integer = simd::round_even(y) == y;
    auto const is_odd = is_integer & (simd::trunc(y * half) * V(T(2)) != y);
    auto const is_negative = copysign(one, x) < zero;
    result = select(is_negative & is_odd, -result, result);
    result = select((x < zero) & (magnitude != infinity) & !is_integer, nan, result);
    // NaN to the power 0 is 1, as is 1 to the power NaN; and -1 to an infinite power.
    result = select((x != x) | (y != y), nan, result);
    auto const is_one = (y == zero) | (x == one) | ((magnitude == one) & (simd::abs(y) == infinity));
    return select(is_one, one, result);
}

} // namespace math
} // namespace v0
} // namespace calque
