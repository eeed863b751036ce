// SPDX-License-Identifier: MIT
// Roots, exponentials, logarithms and what is made of them, elementwise, on floating dtypes. tests/math_test.cpp
// measures and bounds their errors in ULP.
#pragma once

#include <calque/graph/math.hpp>
#include <calque/graph/op.hpp>

#include <array>
#include <numbers>
#include <type_traits>

namespace calque {
inline namespace v0 {
namespace graph::ops {

struct floating_function : elementwise<1> {
    static constexpr dtype_set accepts = dtype_set::floating;
};

struct sqrt : floating_function {
    static constexpr std::string_view name = "sqrt";
    static constexpr int cost = 10;
    static constexpr bool uses_divider = true;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::sqrt(x);
    }
    template <int OfFour, class V>
    static CALQUE_INLINE V apply_in_turns(V x) {
        return math::sqrt_in_turns<OfFour>(x);
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return dy * 0.5 / y; }
};

/// 1 / sqrt(x).
struct rsqrt : floating_function {
    static constexpr std::string_view name = "rsqrt";
    static constexpr int cost = 20;
    static constexpr bool uses_divider = true;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::rsqrt(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto y) { return dy * -0.5 * y / x; }
};

/// The cube root, negative of negative numbers.
struct cbrt : floating_function {
    static constexpr std::string_view name = "cbrt";
    static constexpr int cost = 35;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::cbrt(x);
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return dy / (3 * graph::square(y)); }
};

struct exp : floating_function {
    static constexpr std::string_view name = "exp";
    static constexpr int cost = 15;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::exp(x);
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return dy * y; }
};

/// 2 to the power x.
struct exp2 : floating_function {
    static constexpr std::string_view name = "exp2";
    static constexpr int cost = 14;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::exp2(x);
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return dy * std::numbers::ln2 * y; }
};

/// exp(x) - 1, accurate near 0.
struct expm1 : floating_function {
    static constexpr std::string_view name = "expm1";
    static constexpr int cost = 20;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::expm1(x);
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return dy * (y + 1); }
};

struct log : floating_function {
    static constexpr std::string_view name = "log";
    static constexpr int cost = 25;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::log(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy / x; }
};

/// The logarithm to base 2.
struct log2 : floating_function {
    static constexpr std::string_view name = "log2";
    static constexpr int cost = 30;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::log2(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy * std::numbers::log2e / x; }
};

/// log(1 + x), accurate near 0.
struct log1p : floating_function {
    static constexpr std::string_view name = "log1p";
    static constexpr int cost = 25;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::log1p(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy / (x + 1); }
};

/// The logistic function 1 / (1 + exp(-x)).
struct sigmoid : floating_function {
    static constexpr std::string_view name = "sigmoid";
    static constexpr int cost = 26;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::sigmoid(x);
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return dy * (y * (1 - y)); }
};

/// log(1 + exp(x)), without overflow.
struct softplus : floating_function {
    static constexpr std::string_view name = "softplus";
    static constexpr int cost = 45;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::maximum(x, typename V::value_type(0)) + math::log1p(math::exp(-math::abs(x)));
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return dy * graph::sigmoid(x); }
};

/// max(x, 0), and NaN of NaN. Its derivative at 0 is 0.
struct relu : elementwise<1> {
    static constexpr std::string_view name = "relu";
    static constexpr dtype_set accepts = dtype_set::numbers;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        V const zero(typename V::value_type(0));
        if constexpr (std::is_floating_point_v<typename V::value_type>) {
            return max_or_second(zero, x); // NaN and -0 stay what they are
        } else {
            return select(x < zero, zero, x);
        }
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return graph::where(y > 0, dy, zero_of(dy)); }
};

/// The error function.
struct erf : floating_function {
    static constexpr std::string_view name = "erf";
    static constexpr int cost = 25;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::erf(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) {
        return dy * (2 * std::numbers::inv_sqrtpi) * graph::exp(-graph::square(x));
    }
};

/// 1 - erf(x), without cancellation.
struct erfc : floating_function {
    static constexpr std::string_view name = "erfc";
    static constexpr int cost = 60;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return math::erfc(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) {
        return dy * (-2 * std::numbers::inv_sqrtpi) * graph::exp(-graph::square(x));
    }
};

/// x to the power y.
struct pow : elementwise<2> {
    static constexpr std::string_view name = "pow";
    static constexpr dtype_set accepts = dtype_set::floating;
    static constexpr int cost = 60;

    template <class V>
    static CALQUE_INLINE V apply(V x, V y) {
        return math::pow(x, y);
    }
    /// d/dx is y x^(y-1), and 0 for y = 0; d/dy is x^y log x, and 0 where x = 0.
    static constexpr auto vjp(auto dy, auto x, auto y, auto result) {
        auto const dx = graph::where(y == 0, zero_of(dy), dy * y * graph::pow(x, y - 1));
        return std::array{dx, dy * graph::where(x == 0, zero_of(result), result * graph::log(x))};
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
