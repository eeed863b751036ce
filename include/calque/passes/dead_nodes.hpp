// SPDX-License-Identifier: MIT
// Dead code removal.
#pragma once

#include <calque/graph/copy.hpp>

namespace calque {
inline namespace v0 {
namespace passes {

/// Removes the nodes that no output depends on; the others keep their order.
///
/// Runs after differentiation, which leaves the adjoints of unused arguments behind.
constexpr void remove_dead_nodes(graph::graph_view const& from, graph::builder& to) {
    sequence<bool> live(from.node_count);
    for (int i = 0; i < from.output_count; ++i) {
        live[from.outputs[i]] = true;
    }
    for (graph::node_id id = from.node_count - 1; id >= 0; --id) {
        for (int k = 0; live[id] && k < from[id].input_count; ++k) {
            live[from.input(id, k)] = true;
        }
    }
    graph::node_map images(from, to);
    for (graph::node_id id = 0; id < from.node_count; ++id) {
        if (live[id]) {
            images.copy(id);
        }
    }
    images.copy_outputs();
}

} // namespace passes
} // namespace v0
} // namespace calque
