// SPDX-License-Identifier: MIT
// The concrete shapes of a graph for one call: every operation's rule, run again on the extents of the arguments.
#pragma once

#include <calque/core/small_buffer.hpp>
#include <calque/core/text.hpp>
#include <calque/graph/extent_symbols.hpp>

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

/// Checks that extents are the declared ones, and that equal names are equal extents.
class declared_extents {
public:
    /// `axes_with_names`: how many axes of the graph's shapes have a name.
    constexpr explicit declared_extents(int axes_with_names) : names_(axes_with_names) {}

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

constexpr int count_axes_with_names(graph_view const& g) {
    int count = 0;
    for (int i = 0; i < g.shape_count; ++i) {
        for (int axis = 0; axis < g.shapes[i].rank; ++axis) {
            count += is_named(g.shapes[i][axis]) ? 1 : 0;
        }
    }
    return count;
}

/// Writes the shape of a node to `result`: from those of its inputs, which `shapes` has, by its operation's rule.
/// Returns what the rule complains of.
template <class Rules>
constexpr reason apply_rule(graph_view const& g, node const& n, shape const* shapes, shape& result) {
    small_buffer<shape const*, 8> inputs(n.input_count);
    small_buffer<shape const*, 8> declared(n.input_count);
    for (int k = 0; k < n.input_count; ++k) {
        inputs[k] = &shapes[g.input(n, k)];
        declared[k] = &g.input_shape(n, k);
    }
    inference rule{inputs.data(), declared.data(), n.attribute, g.shapes, n.input_count};
    Rules::infer(n.op, rule, result);
    return rule.failure;
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
    static constexpr node_id equal_input(node_id) { return -1; }
    static constexpr bool declares_extents(node_id) { return true; }
    static constexpr int axes_with_names(graph_view const& g) { return detail::count_axes_with_names(g); }
    static constexpr void infer(op_code op, inference& in, shape& result) { result = rules(op).infer(in); }
};

/// The shape rules that the graph `G::view()` asks for, so that a program does not contain all of them.
template <class G>
class rules_of {
    static constexpr int node_count = G::view().node_count;

    struct table {
        node_id equal_inputs[node_count == 0 ? 1 : node_count]{}; // see `extent_symbols`
        bool declares_extents[node_count == 0 ? 1 : node_count]{};
        int axes_with_names = 0;
        op_code codes[op_set::size]{};
        int code_count = 0;
        bool broadcasts = false;
        bool declares = false; // extents of some argument

        constexpr table() {
            graph_view const g = G::view();
            extent_symbols const symbols(g);
            node_id const* const equal = symbols.equal_inputs().at;
            axes_with_names = detail::count_axes_with_names(g);
            bool is_listed[op_set::size]{};
            for (node_id id = 0; id < node_count; ++id) {
                node const& n = g.nodes[id];
                shape const& extents = g.shapes[n.shape];
                equal_inputs[id] = equal[id];
                for (int axis = 0; axis < extents.rank; ++axis) {
                    declares_extents[id] |= extents.extents[axis] != dyn;
                }
                declares |= n.op == code_of<ops::argument> && declares_extents[id];
                if (equal[id] >= 0 || n.input_count == 0) {
                    continue;
                }
                bool& listed = is_listed[static_cast<int>(n.op)];
                if (is_broadcasting(info(n.op), n.input_count)) {
                    broadcasts = true;
                } else if (!listed) {
                    listed = true;
                    codes[code_count++] = n.op;
                }
            }
        }
    };
    static constexpr table of{};

    template <int... I>
    static constexpr void infer([[maybe_unused]] op_code op, [[maybe_unused]] inference& in,
                                [[maybe_unused]] shape& result, std::integer_sequence<int, I...>) {
        (void)((op == of.codes[I] && (copy_extents(result, op_at<of.codes[I]>::infer(in)), true)) || ...);
    }

public:
    /// Whether arguments of the ranks that the graph says may not suit. If they all do, `copy_shapes` is enough.
    static constexpr bool may_fail = of.broadcasts || of.code_count != 0 || of.declares;

