// SPDX-License-Identifier: MIT
// Copies nodes from one graph into another, where they meet the nodes that are there already. Passes are written on it.
#pragma once

#include <calque/graph/builder.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// The attribute of a node of `from`, as it reads in `to`: the lists that it refers to are interned there.
constexpr std::uint64_t translate_attribute(graph_view const& from, node const& n, builder& to) {
    if (is_of_user(n.op)) {
        int const number = to.intern(*from.user_operations[ops::of_user::number(n.attribute)]);
        return ops::of_user::with_number(n.attribute, number);
    }
    switch (info(n.op).list_count) {
    case 0: return n.attribute;
    case 1: return static_cast<std::uint64_t>(to.intern(from.shapes[n.attribute]));
    default: {
        slice_lists const lists = slice_lists::unpack(n.attribute);
        return slice_lists{to.intern(from.shapes[lists.starts]), to.intern(from.shapes[lists.stops]),
                           to.intern(from.shapes[lists.steps])}
            .pack();
    }
    }
}

/// Copies a node; `inputs` are its inputs in `to`.
constexpr node_id copy_node(graph_view const& from, node const& n, builder& to, node_id const* inputs) {
    if (n.input_count == 0) {
        return to.add_source(n.op, n.type, from.shapes[n.shape], n.attribute);
    }
    return to.add(n.op, inputs, n.input_count, translate_attribute(from, n, to));
}

/// Which node of the new graph stands for each node of the old one.
class node_map {
public:
    /// The function's body becomes part of the region that is being built.
    constexpr node_map(graph_view const& from, builder& to)
        : from_(from), to_(to), images_(unset, from.node_count), regions_(unset, from.region_count) {
        for (node_id& image : images_) {
            image = -1;
        }
        for (int& image : regions_) {
            image = -1;
        }
        regions_.at[0] = to.current_region();
    }

    constexpr node_id operator[](node_id id) const { return images_.at[id]; }
    /// Which region stands for a region of the old graph: a new one, if `set_region` has not chosen.
    constexpr std::uint16_t region(std::uint16_t r) {
        if (regions_.at[r] < 0) {
            regions_.at[r] = to_.add_region(region(from_.regions[r].parent));
        }
        return static_cast<std::uint16_t>(regions_.at[r]);
    }
    constexpr void set_region(std::uint16_t r, std::uint16_t image) { regions_.at[r] = image; }
    /// From now on nodes are added where this one belongs.
    constexpr void enter_region_of(node const& n) { to_.set_region(region(n.region)); }
    constexpr void set(node_id id, node_id image) { images_.at[id] = image; }

    /// The inputs of a node of the old graph, in the new one. Valid until the next call.
    constexpr node_id const* inputs_of(node const& n) {
        inputs_.reserve(n.input_count);
        node_id* const images = inputs_.at;
        node_id const* const inputs = from_.inputs_of(n);
        for (int k = 0; k < n.input_count; ++k) {
            images[k] = images_.at[inputs[k]];
        }
        return images;
    }

    /// Copies a node whose inputs have images.
    constexpr node_id copy(node_id id) {
        node const& n = from_.nodes[id];
        enter_region_of(n);
        return images_.at[id] = copy_node(from_, n, to_, inputs_of(n));
    }

    /// Copies a node and whatever it needs.
    constexpr node_id copy_with_inputs(node_id id) {
        for (int k = 0; k < from_[id].input_count; ++k) {
            node_id const input = from_.input(id, k);
            if (images_.at[input] < 0) {
                copy_with_inputs(input);
            }
        }
        return copy(id);
    }

    constexpr void copy_outputs() {
        to_.set_region(static_cast<std::uint16_t>(regions_.at[0]));
        for (int i = 0; i < from_.output_count; ++i) {
            to_.add_output(images_.at[from_.outputs[i]]);
        }
    }

private:
    graph_view from_;
    builder& to_;
    sequence<node_id> images_;
    sequence<int> regions_;
    sequence<node_id> inputs_; // room for those of the node that is looked at
};

} // namespace graph
} // namespace v0
} // namespace calque
