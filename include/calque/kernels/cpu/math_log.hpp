// SPDX-License-Identifier: MIT
// log, log2 and log1p.
#pragma once

#include <calque/kernels/cpu/math_tools.hpp>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

/// log(1 + f) = f - half_square + factor * other, for 1 + f between sqrt(1/2) and sqrt(2).
template <class V>
struct log_series {
    V half_square;
    V factor;
    V other;
};

template <class V>
CALQUE_INLINE log_series<V> make_log_series(V f) {
    V const half(element_of<V>(0.5));
    if constexpr (is_float<V>) { // f - f^2/2 + f^3 p(f), minimax (relative error 2^-30)
        V const p = polynomial(f, 6.9169134e-2f, -1.1790513e-1f, 1.1872602e-1f, -1.2384197e-1f, 1.4218697e-1f,
                               -1.6669261e-1f, 2.0002225e-1f, -2.4999987e-1f, 3.333331e-1f);
        V const square = f * f;
        return {half * square, p * f, square};
    } else { // s = f / (2 + f) and a polynomial in s^2; the coefficients and the order of the sum are fdlibm's
        V const s = f / (V(2.) + f);
        V const z = s * s;
        V const w = z * z;
        V const odd = w * polynomial(w, 1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01);
        V const even = z * polynomial(w, 1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01,
                                      6.666666666666735130e-01);
        V const half_square = half * f * f;
        return {half_square, s, half_square + (odd + even)};
    }
}

/// log(1 + f) + k ln 2 + c for integral k, and a c that is tiny beside the result.
template <class V>
CALQUE_INLINE V log_of_parts(V f, V k, V c) {
    using T = element_of<V>;
    V const ln2_high(is_float<V> ? T(0.693359375) : T(6.93147180369123816490e-01));
    V const ln2_low(is_float<V> ? T(-2.12194440e-4) : T(1.90821492927058770002e-10));
    auto const series = make_log_series(f);
    V const low = simd::fma(series.factor, series.other, simd::fma(k, ln2_low, c));
    return simd::fma(k, ln2_high, f + (low - series.half_square));
}

/// The logarithm's special cases: `result` for positive finite x, and what belongs to the others.
template <class V>
CALQUE_INLINE V with_log_edges(V x, V result) {
    using limits = std::numeric_limits<element_of<V>>;
    V const zero(element_of<V>(0));
    V const at_zero = select_if<comparison::equal>(x, zero, V(-limits::infinity()), V(limits::quiet_NaN()));
    V const positive = select_if<comparison::greater>(x, zero, result, at_zero);
    return select_if<comparison::equal>(x, V(limits::infinity()), x, positive);
}

} // namespace detail

template <class V>
CALQUE_INLINE V log(V x) {
    using T = detail::element_of<V>;
    auto const [m, k] = detail::decompose(x);
    return detail::with_log_edges(x, detail::log_of_parts(m - V(T(1)), k, V(T(0))));
}

/// The product of log(1 + f) and 1 / ln 2 in two words, and the exponent. Powers of two are exact.
template <class V>
CALQUE_INLINE V log2(V x) {
    using namespace detail;
    using T = element_of<V>;
    V const per_ln2(is_float<V> ? T(1.4426950216293335) : T(1.4426950408889634));
    V const per_ln2_low(is_float<V> ? T(1.9259629911e-08) : T(2.0355273740931033e-17));
    auto const [m, k] = decompose(x);
    V const f = m - V(T(1));
    auto const series = make_log_series(f);
    V const rest = simd::fms(series.factor, series.other, series.half_square);
    auto const product = two_product(f, per_ln2);
    auto const sum = fast_two_sum(k, product.high);
    V const low = product.low + simd::fma(rest, per_ln2, f * per_ln2_low);
    return with_log_edges(x, sum.high + (sum.low + low));
}

namespace detail {

/// log(1 + high + low) + k ln 2: the logarithm of the rounded sum, corrected by what rounding it lost.
template <class V>
CALQUE_INLINE V log_of_one_plus(V high, V low, V k) {
    V const one(element_of<V>(1));
    auto const [sum, lost] = two_sum(one, high);
    auto const [m, exponent] = decompose(sum);
    return with_log_edges(sum, log_of_parts(m - one, exponent + k, (lost + low) / sum));
}

} // namespace detail

template <class V>
CALQUE_INLINE V log1p(V x) {
    using namespace detail;
    using T = element_of<V>;
    // The sum of tiny x and 1 loses x altogether, and -0 its sign; their logarithm is x.
    V const zero(T(0));
    return select_if<comparison::less>(abs(x), V(std::numeric_limits<T>::epsilon() / 4), x,
                                       log_of_one_plus(x, zero, zero));
}

} // namespace math
} // namespace v0
} // namespace calque
