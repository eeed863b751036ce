// SPDX-License-Identifier: MIT
// Conversions between packs of all dtypes.
#pragma once

#include <calque/kernels/cpu/pack_arithmetic.hpp>
#include <calque/kernels/cpu/registers_convert.hpp>

namespace calque {
inline namespace v0 {
namespace simd {

namespace detail {

// The integer of 2 or 4 bytes on the way from one type to another.
template <class From, int Bytes>
using integer_between =
    std::conditional_t<Bytes == 2, std::conditional_t<std::is_signed_v<From>, std::int16_t, std::uint16_t>,
                       std::conditional_t<std::is_signed_v<From>, std::int32_t, std::uint32_t>>;

// Whether numbers of 8 bytes become integers of fewer than 4, or these doubles; and what has 4 bytes between them.
template <class To, class From>
inline constexpr bool goes_over_4_bytes =
    (sizeof(From) == 8 && std::integral<To> && sizeof(To) < 4) ||
    (std::integral<From> && sizeof(From) < 4 && std::same_as<To, double>);
template <class To, class From>
using number_between = std::conditional_t<std::floating_point<From> || std::floating_point<To>, std::int32_t,
                                          integer_between<std::conditional_t<(sizeof(To) < 4), To, From>, 4>>;

// As many lanes of another type. Floating to and from 8 or 16 bits goes over int32, as the instructions do, and
// integers go to twice or half their size at a time: longer ways g++ 12 goes lane by lane.
template <class To, class R>
CALQUE_INLINE vec<To, lanes_of<R>> convert_lanes(R x) {
    using From = element_of<R>;
    constexpr int n = lanes_of<R>;
    if constexpr (std::same_as<To, From>) {
        return x;
    } else if constexpr (conversion<To, R>::is_one_instruction) {
        return convert_at_once<To>(x);
    } else if constexpr (std::floating_point<From> && std::integral<To> && sizeof(To) < 4) {
        return convert_lanes<To>(__builtin_convertvector(x, vec<std::int32_t, n>));
    } else if constexpr (std::integral<From> && std::floating_point<To> && sizeof(From) < 4) {
        return convert_lanes<To>(convert_lanes<std::int32_t>(x));
    } else if constexpr (std::integral<From> && std::integral<To> && sizeof(To) > 2 * sizeof(From)) {
        return convert_lanes<To>(convert_lanes<integer_between<From, 2 * sizeof(From)>>(x));
    } else if constexpr (std::integral<From> && std::integral<To> && sizeof(From) > 2 * sizeof(To)) {
        return convert_lanes<To>(convert_lanes<integer_between<From, sizeof(From) / 2>>(x));
    } else {
        return __builtin_convertvector(x, vec<To, n>);
    }
}

} // namespace detail

/// Each element as a `To`, as static_cast does: floating to integer truncates, to bool is `!= 0`; bool is 0 or 1.
///
/// A floating value that the integer type cannot hold gives an unspecified integer, as in C++ and NumPy.
template <class To, class From, int U>
CALQUE_INLINE pack<To, U> convert(pack<From, U> const& x) {
    if constexpr (std::same_as<To, From>) {
        return x;
    } else if constexpr (std::same_as<To, bool>) {
        return x != pack<From, U>(From(0));
    } else if constexpr (std::same_as<From, bool>) {
        return select_or_zero(x, pack<To, U>(To(1)));
    } else if constexpr (lanes<To> < lanes<From> && sizeof(From) == 1 && detail::widens_bytes<To>) {
        return pack<To, U>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
            return bits_as<reg<To>>(detail::widen_half_of_bytes<i % 2>(x.r[i / 2]));
        });
    } else if constexpr (detail::goes_over_4_bytes<To, From>) { // a register at a time
        return convert<To>(convert<detail::number_between<To, From>>(x));
    } else if constexpr (lanes<To> == lanes<From>) {
        return pack<To, U>::generate(
            [&](int i) CALQUE_INLINE_LAMBDA { return bits_as<reg<To>>(detail::convert_lanes<To>(x.r[i])); });
    } else if constexpr (lanes<To> < lanes<From>) { // two registers from the halves of one
        return pack<To, U>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
            return bits_as<reg<To>>(detail::convert_lanes<To>(slice<i % 2, lanes<To>>(x.r[i / 2])));
        });
    } else {
        return pack<To, U>::generate([&](int i) CALQUE_INLINE_LAMBDA {
            return bits_as<reg<To>>(
                concatenate(detail::convert_lanes<To>(x.r[2 * i]), detail::convert_lanes<To>(x.r[2 * i + 1])));
        });
    }
}

} // namespace simd
} // namespace v0
} // namespace calque
