// SPDX-License-Identifier: MIT
// Substitution: what a graph computes of one value, computed of another.
#pragma once

#include <calque/graph/value.hpp>

namespace calque {
inline namespace v0 {
namespace passes {

/// Replaces each of the `results` by what it would be if `to` stood in the place of `from`: appends copies of the nodes
/// between them that read `from`. Both have one dtype and shape.
constexpr void substitute(graph::value from, graph::value to, graph::value* results, int count) {
    using namespace graph;
    builder& owner = *from.owner;
    node_id last = from.id;
    for (int i = 0; i < count; ++i) {
        last = results[i].id > last ? results[i].id : last;
    }
    sequence<node_id> images(last - from.id + 1);
    for (node_id& image : images) {
        image = -1;
    }
    images[0] = to.id;
    sequence<node_id> inputs;
    for (node_id id = from.id + 1; id <= last; ++id) {
        bool reads = false;
        inputs.resize(0);
        node const n = owner[id];
        for (int k = 0; k < n.input_count; ++k) {
            node_id const input = owner.input(id, k);
            node_id const image = input < from.id || !is_read(n, k) ? -1 : images[input - from.id];
            reads |= image >= 0;
            inputs.push_back(image < 0 ? input : image);
        }
        op_kind const kind = info(n.op).kind;
        if (reads && (kind == op_kind::control || kind == op_kind::border)) {
            owner.fail(reason::control_in_derivative, n.op, inputs.data(), 1);
        } else if (reads) {
            images[id - from.id] = owner.add(n.op, inputs.data(), n.input_count, n.attribute);
        }
    }
    for (int i = 0; i < count; ++i) {
        if (results[i].id >= from.id && images[results[i].id - from.id] >= 0) {
            results[i].id = images[results[i].id - from.id];
        }
    }
}

} // namespace passes
} // namespace v0
} // namespace calque
