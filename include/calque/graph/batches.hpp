// SPDX-License-Identifier: MIT
// Operations on batches, arrays whose first axis counts examples: what the batch rules of products and of `take` are
// written in. (Those of the other operations need no more than the operation itself, with its axes moved by one.)
#pragma once

#include <calque/graph/value.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// One axis moved to another place; the others keep their order.
constexpr value move_axis(value x, int from, int to) {
    std::uint64_t permutation = 0;
    for (int axis = 0, other = 0; axis < x.rank(); ++axis) {
        other += other == from ? 1 : 0;
        permutation |= static_cast<std::uint64_t>(axis == to ? from : other++) << (4 * axis);
    }
    return from == to ? x : transpose(x, permutation);
}
constexpr value move_to_front(value x, int axis) {
    return move_axis(x, axis, 0);
}

/// Two axes in each other's place.
constexpr value swap_axes(value x, int a, int b) {
    std::uint64_t permutation = 0;
    for (int axis = 0; axis < x.rank(); ++axis) {
        permutation |= static_cast<std::uint64_t>(axis == a ? b : axis == b ? a : axis) << (4 * axis);
    }
    return transpose(x, permutation);
}

/// An axis and the next one as one.
constexpr value merge_axes(value x, int first) {
    value const merged = apply<ops::merge_axes>(static_cast<std::uint64_t>(first), x);
    return merged.shape().is_static() ? reshape(x, merged.shape()) : merged;
}

// ---- products

/// a[i] b for each i, where `a` is [B,M,K] and `b` [K,N]: one product of [B M,K] and [K,N].
///
/// `like` lends the shape [B,M,N].
constexpr value matmul_rows(value a, value b, value like) {
    if (a.shape()[1] == 1) {
        return expand_dims(matmul(squeeze(a, 2), b), 2);
    }
    return reshape_like(matmul(merge_axes(a, 0), b), like);
}

/// a[i] b[i] for each i, where `a` is [B,M,K] and `b` [B,K,N].
///
/// Outer products, and products with vectors, are elementwise products and sums of them, which fusion does not store.
constexpr value matmul_each(value a, value b) {
    calque::shape const& left = a.shape();
    calque::shape const& right = b.shape();
    if (left[2] == 1 && right[1] == 1) {
        return a * b;
    }
    if (right[2] == 1) {
        return sum(a * transpose(b, 0x120), 4);
    }
    if (left[1] == 1) {
        return sum(transpose(a, 0x120) * b, 2);
    }
    return batch_matmul(a, b);
}

// ---- taking elements

/// The extent of an axis, as a scalar of dtype int64.
constexpr value extent_of(value x, int axis) {
    return element_count(x, axis_set{1} << axis, dtype::int64);
}

/// Indices [B,...] into an axis of extent `n` of each example, as indices into the B n elements of all of them.
///
/// Those below 0 count from the end, and those out of range are the nearest that exist, as `take` has it.
constexpr value indices_into_all(value indices, value n) {
    if (indices.type() == dtype::uint64) {
        indices = apply<ops::minimum>(0, indices, literal(indices, INT64_MAX));
    }
    value const given = cast(indices, dtype::int64);
    value const from_start = where(given < 0, given + n, given);
    value const existing = apply<ops::minimum>(0, apply<ops::maximum>(0, from_start, zero_of(n)), n - 1);
    return existing + iota_like(given, 0, dtype::int64) * n;
}

/// take(x[b], indices[b], axis) for each b. `x`: [B,...] with the axis at `axis` + 1; `indices`: [B,...].
constexpr value take_each(value x, value indices, int axis) {
    value const all = merge_axes(move_axis(x, axis + 1, 1), 0);
    value taken = take(all, indices_into_all(indices, extent_of(x, axis + 1)), 0);
    for (int i = 1; i < indices.rank(); ++i) { // the axes of the indices stand in front: to where the axis was
        taken = move_axis(taken, 1, axis + indices.rank() - 1);
    }
    return taken;
}

/// roll(x[b], axis, shifts[b]) for each b.
constexpr value roll_each(value x, value shifts, int axis) {
    value const n = extent_of(x, axis + 1);
    value const ahead = indices_along(x, axis + 1, dtype::int64) - expand_dims(shifts, 2);
    value const around = apply<ops::remainder>(0, ahead, n);
    return take_each(x, where(around < zero_of(n), around + n, around), axis);
}

/// take_adjoint(dy[b], indices[b], like[b], axis) for each b: the transpose of `take_each`.
constexpr value take_each_adjoint(value dy, value indices, value like, int axis) {
    value const moved = move_axis(like, axis + 1, 1);
    for (int i = 1; i < indices.rank(); ++i) {
        dy = move_axis(dy, axis + indices.rank() - 1, 1);
    }
    value const positions = indices_into_all(indices, extent_of(like, axis + 1));
    value const all = take_adjoint(dy, positions, merge_axes(moved, 0), 0);
    return move_axis(reshape_like(all, moved), 1, axis + 1);
}

// ---- rows by their numbers

/// The numbers [B,...] of rows of each example, as those of the rows of all of them: `like` is [B,R,...].
///
/// What is the number of no row stays so.
constexpr value numbers_in_all(value numbers, value like) {
    if (numbers.type() == dtype::uint64) {
        numbers = apply<ops::minimum>(0, numbers, literal(numbers, INT64_MAX));
    }
    value const given = cast(numbers, dtype::int64);
    value const n = extent_of(like, 1);
    value const exists = apply<ops::logical_and>(0, given >= 0, given < n);
    return where(exists, given + iota_like(given, 0, dtype::int64) * n, literal(given, -1));
}

/// gather_rows(x[b], numbers[b]) for each b.
constexpr value gather_rows_each(value x, value numbers) {
    return gather_rows(merge_axes(x, 0), numbers_in_all(numbers, x));
}

// ---- random numbers

/// The random words of each key in `keys`, [B], in the shape of `like`, [B,extents...]: places begin anew for each.
constexpr value random_bits_each(value keys, value like, dtype word) {
    value const place = row_major_index(like, 1, dtype::uint64);
    keys = expand_dims(keys, all_axes(like) & ~axis_set{1});
    return word == dtype::uint32 ? apply<ops::random_word32>(0, keys, place)
                                 : apply<ops::random_word64>(0, keys, place);
}

} // namespace graph
} // namespace v0
} // namespace calque
