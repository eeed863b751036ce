// SPDX-License-Identifier: MIT
// Axes as users write them (template arguments, negative from the end) to the sets that the graph uses.
#pragma once

#include <calque/trace/expr.hpp>

namespace calque {
inline namespace v0 {

/// Asks a reduction to keep the reduced axes, with extent 1: `sum<-1>(x, calque::keepdims)`.
struct keepdims_t {};
inline constexpr keepdims_t keepdims{};

namespace detail {

/// The set of `axes` of an array of rank `rank`; none means all. Reports bad axes as an error of `Op` on `v`, or of the
/// function that users know it by.
template <class Op, int... Axes>
constexpr graph::axis_set axis_set_of(graph::value v, int rank, std::string_view name = {}) {
    if constexpr (sizeof...(Axes) == 0) {
        return (graph::axis_set{1} << rank) - 1;
    } else {
        graph::axis_set set = 0;
        for (int axis : {Axes...}) {
            axis = axis < 0 ? axis + rank : axis;
            if (axis < 0 || axis >= rank) {
                v.owner->fail(graph::reason::axis_out_of_range, graph::code_of<Op>, &v.id, 1, name);
                continue;
            }
            if (graph::contains(set, axis)) {
                v.owner->fail(graph::reason::repeated_axis, graph::code_of<Op>, &v.id, 1, name);
            }
            set |= graph::axis_set{1} << axis;
        }
        return set;
    }
}

/// One axis of `v`, from the end if negative.
template <class Op>
constexpr int axis_of(graph::value v, int axis, int rank, std::string_view name = {}) {
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis >= rank) {
        v.owner->fail(graph::reason::axis_out_of_range, graph::code_of<Op>, &v.id, 1, name);
        return 0;
    }
    return axis;
}

} // namespace detail
} // namespace v0
} // namespace calque
