// SPDX-License-Identifier: MIT
// Operations in which each element along an axis depends on the one before it.
#pragma once

#include <calque/graph/op.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace graph::ops {

/// How a running operation goes along its axis: the attribute, packed.
struct running_order {
    int axis = 0;
    bool is_reversed = false; // from the last element to the first
    bool is_lagged = false;   // of a recurrence: a factor belongs to the step from its place, not to the one to it

    constexpr std::uint64_t pack() const {
        return static_cast<std::uint64_t>(axis) | (is_reversed ? 16u : 0u) | (is_lagged ? 32u : 0u);
    }
    static constexpr running_order unpack(std::uint64_t attribute) {
        return {static_cast<int>(attribute & 15u), (attribute & 16u) != 0, (attribute & 32u) != 0};
    }
};

struct running_op : op_defaults {
    static constexpr op_kind kind = op_kind::movement;
    static constexpr dtype_set accepts = dtype_set::numbers;
    static constexpr int cost = 100;

    static constexpr auto batch(auto const& in) { return in.again(in.attribute() + 1); }
};

/// The sum of the elements up to each one along an axis. Attribute: `running_order`, never lagged.
struct running_sum : running_op {
    static constexpr std::string_view name = "cumsum";
    static constexpr int arity = 1;

    static constexpr shape infer(inference& in) { return in.input(0); }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) {
        running_order order = running_order::unpack(y.attribute());
        order.is_reversed = !order.is_reversed;
        return graph::running_sum(dy, order.pack());
    }
};

/// y[k] = a[k] y[k - 1] + b[k] along an axis, and y[0] = b[0]; lagged, a[k - 1] y[k - 1] + b[k]. Inputs: a, b.
///
/// Shape: that of `a` and of `b`. Derivatives are recurrences in the other direction, so that no element is divided by:
/// cumulative products are right where factors are 0.
struct recurrence : running_op {
    static constexpr std::string_view name = "recurrence";
    static constexpr int arity = 2;

    static constexpr shape infer(inference& in) {
        shape const& a = in.input(0);
        shape result = in.input(1);
        if (a.rank != result.rank) {
            in.fail(reason::extents_differ);
            return result;
        }
        for (int axis = 0; axis < a.rank; ++axis) {
            if (is_static(a[axis]) && is_static(result[axis]) && a[axis] != result[axis]) {
                in.fail(reason::extents_differ);
            }
            result[axis] = is_static(result[axis]) || a[axis] == dyn ? result[axis] : a[axis];
        }
        return result;
    }
    /// The adjoint r of b: r[k] = dy[k] + a[k + 1] r[k + 1], as y[k + 1] is the only one that has y[k] in it.
    static constexpr auto vjp(auto dy, auto a, auto /*b*/, auto y) {
        running_order const order = running_order::unpack(y.attribute());
        running_order const back{order.axis, !order.is_reversed, !order.is_lagged};
        auto const r = graph::recurrence(a, dy, back.pack());
        return std::array{order.is_lagged ? graph::previous(r, order.axis, back.is_reversed) * y
                                          : r * graph::previous(y, order.axis, order.is_reversed),
                          r};
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
