// SPDX-License-Identifier: MIT
// Contraction and dead code removal: a product that is used once, in a sum or a difference, becomes a fused
// multiply-add. The interpreter runs the contracted graph too: what a function computes does not depend on the executor
// or on the compiler's own contraction.
#pragma once

#include <calque/graph/copy.hpp>
#include <calque/graph/regions.hpp>
#include <calque/graph/value.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

/// What contraction asks of a graph: which nodes its outputs depend on, and how often each is used by those.
struct node_uses {
    sequence<bool> live;
    sequence<int> count;

    constexpr explicit node_uses(graph::graph_view const& g) : live(g.node_count), count(g.node_count) {
        for (int i = 0; i < g.output_count; ++i) {
            live.at[g.outputs[i]] = true;
            ++count.at[g.outputs[i]];
        }
        for (graph::node_id id = g.node_count - 1; id >= 0; --id) {
            if (!live.at[id]) {
                continue;
            }
            graph::node const& n = g.nodes[id];
            graph::node_id const* const inputs = g.inputs_of(n);
            for (int k = 0; k < n.input_count; ++k) {
                live.at[inputs[k]] = true;
                ++count.at[inputs[k]];
            }
        }
    }
};

/// The input of a sum or difference that is a product of the same shape and used nowhere else; -1: none.
template <class Graph>
constexpr int lone_product(Graph const& g, graph::node const& n, node_uses const& uses) {
    using namespace graph;
    bool const is_sum = n.op == code_of<ops::add> || n.op == code_of<ops::subtract>;
    for (int k = 0; is_sum && is_floating(n.type) && k < 2; ++k) {
        node_id const id = g.input(n, k);
        node const& input = g.nodes[id];
        if (input.op == code_of<ops::multiply> && uses.count.at[id] == 1 && input.shape == n.shape &&
            input.region == n.region) {
            return k;
        }
    }
    return -1;
}

/// Copies a branch or loop, with what its regions capture by now among its inputs.
template <class Graph, class Builder>
constexpr graph::node_id copy_control(Graph const& from, graph::node const& n, graph::node_map& images, Builder& to) {
    using namespace graph;
    images.enter_region_of(n);
    control_counts counts = control_counts::unpack(n.attribute);
    sequence<node_id> captures;
    for (int r = 0; r < region_count(n); ++r) {
        collect_captures(to.view(), images.region(region_of(from, n, r)), captures);
    }
    sequence<node_id> inputs;
    int const operands = n.op == code_of<ops::branch> ? 1 : counts.carried + counts.items;
    for (int k = 0; k < operands; ++k) {
        inputs.push_back(images[from.input(n, k)]);
    }
    for (node_id const id : captures) {
        inputs.push_back(id);
    }
    for (int k = counts.data; k < n.input_count; ++k) {
        inputs.push_back(images[from.input(n, k)]);
    }
    counts.data = operands + captures.size();
    return to.add(n.op, inputs.data(), inputs.size(), counts.pack());
}

} // namespace detail

/// Writes to `to` the graph with fused multiply-adds, and without the nodes that no output depends on (differentiation
/// leaves the adjoints of unused arguments behind). What regions capture becomes part of their branch's or loop's
/// inputs.
template <class Graph, class Builder>
constexpr void contract(Graph const& from, Builder& to) {
    using namespace graph;
    detail::node_uses const uses(from);
    sequence<int> lone_products(unset, from.node_count); // the inputs that nodes absorb
    sequence<bool> absorbed(from.node_count);
    for (node_id id = 0; id < from.node_count; ++id) {
        int const k = uses.live.at[id] ? detail::lone_product(from, from.nodes[id], uses) : -1;
        lone_products.at[id] = k;
        if (k >= 0) {
            absorbed.at[from.input(id, k)] = true;
        }
    }
    node_map images(from, to);
    for (node_id id = 0; id < from.node_count; ++id) {
        if (!uses.live.at[id] || absorbed.at[id]) {
            continue;
        }
        node const& n = from.nodes[id];
        if (is_control(n)) {
            images.set(id, detail::copy_control(from, n, images, to));
            continue;
        }
        int const k = lone_products.at[id];
        if (k < 0) {
            images.copy(id);
            continue;
        }
        op_code const op = n.op == code_of<ops::add> ? code_of<ops::fma>
                           : k == 0                  ? code_of<ops::fms>
                                                     : code_of<ops::fnma>;
        node_id const product = from.input(n, k);
        images.enter_region_of(n);
        images.set(id, to.add(op, {images[from.input(product, 0)], images[from.input(product, 1)],
                                   images[from.input(n, 1 - k)]}));
    }
    images.copy_outputs();
}

} // namespace passes
} // namespace v0
} // namespace calque
