// SPDX-License-Identifier: MIT
// Unrolling over the steps of a kernel, of which there may be thousands.
#pragma once

#include <calque/core/config.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// The constants of chunk `Chunk` of `Size` steps, counted from its first.
template <int Size, int Chunk>
using steps_of_chunk =
    std::make_integer_sequence<int, std::min(thresholds::unrolled_steps, Size - Chunk * thresholds::unrolled_steps)>;

/// The chunks of `Size` steps.
template <int Size>
using chunks_of = std::make_integer_sequence<int, (Size + thresholds::unrolled_steps - 1) / thresholds::unrolled_steps>;

template <int First, class F, int... I>
CALQUE_INLINE void unroll_chunk(F& f, std::integer_sequence<int, I...>) {
    (f(std::integral_constant<int, First + I>{}), ...);
}

template <int First, int Size, class F, int... Chunk>
CALQUE_INLINE void unroll_chunks(F& f, std::integer_sequence<int, Chunk...>) {
    (unroll_chunk<First + Chunk * thresholds::unrolled_steps>(f, steps_of_chunk<Size, Chunk>{}), ...);
}

} // namespace detail

/// Calls `f(i)` for the constants i = First to Last - 1, in order; in chunks, which compile faster than one long body,
/// and of which one function calls all: one that called the next would be optimized again with each before it.
template <int First, int Last, class F>
CALQUE_INLINE void unroll_steps(F&& f) {
    constexpr int size = Last - First;
    if constexpr (size > thresholds::unrolled_steps) {
        detail::unroll_chunks<First, size>(f, detail::chunks_of<size>{});
    } else if constexpr (size > 0) {
        detail::unroll_chunk<First>(f, std::make_integer_sequence<int, size>{});
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
    (f(std::integral_constant<int, List.model[First + I]>{}, List.at[First + I]), ...);
}

template <auto const& List, class F, int... Chunk>
CALQUE_INLINE void unroll_models_of_chunks(F& f, std::integer_sequence<int, Chunk...>) {
    (unroll_models_of_chunk<List, Chunk * thresholds::unrolled_steps>(f, steps_of_chunk<List.size, Chunk>{}), ...);
}

} // namespace detail

/// Calls `f(model, step)` for the steps of a `modelled_list`, in order: `model` is a constant, so that `f` is
/// instantiated for each model, not for each of thousands of steps.
template <auto const& List, class F>
CALQUE_INLINE void unroll_models([[maybe_unused]] F&& f) {
    detail::unroll_models_of_chunks<List>(f, detail::chunks_of<List.size>{});
}

} // namespace kernels
} // namespace v0
} // namespace calque
