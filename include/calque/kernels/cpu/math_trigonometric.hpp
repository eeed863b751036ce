// SPDX-License-Identifier: MIT
// sin, cos and tan.
#pragma once

#include <calque/kernels/cpu/math_tools.hpp>

#include <cmath>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

/// x = n pi/2 + r + r_low with |r| <= pi/4 (a trifle more); n + rounder has the quadrant in its low bits.
template <class V>
struct circle_argument {
    V n_plus_rounder;
    V r;
    V r_low;
};

/// Beyond this the reduction is no longer exact enough: such elements go through the standard library.
template <class V>
inline constexpr element_of<V> largest_reducible = is_float<V> ? 1e5f : element_of<V>(1e6);

/// pi/2 in pieces whose products with n are exact (Cody and Waite): 33 bits each in double, from fdlibm.
template <int U>
CALQUE_INLINE circle_argument<pack<double, U>> reduce_angle(pack<double, U> x) {
    using V = pack<double, U>;
    V const z = simd::fma(x, V(0.63661977236758134308), V(rounder<V>));
    V const n = z - V(rounder<V>);
    V const first = x - n * V(1.57079632673412561417e+00);
    auto const second = two_sum(first, -(n * V(6.07710050630396597660e-11)));
    auto const third = two_sum(second.high, -(n * V(2.02226624871116645580e-21)));
    V const low = (second.low + third.low) - n * V(8.47842766036889956997e-32);
    auto const [r, r_low] = fast_two_sum(third.high, low);
    return {z, r, r_low};
}

/// Floats: three constants with a fused multiply-add, whose products need no room; without one, through double.
template <int U>
CALQUE_INLINE circle_argument<pack<float, U>> reduce_angle(pack<float, U> x) {
    using V = pack<float, U>;
    if constexpr (simd::has_fused_multiply) {
        V const z = simd::fma(x, V(0.636619772f), V(rounder<V>));
        V const n = z - V(rounder<V>);
        V const first = simd::fnma(n, V(1.57079637e+00f), x);
        V const second = simd::fnma(n, V(-4.37113883e-08f), first);
        return {z, simd::fnma(n, V(-1.71512489e-15f), second), V(0.f)};
    } else {
        using D = pack<double, U>;
        D const wide = simd::convert<double>(x);
        D const n = simd::fma(wide, D(0.63661977236758134308), D(rounder<D>)) - D(rounder<D>);
        D const r = (wide - n * D(1.57079632673412561417e+00)) - n * D(6.07710050650619224932e-11);
        return {simd::convert<float>(n) + V(rounder<V>), simd::convert<float>(r), V(0.f)};
    }
}

/// sin(r + r_low) and cos(r + r_low) for a reduced argument; minimax (float 2^-28 and 2^-33, double 2^-58 and 2^-64).
template <class V>
CALQUE_INLINE V sin_of_reduced(V r, V r_low) {
    V const z = r * r;
    if constexpr (is_float<V>) {
        return simd::fma(polynomial(z, -1.9504313e-4f, 8.332083e-3f, -1.6666654e-1f), z * r, r);
    } else {
        V const p = polynomial(z, 1.5890317985242383e-10, -2.5050648009552005e-08, 2.7557313001451007e-06,
                               -0.00019841269827862017, 0.00833333333332005, -0.16666666666666624);
        return r + simd::fma(p, z * r, simd::fnma(V(0.5) * z, r_low, r_low));
    }
}

template <class V>
CALQUE_INLINE V cos_of_reduced(V r, V r_low) {
    using T = element_of<V>;
    V const z = r * r;
    V const one(T(1)), half_square = V(T(0.5)) * z;
    V const rounded = one - half_square;
    V const lost = (one - rounded) - half_square;
    if constexpr (is_float<V>) {
        V const p = polynomial(z, 2.442392e-5f, -1.3887243e-3f, 4.1666646e-2f);
        return rounded + simd::fma(p, z * z, lost);
    } else {
        V const p = polynomial(z, -1.1355204984282141e-11, 2.087563882817126e-09, -2.755731374308462e-07,
                               2.4801587287422932e-05, -0.0013888888888870922, 0.04166666666666658);
        return rounded + (simd::fma(p, z * z, lost) - r * r_low);
    }
}

/// sin(x + quadrant pi/2).
template <int Quadrant, class T, int U>
CALQUE_INLINE pack<T, U> sin_from_quadrant(pack<T, U> x) {
    using B = pack<simd::unsigned_of<T>, U>;
    using V = pack<T, U>;
    auto const [n_plus_rounder, r, r_low] = reduce_angle(x);
    B const quadrant = simd::bits_as<simd::unsigned_of<T>>(n_plus_rounder) + B(Quadrant);
    V const sine = sin_of_reduced(r, r_low), cosine = cos_of_reduced(r, r_low);
    V const magnitude = select_if<comparison::equal>(quadrant & B(1), B(0), sine, cosine);
    B const sign = (quadrant & B(2)) << B(8 * sizeof(T) - 2);
    return simd::bits_as<T>(simd::bits_as<simd::unsigned_of<T>>(magnitude) ^ sign);
}

/// `even` or `odd`, as the number of quadrants is.
template <class T, int U>
CALQUE_INLINE pack<T, U> select_by_parity(pack<T, U> n_plus_rounder, pack<T, U> even, pack<T, U> odd) {
    using B = pack<simd::unsigned_of<T>, U>;
    B const bit = simd::bits_as<simd::unsigned_of<T>>(n_plus_rounder) & B(1);
    return select_if<comparison::equal>(bit, B(0), even, odd);
}

} // namespace detail

template <class V>
CALQUE_INLINE V sin(V x) {
    using T = detail::element_of<V>;
    V result = detail::sin_from_quadrant<0>(x);
    auto const is_huge = abs(x) > V(detail::largest_reducible<V>);
    if (any(is_huge)) [[unlikely]] {
        auto const each = detail::element_by_element(x, [](T e) { return static_cast<T>(std::sin(double(e))); });
        result = select(is_huge, each, result);
    }
    return select_if<simd::comparison::equal>(x, V(T(0)), x, result); // the sign of -0
}

template <class V>
CALQUE_INLINE V cos(V x) {
    using T = detail::element_of<V>;
    V result = detail::sin_from_quadrant<1>(x);
    auto const is_huge = abs(x) > V(detail::largest_reducible<V>);
    if (any(is_huge)) [[unlikely]] {
        auto const each = detail::element_by_element(x, [](T e) { return static_cast<T>(std::cos(double(e))); });
        result = select(is_huge, each, result);
    }
    return result;
}

/// sin / cos of the reduced argument r, or -cos / sin, which is tan(r + pi/2).
template <class V>
CALQUE_INLINE V tan(V x) {
    using namespace detail;
    using T = element_of<V>;
    auto const [n_plus_rounder, r, r_low] = reduce_angle(x);
    V const sine = sin_of_reduced(r, r_low), cosine = cos_of_reduced(r, r_low);
    V result = select_by_parity(n_plus_rounder, sine, cosine) / select_by_parity(n_plus_rounder, cosine, -sine);
    auto const is_huge = abs(x) > V(largest_reducible<V>);
    if (any(is_huge)) [[unlikely]] {
        auto const each = element_by_element(x, [](T e) { return static_cast<T>(std::tan(double(e))); });
        result = select(is_huge, each, result);
    }
    return select_if<comparison::equal>(x, V(T(0)), x, result); // the sign of -0
}

} // namespace math
} // namespace v0
} // namespace calque
