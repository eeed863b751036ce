// SPDX-License-Identifier: MIT
// Scheduling: from a graph and its fusion to the kernels, in order, with the steps, leaves and results of each.
#pragma once

#include <calque/graph/schedule.hpp>
#include <calque/passes/fuse.hpp>

namespace calque {
inline namespace v0 {
namespace passes {

using graph::group;
using graph::group_kind;
using graph::schedule_size;
using graph::static_schedule;
using graph::step;
using graph::storage_kind;
using graph::stored_value;

/// Builds the schedule of an optimized graph. (A class, so that a constant of its exact size can be filled from it.)
template <class Graph>
class scheduler {
public:
    /// `meet_as_equals`: as for `fuser`.
    constexpr scheduler(Graph const& g, bool meet_as_equals)
        : g_(g), fusion_(g, meet_as_equals), value_of_(unset, g.node_count), group_of_(unset, g.node_count),
          step_of_(unset, g.node_count), stamp_(g.node_count), next_(unset, g.node_count) {
        for (node_id id = 0; id < g.node_count; ++id) {
            value_of_.at[id] = group_of_.at[id] = -1;
        }
        steps_.reserve(g.node_count); // else grown in steps, of which constant evaluation clears all elements
        make_groups();
        for (int i = 0; i < groups_.size(); ++i) {
            fill(i);
        }
        for (int i = 0; i < g.output_count; ++i) {
            outputs_.push_back(value_of(g.outputs[i]));
        }
        assign_outputs();
        find_last_uses();
    }

    constexpr schedule_size size() const {
        return {groups_.size(), steps_.size(), values_.size(), leaves_.size(), results_.size(), outputs_.size()};
    }

    template <schedule_size Size>
    constexpr static_schedule<Size> freeze() const {
        static_schedule<Size> to;
        copy_to(to);
        return to;
    }

    template <schedule_size Capacity>
    constexpr graph::schedule_within<Capacity> freeze_within() const {
        graph::schedule_within<Capacity> to{size(), {}};
        if (to.fits()) {
            copy_to(to.schedule);
        }
        return to;
    }

private:
    using node_id = graph::node_id;
    using op_kind = graph::op_kind;

    template <class T>
    static constexpr void copy(sequence<T> const& from, T* to) {
        for (int i = 0; i < from.size(); ++i) {
            to[i] = from.at[i];
        }
    }

    template <schedule_size Size>
    constexpr void copy_to(static_schedule<Size>& to) const {
        copy(groups_, to.groups);
        copy(steps_, to.steps);
        copy(values_, to.values);
        copy(leaves_, to.leaves);
        copy(results_, to.results);
        copy(outputs_, to.outputs);
    }

    // ---- groups, in the order in which they run

    constexpr void make_groups() {
        sequence<int> group_of_kernel(fusion_.kernel_count());
        for (int& group : group_of_kernel) {
            group = -1;
        }
        sequence<group> unordered;
        sequence<int> unordered_of(unset, g_.node_count);
        for (node_id id = 0; id < g_.node_count; ++id) {
            unordered_of.at[id] = -1;
            if (kinds_[id] == op_kind::elementwise && !stored_[id]) {
                continue; // most nodes
            }
            if (is_result(id)) {
                unordered_of.at[id] = unordered_of.at[g_.input(id, 0)];
                continue;
            }
            bool const is_control = kinds_[id] == op_kind::control;
            if (is_control ? !fusion_.is_read(id) : !fusion_.is_needed(id) || !is_made_by_a_group(id)) {
                continue;
            }
            int const kernel = fusion_.kernel_of(id);
            if (kernel < 0) {
                group own;
                own.kind = is_control ? group_kind::control : group_kind::movement;
                own.node = id;
                own.space = g_[id].shape;
                own.space_node = id;
                own.level = fusion_.level_of(id);
                unordered.push_back(own);
                unordered_of.at[id] = unordered.size() - 1;
            } else {
                if (group_of_kernel.at[kernel] < 0) {
                    unordered.push_back(group_for(fusion_.kernel(kernel)));
                    group_of_kernel.at[kernel] = unordered.size() - 1;
                }
                unordered_of.at[id] = group_of_kernel.at[kernel];
            }
        }
        order(unordered, unordered_of);
    }

    /// Stored values that a kernel computes; others are arguments, constants, views.
    constexpr bool is_made_by_a_group(node_id id) const {
        op_kind const kind = kinds_[id];
        if (kind == op_kind::contraction) {
            return true; // also where only its own kernel uses it
        }
        bool const makes_indices = g_.is<graph::ops::iota>(id) && g_[id].region == g_.entry;
        return stored_[id] && (kind != op_kind::source || makes_indices) && kind != op_kind::view &&
               kind != op_kind::border;
    }

    /// Whether a node is a result of a branch or loop of this region.
    constexpr bool is_result(node_id id) const {
        return kinds_[id] == op_kind::border && !g_.is<graph::ops::yield>(id);
    }

    /// Whether a value is computed before this region runs.
    constexpr bool is_given(node_id id) const {
        return g_.is<graph::ops::argument>(id) ||
               (kinds_[id] == op_kind::source && !graph::is_known_everywhere(g_[id]) &&
                !(g_.is<graph::ops::iota>(id) && g_[id].region == g_.entry));
    }
    /// Which of the region's arguments it is: those of a branch or loop are what that reads.
    constexpr int argument_of(node_id id) const {
        return g_.control < 0 ? static_cast<int>(g_[id].attribute)
                              : graph::data_input_of(g_, g_[g_.control], g_.entry, id);
    }

    constexpr group group_for(place const& p) const {
        group result;
        result.space = p.space;
        result.level = p.level;
        result.reduced_axes = p.reduced_axes;
        if (p.product >= 0) {
            result.kind = group_kind::product;
            result.node = result.space_node = p.product;
        } else if (p.reduction >= 0) {
            result.kind = group_kind::columns;
            result.node = p.reduction;
            result.space_node = g_.input(p.reduction, 0);
            graph::axis_set const axes = g_[p.reduction].attribute;
            while (!graph::contains(axes, result.first_reduced_axis)) {
                ++result.first_reduced_axis;
            }
            while (graph::contains(axes, result.first_reduced_axis + result.reduced_axes)) {
                ++result.reduced_axes;
            }
        }
        return result;
    }

    /// Within a level, indices come first, since every kernel may read them, and products last: what they do on their
    /// tiles may read what the other kernels made.
    constexpr int order_in_level(group const& x) const {
        bool const makes_indices = x.kind == group_kind::movement && g_.is<graph::ops::iota>(x.node);
        return makes_indices ? 0 : x.kind == group_kind::product ? 2 : 1;
    }

    constexpr void order(sequence<group> const& unordered, sequence<int> const& unordered_of) {
        sequence<int> rank(unordered.size());
        int levels = 0;
        for (group const& x : unordered) {
            levels = x.level >= levels ? x.level + 1 : levels;
        }
        for (int level = 0; level < levels; ++level) {
            for (int place : {0, 1, 2}) {
                for (int i = 0; i < unordered.size(); ++i) {
                    if (unordered.at[i].level == level && order_in_level(unordered.at[i]) == place) {
                        rank.at[i] = groups_.size();
                        groups_.push_back(unordered.at[i]);
                    }
                }
            }
        }
        for (node_id id = 0; id < g_.node_count; ++id) {
            group_of_.at[id] = unordered_of.at[id] < 0 ? -1 : rank.at[unordered_of.at[id]];
        }
        nodes_of_.resize(groups_.size());
        for (node_id id = g_.node_count - 1; id >= 0; --id) { // each group's stored nodes as a list, in order
            if (group_of_.at[id] >= 0) {
                next_.at[id] = nodes_of_.at[group_of_.at[id]] - 1;
                nodes_of_.at[group_of_.at[id]] = id + 1;
            }
        }
    }

    // ---- the contents of a group

    constexpr void fill(int index) {
        group& x = groups_.at[index];
        x.first_step = steps_.size();
        x.first_leaf = leaves_.size();
        x.first_result = results_.size();
        bool const is_fused = x.kind != group_kind::movement && x.kind != group_kind::control;
        if (!is_fused) {
            for (int k = 0; k < data_inputs_[x.node]; ++k) {
                leaves_.push_back(value_of(g_.input(x.node, k)));
            }
        } else {
            if (x.kind == group_kind::product) {
                leaves_.push_back(value_of(g_.input(x.node, 0)));
                leaves_.push_back(value_of(g_.input(x.node, 1)));
            }
            emit_steps(index);
        }
        for (node_id id = nodes_of_.at[index] - 1; id >= 0; id = next_.at[id]) {
            if (stored_[id]) {
                if (is_fused) {
                    steps_.at[x.first_step + step_of_.at[id]].result = results_.size() - x.first_result;
                }
                results_.push_back(value_of(id));
            }
        }
        x.step_count = steps_.size() - x.first_step;
        x.leaf_count = leaves_.size() - x.first_leaf;
        x.result_count = results_.size() - x.first_result;
    }

    /// Marks what the group's stored nodes need, from the last to the first, then emits it in order.
    constexpr void emit_steps(int index) {
        int const mark = 2 * index + 1;    // needed
        int const emitted = 2 * index + 2; // has a step
        node_id last = -1;
        for (node_id id = nodes_of_.at[index] - 1; id >= 0; id = next_.at[id]) {
            stamp_.at[id] = mark;
            last = id;
        }
        node_id first = last + 1;
        for (node_id id = last; id >= 0 && first > 0; --id) {
            if (stamp_.at[id] != mark) {
                continue;
            }
            first = id;
            if (is_computed_in(id, index)) {
                node_id const* const inputs = g_.inputs_of(g_.nodes[id]);
                for (int k = 0; k < data_inputs_[id]; ++k) {
                    stamp_.at[inputs[k]] = mark;
                }
            }
        }
        group& x = groups_.at[index];
        for (node_id id = first; id <= last; ++id) {
            if (stamp_.at[id] == mark) {
                step_of_.at[id] = emit(id, x, is_computed_in(id, index));
                stamp_.at[id] = emitted;
            }
        }
    }

    /// Whether a group computes a node that it needs; else it loads it. A product's own value comes from its tiles.
    constexpr bool is_computed_in(node_id id, int index) const {
        bool const is_fusible = kinds_[id] == op_kind::elementwise || kinds_[id] == op_kind::reduction;
        return is_fusible && (!stored_[id] || group_of_.at[id] == index);
    }

    constexpr int emit(node_id id, group& x, bool is_computed) {
        graph::node const& n = g_.nodes[id];
        step s;
        s.node = id;
        s.op = n.op;
        s.type = n.type;
        s.attribute = n.attribute;
        if (is_computed) {
            node_id const* const inputs = g_.inputs_of(n);
            s.input_count = data_inputs_[id];
            for (int k = 0; k < s.input_count; ++k) {
                int const step_of_input = step_of_.at[inputs[k]];
                step const& input = steps_.at[x.first_step + step_of_input];
                s.inputs[k] = step_of_input;
                s.varies_along_rows |= input.varies_along_rows;
                s.varies_along_columns |= input.varies_along_columns;
            }
            if (graph::info(n.op).is_indexed) {
                s.index = leaves_.size() - x.first_leaf;
                leaves_.push_back(values_.size());
                stored_value indices;
                indices.node = id;
                indices.kind = storage_kind::indices;
                values_.push_back(indices);
                mark_variation(s, g_.shape(id), x);
            }
            bool const is_reduction = kinds_[id] == op_kind::reduction;
            if (is_reduction || (x.space_node < 0 && stored_[id] && n.shape == x.space)) {
                x.space_node = is_reduction ? g_.input(n, 0) : id;
            }
            if (is_reduction) {
                s.varies_along_columns = x.kind == group_kind::columns;
                s.varies_along_rows &= x.kind == group_kind::rows;
            }
        } else if (x.kind == group_kind::product && id == x.node) {
            s.varies_along_rows = s.varies_along_columns = true;
        } else if (!g_.is<graph::ops::constant>(id)) {
            s.op = graph::code_of<graph::ops::argument>; // whatever made it, here it is loaded
            s.leaf = leaves_.size() - x.first_leaf;
            leaves_.push_back(value_of(id));
            mark_variation(s, g_.shape(id), x);
        }
        steps_.push_back(s);
        return steps_.size() - 1 - x.first_step;
    }

    /// Along which axes of the group's space a leaf of this shape varies: an extent of 1 does not.
    constexpr void mark_variation(step& s, calque::shape const& extents, group const& x) const {
        int const rank = g_.shapes[x.space].rank;
        int const columns_from = graph::first_column_axis(x, g_.shapes[x.space]);
        for (int axis = 0; axis < extents.rank; ++axis) {
            if (extents[axis] != 1) {
                (axis + rank - extents.rank >= columns_from ? s.varies_along_columns : s.varies_along_rows) = true;
            }
        }
        if (g_.is<graph::ops::iota>(s.node)) {
            int const counted = graph::ops::iota::axis(g_[s.node].attribute);
            s.ascends_along_columns = s.varies_along_columns && counted + rank - extents.rank == columns_from;
        }
    }

    // ---- stored values

    constexpr int value_of(node_id id) {
        if (value_of_.at[id] >= 0) {
            return value_of_.at[id];
        }
        stored_value v;
        v.node = id;
        if (kinds_[id] == op_kind::view) {
            v.kind = storage_kind::view;
            v.source = value_of(g_.input(id, 0));
            v.made_by = values_.at[v.source].made_by;
        } else if (is_given(id)) {
            v.kind = storage_kind::argument;
            v.argument = argument_of(id);
        } else if (g_.is<graph::ops::constant>(id)) {
            v.kind = storage_kind::constant;
        } else if (g_.is<graph::ops::element_count>(id)) {
            v.kind = storage_kind::count;
        } else {
            v.made_by = v.last_use = group_of_.at[id]; // it is written there, even if only `after` asks for it
        }
        values_.push_back(v);
        return value_of_.at[id] = values_.size() - 1;
    }

    /// An output's memory becomes that of the value, where the value is contiguous in it: nothing is copied then.
    constexpr void assign_outputs() {
        for (int i = 0; i < outputs_.size(); ++i) {
            int v = outputs_.at[i];
            bool is_reshaped = false;
            while (values_.at[v].kind == storage_kind::view && is_written_through(values_.at[v].node, is_reshaped)) {
                v = values_.at[v].source;
            }
            if (values_.at[v].kind == storage_kind::buffer && values_.at[v].output < 0) {
                values_.at[v].output = i;
            }
        }
    }

    /// Whether a kernel can write an output of which this is the value, or a view of it, in place: the elements lie as
    /// in the array that is viewed or, where outputs may lie by columns, as in its transpose.
    constexpr bool is_written_through(node_id id, bool& is_reshaped) const {
        if (g_.is<graph::ops::transpose>(id)) {
            return g_.by_columns != 0 && !is_reshaped;
        }
        is_reshaped |= !g_.is<graph::ops::squeeze>(id) && !g_.is<graph::ops::expand_dims>(id);
        return keeps_order(id);
    }

    /// Views whose elements lie in memory as those of the array that they view.
    constexpr bool keeps_order(node_id id) const {
        return g_.is<graph::ops::squeeze>(id) || g_.is<graph::ops::expand_dims>(id) || g_.is<graph::ops::reshape>(id) ||
               g_.is<graph::ops::reshape_like>(id) || g_.is<graph::ops::merge_axes>(id);
    }

    constexpr void find_last_uses() {
        for (int i = 0; i < groups_.size(); ++i) {
            for (int k = 0; k < groups_.at[i].leaf_count; ++k) {
                use(leaves_.at[groups_.at[i].first_leaf + k], i);
            }
        }
        for (int v : outputs_) {
            use(v, groups_.size());
        }
    }

    constexpr void use(int v, int by) {
        for (; v >= 0; v = values_.at[v].source) {
            values_.at[v].last_use = by > values_.at[v].last_use ? by : values_.at[v].last_use;
        }
    }

    graph::graph_view g_;
    detail::fuser<Graph> fusion_;
    bool const* const stored_ = fusion_.stored();
    op_kind const* const kinds_ = fusion_.kinds();
    int const* const data_inputs_ = fusion_.data_inputs();
    sequence<int> value_of_; // the stored value of each node; -1: none
    sequence<int> group_of_; // the group that stores each node; -1: none
    sequence<int> step_of_;  // within the group that emitted it last
    sequence<int> stamp_;
    sequence<int> nodes_of_; // the first stored node of each group, plus 1
    sequence<int> next_;     // the next stored node of the same group
    sequence<group> groups_;
    sequence<step> steps_;
    sequence<stored_value> values_;
    sequence<int> leaves_;
    sequence<int> results_;
    sequence<int> outputs_;
};

} // namespace passes
} // namespace v0
} // namespace calque
