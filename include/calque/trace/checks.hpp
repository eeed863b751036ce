// SPDX-License-Identifier: MIT
// Conditions that the values of a call must satisfy: `check` and `assert_finite`.
#pragma once

#include <calque/graph/compositions.hpp>
#include <calque/trace/elementwise.hpp>

#include <limits>

namespace calque {
inline namespace v0 {

namespace detail {

/// Not constexpr, so that the compiler's error names it: the trace that would report an error never meets a constant.
inline void condition_of_check_depends_on_no_argument() {}

} // namespace detail

/// Demands that `condition` is true, everywhere if it is an array: else the call throws `check_error` after it has run,
/// with the message and the index of the first element that is false. Outputs and variables are as they were then.
///
/// In a branch or a loop it demands that when it runs. `message`: a string literal. Of several checks that fail, the
/// first in the order of the program is thrown.
template <class Condition>
constexpr void check(Condition const& condition, char const* message) {
    constexpr bool is_condition = handle<Condition> && std::is_same_v<detail::element_of_t<Condition>, bool>;
    static_assert(is_condition,
                  "calque: check takes a traced bool: a comparison, say; for a C++ bool use if and throw");
    if constexpr (is_condition) {
        graph::value const c = condition.value();
        graph::builder& owner = *c.owner;
        if (condition.shared() != nullptr) {
            detail::condition_of_check_depends_on_no_argument();
        }
        int const number = owner.require({c.id, message});
        if (owner.watches_requirements()) {
            graph::value const before{&owner, owner.variable(graph::builder::violation_variable)};
            graph::value const place = graph::first_false(c);
            graph::value const none = graph::literal(place, graph::violation::none);
            graph::value const found = graph::where(place == none, none, place + graph::violation::first_code(number));
            owner.assign(graph::builder::violation_variable, graph::where(before == none, found, before).id);
        }
    }
}

/// Demands that the elements of floating arrays are neither infinite nor NaN; `x` may be a tree.
template <class X>
constexpr void assert_finite(X const& x, char const* message = "assert_finite: a value is infinite or NaN") {
    for_each_leaf(x, [message]<class Leaf>(Leaf const& leaf) {
        if constexpr (handle<Leaf>) {
            using T = detail::element_of_t<Leaf>;
            if constexpr (floating<T>) {
                check(abs(leaf) < std::numeric_limits<T>::infinity(), message);
            }
        }
    });
}

} // namespace v0
} // namespace calque
