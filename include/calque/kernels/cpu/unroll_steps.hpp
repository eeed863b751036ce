// SPDX-License-Identifier: MIT
// Unrolling over the steps of a kernel, of which there may be thousands.
#pragma once

#include <calque/core/config.hpp>

#include <type_traits>
#include <utility>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

template <int First, class F, int... I>
CALQUE_INLINE void unroll_chunk(F& f, std::integer_sequence<int, I...>) {
    // An initializer list is evaluated in order, and unlike a fold expression it has no limit on its length.
    [[maybe_unused]] int const order[] = {0, ((void)f(std::integral_constant<int, First + I>{}), 0)...};
}

} // namespace detail

/// Calls `f(i)` for the constants i = First to Last - 1, in order; in chunks, which compile faster than one long body.
template <int First, int Last, class F>
CALQUE_INLINE void unroll_steps(F&& f) {
    constexpr int chunk = 64;
    if constexpr (Last - First <= chunk) {
        detail::unroll_chunk<First>(f, std::make_integer_sequence<int, (Last > First ? Last - First : 0)>{});
    } else {
        detail::unroll_chunk<First>(f, std::make_integer_sequence<int, chunk>{});
        unroll_steps<First + chunk, Last>(f);
    }
}

} // namespace kernels
} // namespace v0
} // namespace calque
