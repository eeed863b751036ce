// SPDX-License-Identifier: MIT
// What the compiler knows of views whose elements stand a few apart: one coordinate of points, every second column. How
// far apart, and which are neighbours in memory, so that a kernel reads them at once.
#pragma once

#include <calque/graph/graph.hpp>
#include <calque/graph/schedule.hpp>
#include <calque/kernels/cpu/spaced.hpp>
#include <calque/kernels/cpu/spaced_leaves.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace runtime {
namespace detail {

/// A slice that a stored value is, but for a dropped axis.
struct sliced_view {
    int value = -1; // the slice; -1: none
    std::uint64_t dropped = 0;

    static constexpr sliced_view of(graph::graph_view const& g, graph::schedule_view const& s, int v) {
        auto const is_view = [&](int its, graph::op_code op) {
            return s.values[its].kind == graph::storage_kind::view && g[s.values[its].node].op == op;
        };
        sliced_view view{v, 0};
        if (is_view(v, graph::code_of<graph::ops::squeeze>)) {
            view = {s.values[v].source, g[s.values[v].node].attribute};
        }
        return is_view(view.value, graph::code_of<graph::ops::slice>) ? view : sliced_view{};
    }
};

/// Whether a stored value is an argument that lies by columns, as its type says.
constexpr bool lies_by_columns(graph::graph_view const& g, graph::schedule_view const& s, int v) {
    return s.values[v].kind == graph::storage_kind::argument && (g.by_columns >> s.values[v].argument & 1) != 0;
}

/// The axis of a stored value along which its elements are neighbours in memory, if there is one.
constexpr int unit_axis(graph::graph_view const& g, graph::schedule_view const& s, int v) {
    graph::node const& n = g[s.values[v].node];
    int axis = g.shape(s.values[v].node).rank - 1;
    if (s.values[v].kind == graph::storage_kind::view && n.op == graph::code_of<graph::ops::transpose>) {
        int const unit = unit_axis(g, s, s.values[v].source);
        while (axis > 0 && graph::permuted(n.attribute, axis) != unit) {
            --axis;
        }
    }
    return lies_by_columns(g, s, v) ? 0 : axis;
}

} // namespace detail

/// How far apart the columns of a view may stand, as bits, if they are a few elements apart: it, or what it is a view
/// of, has every second one, say, or one column of rows that are no longer than that, or it is the transpose of such
/// rows.
constexpr unsigned spacings_of_view(graph::graph_view const& g, graph::schedule_view const& s, int v) {
    using namespace graph;
    constexpr unsigned all = (2u << kernels::most_apart) - 4;
    int axis = g.shape(s.values[v].node).rank - 1; // whose elements are columns
    extent_t apart = 1;                            // of those of what the views are of
    extent_t first = 0;                            // of the columns of its rows, the one that is viewed
    bool is_turned = false;
    for (; s.values[v].kind == storage_kind::view; v = s.values[v].source) {
        node const& n = g[s.values[v].node];
        if (n.op == code_of<ops::squeeze>) {
            for (int k = 0; k <= axis; ++k) {
                axis += graph::contains(n.attribute, k) ? 1 : 0;
            }
        } else if (n.op == code_of<ops::slice>) {
            slice_lists const lists = slice_lists::unpack(n.attribute);
            int const last = g.shapes[lists.starts].rank - 1;
            while (axis > 0 && g.shapes[lists.stops][axis] == g.shapes[lists.starts][axis] + 1) {
                --axis; // one element
            }
            first = axis == last ? 0 : g.shapes[lists.starts][last];
            apart *= g.shapes[lists.steps][axis];
        } else if (n.op == code_of<ops::transpose>) {
            is_turned = true;
            axis = permuted(n.attribute, axis);
        } else {
            break;
        }
    }
    shape const& rows = g.shape(s.values[v].node);
    if (detail::lies_by_columns(g, s, v)) {
        for (int k = 0; k < axis && apart <= kernels::most_apart; ++k) {
            apart = rows[k] == dyn ? kernels::most_apart + 1 : apart * rows[k];
        }
        axis = rows.rank;
    }
    for (int k = axis + 1; k < rows.rank; ++k) {
        if (rows[k] == dyn) { // rows have the column that is wanted
            bool const may = !is_turned && apart == 1 && k == rows.rank - 1 && first < kernels::most_apart;
            return !may ? 0 : first < 0 ? all : all & ~((2u << first) - 1);
        }
        apart *= rows[k];
    }
    return apart > 1 && apart <= kernels::most_apart ? 1u << apart : 0;
}

