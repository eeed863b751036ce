// SPDX-License-Identifier: MIT
// Conversions between packs of all dtypes.
#pragma once

#include <calque/kernels/cpu/pack_arithmetic.hpp>

namespace calque {
inline namespace v0 {
namespace simd {

namespace detail {

// As many lanes of another type. Floating to and from 8 or 16 bits goes over int32, as the instructions do.
template <class To, class R>
CALQUE_INLINE vec<To, lanes_of<R>> convert_lanes(R x) {
    using From = element_of<R>;
    constexpr int n = lanes_of<R>;
    if constexpr (std::same_as<To, From>) {
        return x;
    } else if constexpr (std::floating_point<From> && std::integral<To> && sizeof(To) < 4) {
        return __builtin_convertvector(__builtin_convertvector(x, vec<std::int32_t, n>), vec<To, n>);
    } else if constexpr (std::integral<From> && std::floating_point<To> && sizeof(From) < 4) {
        return __builtin_convertvector(__builtin_convertvector(x, vec<std::int32_t, n>), vec<To, n>);
    } else {
        return __builtin_convertvector(x, vec<To, n>);
    }
}

} // namespace detail

/// Each element as a `To`, as static_cast does: floating to integer truncates, to bool is `!= 0`; bool is 0 or 1.
///
/// A floating value that the integer type cannot hold gives an unspecified integer, as in C++ and NumPy.
template <class To, class From, int U>
CALQUE_INLINE pack<To, U> convert(pack<From, U> x) {
    if constexpr (std::same_as<To, From>) {
        return x;
    } else if constexpr (std::same_as<To, bool>) {
        return x != pack<From, U>(From(0));
    } else if constexpr (std::same_as<From, bool>) {
        return select(x, pack<To, U>(To(1)), pack<To, U>(To(0)));
    } else if constexpr (lanes<To> == lanes<From>) {
        return pack<To, U>::generate(
            [&](auto i) CALQUE_INLINE_LAMBDA { return bits_as<reg<To>>(detail::convert_lanes<To>(x.r[i])); });
    } else if constexpr (lanes<To> < lanes<From>) { // two registers from the halves of one
        return pack<To, U>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
            return bits_as<reg<To>>(detail::convert_lanes<To>(slice<i % 2, lanes<To>>(x.r[i / 2])));
        });
    } else {
        return pack<To, U>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
            return bits_as<reg<To>>(
                concatenate(detail::convert_lanes<To>(x.r[2 * i]), detail::convert_lanes<To>(x.r[2 * i + 1])));
        });
    }
}

} // namespace simd
} // namespace v0
} // namespace calque
