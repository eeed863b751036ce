// SPDX-License-Identifier: MIT
// Words in general registers, one by one, where a compiler would take several at once.
//
// A processor hands a store on to a later load if the load lies within that store. A wide load of words that have just
// been stored one by one waits until they have reached the cache, some 5 ns; and compilers copy objects with wide
// loads.
#pragma once

#include <calque/core/config.hpp>

#include <cstdint>
#include <type_traits>

namespace calque {
inline namespace v0 {
namespace detail {

/// `x` in a general register.
constexpr std::uint64_t in_scalar_register(std::uint64_t x) {
    if (!std::is_constant_evaluated()) {
        asm("" : "+r"(x));
    }
    return x;
}

constexpr void copy_words(std::int64_t* to, std::int64_t const* from, int count) {
    for (int i = 0; i < count; ++i) {
        to[i] = static_cast<std::int64_t>(in_scalar_register(static_cast<std::uint64_t>(from[i])));
    }
}

} // namespace detail
} // namespace v0
} // namespace calque
