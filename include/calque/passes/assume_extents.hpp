// SPDX-License-Identifier: MIT
// Extents that only the call knows but that meet one that the compiler knows: the columns of scores beside
// `one_hot(labels, 10)`.
//
// In a call they are that extent, or 1, which broadcasts, else it is an error. An axis that is also reduced is hardly
// of extent 1: its kernels are made for the known extent, and a call in which it is 1 runs op by op.
#pragma once

#include <calque/graph/copy.hpp>
#include <calque/graph/extent_symbols.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

using namespace graph;

/// Calls `fn(input, axis)` for each axis whose extent only the call knows and that a reduction folds.
template <class Graph>
constexpr void for_each_folded_dynamic_axis(Graph const& g, auto fn) {
    for (node_id id = 0; id < g.node_count; ++id) {
        node const& n = g[id];
        for (int axis = 0; info(n.op).kind == op_kind::reduction && axis < g.shape(id).rank; ++axis) {
            if (graph::contains(n.attribute, axis) && g.input_shape(n, 0)[axis] == dyn) {
                fn(g.input(n, 0), axis);
            }
        }
    }
}

template <class Graph>
constexpr bool folds_dynamic_axes(Graph const& g) {
    bool any = false;
    for_each_folded_dynamic_axis(g, [&](node_id, int) { any = true; });
    return any;
}

/// What is assumed of the dynamic extents of a graph without regions.
template <class Graph>
class extent_assumptions {
public:
    constexpr explicit extent_assumptions(Graph const& g)
        : g_(g), symbols_(g), met_(symbols_.count()), assumed_(symbols_.count()) {
        for (node_id id = 0; id < g.node_count; ++id) {
            for_each_meeting(id, [&](int symbol, node_id, int axis) {
                extent_t const joined = g_.shape(id)[axis];
                if (is_static(joined) && joined != 1) {
                    note(met_[symbol], joined);
                }
            });
        }
        for_each_folded_dynamic_axis(g, [&](node_id input, int axis) {
            int const symbol = symbols_.of(input, axis);
            note(assumed_[symbol], met_[symbol]);
        });
        // What is joined of several dynamic extents has the one that all of them are assumed to have.
        for (node_id id = g.node_count - 1; id >= 0; --id) {
            for_each_meeting(id, [&](int symbol, node_id joined, int axis) {
                if (g_.shape(joined)[axis] == dyn) {
                    note(assumed_[symbol], assumed_[symbols_.of(joined, axis)]);
                }
            });
        }
    }

    /// The shape of an argument with what is assumed.
    constexpr calque::shape of(node_id argument) const {
        calque::shape s = g_.shape(argument);
        for (int axis = 0; axis < s.rank; ++axis) {
            extent_t const assumed = s[axis] == dyn ? assumed_[symbols_.of(argument, axis)] : 0;
            s[axis] = assumed > 1 ? assumed : s[axis];
        }
        return s;
    }

    constexpr bool is_any() const {
        bool any = false;
        for (node_id id = 0; id < g_.node_count; ++id) {
            any |= g_[id].op == code_of<ops::argument> && of(id) != g_.shape(id);
        }
        return any;
    }

private:
    static constexpr extent_t contradiction = -1;

    static constexpr void note(extent_t& known, extent_t extent) {
        if (extent != 0) {
            known = known == 0 || known == extent ? extent : contradiction;
        }
    }

    /// Calls `fn(symbol, id, axis)` for each dynamic extent of an input that broadcasts along an axis of the node `id`.
    constexpr void for_each_meeting(node_id id, auto fn) const {
        node const& n = g_[id];
        op_info const& operation = info(n.op);
        bool const broadcasts = operation.kind == op_kind::elementwise && operation.first_shape_input >= n.input_count;
        for (int k = 0; broadcasts && k < n.input_count; ++k) {
            calque::shape const& input = g_.input_shape(n, k);
            int const missing = g_.shape(id).rank - input.rank;
            for (int axis = 0; axis < input.rank; ++axis) {
                if (input[axis] == dyn) {
                    fn(symbols_.of(g_.input(n, k), axis), id, axis + missing);
                }
            }
        }
    }

    Graph g_;
    extent_symbols symbols_;
    sequence<extent_t> met_; // by symbol: 0: none
    sequence<extent_t> assumed_;
};

} // namespace detail

/// Whether kernels of a graph are made for extents that a plan must check.
template <class Graph>
constexpr bool assumes_extents(Graph const& g) {
    return g.region_count <= 1 && detail::folds_dynamic_axes(g) && detail::extent_assumptions<Graph>(g).is_any();
}

/// Writes to `to` a graph that assumes extents with those; returns false if it has errors then: no call has them.
template <class Graph, class Builder>
constexpr bool assume_extents(Graph const& from, Builder& to) {
    detail::extent_assumptions<Graph> const assumptions(from);
    graph::node_map images(from, to);
    for (graph::node_id id = 0; id < from.node_count; ++id) {
        graph::node const& n = from[id];
        if (n.op == graph::code_of<graph::ops::argument>) {
            images.set(id, to.argument(n.type, assumptions.of(id), static_cast<int>(n.attribute)));
        } else {
            images.copy(id);
        }
    }
    images.copy_outputs();
    return to.error().why == graph::reason::none;
}

} // namespace passes
} // namespace v0
} // namespace calque
