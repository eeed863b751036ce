// SPDX-License-Identifier: MIT
// tanh. Floats look up polynomials in registers with AVX-512; all others are a quotient.
#pragma once

#include <calque/kernels/cpu/loaded_once.hpp>
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
    auto const sign = simd::bits_as<std::int32_t>(x) & I(simd::floating_layout<float>::sign_bit);
    // NaN goes through as the distance from some centre.
    auto const magnitude = min_or_second(pack<float, U>(9.1f), simd::abs(x));
    auto const index = simd::bits_as<std::int32_t>(max_or_second(pack<float, U>(0.0625f), magnitude)) >>
                       I(fraction_bits_of_an_interval);
    auto const& table = simd::read_where_used(tanh_table);
    auto const row = [&](int k) CALQUE_INLINE_LAMBDA {
        return pack<float, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return simd::lookup(table[k], index.r[i]); });
    };
    auto const distance = magnitude - row(0);
    auto sum = row(7);
    simd::unroll<6>([&](int k) CALQUE_INLINE_LAMBDA { sum = simd::fma(sum, distance, row(6 - k)); });
    return simd::bits_as<float>(simd::bits_as<std::int32_t>(sum) | sign);
}

#endif

/// a - n ln(2) / 2. What the rounded constant adds is lost beside 2^n; without fused products it needs a second one.
template <class V>
CALQUE_INLINE V subtract_halves_of_ln2(V a, V n) {
    using T = element_of<V>;
    if constexpr (simd::has_fused_multiply) {
        return simd::fnma(n, V(T(0.34657359027997265)), a);
    } else {
        return simd::fnma(n, V(ln2_low<V> / 2), simd::fnma(n, V(ln2_high<V> / 2), a));
    }
}

/// tanh(a) = (p (t + r) - (t - r)) / (p (t + r) + (t - r)) with t = r coth(r), as exp(2 r) = (t + r) / (t - r), where
/// 2 a = n ln 2 + 2 r and p = 2^n.
///
/// Below 0.6 n is 0: what remains is r / t, of which only t and the quotient are rounded. Above n is at least 2, and
/// tanh 1 less a quotient that is below 1/2, so that its errors count half. r coth(r) is 1 + r^2 s(r^2), minimax
/// (relative error 2^-25 and 2^-59). Error: 2 ULP.
template <class V>
CALQUE_INLINE V tanh_by_quotient(V x) {
    using T = element_of<V>;
    using I = pack<simd::signed_of<T>, V::groups>;
    V const one(T(1)), half(T(0.5)), unreduced(T(0.6));
    V const a = simd::abs(x);
    V const bounded = min_or_second(V(is_float<V> ? T(9.1) : T(19.1)), a); // the result is 1 from here on
    V const n_plus_rounder = select_if<comparison::less>(
        a, unreduced, V(rounder<V>), simd::fma(bounded, V(T(2.8853900817779268)), V(rounder<V>)));
    V const n = n_plus_rounder - V(rounder<V>);
    V const r = subtract_halves_of_ln2(bounded, n);
    V const square = r * r;
    V s;
    if constexpr (is_float<V>) {
        s = polynomial(square, 1.9779815e-3f, -2.2194093e-2f, 3.3333170e-1f);
    } else {
        s = polynomial(square, -1.8932821886962845e-08, 2.1714631517731585e-07, -2.1636619066670869e-06,
                       2.1377647145655523e-05, -2.1164019348567725e-04, 2.1164021152046695e-03,
                       -2.2222222222184219e-02, 3.3333333333333293e-01);
    }
    V const t = simd::fma(s, square, one);
    V const half_power = power_of_two<-1>(n_plus_rounder);
    V const divisor = simd::fma(half_power + half, t, (half_power - half) * r);
    V const offset = select_if<comparison::less>(a, unreduced, V(T(0)), one);
    V const y = offset + simd::fnma(offset, t, r) / divisor;
    I const sign = simd::bits_as<typename I::value_type>(x) & I(simd::floating_layout<T>::sign_bit);
    return simd::bits_as<T>(simd::bits_as<typename I::value_type>(y) | sign);
}

} // namespace detail

template <class V>
CALQUE_INLINE V tanh(V x) {
#if CALQUE_AVX512
    if constexpr (detail::is_float<V>) {
        return detail::tanh_by_table(x);
    } else
#endif
    {
        return detail::tanh_by_quotient(x);
    }
}

} // namespace math
} // namespace v0
} // namespace calque
