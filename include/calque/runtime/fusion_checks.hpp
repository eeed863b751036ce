// SPDX-License-Identifier: MIT
// What fusion takes for equal and only the extents of a call can tell: where a dynamic extent of 1 broadcasts, the
// values of one kernel differ in shape. Outputs of fewer elements are computed for all of them, and copied; where that
// is not the same, the call runs op by op.
#pragma once

#include <calque/graph/extent_symbols.hpp>
#include <calque/graph/schedule.hpp>

namespace calque {
inline namespace v0 {
namespace runtime {

/// A node that must have the extents of a kernel's space along the first `full_axes` axes, and 1 along the others.
struct fusion_check {
    graph::node_id node = -1;
    graph::node_id space_node = -1;
    int full_axes = 0;
    // Whether each of both may be stretched: an output that nothing reads and that has the same elements along an axis.
    bool may_widen = false;
    bool may_widen_space = false;

    constexpr bool operator==(fusion_check const&) const = default;

    constexpr bool holds(shape const* shapes) const {
        shape const& extents = shapes[node];
        shape const& space = shapes[space_node];
        bool all = extents.rank == space.rank;
        for (int axis = 0; all && axis < space.rank; ++axis) {
            all = extents[axis] == (axis < full_axes ? space[axis] : 1);
        }
        return all;
    }

    /// Stretches what has one element along an axis where the other has more. False if that may not be.
    constexpr bool widen(shape* shapes) const {
        shape& extents = shapes[node];
        shape& space = shapes[space_node];
        bool may = extents.rank == space.rank;
        for (int axis = 0; may && axis < full_axes; ++axis) {
            extent_t const wide = extents[axis] == 1 ? space[axis] : extents[axis];
            bool const is_node_narrow = extents[axis] != wide;
            bool const is_space_narrow = space[axis] != wide;
            may = (!is_node_narrow || may_widen) && (!is_space_narrow || (space[axis] == 1 && may_widen_space)) &&
                  (wide != 0 || !(is_node_narrow || is_space_narrow)); // no elements have none to copy
            extents[axis] = wide;
            space[axis] = wide;
        }
        return may && holds(shapes);
    }
};

/// The checks of a schedule, without those that every call passes.
class fusion_check_finder {
public:
    constexpr fusion_check_finder(graph::graph_view const& g, graph::schedule_view const& s)
        : g_(g), s_(s), symbols_(g) {}

    constexpr sequence<fusion_check> find() {
        for (int k = 0; k < s_.group_count; ++k) {
            graph::group const& x = s_.groups[k];
            of_group_.clear();
            bool const may_widen_space = is_only_elementwise(x) && is_only_output(x, x.space_node);
            for (int i = 0; i < x.step_count; ++i) {
                add_checks_of(s_.steps[x.first_step + i], x, may_widen_space);
            }
            keep_checks();
        }
        return std::move(checks_);
    }

private:
    constexpr void add_checks_of(graph::step const& step, graph::group const& x, bool may_widen_space) {
        bool const is_reduction = graph::info(step.op).kind == graph::op_kind::reduction;
        if (step.leaf < 0 && is_reduction) {
            add({g_.input(g_[step.node], 0), x.space_node, g_.shapes[x.space].rank});
        }
        bool const is_counted = step.index >= 0 && g_.shape(step.node).rank != 0;
        bool const is_stored = step.result >= 0 && !is_reduction;
        if (is_counted || is_stored) {
            bool const is_full = g_[step.node].shape == x.space;
            bool const may_widen = !is_counted && x.kind == graph::group_kind::rows && is_only_output(x, step.node);
            add({step.node, x.space_node, g_.shapes[x.space].rank - (is_full ? 0 : x.reduced_axes), may_widen,
                 may_widen_space});
        }
    }

    /// Whether what a group computes for one element does not depend on the others, nor on where it is.
    constexpr bool is_only_elementwise(graph::group const& x) const {
        bool is = x.kind == graph::group_kind::rows && x.reduced_axes == 0;
        for (int i = 0; is && i < x.step_count; ++i) {
            graph::step const& step = s_.steps[x.first_step + i];
            is = step.index < 0 && graph::info(step.op).kind != graph::op_kind::reduction;
        }
        return is;
    }

    /// Whether a node is a result of a group, one output, and no other group reads it.
    constexpr bool is_only_output(graph::group const& x, graph::node_id node) const {
        for (int r = x.first_result; r < x.first_result + x.result_count; ++r) {
            int const v = s_.results[r];
            graph::stored_value const& value = s_.values[v];
            if (value.node == node && value.kind == graph::storage_kind::buffer && value.output >= 0) {
                int outputs = 0;
                for (int o = 0; o < s_.output_count; ++o) {
                    outputs += s_.outputs[o] == v ? 1 : 0;
                }
                return outputs == 1 && s_.outputs[value.output] == v && !s_.is_read(v);
            }
        }
        return false;
    }

    constexpr void add(fusion_check const& check) {
        if (check.node != check.space_node && calque::find(of_group_, check) < 0) {
            of_group_.push_back(check);
        }
    }

    /// Keeps a group's checks that some call may not pass; and the others, if its space may be stretched then, whose
    /// extents they always have.
    constexpr void keep_checks() {
        bool may_widen_space = false;
        for (fusion_check const& check : of_group_) {
            may_widen_space |= check.may_widen_space && !holds_always(check);
        }
        for (fusion_check const& check : of_group_) {
            if (may_widen_space || !holds_always(check)) {
                checks_.push_back(check);
            }
        }
    }

    constexpr bool holds_always(fusion_check const& check) const {
        shape const& declared = g_.shape(check.node);
        bool all = declared.rank == g_.shape(check.space_node).rank;
        for (int axis = 0; all && axis < declared.rank; ++axis) {
            all = axis < check.full_axes ? symbols_.are_equal(check.node, check.space_node, axis) : declared[axis] == 1;
        }
        return all;
    }

    graph::graph_view g_;
    graph::schedule_view s_;
    graph::extent_symbols symbols_;
    sequence<fusion_check> of_group_;
    sequence<fusion_check> checks_;
};

/// The checks of a compiled schedule, as a constant.
template <class Compiled>
class fusion_checks {
    static constexpr sequence<fusion_check> find() {
        return fusion_check_finder(Compiled::view(), Compiled::schedule.view()).find();
    }

public:
    static constexpr int count = find().size();

private:
    struct table {
        fusion_check checks[count == 0 ? 1 : count]{};

        constexpr table() {
            sequence<fusion_check> const found = find();
            for (int i = 0; i < count; ++i) {
                checks[i] = found[i];
            }
        }
    };
    static constexpr table of{};

public:
    /// Whether the shapes of a call, by node, are those that fusion has taken for equal.
    static constexpr bool hold(shape const* shapes) {
        bool all = true;
        for (int i = 0; all && i < count; ++i) {
            all = of.checks[i].holds(shapes);
        }
        return all;
    }

    /// Whether some outputs may be stretched.
    static constexpr bool may_widen() {
        bool any = false;
        for (int i = 0; i < count; ++i) {
            any |= of.checks[i].may_widen || of.checks[i].may_widen_space;
        }
        return any;
    }

    /// Stretches the shapes of outputs until all checks hold. False if they cannot.
    static constexpr bool widen(shape* shapes) {
        bool may = true;
        for (int turn = 0; may && turn <= count && !hold(shapes); ++turn) { // a space that grows stretches others
            for (int i = 0; may && i < count; ++i) {
                may = of.checks[i].widen(shapes);
            }
        }
        return may && hold(shapes);
    }
};

} // namespace runtime
} // namespace v0
} // namespace calque
