// SPDX-License-Identifier: MIT
// Elements of a few arrays in turn: what stacking x, y and z behind each other's elements copies.
#pragma once

#include <calque/kernels/cpu/lane_orders.hpp>
#include <calque/kernels/cpu/overlapping.hpp>
#include <calque/kernels/cpu/pack_lines.hpp>
#include <calque/kernels/cpu/pack_memory.hpp>
#include <calque/kernels/cpu/simd.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <array>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {

namespace detail {

/// One half of the lanes of two registers in turn.
template <int Half, int Lanes>
struct two_in_turn {
    static constexpr int lane(int to) { return Half * (Lanes / 2) + to / 2 + to % 2 * Lanes; }
};

/// The elements of array `Array` of `Arrays`, an odd number, in the lanes that they have where all are in turn.
template <int Array, int Arrays, int Lanes>
struct in_lanes_in_turn {
    static constexpr int lane(int to) {
        int element = 0;
        while ((Arrays * element + Array) % Lanes != to) {
            ++element;
        }
        return element;
    }
};

/// The elements of `K` registers in turn, in as many. Of an odd number no two of what becomes one lane of the results
/// come from one register, so that each is put in order once, and the results are chosen by lanes; an even number are
/// two in turn, of the odd ones and of the even ones in turn.
template <class T, int K>
CALQUE_INLINE simd::register_array<T, K> in_turn(simd::register_array<T, K> const& from) {
    constexpr int lanes = simd::lanes<T>;
    simd::register_array<T, K> result;
    if constexpr (K == 1) {
        result = from;
    } else if constexpr (K % 2 == 0) {
        simd::register_array<T, K / 2> first, second;
        simd::unroll<K / 2>([&](auto k) CALQUE_INLINE_LAMBDA {
            first[k] = from[2 * k];
            second[k] = from[2 * k + 1];
        });
        first = in_turn(first);
        second = in_turn(second);
        simd::unroll<K>([&](auto r) CALQUE_INLINE_LAMBDA {
            result[r] = simd::shuffle_by<two_in_turn<r % 2, lanes>>(first[r / 2], second[r / 2]);
        });
    } else {
        simd::register_array<T, K> ordered;
        simd::unroll<K>([&](auto k) CALQUE_INLINE_LAMBDA {
            ordered[k] = simd::shuffle_by<in_lanes_in_turn<k, K, lanes>>(from[k], from[k]);
        });
        simd::unroll<K>([&](auto r) CALQUE_INLINE_LAMBDA {
            result[r] = ordered[0];
            simd::unroll<K - 1>([&](auto k) CALQUE_INLINE_LAMBDA {
                result[r] = simd::shuffle_by<every_of_another<K, (k + 1 + r * (K - 1) * lanes) % K, lanes>>(
                    result[r], ordered[k + 1]);
            });
        });
    }
    return result;
}

/// The fewest elements of each of `arrays`, at least one, behind which their elements in turn go on at a multiple of a
/// register. There may be none: as many as a register has lanes, then.
template <class T>
std::ptrdiff_t elements_to_a_register(std::ptrdiff_t arrays, T const* out) {
    constexpr std::ptrdiff_t lanes = simd::lanes<T>;
    std::ptrdiff_t const unaligned = simd::count_unaligned(out);
    std::ptrdiff_t i = 1;
    while (i < lanes && arrays * i % lanes != unaligned) {
        ++i;
    }
    return i;
}

} // namespace detail

/// Element `K i + k` of `out` is element `i` of array `k`, for the `n` elements of each. `out` overlaps none of them.
template <std::size_t K, class T>
void interleave_arrays(std::array<T const*, K> const& arrays_in_turn, std::ptrdiff_t n, T* out) {
    constexpr int lanes = simd::lanes<T>;
    constexpr auto arrays = static_cast<std::ptrdiff_t>(K);
    auto const in = arrays_in_turn; // g++ reads addresses of memory again after each store
    if (n < lanes) {
        for (std::ptrdiff_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < K; ++k) {
                *out++ = in[k][i];
            }
        }
        return;
    }
    // Registers that are stored across lines take twice as long.
    std::ptrdiff_t const first =
        n < thresholds::least_elements_in_turn_at_lines ? lanes : detail::elements_to_a_register(arrays, out);
    detail::for_overlapping<lanes>(
        n,
        [&](std::ptrdiff_t i) CALQUE_INLINE_LAMBDA {
            simd::register_array<T, static_cast<int>(K)> from;
            simd::unroll<K>([&](auto k) CALQUE_INLINE_LAMBDA { from[k] = simd::load(in[k] + i); });
            from = detail::in_turn(from);
            simd::unroll<K>([&](auto r) CALQUE_INLINE_LAMBDA { simd::store(out + i * arrays + r * lanes, from[r]); });
        },
        first);
}

} // namespace kernels
} // namespace v0
} // namespace calque
