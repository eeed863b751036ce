// SPDX-License-Identifier: MIT
// The complementary error function.
#pragma once

#include <calque/kernels/cpu/math_exp.hpp>

namespace calque {
inline namespace v0 {
namespace math {

/// exp(-a^2) q(w) w with w = 1 / (a + shift) for a = |x|, and 2 minus that of negative x: q is exp(a^2) erfc(a)
/// (a + shift), a polynomial in the distance of w from near the middle of its range (minimax, 2^-27 and 2^-55).
///
/// (M. M. Shepherd, J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x) in 0 <= x < infinity",
/// 1981, which has another factor. With this one the polynomial of one number has the whole range, and its value at 0
/// rounds to 1.)
template <class V>
CALQUE_INLINE V erfc(V x) {
    using namespace detail;
    using T = element_of<V>;
    constexpr bool is_float = detail::is_float<V>;
    V const one(T(1)), shift(T(2.5));
    V const a = min_or_second(V(is_float ? T(10.06) : T(27.25)), simd::abs(x)); // the result is 0 from here on
    V const divisor = a + shift;
    V const w = one / divisor;
    V q;
    if constexpr (is_float) {
        q = polynomial(w - V(0.19074506f), -281.117401f, 270.337738f, 21.8947544f, -77.1428375f, -22.0824337f,
                       18.8459454f, 20.7292747f, 10.7628059f, 3.81865478f, 1.01775193f);
    } else {
        q = polynomial(
            w - V(0.18000437814742326), -19887872.38995041, 25062779.851755556, -8536793.751149857, -2766334.5944042793,
            2684407.383044056, -248084.0564110821, -397330.46532127407, 131858.62350444694, 39260.744561310945,
            -30160.653335612482, -1884.3365441485892, 5868.344696190058, -317.94680888061697, -1175.8807387647098,
            118.30674973185904, 274.32400388916005, -10.14160563465676, -76.98493930176122, -17.031189548065576,
            19.890158629683008, 19.895940415870434, 10.108188718466176, 3.5945345560345014, 0.9779531778213121);
    }
    // What w lost, of itself, and how much more the result loses: about so much.
    V const lost = subtract_product(subtract_product(one, w, divisor), w, a - (divisor - shift));
    V const times = simd::fma(w, V(T(4.93)), V(T(0.8)));
    auto const factor = two_product(w, q);
    V const n_plus_rounder = simd::fma(a * a, V(T(-1.4426950408889634)), V(rounder<V>));
    V const n = n_plus_rounder - V(rounder<V>);
    V const r = simd::fnma(n, V(ln2_low<V>), subtract_product(n * V(-ln2_high<V>), a, a));
    V const sum = simd::fma(lost, times, exp_minus_one_beside_one(r));
    V const y = times_power_of_two(simd::fma(factor.high, sum, factor.low) + factor.high, n_plus_rounder);
    return select_if<comparison::less>(x, V(T(0)), V(T(2)) - y, y);
}

} // namespace math
} // namespace v0
} // namespace calque
