// SPDX-License-Identifier: MIT
// Which dynamic extents are equal in every call; so, which nodes have the shape of an input, and where only the call
// knows whether an extent broadcasts: a dynamic extent meets one that it need not be equal to.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/graph/graph.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// Names the dynamic extents of a graph: equal symbols are equal extents in every call.
class extent_symbols {
public:
    constexpr explicit extent_symbols(graph_view const& g)
        : g_(g), rank_(highest_rank(g)), symbols_(g.node_count * rank_), equal_inputs_(unset, g.node_count) {
        for (node_id id = 0; id < g.node_count; ++id) {
            node const& n = g.nodes[id];
            equal_inputs_.at[id] = -1;
            op_info const& operation = info(n.op);
            if (operation.kind == op_kind::elementwise && operation.first_shape_input >= n.input_count &&
                n.op != code_of<ops::same_batch>) { // most nodes
                join(id, n);
            } else if (n.op == code_of<ops::transpose>) {
                for (int axis = 0; axis < g.shape(id).rank; ++axis) {
                    at(id, axis) = at(g.input(n, 0), permuted(n.attribute, axis));
                }
            } else if (n.op == code_of<ops::expand_dims> || n.op == code_of<ops::squeeze>) {
                follow_axes(id, n);
            } else if (n.op == code_of<ops::matmul>) {
                at(id, 0) = at(g.input(n, 0), 0);
                at(id, 1) = at(g.input(n, 1), 1);
            } else if (n.op == code_of<ops::batch_matmul>) {
                at(id, 0) = at(g.input(n, 0), 0);
                at(id, 1) = at(g.input(n, 0), 1);
                at(id, 2) = at(g.input(n, 1), 2);
            } else if (n.op == code_of<ops::gather_rows>) {
                int const numbers_rank = g.input_shape(n, 1).rank;
                for (int axis = 0; axis < g.shape(id).rank; ++axis) {
                    at(id, axis) =
                        axis < numbers_rank ? at(g.input(n, 1), axis) : at(g.input(n, 0), axis - numbers_rank + 1);
                }
            } else if (n.op == code_of<ops::item> || n.op == code_of<ops::example> || n.op == code_of<ops::stacked> ||
                       n.op == code_of<ops::history>) {
                follow_steps(id, n);
            } else if (n.op == code_of<ops::same_batch>) {
                int const batch = static_cast<int>(n.attribute & 255u);
                for (int axis = 0; axis < g.shape(id).rank; ++axis) {
                    at(id, axis) = at(g.input(n, axis == batch ? 1 : 0), axis);
                }
            } else if (int const like = shape_giver(n); like >= 0) {
                for (int axis = 0; axis < g.shape(id).rank; ++axis) {
                    at(id, axis) = at(g.input(n, like), axis);
                }
                if (n.op == code_of<ops::broadcast_like>) {
                    stretch(id, g.input(n, 0));
                }
            }
            name_the_rest(id, g.shapes[n.shape]);
        }
    }

    /// Whether some operation may or may not stretch one of its inputs.
    constexpr bool is_ambiguous() const { return is_ambiguous_; }

    /// By node: the input of an elementwise operation that has the shape of its result in every call that comes to it,
    /// where all others broadcast to it for certain; -1: none.
    constexpr sequence<node_id> const& equal_inputs() const { return equal_inputs_; }

    /// The symbol of a node's dynamic extent; symbols are less than `count()`.
    constexpr int of(node_id id, int axis) const { return at(id, axis); }
    constexpr int count() const { return last_symbol_ + 1; }

    /// Whether two nodes have the same extent along an axis in every call.
    constexpr bool are_equal(node_id a, node_id b, int axis) const {
        extent_t const declared = g_.shape(a)[axis];
        return declared == g_.shape(b)[axis] && (declared != dyn || at(a, axis) == at(b, axis));
    }

private:
    struct meeting {
        int a, b, symbol;
    };

    static constexpr int highest_rank(graph_view const& g) {
        int rank = 0;
        for (int i = 0; i < g.shape_count; ++i) {
            rank = g.shapes[i].rank > rank ? g.shapes[i].rank : rank;
        }
        return rank;
    }

    constexpr int& at(node_id id, int axis) { return symbols_.at[id * rank_ + axis]; }
    constexpr int at(node_id id, int axis) const { return symbols_.at[id * rank_ + axis]; }

    /// The input whose shape a node has, along the axes that stay dynamic; -1: none.
    constexpr int shape_giver(node const& n) const {
        if (info(n.op).first_shape_input < n.input_count) {
            bool const stretches = n.op == code_of<ops::broadcast_like>;
            bool const is_result = n.op == code_of<ops::result>;
            return stretches || is_result ? 1 : n.op == code_of<ops::element_count> ? -1 : info(n.op).first_shape_input;
        }
        bool const is_first_input =
            n.op == code_of<ops::yield> || n.op == code_of<ops::cotangent> || n.op == code_of<ops::custom_derivative> ||
            n.op == code_of<ops::after> || n.op == code_of<ops::flip> || n.op == code_of<ops::roll> ||
            n.op == code_of<ops::user_function> || n.op == code_of<ops::host_function> ||
            n.op == code_of<ops::running_sum> || n.op == code_of<ops::recurrence> || n.op == code_of<ops::sort_order>;
        return is_first_input || info(n.op).kind == op_kind::reduction ? 0 : -1;
    }

