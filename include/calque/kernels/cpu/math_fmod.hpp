// SPDX-License-Identifier: MIT
// fmod: the remainder of a division that truncates, exactly.
#pragma once

#include <calque/kernels/cpu/math_tools.hpp>
#include <calque/kernels/cpu/pack_integer.hpp>

#include <cmath>

namespace calque {
inline namespace v0 {
namespace math {
namespace detail {

/// |x| mod |y| for quotients that have no more bits than a significand.
///
/// The truncated quotient n is right, or 1 too large where division rounded up to an integer. n y is exact in two words
/// and so is |x| - n y, a multiple of y's last place that is no larger than y; it is negative where n was too large.
template <class V>
CALQUE_INLINE V remainder_of_magnitudes(V x, V y) {
    auto const product = two_product(simd::trunc(x / y), y);
    V const rest = (x - product.high) - product.low;
    return select_if<comparison::less>(rest, V(element_of<V>(0)), rest + y, rest);
}

} // namespace detail

/// Floats with a quotient of more bits go through the standard library, whose result is exact too.
template <class V>
CALQUE_INLINE V fmod(V x, V y) {
    using namespace detail;
    using T = element_of<V>;
    if constexpr (std::integral<T>) {
        return x % y;
    } else {
        // Without a fused multiply-add, halves of huge numbers overflow, so that these take the other way as well.
        constexpr T most = simd::has_fused_multiply ? std::numeric_limits<T>::max()
                                                    : std::numeric_limits<T>::max() * std::numeric_limits<T>::epsilon();
        V const zero(T(0)), a = simd::abs(x), b = simd::abs(y);
        V result = remainder_of_magnitudes(a, b);
        V const nan(std::numeric_limits<T>::quiet_NaN()), infinity(std::numeric_limits<T>::infinity());
        auto const is_hard = !((a / b < V(T(1) / std::numeric_limits<T>::epsilon())) & (a <= V(most)) & (b <= V(most)));
        auto const is_number = (a < infinity) & (b <= infinity) & (b != zero);
        if (any(is_hard & is_number)) [[unlikely]] {
            auto const each = element_by_element(a, b, [](T e, T divisor) { return std::fmod(e, divisor); });
            result = select(is_hard, each, result);
        }
        return copysign(select(is_number, result, nan), x);
    }
}

} // namespace math
} // namespace v0
} // namespace calque
