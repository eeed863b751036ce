// SPDX-License-Identifier: MIT
// Unrolling over the steps of a kernel, of which there may be thousands.
#pragma once

#include <calque/core/config.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

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
    constexpr int chunk = thresholds::unrolled_steps;
    if constexpr (Last - First > chunk) {
        detail::unroll_chunk<First>(f, std::make_integer_sequence<int, chunk>{});
        unroll_steps<First + chunk, Last>(f);
    } else if constexpr (Last > First) {
        detail::unroll_chunk<First>(f, std::make_integer_sequence<int, Last - First>{});
    }
}

/// Some of `N` steps, in order.
template <int N>
struct step_list {
    int size = 0;
    int at[N == 0 ? 1 : N]{};
};

/// The steps, of `N`, for which `select(i)` holds.
template <int N>
constexpr step_list<N> list_steps(auto select) {
    step_list<N> list;
    for (int i = 0; i < N; ++i) {
        if (select(i)) {
            list.at[list.size++] = i;
        }
    }
    return list;
}

} // namespace kernels
} // namespace v0
} // namespace calque
