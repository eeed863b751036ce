// SPDX-License-Identifier: MIT
// What the calls of a program can ask of a planner and an executor. What none can is not compiled: the code around a
// kernel, not the kernel, is what most functions cost a compiler.
#pragma once

#include <calque/graph/graph.hpp>
#include <calque/graph/placed_parts.hpp>
#include <calque/graph/rolled_views.hpp>
#include <calque/runtime/plan.hpp>
#include <calque/runtime/spaced_views.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace runtime {

/// What a program needs; in doubt, true.
struct plan_needs {
    bool copies = true; // some operand may lie so that a kernel cannot read it
    bool orders = true; // some operand's elements may lie in another order than row-major
    bool views = true;
    bool counts = true; // scalars that follow from extents
    bool buffers = true;
    bool products = true;
    bool scratch = true;        // kernels that keep rows
    bool outer_loops = true;    // loops around a kernel
    bool values = true;         // places that are read when the kernels run: operands of what is no fused kernel
    bool several_shapes = true; // else each kernel is one loop over arrays of one shape, and scalars
    /// Kernels that need no copy of an operand with one element a row, where only the call knows that. Regions do
    /// without: in doubt, false.
    bool broadcasts = false;
    /// Kernels that read elements of views which stand a few apart. Regions do without: in doubt, false.
    bool spaced = false;
    /// Kernels that reduce rows piece by piece, whose pieces no stride leads through. Regions do without.
    bool pieces = false;
    bool output_gaps = false; // outputs may have gaps between rows: in doubt, false
    bool margins = false;     // values may be made where they are placed, amid zeros or others: in doubt, false
    bool rolls = true;        // kernels read what is rolled where it lies
    bool kernels = true;      // some call runs kernel by kernel, not as a `register_program`

    /// Whether what a kernel makes may have gaps between rows.
    constexpr bool result_gaps() const { return output_gaps || margins; }

    static constexpr plan_needs none() {
        return {false, false, false, false, false, false, false, false, false,
                false, false, false, false, false, false, false, false};
    }

    constexpr bool operator==(plan_needs const&) const = default;
};

namespace detail {

/// Whether a group may have a loop around its kernel whose planes are so small that it is better done without.
constexpr bool may_have_planes(graph::group const& x, int rank) {
    return x.kind == graph::group_kind::rows && rank > 2;
}

/// Finds what the groups of a schedule need if arguments are contiguous and extents that meet are equal.
class needs_finder {
public:
    constexpr needs_finder(graph::graph_view const& g, graph::schedule_view const& s) : g_(g), s_(s) {}

    constexpr plan_needs find() const {
        plan_needs needs = plan_needs::none();
        needs.kernels = true;
        for (int v = 0; v < s_.value_count; ++v) {
            graph::stored_value const& value = s_.values[v];
            needs.views |= value.kind == graph::storage_kind::view;
            needs.rolls |= graph::is_rolled(g_, s_, v);
            needs.counts |= value.kind == graph::storage_kind::count;
            needs.buffers |= value.kind == graph::storage_kind::buffer && value.output < 0;
            needs.orders |= value.kind == graph::storage_kind::view && !is_result_in_place(v);
        }
        for (int k = 0; k < s_.group_count; ++k) {
            add_group(s_.groups[k], needs);
        }
        needs.copies |= needs.orders || needs.margins;
        return needs;
    }

private:
    /// Whether a view is nothing but an output, whose memory a kernel has filled in row-major order: a sum without the
    /// axis that it was over.
    constexpr bool is_result_in_place(int v) const {
        graph::stored_value const& source = s_.values[s_.values[v].source];
        graph::node const& view = g_[s_.values[v].node];
        bool const keeps_order = view.op == graph::code_of<graph::ops::squeeze> ||
                                 view.op == graph::code_of<graph::ops::expand_dims> ||
                                 view.op == graph::code_of<graph::ops::reshape>;
        bool const is_filled =
            source.kind == graph::storage_kind::buffer && source.output >= 0 && s_.outputs[source.output] == v;
        bool is_read = s_.is_read(v);
        for (int o = 0; o < s_.output_count; ++o) {
            is_read |= o != source.output && s_.outputs[o] == v;
        }
        return keeps_order && is_filled && !is_read;
    }

