// SPDX-License-Identifier: MIT
// Text built in constant evaluation: error messages and printed graphs. (std::string cannot be built there with every
// compiler that we support.)
#pragma once

#include <calque/core/dtype.hpp>
#include <calque/core/shape.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace calque {
inline namespace v0 {

/// A string of its own. The library copies strings by this one function: programs compile each constructor of
/// `std::string` that is named, and with C++20 none is compiled for them. (Not cold: what users ask for a text is not.)
CALQUE_NOINLINE inline std::string copy_of(std::string_view s) {
    return std::string(s);
}

/// A growing text that also works in constant evaluation.
class text {
public:
    constexpr text() = default;
    text(text const&) = delete;
    text& operator=(text const&) = delete;
    constexpr ~text() { delete[] characters_; }

    constexpr std::string_view view() const {
        char const* const first = characters_; // for `char*` g++ would check all concepts of iterators once more
        return {first, size_};
    }
    std::string string() const { return copy_of(view()); }

    CALQUE_NOINLINE constexpr text& operator<<(char c) {
        if (size_ == capacity_) {
            grow();
        }
        characters_[size_++] = c;
        return *this;
    }

    CALQUE_NOINLINE constexpr text& operator<<(std::string_view s) {
        for (char c : s) {
            *this << c;
        }
        return *this;
    }

    /// Its own function: messages are many calls of it, each of which would make a view first.
    CALQUE_NOINLINE constexpr text& operator<<(char const* s) { return *this << std::string_view(s); }

    template <std::integral I>
        requires(!std::same_as<I, char> && !std::same_as<I, bool>)
    constexpr text& operator<<(I value) {
        bool const is_negative = value < I(0);
        auto const bits = static_cast<std::uint64_t>(value);
        return append_number(is_negative, is_negative ? 0 - bits : bits);
    }

    CALQUE_NOINLINE constexpr text& operator<<(dtype d) { return *this << name_of(d); }

    /// Extents as users write them: `[batch,784]`.
    CALQUE_NOINLINE constexpr text& operator<<(shape const& s) {
        *this << '[';
        for (int i = 0; i < s.rank; ++i) {
            if (i != 0) {
                *this << ',';
            }
            append_extent(s[i]);
        }
        return *this << ']';
    }

    /// One extent: `64`, `dyn` or its name.
    CALQUE_NOINLINE constexpr text& append_extent(extent_t e) {
        if (e == dyn) {
            return *this << "dyn";
        }
        if (is_named(e)) {
            return *this << name_of_dim(e).view();
        }
        return *this << e;
    }

private:
    /// One function for integers of all types.
    CALQUE_NOINLINE constexpr text& append_number(bool is_negative, std::uint64_t magnitude) {
        if (is_negative) {
            *this << '-';
        }
        char digits[20]{};
        int count = 0;
        do {
            digits[count++] = static_cast<char>('0' + magnitude % 10);
            magnitude /= 10;
        } while (magnitude != 0);
        while (count != 0) {
            *this << digits[--count];
        }
        return *this;
    }

    constexpr void grow() {
        std::size_t const capacity = capacity_ == 0 ? 64 : capacity_ * 4;
        char* larger = new char[capacity]{};
        for (std::size_t i = 0; i < size_; ++i) {
            larger[i] = characters_[i];
        }
        delete[] characters_;
        characters_ = larger;
        capacity_ = capacity;
    }

    char* characters_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

/// The text of a shape: `[batch,784]`.
inline std::string to_string(shape const& s) {
    text t;
    t << s;
    return t.string();
}

} // namespace v0
} // namespace calque
