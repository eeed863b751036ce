// SPDX-License-Identifier: MIT
// Parts that are placed into arrays: kernels may make them where they are placed.
#pragma once

#include <calque/graph/schedule.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// Whether a group places a value, that a kernel over rows makes for no output, into an array as a whole.
constexpr bool places_whole(graph_view const& g, schedule_view const& s, group const& x) {
    if (x.kind != group_kind::movement || !(g.is<ops::slice_adjoint>(x.node) || g.is<ops::set_slice>(x.node))) {
        return false;
    }
    stored_value const& placed = s.values[s.leaves[x.first_leaf]];
    bool is = placed.kind == storage_kind::buffer && placed.output < 0;
    is = is && s.groups[placed.made_by].kind == group_kind::rows;
    shape const& every = g.shapes[slice_lists::unpack(g[x.node].attribute).steps];
    for (int axis = 0; axis < every.rank; ++axis) {
        is = is && every[axis] == 1;
    }
    return is;
}

/// Whether such a value may be made amid zeros, which are no output.
constexpr bool is_amid_zeros(graph_view const& g, schedule_view const& s, group const& x) {
    return places_whole(g, s, x) && g.is<ops::slice_adjoint>(x.node) && s.values[s.results[x.first_result]].output < 0;
}

namespace detail {

/// Whether a group is the only one that reads a buffer, which is no output.
constexpr bool is_read_by_one(schedule_view const& s, int v) {
    int reads = 0;
    for (int i = 0, count = s.leaf_count(); i < count; ++i) {
        reads += s.leaves[i] == v ? 1 : 0;
    }
    bool is_seen = false; // as an output, or a view
    for (int i = 0; i < s.value_count; ++i) {
        is_seen |= s.values[i].kind == storage_kind::view && s.values[i].source == v;
    }
    for (int o = 0; o < s.output_count; ++o) {
        is_seen |= s.outputs[o] == v;
    }
    return s.values[v].kind == storage_kind::buffer && s.values[v].output < 0 && reads == 1 && !is_seen;
}

/// Whether a group can make a value anywhere.
constexpr bool makes_anywhere(graph_view const& g, group const& x) {
    if (x.kind == group_kind::movement) {
        return g.is<ops::set_slice>(x.node) || g.is<ops::concatenate>(x.node);
    }
    return x.kind != group_kind::control;
}

} // namespace detail

/// Whether a group may find its operand `i` in the place of its result. One that sets a part of an array finds the
/// array, if nobody else reads that, so that the part is copied; or else the part, so that what is around it is. One
/// that concatenates finds whatever parts kernels over rows make for nobody else.
constexpr bool may_find_in_place(graph_view const& g, schedule_view const& s, group const& x, int i) {
    if (x.kind != group_kind::movement) {
        return false;
    }
    auto const operand = [&](int k) { return s.leaves[x.first_leaf + k]; };
    auto const maker = [&](int k) -> group const& { return s.groups[s.values[operand(k)].made_by]; };
    if (g.is<ops::concatenate>(x.node)) {
        return detail::is_read_by_one(s, operand(i)) && maker(i).kind == group_kind::rows;
    }
    if (!g.is<ops::set_slice>(x.node)) {
        return false;
    }
    bool const finds_array = detail::is_read_by_one(s, operand(1)) && detail::makes_anywhere(g, maker(1));
    return i == 1 ? finds_array : !finds_array && places_whole(g, s, x) && detail::is_read_by_one(s, operand(0));
}

/// Sets for each stored value the result of a group that may find it in its place; -1: there is no such group. Returns
/// whether there is some.
constexpr bool find_results_in_place(graph_view const& g, schedule_view const& s, int* results) {
    for (int v = 0; v < s.value_count; ++v) {
        results[v] = -1;
    }
    bool any = false;
    for (int k = 0; k < s.group_count; ++k) {
        group const& x = s.groups[k];
        for (int i = 0; i < x.leaf_count; ++i) {
            if (may_find_in_place(g, s, x, i)) {
                results[s.leaves[x.first_leaf + i]] = s.results[x.first_result];
                any = true;
            }
        }
    }
    return any;
}

} // namespace graph
} // namespace v0
} // namespace calque
