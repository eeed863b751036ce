// SPDX-License-Identifier: MIT
// `half` and `bfloat16`: numbers of two bytes that arrays are stored in. Whatever is computed with them is computed in
// float; the conversions are written once, for a number and for the lanes of a register.
#pragma once

#include <calque/core/config.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace calque {
inline namespace v0 {

class half;
class bfloat16;

/// The numbers of two bytes.
template <class T>
concept half_float = std::same_as<T, half> || std::same_as<T, bfloat16>;
/// Floating numbers of any size.
template <class T>
concept floating = std::floating_point<T> || half_float<T>;
/// Numbers and bool.
template <class T>
concept arithmetic = std::is_arithmetic_v<T> || half_float<T>;

namespace detail {

/// The float that each number of two bytes is. `Words` and `Floats`: `std::uint32_t` and `float`, or as many lanes of
/// both. Exact; a NaN keeps its payload.
template <class Number, class Floats, class Words>
constexpr Floats widened(Words number) {
    if constexpr (std::same_as<Number, bfloat16>) {
        return __builtin_bit_cast(Floats, Words(number << 16));
    } else {
        Words const magnitude = (number & 0x7fffu) << 13;
        Words const one_ulp_up = Words{} + (113u << 23); // 2^-14, below which halves are denormal: multiples of 2^-24
        Words const from_denormal =
            __builtin_bit_cast(Words, Floats(__builtin_bit_cast(Floats, Words(magnitude + one_ulp_up)) -
                                             __builtin_bit_cast(Floats, one_ulp_up)));
        Words const quiet = magnitude > Words{} + (0x7c00u << 13) ? Words{} + 0x00400000u : Words{};
        Words const special = (magnitude + (224u << 23)) | quiet;
        Words const finite = magnitude < Words{} + (0x0400u << 13) ? from_denormal : magnitude + (112u << 23);
        Words const result = magnitude < Words{} + (0x7c00u << 13) ? finite : special;
        return __builtin_bit_cast(Floats, Words(result | (number & 0x8000u) << 16));
    }
}

/// The bits of the number of two bytes that is nearest to each float, of two the even one; in the low halves of words.
/// A NaN keeps the first bits of its payload.
template <class Number, class Words, class Floats>
constexpr Words narrowed(Floats x) {
    Words const bits = __builtin_bit_cast(Words, x);
    Words const magnitude = bits & 0x7fffffffu;
    Words const is_nan = magnitude > Words{} + 0x7f800000u ? Words{} + 0xffffffffu : Words{};
    if constexpr (std::same_as<Number, bfloat16>) {
        Words const nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
        return (nearest & ~is_nan) | (((bits >> 16) | 0x0040u) & is_nan);
    } else {
        Words const one_half = Words{} + (126u << 23); // its last place is that of the denormals
        Words const is_small = magnitude < Words{} + (113u << 23) ? Words{} + 0xffffffffu : Words{};
        Floats const small = __builtin_bit_cast(Floats, Words(magnitude & is_small));
        Words const denormal =
            __builtin_bit_cast(Words, Floats(small + __builtin_bit_cast(Floats, one_half))) - one_half;
        Words const normal = (magnitude - (112u << 23) + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
        Words const finite = (denormal & is_small) | (normal & ~is_small);
        Words const bounded = magnitude < Words{} + 0x47800000u ? finite : Words{} + 0x7c00u;
        Words const payload = ((magnitude >> 13) & 0x03ffu) | 0x7e00u;
        return (bounded & ~is_nan) | (payload & is_nan) | ((bits >> 16) & 0x8000u);
    }
}

/// What both types are.
template <class Number>
class two_byte_number {
public:
    two_byte_number() = default;

    /// The number nearest to `x` as a float; of two the one with an even last bit.
    template <arithmetic T>
        requires(!std::same_as<T, Number>)
    constexpr explicit two_byte_number(T x)
        : bits_(static_cast<std::uint16_t>(narrowed<Number, std::uint32_t>(static_cast<float>(x)))) {}

    /// Exact: each number of two bytes is a float.
    constexpr operator float() const { return widened<Number, float>(std::uint32_t{bits_}); }

    constexpr std::uint16_t bits() const { return bits_; }
    static constexpr Number from_bits(std::uint16_t bits) {
        Number x;
        x.bits_ = bits;
        return x;
    }

private:
    std::uint16_t bits_;
};

} // namespace detail

/// IEEE 754's binary16: 11 significant bits, up to 65504. A type to store numbers in: arithmetic on it is float's.
class half : public detail::two_byte_number<half> {
public:
    using two_byte_number::two_byte_number;
};

/// The upper half of a float: 8 significant bits, the range of float. A type to store numbers in, as `half`.
class bfloat16 : public detail::two_byte_number<bfloat16> {
public:
    using two_byte_number::two_byte_number;
};

namespace detail {

template <class Number, int Digits, int MaxExponent>
struct two_byte_limits {
    static constexpr bool is_specialized = true;
    static constexpr bool is_signed = true;
    static constexpr bool is_integer = false;
    static constexpr bool is_exact = false;
    static constexpr bool is_iec559 = true;
    static constexpr bool is_bounded = true;
    static constexpr bool is_modulo = false;
    static constexpr bool has_infinity = true;
    static constexpr bool has_quiet_NaN = true;
    static constexpr bool has_signaling_NaN = true;
    static constexpr bool tinyness_before = false;
    static constexpr bool traps = false;
    static constexpr std::float_round_style round_style = std::round_to_nearest;
    static constexpr int radix = 2;
    static constexpr int digits = Digits;
    static constexpr int digits10 = (Digits - 1) * 301 / 1000;
    static constexpr int max_digits10 = Digits * 301 / 1000 + 2;
    static constexpr int max_exponent = MaxExponent;
    static constexpr int max_exponent10 = MaxExponent * 301 / 1000;
    static constexpr int min_exponent = 3 - MaxExponent;
    static constexpr int min_exponent10 = -((MaxExponent - 2) * 301 / 1000);

    static constexpr Number min() noexcept { return from_bits(1 << (Digits - 1)); }
    static constexpr Number max() noexcept { return from_bits(infinity_bits - 1); }
    static constexpr Number lowest() noexcept { return from_bits(0x8000 | (infinity_bits - 1)); }
    static constexpr Number epsilon() noexcept { return from_bits((MaxExponent - Digits) << (Digits - 1)); }
    static constexpr Number round_error() noexcept { return Number(0.5f); }
    static constexpr Number infinity() noexcept { return from_bits(infinity_bits); }
    static constexpr Number quiet_NaN() noexcept { return from_bits(infinity_bits | 1 << (Digits - 2)); }
    static constexpr Number signaling_NaN() noexcept { return from_bits(infinity_bits | 1); }
    static constexpr Number denorm_min() noexcept { return from_bits(1); }

private:
    static constexpr int infinity_bits = (2 * MaxExponent - 1) << (Digits - 1);
    static constexpr Number from_bits(int bits) { return Number::from_bits(static_cast<std::uint16_t>(bits)); }
};

} // namespace detail
} // namespace v0
} // namespace calque

template <>
struct std::numeric_limits<calque::half> : calque::detail::two_byte_limits<calque::half, 11, 16> {};
template <>
struct std::numeric_limits<calque::bfloat16> : calque::detail::two_byte_limits<calque::bfloat16, 8, 128> {};
