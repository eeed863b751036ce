// SPDX-License-Identifier: MIT
// Copies of elements that stand evenly spaced: one coordinate of points, one channel of an image, a row backwards.
//
// A few elements apart, or backwards, they come through permutations, a register at a time; else one by one.
#pragma once

#include <calque/core/shape.hpp>
#include <calque/kernels/cpu/pack_memory.hpp>
#include <calque/kernels/cpu/simd.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// A register of every `Step`th element from `from` on, of as many registers. Of an odd step no two elements stand in
/// one lane, so that they only have to be put in order; of an even one they are every second one of what half the step
/// has.
template <int Step, class T>
CALQUE_INLINE simd::reg<T> load_every(T const* from) {
    constexpr int lanes = simd::lanes<T>;
    if constexpr (Step == 1) {
        return simd::load(from);
    } else if constexpr (Step % 2 == 0) {
        simd::reg<T> const a = load_every<Step / 2>(from);
        simd::reg<T> const b = load_every<Step / 2>(from + Step / 2 * lanes);
        return simd::indices<lanes>(
            [&](auto... lane) CALQUE_INLINE_LAMBDA { return __builtin_shufflevector(a, b, (2 * lane.value)...); });
    } else {
        simd::reg<T> all = simd::load(from);
        simd::unroll<Step - 1>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int before = (k + 1) * lanes;
            simd::reg<T> const next = simd::load(from + before);
            all = simd::indices<lanes>([&](auto... lane) CALQUE_INLINE_LAMBDA {
                return __builtin_shufflevector(
                    all, next, ((before + lane.value) % Step == 0 ? lanes + lane.value : lane.value)...);
            });
        });
        return simd::indices<lanes>([&](auto... lane) CALQUE_INLINE_LAMBDA {
            return __builtin_shufflevector(all, all, (Step * lane.value % lanes)...);
        });
    }
}

/// Copies every `Step`th element, as many as whole registers make, and returns how many.
template <int Step, class T>
CALQUE_INLINE extent_t copy_every(T* to, T const* from, extent_t n) {
    constexpr int lanes = simd::lanes<T>;
    extent_t i = 0;
    for (; i + lanes < n; i += lanes) { // the last registers would end behind the last element
        simd::store(to + i, load_every<Step>(from + Step * i));
    }
    return i;
}

/// Copies elements backwards, from the last one at `from`: all of them, if they fill a register. Returns how many.
template <class T>
CALQUE_INLINE extent_t copy_backwards(T* to, T const* from, extent_t n) {
    constexpr int lanes = simd::lanes<T>;
    if (n < lanes) {
        return 0;
    }
    for (extent_t i = 0; i < n; i += lanes) {
        extent_t const first = i + lanes <= n ? i : n - lanes; // the last register may overlap the one before it
        simd::reg<T> const a = simd::load(from - first - (lanes - 1));
        simd::store(to + first, simd::indices<lanes>([&](auto... lane) CALQUE_INLINE_LAMBDA {
                        return __builtin_shufflevector(a, a, (lanes - 1 - lane.value)...);
                    }));
    }
    return n;
}

/// Whether there are permutations for elements of `bytes` bytes that stand `step` apart. (Of wide ones that stand
/// farther apart one by one is no slower.)
constexpr bool has_permutations(std::ptrdiff_t step, std::size_t bytes) {
    return step == -1 || (step >= 2 && step <= (bytes < sizeof(double) ? 6 : 4));
}

/// Copies some elements `step` apart through permutations, and returns how many: none if there are none for these.
template <class T>
extent_t copy_by_permutations(T* to, T const* from, std::ptrdiff_t step, extent_t n) {
    if (!has_permutations(step, sizeof(T))) {
        return 0;
    }
    if constexpr (has_permutations(6, sizeof(T))) {
        switch (step) {
        case 5: return copy_every<5>(to, from, n);
        case 6: return copy_every<6>(to, from, n);
        default: break;
        }
    }
    switch (step) {
    case 2: return copy_every<2>(to, from, n);
    case 3: return copy_every<3>(to, from, n);
    case 4: return copy_every<4>(to, from, n);
    default: return copy_backwards(to, from, n);
    }
}

} // namespace detail

/// Copies `n` elements that stand `from_step` apart to where they are `to_step` apart.
template <class T>
void copy_spaced(T* to, std::ptrdiff_t to_step, T const* from, std::ptrdiff_t from_step, extent_t n) {
    if (to_step == 1 && from_step == 0) {
        T const value = *from;
        for (extent_t i = 0; i < n; ++i) {
            to[i] = value;
        }
        return;
    }
    extent_t i = to_step == 1 ? detail::copy_by_permutations(to, from, from_step, n) : 0;
    for (; i < n; ++i) {
        to[i * to_step] = from[i * from_step];
    }
}

} // namespace kernels
} // namespace v0
} // namespace calque
