// SPDX-License-Identifier: MIT
// Philox4x32-10, a counter-based generator, on scalars: random words are a function of a key and of where they stand.
//
// J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
// kernels/cpu/pack_random.hpp computes the same on packs.
#pragma once

#include <calque/core/config.hpp>

#include <array>
#include <concepts>
#include <cstdint>

namespace calque {
inline namespace v0 {
namespace philox {

/// The multipliers of the two halves of a round, and what is added to the two words of the key from round to round.
inline constexpr std::uint32_t multipliers[] = {0xD2511F53u, 0xCD9E8D57u};
inline constexpr std::uint32_t key_steps[] = {0x9E3779B9u, 0xBB67AE85u};
inline constexpr int rounds = 10;

/// What counters are for: the fourth word of a counter, so that the words of an array and the keys that are derived
/// from the same key never meet.
enum class purpose : std::uint32_t { elements = 0, keys = 1 };

using block = std::array<std::uint32_t, 4>;

/// The four random words of a counter, under a key whose first word is its low half.
constexpr block random_block(block counter, std::uint64_t key) {
    auto word0 = static_cast<std::uint32_t>(key);
    auto word1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < rounds; ++round) {
        std::uint64_t const product0 = std::uint64_t{multipliers[0]} * counter[0];
        std::uint64_t const product1 = std::uint64_t{multipliers[1]} * counter[2];
        counter = {
            static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ word0, static_cast<std::uint32_t>(product1),
            static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ word1, static_cast<std::uint32_t>(product0)};
        word0 += key_steps[0];
        word1 += key_steps[1];
    }
    return counter;
}

/// The block with a number, of those for a purpose.
constexpr block random_block(std::uint64_t key, std::uint64_t number, purpose use) {
    return random_block({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), 0,
                         static_cast<std::uint32_t>(use)},
                        key);
}

/// Element `index` of the random words of a key: four of 32 bits a block, or two of 64.
template <class T>
    requires(std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>)
constexpr T random_word(std::uint64_t key, std::uint64_t index) {
    if constexpr (sizeof(T) == 4) {
        return random_block(key, index / 4, purpose::elements)[index % 4];
    } else {
        block const words = random_block(key, index / 2, purpose::elements);
        return words[index % 2 * 2] | std::uint64_t{words[index % 2 * 2 + 1]} << 32;
    }
}

/// Another key, that of a number under this key.
constexpr std::uint64_t derive_key(std::uint64_t key, std::uint64_t number) {
    block const words = random_block(key, number, purpose::keys);
    return words[0] | std::uint64_t{words[1]} << 32;
}

} // namespace philox
} // namespace v0
} // namespace calque
