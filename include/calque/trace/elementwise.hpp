// SPDX-License-Identifier: MIT
// Elementwise operators and functions on traced arrays. Operands broadcast as in NumPy; numbers take the array's dtype.
#pragma once

#include <calque/trace/apply.hpp>

namespace calque {
inline namespace v0 {

#define CALQUE_UNARY(name, operation)                                                                                  \
    template <handle X>                                                                                                \
    constexpr auto name(X const& x) {                                                                                  \
        return detail::apply_elementwise<graph::ops::operation>(x);                                                    \
    }
#define CALQUE_BINARY(name, operation)                                                                                 \
    template <operand X, operand Y>                                                                                    \
        requires(handle<X> || handle<Y>)                                                                               \
    constexpr auto name(X const& x, Y const& y) {                                                                      \
        return detail::apply_elementwise<graph::ops::operation>(x, y);                                                 \
    }

CALQUE_BINARY(operator+, add)
CALQUE_BINARY(operator-, subtract)
CALQUE_BINARY(operator*, multiply)
CALQUE_BINARY(operator/, divide)
CALQUE_BINARY(operator%, remainder)
CALQUE_UNARY(operator-, negative)

CALQUE_BINARY(operator==, equal)
CALQUE_BINARY(operator!=, not_equal)
CALQUE_BINARY(operator<, less)
CALQUE_BINARY(operator<=, less_equal)
CALQUE_BINARY(operator>, greater)
CALQUE_BINARY(operator>=, greater_equal)

/// Both, either, not: on bool arrays. `&&` and `||` would evaluate both sides all the same.
CALQUE_BINARY(operator&, logical_and)
CALQUE_BINARY(operator|, logical_or)
CALQUE_BINARY(operator&&, logical_and)
CALQUE_BINARY(operator||, logical_or)
CALQUE_UNARY(operator!, logical_not)
CALQUE_BINARY(logical_and, logical_and)
CALQUE_BINARY(logical_or, logical_or)
CALQUE_UNARY(logical_not, logical_not)

/// Each is documented where it is defined: graph/ops/arithmetic.hpp and graph/ops/functions.hpp.
CALQUE_UNARY(abs, abs)
CALQUE_UNARY(square, square)
CALQUE_UNARY(sqrt, sqrt)
CALQUE_UNARY(rsqrt, rsqrt)
CALQUE_UNARY(exp, exp)
CALQUE_UNARY(expm1, expm1)
CALQUE_UNARY(log, log)
CALQUE_UNARY(log1p, log1p)
CALQUE_UNARY(tanh, tanh)
CALQUE_UNARY(sigmoid, sigmoid)
CALQUE_UNARY(relu, relu)
CALQUE_UNARY(sin, sin)
CALQUE_UNARY(cos, cos)
CALQUE_UNARY(erf, erf)
CALQUE_BINARY(pow, pow)
CALQUE_BINARY(minimum, minimum)
CALQUE_BINARY(maximum, maximum)

/// The same value, through which `grad` sees a constant.
CALQUE_UNARY(stop_gradient, stop_gradient)

#undef CALQUE_UNARY
#undef CALQUE_BINARY

/// `x` where `condition` is true, else `y`; all three broadcast.
template <operand X, operand Y>
constexpr auto where(expr<bool> const& condition, X const& x, Y const& y) {
    using T = detail::common_element_t<graph::ops::where, X, Y>;
    detail::meeting const at(condition, x, y);
    return at.wrap<expr<T>>(graph::where(at.import <bool>(condition), at.import <T>(x), at.import <T>(y)));
}

/// The same values as dtype `T`, converted as static_cast does it.
template <element T, handle X>
constexpr expr<T> cast(X const& x) {
    detail::meeting const at(x);
    return at.wrap<expr<T>>(at.import <T>(x));
}

} // namespace v0
} // namespace calque
