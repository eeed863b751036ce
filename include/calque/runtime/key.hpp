// SPDX-License-Identifier: MIT
// A call's key: what only the call knows and a plan depends on, as a few words that compare and hash fast.
#pragma once

#include <calque/core/words.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace calque {
inline namespace v0 {
namespace detail {

/// The finaliser of splitmix64: every bit of `x` reaches every bit of the result.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/// An odd multiplier a word. They look random to each other, so small extents that differ in several words cannot
/// cancel: multiples of one constant would let (3, 0) and (0, 1) collide.
template <std::size_t N>
inline constexpr std::array<std::uint64_t, N> hash_multipliers = [] {
    std::array<std::uint64_t, N> result{};
    for (std::size_t i = 0; i != N; ++i) {
        result[i] = mix_bits(0x9E3779B97F4A7C15u * (i + 1)) | 1;
    }
    return result;
}();

/// The stride 0 in a key, where zeros stand for a contiguous array.
inline constexpr std::int64_t zero_stride_word = std::numeric_limits<std::int64_t>::min();

constexpr std::int64_t stride_word(std::int64_t stride) {
    return stride != 0 ? stride : zero_stride_word;
}
constexpr std::int64_t stride_of_word(std::int64_t word) {
    return word != zero_stride_word ? word : 0;
}

} // namespace detail

/// The key of a call: dynamic extents, strides of arrays that are not contiguous, structure. What the types already say
/// (dtypes, ranks, static extents) is not in it.
///
/// An aggregate that is left uninitialised on purpose: a call writes each word once, and they are read so too.
/// `cache_key<0>` is the one key of a function that has nothing to tell apart; its word is never read.
template <std::size_t N>
struct cache_key {
    std::int64_t words[N != 0 ? N : 1];

    /// Without a branch a word: keys are nearly always equal, and a mispredicted branch costs more than the words.
    constexpr bool operator==(cache_key const& other) const {
        std::uint64_t difference = 0;
#pragma GCC unroll 16
        for (std::size_t i = 0; i != N; ++i) {
            difference |= detail::in_scalar_register(static_cast<std::uint64_t>(words[i] ^ other.words[i]));
        }
        return difference == 0;
    }

    /// The products do not wait for each other, so that a long key costs little more than a short one.
    constexpr std::uint64_t hash() const {
        std::uint64_t sum = 0;
#pragma GCC unroll 16
        for (std::size_t i = 0; i != N; ++i) {
            sum += detail::in_scalar_register(static_cast<std::uint64_t>(words[i])) * detail::hash_multipliers<N>[i];
        }
        sum = (sum ^ (sum >> 32)) * 0x9E3779B97F4A7C15u;
        return sum ^ (sum >> 29);
    }
};

} // namespace v0
} // namespace calque
