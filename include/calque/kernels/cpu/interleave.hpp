// SPDX-License-Identifier: MIT
// Elements of a few arrays in turn: what stacking x, y and z behind each other's elements copies, and what takes them
// apart.
#pragma once

#include <calque/kernels/cpu/pack_memory.hpp>
#include <calque/kernels/cpu/simd.hpp>

#include <array>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {

namespace detail {

/// Where lane `to` of register `number` of `arrays` interleaved ones comes from, while array `array` comes to those
/// before it: a lane of the register so far, or of the array's, behind those.
constexpr int source_lane(int number, int arrays, int array, int lanes, int to) {
    int const place = number * lanes + to;
    if (place % arrays == array) {
        return lanes + place / arrays;
    }
    return array == 1 && place % arrays == 0 ? place / arrays : to;
}

/// Register `Number` of those that hold the elements of `K` registers in turn.
template <int Number, std::size_t K, class Register>
CALQUE_INLINE Register interleaved(std::array<Register, K> const& from) {
    Register result = from[0];
    simd::unroll<K - 1>([&](auto k) CALQUE_INLINE_LAMBDA {
        constexpr int array = k + 1;
        result = simd::indices<simd::lanes_of<Register>>([&](auto... lane) CALQUE_INLINE_LAMBDA {
            return __builtin_shufflevector(result, from[array],
                                           source_lane(Number, int{K}, array, simd::lanes_of<Register>, lane.value)...);
        });
    });
    return result;
}

/// A register of every `Step`th element from number `First` on, which is less than `Step`, of as many registers at
/// `from`. Of an odd step no two elements stand in one lane, so that they only have to be put in order; of an even one
/// they are every second one of what half the step has.
template <int Step, int First = 0, class T>
CALQUE_INLINE simd::reg<T> load_every(T const* from) {
    constexpr int lanes = simd::lanes<T>;
    if constexpr (Step == 1) {
        return simd::load(from);
    } else if constexpr (Step % 2 == 0) {
        constexpr int half = Step / 2;
        simd::reg<T> const a = load_every<half, First % half>(from);
        simd::reg<T> const b = load_every<half, First % half>(from + half * lanes);
        return simd::indices<lanes>([&](auto... lane) CALQUE_INLINE_LAMBDA {
            return __builtin_shufflevector(a, b, (2 * lane.value + First / half)...);
        });
    } else {
        simd::reg<T> all = simd::load(from);
        simd::unroll<Step - 1>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int before = (k + 1) * lanes;
            simd::reg<T> const next = simd::load(from + before);
            all = simd::indices<lanes>([&](auto... lane) CALQUE_INLINE_LAMBDA {
                return __builtin_shufflevector(
                    all, next, ((before + lane.value) % Step == First ? lanes + lane.value : lane.value)...);
            });
        });
        return simd::indices<lanes>([&](auto... lane) CALQUE_INLINE_LAMBDA {
            return __builtin_shufflevector(all, all, ((Step * lane.value + First) % lanes)...);
        });
    }
}

} // namespace detail

/// Element `K i + k` of `out` is element `i` of `in[k]`, for the `n` elements of each.
template <std::size_t K, class T>
void interleave_arrays(std::array<T const*, K> const& in, std::ptrdiff_t n, T* out) {
    constexpr std::ptrdiff_t lanes = simd::lanes<T>;
    std::ptrdiff_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        std::array<simd::reg<T>, K> from;
        simd::unroll<K>([&](auto k) CALQUE_INLINE_LAMBDA { from[k] = simd::load(in[k] + i); });
        simd::unroll<K>([&](auto r)
                            CALQUE_INLINE_LAMBDA { simd::store(out + r * lanes, detail::interleaved<r>(from)); });
        out += static_cast<std::ptrdiff_t>(K) * lanes;
    }
    for (; i < n; ++i) {
        for (std::size_t k = 0; k < K; ++k) {
            *out++ = in[k][i];
        }
    }
}

/// The way back: element `i` of `out[k]` is element `K i + k` of `in`, for the `n` elements of each.
template <std::size_t K, class T>
void take_apart(T const* in, std::ptrdiff_t n, std::array<T*, K> const& out) {
    constexpr std::ptrdiff_t lanes = simd::lanes<T>;
    constexpr auto step = static_cast<std::ptrdiff_t>(K);
    std::ptrdiff_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        simd::unroll<K>([&](auto k)
                            CALQUE_INLINE_LAMBDA { simd::store(out[k] + i, detail::load_every<K, k>(in + step * i)); });
    }
    for (; i < n; ++i) {
        for (std::size_t k = 0; k < K; ++k) {
            out[k][i] = in[step * i + static_cast<std::ptrdiff_t>(k)];
        }
    }
}

} // namespace kernels
} // namespace v0
} // namespace calque
