// SPDX-License-Identifier: MIT
// All pairs of points: what broadcasting makes of arrays of points, whose last axis is a few coordinates, is computed
// coordinate by coordinate. A register then has one coordinate of as many pairs as it has lanes, no array has all of
// them, and what follows a distance joins the kernel of the distance.
#pragma once

#include <calque/graph/arranging.hpp>
#include <calque/graph/copy.hpp>
#include <calque/graph/value.hpp>
#include <calque/passes/combining.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

using namespace graph;

/// Points have up to so many coordinates: each one is a copy of the steps, and keeps registers. Measured, with 16 for
/// 200 x 200 points of 16: 0.36; for 1000 x 4 2.1.
inline constexpr extent_t most_coordinates = 8;
/// Arrays that are known to have no more elements may lie in registers as they are.
inline constexpr extent_t most_elements_in_registers = 64;

/// A node is *spread* if it is elementwise and broadcasting alone makes it as large as it is: no operand has its shape,
/// or only such that are spread too. It is split if all that reads it is elementwise and split, or a reduction.
template <class Graph, class Builder>
class coordinate_splitter {
public:
    constexpr coordinate_splitter(Graph const& from, Builder& to) : from_(from), to_(to), images_(from, to) {
        is_split_.resize(from.node_count);
        first_coordinate_.resize(from.node_count);
        for (node_id id = 0; id < from.node_count; ++id) {
            is_split_[id] = has_coordinates(id) && is_spread(from[id]);
            first_coordinate_[id] = -1;
        }
        for (bool changes = has_any(); changes;) {
            changes = drop_what_is_needed_whole();
        }
    }

    constexpr bool has_any() const { return find(is_split_, true) >= 0; }

    constexpr void run() {
        for (node_id id = 0; id < from_.node_count; ++id) {
            node const& n = from_[id];
            images_.enter_region_of(n);
            if (is_split_[id]) {
                add_coordinates(id, n);
            } else if (n.input_count != 0 && is_split_[from_.input(n, 0)]) {
                read_coordinates(id, n);
            } else if (is_of_distances(n)) {
                add_distance(id, n);
            } else {
                images_.copy(id);
            }
        }
        images_.copy_outputs();
    }

private:
    // ---- what is split

    constexpr bool has_coordinates(node_id id) const {
        calque::shape const& extents = from_.shape(id);
        if (extents.rank < 3) {
            return false;
        }
        extent_t const last = extents[extents.rank - 1];
        bool const is_small = extents.is_static() && extents.size() <= most_elements_in_registers;
        return last > 1 && last <= most_coordinates && extents[extents.rank - 2] != 1 && !is_small;
    }

    /// Whether an element is computed of one element of each input, wherever it stands.
    static constexpr bool is_plain_elementwise(node const& n) {
        return is_stretching(n.op) || (is_broadcasting(info(n.op), n.input_count) && !is_of_user(n.op));
    }

    constexpr bool is_spread(node const& n) const {
        bool is = is_plain_elementwise(n);
        for (int k = 0; k < n.input_count; ++k) {
            node_id const input = from_.input(n, k);
            is = is && (is_split_[input] || (!is_shape_input(n, k) && is_smaller(input, n)));
        }
        return is;
    }

    /// Whether an operand that is not split has a value for several points, and coordinates that are known.
    constexpr bool is_smaller(node_id input, node const& n) const {
        calque::shape const& its = from_.shape(input);
        return from_[input].shape != n.shape && (its.rank == 0 || is_static(its[its.rank - 1]));
    }

    constexpr bool drop_what_is_needed_whole() {
        bool changes = false;
        auto const drop = [&](node_id id) {
            changes |= is_split_[id];
            is_split_[id] = false;
        };
        for (int i = 0; i < from_.output_count; ++i) {
            drop(from_.outputs[i]);
        }
        for (node_id id = 0; id < from_.node_count; ++id) {
            node const& n = from_[id];
            if (is_split_[id] && !is_spread(n)) {
                drop(id);
            }
            for (int k = 0; !is_split_[id] && k < n.input_count; ++k) {
                if (!may_read_coordinates(n)) {
                    drop(from_.input(n, k));
                }
            }
        }
        return changes;
    }

    /// Whether a node that is not split can be computed of the coordinates of its first input.
    constexpr bool may_read_coordinates(node const& n) const {
        if (n.op == code_of<ops::element_count>) {
            return !folds_coordinates(n);
        }
        return info(n.op).kind == op_kind::reduction && combining(n.op, n.type) != n.op;
    }

    constexpr bool folds_coordinates(node const& n) const {
        return graph::contains(n.attribute, from_.input_shape(n, 0).rank - 1);
    }

    // ---- coordinates

