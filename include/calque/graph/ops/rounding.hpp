// SPDX-License-Identifier: MIT
// Rounding to integers, remainders and signs, elementwise. Steps have the derivative 0: it is left out.
#pragma once

#include <calque/graph/math.hpp>
#include <calque/graph/ops/functions.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace graph::ops {

/// The greatest integer that is not greater.
struct floor : floating_function {
    static constexpr std::string_view name = "floor";

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::floor(x);
    }
};

/// The least integer that is not less.
struct ceil : floating_function {
    static constexpr std::string_view name = "ceil";

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::ceil(x);
    }
};

/// The nearest integer, of two the even one.
struct round : floating_function {
    static constexpr std::string_view name = "round";

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::round(x);
    }
};

/// The integer next to it towards zero.
struct trunc : floating_function {
    static constexpr std::string_view name = "trunc";

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::trunc(x);
    }
};

/// -1, 0 or 1; a zero keeps its sign, and NaN stays NaN.
struct sign : elementwise<1> {
    static constexpr std::string_view name = "sign";
    static constexpr dtype_set accepts = dtype_set::numbers;
    static constexpr int cost = 4;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::sign(x);
    }
};

/// x - y trunc(x / y), exactly: the remainder with the sign of x.
struct fmod : elementwise<2> {
    static constexpr std::string_view name = "fmod";
    static constexpr dtype_set accepts = dtype_set::numbers;
    static constexpr int cost = 30;

    template <class V>
    static CALQUE_INLINE V apply(V x, V y) {
        return math::fmod(x, y);
    }
    /// d/dy is minus the truncated quotient. (x / y itself may be rounded up to the next integer.)
    static constexpr auto vjp(auto dy, auto x, auto y, auto result) {
        return std::array{dy, -(dy * graph::round((x - result) / y))};
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
