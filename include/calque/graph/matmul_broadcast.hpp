// SPDX-License-Identifier: MIT
// The products of matrices behind batch axes that broadcast: NumPy's `@`.
#pragma once

#include <calque/graph/batches.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// `count` axes from `first` on as one: a new one of extent 1 for none.
constexpr value group_axes(value x, int first, int count) {
    if (count == 0) {
        return expand_dims(x, axis_set{1} << first);
    }
    for (; count > 1; --count) {
        x = merge_axes(x, first);
    }
    return x;
}

namespace detail {

/// Reports static extents of two operands that cannot be those of one product.
constexpr bool fit_as_matrices(value a, value b) {
    node_id const operands[] = {a.id, b.id};
    calque::shape const& left = a.shape();
    calque::shape const& right = b.shape();
    auto const differ = [](extent_t x, extent_t y) { return x != y && is_static(x) && is_static(y); };
    if (differ(left.extent(-1), right.extent(-2))) {
        a.owner->fail(reason::inner_extents_differ, code_of<ops::matmul>, operands, 2);
        return false;
    }
    for (int axis = 3; axis <= left.rank && axis <= right.rank; ++axis) {
        extent_t const x = left.extent(-axis), y = right.extent(-axis);
        if (differ(x, y) && x != 1 && y != 1) {
            a.owner->fail(reason::extents_do_not_broadcast, code_of<ops::matmul>, operands, 2);
            return false;
        }
    }
    return true;
}

} // namespace detail

/// The products of matrices, the last two axes; the axes before them count products and broadcast.
///
/// [..., M, K] by [..., K, N] makes [..., M, N]. A vector is a matrix of one row or column, which the result drops.
constexpr value matmul_broadcast(value a, value b) {
    if (a.rank() <= 2 && b.rank() <= 2) {
        return matmul(a, b);
    }
    bool const is_row = a.rank() == 1, is_column = b.rank() == 1;
    a = is_row ? expand_dims(a, 1) : a;
    b = is_column ? expand_dims(b, 2) : b;
    if (!detail::fit_as_matrices(a, b)) {
        return a;
    }
    axis_set const row = axis_set{1} << (a.rank() - 2), column = axis_set{1} << (b.rank() - 1);
    value const like = sum(a, row << 1) == sum(b, column >> 1); // lends the shape [..., M, N]
    int const batch_rank = like.rank() - 2;
    axis_set const matrix = axis_set{3} << batch_rank;
    value product = a;
    if (b.rank() == 2) {
        value const rows = group_axes(a, 0, a.rank() - 1);
        product = reshape_like(matmul(rows, b), like);
    } else {
        value const batch = cast(sum(cast(like, a.type()), matrix), dtype::bool_);
        auto const batches_of = [&](value x) {
            return group_axes(broadcast_like(x, (x == x) == batch), 0, batch_rank);
        };
        product = reshape_like(matmul_each(batches_of(a), batches_of(b)), like);
    }
    return squeeze(product, (is_row ? axis_set{1} << batch_rank : 0) | (is_column ? axis_set{2} << batch_rank : 0));
}

} // namespace graph
} // namespace v0
} // namespace calque
