// SPDX-License-Identifier: MIT
// The square root and its reciprocal.
#pragma once

#include <calque/kernels/cpu/math_tools.hpp>

namespace calque {
inline namespace v0 {
namespace math {

/// Correctly rounded.
template <class V>
CALQUE_INLINE V sqrt(V x) {
    return simd::sqrt(x);
}

template <int OfFour, class V>
CALQUE_INLINE V sqrt_in_turns(V x) {
    return simd::sqrt_in_turns<OfFour>(x);
}

/// By Newton's steps from an estimate of 14 bits, where there is an instruction for it: with the term of second order
/// to 42 bits, of doubles once more. Elsewhere a division by the root, which is rounded twice.
template <class V>
CALQUE_INLINE V rsqrt(V x) {
    if constexpr (requires { simd::rsqrt_estimate(x); }) {
        using T = detail::element_of<V>;
        V const one(T(1)), half(T(0.5));
        V const estimate = simd::rsqrt_estimate(x);
        V const rest = simd::fnma(x * estimate, estimate, one);
        V y = simd::fma(estimate * rest, simd::fma(rest, V(T(0.375)), half), estimate);
        if constexpr (!detail::is_float<V>) {
            y = simd::fma(half * y, simd::fnma(x * y, y, one), y);
        }
        return select_if<simd::comparison::equal>(rest, rest, y, estimate); // that of zeros and infinity is exact
    } else {
        return V(1) / simd::sqrt(x);
    }
}

} // namespace math
} // namespace v0
} // namespace calque