    constexpr void add_group(graph::group const& x, plan_needs& needs) const {
        if (x.kind == graph::group_kind::movement || x.kind == graph::group_kind::control) {
            needs.values = true;
            needs.margins |= graph::is_amid_zeros(g_, s_, x);
            for (int i = 0; i < x.leaf_count; ++i) {
                needs.margins |= graph::may_find_in_place(g_, s_, x, i);
            }
            return;
        }
        int const rank = g_.shapes[x.space].rank;
        bool const is_reduced = x.reduced_axes != 0;
        bool const is_flat = !is_reduced && x.kind == graph::group_kind::rows && has_one_shape(x);
        // Along one axis any contiguous operand lies evenly; along several, one that has all of them does.
        bool const folds_rows = x.kind == graph::group_kind::columns;
        needs.copies |= (folds_rows || x.reduced_axes > 1) && !has_one_shape(x);
        needs.copies |= may_have_planes(x, rank) && repeats_rows(x);
        needs.products |= x.kind == graph::group_kind::product;
        needs.scratch |= is_reduced;
        needs.outer_loops |=
            folds_rows ? x.first_reduced_axis > 0 : !is_flat && rank - (is_reduced ? x.reduced_axes : 1) > 1;
        needs.several_shapes |= !is_flat;
    }

    /// Whether all that a group reads and writes has the shape of its space, or is a scalar.
    constexpr bool has_one_shape(graph::group const& x) const {
        bool all = true;
        for (int i = 0; i < x.leaf_count; ++i) {
            all &= fits(x, s_.leaves[x.first_leaf + i]);
        }
        for (int i = 0; i < x.result_count; ++i) {
            all &= fits(x, s_.results[x.first_result + i]);
        }
        return all;
    }

    /// Whether a leaf has something for each plane, but the same for all of its rows.
    constexpr bool repeats_rows(graph::group const& x) const {
        shape const& space = g_.shapes[x.space];
        int const end = space.rank - (x.reduced_axes != 0 ? 1 : 0);
        bool any = false;
        for (int i = 0; i < x.leaf_count; ++i) {
            shape const& leaf = g_.shape(s_.values[s_.leaves[x.first_leaf + i]].node);
            bool has_before = false; // an axis that it has
            for (int axis = space.rank - leaf.rank; axis < end; ++axis) {
                bool const has = leaf[axis - (space.rank - leaf.rank)] != 1;
                any |= has_before && !has && space[axis] != 1;
                has_before |= has;
            }
        }
        return any;
    }

    constexpr bool fits(graph::group const& x, int v) const {
        int const s = g_[s_.values[v].node].shape;
        return s == x.space || g_.shapes[s].rank == 0;
    }

