// SPDX-License-Identifier: MIT
// What networks apply to each element, composed of elementwise functions, so that fusion makes one kernel of them. The
// dtype is float or double. (`relu`, `sigmoid`, `tanh` and `softplus` are operations of their own.)
#pragma once

#include <calque/trace/elementwise.hpp>

#include <numbers>

namespace calque {
inline namespace v0 {

/// x times the probability that a standard normal number is less: x erfc(-x / sqrt(2)) / 2, without cancellation.
///
/// (D. Hendrycks, K. Gimpel, "Gaussian error linear units", 2016; `gelu_tanh` is their approximation, off by 5e-4.)
template <handle X>
constexpr auto gelu(X const& x) {
    return detail::in_float(x, [](auto const& v) { return v * 0.5 * erfc(v * (-0.5 * std::numbers::sqrt2)); });
}

/// x (1 + tanh(u)) / 2 = x sigmoid(2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3).
template <handle X>
constexpr auto gelu_tanh(X const& x) {
    return detail::in_float(x, [](auto const& v) {
        constexpr double slope = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
        return v * sigmoid(v * (square(v) * (slope * 0.044715) + slope));
    });
}

/// x sigmoid(x).
template <handle X>
constexpr auto silu(X const& x) {
    return detail::in_float(x, [](auto const& v) { return v * sigmoid(v); });
}

/// x where it is positive, else scale (exp(x) - 1). (exp sees no positive x: its derivative would overflow.)
template <handle X, operand Scale = double>
constexpr auto elu(X const& x, Scale const& scale = 1) {
    auto const is_positive = x > 0;
    return where(is_positive, x, scale * expm1(where(is_positive, 0, x)));
}

/// x where it is positive, else slope x.
template <handle X, operand Slope = double>
constexpr auto leaky_relu(X const& x, Slope const& slope = 0.01) {
    return where(x > 0, x, slope * x);
}

} // namespace v0
} // namespace calque
