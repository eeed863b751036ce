// SPDX-License-Identifier: MIT
// Elementwise operators and functions on traced arrays. Operands broadcast as in NumPy; numbers take the array's dtype.
#pragma once

#include <calque/trace/apply.hpp>

#include <limits>

namespace calque {
inline namespace v0 {

namespace detail {

/// Of an operation on integers and one on bool, that which the operands' dtype wants.
template <class Bits, class Logic, class... X>
using bits_or_logic = std::conditional_t<std::is_same_v<common_element_t<Bits, X...>, bool>, Logic, Bits>;

} // namespace detail

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
CALQUE_BINARY(operator&&, logical_and)
CALQUE_BINARY(operator||, logical_or)
CALQUE_UNARY(operator!, logical_not)
CALQUE_BINARY(logical_and, logical_and)
CALQUE_BINARY(logical_or, logical_or)
CALQUE_UNARY(logical_not, logical_not)

/// On bool arrays what `&&`, `||` and `!` are, on integers the same of each bit.
template <operand X, operand Y>
    requires(handle<X> || handle<Y>)
constexpr auto operator&(X const& x, Y const& y) {
    return detail::apply_elementwise<detail::bits_or_logic<graph::ops::bit_and, graph::ops::logical_and, X, Y>>(x, y);
}
template <operand X, operand Y>
    requires(handle<X> || handle<Y>)
constexpr auto operator|(X const& x, Y const& y) {
    return detail::apply_elementwise<detail::bits_or_logic<graph::ops::bit_or, graph::ops::logical_or, X, Y>>(x, y);
}
template <handle X>
constexpr auto operator~(X const& x) {
    return detail::apply_elementwise<detail::bits_or_logic<graph::ops::bit_not, graph::ops::logical_not, X>>(x);
}

/// Each is documented where it is defined: graph/ops/bits.hpp.
CALQUE_BINARY(operator^, bit_xor)
CALQUE_BINARY(operator<<, shift_left)
CALQUE_BINARY(operator>>, shift_right)

/// Each is documented where it is defined: graph/ops/arithmetic.hpp, functions.hpp, trigonometric.hpp, rounding.hpp.
CALQUE_UNARY(abs, abs)
CALQUE_UNARY(square, square)
CALQUE_UNARY(sqrt, sqrt)
CALQUE_UNARY(rsqrt, rsqrt)
CALQUE_UNARY(cbrt, cbrt)
CALQUE_UNARY(exp, exp)
CALQUE_UNARY(exp2, exp2)
CALQUE_UNARY(expm1, expm1)
CALQUE_UNARY(log, log)
CALQUE_UNARY(log2, log2)
CALQUE_UNARY(log1p, log1p)
CALQUE_UNARY(sigmoid, sigmoid)
CALQUE_UNARY(softplus, softplus)
CALQUE_UNARY(relu, relu)
CALQUE_UNARY(erf, erf)
CALQUE_UNARY(erfc, erfc)
CALQUE_UNARY(sin, sin)
CALQUE_UNARY(cos, cos)
CALQUE_UNARY(tan, tan)
CALQUE_UNARY(asin, asin)
CALQUE_UNARY(acos, acos)
CALQUE_UNARY(atan, atan)
CALQUE_BINARY(atan2, atan2)
CALQUE_UNARY(sinh, sinh)
CALQUE_UNARY(cosh, cosh)
CALQUE_UNARY(tanh, tanh)
CALQUE_UNARY(asinh, asinh)
CALQUE_UNARY(acosh, acosh)
CALQUE_UNARY(atanh, atanh)
CALQUE_BINARY(pow, pow)
CALQUE_BINARY(minimum, minimum)
CALQUE_BINARY(maximum, maximum)
CALQUE_UNARY(floor, floor)
CALQUE_UNARY(ceil, ceil)
CALQUE_UNARY(round, round)
CALQUE_UNARY(trunc, trunc)
CALQUE_UNARY(sign, sign)
CALQUE_BINARY(fmod, fmod)

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

/// Whether each element is NaN; infinite; neither.
template <handle X>
constexpr auto isnan(X const& x) {
    return x != x;
}
template <handle X>
constexpr auto isinf(X const& x) {
    return abs(x) == std::numeric_limits<double>::infinity();
}
template <handle X>
constexpr auto isfinite(X const& x) {
    return abs(x) < std::numeric_limits<double>::infinity();
}

/// 1 / x.
template <handle X>
constexpr auto reciprocal(X const& x) {
    detail::check_dtype<graph::ops::sqrt, typename X::value_type>();
    return 1 / x;
}

/// `x` between two bounds, which broadcast; where they are in the wrong order, the upper one. NaN stays NaN.
template <handle X, operand Low, operand High>
constexpr auto clip(X const& x, Low const& low, High const& high) {
    return minimum(maximum(x, low), high);
}

/// The same values as dtype `T`, converted as static_cast does it.
template <element T, handle X>
constexpr expr<T> cast(X const& x) {
    detail::meeting const at(x);
    return at.wrap<expr<T>>(at.import <T>(x));
}

} // namespace v0
} // namespace calque