/// Whether rows of a group that follow each other, many of them, read the same row of a stored value: it is copied
/// once.
constexpr bool is_shared_by_rows(graph::graph_view const& g, graph::group const& x, graph::node_id id) {
    shape const& space = g.shapes[x.space];
    shape const& its = g.shape(id);
    if (space.rank < 2) {
        return false;
    }
    extent_t const rows = space[space.rank - 2];
    bool const has_one_row = its.rank < 2 || its[its.rank - 2] == 1;
    return has_one_row && (!is_static(rows) || rows >= kernels::thresholds::least_rows_of_a_copy);
}

/// How far apart all such leaves of a group may stand that gets kernels for them.
constexpr unsigned spacings_of(graph::graph_view const& g, graph::schedule_view const& s, graph::group const& x) {
    unsigned any = 0, common = ~0u;
    for (int i = 0; i < x.step_count; ++i) {
        graph::step const& step = s.steps[x.first_step + i];
        if (step.leaf >= 0 && step.varies_along_columns && kernels::has_spaced_loads(step.type)) {
            int const v = s.leaves[x.first_leaf + step.leaf];
            unsigned const its = is_shared_by_rows(g, x, s.values[v].node) ? 0 : spacings_of_view(g, s, v);
            any |= its;
            common &= its == 0 ? common : its;
        }
    }
    bool const has_kernels = x.kind == graph::group_kind::rows && x.leaf_count <= 64 &&
                             x.step_count <= kernels::thresholds::steps_with_kernel_of_broadcasts;
    return has_kernels ? any & common : 0;
}

/// How many elements the view `b` begins behind the view `a` of one array, if both have the same rows of it and columns
/// that stand `apart`; negative if it does not, or if another multiple of that lies between them.
constexpr std::ptrdiff_t distance_of_neighbours(graph::graph_view const& g, graph::schedule_view const& s, int a, int b,
                                                int apart) {
    auto const first = detail::sliced_view::of(g, s, a), second = detail::sliced_view::of(g, s, b);
    if (first.value < 0 || second.value < 0 || first.dropped != second.dropped ||
        s.values[first.value].source != s.values[second.value].source) {
        return -1;
    }
    auto const lists_of = [&](int v) { return graph::slice_lists::unpack(g[s.values[v].node].attribute); };
    graph::slice_lists const x = lists_of(first.value), y = lists_of(second.value);
    int const unit = detail::unit_axis(g, s, s.values[first.value].source);
    for (int axis = 0; axis < g.shapes[x.starts].rank; ++axis) {
        bool const is_unit = axis == unit;
        if (g.shapes[x.steps][axis] != g.shapes[y.steps][axis] ||
            (!is_unit && (g.shapes[x.starts][axis] != g.shapes[y.starts][axis] ||
                          g.shapes[x.stops][axis] != g.shapes[y.stops][axis]))) {
            return -1;
        }
    }
    extent_t const from = g.shapes[x.starts][unit], to = g.shapes[y.starts][unit];
    return from >= 0 && to >= from && from / apart == to / apart ? to - from : -1;
}

/// What step `i` of a group loads if columns stand `apart`: of the steps that are loads the first one that loads one of
/// several neighbours loads all of them.
constexpr kernels::spaced_reads reads_of(graph::graph_view const& g, graph::schedule_view const& s,
                                         graph::group const& x, int i, int apart, bool const* is_load) {
    auto const distance = [&](int a, int b) {
        auto const value_of = [&](int step) { return s.leaves[x.first_leaf + s.steps[x.first_step + step].leaf]; };
        return static_cast<int>(distance_of_neighbours(g, s, value_of(a), value_of(b), apart));
    };
    auto const has_twin = [&](int step) { // that begins in the same place, but may end in another
        bool has = false;
        for (int k = 0; k < x.step_count; ++k) {
            has |= k != step && is_load[k] && distance(k, step) == 0;
        }
        return has;
    };
    kernels::spaced_reads reads;
    int ahead[kernels::most_apart] = {i, -1, -1, -1}; // what begins so many elements ahead of step `i`
    bool const is_alone = has_twin(i);
    for (int k = 0; k < x.step_count && !is_alone; ++k) {
        if (!is_load[k] || k == i || has_twin(k)) {
            continue;
        }
        int const to = distance(i, k), from = distance(k, i);
        if ((to > 0 || from > 0) && k < i) {
            return reads;
        }
        reads.before = std::max(reads.before, from);
        if (to > 0) {
            ahead[to] = k;
        } else if (from > 0) {
            reads.steps[from] = k; // as many behind it, for now
        }
    }
    kernels::spaced_reads all;
    all.before = std::max(reads.before, 0);
    for (int d = 0; d < kernels::most_apart; ++d) {
        int const behind = all.before - d;
        all.steps[d] = behind > 0 ? reads.steps[behind] : ahead[-behind];
    }
    return all;
}

} // namespace runtime
} // namespace v0
} // namespace calque
