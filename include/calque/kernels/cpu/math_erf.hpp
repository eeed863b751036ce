// SPDX-License-Identifier: MIT
// The error function.
#pragma once

#include <calque/kernels/cpu/math_exp.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

/// erf and its derivative at k / 128, up to 6, from where on erf is 1 in double.
struct erf_tables {
    static constexpr int size = 6 * 128 + 1;
    std::array<double, size> value{};
    std::array<double, size> slope{};
};

/// Steps from one entry to the next along the Taylor series of y'' = -2 x y', in long double.
///
/// A template, as what depends on nothing is evaluated where it is declared, for everyone.
template <class T>
constexpr erf_tables make_erf_tables() {
    erf_tables tables;
    long double const h = 1 / 128.L;
    long double value = 0, slope = 1.12837916709551257389615890312154517L; // 2 / sqrt(pi)
    for (int k = 0; k < erf_tables::size; ++k) {
        tables.value[static_cast<std::size_t>(k)] = static_cast<double>(value);
        tables.slope[static_cast<std::size_t>(k)] = static_cast<double>(slope);
        long double const x = static_cast<long double>(k) * h;
        // y(x + h) = sum c_n h^n, with (n + 2)(n + 1) c_(n+2) = -2 x (n + 1) c_(n+1) - 2 n c_n
        long double c[12] = {value, slope};
        for (int n = 0; n + 2 < 12; ++n) {
            long double const i = n;
            c[n + 2] = -2 * (x * (i + 1) * c[n + 1] + i * c[n]) / ((i + 2) * (i + 1));
        }
        long double next = 0, next_slope = 0;
        for (int n = 11; n > 0; --n) {
            next = (next + c[n]) * h;
            next_slope = next_slope * h + static_cast<long double>(n) * c[n];
        }
        value += next;
        slope = next_slope;
    }
    return tables;
}

template <class T>
alignas(64) inline constexpr erf_tables erf_table = make_erf_tables<T>();

/// The Taylor series of erf around the table's entry below |x|.
///
/// From below, so that the entry is never greater than the result: its rounding stays half an ulp.
template <int U>
CALQUE_INLINE pack<double, U> erf_by_table(pack<double, U> x) {
    using V = pack<double, U>;
    V const magnitude = clamp(simd::abs(x), 0., 6.);
    V const index = simd::floor(min_or_second(magnitude * V(128.), V(768.))); // also of NaN
    V const c = index * V(1 / 128.);
    auto const bits = simd::bits_as<std::int64_t>(index + V(rounder<V>)) - simd::bits_as<std::int64_t>(V(rounder<V>));
    auto const look_up = [&](auto const& table) CALQUE_INLINE_LAMBDA {
        return V::generate([&](int i) CALQUE_INLINE_LAMBDA { return simd::gather(table.data(), bits.r[i]); });
    };
    V const d = magnitude - c;
    // erf(c + d) = erf c + erf' c (d - c d^2 + (2 c^2 - 1)/3 d^3 - ...): Hermite's polynomials
    V const c2 = c * c;
    V const p2 = simd::fma(c2, V(2. / 3), V(-1. / 3));
    V const p3 = c * simd::fma(c2, V(-1. / 3), V(1. / 2));
    V const p4 = polynomial(c2, 2. / 15, -2. / 5, 1. / 10);
    V const p5 = c * polynomial(c2, -2. / 45, 2. / 9, -1. / 6);
    V const p6 = polynomial(c2, 4. / 315, -2. / 21, 1. / 7, -1. / 42);
    V q = simd::fma(p6, d, p5);
    q = simd::fma(q, d, p4);
    q = simd::fma(q, d, p3);
    q = simd::fma(q, d, p2);
    q = simd::fms(q, d, c);
    V const series = simd::fma(q, d * d, d);
    return copysign(simd::fma(series, look_up(erf_table<element_of<V>>.slope), look_up(erf_table<element_of<V>>.value)),
                    x);
}

/// Below 1.1 x + x p(x^2), above 1 - 2^z with z the logarithm of 1 - erf in base 2; minimax, of the result (2^-25.5 and
/// 2^-26.6).
template <int U>
CALQUE_INLINE pack<float, U> erf_by_exp(pack<float, U> x) {
    using V = pack<float, U>;
    V const a = simd::abs(x);
    V const bounded = min_or_second(V(4.f), a); // the result is 1 from here on
    V const z =
        polynomial(bounded, -0.00152754586f, 0.0202201344f, -0.124285504f, -0.94995594f, -1.60763741f, -0.00523367012f);
    V const n_plus_rounder = z + V(rounder<V>);
    V const rest = exp2_of_fraction(z - (n_plus_rounder - V(rounder<V>)));
    V const large = copysign(simd::fnma(rest, power_of_two(n_plus_rounder), V(1.f)), x);
    V const p = polynomial(x * x, 7.18802112e-05f, -0.0007805801f, 0.00516486447f, -0.026841443f, 0.112832919f,
                           -0.376126021f, 0.128379166f);
    return select_if<comparison::less>(a, V(1.1f), simd::fma(p, x, x), large);
}

} // namespace detail

template <class V>
CALQUE_INLINE V erf(V x) {
    if constexpr (detail::is_float<V>) {
        return detail::erf_by_exp(x);
    } else {
        return detail::erf_by_table(x);
    }
}

} // namespace math
} // namespace v0
} // namespace calque
