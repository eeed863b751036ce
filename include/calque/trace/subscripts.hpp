// SPDX-License-Identifier: MIT
// The subscripts of `einsum`: a text that the compiler reads, and what it says of one that is wrong.
#pragma once

#include <calque/core/fixed_string.hpp>
#include <calque/trace/diagnostics.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

namespace calque {
inline namespace v0 {

namespace detail {

/// What is wrong with subscripts.
enum class subscripts_error { none, character, too_long, repeated_in_output, unknown_in_output, operand_count };

constexpr std::string_view sentence(subscripts_error e) {
    switch (e) {
    case subscripts_error::none: return "";
    case subscripts_error::character: return "subscripts are letters, with a comma between operands and -> once";
    case subscripts_error::too_long: return "an array has at most 8 axes";
    case subscripts_error::repeated_in_output: return "a subscript of the result is given twice";
    case subscripts_error::unknown_in_output: return "a subscript of the result is one of no operand";
    case subscripts_error::operand_count: return "the subscripts are of another number of operands";
    }
    return "";
}

/// Subscripts, read.
struct subscripts {
    static constexpr int max_operands = 16;

    int labels[max_operands][max_rank]{};
    int ranks[max_operands]{};
    int count = 0;
    int output[max_rank]{};
    int output_rank = 0;
    subscripts_error error = subscripts_error::none;

    /// Without "->" the result has the subscripts that occur once, in alphabetical order.
    static constexpr subscripts read(std::string_view text, int operand_count) {
        subscripts s;
        int uses[52]{};
        bool in_output = false;
        s.count = 1;
        for (std::size_t i = 0; i < text.size(); ++i) {
            char const c = text[i];
            bool const is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (c == ' ') {
                continue;
            }
            if (c == '-' && i + 1 < text.size() && text[i + 1] == '>' && !in_output) {
                in_output = true;
                ++i;
            } else if (c == ',' && !in_output && s.count < max_operands) {
                ++s.count;
            } else if (!is_letter) {
                return s.failed(subscripts_error::character);
            } else {
                int const label = c >= 'a' ? c - 'a' + 26 : c - 'A'; // capitals come first, as in ASCII
                int& rank = in_output ? s.output_rank : s.ranks[s.count - 1];
                if (rank == max_rank) {
                    return s.failed(subscripts_error::too_long);
                }
                (in_output ? s.output : s.labels[s.count - 1])[rank++] = label;
                uses[label] += in_output ? 0 : 1;
            }
        }
        for (int label = 0; label < 52 && !in_output; ++label) {
            if (uses[label] == 1) {
                if (s.output_rank == max_rank) {
                    return s.failed(subscripts_error::too_long);
                }
                s.output[s.output_rank++] = label;
            }
        }
        bool seen[52]{};
        for (int i = 0; i < s.output_rank; ++i) {
            if (seen[s.output[i]]) {
                return s.failed(subscripts_error::repeated_in_output);
            }
            if (uses[s.output[i]] == 0) {
                return s.failed(subscripts_error::unknown_in_output);
            }
            seen[s.output[i]] = true;
        }
        return s.count == operand_count ? s : s.failed(subscripts_error::operand_count);
    }

private:
    constexpr subscripts failed(subscripts_error e) const {
        subscripts s;
        s.error = e;
        return s;
    }
};

} // namespace detail

namespace diagnostics {

// The requirements of subscripts, which a message names with them: `named<'i', 'j', '-', '>', 'k'>`.
template <class Subscripts>
inline constexpr bool subscripts_are_letters = false;
template <class Subscripts>
inline constexpr bool operands_have_at_most_8_axes = false;
template <class Subscripts>
inline constexpr bool subscripts_of_the_result_are_distinct = false;
template <class Subscripts>
inline constexpr bool subscripts_of_the_result_are_known = false;
template <class Subscripts>
inline constexpr bool subscripts_are_as_many_as_operands = false;

template <fixed_string Subscripts, class Indices>
struct name_of_subscripts;
template <fixed_string Subscripts, std::size_t... I>
struct name_of_subscripts<Subscripts, std::index_sequence<I...>> {
    using type = named<Subscripts.characters[I]...>;
};

template <fixed_string Subscripts, detail::subscripts_error Error>
constexpr auto subscripts_message() {
    constexpr auto write = [](text& out) {
        out << "calque: einsum: " << detail::sentence(Error) << ": " << Subscripts.view();
    };
    constexpr std::size_t size = [write] {
        text out;
        write(out);
        return out.view().size();
    }();
    text out;
    write(out);
    message<size> result;
    for (std::size_t i = 0; i < size; ++i) {
        result.characters[i] = out.view()[i];
    }
    return result;
}

/// Fails to compile with what is wrong.
template <fixed_string Subscripts, detail::subscripts_error Error>
constexpr void report_subscripts() {
#if defined(__clang__)
    using enum detail::subscripts_error;
    using name = typename name_of_subscripts<Subscripts, std::make_index_sequence<Subscripts.view().size()>>::type;
    if constexpr (Error == character) {
        static_assert(subscripts_are_letters<name>,
                      "calque: einsum: subscripts are letters, with a comma between operands and -> once");
    } else if constexpr (Error == too_long) {
        static_assert(operands_have_at_most_8_axes<name>, "calque: einsum: an array has at most 8 axes");
    } else if constexpr (Error == repeated_in_output) {
        static_assert(subscripts_of_the_result_are_distinct<name>,
                      "calque: einsum: a subscript of the result is given twice");
    } else if constexpr (Error == unknown_in_output) {
        static_assert(subscripts_of_the_result_are_known<name>,
                      "calque: einsum: a subscript of the result is one of no operand");
    } else {
        static_assert(subscripts_are_as_many_as_operands<name>,
                      "calque: einsum: the subscripts are of another number of operands");
    }
#else
    static_cast<void>(sizeof(error<subscripts_message<Subscripts, Error>()>));
#endif
}

} // namespace diagnostics

} // namespace v0
} // namespace calque
