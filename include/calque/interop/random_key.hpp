// SPDX-License-Identifier: MIT
// Keys of random numbers: plain values that traced functions take and return, alone, in structs and in tuples.
#pragma once

#include <calque/core/philox.hpp>
#include <calque/interop/leaf.hpp>

#include <array>
#include <concepts>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace random {

/// A key as a family (interop/leaf.hpp): `basic_key<traced>` is what a traced function sees, and a struct of the form
/// `M` holds a `calque::random::basic_key<M>`.
template <class M>
struct basic_key {
    leaf<M, std::uint64_t> bits;
};

/// A key outside of traced functions: 64 bits, Philox's two words with the first one low.
template <>
class basic_key<host> {
public:
    constexpr basic_key() = default;

    /// The key of a seed. Any seeds do: those of 1 and 2 have nothing in common.
    constexpr explicit basic_key(std::integral auto seed) : bits(static_cast<std::uint64_t>(seed)) {}

    constexpr bool operator==(basic_key const&) const = default;

    std::uint64_t bits = 0;
};

using key = basic_key<host>;

/// How trees are walked through a key, which is no aggregate: it is made of a seed.
template <class Fn>
constexpr decltype(auto) with_fields(key& k, Fn&& fn) {
    return fn(k.bits);
}
template <class Fn>
constexpr decltype(auto) with_fields(key const& k, Fn&& fn) {
    return fn(k.bits);
}

/// The key of a number under a key: of a step of a loop, say. The same key and number give the same one in a trace.
constexpr key fold_in(key const& k, std::integral auto number) {
    return key(philox::derive_key(k.bits, static_cast<std::uint64_t>(number)));
}

/// `N` new keys, which replace the old one: the keys of the numbers 0 to N - 1 under it.
template <std::size_t N = 2>
constexpr std::array<key, N> split(key const& k) {
    std::array<key, N> keys;
    for (std::size_t i = 0; i < N; ++i) {
        keys[i] = fold_in(k, i);
    }
    return keys;
}

} // namespace random
} // namespace v0
} // namespace calque
