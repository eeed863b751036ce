// SPDX-License-Identifier: MIT
// The complementary error function.
#pragma once

#include <calque/kernels/cpu/math_exp.hpp>

namespace calque {
inline namespace v0 {
namespace math {

/// From 1/2 on exp(-a^2) p(t) / (1 + 2 a) with t = (a - 4) / (a + 4) for a = |x|, and 2 minus that of negative x.
/// Below, 1 - x - x q(x^2).
///
/// (M. M. Shepherd, J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x) in 0 <= x < infinity",
/// 1981. The coefficients are minimax: p has an error of 2^-28 and 2^-58, q of 2^-29 and 2^-64.)
template <class V>
CALQUE_INLINE V erfc(V x) {
    using namespace detail;
    using T = element_of<V>;
    V const zero(T(0)), half(T(0.5)), one(T(1)), two(T(2)), four(T(4));
    V const a = clamp(simd::abs(x), T(0.5), is_float<V> ? T(10.4) : T(27.4)); // the result is 0 from here on
    V const t = (a - four) / (a + four);
    V p, q;
    if constexpr (is_float<V>) {
        p = polynomial(t, 0.00526695931f, -0.0165836047f, 0.0369915813f, -0.066258505f, 0.093768768f, -0.101044782f,
                       0.0680944324f, 0.0153798303f, -0.139621064f, 1.23299515f);
        q = polynomial(x * x, 0.00470096804f, -0.0267497059f, 0.112827227f, -0.376126051f, 0.128379166f);
    } else {
        p = polynomial(t, -1.0227508837865234e-08, -1.2209291548648595e-08, 1.0488008027553791e-07,
                       6.697806674442142e-08, -8.214621955196879e-07, 2.9961810067871e-07, 5.707802919996919e-06,
                       -1.1224774252942229e-05, -2.4398590637723042e-05, 0.00015062251239383935,
                       -0.00019925682943164243, -0.0007577734529618172, 0.0050319699970208815, -0.016197734037635907,
                       0.03716751553581738, -0.06633036581365868, 0.09373283499843173, -0.10103906603625169,
                       0.06809705425469079, 0.015379652102618995, -0.1396211168405625, 1.2329951186255526);
        q = polynomial(x * x, -1.4556249817896244e-07, 1.6364232269062713e-06, -1.4922688523558799e-05,
                       0.00012055278597738663, -0.0008548326404164284, 0.0052239776211443194, -0.026866170644959823,
                       0.11283791670954778, -0.3761263890318375, 0.1283791670955126);
    }
    auto const square = two_product(a, a);
    auto const argument = reduce_exp_argument(-square.high);
    auto const [r, r_low] = fast_two_sum(argument.r, argument.r_low - square.low);
    V const e = (simd::fma(exp_tail(r), r * r, r_low) + r) + one;
    // The quotient with what rounding it and its divisor lost.
    auto const divisor = fast_two_sum(a + a, one);
    V const quotient = p / divisor.high;
    V const back = simd::fnma(quotient, divisor.high, p);
    V const low = simd::fnma(quotient, divisor.low, back) / divisor.high;
    V const y = scale(simd::fma(e, low, e * quotient), argument.n);
    V const large = select_if<comparison::less>(x, zero, two - y, y);
    return select_if<comparison::less>(simd::abs(x), half, simd::fnma(q, x, one - x), large);
}

} // namespace math
} // namespace v0
} // namespace calque
