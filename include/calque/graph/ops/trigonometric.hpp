// SPDX-License-Identifier: MIT
// The trigonometric functions of radians, the hyperbolic ones, and their inverses, elementwise, on floating dtypes.
#pragma once

#include <calque/graph/ops/functions.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace graph::ops {

struct sin : floating_function {
    static constexpr std::string_view name = "sin";
    static constexpr int cost = 20;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::sin(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy * graph::cos(x); }
};

struct cos : floating_function {
    static constexpr std::string_view name = "cos";
    static constexpr int cost = 20;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::cos(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return -(dy * graph::sin(x)); }
};

struct tan : floating_function {
    static constexpr std::string_view name = "tan";
    static constexpr int cost = 30;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::tan(x);
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return dy * (1 + graph::square(y)); }
};

/// From -pi/2 to pi/2; NaN beyond 1.
struct asin : floating_function {
    static constexpr std::string_view name = "asin";
    static constexpr int cost = 30;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::asin(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy / graph::sqrt((1 - x) * (1 + x)); }
};

/// From 0 to pi; NaN beyond 1.
struct acos : floating_function {
    static constexpr std::string_view name = "acos";
    static constexpr int cost = 30;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::acos(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return -(dy / graph::sqrt((1 - x) * (1 + x))); }
};

/// From -pi/2 to pi/2.
struct atan : floating_function {
    static constexpr std::string_view name = "atan";
    static constexpr int cost = 35;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::atan(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy / (1 + graph::square(x)); }
};

/// The angle of the point (x, y), the second input being x: from -pi to pi, with the special cases of C's atan2.
struct atan2 : elementwise<2> {
    static constexpr std::string_view name = "atan2";
    static constexpr dtype_set accepts = dtype_set::floating;
    static constexpr int cost = 55;

    template <class V>
    static CALQUE_INLINE V apply(V y, V x) {
        return math::atan2(y, x);
    }
    static constexpr auto vjp(auto dy, auto y, auto x, auto /*angle*/) {
        auto const scaled = dy / (graph::square(x) + graph::square(y));
        return std::array{scaled * x, -(scaled * y)};
    }
};

struct sinh : floating_function {
    static constexpr std::string_view name = "sinh";
    static constexpr int cost = 30;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::sinh(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy * graph::cosh(x); }
};

struct cosh : floating_function {
    static constexpr std::string_view name = "cosh";
    static constexpr int cost = 25;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::cosh(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy * graph::sinh(x); }
};

struct tanh : floating_function {
    static constexpr std::string_view name = "tanh";
    static constexpr int cost = 18;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::tanh(x);
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return dy * (1 - graph::square(y)); }
};

struct asinh : floating_function {
    static constexpr std::string_view name = "asinh";
    static constexpr int cost = 55;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::asinh(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy / graph::sqrt(graph::square(x) + 1); }
};

/// Not negative; NaN below 1.
struct acosh : floating_function {
    static constexpr std::string_view name = "acosh";
    static constexpr int cost = 60;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::acosh(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy / graph::sqrt((x - 1) * (x + 1)); }
};

/// NaN beyond 1.
struct atanh : floating_function {
    static constexpr std::string_view name = "atanh";
    static constexpr int cost = 50;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::atanh(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy / ((1 - x) * (1 + x)); }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
