// SPDX-License-Identifier: MIT
// Throws what a violated check of a traced function says.
#pragma once

#include <calque/core/error.hpp>
#include <calque/core/shape.hpp>
#include <calque/core/text.hpp>
#include <calque/graph/builder.hpp>

namespace calque {
inline namespace v0 {
namespace runtime {

/// `extents`: those of the condition. Cold: one function for all programs.
[[noreturn]] CALQUE_COLD inline void throw_violation(std::string_view function_name, std::string_view message,
                                                     shape const& extents, std::int64_t place) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(extents.rank));
    shape at = extents;
    for (int axis = extents.rank - 1; axis >= 0; --axis) {
        index[static_cast<std::size_t>(axis)] = at[axis] = place % extents[axis];
        place /= extents[axis];
    }
    text what;
    what << "calque: " << function_name << ": check: " << message;
    if (extents.rank != 0) {
        what << ": first at " << at << " of " << extents;
    }
    throw check_error(what.string(), std::string(message), std::move(index));
}

/// Throws if the call of program `P` with the key `words` has violated a requirement.
template <class P>
CALQUE_INLINE void require_no_violation(std::int64_t code, std::int64_t const* words, std::string_view function_name) {
    if (code != graph::violation::none) [[unlikely]] {
        auto const found = graph::violation::decode(code);
        graph::requirement const& r = P::traced::requirements[static_cast<std::size_t>(found.requirement)];
        throw_violation(function_name, r.message, P::shape_of_traced(r.condition, words, function_name), found.place);
    }
}

} // namespace runtime
} // namespace v0
} // namespace calque
