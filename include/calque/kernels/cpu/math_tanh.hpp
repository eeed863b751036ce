// SPDX-License-Identifier: MIT
// tanh. Floats look up polynomials in registers with AVX-512, and divide without; doubles divide in two words.
#pragma once

#include <calque/kernels/cpu/math_exp.hpp>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

#if CALQUE_AVX512

/// tanh on [0, 9.1) in 15 intervals, two to each power of two from 1/16 on: the centre of each, then the coefficients
/// of a polynomial in the distance from it, the constant one first.
///
/// A column is an interval, so that a row is one register and a permutation looks up 16 coefficients at once; all rows
/// stay in registers beside those of what tanh is fused with, as they would not with twice the columns. Which column,
/// the last three bits of a number's exponent and the first of its fraction say: so the one from 1/16 on is the
/// seventh. Each centre is a number near the middle whose tanh is almost a float.
alignas(64) inline constexpr float tanh_table[8][16] = {
    {2.4991732f, 3.499081f, 4.998132f, 6.99822f, 8.553815f, 0.0f, 0.0f, 0.10934932f, 0.15619716f, 0.2186973f, 0.312392f,
     0.43740153f, 0.62476474f, 0.8748261f, 1.2496125f, 1.7495478f},
    {0.9865923f, 0.99817455f, 0.99990886f, 0.99999833f, 0.99999994f, 0.0f, 0.0f, 0.10891555f, 0.15493916f, 0.21527608f,
     0.30261162f, 0.41148826f, 0.5544368f, 0.70381784f, 0.8481749f, 0.94132406f},
    {0.026635759f, 0.0036476424f, 0.0001825957f, 3.343856e-06f, 1.4201558e-07f, 0.0f, 1.0f, 0.9881374f, 0.9759939f,
     0.9536562f, 0.9084262f, 0.8306774f, 0.69259983f, 0.50464046f, 0.28059918f, 0.11390897f},
    {-0.026278423f, -0.003640911f, -0.0001822583f, -3.3394613e-06f, -1.0256815e-06f, 0.0f, -9.42117e-09f, -0.1076233f,
     -0.15121959f, -0.20529933f, -0.27490032f, -0.3418141f, -0.38400286f, -0.35517493f, -0.23799732f, -0.1072253f},
    {0.017044159f, 0.0024160969f, 0.00011900031f, 2.1808446e-06f, 2.1694876e-07f, 0.0f, -0.3333319f, -0.31801045f,
     -0.3019615f, -0.27363294f, -0.21963707f, -0.13622206f, -0.017965373f, 0.081759416f, 0.10834515f, 0.06297094f},
    {-0.008062884f, -0.0012001509f, -6.0455208e-05f, -1.1039117e-06f, 7.682691e-06f, 0.0f, -6.9944785e-05f, 0.06698381f,
     0.09680485f, 0.12740828f, 0.15809062f, 0.17006981f, 0.13796727f, 0.060846593f, -0.012545129f, -0.023529215f},
    {0.0028907894f, 0.0004915116f, 2.8835218e-05f, 5.2822026e-07f, -3.692292e-07f, 0.0f, 0.13483907f, 1.2773359f,
     0.15565445f, 0.039231714f, 0.048664708f, -0.009632713f, -0.05440411f, -0.058410946f, -0.019720517f, 0.0034731717f},
    {-0.0006976373f, -0.00015591743f, -8.8755605e-06f, -1.6600382e-07f, -1.7054766e-05f, 0.0f, -0.01474402f, 10.914669f,
     0.28697425f, -0.17274179f, -0.07485215f, -0.07441744f, -0.024435932f, 0.0127584245f, 0.01506746f, 0.0020545933f}};

