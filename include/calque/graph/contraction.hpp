// SPDX-License-Identifier: MIT
// Sums of products over labelled axes, brought to products of matrices.
#pragma once

#include <calque/graph/contraction_order.hpp>
#include <calque/graph/matmul_broadcast.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

namespace detail {

/// The sum over the axes whose labels are not kept.
constexpr labelled sum_out(labelled const& a, label_set kept) {
    labelled result{a.x, {}};
    axis_set summed = 0;
    for (int axis = 0, left = 0; axis < a.x.rank(); ++axis) {
        if (has_label(kept, a.labels[axis])) {
            result.labels[left++] = a.labels[axis];
        } else {
            summed |= axis_set{1} << axis;
        }
    }
    result.x = squeeze(sum(a.x, summed), summed);
    return result;
}

/// The diagonals along axes that have one label.
constexpr labelled diagonal(labelled a) {
    for (int axis = 1; axis < a.x.rank(); ++axis) {
        int const first = a.axis_of(a.labels[axis]);
        if (first == axis) {
            continue;
        }
        value const row = iota_like(a.x, first, dtype::int64);
        value const column = iota_like(a.x, axis, dtype::int64);
        axis_set const dropped = axis_set{1} << axis;
        if (!is_static(a.x.shape()[first]) || !is_static(a.x.shape()[axis])) {
            a.x = apply<ops::same_batch>(256u | static_cast<std::uint64_t>(axis), a.x, swap_axes(a.x, first, axis));
        }
        a.x = squeeze(sum(where(row == column, a.x, zero_of(a.x)), dropped), dropped);
        for (int i = axis; i < a.x.rank(); ++i) {
            a.labels[i] = a.labels[i + 1];
        }
        --axis;
    }
    return a;
}

/// Labels in order.
struct label_list {
    int labels[2 * max_rank]{};
    int count = 0;

    constexpr void push_back(int label) { labels[count++] = label; }
    constexpr void append(label_list const& others) {
        for (int i = 0; i < others.count; ++i) {
            push_back(others.labels[i]);
        }
    }
};

/// The labels of `a` that are in a set, in its order.
constexpr label_list labels_in(labelled const& a, label_set set) {
    label_list list;
    for (int axis = 0; axis < a.x.rank(); ++axis) {
        if (has_label(set, a.labels[axis])) {
            list.push_back(a.labels[axis]);
        }
    }
    return list;
}

/// The axes of `a` in the order of their labels in `order`, which has all of them.
constexpr value arranged(labelled const& a, label_list const& order) {
    std::uint64_t permutation = 0;
    bool is_same = true;
    for (int axis = 0; axis < a.x.rank(); ++axis) {
        int const from = a.axis_of(order.labels[axis]);
        permutation |= static_cast<std::uint64_t>(from) << (4 * axis);
        is_same = is_same && from == axis;
    }
    return is_same ? a.x : transpose(a.x, permutation);
}

/// Bits [first, first + count).
constexpr axis_set axes_from(int first, int count) {
    return ((axis_set{1} << count) - 1) << first;
}

} // namespace detail

/// The product of two labelled arrays, summed over the labels that are not kept.
///
/// Labels of both that are kept count products of matrices; those that are not are their inner extent.
constexpr labelled contract(labelled a, labelled b, label_set kept) {
    label_set const both = a.set() & b.set();
    a = detail::sum_out(a, both | kept);
    b = detail::sum_out(b, both | kept);
    detail::label_list const batch = detail::labels_in(a, both & kept);
    detail::label_list const inner = detail::labels_in(a, both & ~kept);
    detail::label_list const rows = detail::labels_in(a, ~both);
    detail::label_list const columns = detail::labels_in(b, ~both);
    detail::label_list left = batch, right = batch, order = batch;
    left.append(rows);
    left.append(inner);
    right.append(inner);
    right.append(columns);
    order.append(rows);
    order.append(columns);
    if (order.count > max_rank) {
        node_id const operands[] = {a.x.id, b.x.id};
        a.x.owner->fail(reason::rank_too_high, code_of<ops::matmul>, operands, 2, "einsum");
        return a;
    }
    value x = detail::arranged(a, left);
    value y = detail::arranged(b, right);
    labelled result;
    for (int i = 0; i < order.count; ++i) {
        result.labels[i] = order.labels[i];
    }
    int const first_inner = batch.count + rows.count;
    auto const with_columns = [&](value v) { return expand_dims(v, detail::axes_from(first_inner, columns.count)); };
    auto const with_rows = [&](value v) { return expand_dims(v, detail::axes_from(batch.count, rows.count)); };
    if (inner.count == 0) {
        result.x = with_columns(x) * with_rows(y);
        return result;
    }
    if (rows.count == 0 && columns.count == 0) {
        axis_set const summed = detail::axes_from(batch.count, inner.count);
        result.x = squeeze(sum(x * y, summed), summed);
        return result;
    }
    axis_set const inner_of_x = detail::axes_from(first_inner, inner.count);
    axis_set const inner_of_y = detail::axes_from(batch.count, inner.count);
    value const like = with_columns(squeeze(sum(x, inner_of_x), inner_of_x)) ==
                       with_rows(squeeze(sum(y, inner_of_y), inner_of_y)); // lends the shape of the result
    int const batches = batch.count == 0 ? 0 : 1;
    x = group_axes(group_axes(x, first_inner, inner.count), batch.count, rows.count);
    y = group_axes(group_axes(y, batch.count + inner.count, columns.count), batch.count, inner.count);
    if (batches == 1) {
        result.x = matmul_each(group_axes(x, 0, batch.count), group_axes(y, 0, batch.count));
    } else {
        result.x = matmul(x, y);
    }
    if (batch.count <= 1 && rows.count <= 1 && columns.count <= 1) {
        result.x = squeeze(result.x, (rows.count == 0 ? axis_set{1} << batches : 0) |
                                         (columns.count == 0 ? axis_set{2} << batches : 0));
    } else {
        result.x = reshape_like(result.x, like);
    }
    return result;
}

