// SPDX-License-Identifier: MIT
// The regions of branches and loops: which they are, what they return, and what they capture.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/graph/graph.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

constexpr bool is_control(node const& n) {
    return info(n.op).kind == op_kind::control;
}

/// The number of regions of a branch or loop.
constexpr int region_count(node const& n) {
    control_counts const counts = control_counts::unpack(n.attribute);
    return n.op == code_of<ops::branch>       ? (n.input_count - counts.data) / counts.yields
           : n.op == code_of<ops::while_loop> ? 2
                                              : 1;
}

/// The inputs of a branch or loop that are the yields of its region `r`.
constexpr yield_range yields_of(node const& n, int r) {
    control_counts const counts = control_counts::unpack(n.attribute);
    return n.op == code_of<ops::branch>       ? ops::branch::yields(counts, r)
           : n.op == code_of<ops::while_loop> ? ops::while_loop::yields(counts, r)
                                              : ops::scan::yields(counts, r);
}

/// The region `r` of a branch or loop.
constexpr std::uint16_t region_of(graph_view const& g, node const& n, int r) {
    return g[g.input(n, yields_of(n, r).first)].region;
}

constexpr bool is_within(graph_view const& g, std::uint16_t inner, std::uint16_t outer) {
    while (inner != outer && inner != 0) {
        inner = g.regions[inner].parent;
    }
    return inner == outer;
}

/// Whether the region that uses a value of another one has it anyway: it follows from the compiler's knowledge or from
/// extents.
constexpr bool is_known_everywhere(node const& n) {
    return n.op == code_of<ops::constant> || n.op == code_of<ops::element_count>;
}

/// Adds to `captures` the nodes outside region `r` whose elements are read in it or in its own regions, each once.
constexpr void collect_captures(graph_view const& g, std::uint16_t r, sequence<node_id>& captures) {
    for (node_id id = g.regions[r].first_node; id < g.node_count; ++id) {
        node const& n = g[id];
        for (int k = 0; is_within(g, n.region, r) && k < n.input_count && !is_shape_input(n, k); ++k) {
            node_id const input = g.input(n, k);
            if (!is_within(g, g[input].region, r) && !is_known_everywhere(g[input]) && find(captures, input) < 0) {
                captures.push_back(input);
            }
        }
    }
}

/// Where the elements of a value come from that region `r`, one of those of the control node `n`, reads but does not
/// compute: the index of an input of `n`.
constexpr int data_input_of(graph_view const& g, node const& n, std::uint16_t r, node_id id) {
    control_counts const counts = control_counts::unpack(n.attribute);
    if (g.is<ops::parameter>(id) && g[id].region == r) {
        return static_cast<int>(g[id].attribute);
    }
    if (g.is<ops::item>(id) && g[id].region == r) {
        return counts.carried + static_cast<int>(g[id].attribute);
    }
    int k = n.op == code_of<ops::branch> ? 1 : counts.carried + counts.items;
    while (k < counts.data && g.input(n, k) != id) {
        ++k;
    }
    return k;
}

} // namespace graph
} // namespace v0
} // namespace calque
