// SPDX-License-Identifier: MIT
// Contraction: a product that is used once, in a sum or a difference, becomes a fused multiply-add. The interpreter runs
// the contracted graph too: what a function computes does not depend on the executor or on the compiler's own contraction.
#pragma once

#include <calque/graph/copy.hpp>
#include <calque/graph/value.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

/// How often each node is used, as an input or as an output.
constexpr void count_uses(graph::graph_view const& g, sequence<int>& uses) {
    uses.resize(g.node_count);
    for (graph::node_id id = 0; id < g.node_count; ++id) {
        for (int k = 0; k < g[id].input_count; ++k) {
            ++uses[g.input(id, k)];
        }
    }
    for (int i = 0; i < g.output_count; ++i) {
        ++uses[g.outputs[i]];
    }
}

} // namespace detail

/// Writes to `to` the graph with fused multiply-adds. `from` must have no dead nodes: they would count as uses.
constexpr void contract(graph::graph_view const& from, graph::builder& to) {
    using namespace graph;
    sequence<int> uses;
    detail::count_uses(from, uses);
    node_map images(from, to);
    auto const is_lone_product = [&](node_id id, node const& sum) {
        return from.is<ops::multiply>(id) && uses[id] == 1 && from[id].shape == sum.shape && is_floating(sum.type);
    };
    auto const fuse = [&](op_code op, node_id product, node_id other) {
        return to.add(op, {images[from.input(product, 0)], images[from.input(product, 1)], images[other]});
    };
    for (node_id id = 0; id < from.node_count; ++id) {
        node const& n = from[id];
        if (n.op == code_of<ops::add> || n.op == code_of<ops::subtract>) {
            node_id const a = from.input(n, 0);
            node_id const b = from.input(n, 1);
            bool const is_sum = n.op == code_of<ops::add>;
            if (is_lone_product(a, n)) {
                images.set(id, fuse(is_sum ? code_of<ops::fma> : code_of<ops::fms>, a, b));
                continue;
            }
            if (is_lone_product(b, n)) {
                images.set(id, fuse(is_sum ? code_of<ops::fma> : code_of<ops::fnma>, b, a));
                continue;
            }
        }
        images.copy(id);
    }
    images.copy_outputs();
}

} // namespace passes
} // namespace v0
} // namespace calque
