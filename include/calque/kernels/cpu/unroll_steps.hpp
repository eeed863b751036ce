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

template <int First, int Size, class Chunks = chunks_of<Size>>
struct step_unroller;
template <int First, int Size, int... Chunk>
struct step_unroller<First, Size, std::integer_sequence<int, Chunk...>> {
    template <class F>
    CALQUE_INLINE void operator()([[maybe_unused]] F&& f) const {
        (unroll_chunk<First + Chunk * thresholds::unrolled_steps>(f, steps_of_chunk<Size, Chunk>{}), ...);
    }
};

} // namespace detail

/// Calls `f(i)` for the constants i = First to Last - 1, in order: `unroll_steps<0, 9>(f)`. In chunks, which compile
/// faster than one long body, and of which one function calls all: one that called the next would be optimized again
/// with each before it. (For the same reason an object, not a function around that one.)
template <int First, int Last>
inline constexpr detail::step_unroller<First, Last - First> unroll_steps{};

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

/// These steps with their models; `are_alike(i, j)`: whether two of them have the same code.
template <int N>
constexpr modelled_list<N> with_models(step_list<N> const& steps, auto are_alike) {
    modelled_list<N> list;
    int models[N == 0 ? 1 : N]{};
    int model_count = 0;
    for (; list.size < steps.size; ++list.size) {
        int const i = steps.at[list.size];
        int k = 0;
        while (k != model_count && !are_alike(models[k], i)) {
            ++k;
        }
        if (k == model_count) {
            models[model_count++] = i;
        }
        list.at[list.size] = i;
        list.model[list.size] = models[k];
    }
    return list;
}

namespace detail {

template <auto const& List, int First, class F, int... I>
CALQUE_INLINE void unroll_models_of_chunk(F& f, std::integer_sequence<int, I...>) {
    (f(std::integral_constant<int, List.model[First + I]>{}, List.at[First + I]), ...);
}

template <auto const& List, class Chunks = chunks_of<List.size>>
struct model_unroller;
template <auto const& List, int... Chunk>
struct model_unroller<List, std::integer_sequence<int, Chunk...>> {
    template <class F>
    CALQUE_INLINE void operator()([[maybe_unused]] F&& f) const {
        (unroll_models_of_chunk<List, Chunk * thresholds::unrolled_steps>(f, steps_of_chunk<List.size, Chunk>{}), ...);
    }
};

} // namespace detail

/// Calls `f(model, step)` for the steps of a `modelled_list`, in order: `unroll_models<list>(f)`. `model` is a
/// constant, so that `f` is instantiated for each model, not for each of thousands of steps.
template <auto const& List>
inline constexpr detail::model_unroller<List> unroll_models{};

} // namespace kernels
} // namespace v0
} // namespace calque