    constexpr value at(node_id id) const { return {&to_, id}; }
    constexpr axis_set last_axis(node_id id) const { return axis_set{1} << (from_.shape(id).rank - 1); }
    constexpr int count_of(node_id id) const {
        calque::shape const& extents = from_.shape(id);
        return static_cast<int>(extents[extents.rank - 1]);
    }

    /// Coordinate `k` of a node of the old graph, in the new one, without the last axis. What has one coordinate has it
    /// for every `k`.
    constexpr value coordinate(node_id id, int k) {
        if (first_coordinate_[id] >= 0) {
            return at(coordinates_[first_coordinate_[id] + (is_split_[id] ? k : 0)]);
        }
        value const whole = at(images_[id]);
        int const last = whole.rank() - 1;
        if (last < 0) {
            return whole;
        }
        bool const has_one = whole.shape()[last] == 1;
        return squeeze(has_one ? whole : slice_axis(whole, last, k, k + 1), axis_set{1} << last);
    }

    /// Coordinate `k` of an elementwise node, of those of its inputs.
    constexpr value compute_coordinate(node const& n, int k) {
        sequence<node_id> inputs;
        for (int i = 0; i < n.input_count; ++i) {
            inputs.push_back(coordinate(from_.input(n, i), k).id);
        }
        return n.op == code_of<ops::broadcast_to> ? broadcast_to(at(inputs[0]), without_last(from_.shapes[n.shape]))
                                                  : at(to_.add(n.op, inputs.data(), n.input_count, n.attribute));
    }

    constexpr void add_coordinates(node_id id, node const& n) {
        first_coordinate_[id] = coordinates_.size();
        for (int k = 0; k < count_of(id); ++k) {
            coordinates_.push_back(compute_coordinate(n, k).id);
        }
    }

    static constexpr calque::shape without_last(calque::shape extents) {
        --extents.rank;
        extents.extents[extents.rank] = 0;
        return extents;
    }

    /// What `may_read_coordinates` is computed of those of its input.
    constexpr void read_coordinates(node_id id, node const& n) {
        node_id const input = from_.input(n, 0);
        if (n.op == code_of<ops::element_count>) {
            images_.set(id, to_.add(n.op, {coordinate(input, 0).id}, n.attribute));
            return;
        }
        int const count = count_of(input);
        if (folds_coordinates(n)) {
            value folded = coordinate(input, 0);
            for (int k = 1; k < count; ++k) {
                folded = at(to_.add(combining(n.op, n.type), {folded.id, coordinate(input, k).id}));
            }
            set_distance(id, reduce(n, folded));
            return;
        }
        value parts[most_coordinates];
        for (int k = 0; k < count; ++k) {
            parts[k] = expand_dims(reduce(n, coordinate(input, k)), last_axis(input));
        }
        images_.set(id, concatenate(parts, count, from_.shape(id).rank - 1).id);
    }

    /// A reduction of a value that has no last axis.
    constexpr value reduce(node const& n, value of) {
        axis_set const axes = n.attribute & ~last_axis(from_.input(n, 0));
        return axes == 0 ? of : at(to_.add(n.op, {of.id}, axes));
    }

    // ---- what is computed of folded coordinates, and has one element where they were: distances

    constexpr bool is_of_distances(node const& n) const {
        bool any = false;
        for (int k = 0; k < n.input_count; ++k) {
            any |= first_coordinate_[from_.input(n, k)] >= 0;
        }
        calque::shape const& extents = from_.shapes[n.shape];
        bool const is_elementwise = any && is_plain_elementwise(n) && extents[extents.rank - 1] == 1;
        return is_elementwise || (any && info(n.op).kind == op_kind::reduction);
    }

    constexpr void add_distance(node_id id, node const& n) {
        bool const is_reduction = info(n.op).kind == op_kind::reduction;
        set_distance(id, is_reduction ? reduce(n, coordinate(from_.input(n, 0), 0)) : compute_coordinate(n, 0));
    }

    /// Other nodes see its last axis, of extent 1.
    constexpr void set_distance(node_id id, value distance) {
        first_coordinate_[id] = coordinates_.size();
        coordinates_.push_back(distance.id);
        images_.set(id, expand_dims(distance, last_axis(id)).id);
    }

    Graph from_;
    Builder& to_;
    node_map images_;
    sequence<bool> is_split_;
    sequence<node_id> coordinates_;  // in the new graph, those of a node one after the other
    sequence<int> first_coordinate_; // of each node; -1: it is computed whole
};

} // namespace detail

/// Writes to `to` the graph with what is computed of all pairs of points split into coordinates, if there is something;
/// returns whether there is.
template <class Graph, class Builder>
constexpr bool split_coordinates(Graph const& from, Builder& to) {
    detail::coordinate_splitter splitter(from, to);
    if (!splitter.has_any()) {
        return false;
    }
    splitter.run();
    return true;
}

} // namespace passes
} // namespace v0
} // namespace calque
