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

/// Some of `N` steps, in order, each with its model: the first of them whose code is the same.
template <int N>
struct modelled_list {
    int size = 0;
    int at[N == 0 ? 1 : N]{};
    int model[N == 0 ? 1 : N]{};
};

/// The steps, of `N`, for which `select(i)` holds; `are_alike(i, j)`: whether two of them have the same code.
template <int N>
constexpr modelled_list<N> list_with_models(auto select, auto are_alike) {
    modelled_list<N> list;
    int models[N == 0 ? 1 : N]{};
    int model_count = 0;
    for (int i = 0; i < N; ++i) {
        if (select(i)) {
            int k = 0;
            while (k != model_count && !are_alike(models[k], i)) {
                ++k;
            }
            if (k == model_count) {
                models[model_count++] = i;
            }
            list.at[list.size] = i;
            list.model[list.size++] = models[k];
        }
    }
    return list;
}

namespace detail {

template <auto const& List, int First, class F, int... I>
CALQUE_INLINE void unroll_models_of_chunk(F& f, std::integer_sequence<int, I...>) {
    [[maybe_unused]] int const order[] = {
        0, ((void)f(std::integral_constant<int, List.model[First + I]>{}, List.at[First + I]), 0)...};
}

} // namespace detail

/// Calls `f(model, step)` for the steps of a `modelled_list`, in order: `model` is a constant, so that `f` is
/// instantiated for each model, not for each of thousands of steps.
template <auto const& List, int First = 0, class F>
CALQUE_INLINE void unroll_models(F&& f) {
    constexpr int chunk = thresholds::unrolled_steps;
    constexpr int left = List.size - First;
    if constexpr (left > chunk) {
        detail::unroll_models_of_chunk<List, First>(f, std::make_integer_sequence<int, chunk>{});
        unroll_models<List, First + chunk>(f);
    } else if constexpr (left > 0) {
        detail::unroll_models_of_chunk<List, First>(f, std::make_integer_sequence<int, left>{});
    }
}

} // namespace kernels
} // namespace v0
} // namespace calque