namespace detail {

/// Reports an operand that has a static extent which another one has not under the same label.
constexpr bool labels_agree(labelled const* terms, int count) {
    extent_t extents[52]{};
    node_id owners[52]{};
    for (extent_t& extent : extents) {
        extent = dyn;
    }
    for (int k = 0; k < count; ++k) {
        for (int axis = 0; axis < terms[k].x.rank(); ++axis) {
            extent_t const extent = terms[k].x.shape()[axis];
            int const label = terms[k].labels[axis];
            if (!is_static(extent)) {
                continue;
            }
            if (extents[label] != dyn && extents[label] != extent) {
                node_id const operands[] = {owners[label], terms[k].x.id};
                terms[k].x.owner->fail(reason::extents_differ, code_of<ops::matmul>, operands, 2, "einsum");
                return false;
            }
            extents[label] = extent;
            owners[label] = terms[k].x.id;
        }
    }
    return true;
}

} // namespace detail

/// The sum of products along the last axis of `a` and the last but one, or only one, of `b`.
constexpr value dot(value a, value b) {
    if (a.rank() <= 2 && b.rank() <= 2) {
        return matmul(a, b);
    }
    labelled x{a, {}}, y{b, {}};
    label_set kept = 0;
    int const inner = 2 * max_rank;
    for (int axis = 0; axis < a.rank(); ++axis) {
        x.labels[axis] = axis + 1 == a.rank() ? inner : axis;
    }
    for (int axis = 0; axis < b.rank(); ++axis) {
        bool const is_inner = axis == (b.rank() == 1 ? 0 : b.rank() - 2);
        y.labels[axis] = is_inner ? inner : max_rank + axis;
    }
    labelled const both[] = {x, y};
    kept = (x.set() | y.set()) & ~(label_set{1} << inner);
    return detail::labels_agree(both, 2) ? contract(x, y, kept).x : a;
}

/// The product of labelled arrays, summed over the labels that `output` lacks: Einstein's convention.
///
/// An axis of the result for each of the `rank` labels of `output`, in that order.
constexpr value contract_all(labelled const* operands, int count, int const* output, int rank) {
    if (!detail::labels_agree(operands, count)) {
        return operands[0].x;
    }
    sequence<labelled> terms;
    for (int k = 0; k < count; ++k) {
        terms.push_back(detail::diagonal(operands[k]));
    }
    label_set wanted = 0;
    detail::label_list order;
    for (int i = 0; i < rank; ++i) {
        wanted |= label_set{1} << output[i];
        order.push_back(output[i]);
    }
    detail::contraction_order const search(terms.data(), count, wanted);
    while (terms.size() > 1) {
        sequence<label_set> sets;
        for (labelled const& term : terms) {
            sets.push_back(term.set());
        }
        auto const [i, j, cost] = search.next(sets.data(), sets.size());
        label_set kept = wanted;
        sequence<labelled> left;
        for (int k = 0; k < terms.size(); ++k) {
            if (k != i && k != j) {
                left.push_back(terms[k]);
                kept |= sets[k];
            }
        }
        // Left to right: the product stands where its first factor stood.
        labelled const product = contract(terms[i], terms[j], kept);
        sequence<labelled> next;
        next.push_back(product);
        for (labelled const& term : left) {
            next.push_back(term);
        }
        terms = static_cast<sequence<labelled>&&>(next);
    }
    return detail::arranged(detail::sum_out(terms[0], wanted), order);
}

} // namespace graph
} // namespace v0
} // namespace calque
