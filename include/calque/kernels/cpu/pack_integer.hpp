// SPDX-License-Identifier: MIT
// What only packs of integers have: division that never traps, bits, shifts.
#pragma once

#include <calque/kernels/cpu/pack_arithmetic.hpp>
#include <calque/kernels/cpu/pack_convert.hpp>

#include <limits>

namespace calque {
inline namespace v0 {
namespace simd {

namespace detail {

template <class T>
concept integer = std::integral<T> && !std::same_as<T, bool>;

// The divisor with 1 in place of 0, and in place of the -1 that overflows: x / 1 is what wrapping gives then.
template <integer T, int U>
CALQUE_INLINE pack<T, U> harmless_divisor(pack<T, U> const& a, pack<T, U> const& b) {
    auto harmful = b == pack<T, U>(T(0));
    if constexpr (std::is_signed_v<T>) {
        harmful = harmful | ((a == pack<T, U>(std::numeric_limits<T>::min())) & (b == pack<T, U>(T(-1))));
    }
    return select(harmful, pack<T, U>(T(1)), b);
}

// Divisors of up to 16 bits go through float and those of 32 bits through double: the quotient of integers below 2^p is
// never rounded up to the next integer with p + 1 bits more. 64 bits go lane by lane.
template <integer T, int U>
CALQUE_INLINE pack<T, U> divide(pack<T, U> const& a, pack<T, U> const& b) {
    if constexpr (sizeof(T) == 8) {
        return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return a.r[i] / b.r[i]; });
    } else {
        using F = std::conditional_t<sizeof(T) == 4, double, float>;
        return convert<T>(convert<F>(a) / convert<F>(b));
    }
}

} // namespace detail

/// The quotient, truncated as in C++. x / 0 is 0 and never traps; the most negative integer by -1 is itself.
template <detail::integer T, int U>
CALQUE_INLINE pack<T, U> operator/(pack<T, U> const& a, pack<T, U> const& b) {
    pack<T, U> const zero(T(0));
    return select(b == zero, zero, detail::divide(a, detail::harmless_divisor(a, b)));
}

/// The remainder of that division, with the sign of `a`: a - a / b * b, but 0 where b is 0.
template <detail::integer T, int U>
CALQUE_INLINE pack<T, U> operator%(pack<T, U> const& a, pack<T, U> const& b) {
    auto const divisor = detail::harmless_divisor(a, b);
    return a - detail::divide(a, divisor) * divisor;
}

template <detail::integer T, int U>
CALQUE_INLINE pack<T, U> operator&(pack<T, U> const& a, pack<T, U> const& b) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return a.r[i] & b.r[i]; });
}
template <detail::integer T, int U>
CALQUE_INLINE pack<T, U> operator|(pack<T, U> const& a, pack<T, U> const& b) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return a.r[i] | b.r[i]; });
}
template <detail::integer T, int U>
CALQUE_INLINE pack<T, U> operator^(pack<T, U> const& a, pack<T, U> const& b) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return a.r[i] ^ b.r[i]; });
}
template <detail::integer T, int U>
CALQUE_INLINE pack<T, U> operator~(pack<T, U> const& a) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return ~a.r[i]; });
}

/// Shifts, lane by lane; a count is taken modulo the bits of `T`. `>>` keeps the sign of a signed type.
template <detail::integer T, int U>
CALQUE_INLINE pack<T, U> operator<<(pack<T, U> const& a, pack<T, U> const& count) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA {
        auto const bounded = detail::wrapping(count.r[i]) & splat(static_cast<unsigned_of<T>>(8 * sizeof(T) - 1));
        return bits_as<reg<T>>(detail::wrapping(a.r[i]) << bounded);
    });
}
template <detail::integer T, int U>
CALQUE_INLINE pack<T, U> operator>>(pack<T, U> const& a, pack<T, U> const& count) {
    return pack<T, U>::generate(
        [&](int i) CALQUE_INLINE_LAMBDA { return a.r[i] >> (count.r[i] & splat(static_cast<T>(8 * sizeof(T) - 1))); });
}

} // namespace simd
} // namespace v0
} // namespace calque
