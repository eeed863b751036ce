// SPDX-License-Identifier: MIT
// A finished graph: plain arrays, so that it can be a constant. `graph_view` is how passes and executors read one.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/graph/op_set.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// Reads a graph, whoever stores it.
struct graph_view {
    node const* nodes = nullptr;
    node_id const* inputs = nullptr;
    calque::shape const* shapes = nullptr;
    region const* regions = nullptr;
    node_id const* outputs = nullptr;
    int node_count = 0;
    int input_count = 0;
    int shape_count = 0;
    int region_count = 0;
    int output_count = 0;
    /// What an executor is to run: a region, whose outputs are above; and the branch or loop that it belongs to (-1: it
    /// is the function's body).
    std::uint16_t entry = 0;
    node_id control = -1;
    /// Which arguments lie by columns, as bits; if any, outputs may, too.
    std::uint64_t by_columns = 0;
    user_operation const* const* user_operations = nullptr;
    int user_operation_count = 0;

    constexpr node const& operator[](node_id id) const { return nodes[id]; }
    constexpr node_id input(node const& n, int k) const { return inputs[n.first_input + k]; }
    constexpr node_id input(node_id id, int k) const { return inputs[nodes[id].first_input + k]; }
    constexpr node_id const* inputs_of(node const& n) const { return inputs + n.first_input; }
    constexpr calque::shape const& shape(node_id id) const { return shapes[nodes[id].shape]; }
    constexpr calque::shape const& input_shape(node const& n, int k) const { return shape(input(n, k)); }

    template <class Op>
    constexpr bool is(node_id id) const {
        return nodes[id].op == code_of<Op>;
    }
};

/// The number of elements of each array of a graph.
struct graph_size {
    int nodes = 0, inputs = 0, shapes = 0, regions = 0, outputs = 0, user_operations = 0;

    constexpr bool operator==(graph_size const&) const = default;
    constexpr bool fits_in(graph_size const& c) const {
        return nodes <= c.nodes && inputs <= c.inputs && shapes <= c.shapes && regions <= c.regions &&
               outputs <= c.outputs && user_operations <= c.user_operations;
    }
};

constexpr graph_size size_of_graph(graph_view const& g) {
    return {g.node_count, g.input_count, g.shape_count, g.region_count, g.output_count, g.user_operation_count};
}

/// A graph of fixed size, which a constant can hold.
template <graph_size Size>
struct static_graph {
    static constexpr int at_least_one(int n) { return n == 0 ? 1 : n; }

    node nodes[at_least_one(Size.nodes)]{};
    node_id inputs[at_least_one(Size.inputs)]{};
    calque::shape shapes[at_least_one(Size.shapes)]{};
    region regions[at_least_one(Size.regions)]{};
    node_id outputs[at_least_one(Size.outputs)]{};
    user_operation const* user_operations[at_least_one(Size.user_operations)]{};

    static constexpr int node_count = Size.nodes;

    constexpr graph_view view() const {
        graph_view v{nodes,      inputs,      shapes,      regions,      outputs,
                     Size.nodes, Size.inputs, Size.shapes, Size.regions, Size.outputs};
        v.user_operations = user_operations;
        v.user_operation_count = Size.user_operations;
        return v;
    }
};

/// A graph in arrays of some capacity, if they have room for it, and its size.
template <graph_size Capacity>
struct graph_within {
    graph_size size;
    static_graph<Capacity> graph; // empty, if it does not fit

    constexpr bool fits() const { return size.fits_in(Capacity); }
};

/// Copies arrays of a graph to others, which hold at least so much.
template <graph_size Size>
constexpr void copy_graph(auto const& from, static_graph<Size>& to, graph_size const& count) {
    for (int i = 0; i < count.nodes; ++i) {
        to.nodes[i] = from.nodes[i];
    }
    for (int i = 0; i < count.inputs; ++i) {
        to.inputs[i] = from.inputs[i];
    }
    for (int i = 0; i < count.shapes; ++i) {
        to.shapes[i] = from.shapes[i];
    }
    for (int i = 0; i < count.regions; ++i) {
        to.regions[i] = from.regions[i];
    }
    for (int i = 0; i < count.outputs; ++i) {
        to.outputs[i] = from.outputs[i];
    }
    for (int i = 0; i < count.user_operations; ++i) {
        to.user_operations[i] = from.user_operations[i];
    }
}

/// The same graph in arrays of its exact size.
template <graph_size Size>
constexpr static_graph<Size> resized(auto const& from) {
    static_graph<Size> to;
    copy_graph(from, to, Size);
    return to;
}

/// The `example` of a mapped function that a result depends on: one that left its function without being returned; -1:
/// none.
constexpr node_id find_escaped_example(graph_view const& g) {
    bool is_any = false;
    for (node_id id = 0; id < g.node_count; ++id) {
        is_any |= g.nodes[id].op == code_of<ops::example>;
    }
    if (!is_any) {
        return -1;
    }
    sequence<bool> read(g.node_count);
    for (int i = 0; i < g.output_count; ++i) {
        read[g.outputs[i]] = true;
    }
    for (node_id id = g.node_count - 1; id >= 0; --id) {
        if (read[id] && g.is<ops::example>(id)) {
            return id;
        }
        for (int k = 0; read[id] && k < g[id].input_count; ++k) {
            read[g.input(id, k)] |= is_read(g[id], k);
        }
    }
    return -1;
}

} // namespace graph
} // namespace v0
} // namespace calque
