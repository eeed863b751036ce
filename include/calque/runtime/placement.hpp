// SPDX-License-Identifier: MIT
// Where views lie: their offset and strides follow from those of the array that they view, or there is no such strides
// and the elements must be copied.
#pragma once

#include <calque/graph/graph.hpp>
#include <calque/runtime/plan.hpp>

namespace calque {
inline namespace v0 {
namespace runtime {

/// Whether two arrays of these extents lie alike: along an axis of extent 1 strides mean nothing.
constexpr bool are_equal_strides(shape const& extents, calque::strides const& a, calque::strides const& b) {
    bool equal = true;
    for (int axis = 0; axis < extents.rank; ++axis) {
        equal &= extents[axis] == 1 || a[axis] == b[axis];
    }
    return equal;
}

/// Whether elements lie without gaps in some order of the axes.
constexpr bool is_dense(shape const& extents, calque::strides const& steps) {
    std::ptrdiff_t unit = 1;
    for (int found = 0; found < extents.rank; ++found) { // the axes from the innermost on; one of extent 1 is anywhere
        if (unit == extents.size()) {
            return true;
        }
        int axis = 0;
        while (axis < extents.rank && (extents[axis] == 1 || steps[axis] != unit)) {
            ++axis;
        }
        if (axis == extents.rank) {
            return false;
        }
        unit *= extents[axis];
    }
    return unit == extents.size();
}

/// The strides of the same elements, in row-major order, under other extents; false if there are none.
constexpr bool reshape_strides(shape const& from, calque::strides const& from_steps, shape const& to,
                               calque::strides& to_steps) {
    if (is_contiguous(from, from_steps)) {
        to_steps = contiguous_strides(to);
        return true;
    }
    // Axes of `from` and `to` are matched from the last on, in runs of equal size; a run must be evenly spaced.
    int a = from.rank - 1;
    int b = to.rank - 1;
    while (b >= 0) {
        while (a >= 0 && from[a] == 1) {
            --a;
        }
        std::ptrdiff_t step = a < 0 ? 0 : from_steps[a];
        std::ptrdiff_t available = a < 0 ? 1 : from[a];
        std::ptrdiff_t wanted = to[b];
        to_steps[b--] = step;
        while (available != wanted) {
            if (available < wanted) {
                --a;
                if (a < 0 || (from[a] != 1 && from_steps[a] != step * available)) {
                    return false;
                }
                available *= from[a];
            } else {
                if (b < 0) {
                    return false;
                }
                to_steps[b] = step * wanted;
                wanted *= to[b--];
            }
        }
        --a;
    }
    return true;
}

/// Places a view node of which the source is placed. False if it is none: its elements must be copied.
constexpr bool place_view(graph::graph_view const& g, graph::node_id id, shape const* shapes, value_plan const& source,
                          value_plan& view, std::size_t element_bytes) {
    using namespace graph;
    node const& n = g[id];
    shape const& from = source.extents;
    view.extents = shapes[id];
    view.at = source.at;
    auto const move_by = [&](std::ptrdiff_t elements) {
        view.at.offset += elements * static_cast<std::ptrdiff_t>(element_bytes);
    };
    if (n.op == code_of<ops::transpose>) {
        for (int axis = 0; axis < from.rank; ++axis) {
            view.steps[axis] = source.steps[permuted(n.attribute, axis)];
        }
    } else if (n.op == code_of<ops::expand_dims>) {
        for (int axis = 0, taken = 0; axis < view.extents.rank; ++axis) {
            view.steps[axis] = graph::contains(n.attribute, axis) ? 0 : source.steps[taken++];
        }
    } else if (n.op == code_of<ops::squeeze>) {
        for (int axis = 0, kept = 0; axis < from.rank; ++axis) {
            if (!graph::contains(n.attribute, axis)) {
                view.steps[kept++] = source.steps[axis];
            }
        }
    } else if (n.op == code_of<ops::slice>) {
        slice_lists const lists = slice_lists::unpack(n.attribute);
        for (int axis = 0; axis < from.rank; ++axis) {
            auto const range =
                ops::clipped_range::clip(g.shapes[lists.starts][axis], g.shapes[lists.stops][axis], from[axis]);
            view.steps[axis] = source.steps[axis] * g.shapes[lists.steps][axis];
            move_by(view.extents.size() == 0 ? 0 : range.start * source.steps[axis]);
        }
    } else if (n.op == code_of<ops::flip>) {
        for (int axis = 0; axis < from.rank; ++axis) {
            bool const is_reversed = graph::contains(n.attribute, axis);
            view.steps[axis] = is_reversed ? -source.steps[axis] : source.steps[axis];
            move_by(is_reversed && view.extents.size() != 0 ? (from[axis] - 1) * source.steps[axis] : 0);
        }
    } else if (n.op == code_of<ops::concatenation_part>) {
        int const axis = ops::concatenation_part::axis(n.attribute);
        view.steps = source.steps;
        for (int part = 0; part < ops::concatenation_part::part(n.attribute); ++part) {
            move_by(shapes[g.input(n, 1 + part)][axis] * source.steps[axis]);
        }
    } else if (n.op == code_of<ops::after> || n.op == code_of<ops::roll>) { // where ranges of it lie, its readers know
        view.steps = source.steps;
    } else { // reshape, reshape_like, merge_axes, split_axis
        return reshape_strides(from, source.steps, view.extents, view.steps);
    }
    return true;
}

} // namespace runtime
} // namespace v0
} // namespace calque
