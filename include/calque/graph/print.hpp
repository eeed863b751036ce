// SPDX-License-Identifier: MIT
// Graphs as text for people, and as a drawing (Graphviz). Printing also works in constant evaluation.
#pragma once

#include <calque/graph/graph.hpp>
#include <calque/graph/number_text.hpp>

#include <string>

namespace calque {
inline namespace v0 {
namespace graph {
namespace detail {

constexpr void print_axes(std::uint64_t axes, auto& out) {
    out << " axes=[";
    bool is_first = true;
    for (int axis = 0; axis < max_rank; ++axis) {
        if (contains(axes, axis)) {
            out << (is_first ? "" : ",") << axis;
            is_first = false;
        }
    }
    out << ']';
}

/// The range of each axis as Python writes it: `[0:3:1,::2,-1:]`.
constexpr void print_slice(graph_view const& g, slice_lists lists, auto& out) {
    out << " [";
    for (int axis = 0; axis < g.shapes[lists.starts].rank; ++axis) {
        extent_t const start = g.shapes[lists.starts][axis];
        extent_t const stop = g.shapes[lists.stops][axis];
        extent_t const step = g.shapes[lists.steps][axis];
        out << (axis == 0 ? "" : ",");
        if (start != 0) {
            out << start;
        }
        out << ':';
        if (stop != to_the_end) {
            out << stop;
        }
        if (step != 1) {
            out << ':' << step;
        }
    }
    out << ']';
}

constexpr void print_permutation(std::uint64_t permutation, int rank, auto& out) {
    out << " axes=[";
    for (int axis = 0; axis < rank; ++axis) {
        out << (axis == 0 ? "" : ",") << permuted(permutation, axis);
    }
    out << ']';
}

/// The parameters of a node, after its inputs.
constexpr void print_attribute(graph_view const& g, node const& n, auto& out) {
    op_info const& operation = info(n.op);
    if (n.op == code_of<ops::literal_elements>) {
        for (int i = 0; i < g.shapes[n.attribute].rank; ++i) {
            auto const bits = static_cast<std::uint64_t>(g.shapes[n.attribute][i]);
            out << (i == 0 ? " {" : ", ");
            with_type_of(n.type, [&]<class T>() { append_number(out, from_bits<T>(bits)); });
        }
        out << '}';
    } else if (operation.list_count == 1) {
        out << " to=" << g.shapes[n.attribute];
    } else if (operation.list_count == 3) {
        print_slice(g, slice_lists::unpack(n.attribute), out);
    } else if (operation.kind == op_kind::reduction || n.op == code_of<ops::expand_dims> ||
               n.op == code_of<ops::squeeze> || n.op == code_of<ops::flip>) {
        print_axes(n.attribute, out);
    } else if (is_of_user(n.op)) {
        out << ' ' << g.user_operations[ops::of_user::number(n.attribute)]->name;
    } else if (n.op == code_of<ops::split_axis>) {
        out << " axis=" << ops::split_axis::axis(n.attribute) << " parts=" << ops::split_axis::parts(n.attribute);
    } else if (n.op == code_of<ops::running_sum> || n.op == code_of<ops::recurrence>) {
        auto const order = ops::running_order::unpack(n.attribute);
        out << " axis=" << order.axis << (order.is_reversed ? " reversed" : "") << (order.is_lagged ? " lagged" : "");
    } else if (n.op == code_of<ops::sort_order>) {
        out << (ops::sort_order::is_descending(n.attribute) ? " descending" : "");
        if (extent_t const count = ops::sort_order::count(n.attribute); count >= 0) {
            out << " first=" << count;
        }
    } else if (n.op == code_of<ops::element_count>) {
        print_axes(n.attribute & 255u, out);
    } else if (n.op == code_of<ops::transpose>) {
        print_permutation(n.attribute, g.shapes[n.shape].rank, out);
    } else if (n.op == code_of<ops::iota>) {
        out << " axis=" << ops::iota::axis(n.attribute);
    } else if (n.op == code_of<ops::concatenation_part>) {
        out << " axis=" << ops::concatenation_part::axis(n.attribute)
            << " part=" << ops::concatenation_part::part(n.attribute);
    } else if (operation.kind == op_kind::movement) {
        out << " axis=" << n.attribute;
    } else if (n.op == code_of<ops::argument>) {
        out << ' ' << n.attribute;
    } else if (n.op == code_of<ops::constant>) {
        out << ' ';
        with_type_of(n.type, [&]<class T>() { append_number(out, from_bits<T>(n.attribute)); });
    } // a cast's dtype is that of its result, which is printed anyway
}

constexpr int region_depth(graph_view const& g, std::uint16_t r) {
    int depth = 0;
    for (; r != 0; r = g.regions[r].parent) {
        ++depth;
    }
    return depth;
}

} // namespace detail

/// Appends one line a node, each with dtype and shape, then the results:
///
///     %0 = argument 0 float[batch,784]
///     %1 = constant 0.5 float[]
///     %2 = multiply(%0, %1) float[batch,784]
///     %3 = sum(%2) axes=[1] float[batch,1]
///     return %3
constexpr void print(graph_view const& g, auto& out) {
    for (node_id id = 0; id < g.node_count; ++id) {
        node const& n = g[id];
        for (int depth = detail::region_depth(g, n.region); depth > 0; --depth) {
            out << "    ";
        }
        out << '%' << id << " = " << info(n.op).name;
        if (n.input_count != 0) {
            for (int k = 0; k < n.input_count; ++k) {
                out << (k == 0 ? "(%" : ", %") << g.input(n, k);
            }
            out << ')';
        }
        detail::print_attribute(g, n, out);
        out << ' ' << n.type << g.shape(id) << '\n';
    }
    out << "return";
    for (int i = 0; i < g.output_count; ++i) {
        out << (i == 0 ? " %" : ", %") << g.outputs[i];
    }
    out << '\n';
}

/// Appends the graph in the language of Graphviz: a box a value, a dashed arrow where only a shape is read.
constexpr void print_dot(graph_view const& g, auto& out) {
    out << "digraph calque {\n    node [shape=box, fontname=monospace];\n";
    for (node_id id = 0; id < g.node_count; ++id) {
        node const& n = g[id];
        out << "    n" << id << " [label=\"" << info(n.op).name;
        detail::print_attribute(g, n, out);
        out << "\\n" << n.type << g.shape(id) << "\"];\n";
        for (int k = 0; k < n.input_count; ++k) {
            out << "    n" << g.input(n, k) << " -> n" << id << (is_shape_input(n, k) ? " [style=dashed]" : "")
                << ";\n";
        }
    }
    for (int i = 0; i < g.output_count; ++i) {
        out << "    r" << i << " [label=\"return " << i << "\", shape=plaintext];\n    n" << g.outputs[i] << " -> r"
            << i << ";\n";
    }
    out << "}\n";
}

/// The text of a graph, as `print` writes it.
template <class Out = text>
std::string to_text(graph_view const& g) {
    Out out;
    print(g, out);
    return out.string();
}

/// The drawing of a graph, as `print_dot` writes it.
template <class Out = text>
std::string to_dot(graph_view const& g) {
    Out out;
    print_dot(g, out);
    return out.string();
}

} // namespace graph
} // namespace v0
} // namespace calque
