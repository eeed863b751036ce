// SPDX-License-Identifier: MIT
// Floating numbers as text, in constant evaluation too: the shortest digits that read back as the same number.
//
// G. L. Steele, J. L. White, "How to Print Floating-Point Numbers Accurately", PLDI 1990, with exact integers: printed
// graphs are read by people, so that speed is no matter. (std::to_chars is not constexpr in C++20.)
#pragma once

#include <calque/core/text.hpp>
#include <calque/graph/node.hpp>

#include <concepts>
#include <cstdint>
#include <limits>

namespace calque {
inline namespace v0 {
namespace graph {
namespace detail {

/// A natural number below 2^1184, which holds ten times any double.
class natural {
public:
    constexpr explicit natural(std::uint64_t value) {
        words_[0] = static_cast<std::uint32_t>(value);
        words_[1] = static_cast<std::uint32_t>(value >> 32);
    }

    constexpr void multiply_by_10() {
        std::uint64_t carry = 0;
        for (int i = 0; i < size_ || carry != 0; ++i) {
            carry += std::uint64_t{words_[i]} * 10;
            words_[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
            size_ = i < size_ ? size_ : i + 1;
        }
    }

    constexpr void shift_left(int bits) {
        int const whole = bits / 32;
        int const rest = bits % 32;
        size_ += whole + 1;
        for (int i = size_ - 1; i >= 0; --i) {
            std::uint64_t const high = i >= whole ? words_[i - whole] : 0;
            std::uint64_t const low = i > whole ? words_[i - whole - 1] : 0;
            words_[i] = static_cast<std::uint32_t>((high << 32 | low) >> (32 - rest));
        }
    }

    constexpr void subtract(natural const& other) {
        std::int64_t borrow = 0;
        for (int i = 0; i < size_; ++i) {
            borrow += std::int64_t{words_[i]} - std::int64_t{other.words_[i]};
            words_[i] = static_cast<std::uint32_t>(borrow);
            borrow >>= 32;
        }
    }

    constexpr natural plus(natural const& other) const {
        natural sum = *this;
        sum.size_ = (size_ > other.size_ ? size_ : other.size_) + 1;
        std::uint64_t carry = 0;
        for (int i = 0; i < sum.size_; ++i) {
            carry += std::uint64_t{words_[i]} + other.words_[i];
            sum.words_[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        return sum;
    }

    /// Below 0, 0 or above 0, as this number is less than, equal to or greater than the other.
    constexpr int compare(natural const& other) const {
        for (int i = (size_ > other.size_ ? size_ : other.size_) - 1; i >= 0; --i) {
            if (words_[i] != other.words_[i]) {
                return words_[i] < other.words_[i] ? -1 : 1;
            }
        }
        return 0;
    }

private:
    std::uint32_t words_[40]{};
    int size_ = 2; // words beyond it are 0
};

/// The digits of a positive number, and its decimal point: 0.d1d2d3... times ten to the power `point`.
struct decimal {
    char digits[20]{};
    int count = 0;
    int point = 0;
};

/// How the bits of a floating number are laid out.
struct floating_bits {
    int width;
    int precision;
    int min_exponent;

    constexpr std::uint64_t sign() const { return std::uint64_t{1} << (width - 1); }
    constexpr std::uint64_t infinity() const {
        return ((std::uint64_t{1} << (width - precision)) - 1) << (precision - 1);
    }
};

/// The shortest decimal between the middles of a positive number and its two neighbours.
constexpr decimal shortest_decimal(std::uint64_t bits, floating_bits const& layout) {
    int const precision = layout.precision;
    int const biased = static_cast<int>(bits >> (precision - 1));
    std::uint64_t const fraction = bits & ((std::uint64_t{1} << (precision - 1)) - 1);
    std::uint64_t const mantissa = biased == 0 ? fraction : fraction | std::uint64_t{1} << (precision - 1);
    int const exponent = (biased == 0 ? 1 : biased) + layout.min_exponent - 1 - precision;

    // value = numerator / denominator, and half the distance to a neighbour = gap / denominator. Below a power of two
    // the gap is half as wide, which is left aside: the text reads back all the same, now and then a digit longer.
    natural numerator(mantissa * 4);
    natural denominator(4);
    natural gap(fraction == 0 ? 1 : 2);
    (exponent < 0 ? denominator : numerator).shift_left(exponent < 0 ? -exponent : exponent);
    gap.shift_left(exponent < 0 ? 0 : exponent);

    bool const is_even = mantissa % 2 == 0; // then the middles themselves read back as this number
    auto const reaches_next = [&] {
        int const order = numerator.plus(gap).compare(denominator);
        return is_even ? order >= 0 : order > 0;
    };
    decimal result;
    while (reaches_next()) {
        denominator.multiply_by_10();
        ++result.point;
    }
    for (bool is_last = false; !is_last;) {
        numerator.multiply_by_10();
        gap.multiply_by_10();
        int digit = 0;
        while (numerator.compare(denominator) >= 0) {
            numerator.subtract(denominator);
            ++digit;
        }
        if (digit == 0 && result.count == 0 && !reaches_next()) {
            --result.point; // a zero after the point
            continue;
        }
        int const below = numerator.compare(gap);
        bool const may_end_below = is_even ? below <= 0 : below < 0;
        bool const may_end_above = reaches_next();
        bool const is_upper_half = numerator.plus(numerator).compare(denominator) >= 0;
        is_last = may_end_below || may_end_above;
        digit += may_end_above && (!may_end_below || is_upper_half) ? 1 : 0;
        result.digits[result.count++] = static_cast<char>('0' + digit);
    }
    return result;
}

template <class Out>
constexpr Out& append_floating(Out& out, std::uint64_t bits, floating_bits const& layout) {
    std::uint64_t const magnitude = bits & ~layout.sign();
    if (magnitude > layout.infinity()) {
        return out << "nan";
    }
    if (magnitude != bits) {
        out << '-';
    }
    if (magnitude == 0) {
        return out << '0';
    }
    if (magnitude == layout.infinity()) {
        return out << "inf";
    }
    decimal const d = shortest_decimal(magnitude, layout);
    bool const is_plain = d.point > -4 && d.point <= 16; // as Python chooses it
    int const point = is_plain ? d.point : 1;
    for (int i = point < 1 ? point - 1 : 0; i < d.count || i < point; ++i) {
        out << (i >= 0 && i < d.count ? d.digits[i] : '0');
        if (i + 1 == point && i + 1 < d.count) {
            out << '.';
        }
    }
    if (!is_plain) {
        out << 'e' << (d.point - 1);
    }
    return out;
}

} // namespace detail

/// Appends the shortest text that reads back as `value`: `0.5`, `-3`, `1e-07`, `inf`, `nan`.
template <floating T>
constexpr text& append_number(text& out, T value) {
    using limits = std::numeric_limits<T>;
    return detail::append_floating(out, to_bits<T>(value),
                                   {static_cast<int>(8 * sizeof(T)), limits::digits, limits::min_exponent});
}

template <std::integral T>
constexpr text& append_number(text& out, T value) {
    if constexpr (std::same_as<T, bool>) {
        return out << (value ? "true" : "false");
    } else {
        return out << value;
    }
}

} // namespace graph
} // namespace v0
} // namespace calque
