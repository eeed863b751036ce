// SPDX-License-Identifier: MIT
// Whether a phase of a row program looks for the first column at which a condition holds, as argmax does: its kernel
// may stop there.
#pragma once

#include <calque/kernels/cpu/phases.hpp>

#include <cstdint>

namespace calque {
inline namespace v0 {
namespace kernels {

/// The steps of such a search.
struct row_search {
    int condition = -1; // none: the phase does something else
    int place = -1;     // what the reduction is for a column at which the condition holds: its index, or a constant
    bool wanted = true; // whether the condition holds, or does not
    int extreme = -1;   // of an element that is it or NaN: the reduction to it,
    int equality = -1;  // whether an element is it, if that is not NaN,
    int nan = -1;       // and whether it is NaN, if some element is

    constexpr bool is_search() const { return condition >= 0; }
    constexpr bool looks_for_extreme() const { return extreme >= 0; }
};

/// `search` with what it knows, if its condition is that an element is the largest or least of its row, or NaN. One
/// comparison decides then: the largest of elements of which some are NaN is NaN.
constexpr row_search of_extreme(graph::step const* steps, row_search search) {
    graph::step const& either = steps[search.condition];
    if (!search.wanted || either.op != graph::code_of<graph::ops::logical_or>) {
        return search;
    }
    bool const equals_first = steps[either.inputs[0]].op == graph::code_of<graph::ops::equal>;
    int const equality = either.inputs[equals_first ? 0 : 1], nan = either.inputs[equals_first ? 1 : 0];
    graph::step const &equals = steps[equality], &differs = steps[nan];
    int const x = differs.inputs[0];
    if (equals.op != graph::code_of<graph::ops::equal> || differs.op != graph::code_of<graph::ops::not_equal> ||
        differs.inputs[1] != x) {
        return search;
    }
    int const extreme = equals.inputs[equals.inputs[0] == x ? 1 : 0];
    if ((equals.inputs[0] == x || equals.inputs[1] == x) && detail::is_extreme(steps[extreme]) &&
        steps[extreme].inputs[0] == x) {
        search.extreme = extreme;
        search.equality = equality;
        search.nan = nan;
    }
    return search;
}

/// What a phase of `N` steps searches: it reduces the places of columns at which a condition holds, and the largest
/// integer for all others, to the least.
template <int N>
constexpr row_search find_search(graph::step const* steps, phase_plan<N> const& plan, int phase) {
    int reduction = -1;
    for (int i = 0; i < N; ++i) {
        bool const reduces = detail::is_reduction(steps[i]) && plan.ready[i] == phase;
        bool const stores = (plan.scratch[i] >= 0 && plan.computes(i, phase)) || plan.stored_in[i] == phase;
        if (stores || (reduces && reduction >= 0)) {
            return {};
        }
        reduction = reduces ? i : reduction;
    }
    if (reduction < 0 || (steps[reduction].op != graph::code_of<graph::ops::reduce_min> &&
                          steps[reduction].op != graph::code_of<graph::ops::first_index>)) {
        return {};
    }
    graph::step const& choice = steps[steps[reduction].inputs[0]];
    if (choice.op != graph::code_of<graph::ops::where> || !steps[choice.inputs[0]].varies_along_columns) {
        return {};
    }
    constexpr auto is_constant = [](graph::step const& s) { return s.op == graph::code_of<graph::ops::constant>; };
    auto const is_none = [&](graph::step const& s) {
        std::uint64_t const largest = s.type == dtype::int32 ? INT32_MAX : INT64_MAX;
        return is_constant(s) && s.attribute == largest && (s.type == dtype::int32 || s.type == dtype::int64);
    };
    for (bool const wanted : {true, false}) {
        int const place = choice.inputs[wanted ? 1 : 2];
        bool const ascends = steps[place].ascends_along_columns || is_constant(steps[place]);
        if (ascends && is_none(steps[choice.inputs[wanted ? 2 : 1]])) {
            return of_extreme(steps, {choice.inputs[0], place, wanted});
        }
    }
    return {};
}

} // namespace kernels
} // namespace v0
} // namespace calque