/// Error: 1.4 ULP. x below 1/16 falls into the first interval, whose centre is 0; above 9.1 the result is 1.
template <int U>
CALQUE_INLINE pack<float, U> tanh_by_table(pack<float, U> x) {
    constexpr int fraction_bits_of_an_interval = 22;
    using I = pack<std::int32_t, U>;
    // NaN goes through as the distance from some centre.
    auto const magnitude = min_or_second(pack<float, U>(9.1f), simd::abs(x));
    auto const index = simd::bits_as<std::int32_t>(max_or_second(pack<float, U>(0.0625f), magnitude)) >>
                       I(fraction_bits_of_an_interval);
    auto const row = [&](int k) CALQUE_INLINE_LAMBDA {
        return pack<float, U>::generate([&](int i)
                                            CALQUE_INLINE_LAMBDA { return simd::lookup(tanh_table[k], index.r[i]); });
    };
    auto const distance = magnitude - row(0);
    auto sum = row(7);
    simd::unroll<6>([&](int k) CALQUE_INLINE_LAMBDA { sum = simd::fma(sum, distance, row(6 - k)); });
    return copysign(sum, x);
}

#else

/// Below 0.55 x + x^3 p(x^2), above 1 - 2 / (exp(2 a) + 1), minimax (relative errors of tanh and exp: 2^-29 and 2^-28).
///
/// Above, the quotient is less than 1/2, so that its errors count half. Error: 1.3 ULP.
template <int U>
CALQUE_INLINE pack<float, U> tanh_by_parts(pack<float, U> x) {
    using V = pack<float, U>;
    V const one(1.f), two(2.f);
    V const a = simd::abs(x);
    V const bounded = min_or_second(V(9.1f), a); // the result is 1 from here on
    V const n_plus_rounder = simd::fma(bounded, V(2.88539008f), V(rounder<V>));
    V const r = simd::fnma(n_plus_rounder - V(rounder<V>), V(0.346573591f), bounded); // 2 a = n ln 2 + 2 r
    V const power = power_of_two(n_plus_rounder);
    V const q = polynomial(r, 8.8437147e-2f, 0.26779303f, 0.66669267f, 1.3333218f, 1.9999998f, 2.f); // exp(2 r) = 1 + r q
    V const large = one - two / simd::fma(power * r, q, power + one);
    V const square = a * a;
    V const p = polynomial(square, -6.2428494e-3f, 2.1050714e-2f, -5.3847548e-2f, 0.13332544f, -0.33333316f);
    V const small = simd::fma(a * square, p, a);
    return copysign(select_if<comparison::less>(a, V(0.55f), small, large), x);
}

#endif

/// tanh(a) = t / (t + 2) with t = exp(2 a) - 1.
template <class V>
CALQUE_INLINE V tanh_by_expm1(V x) {
    using T = element_of<V>;
    V const half(T(0.5)), one(T(1)), two(T(2));
    V const a = clamp(simd::abs(x), T(0), is_float<V> ? T(9.1) : T(19.1)); // the result is 1 from here on
    auto const argument = reduce_exp_argument(a + a);
    V const power = power_of_two(argument.n_plus_rounder);
    V const low = simd::fma(exp_tail(argument.r), argument.r * argument.r, argument.r_low);
    // power r is exact, and so is what adding it to power - 1 loses
    V const high = simd::fma(power, argument.r, power - one);
    V const lost = simd::fma(power, argument.r, (power - one) - high);
    V const t = high + simd::fma(power, low, lost);
    auto const sum = fast_two_sum(max_or_second(two, t), min_or_second(two, t));
    V const y = t / sum.high;
    // What rounding the sum lost is worth an ulp of the result; 1 / sum is (1 - y) / 2.
    return copysign(simd::fnma(y * sum.low, simd::fnma(half, y, half), y), x);
}

} // namespace detail

template <class V>
CALQUE_INLINE V tanh(V x) {
    if constexpr (detail::is_float<V>) {
#if CALQUE_AVX512
        return detail::tanh_by_table(x);
#else
        return detail::tanh_by_parts(x);
#endif
    } else {
        return detail::tanh_by_expm1(x);
    }
}

} // namespace math
} // namespace v0
} // namespace calque
