// SPDX-License-Identifier: MIT
// Unrolling by expansion: g++ keeps an array of registers in registers only if every index is a constant.
#pragma once

#include <calque/core/config.hpp>

#include <type_traits>
#include <utility>

namespace calque {
inline namespace v0 {
namespace simd {

/// Calls `f(i...)` once, with the constants 0 to N - 1.
template <int N, class F>
CALQUE_INLINE decltype(auto) indices(F&& f) {
    return [&]<int... I>(std::integer_sequence<int, I...>) CALQUE_INLINE_LAMBDA -> decltype(auto) {
        return f(std::integral_constant<int, I>{}...);
    }(std::make_integer_sequence<int, N>{});
}

/// Calls `f(i)` for the constants i = 0 to N - 1, in order: a `for` whose index can be a template argument.
template <int N, class F>
CALQUE_INLINE void unroll(F&& f) {
    [&]<int... I>(std::integer_sequence<int, I...>)
        CALQUE_INLINE_LAMBDA { (f(std::integral_constant<int, I>{}), ...); }(std::make_integer_sequence<int, N>{});
}

} // namespace simd
} // namespace v0
} // namespace calque
