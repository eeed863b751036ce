// SPDX-License-Identifier: MIT
// log and log1p.
#pragma once

#include <calque/kernels/cpu/math_tools.hpp>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

/// log(1 + f) + k ln 2 + c for 1 + f between sqrt(1/2) and sqrt(2), integral k, and a c that is tiny beside the result.
template <class V>
CALQUE_INLINE V log_of_parts(V f, V k, V c) {
    using T = element_of<V>;
    V const half(T(0.5));
    if constexpr (is_float<V>) { // f - f^2/2 + f^3 p(f), minimax (relative error 2^-30)
        V const p = polynomial(f, 6.9169134e-2f, -1.1790513e-1f, 1.1872602e-1f, -1.2384197e-1f, 1.4218697e-1f,
                               -1.6669261e-1f, 2.0002225e-1f, -2.4999987e-1f, 3.333331e-1f);
        V const f2 = f * f;
        V const low = simd::fma(p * f, f2, simd::fma(k, V(-2.12194440e-4f), c));
        return simd::fma(k, V(0.693359375f), f + simd::fnma(half, f2, low));
    } else { // s = f / (2 + f) and a polynomial in s^2; the coefficients and the order of the sum are fdlibm's
        V const s = f / (V(2.) + f);
        V const z = s * s;
        V const w = z * z;
        V const odd = w * polynomial(w, 1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01);
        V const even = z * polynomial(w, 1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01,
                                      6.666666666666735130e-01);
        V const half_square = half * f * f;
        V const low = simd::fma(s, half_square + (odd + even), simd::fma(k, V(1.90821492927058770002e-10), c));
        return simd::fma(k, V(6.93147180369123816490e-01), f - (half_square - low));
    }
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

/// The logarithm of the rounded 1 + x, corrected by what rounding it lost.
template <class V>
CALQUE_INLINE V log1p(V x) {
    using namespace detail;
    using T = element_of<V>;
    V const one(T(1));
    auto const [sum, lost] = two_sum(one, x);
    auto const [m, k] = decompose(sum);
    V const result = log_of_parts(m - one, k, lost / sum);
    // The sum of tiny x and 1 loses x altogether, and -0 its sign; their logarithm is x.
    V const with_edges = with_log_edges(sum, result);
    return select_if<comparison::less>(abs(x), V(std::numeric_limits<T>::epsilon() / 4), x, with_edges);
}

} // namespace math
} // namespace v0
} // namespace calque