    static constexpr node_id equal_input(node_id id) { return of.equal_inputs[id]; }
    static constexpr bool declares_extents(node_id id) { return of.declares_extents[id]; }
    static constexpr int axes_with_names(graph_view const&) { return of.axes_with_names; }

    static constexpr void infer(op_code op, inference& in, shape& result) {
        if constexpr (of.broadcasts) {
            if (is_broadcasting(info(op), in.count)) {
                copy_extents(result, broadcast_inputs(in));
                return;
            }
        }
        infer(op, in, result, std::make_integer_sequence<int, of.code_count>{});
    }
};

/// The shapes of a graph without rules that may fail: each node has that of an argument, or is a constant.
template <class Rules>
constexpr void copy_shapes(graph_view const& g, shape const* arguments, shape* result) {
    for (node_id id = 0; id < g.node_count; ++id) {
        node const& n = g[id];
        copy_extents(result[id], n.op == code_of<ops::argument> ? arguments[n.attribute]
                                 : n.input_count == 0           ? g.shape(id)
                                                                : result[Rules::equal_input(id)]);
    }
}

/// Writes the shape of every node to `result` (`g.node_count` elements); `arguments` has the shapes of the arguments,
/// by their index. Returns whether they suit; if not, `failure` says where not, and later shapes are not written.
///
/// Runs for each new key, so it does not allocate, unless a node has more than 8 inputs or the graph more than 32
/// named extents; and in constant evaluation, for functions whose shapes are all static. `Rules`: `any_rule`, or those
/// of one graph.
template <class Rules = any_rule>
constexpr bool infer_shapes(graph_view const& g, shape const* arguments, shape* result, inference_failure& failure) {
    detail::declared_extents declared(Rules::axes_with_names(g));
    for (node_id id = 0; id < g.node_count; ++id) {
        node const& n = g[id];
        if (n.op == code_of<ops::argument>) {
            copy_extents(result[id], arguments[n.attribute]);
            if (result[id].rank != g.shape(id).rank) {
                failure = {reason::shape_not_as_asserted, id};
                return false;
            }
        } else if (n.input_count == 0) {
            result[id] = g.shape(id); // a constant
            continue;
        } else if (node_id const equal = Rules::equal_input(id); equal >= 0) {
            copy_extents(result[id], result[equal]); // most nodes; checked there
            continue;
        } else {
            reason const why = detail::apply_rule<Rules>(g, n, result, result[id]);
            if (why != reason::none) {
                failure = {why, id};
                return false;
            }
        }
        if (!Rules::declares_extents(id)) {
            continue;
        }
        extent_t wanted = 0;
        if (int const axis = declared.contradiction(g.shape(id), result[id], wanted); axis >= 0) {
            failure = {reason::shape_not_as_asserted, id, axis, wanted};
            return false;
        }
    }
    return true;
}

namespace detail {

/// The array in which an index of `view` or `at` finds no element, if `id`, a `squeeze`, drops the axis of one, or -1.
/// (What is computed of the part, and its reductions, may be done before it.)
constexpr node_id array_without_element(graph_view const& g, node_id id, shape const* shapes) {
    node const& n = g[id];
    node_id part = g.input(n, 0);
    bool is_empty = false;
    for (int axis = 0; axis < shapes[part].rank; ++axis) {
        is_empty |= contains(n.attribute, axis) && shapes[part][axis] == 0;
    }
    for (op_kind kind = info(g[part].op).kind; kind == op_kind::elementwise || kind == op_kind::reduction;
         kind = info(g[part].op).kind) {
        node_id of_its_shape = g.input(part, 0);
        for (int k = 1; k < g[part].input_count; ++k) {
            of_its_shape = shapes[g.input(part, k)] == shapes[part] ? g.input(part, k) : of_its_shape;
        }
        part = of_its_shape;
    }
    return is_empty && g[part].op == code_of<ops::slice> ? g.input(part, 0) : -1;
}

/// Whether a node lends its shape only, as the part that `at` selects does to what is put in its place.
constexpr bool lends_shape(graph_view const& g, node_id id) {
    bool found = false;
    for (node_id by = id + 1; by < g.node_count; ++by) {
        for (int k = 0; k < g[by].input_count; ++k) {
            found |= g.input(by, k) == id &&
                     (is_shape_input(g[by], k) || (g[by].op == code_of<ops::expand_dims> && lends_shape(g, by)));
        }
    }
    return found;
}

/// The first node that reads an element of `id`, where need be with further axes, or -1.
constexpr node_id first_reader(graph_view const& g, node_id id) {
    for (node_id by = id + 1; by < g.node_count; ++by) {
        for (int k = 0; k < g[by].input_count; ++k) {
            if (g.input(by, k) == id && !is_shape_input(g[by], k)) {
                return g[by].op == code_of<ops::expand_dims> ? first_reader(g, by) : by;
            }
        }
    }
    return -1;
}

/// The operation of the language that a largest or smallest element is searched for, or nothing.
constexpr std::string_view begins_with_extreme(graph_view const& g, node_id extreme) {
    std::string_view found;
    for (node_id id = extreme + 1; id < g.node_count; ++id) {
        node const& n = g[id];
        if ((n.op == code_of<ops::stop_gradient> && g.input(n, 0) == extreme) ||
            (n.op == code_of<ops::subtract> && g.input(n, 1) == extreme)) {
            found = "softmax and logsumexp begin";
        } else if (n.op == code_of<ops::equal> && g.input(n, 1) == extreme) {
            found = g[extreme].op == code_of<ops::reduce_max> ? "argmax begins" : "argmin begins";
        }
    }
    return g[extreme].op == code_of<ops::reduce_max> || found == "argmin begins" ? found : std::string_view();
}

/// The two inputs of a branch or loop that have to be of one shape and are not.
constexpr input_pair unequal_inputs(graph_view const& g, node_id control, shape const* shapes) {
    node const& n = g[control];
    control_counts const counts = control_counts::unpack(n.attribute);
    auto const alike = n.op == code_of<ops::branch>       ? ops::branch::alike
                       : n.op == code_of<ops::while_loop> ? ops::while_loop::alike
                                                          : ops::scan::alike;
    for (int k = 0;; ++k) {
        if (input_pair const pair = alike(counts, k); shapes[g.input(n, pair.one)] != shapes[g.input(n, pair.other)]) {
            return pair;
        }
    }
}

/// Whether a scan is a `fori_loop`: it counts, and nothing is stacked.
constexpr bool is_counted_loop(graph_view const& g, node_id scan) {
    node const& n = g[scan];
    control_counts const counts = control_counts::unpack(n.attribute);
    return n.op == code_of<ops::scan> && counts.items == 1 && counts.yields == counts.carried &&
           g[g.input(n, counts.carried)].type == dtype::int64;
}

/// What the program calls a node that fails, and its operands.
struct written_operation {
    std::string_view name;
    reason why;
    shape operands[3]{};
    dtype types[3]{};
    int count = 0;

