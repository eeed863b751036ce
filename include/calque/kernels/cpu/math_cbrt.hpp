// SPDX-License-Identifier: MIT
// The cube root.
#pragma once

#include <calque/kernels/cpu/math_tools.hpp>

namespace calque {
inline namespace v0 {
namespace math {

/// x = m 2^(3 k + j), j being -1, 0 or 1: 2^k times the root of c = m 2^j, by Newton's steps from c^(-1/3), the last
/// one with the cube in two words.
template <class V>
CALQUE_INLINE V cbrt(V x) {
    using namespace detail;
    using T = element_of<V>;
    V const zero(T(0)), third(T(1. / 3)), magnitude = simd::abs(x);
    auto const [m, exponent] = decompose(magnitude);
    V const k = simd::round_even(exponent * third);
    V const j = exponent - V(T(3)) * k;
    auto const by_j = [&](T below, T at, T above) CALQUE_INLINE_LAMBDA {
        return select_if<comparison::less>(j, zero, V(below), select_if<comparison::greater>(j, zero, V(above), V(at)));
    };
    V const c = m * by_j(T(0.5), T(1), T(2));
    // m^(-1/3), minimax (relative error 2^-17), times 2^(-j/3)
    V r = polynomial(m, T(-0.10805372322616762), T(0.7006938414410809), T(-1.8980603868338364), T(2.79215983891116),
                     T(-2.485906100251351), T(1.9991703828883762)) *
          by_j(T(1.2599210498948732), T(1), T(0.7937005259840998));
    if constexpr (!is_float<V>) {
        V const error = simd::fnma(c * r, r * r, V(T(1)));
        r = simd::fma(r * third, error, r);
    }
    V const y = c * (r * r);
    auto const square = two_product(y, y);
    auto const cube = two_product(square.high, y);
    V const rest = ((c - cube.high) - cube.low) - square.low * y;
    V const root = simd::fma(rest, r * r * third, y) * power_of_two(k + V(rounder<V>));
    V const is_regular =
        select_if<comparison::greater>(magnitude, zero, magnitude, V(std::numeric_limits<T>::infinity()));
    return select_if<comparison::less>(is_regular, V(std::numeric_limits<T>::infinity()), copysign(root, x), x);
}

} // namespace math
} // namespace v0
} // namespace calque
