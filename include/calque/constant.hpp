// SPDX-License-Identifier: MIT
// Arguments that are part of a function's type: `constant<value>`, and choices among a declared set of them.
#pragma once

#include <calque/core/error.hpp>
#include <calque/core/text.hpp>

#include <cstdint>
#include <type_traits>

namespace calque {
inline namespace v0 {

/// The type of `constant<Value>`.
template <auto Value>
struct constant_type {
    static constexpr auto value = Value;
    using value_type = std::remove_cv_t<decltype(Value)>;

    constexpr operator value_type() const { return Value; }
};

/// A value that the compiler knows, as an argument of a traced function: `f(calque::constant<3>, x)`. In the body it is
/// a C++ constant, for `if constexpr`, template arguments and extents; another value is another function.
template <auto Value>
inline constexpr constant_type<Value> constant{};

namespace detail {

/// `Values`: of one integer or enumeration type.
template <auto... Values>
[[noreturn]] CALQUE_COLD void throw_not_declared(std::int64_t value) {
    text message;
    message << "calque: with_constant: " << value << " is none of";
    ((message << ' ' << static_cast<std::int64_t>(Values)), ...);
    throw signature_error(message.string());
}

} // namespace detail

/// Calls `fn(constant<V>)` for the one of `Values...` that `value`, which only the run knows, is equal to. All of them
/// are compiled. Throws `signature_error` if it is none.
///
/// ```cpp
/// auto y = calque::with_constant<kind::mean, kind::sum>(k, [&](auto chosen) { return f(chosen, x); });
/// ```
template <auto First, auto... Values, class Fn>
decltype(auto) with_constant(std::type_identity_t<std::remove_cv_t<decltype(First)>> value, Fn&& fn) {
    static_assert((std::is_same_v<decltype(First), decltype(Values)> && ...),
                  "calque: with_constant takes values of one type");
    if (value == First) {
        return fn(constant<First>);
    }
    if constexpr (sizeof...(Values) != 0) {
        bool const is_declared = ((value == Values) || ...);
        if (is_declared) {
            return with_constant<Values...>(value, fn);
        }
    }
    detail::throw_not_declared<First, Values...>(static_cast<std::int64_t>(value));
}

} // namespace v0
} // namespace calque
