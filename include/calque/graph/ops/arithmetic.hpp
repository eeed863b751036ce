// SPDX-License-Identifier: MIT
// Arithmetic, elementwise. Integers wrap around; integer division truncates as in C++, and x / 0 is 0.
#pragma once

#include <calque/graph/math.hpp>
#include <calque/graph/op.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace graph::ops {

struct add : elementwise<2> {
    static constexpr std::string_view name = "add";
    static constexpr dtype_set accepts = dtype_set::numbers;

    template <class V>
    static CALQUE_INLINE constexpr V apply(V x, V y) {
        return x + y;
    }
    static constexpr auto vjp(auto dy, auto /*a*/, auto /*b*/, auto /*y*/) { return std::array{dy, dy}; }
};

struct subtract : elementwise<2> {
    static constexpr std::string_view name = "subtract";
    static constexpr dtype_set accepts = dtype_set::numbers;

    template <class V>
    static CALQUE_INLINE constexpr V apply(V x, V y) {
        return x - y;
    }
    static constexpr auto vjp(auto dy, auto /*a*/, auto /*b*/, auto /*y*/) { return std::array{dy, -dy}; }
};

struct multiply : elementwise<2> {
    static constexpr std::string_view name = "multiply";
    static constexpr dtype_set accepts = dtype_set::numbers;

    template <class V>
    static CALQUE_INLINE constexpr V apply(V x, V y) {
        return x * y;
    }
    static constexpr auto vjp(auto dy, auto a, auto b, auto /*y*/) { return std::array{dy * b, dy * a}; }
};

struct divide : elementwise<2> {
    static constexpr std::string_view name = "divide";
    static constexpr dtype_set accepts = dtype_set::numbers;
    static constexpr int cost = 10;
    static constexpr bool uses_divider = true;

    template <class V>
    static CALQUE_INLINE constexpr V apply(V x, V y) {
        return x / y;
    }
    template <int OfFour, class V>
    static CALQUE_INLINE V apply_in_turns(V x, V y) {
        return math::divide_in_turns<OfFour>(x, y);
    }
    /// The same, of a y that all lanes have.
    template <class V>
    static CALQUE_INLINE V apply_by_uniform(V x, V y) {
        return math::divide_by_uniform(x, y);
    }
    static constexpr auto vjp(auto dy, auto /*a*/, auto b, auto y) {
        auto const da = dy / b;
        return std::array{da, -(da * y)};
    }
};

/// The remainder of the integer division that truncates, as in C++: it has the sign of the dividend.
struct remainder : elementwise<2> {
    static constexpr std::string_view name = "remainder";
    static constexpr dtype_set accepts = dtype_set::integers;
    static constexpr int cost = 20;

    template <class V>
    static CALQUE_INLINE constexpr V apply(V x, V y) {
        return x % y;
    }
};

struct negative : elementwise<1> {
    static constexpr std::string_view name = "negative";
    static constexpr dtype_set accepts = dtype_set::numbers;

    template <class V>
    static CALQUE_INLINE constexpr V apply(V x) {
        return -x;
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto /*y*/) { return -dy; }
};

/// The absolute value. Its derivative at 0 is 0.
struct abs : elementwise<1> {
    static constexpr std::string_view name = "abs";
    static constexpr dtype_set accepts = dtype_set::numbers;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::abs(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) {
        return graph::where(x > 0, dy, graph::where(x < 0, -dy, zero_of(dy)));
    }
};

struct square : elementwise<1> {
    static constexpr std::string_view name = "square";
    static constexpr dtype_set accepts = dtype_set::numbers;

    template <class V>
    static CALQUE_INLINE constexpr V apply(V x) {
        return x * x;
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy * (x + x); }
};

/// The smaller of two numbers; NaN if one of them is NaN. Where they are equal, each gets half of the gradient.
struct minimum : elementwise<2> {
    static constexpr std::string_view name = "minimum";
    static constexpr dtype_set accepts = dtype_set::numbers;
    static constexpr int cost = 3;
    static constexpr bool takes_numbers = true;

    template <class X, class Y>
    static CALQUE_INLINE auto apply(X x, Y y) {
        return math::minimum(x, y);
    }
    static constexpr auto vjp(auto dy, auto a, auto b, auto /*y*/) {
        auto const share = graph::where(a == b, dy * 0.5, zero_of(dy));
        return std::array{graph::where(a < b, dy, share), graph::where(b < a, dy, share)};
    }
};

/// The larger of two numbers; NaN if one of them is NaN. Where they are equal, each gets half of the gradient.
struct maximum : elementwise<2> {
    static constexpr std::string_view name = "maximum";
    static constexpr dtype_set accepts = dtype_set::numbers;
    static constexpr int cost = 3;
    static constexpr bool takes_numbers = true;

    template <class X, class Y>
    static CALQUE_INLINE auto apply(X x, Y y) {
        return math::maximum(x, y);
    }
    static constexpr auto vjp(auto dy, auto a, auto b, auto /*y*/) {
        auto const share = graph::where(a == b, dy * 0.5, zero_of(dy));
        return std::array{graph::where(a > b, dy, share), graph::where(b > a, dy, share)};
    }
};

/// x * y + z with one rounding: what the contraction pass makes of a product that is used once, in a sum.
struct fma : elementwise<3> {
    static constexpr std::string_view name = "fma";
    static constexpr dtype_set accepts = dtype_set::floating;

    template <class V>
    static CALQUE_INLINE V apply(V x, V y, V z) {
        return math::fma(x, y, z);
    }
};

/// z - x * y with one rounding.
struct fnma : elementwise<3> {
    static constexpr std::string_view name = "fnma";
    static constexpr dtype_set accepts = dtype_set::floating;

    template <class V>
    static CALQUE_INLINE V apply(V x, V y, V z) {
        return math::fnma(x, y, z);
    }
};

/// x * y - z with one rounding.
struct fms : elementwise<3> {
    static constexpr std::string_view name = "fms";
    static constexpr dtype_set accepts = dtype_set::floating;

    template <class V>
    static CALQUE_INLINE V apply(V x, V y, V z) {
        return math::fms(x, y, z);
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
