// SPDX-License-Identifier: MIT
// What a traced function does with a ragged batch: folds of its rows, values of rows at their elements, padding.
#pragma once

#include <calque/graph/batches.hpp>
#include <calque/interop/ragged.hpp>
#include <calque/trace/creation.hpp>
#include <calque/trace/segments.hpp>

namespace calque {
inline namespace v0 {

/// A ragged batch as a traced function sees it.
template <class Spec>
using traced_ragged = basic_ragged<traced, Spec>;

namespace detail {

/// Splits without the last or the first one, in one shape: that of a value a row.
template <class Spec>
constexpr expr<std::int64_t> split_ends(traced_ragged<Spec> const& batch, bool last) {
    graph::value const starts = view(batch.splits, range(0, -1)).value();
    return {last ? graph::reshape_like(view(batch.splits, range(1, graph::to_the_end)).value(), starts) : starts,
            batch.splits.shared()};
}

/// The shape of one element of a batch, where an element may be an array.
constexpr graph::value elements_like(graph::value values) {
    return graph::squeeze(graph::iota_like(values, 0, dtype::int64), graph::all_axes(values) & ~graph::axis_set{1});
}

} // namespace detail

/// A ragged batch of traced values and splits. Nobody checks the splits: elements that are in no row are left out.
template <extent_t... Row, class T>
constexpr auto make_ragged(expr<T> const& values, expr<std::int64_t> const& splits) {
    return traced_ragged<spec<T, dyn, Row...>>{values, splits};
}

/// Other values in the same rows; `Row` are the extents of an element, if it is no number.
template <extent_t... Row, class Spec, class T>
constexpr auto with_values(traced_ragged<Spec> const& batch, expr<T> const& values) {
    return make_ragged<Row...>(values, batch.splits);
}

/// Where each row begins. Shape: [rows].
template <class Spec>
constexpr expr<std::int64_t> row_starts(traced_ragged<Spec> const& batch) {
    return detail::split_ends(batch, false);
}

/// How many elements each row has. Shape: [rows].
template <class Spec>
constexpr expr<std::int64_t> row_lengths(traced_ragged<Spec> const& batch) {
    return detail::split_ends(batch, true) - detail::split_ends(batch, false);
}

/// The number of each element's row. Shape: [elements].
template <class Spec>
constexpr expr<std::int64_t> row_numbers(traced_ragged<Spec> const& batch) {
    detail::meeting const at(batch.values, batch.splits);
    return at.template wrap<expr<std::int64_t>>(
        graph::row_numbers(at.import(batch.splits), detail::elements_like(at.import(batch.values))));
}

/// The place of each element in its row: 0, 1, ... Shape: [elements].
template <class Spec>
constexpr expr<std::int64_t> row_positions(traced_ragged<Spec> const& batch) {
    auto const numbers = row_numbers(batch);
    expr<std::int64_t> const places(graph::iota_like(numbers.value(), 0, dtype::int64), numbers.shared());
    return places - gather_rows(row_starts(batch), numbers);
}

/// The sum of each row; 0 of an empty one. Shape: [rows, extents of an element...].
template <class Spec>
constexpr auto row_sum(traced_ragged<Spec> const& batch) {
    return segment_sum_like(batch.values, row_numbers(batch), row_starts(batch));
}

/// The mean of each row; NaN of an empty one. Floating dtypes only.
template <class Spec>
constexpr auto row_mean(traced_ragged<Spec> const& batch) {
    using T = typename Spec::value_type;
    static_assert(floating<T>, "calque: row_mean takes float or double: write calque::cast<float>(x)");
    auto const total = row_sum(batch);
    graph::value const count = cast<T>(row_lengths(batch)).value();
    graph::axis_set const others = graph::all_axes(total.value()) & ~graph::axis_set{1};
    return total / expr<T>(graph::expand_dims(count, others), batch.splits.shared());
}

/// The largest element of each row; NaN if there is one; -infinity, or the lowest integer, of an empty row.
template <class Spec>
constexpr auto row_max(traced_ragged<Spec> const& batch) {
    return segment_max_like(batch.values, row_numbers(batch), row_starts(batch));
}

/// The smallest element of each row; NaN if there is one; infinity, or the largest integer, of an empty row.
template <class Spec>
constexpr auto row_min(traced_ragged<Spec> const& batch) {
    return segment_min_like(batch.values, row_numbers(batch), row_starts(batch));
}

/// A value of each row, at each of its elements: `with_values(b, b.values - broadcast_rows(b, row_mean(b)))`.
///
/// `x`: [rows, ...]. Shape: [elements, ...].
template <class Spec, handle X>
constexpr X broadcast_rows(traced_ragged<Spec> const& batch, X const& x) {
    return gather_rows(x, row_numbers(batch));
}

/// softmax of the elements of each row, without overflow; a batch of the same rows.
template <class Spec>
constexpr traced_ragged<Spec> row_softmax(traced_ragged<Spec> const& batch) {
    auto const numbers = row_numbers(batch);
    auto const starts = row_starts(batch);
    auto const largest = stop_gradient(segment_max_like(batch.values, numbers, starts));
    auto const e = exp(batch.values - gather_rows(largest, numbers));
    return {e / gather_rows(segment_sum_like(e, numbers, starts), numbers), batch.splits};
}

namespace detail {

/// Where the elements of rows of some length are among the values; -1 beyond the end of a row. Shape: [rows, length].
template <class Spec>
constexpr expr<std::int64_t> padded_places(traced_ragged<Spec> const& batch, expr<std::int64_t> const& columns) {
    auto const starts = expand_dims<1>(row_starts(batch));
    return where(columns < expand_dims<1>(row_lengths(batch)), starts + columns, std::int64_t{-1});
}

template <class L>
constexpr expr<std::int64_t> columns_like(L const& like) {
    graph::value const v = like.value();
    if (v.rank() < 2) {
        v.owner->fail(graph::reason::rank_too_low, graph::code_of<graph::ops::gather_rows>, &v.id, 1, "to_padded_like");
        return expr<std::int64_t>(graph::cast(v, dtype::int64), like.shared());
    }
    graph::value const index = graph::iota_like(v, 1, dtype::int64);
    return expr<std::int64_t>(graph::squeeze(index, graph::all_axes(v) & ~graph::axis_set{2}), like.shared());
}

} // namespace detail

/// Whether there is an element at each place of rows of these lengths, where `x` is [rows, longest, ...].
///
/// `lengths`: [rows]. Shape: [rows, longest].
template <handle X, handle I>
constexpr expr<bool> length_mask(X const& x, I const& lengths) {
    detail::require_numbers<I>();
    return cast<std::int64_t>(expand_dims<1>(lengths)) > detail::columns_like(x);
}

/// Whether there is an element at each place of the padded rows. Shape: [rows, Length].
template <extent_t Length, class Spec>
constexpr expr<bool> row_mask(traced_ragged<Spec> const& batch) {
    return arange<std::int64_t>(Length) < expand_dims<1>(row_lengths(batch));
}
/// Rows as long as axis 1 of `like`.
template <class Spec, handle L>
constexpr expr<bool> row_mask_like(traced_ragged<Spec> const& batch, L const& like) {
    return detail::columns_like(like) < expand_dims<1>(row_lengths(batch));
}

/// Rows of one length, zeros behind their elements; longer rows are cut. Shape: [rows, Length, extents of an
/// element...].
template <extent_t Length, class Spec>
constexpr auto to_padded(traced_ragged<Spec> const& batch) {
    return gather_rows(batch.values, detail::padded_places(batch, arange<std::int64_t>(Length)));
}
/// Rows as long as axis 1 of `like`.
template <class Spec, handle L>
constexpr auto to_padded_like(traced_ragged<Spec> const& batch, L const& like) {
    return gather_rows(batch.values, detail::padded_places(batch, detail::columns_like(like)));
}

/// The elements of padded rows as a batch with the rows of `batch`: the inverse of `to_padded`, with zeros for what was
/// cut. `padded`: [rows, length, ...]; `Row`: the extents of an element, if it is no number.
template <extent_t... Row, class Spec, class T>
constexpr auto from_padded(traced_ragged<Spec> const& batch, expr<T> const& padded) {
    detail::meeting const at(batch.values, padded);
    graph::value const rows = at.import(padded);
    if (rows.rank() < 2) {
        rows.owner->fail(graph::reason::rank_too_low, graph::code_of<graph::ops::gather_rows>, &rows.id, 1,
                         "from_padded");
        return with_values<Row...>(batch, padded);
    }
    expr<std::int64_t> const length(graph::extent_of(rows, 1), batch.values.shared());
    auto const column = row_positions(batch);
    auto const place = where(column < length, row_numbers(batch) * length + column, std::int64_t{-1});
    expr<T> const all(graph::merge_axes(rows, 0), padded.shared());
    return with_values<Row...>(batch, gather_rows(all, place));
}

/// The elements at some positions of their rows, from the end if negative; zeros where a row has no such element.
///
/// `positions`: an integer, or an array of integers of shape [rows]. Shape: [rows, extents of an element...].
template <class Spec, operand P>
constexpr auto row_elements(traced_ragged<Spec> const& batch, P const& positions) {
    auto const lengths = row_lengths(batch);
    auto const given = zeros_like(lengths) + positions;
    auto const from_start = where(given < std::int64_t{0}, given + lengths, given);
    auto const exists = from_start >= std::int64_t{0} && from_start < lengths;
    return gather_rows(batch.values, where(exists, row_starts(batch) + from_start, std::int64_t{-1}));
}

} // namespace v0
} // namespace calque
