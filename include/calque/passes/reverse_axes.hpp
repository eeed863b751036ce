// SPDX-License-Identifier: MIT
// Arrays by columns: with its axes in reverse order, such an array is one by rows, which all kernels read as it lies.
#pragma once

#include <calque/graph/copy.hpp>
#include <calque/graph/value.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

using namespace graph;

/// One walk over a graph in order. Each value is computed with its axes as they are, or reversed: as those of what it
/// is computed of. The other form is a view, made where something asks for it.
template <class Graph, class Builder>
class axis_reverser {
public:
    constexpr axis_reverser(Graph const& from, std::uint64_t arguments, Builder& to)
        : from_(from), to_(to), arguments_(arguments), plain_(from.node_count), reversed_(from.node_count),
          is_made_reversed_(from.node_count) {}

    constexpr void run() {
        for (node_id id = 0; id < from_.node_count; ++id) {
            plain_[id] = reversed_[id] = -1;
            node const& n = from_[id];
            bool const is_reversed = is_computed_reversed(n);
            is_made_reversed_[id] = is_reversed && rank(id) > 1; // else both forms are one
            if (!is_reversed) {
                plain_[id] = copy_plain(n);
            } else if (n.op == code_of<ops::argument>) {
                plain_[id] = copy_plain(n);
                reversed_[id] = transpose(at(plain_[id])).id;
            } else {
                reversed_[id] = copy_reversed(id, n);
                plain_[id] = is_made_reversed_[id] ? -1 : reversed_[id];
            }
        }
        for (int i = 0; i < from_.output_count; ++i) {
            to_.add_output(plain(from_.outputs[i]));
        }
    }

private:
    constexpr int rank(node_id id) const { return from_.shape(id).rank; }
    constexpr value at(node_id id) const { return {&to_, id}; }

    /// A value with its axes as they are.
    constexpr node_id plain(node_id id) {
        if (plain_[id] < 0) {
            plain_[id] = transpose(at(reversed_[id])).id;
        }
        return plain_[id];
    }

    /// A value with its axes reversed, and of `rank` axes: those that it broadcasts along are its last ones then.
    constexpr node_id reversed(node_id id, int wanted_rank) {
        int const own_rank = rank(id);
        if (reversed_[id] < 0) {
            reversed_[id] = is_stretched_scalar(id) ? copy_reversed(id, from_[id])
                            : own_rank > 1          ? transpose(at(plain_[id])).id
                                                    : plain_[id];
        }
        axis_set const missing = ((axis_set{1} << wanted_rank) - 1) & ~((axis_set{1} << own_rank) - 1);
        return own_rank == 0 ? reversed_[id] : expand_dims(at(reversed_[id]), missing).id;
    }

    /// What is as good in either form.
    constexpr bool is_stretched_scalar(node_id id) const {
        return is_stretching(from_[id].op) && rank(from_.input(id, 0)) == 0;
    }

    constexpr bool is_computed_reversed(node const& n) const {
        switch (info(n.op).kind) {
        case op_kind::source:
            return n.op == code_of<ops::argument> && n.attribute < 64 && (arguments_ >> n.attribute & 1u) != 0;
        case op_kind::elementwise: return is_elementwise_reversed(n);
        case op_kind::reduction: return is_made_reversed_[from_.input(n, 0)];
        case op_kind::view:
            return (n.op == code_of<ops::squeeze> || n.op == code_of<ops::expand_dims>) &&
                   is_made_reversed_[from_.input(n, 0)];
        case op_kind::contraction:
            return n.op == code_of<ops::matmul> && is_made_reversed_[from_.input(n, 0)] &&
                   is_made_reversed_[from_.input(n, 1)];
        default: return false;
        }
    }

    /// Some operand is reversed, and no array of the same extents would have to be.
    constexpr bool is_elementwise_reversed(node const& n) const {
        if (!is_stretching(n.op) && !is_broadcasting(info(n.op), n.input_count)) {
            return false;
        }
        bool any = false;
        for (int k = 0; k < n.input_count; ++k) {
            node_id const input = from_.input(n, k);
            any |= is_made_reversed_[input];
            if (!is_made_reversed_[input] && from_[input].shape == n.shape && !is_shape_input(n, k) &&
                !is_stretched_scalar(input)) {
                return false;
            }
        }
        return any;
    }

    constexpr node_id copy_plain(node const& n) {
        if (n.op == code_of<ops::transpose> && is_made_reversed_[from_.input(n, 0)]) {
            return copy_transpose(n, from_.input(n, 0));
        }
        sequence<node_id> inputs;
        for (int k = 0; k < n.input_count; ++k) {
            inputs.push_back(plain(from_.input(n, k)));
        }
        return copy_node(from_, n, to_, inputs.data());
    }

    /// A transpose of the reversed form, which is that form itself where all axes are transposed.
    constexpr node_id copy_transpose(node const& n, node_id input) {
        std::uint64_t permutation = 0;
        bool is_identity = true;
        for (int axis = 0; axis < rank(input); ++axis) {
            int const source = rank(input) - 1 - permuted(n.attribute, axis);
            permutation |= static_cast<std::uint64_t>(source) << (4 * axis);
            is_identity &= source == axis;
        }
        return is_identity ? reversed_[input] : transpose(at(reversed_[input]), permutation).id;
    }

    constexpr node_id copy_reversed(node_id id, node const& n) {
        bool const is_elementwise = info(n.op).kind == op_kind::elementwise;
        sequence<node_id> inputs;
        for (int k = 0; k < n.input_count; ++k) {
            node_id const input = from_.input(n, k);
            inputs.push_back(reversed(input, is_elementwise ? rank(id) : rank(input)));
        }
        if (n.op == code_of<ops::matmul>) {
            return to_.add(n.op, {inputs[1], inputs[0]}, n.attribute);
        }
        if (n.op == code_of<ops::broadcast_to>) {
            calque::shape const& extents = from_.shapes[n.attribute];
            calque::shape turned;
            for (int axis = extents.rank - 1; axis >= 0; --axis) {
                turned.push_back(extents[axis]);
            }
            return broadcast_to(at(inputs[0]), turned).id;
        }
        std::uint64_t attribute = n.attribute;
        if (!is_elementwise) { // a set of axes: of the operand or, if there are more, of the result
            int const last = (n.op == code_of<ops::expand_dims> ? rank(id) : rank(from_.input(n, 0))) - 1;
            attribute = 0;
            for (int axis = 0; axis <= last; ++axis) {
                attribute |= axis_set{graph::contains(n.attribute, axis)} << (last - axis);
            }
        }
        return to_.add(n.op, inputs.data(), n.input_count, attribute);
    }

    Graph from_;
    Builder& to_;
    std::uint64_t arguments_;
    sequence<node_id> plain_; // in the new graph; -1: nothing has asked for it
    sequence<node_id> reversed_;
    sequence<bool> is_made_reversed_;
};

} // namespace detail

/// Writes to `to` the graph with the axes reversed of what is computed from `arguments`, a set of arrays that lie by
/// columns. It has no regions.
template <class Graph, class Builder>
constexpr void reverse_axes(Graph const& from, std::uint64_t arguments, Builder& to) {
    detail::axis_reverser(from, arguments, to).run();
}

} // namespace passes
} // namespace v0
} // namespace calque
