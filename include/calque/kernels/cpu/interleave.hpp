// SPDX-License-Identifier: MIT
// Elements of a few arrays in turn: what stacking x, y and z behind each other's elements copies.
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
            return __builtin_shufflevector(
                result, from[array], source_lane(Number, int{K}, array, simd::lanes_of<Register>, lane.value)...);
        });
    });
    return result;
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
        simd::unroll<K>([&](auto r) CALQUE_INLINE_LAMBDA {
            simd::store(out + r * lanes, detail::interleaved<r>(from));
        });
        out += static_cast<std::ptrdiff_t>(K) * lanes;
    }
    for (; i < n; ++i) {
        for (std::size_t k = 0; k < K; ++k) {
            *out++ = in[k][i];
        }
    }
}

} // namespace kernels
} // namespace v0
} // namespace calque
