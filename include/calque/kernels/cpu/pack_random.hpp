// SPDX-License-Identifier: MIT
// Philox on packs: the random words of core/philox.hpp, some blocks at a time.
//
// A lane of 64 bits is one block. Of its four words, which are registers, only the low halves of the lanes count; what
// the upper halves hold is never looked at, so that a round is two products, two shifts and two three-way exclusive
// ors.
#pragma once

#include <calque/core/philox.hpp>
#include <calque/kernels/cpu/pack_integer.hpp>

namespace calque {
inline namespace v0 {
namespace simd {

namespace detail {

using words_register = reg<std::uint64_t>;
inline constexpr int blocks_at_once = lanes<std::uint64_t>;

// Templates of their register, so that only what draws random numbers compiles them.

/// The words of some blocks: counters to begin with, random in the end.
template <class Words>
struct block_words {
    Words word[4];
};

/// All rounds, under a key a lane.
template <class Words>
CALQUE_INLINE void mix(block_words<Words>& w, Words key) {
    auto const multiplier0 = splat(std::uint64_t{philox::multipliers[0]});
    auto const multiplier1 = splat(std::uint64_t{philox::multipliers[1]});
    Words key0 = key;
    Words key1 = key >> 32;
    unroll<philox::rounds>([&](auto) CALQUE_INLINE_LAMBDA {
        Words const product0 = multiply_low_halves(w.word[0], multiplier0);
        Words const product1 = multiply_low_halves(w.word[2], multiplier1);
        w.word[0] = (product1 >> 32) ^ w.word[1] ^ key0;
        w.word[1] = product1;
        w.word[2] = (product0 >> 32) ^ w.word[3] ^ key1;
        w.word[3] = product0;
        key0 += splat(std::uint64_t{philox::key_steps[0]});
        key1 += splat(std::uint64_t{philox::key_steps[1]});
    });
}

/// Two words as one of 64 bits, the first in its low half.
template <class Words>
CALQUE_INLINE Words join_words(Words low, Words high) {
    return (low & splat(std::uint64_t{0xffffffff})) | high << 32;
}

/// The blocks from `first` on as two registers of words in the order in which they stand in memory.
template <class Words>
struct ordered_words {
    Words first, second;
};

template <class Words>
CALQUE_INLINE ordered_words<Words> random_blocks(std::uint64_t key, std::uint64_t first) {
    constexpr int n = blocks_at_once;
    // Interleaving the words' halves, of neighbouring lanes, is one instruction; it puts block i of the first register
    // into lane 2 i, and of the second into lane 2 i + 1.
    auto const order = indices<n>(
        [](auto... i) CALQUE_INLINE_LAMBDA { return Words{static_cast<std::uint64_t>(i % 2 * (n / 2) + i / 2)...}; });
    Words const number = splat(first) + order;
    block_words<Words> w{{number, number >> 32, Words{}, Words{}}};
    mix(w, splat(key));
    Words const front = join_words(w.word[0], w.word[1]);
    Words const back = join_words(w.word[2], w.word[3]);
    return indices<n>([&](auto... i) CALQUE_INLINE_LAMBDA {
        return ordered_words<Words>{
            bits_as<Words>(__builtin_shufflevector(front, back, (i / 2 * 2 + i % 2 * n)...)),
            bits_as<Words>(__builtin_shufflevector(front, back, (i / 2 * 2 + i % 2 * n + 1)...))};
    });
}

/// The words from a place that begins a block.
template <class T, int U>
CALQUE_INLINE pack<T, U> aligned_random_bits(std::uint64_t key, std::uint64_t first_block) {
    using P = pack<T, U>;
    P p;
    unroll<(P::registers + 1) / 2>([&](auto i) CALQUE_INLINE_LAMBDA {
        auto const words = random_blocks<words_register>(key, first_block + i * blocks_at_once);
        p.r[2 * i] = bits_as<reg<T>>(words.first);
        if constexpr (2 * i + 1 < P::registers) {
            p.r[2 * i + 1] = bits_as<reg<T>>(words.second);
        }
    });
    return p;
}

/// The words from any other place: rows of an odd number of columns begin anywhere.
template <class T, int U>
CALQUE_NOINLINE pack<T, U> unaligned_random_bits(std::uint64_t key, std::uint64_t first) {
    using P = pack<T, U>;
    constexpr std::uint64_t per_block = 16 / sizeof(T);
    T words[static_cast<std::size_t>(P::size) + per_block];
    aligned_random_bits<T, U>(key, first / per_block).store(words);
    for (std::uint64_t i = 0; i < per_block; ++i) {
        words[static_cast<std::size_t>(P::size) + i] =
            philox::random_word<T>(key, first / per_block * per_block + static_cast<std::uint64_t>(P::size) + i);
    }
    return P::load(words + first % per_block);
}

} // namespace detail

/// As many random words of a key as a pack holds, from place `first` on: `philox::random_word` of each place.
template <class T, int U>
CALQUE_INLINE void random_bits(std::uint64_t key, std::uint64_t first, pack<T, U>& words) {
    constexpr std::uint64_t per_block = 16 / sizeof(T);
    if (first % per_block == 0) [[likely]] {
        words = detail::aligned_random_bits<T, U>(key, first / per_block);
    } else {
        words = detail::unaligned_random_bits<T, U>(key, first);
    }
}

/// `philox::random_word`, of 64 bits, of each key and place.
template <int U>
CALQUE_INLINE pack<std::uint64_t, U> random_word(pack<std::uint64_t, U> key, pack<std::uint64_t, U> place) {
    return pack<std::uint64_t, U>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
        detail::words_register const number = place.r[i] >> 1;
        detail::block_words<detail::words_register> w{
            {number, number >> 32, detail::words_register{}, detail::words_register{}}};
        detail::mix(w, key.r[i]);
        detail::words_register const is_back = detail::words_register{} - (place.r[i] & splat(std::uint64_t{1}));
        return (detail::join_words(w.word[0], w.word[1]) & ~is_back) |
               (detail::join_words(w.word[2], w.word[3]) & is_back);
    });
}

/// `philox::derive_key` of each key and number.
template <int U>
CALQUE_INLINE pack<std::uint64_t, U> derive_key(pack<std::uint64_t, U> key, pack<std::uint64_t, U> number) {
    return pack<std::uint64_t, U>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
        detail::block_words<detail::words_register> w{{number.r[i], number.r[i] >> 32, detail::words_register{},
                                                       splat(static_cast<std::uint64_t>(philox::purpose::keys))}};
        detail::mix(w, key.r[i]);
        return detail::join_words(w.word[0], w.word[1]);
    });
}

} // namespace simd
} // namespace v0
} // namespace calque
