// SPDX-License-Identifier: MIT
// The concrete shapes of a graph for one call: every operation's rule, run again on the extents of the arguments.
#pragma once

#include <calque/core/text.hpp>
#include <calque/graph/graph.hpp>

#include <string>
#include <utility>

namespace calque {
inline namespace v0 {
namespace graph {

/// The first node that a call's shapes do not suit.
struct inference_failure {
    reason why = reason::none;
    node_id node = -1;
    int axis = -1;       // if an extent is not the declared one: which,
    extent_t wanted = 0; // and what it should have been
};

namespace detail {

/// Elements on the stack; if they are more than `Inline`, on the heap.
template <class T, int Inline>
class small_buffer {
public:
    constexpr explicit small_buffer(int size)
        : elements_(size <= Inline ? inline_ : new T[static_cast<std::size_t>(size)]{}) {}
    small_buffer(small_buffer const&) = delete;
    small_buffer& operator=(small_buffer const&) = delete;
    constexpr ~small_buffer() {
        if (elements_ != inline_) {
            delete[] elements_;
        }
    }

    constexpr T* data() { return elements_; }
    constexpr T& operator[](int i) { return elements_[i]; }

private:
    T inline_[Inline]{};
    T* elements_;
};

/// Checks that extents are the declared ones, and that equal names are equal extents.
class declared_extents {
public:
    constexpr explicit declared_extents(graph_view const& g) : names_(count_named(g)) {}

    /// The first axis that contradicts `declared`, or -1; `wanted` is then the extent that it should have.
    constexpr int contradiction(shape const& declared, shape const& concrete, extent_t& wanted) {
        for (int axis = 0; axis < declared.rank; ++axis) {
            extent_t const extent = declared[axis];
            if (extent == concrete[axis] || extent == dyn) {
                continue;
            }
            wanted = is_static(extent) ? extent : value_of(extent, concrete[axis]);
            if (wanted != concrete[axis]) {
                return axis;
            }
        }
        return -1;
    }

private:
    struct name {
        extent_t code, value;
    };

    static constexpr int count_named(graph_view const& g) {
        int count = 0;
        for (int i = 0; i < g.shape_count; ++i) {
            for (int axis = 0; axis < g.shapes[i].rank; ++axis) {
                count += is_named(g.shapes[i][axis]) ? 1 : 0;
            }
        }
        return count;
    }

    /// What the name stands for in this call; `value` if it is new.
    constexpr extent_t value_of(extent_t code, extent_t value) {
        for (int i = 0; i < count_; ++i) {
            if (names_[i].code == code) {
                return names_[i].value;
            }
        }
        names_[count_++] = {code, value};
        return value;
    }

    small_buffer<name, 32> names_;
    int count_ = 0;
};

/// The input whose shape all inputs of a node have in this call, but for scalars; -1 if their shapes differ.
constexpr node_id common_shape_input(graph_view const& g, node const& n, shape const* result) {
    node_id common = g.input(n, 0);
    for (int k = 1; k < n.input_count; ++k) {
        node_id const input = g.input(n, k);
        if (result[input].rank == 0 || input == common) {
            continue;
        }
        if (result[common].rank != 0 && !(result[input] == result[common])) {
            return -1;
        }
        common = input;
    }
    return common;
}

/// The shape of a node from those of its inputs, by its operation's rule.
template <class Rules>
constexpr shape apply_rule(graph_view const& g, node const& n, shape const* result, reason& why) {
    small_buffer<shape const*, 8> inputs(n.input_count);
    small_buffer<shape const*, 8> declared(n.input_count);
    for (int k = 0; k < n.input_count; ++k) {
        inputs[k] = &result[g.input(n, k)];
        declared[k] = &g.input_shape(n, k);
    }
    inference rule{inputs.data(), declared.data(), n.attribute, g.shapes, n.input_count};
    shape const inferred = Rules::infer(n.op, rule);
    why = rule.failure;
    return inferred;
}

/// A named extent of 1 among the inputs of a node, or `dyn`: people expect it to broadcast.
constexpr extent_t named_one(graph_view const& g, node const& n, shape const* shapes) {
    for (int k = 0; k < n.input_count; ++k) {
        shape const& declared = g.input_shape(n, k);
        for (int axis = 0; axis < declared.rank; ++axis) {
            if (is_named(declared[axis]) && shapes[g.input(n, k)][axis] == 1) {
                return declared[axis];
            }
        }
    }
    return dyn;
}

} // namespace detail

/// The shape rules of all operations: for graphs that only the run knows.
struct any_rule {
    static constexpr shape infer(op_code op, inference& in) { return rules(op).infer(in); }
};

/// The shape rules that the graph `G::view()` asks for, so that a program does not contain all of them.
///
/// `ExtentsAreCertain`: no dynamic extent meets another that it need not be equal to. Operands of one declared shape
/// have one shape in each call then, and only graphs where other shapes meet broadcast at all.
template <class G, bool ExtentsAreCertain>
class rules_of {
    struct code_list {
        int size = 0;
        op_code at[op_set::size]{};
        bool broadcasts = false;
    };

    static constexpr bool has_common_shape(graph_view const& g, node const& n) {
        int common = g[g.input(n, 0)].shape;
        for (int k = 1; k < n.input_count; ++k) {
            int const other = g[g.input(n, k)].shape;
            if (other != common && g.shapes[other].rank != 0) {
                if (g.shapes[common].rank != 0) {
                    return false;
                }
                common = other;
            }
        }
        return true;
    }

    static constexpr code_list list_codes() {
        graph_view const g = G::view();
        code_list list;
        bool is_listed[op_set::size]{};
        for (node_id id = 0; id < g.node_count; ++id) {
            node const& n = g[id];
            bool& listed = is_listed[static_cast<int>(n.op)];
            if (is_broadcasting(n.op, n.input_count) && n.input_count != 0) {
                list.broadcasts |= !ExtentsAreCertain || !has_common_shape(g, n);
            } else if (!listed && n.input_count != 0) {
                listed = true;
                list.at[list.size++] = n.op;
            }
        }
        return list;
    }
    static constexpr code_list codes = list_codes();

    template <int... I>
    static constexpr shape infer([[maybe_unused]] op_code op, [[maybe_unused]] inference& in,
                                 std::integer_sequence<int, I...>) {
        shape result;
        (void)((op == codes.at[I] && (result = detail::infer_shape<op_at<codes.at[I]>>(in), true)) || ...);
        return result;
    }

public:
    static constexpr shape infer(op_code op, inference& in) {
        if constexpr (codes.broadcasts) {
            if (is_broadcasting(op, in.count)) {
                return broadcast_inputs(in);
            }
        }
        return infer(op, in, std::make_integer_sequence<int, codes.size>{});
    }
};

/// Writes the shape of every node to `result` (`g.node_count` elements); `arguments` has the shapes of the arguments,
/// by their index. Returns whether they suit; if not, `failure` says where not, and later shapes are not written.
///
/// Runs for each new key, so it does not allocate, unless a node has more than 8 inputs or the graph more than 32
/// named extents; and in constant evaluation, for functions whose shapes are all static. `Rules`: `any_rule`, or those
/// of one graph.
template <class Rules = any_rule>
constexpr bool infer_shapes(graph_view const& g, shape const* arguments, shape* result, inference_failure& failure) {
    detail::declared_extents declared(g);
    for (node_id id = 0; id < g.node_count; ++id) {
        node const& n = g[id];
        if (n.op == code_of<ops::argument>) {
            result[id] = arguments[n.attribute];
            if (result[id].rank != g.shape(id).rank) {
                failure = {reason::shape_not_as_asserted, id};
                return false;
            }
        } else if (n.input_count == 0) {
            result[id] = g.shape(id); // a constant
            continue;
        } else if (node_id const common =
                       is_broadcasting(n.op, n.input_count) ? detail::common_shape_input(g, n, result) : -1;
                   common >= 0) {
            result[id] = result[common]; // most nodes
            if (n.shape == g[common].shape) {
                continue; // checked there
            }
        } else {
            reason why = reason::none;
            result[id] = detail::apply_rule<Rules>(g, n, result, why);
            if (why != reason::none) {
                failure = {why, id};
                return false;
            }
        }
        extent_t wanted = 0;
        if (int const axis = declared.contradiction(g.shape(id), result[id], wanted); axis >= 0) {
            failure = {reason::shape_not_as_asserted, id, axis, wanted};
            return false;
        }
    }
    return true;
}

/// The sentence of a failure: `matmul: the inner extents differ: float[64,784] and float[100,10]`.
///
/// `shapes`: what `infer_shapes` wrote.
CALQUE_COLD inline void describe(text& out, graph_view const& g, shape const* shapes,
                                 inference_failure const& failure) {
    node const& n = g[failure.node];
    out << info(n.op).name;
    if (n.op == code_of<ops::argument>) {
        out << ' ' << n.attribute;
    }
    out << ": ";
    shape const& declared = g.shape(failure.node);
    if (failure.why == reason::shape_not_as_asserted && n.op != code_of<ops::assert_shape>) {
        out << "it is " << n.type << shapes[failure.node] << ", declared " << n.type << declared;
        if (failure.axis >= 0 && is_named(declared[failure.axis])) {
            out << " with " << name_of_dim(declared[failure.axis]).view() << " = " << failure.wanted;
        }
        return;
    }
    out << sentence(failure.why) << ": ";
    for (int k = 0; k < n.input_count; ++k) {
        node_id const input = g.input(n, k);
        out << (k == 0 ? "" : k + 1 < n.input_count ? ", " : " and ") << g[input].type << shapes[input];
    }
    if (n.op == code_of<ops::assert_shape>) {
        out << ", asserted " << g.shapes[n.attribute];
    } else if (info(n.op).list_count == 1) {
        out << " to " << g.shapes[n.attribute];
    }
    if (failure.why == reason::extents_do_not_broadcast) {
        if (extent_t const name = detail::named_one(g, n, shapes); name != dyn) {
            out << " (" << name_of_dim(name).view() << " is 1 here, and an extent with a name does not broadcast)";
        }
    }
}

inline std::string describe(graph_view const& g, shape const* shapes, inference_failure const& failure) {
    text out;
    describe(out, g, shapes, failure);
    return out.string();
}

} // namespace graph
} // namespace v0
} // namespace calque