    constexpr void add(dtype type, shape const& operand) {
        operands[count] = operand;
        types[count++] = type;
    }
};

/// A contracted product and sum as the two that it was; any other node of up to 3 operands that is not what the program
/// has written. `count` is 0 of the rest, which are as they are written.
constexpr written_operation as_written(graph_view const& g, node_id id, shape const* shapes, reason why) {
    node const& n = g[id];
    written_operation written{{}, why};
    auto const add = [&](node_id operand) { written.add(g[operand].type, shapes[operand]); };
    node_id const first = n.input_count > 0 ? g.input(n, 0) : -1;
    if (n.op == code_of<ops::squeeze> && why == reason::extent_not_one) {
        if (node_id const array = array_without_element(g, id, shapes); array >= 0) {
            written.name = lends_shape(g, id) ? "at" : "view";
            written.why = reason::index_out_of_range;
            add(array);
        }
    } else if (n.op == code_of<ops::slice_adjoint> || n.op == code_of<ops::set_slice>) {
        written.name = "at";
        add(g.input(n, 1));
    } else if (why == reason::branches_differ || why == reason::carried_shape_changes) {
        input_pair const unequal = unequal_inputs(g, id, shapes);
        written.name = is_counted_loop(g, id) ? "fori_loop" : info(n.op).name;
        add(g.input(n, unequal.one));
        add(g.input(n, unequal.other));
    } else if (n.op == code_of<ops::broadcast_like>) {
        node_id const by = first_reader(g, id);
        bool const is_put = by >= 0 && (g[by].op == code_of<ops::slice_adjoint> || g[by].op == code_of<ops::set_slice>);
        if (is_put || (by >= 0 && g[by].op == code_of<ops::take_adjoint>)) {
            written.name = is_put ? "at" : "scatter_add";
            add(first);
            add(g.input(n, 1));
        }
    } else if (n.op == code_of<ops::sort_order> && why == reason::too_few_elements) {
        written.name = "top_k";
        add(first);
    } else if (n.op == code_of<ops::fma> || n.op == code_of<ops::fms> || n.op == code_of<ops::fnma>) {
        shape const* const factors[] = {&shapes[first], &shapes[g.input(n, 1)]};
        shape const* const declared[] = {&g.input_shape(n, 0), &g.input_shape(n, 1)};
        inference product{factors, declared, 0, g.shapes, 2};
        shape const extents = broadcast_inputs(product);
        if (product.failure != reason::none) {
            written.name = info(code_of<ops::multiply>).name;
            add(first);
            add(g.input(n, 1));
            return written;
        }
        written.name = info(n.op == code_of<ops::fma> ? code_of<ops::add> : code_of<ops::subtract>).name;
        if (n.op == code_of<ops::fnma>) {
            add(g.input(n, 2));
            written.add(n.type, extents);
        } else {
            written.add(n.type, extents);
            add(g.input(n, 2));
        }
    }
    return written;
}

} // namespace detail

/// The sentence of a failure: `matmul: the inner extents differ: float[64,784] and float[100,10]`.
///
/// `shapes`: what `infer_shapes` wrote.
CALQUE_COLD inline void describe(text& out, graph_view const& g, shape const* shapes,
                                 inference_failure const& failure) {
    node const& n = g[failure.node];
    shape const& declared = g.shape(failure.node);
    if (failure.why == reason::shape_not_as_asserted && n.op != code_of<ops::assert_shape>) {
        out << info(n.op).name;
        if (n.op == code_of<ops::argument>) {
            out << ' ' << n.attribute;
        }
        out << ": it is " << n.type << shapes[failure.node] << ", declared " << n.type << declared;
        if (failure.axis >= 0 && is_named(declared[failure.axis])) {
            out << " with " << name_of_dim(declared[failure.axis]).view() << " = " << failure.wanted;
        }
        return;
    }
    detail::written_operation const written = detail::as_written(g, failure.node, shapes, failure.why);
    bool const is_other = written.count != 0;
    out << (is_other ? written.name : std::string_view(info(n.op).name));
    if (failure.why == reason::empty_reduction) {
        if (std::string_view const whole = detail::begins_with_extreme(g, failure.node); !whole.empty()) {
            out << ", with which " << whole;
        }
    }
    out << ": " << sentence(written.why) << ": ";
    int const count = is_other ? written.count : n.input_count;
    for (int k = 0; k < count; ++k) {
        out << (k == 0 ? "" : k + 1 < count ? ", " : " and ");
        if (is_other) {
            out << written.types[k] << written.operands[k];
        } else {
            out << g[g.input(n, k)].type << shapes[g.input(n, k)];
        }
    }
    if (!is_other && n.op == code_of<ops::assert_shape>) {
        out << ", asserted " << g.shapes[n.attribute];
    } else if (!is_other && info(n.op).list_count == 1) {
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
