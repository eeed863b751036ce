// SPDX-License-Identifier: MIT
// Operations on rows of any length, stored one after the other: which row an element is in, what its row has for it,
// and what becomes of the elements of each row. A number that no row has reads zeros and writes nothing.
#pragma once

#include <calque/graph/math.hpp>
#include <calque/graph/ops/movement.hpp>

#include <array>
#include <limits>

namespace calque {
inline namespace v0 {
namespace graph::ops {

/// The number of the row that each element is in; -1 for what is in none.
///
/// Inputs: splits [..., R + 1] (int64), of which row r has the elements splits[r] up to but without splits[r + 1]; and
/// an array that lends its shape, [..., N]. The result is int64.
struct row_numbers : movement {
    static constexpr std::string_view name = "row_numbers";
    static constexpr dtype_set accepts = dtype_set::int64;
    static constexpr int arity = 2;
    static constexpr int first_shape_input = 1;

    static constexpr dtype infer_type(dtype const*, std::uint64_t) { return dtype::int64; }
    static constexpr shape infer(inference& in) {
        if (in.input(0).rank == 0 || in.input(0).rank != in.input(1).rank) {
            in.fail(reason::rank_too_low);
        }
        return in.input(1);
    }
    static constexpr auto batch(auto const& in) { return in.again(0); }

    /// Numbers `n` elements by splits that lie `step` apart. What splits say beyond the elements does not count.
    static void number(std::int64_t const* splits, std::ptrdiff_t step, std::int64_t split_count, std::int64_t n,
                       std::int64_t* numbers) {
        std::int64_t next = 0;
        auto const fill_to = [&](std::int64_t end, std::int64_t number) {
            for (end = end < n ? end : n; next < end; ++next) {
                numbers[next] = number;
            }
        };
        for (std::int64_t r = -1; r + 1 < split_count; ++r) {
            fill_to(splits[(r + 1) * step], r);
        }
        fill_to(n, -1);
    }
};

/// The rows of the first input that integers number: row i is x[i], along axis 0.
///
/// Shape: the extents of the numbers, then those of a row.
struct gather_rows : movement {
    static constexpr std::string_view name = "gather_rows";
    static constexpr int arity = 2;

    static constexpr shape infer(inference& in) {
        shape const& rows = in.input(0);
        shape result = in.input(1);
        if (rows.rank == 0) {
            in.fail(reason::rank_too_low);
            return result;
        }
        if (rows.rank - 1 + result.rank > max_rank) {
            in.fail(reason::rank_too_high);
            return rows;
        }
        for (int axis = 1; axis < rows.rank; ++axis) {
            result.push_back(rows[axis]);
        }
        return result;
    }
    static constexpr auto vjp(auto dy, auto x, auto numbers, auto /*y*/) {
        return std::array{graph::segment_sum(dy, numbers, x), dy.none()};
    }
    static constexpr auto batch(auto const& in) {
        if (!in.is_mapped(0)) {
            return graph::gather_rows(in.part(0), in.batch(1));
        }
        if (!in.is_mapped(1)) { // the batch axis goes along as the first one of a row
            return graph::move_axis(graph::gather_rows(graph::move_axis(in.batch(0), 0, 1), in.part(1)),
                                    in.part(1).rank(), 0);
        }
        return graph::gather_rows_each(in.batch(0), in.batch(1));
    }
};

/// Folds rows that have one number. Inputs: x [extents of the numbers..., extents of a row...], the numbers, and an
/// array that lends its shape, [count, extents of a row...].
struct segment_fold : movement {
    static constexpr int arity = 3;
    static constexpr int first_shape_input = 2;
    static constexpr dtype_set accepts = dtype_set::numbers;

    static constexpr shape infer(inference& in) {
        shape const& x = in.input(0);
        shape const& numbers = in.input(1);
        shape const& to = in.input(2);
        if (to.rank == 0 || x.rank != numbers.rank + to.rank - 1) {
            in.fail(reason::rank_too_low);
            return to;
        }
        for (int axis = 0; axis < x.rank; ++axis) {
            extent_t const other = axis < numbers.rank ? numbers[axis] : to[axis - numbers.rank + 1];
            if (x[axis] != other && is_static(x[axis]) && is_static(other)) {
                in.fail(reason::extents_differ);
            }
        }
        return to;
    }

    /// What `apply(x, numbers, like)` makes of each example, in one call for all.
    static constexpr auto map(auto const& in, auto apply) {
        if (!in.is_mapped(1)) {
            auto const x = graph::move_axis(in.batch(0), 0, in.part(1).rank());
            return graph::move_axis(apply(x, in.part(1), graph::move_axis(in.shape_of(2), 0, 1)), 1, 0);
        }
        auto const like = in.shape_of(2);
        auto const numbers = graph::numbers_in_all(in.batch(1), like);
        return graph::reshape_like(apply(in.batch(0), numbers, graph::merge_axes(like, 0)), like);
    }
};

/// The sum of the rows of each number; 0 of none.
struct segment_sum : segment_fold {
    static constexpr std::string_view name = "segment_sum";

    template <class T>
    static constexpr T identity = T(0);
    template <class T>
    static constexpr T combine(T x, T y) {
        return static_cast<T>(x + y);
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto numbers, auto like, auto /*y*/) {
        return std::array{graph::gather_rows(dy, numbers), like.none(), like.none()};
    }
    static constexpr auto batch(auto const& in) {
        return map(in, [](auto x, auto numbers, auto like) { return graph::segment_sum(x, numbers, like); });
    }
};

/// The largest element of the rows of each number: -infinity, or the lowest integer, of none; NaN if there is one.
///
/// Equal largest elements share the gradient.
struct segment_max : segment_fold {
    static constexpr std::string_view name = "segment_max";

    template <class T>
    static constexpr T identity = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                                       : std::numeric_limits<T>::lowest();
    template <class T>
    static constexpr T combine(T x, T y) {
        return y > x || y != y ? y : x;
    }
    static constexpr auto vjp(auto dy, auto x, auto numbers, auto like, auto y) {
        auto const of_elements = [&](auto rows) {
            return graph::reshape_like(graph::gather_rows(rows, numbers), x); // the same shape, as the rule above says
        };
        auto const hits = graph::cast(x == of_elements(y), x.type());
        return std::array{hits * of_elements(dy / graph::segment_sum(hits, numbers, y)), like.none(), like.none()};
    }
    static constexpr auto batch(auto const& in) {
        return map(in, [](auto x, auto numbers, auto like) { return graph::segment_max(x, numbers, like); });
    }
};

/// The smallest element of the rows of each number: infinity, or the largest integer, of none; NaN if there is one.
///
/// Equal smallest elements share the gradient.
struct segment_min : segment_fold {
    static constexpr std::string_view name = "segment_min";

    template <class T>
    static constexpr T identity = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                       : std::numeric_limits<T>::max();
    template <class T>
    static constexpr T combine(T x, T y) {
        return y < x || y != y ? y : x;
    }
    static constexpr auto vjp(auto dy, auto x, auto numbers, auto like, auto y) {
        return segment_max::vjp(dy, x, numbers, like, y);
    }
    static constexpr auto batch(auto const& in) {
        return map(in, [](auto x, auto numbers, auto like) { return graph::segment_min(x, numbers, like); });
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
