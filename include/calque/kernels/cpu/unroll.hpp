// SPDX-License-Identifier: MIT
// Unrolling by expansion: g++ keeps an array of registers in registers only if every index is a constant.
#pragma once

#include <calque/core/config.hpp>

#include <type_traits>
#include <utility>

namespace calque {
inline namespace v0 {
namespace simd {

namespace detail {

template <class Indices>
struct unroller;
template <int... I>
struct unroller<std::integer_sequence<int, I...>> {
    template <class F>
    CALQUE_INLINE void operator()([[maybe_unused]] F&& f) const {
        (f(std::integral_constant<int, I>{}), ...);
    }
};

template <class Indices>
struct indices_caller;
template <int... I>
struct indices_caller<std::integer_sequence<int, I...>> {
    template <class F>
    CALQUE_INLINE decltype(auto) operator()(F&& f) const {
        return f(std::integral_constant<int, I>{}...);
    }
};

} // namespace detail

// Both are objects, not functions that would make the indices first: each level of calls around the code of a kernel is
// compiled with all of that code.

/// Calls `f(i...)` once, with the constants 0 to N - 1: `indices<4>(f)`.
template <int N>
inline constexpr detail::indices_caller<std::make_integer_sequence<int, N>> indices{};

/// Calls `f(i)` for the constants i = 0 to N - 1, in order: a `for` whose index can be a template argument.
template <int N>
inline constexpr detail::unroller<std::make_integer_sequence<int, N>> unroll{};

} // namespace simd
} // namespace v0
} // namespace calque
