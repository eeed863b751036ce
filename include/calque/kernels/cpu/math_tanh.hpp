// SPDX-License-Identifier: MIT
// tanh, and sigmoid's other half. Floats on AVX-512 look up polynomials in registers; the others divide.
#pragma once

#include <calque/kernels/cpu/math_exp.hpp>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

#if CALQUE_AVX512

/// tanh on [0, 9.1) in 29 intervals, four to each power of two from 1/16 on: the centre of each, then the coefficients
/// of a polynomial in the distance from it, the constant one first.
///
/// A column is an interval, so that a row fits two registers and a permutation looks up 16 coefficients at once. Which
/// column, the last three bits of a number's exponent and the first two of its fraction say: so the one from 1/16 on
/// is the thirteenth.
alignas(64) inline constexpr float tanh_table[7][32] = {
    {2.25f,     2.75f,     3.25f,     3.75f,     4.5f,     5.5f,       6.5f,       7.5f,
     8.6f,      10.0005f,  12.0006f,  14.0007f,  0.0f,     0.0859375f, 0.1015625f, 0.1171875f,
     0.140625f, 0.171875f, 0.203125f, 0.234375f, 0.28125f, 0.34375f,   0.40625f,   0.46875f,
     0.5625f,   0.6875f,   0.8125f,   0.9375f,   1.125f,   1.375f,     1.625f,     1.875f},
    {0.9780261f,  0.99185973f, 0.99699765f, 0.99889445f, 0.9997532f, 0.9999666f,  0.99999547f, 0.9999994f,
     0.99999994f, 1.0f,        1.0f,        1.0f,        0.0f,       0.08572657f, 0.10121473f, 0.11665399f,
     0.1397053f,  0.17020231f, 0.20037672f, 0.2301757f,  0.2740616f, 0.33082113f, 0.38528398f, 0.43718877f,
     0.50983f,    0.59637356f, 0.6709671f,  0.7340715f,  0.8093011f, 0.8798267f,  0.92534626f, 0.95404524f},
    {0.043464914f,   0.01621429f,    0.005995717f,  0.002209893f,  0.0004935282f,  6.680606e-05f, 9.041478e-06f,
     1.2236359e-06f, 1.3558879e-07f, 8.236381e-09f, 1.508138e-10f, 2.7467752e-12f, 1.0f,          0.992651f,
     0.9897556f,     0.9863918f,     0.9804824f,    0.97103125f,   0.9598492f,     0.9470191f,    0.9248903f,
     0.8905574f,     0.8515563f,     0.8088659f,    0.74007344f,   0.6443386f,     0.54980326f,   0.46113896f,
     0.34503177f,    0.22590499f,    0.14373437f,   0.08979764f},
    {-0.042507138f,   -0.016081974f,  -0.0059785107f, -0.0022079467f,  -0.0004922458f,  -6.710693e-05f, -8.881081e-06f,
     -1.4742085e-06f, -2.261711e-07f, -0.065891035f,  -0.00083791313f, -1.1273175e-05f, 0.0f,           -0.085114114f,
     -0.10005844f,    -0.114909485f,  -0.13693763f,   -0.16537745f,    -0.19234316f,    -0.21786168f,   -0.2534829f,
     -0.29465288f,    -0.32813406f,   -0.3535829f,    -0.37733623f,    -0.38426903f,    -0.3689284f,    -0.33848205f,
     -0.27923864f,    -0.19876477f,   -0.13301216f,   -0.08566492f},
    {0.027087886f,  0.010546197f,   0.0039609573f,   0.001468289f,    0.00032842302f, 4.4484466e-05f, 6.0210136e-06f,
     8.148663e-07f, 9.0184365e-08f, -1.3897044e-07f, -3.1906968e-08f, 5.790862e-08f,  -0.33333334f,   -0.32523504f,
     -0.31892753f,  -0.31148103f,   -0.30719754f,    -0.29676235f,    -0.28153977f,   -0.26475465f,   -0.23894896f,
     -0.19949406f,  -0.15759921f,   -0.1147866f,     -0.05437774f,    0.014364652f,   0.06418376f,    0.094816685f,
     0.110976554f,  0.09956876f,    0.07516277f,     0.051802516f},
    {-0.012404427f,   -0.0051399358f,  -0.0019624578f, -0.00073081907f, -0.00017371544f,
     -2.2080889e-05f, -3.6335286e-06f, 3.7952157e-07f, 1.5378389e-07f,  210851.28f,
     1862.0288f,      18.405207f,      0.0f,           0.2862898f,      -1.4997917f,
     -1.9838706f,     -0.04566487f,    0.45188028f,    0.15893868f,     -0.25664985f,
     0.15480839f,     0.19497308f,     0.20525427f,    0.13186038f,     0.15836136f,
     0.11998007f,     0.0857368f,      0.037814047f,   0.0037781096f,   -0.020786284f,
     -0.024735047f,   -0.02116546f},
    {0.003975561f,   0.0019156218f,  0.00077080406f, 0.0002926435f, 6.8304114e-05f, 9.279972e-06f, 1.2565257e-06f,
     1.7006971e-07f, 1.9190255e-08f, 0.37565184f,    0.19854042f,   0.020197056f,   0.13333334f,   19.948086f,
     -13.12559f,     -49.15945f,     -1.5323331f,    4.0785155f,    0.5071005f,     -2.4432068f,   0.15072092f,
     0.12769234f,    0.13621955f,    -0.20231715f,   -0.032557197f, -0.05745137f,   -0.04922238f,  -0.06111199f,
     -0.032117918f,  -0.009384392f,  0.0014620665f,  0.0045586796f}};

/// Error: 1.2 ULP. x below 1/16 falls into the first interval, whose centre is 0; above 9.1 the result is 1.
template <int U>
CALQUE_INLINE pack<float, U> tanh_by_table(pack<float, U> x) {
    constexpr int fraction_bits_of_an_interval = 21;
    using I = pack<std::int32_t, U>;
    // NaN goes through as the distance from some centre.
    auto const magnitude = min_or_second(pack<float, U>(9.1f), simd::abs(x));
    auto const index = simd::bits_as<std::int32_t>(max_or_second(pack<float, U>(0.0625f), magnitude)) >>
                       I(fraction_bits_of_an_interval);
    auto const row = [&](auto k) CALQUE_INLINE_LAMBDA {
        return pack<float, U>::generate([&](auto i)
                                            CALQUE_INLINE_LAMBDA { return simd::lookup(tanh_table[k], index.r[i]); });
    };
    auto const distance = magnitude - row(std::integral_constant<int, 0>{});
    auto sum = row(std::integral_constant<int, 6>{});
    simd::unroll<5>([&](auto k) CALQUE_INLINE_LAMBDA {
        sum = simd::fma(sum, distance, row(std::integral_constant<int, 5 - k>{}));
    });
    return copysign(sum, x);
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
#if CALQUE_AVX512
    if constexpr (detail::is_float<V>) {
        return detail::tanh_by_table(x);
    }
#endif
    return detail::tanh_by_expm1(x);
}

} // namespace math
} // namespace v0
} // namespace calque
