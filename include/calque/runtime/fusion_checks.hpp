// SPDX-License-Identifier: MIT
// What fusion takes for equal and only the extents of a call can tell: where a dynamic extent of 1 broadcasts, the
// values of one kernel differ in shape, and the call runs op by op.
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
};

/// The checks of a schedule, without those that every call passes.
class fusion_check_finder {
public:
    constexpr fusion_check_finder(graph::graph_view const& g, graph::schedule_view const& s)
        : g_(g), s_(s), symbols_(g) {}

    constexpr sequence<fusion_check> find() {
        for (int k = 0; k < s_.group_count; ++k) {
            graph::group const& x = s_.groups[k];
            for (int i = 0; i < x.step_count; ++i) {
                add_checks_of(s_.steps[x.first_step + i], x);
            }
        }
        return std::move(checks_);
    }

private:
    constexpr void add_checks_of(graph::step const& step, graph::group const& x) {
        bool const is_reduction = graph::info(step.op).kind == graph::op_kind::reduction;
        if (step.leaf < 0 && is_reduction) {
            add({g_.input(g_[step.node], 0), x.space_node, g_.shapes[x.space].rank});
        }
        bool const is_counted = step.index >= 0 && g_.shape(step.node).rank != 0;
        bool const is_stored = step.result >= 0 && !is_reduction;
        if (is_counted || is_stored) {
            bool const is_full = g_[step.node].shape == x.space;
            add({step.node, x.space_node, g_.shapes[x.space].rank - (is_full ? 0 : x.reduced_axes)});
        }
    }

    constexpr void add(fusion_check const& check) {
        if (!holds_always(check) && calque::find(checks_, check) < 0) {
            checks_.push_back(check);
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
    sequence<fusion_check> checks_;
};

/// The checks of a compiled schedule, as a constant.
template <class Compiled>
class fusion_checks {
    static constexpr sequence<fusion_check> find() {
        return fusion_check_finder(Compiled::view(), Compiled::schedule.view()).find();
    }
    static constexpr int count = find().size();

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
};

} // namespace runtime
} // namespace v0
} // namespace calque
