// SPDX-License-Identifier: MIT
// Texts as template arguments: the subscripts of `einsum`, the label of `debug::print`.
#pragma once

#include <calque/core/config.hpp>

#include <cstddef>
#include <string_view>

namespace calque {
inline namespace v0 {

/// A text as a template argument.
template <std::size_t Size>
struct fixed_string {
    char characters[Size]{};

    consteval fixed_string(char const (&text)[Size]) { // not explicit: it is written as a literal
        for (std::size_t i = 0; i < Size; ++i) {
            characters[i] = text[i];
        }
    }
    constexpr std::string_view view() const { return {characters, Size - 1}; }
};

} // namespace v0
} // namespace calque
