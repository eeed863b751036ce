// SPDX-License-Identifier: MIT
// A plan as text: which kernels run, over what, and which copies a call cannot do without.
#pragma once

#include <calque/core/text.hpp>
#include <calque/graph/regions.hpp>
#include <calque/kernels/cpu/movement.hpp>
#include <calque/runtime/placement.hpp>
#include <calque/runtime/plan.hpp>

namespace calque {
inline namespace v0 {
namespace runtime {

namespace detail {

/// The operations that a fused kernel computes: `add relu`. Loads and constants go without saying.
inline void append_operations(text& out, graph::schedule_view const& s, graph::group const& x) {
    for (int i = 0; i < x.step_count; ++i) {
        graph::step const& step = s.steps[x.first_step + i];
        bool const is_product = step.node == x.node && x.kind == graph::group_kind::product;
        bool const is_work = graph::info(step.op).kind != graph::op_kind::source && !is_product;
        if (step.leaf < 0 && is_work) {
            out << ' ' << graph::info(step.op).name;
        }
    }
}

/// Whether leaf `i` of a group has a value for each row and column, in rows that do not follow each other.
inline bool has_strided_rows(graph::schedule_view const& s, const_plan_view const& p, graph::group const& x, int i) {
    for (int k = 0; k < x.step_count; ++k) {
        graph::step const& step = s.steps[x.first_step + k];
        if (step.leaf == i && step.varies_along_rows && step.varies_along_columns) {
            return p.leaves[x.first_leaf + i].row_stride != p.groups[&x - s.groups].columns;
        }
    }
    return false;
}

/// How a fused kernel goes through memory: the variant that runs. docs/kernels.md says what they are.
inline void append_variant(text& out, graph::schedule_view const& s, const_plan_view const& p, graph::group const& x) {
    group_plan const& loops = p.groups[&x - s.groups];
    bool const is_one_run = loops.rows == 1 && loops.outer_rank == 0;
    bool is_strided = false;
    for (int i = 0; i < x.leaf_count; ++i) {
        is_strided |= loops.rows > 1 && has_strided_rows(s, p, x, i);
    }
    out << (loops.keeps_order       ? " (one run, not by rows)"
            : is_one_run            ? " (one run)"
            : loops.outer_rank != 0 ? " (rows, loops around)"
            : is_strided            ? " (strided rows)"
                                    : " (rows)");
}

/// Which array is copied before a kernel, and how.
inline void append_copy(text& out, graph::schedule_view const& s, copy_plan const& copy) {
    out << "   copy      ";
    for (int v = 0; v < s.value_count; ++v) {
        if (s.values[v].kind == graph::storage_kind::argument && s.values[v].argument == copy.from.base) {
            out << "argument " << copy.from.base << ' ';
        }
    }
    out << copy.extents << " to contiguous memory, "
        << kernels::name_of_copy(copy.extents, copy.to_steps(copy.extents), copy.from_steps, copy.element_bytes)
        << (copy.shift != 0 ? ", rolled" : "") << (copy.is_by_parts ? ", part by part\n" : "\n");
}

inline void append_extents(text& out, const_plan_view const& p, int group) {
    group_plan const& loops = p.groups[group];
    for (int axis = 0; axis < loops.outer_rank + loops.piece_rank; ++axis) {
        out << p.outer_extents[group * p.outer_axes + axis] << " x ";
    }
    out << loops.rows << " x " << loops.columns;
}

/// What runs as one function: all that it computes, from first to last.
inline void append_register_program(text& out, graph::graph_view const& g, graph::schedule_view const& s) {
    out << "one function, all arrays in registers:";
    for (int k = 0; k < s.group_count; ++k) {
        graph::group const& x = s.groups[k];
        if (x.kind == graph::group_kind::movement || x.kind == graph::group_kind::product) {
            out << ' ' << graph::info(g[x.node].op).name;
        }
        append_operations(out, s, x);
    }
    out << '\n';
}

} // namespace detail

/// A line for each kernel of a plan, in order.
inline std::string to_text(graph::graph_view const& g, graph::schedule_view const& s, const_plan_view const& p) {
    text out;
    if (p.mode == execution_mode::op_by_op) {
        out << "op by op, without fusion: a dynamic extent of 1 broadcasts (declare it as 1 to get kernels)\n";
        return out.string();
    }
    if (p.is_in_registers) {
        detail::append_register_program(out, g, s);
        return out.string();
    }
    for (int k = 0; k < s.group_count; ++k) {
        graph::group const& x = s.groups[k];
        group_plan const& loops = p.groups[k];
        for (int i = 0; i < p.copy_count; ++i) {
            if (p.copies[i].before_group == k) {
                detail::append_copy(out, s, p.copies[i]);
            }
        }
        out << (k < 10 ? " " : "") << k << ' ';
        switch (x.kind) {
        case graph::group_kind::control:
            out << "region    " << graph::info(g[x.node].op).name << " with " << graph::region_count(g[x.node])
                << (graph::region_count(g[x.node]) == 1 ? " body" : " bodies");
            break;
        case graph::group_kind::movement:
            out << "move      " << graph::info(g[x.node].op).name;
            if (loops.is_in_place) {
                out << " (in place)";
            }
            if (g.is<graph::ops::batch_matmul>(x.node)) {
                out << ' ' << loops.rows << " x " << loops.columns << " over " << loops.depth << " ("
                    << kernels::name_of(loops.product) << ')';
            }
            break;
        case graph::group_kind::product:
            out << "product   ";
            detail::append_extents(out, p, k);
            out << " over " << loops.depth << " (" << kernels::name_of(loops.product)
                << (loops.keeps_order ? ", by columns)" : ")");
            if (x.step_count > 1) {
                out << ", on its tiles:";
                detail::append_operations(out, s, x);
            }
            break;
        case graph::group_kind::columns:
            out << "columns   ";
            detail::append_extents(out, p, k);
            out << (loops.broadcast_leaves != 0 ? " (of some, one element a row):" : ":");
            detail::append_operations(out, s, x);
            out << " over rows";
            detail::append_variant(out, s, p, x);
            break;
        case graph::group_kind::rows:
            out << (x.reduced_axes != 0 ? "rows      " : "elements  ");
            detail::append_extents(out, p, k);
            if (loops.spaced.any()) {
                out << " (of some, one of every " << loops.spaced.apart << " elements)";
            }
            if (loops.ranges > 1) {
                out << " (in " << loops.ranges << " ranges)";
            }
            out << (loops.variant == kernels::row_variant::in_pieces          ? " (in pieces):"
                    : loops.broadcast_leaves != 0                             ? " (of some, one element a row):"
                    : loops.variant == kernels::row_variant::lanes_along_rows ? " (a lane a row):"
                    : loops.variant == kernels::row_variant::folded_together  ? " (rows folded together):"
                    : loops.variant == kernels::row_variant::past_caches      ? " (stored past the caches):"
                                                                              : ":");
            detail::append_operations(out, s, x);
            detail::append_variant(out, s, p, x);
            break;
        }
        out << '\n';
    }
    if (p.mode == execution_mode::kernels_of_wider_outputs) {
        out << "   copy      outputs along which a dynamic extent of 1 broadcasts, from all elements\n";
    }
    out << "arena " << p.arena_bytes << " bytes\n";
    return out.string();
}

} // namespace runtime
} // namespace v0
} // namespace calque