    graph::graph_view g_;
    graph::schedule_view s_;
};

/// Whether a leaf of a group may have one element a row though its steps vary along the columns: their extent is
/// dynamic, and so 1 in some call.
constexpr bool is_open(graph::graph_view const& g, graph::schedule_view const& s, graph::group const& x) {
    bool any = false;
    shape const& space = g.shapes[x.space];
    int const from_end = x.reduced_axes != 0 ? 1 : space.rank - graph::first_column_axis(x, space);
    for (int i = 0; i < x.step_count; ++i) {
        graph::step const& step = s.steps[x.first_step + i];
        shape const& declared = g.shape(step.node);
        any |= step.leaf >= 0 && step.varies_along_columns && declared[declared.rank - from_end] == dyn;
    }
    return any && x.leaf_count > 1;
}

/// Whether a group gets a second kernel for such leaves.
constexpr bool has_kernel_of_broadcasts(graph::graph_view const& g, graph::schedule_view const& s,
                                        graph::group const& x) {
    bool const is_fused = x.kind == graph::group_kind::rows || x.kind == graph::group_kind::columns;
    return is_fused && x.step_count <= kernels::thresholds::steps_with_kernel_of_broadcasts && is_open(g, s, x);
}

/// Whether operands are copied for a group if only a call knows what broadcasts.
constexpr bool copies_broadcasts(graph::graph_view const& g, graph::schedule_view const& s, graph::group const& x) {
    return x.kind == graph::group_kind::columns || x.kind == graph::group_kind::product || x.reduced_axes > 1 ||
           (x.leaf_count > 1 && may_have_planes(x, g.shapes[x.space].rank)) ||
           (x.kind == graph::group_kind::rows && is_open(g, s, x) && !has_kernel_of_broadcasts(g, s, x));
}

/// Whether some call may find the rows of a group in pieces, as these have several axes: a leaf is a view, or the
/// caller's, or broadcasts.
constexpr bool may_be_in_pieces(graph::graph_view const& g, graph::schedule_view const& s, graph::group const& x) {
    bool may = false;
    for (int i = 0; i < x.leaf_count; ++i) {
        graph::stored_value const& leaf = s.values[s.leaves[x.first_leaf + i]];
        int const its_shape = g[leaf.node].shape;
        may |= leaf.kind == graph::storage_kind::view || leaf.kind == graph::storage_kind::argument;
        may |= its_shape != x.space && g.shapes[its_shape].rank != 0;
    }
    return may && x.kind == graph::group_kind::rows && x.reduced_axes > 1 &&
           x.step_count <= kernels::thresholds::steps_with_kernel_of_pieces;
}

/// Whether some leaf may have one element a piece of such a row: the last extent is 1, or dynamic.
constexpr bool may_have_one_element_a_piece(graph::graph_view const& g, graph::schedule_view const& s,
                                            graph::group const& x) {
    bool may = false;
    for (int i = 0; i < x.leaf_count; ++i) {
        shape const& leaf = g.shape(s.values[s.leaves[x.first_leaf + i]].node);
        extent_t const last = leaf.rank == 0 ? 0 : leaf[leaf.rank - 1];
        may |= last == 1 || (last == dyn && x.leaf_count > 1);
    }
    return may;
}

} // namespace detail

/// What the calls of a program need. `may_be_strided`: of the caller's arguments some may not be contiguous;
/// `may_broadcast`: its kernels run calls where dynamic extents broadcast.
constexpr plan_needs needs_of(graph::graph_view const& g, graph::schedule_view const& s, bool may_be_strided,
                              bool may_broadcast) {
    plan_needs needs = detail::needs_finder(g, s).find();
    needs.broadcasts = may_broadcast;
    for (int k = 0; k < s.group_count; ++k) {
        needs.spaced |= spacings_of(g, s, s.groups[k]) != 0;
    }
    needs.orders |= may_be_strided;
    needs.copies |= may_be_strided;
    for (int k = 0; may_broadcast && k < s.group_count; ++k) {
        needs.copies |= detail::copies_broadcasts(g, s, s.groups[k]);
    }
    for (int k = 0; needs.copies && k < s.group_count; ++k) {
        needs.pieces |= detail::may_be_in_pieces(g, s, s.groups[k]);
    }
    needs.outer_loops |= needs.copies || may_broadcast;
    needs.several_shapes |= needs.copies || may_broadcast;
    return needs;
}

/// The same of calls some of whose outputs have gaps between rows.
constexpr plan_needs with_output_gaps(plan_needs needs) {
    needs.output_gaps = needs.outer_loops = needs.several_shapes = needs.kernels = true;
    return needs;
}

/// What the plans of a program have room for.
constexpr plan_capacity capacity_of(graph::graph_view const& g, graph::schedule_view const& s,
                                    graph::schedule_size const& size, plan_needs const& needs) {
    plan_capacity capacity{size};
    capacity.values = needs.values ? size.values : 0;
    for (int k = 0; needs.outer_loops && k < s.group_count; ++k) {
        capacity.outer_axes = std::max(capacity.outer_axes, g.shapes[s.groups[k].space].rank - 1);
    }
    for (int k = 0; needs.rolls && k < s.group_count; ++k) {
        capacity.rolls += graph::count_rolled(g, s, s.groups[k]);
    }
    bool is_static = true;
    for (graph::node_id id = 0; id < g.node_count; ++id) {
        is_static = is_static && g.shape(id).is_static();
    }
    if (!needs.copies) {
        capacity.copies = -1;
    } else if (is_static) { // an operand of a kernel is copied once at most, and so is a view
        capacity.copies = size.leaves + (needs.views ? size.values : 0);
    }
    return capacity;
}

} // namespace runtime
} // namespace v0
} // namespace calque
