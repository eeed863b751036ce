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

    constexpr bool is_search() const { return condition >= 0; }
};

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
            return {choice.inputs[0], place, wanted};
        }
    }
    return {};
}

} // namespace kernels
} // namespace v0
} // namespace calque
