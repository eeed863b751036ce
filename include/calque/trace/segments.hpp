// SPDX-License-Identifier: MIT
// Folds of rows that have a number in common, and reading of rows by their numbers.
#pragma once

#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>
#include <calque/trace/shaping.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

template <class I>
constexpr void require_numbers() {
    static_assert(std::is_integral_v<typename I::value_type> && !std::is_same_v<typename I::value_type, bool>,
                  "calque: rows are numbered by integers");
}

/// The shape of a row of `x`, whose first axes are those of the numbers. Nobody asks for its elements.
constexpr graph::value row_like(graph::value x, int numbers_rank) {
    graph::axis_set const numbered = ((graph::axis_set{1} << numbers_rank) - 1) & graph::all_axes(x);
    return graph::squeeze(graph::sum(x, numbered), numbered);
}

/// The shape of `count` rows of `x`.
constexpr graph::value rows_like(graph::value x, int numbers_rank, extent_t count) {
    graph::value const row = row_like(x, numbers_rank);
    shape extents{count};
    for (int axis = 0; axis < row.rank() && extents.rank < max_rank; ++axis) {
        extents.push_back(row.shape()[axis]);
    }
    return graph::broadcast_to(row, extents);
}

/// The shape of as many rows of `x` as `like` has.
constexpr graph::value rows_like(graph::value x, int numbers_rank, graph::value like) {
    graph::value const row = row_like(x, numbers_rank);
    graph::value const count =
        graph::squeeze(graph::iota_like(like, 0, x.type()), graph::all_axes(like) & ~graph::axis_set{1});
    return graph::expand_dims(count, graph::all_axes(row) << 1) == graph::expand_dims(row, 1);
}

/// Adds a fold of the rows of `x` by their numbers, into rows of the shape that `shape_of(x, rank of the numbers)` has.
template <class Op, class Result, class T, class X, class I>
constexpr Result fold_rows(meeting const& at, X const& x, I const& numbers, auto shape_of) {
    require_numbers<I>();
    check_dtype<Op, T>();
    graph::value const rows = graph::cast(at.import(x), dtype_of<T>);
    graph::value const by = at.import(numbers);
    return at.wrap<Result>(graph::apply<Op>(0, rows, by, shape_of(rows, by.rank())));
}

} // namespace detail

#define CALQUE_SEGMENT_FOLD(name, operation, element_type)                                                             \
    template <extent_t Count, handle X, handle I>                                                                      \
    constexpr auto name(X const& x, I const& numbers) {                                                                \
        using T = element_type;                                                                                        \
        return detail::fold_rows<graph::ops::operation, expr<T>, T>(                                                   \
            detail::meeting(x, numbers), x, numbers,                                                                   \
            [](graph::value rows, int rank) { return detail::rows_like(rows, rank, Count); });                         \
    }                                                                                                                  \
    template <handle X, handle I, handle L>                                                                            \
    constexpr auto name##_like(X const& x, I const& numbers, L const& like) {                                          \
        using T = element_type;                                                                                        \
        detail::meeting const at(x, numbers, like);                                                                    \
        return detail::fold_rows<graph::ops::operation, expr<T>, T>(at, x, numbers, [&](graph::value rows, int rank) { \
            return detail::rows_like(rows, rank, at.import(like));                                                     \
        });                                                                                                            \
    }

/// The sums of rows that have one number. Shape: [Count, extents of a row...]; 0 where a number has no rows.
///
/// `numbers`: integers, whose axes are the first ones of `x`; what has a number outside of [0, Count) is left out.
/// `_like`: as many as `like` has along axis 0. bool and integers are summed as int64.
CALQUE_SEGMENT_FOLD(segment_sum, segment_sum, detail::sum_element<typename X::value_type>)

/// The largest elements of rows that have one number: -infinity, or the lowest integer, where there are none.
CALQUE_SEGMENT_FOLD(segment_max, segment_max, typename X::value_type)

/// The smallest elements of rows that have one number: infinity, or the largest integer, where there are none.
CALQUE_SEGMENT_FOLD(segment_min, segment_min, typename X::value_type)

#undef CALQUE_SEGMENT_FOLD

namespace detail {

/// How many rows there are of each number, in the shape of `sums`.
template <class T>
constexpr graph::value segment_counts(graph::value numbers, graph::value sums) {
    graph::value const ones = graph::broadcast_like(graph::literal(sums, 1), numbers);
    graph::axis_set const others = graph::all_axes(sums) & ~graph::axis_set{1};
    graph::value const like = graph::squeeze(graph::iota_like(sums, 0, sums.type()), others);
    return graph::expand_dims(graph::segment_sum(ones, numbers, like), others);
}

template <class T, class I>
constexpr expr<T> divide_by_counts(expr<T> const& sums, I const& numbers) {
    static_assert(floating<T>, "calque: segment_mean takes float or double: write calque::cast<float>(x)");
    graph::value const total = sums.value();
    return with_value(sums, total / segment_counts<T>(numbers.value(), total));
}

} // namespace detail

/// The means of rows that have one number; NaN where there are none. Floating dtypes only.
template <extent_t Count, handle X, handle I>
constexpr auto segment_mean(X const& x, I const& numbers) {
    return detail::divide_by_counts(segment_sum<Count>(x, numbers), numbers);
}
template <handle X, handle I, handle L>
constexpr auto segment_mean_like(X const& x, I const& numbers, L const& like) {
    return detail::divide_by_counts(segment_sum_like(x, numbers, like), numbers);
}

/// The rows of `x` along axis 0 that `numbers` count; zeros for a number that no row has. (`take` reads the nearest.)
///
/// Shape: the extents of the numbers, then those of a row. What segment sums take apart this puts together: each is
/// the other's derivative.
template <handle X, handle I>
constexpr X gather_rows(X const& x, I const& numbers) {
    detail::require_numbers<I>();
    detail::meeting const at(x, numbers);
    return at.template wrap<X>(graph::gather_rows(at.import(x), at.import(numbers)));
}

} // namespace v0
} // namespace calque
