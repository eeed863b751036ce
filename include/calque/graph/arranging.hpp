// SPDX-License-Identifier: MIT
// Elements in other places: rolled, padded, cut into parts, taken along an axis, and arrays of which a part is another.
#pragma once

#include <calque/graph/batches.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// `axes` of `x`, with extent 1: what is made of it has the other axes of `x`. Nobody asks for its elements.
constexpr value shape_without(value x, axis_set axes) {
    return sum(x, axes);
}

/// A range of one axis; the others are whole.
constexpr value slice_axis(value x, int axis, extent_t start, extent_t stop) {
    return slice(x, range_of_axis(x, axis, start, stop));
}

/// An axis as two: `parts` equal parts, and the elements of each.
constexpr value split_axis(value x, int axis, extent_t parts) {
    return apply<ops::split_axis>(static_cast<std::uint64_t>(axis) | static_cast<std::uint64_t>(parts) << 8, x);
}

/// `count` blocks of one value beside `x`, where an axis has that extent.
constexpr value block_beside(value x, int axis, extent_t count, value fill) {
    calque::shape extents;
    for (int i = 0; i < x.rank(); ++i) {
        extents.push_back(i == axis ? count : dyn);
    }
    value const one = broadcast_like(fill, shape_without(x, axis_set{1} << axis));
    return broadcast_to(one, extents);
}

/// `x` with `before` and `after` elements of one value, a scalar, more along an axis.
constexpr value pad_axis(value x, int axis, extent_t before, extent_t after, value fill) {
    value parts[3];
    int count = 0;
    if (before != 0) {
        parts[count++] = block_beside(x, axis, before, fill);
    }
    parts[count++] = x;
    if (after != 0) {
        parts[count++] = block_beside(x, axis, after, fill);
    }
    return count == 1 ? x : concatenate(parts, count, axis);
}

/// Element i along an axis is element i - shift, around the end.
constexpr value roll(value x, int axis, extent_t shift) {
    extent_t const n = x.shape()[axis];
    shift = n == 0 ? 0 : is_static(n) ? shift % n : shift;
    return shift == 0 ? x
                      : roll(x, axis, value{x.owner, x.owner->constant(dtype::int64, to_bits<std::int64_t>(shift))});
}

/// Where the column is at most `offset` places right of the row: the lower triangle of the matrices of `x`.
constexpr value lower_triangle(value x, extent_t offset) {
    value const row = iota_like(x, x.rank() - 2, dtype::int64);
    value const column = iota_like(x, x.rank() - 1, dtype::int64);
    return column - literal(row, offset) <= row;
}

/// Leading axes as one, all but the last `kept`.
constexpr value merge_leading(value x, int kept) {
    if (x.rank() == kept) {
        return expand_dims(x, 1);
    }
    while (x.rank() > kept + 1) {
        x = merge_axes(x, 0);
    }
    return x;
}

/// The element of `x` at an index along an axis, for each index; along the other axes the extents are equal.
constexpr value take_along(value x, value indices, int axis) {
    int const last = x.rank() - 1;
    value const moved = move_axis(indices, axis, last);
    value const lines = merge_leading(move_axis(x, axis, last), 1);
    value const positions = indices_into_all(merge_leading(moved, 1), extent_of(lines, 1));
    return move_axis(reshape_like(take(merge_axes(lines, 0), positions, 0), moved), last, axis);
}

/// The same, where `x` and `indices`, of one rank, broadcast along the other axes.
constexpr value take_along_broadcast(value x, value indices, int axis) {
    axis_set const own = axis_set{1} << axis;
    value const others = shape_without(x, own) == cast(shape_without(indices, own), x.type());
    return take_along(broadcast_like(x, x == cast(others, x.type())),
                      broadcast_like(indices, indices == cast(others, indices.type())), axis);
}

/// `part` with the shape of what a slice of `x` with these lists reads, to which it broadcasts if that has lost the
/// `dropped` axes.
constexpr value as_part(value part, value x, std::uint64_t lists, axis_set dropped) {
    return expand_dims(broadcast_like(part, squeeze(slice(x, lists), dropped)), dropped);
}

/// `x` with other elements in a part, which is given as above.
constexpr value set_part(value x, value part, std::uint64_t lists, axis_set dropped) {
    return set_slice(as_part(part, x, lists, dropped), x, lists);
}
constexpr value add_to_part(value x, value part, std::uint64_t lists, axis_set dropped) {
    return x + slice_adjoint(as_part(part, x, lists, dropped), x, lists);
}

} // namespace graph
} // namespace v0
} // namespace calque
