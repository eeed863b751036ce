// SPDX-License-Identifier: MIT
// Whether a phase of a row program looks for the first column at which a condition holds, as argmax does: its kernel
// may stop there.
#pragma once

#include <calque/kernels/cpu/row_program.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// The steps of such a search.
struct row_search {
    int condition = -1; // none: the phase does something else
    int place = -1;     // what the reduction is for a column at which the condition holds: its index, or a constant
    bool wanted = true; // whether the condition holds, or does not
};

/// What a phase searches: it reduces the places of columns at which a condition holds, and the largest integer for all
/// others, to the least.
template <class Group, int Phase>
inline constexpr row_search search_of = [] {
    using program = row_program<Group>;
    auto const& reductions = program::template reductions<Phase>;
    graph::step const* const steps = Group::steps();
    if (reductions.size != 1 || program::template stores<Phase>.size != 0) {
        return row_search();
    }
    graph::step const& least = steps[reductions.at[0]];
    graph::step const& choice = steps[least.inputs[0]];
    bool const is_least =
        least.op == graph::code_of<graph::ops::reduce_min> || least.op == graph::code_of<graph::ops::first_index>;
    if (!is_least || choice.op != graph::code_of<graph::ops::where> || !steps[choice.inputs[0]].varies_along_columns) {
        return row_search();
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
            return row_search{choice.inputs[0], place, wanted};
        }
    }
    return row_search();
}();

} // namespace kernels
} // namespace v0
} // namespace calque
