// SPDX-License-Identifier: MIT
// How an error of a trace becomes the first line of a compiler's error.
//
// The builder knows the error as a value. g++ prints a text in a template argument whole, clang the types in a
// static_assert that fails: `inner_extents_agree<ops::matmul, spec<float, 64, 784>, spec<float, 100, 10>>`. From C++26
// on the text itself is the message.
#pragma once

#include <calque/core/text.hpp>
#include <calque/trace/diagnostics_types.hpp>
#include <calque/trace/expr.hpp>

namespace calque {
inline namespace v0 {
namespace diagnostics {

/// The text of an error: `calque: matmul: the inner extents differ: float[64,784] and float[100,10]`.
constexpr void explain(graph::failure const& error, text& out) {
    out << "calque: " << error.name << ": " << graph::sentence(error.why) << ": ";
    for (int k = 0; k < error.operands; ++k) {
        out << (k == 0 ? "" : " and ") << error.types[k] << error.shapes[k];
    }
    if (error.has_wanted) {
        out << " and " << error.wanted;
    }
}

/// A text of fixed size: it can be a template argument, and the message of a static_assert.
template <std::size_t Size>
struct message {
    char characters[Size + 1]{};

    constexpr std::size_t size() const { return Size; }
    constexpr char const* data() const { return characters; }
};

/// The text of the error that `Source::error()` returns.
template <class Source>
constexpr auto message_of() {
    constexpr std::size_t size = [] {
        text out;
        explain(Source::error(), out);
        return out.view().size();
    }();
    text out;
    explain(Source::error(), out);
    message<size> result;
    for (std::size_t i = 0; i < size; ++i) {
        result.characters[i] = out.view()[i];
    }
    return result;
}

/// Never defined: g++ prints its argument, the message.
template <auto Message>
struct error;

/// Fails to compile with the error that `Source::error()` returns, which has `K...` operands.
///
/// Its return type is deduced, so that naming the type of a call is enough: a call in constant evaluation would be an
/// error of its own.
template <class Source, std::size_t... K>
constexpr auto report(std::index_sequence<K...>) {
#if defined(__cpp_static_assert) && __cpp_static_assert >= 202306L
    static_assert(detail::never<Source>, message_of<Source>());
#elif defined(__clang__)
    constexpr graph::failure error = Source::error();
    require<error.why, operation_t<error.op>, operand_t<Source, K>...>();
#else
    static_cast<void>(sizeof(error<message_of<Source>()>));
#endif
}

} // namespace diagnostics
} // namespace v0
} // namespace calque
