// SPDX-License-Identifier: MIT
// A plan as text: which kernels run, over what, and which copies a call cannot do without.
#pragma once

#include <calque/core/text.hpp>
#include <calque/graph/regions.hpp>
#include <calque/runtime/plan.hpp>

namespace calque {
inline namespace v0 {
namespace runtime {

namespace detail {

/// The operations that a fused kernel computes: `add relu`. Loads and constants go without saying.
inline void append_operations(text& out, graph::schedule_view const& s, graph::group const& x) {
    for (int i = 0; i < x.step_count; ++i) {
        graph::step const& step = s.steps[x.first_step + i];
        bool const is_work = graph::info(step.op).kind != graph::op_kind::source && step.node != x.node;
        if (step.leaf < 0 && is_work) {
            out << ' ' << graph::info(step.op).name;
        }
    }
}

inline void append_extents(text& out, group_plan const& loops) {
    for (int axis = 0; axis < loops.outer_rank; ++axis) {
        out << loops.outer_extents[axis] << " x ";
    }
    out << loops.rows << " x " << loops.columns;
}

} // namespace detail

/// A line for each kernel of a plan, in order.
inline std::string to_text(graph::graph_view const& g, graph::schedule_view const& s, plan_view const& p,
                           bool is_interpreted) {
    text out;
    if (is_interpreted) {
        out << "op by op, without fusion: a dynamic extent of 1 broadcasts (declare it as 1 to get kernels)\n";
        return out.string();
    }
    for (int k = 0; k < s.group_count; ++k) {
        graph::group const& x = s.groups[k];
        group_plan const& loops = p.groups[k];
        for (int i = 0; i < *p.copy_count; ++i) {
            if (p.copies[i].before_group == k) {
                out << "   copy      " << p.copies[i].extents << " to contiguous memory\n";
            }
        }
        out << (k < 10 ? " " : "") << k << ' ';
        switch (x.kind) {
        case graph::group_kind::control:
            out << "region    " << graph::info(g[x.node].op).name << " with " << graph::region_count(g[x.node])
                << (graph::region_count(g[x.node]) == 1 ? " body" : " bodies");
            break;
        case graph::group_kind::movement: out << "move      " << graph::info(g[x.node].op).name; break;
        case graph::group_kind::product:
            out << "product   ";
            detail::append_extents(out, loops);
            out << " over " << loops.depth << " (" << kernels::name_of(loops.product) << ')';
            if (x.step_count > 1) {
                out << ", on its tiles:";
                detail::append_operations(out, s, x);
            }
            break;
        case graph::group_kind::columns:
            out << "columns   ";
            detail::append_extents(out, loops);
            out << ':';
            detail::append_operations(out, s, x);
            out << ' ' << graph::info(g[x.node].op).name << " over rows";
            break;
        case graph::group_kind::rows:
            out << (x.reduced_axes != 0 ? "rows      " : "elements  ");
            detail::append_extents(out, loops);
            out << ':';
            detail::append_operations(out, s, x);
            break;
        }
        out << '\n';
    }
    out << "arena " << *p.arena_bytes << " bytes\n";
    return out.string();
}

} // namespace runtime
} // namespace v0
} // namespace calque