    constexpr void follow_axes(node_id id, node const& n) {
        bool const expands = n.op == code_of<ops::expand_dims>;
        node_id const input = g_.input(n, 0);
        int const wide_rank = expands ? g_.shape(id).rank : g_.shape(input).rank;
        for (int wide = 0, narrow = 0; wide < wide_rank; ++wide) {
            if (!graph::contains(n.attribute, wide)) {
                (expands ? at(id, wide) : at(id, narrow)) = expands ? at(input, narrow) : at(input, wide);
                ++narrow;
            }
        }
    }

    /// The steps of a scan are an axis 0 outside it, which its items do not have.
    constexpr void follow_steps(node_id id, node const& n) {
        if (n.op == code_of<ops::item> || n.op == code_of<ops::example>) {
            for (int axis = 0; axis < g_.shape(id).rank; ++axis) {
                at(id, axis) = at(g_.input(n, 0), axis + 1);
            }
            return;
        }
        at(id, 0) = at(g_.input(n, 2), 0);
        for (int axis = 1; axis < g_.shape(id).rank; ++axis) {
            at(id, axis) = at(g_.input(n, 1), axis - 1);
        }
    }

    /// An elementwise operation, all of whose inputs broadcast.
    constexpr void join(node_id id, node const& n) {
        shape const& extents = g_.shapes[n.shape];
        node_id const* const inputs = g_.inputs_of(n);
        int* const symbols = symbols_.at + id * rank_;
        bool is_certain = true;
        for (int axis = 0; axis < extents.rank; ++axis) {
            symbols[axis] = joined_symbol(extents, axis, inputs, n.input_count, is_certain);
        }
        for (int k = 0; is_certain && equal_inputs_.at[id] < 0 && k < n.input_count; ++k) {
            int const* const symbols_of_input = symbols_.at + inputs[k] * rank_;
            bool is_equal = g_.nodes[inputs[k]].shape == n.shape;
            for (int axis = 0; is_equal && axis < extents.rank; ++axis) {
                is_equal = symbols_of_input[axis] == symbols[axis];
            }
            equal_inputs_.at[id] = is_equal ? inputs[k] : -1;
        }
        is_ambiguous_ |= !is_certain;
    }

    /// The symbol of what some inputs have along an axis of their result, but for extents of 1. They may or may not be
    /// equal: that is not certain then.
    constexpr int joined_symbol(shape const& joined, int axis, node_id const* inputs, int count, bool& is_certain) {
        int symbol = 0;
        for (int k = 0; k < count; ++k) {
            shape const& extents = g_.shapes[g_.nodes[inputs[k]].shape];
            int const own_axis = axis + extents.rank - joined.rank;
            if (own_axis < 0 || extents.extents[own_axis] != dyn) {
                continue;
            }
            int const own = symbols_.at[inputs[k] * rank_ + own_axis];
            if (joined.extents[axis] != dyn) {
                is_certain = false;
                return 0;
            }
            is_certain = is_certain && (symbol == 0 || symbol == own);
            symbol = symbol == 0 || symbol == own ? own : met_symbol(symbol, own);
        }
        return symbol;
    }

    /// The symbol of what two extents make that may or may not be equal: the same wherever both meet, and where it
    /// meets one of them again.
    constexpr int met_symbol(int a, int b) {
        for (meeting const& m : meetings_) {
            if ((m.a == a && m.b == b) || (m.a == b && m.b == a)) {
                return m.symbol;
            }
        }
        int const symbol = ++last_symbol_;
        meetings_.push_back({a, b, symbol});
        meetings_.push_back({a, symbol, symbol});
        meetings_.push_back({b, symbol, symbol});
        return symbol;
    }

    /// What is stretched to the extents of another node must be 1 or have them, and which only the call knows.
    constexpr void stretch(node_id id, node_id input) {
        int const missing = g_.shape(id).rank - g_.shape(input).rank;
        for (int axis = 0; axis < g_.shape(input).rank; ++axis) {
            bool const is_equal = g_.shape(id)[axis + missing] == dyn && at(id, axis + missing) == at(input, axis);
            is_ambiguous_ |= g_.shape(input)[axis] == dyn && !is_equal;
        }
    }

    constexpr void name_the_rest(node_id id, shape const& extents) {
        int* const symbols = symbols_.at + id * rank_;
        for (int axis = 0; axis < extents.rank; ++axis) {
            int& symbol = symbols[axis];
            if (extents.extents[axis] != dyn) {
                symbol = 0;
            } else if (symbol <= 0) {
                symbol = ++last_symbol_;
            }
        }
    }

    graph_view g_;
    int rank_;              // the highest
    sequence<meeting> meetings_;
    sequence<int> symbols_; // 0: static, named, or not yet known
    sequence<node_id> equal_inputs_;
    int last_symbol_ = 0;
    bool is_ambiguous_ = false;
};

/// Whether only a call knows where extents broadcast: two dynamic ones of different origin meet, or a dynamic one and
/// one that is known.
constexpr bool is_ambiguous(graph_view const& g) {
    return extent_symbols(g).is_ambiguous();
}

} // namespace graph
} // namespace v0
} // namespace calque
