// SPDX-License-Identifier: MIT
// Rows of any length, on placed arrays: their numbers, what they read, and what their elements fold to.
//
// The numbers of rows come in runs where rows are stored one after the other: a run is folded in several accumulators
// at once, and the result, which may be in memory far away, is touched once a run.
#pragma once

#include <calque/graph/ops/segments.hpp>
#include <calque/runtime/move.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace runtime {

/// The row numbers of each array of splits, from `axis` on.
inline void number_rows(moved_value const& to, moved_value const& splits, int axis = 0) {
    if (axis + 1 == to.extents.rank) {
        graph::ops::row_numbers::number(reinterpret_cast<std::int64_t const*>(splits.data), splits.steps[axis],
                                        splits.extents[axis], to.extents[axis],
                                        reinterpret_cast<std::int64_t*>(to.data));
        return;
    }
    for (extent_t i = 0; i < to.extents[axis]; ++i) {
        auto const bytes = static_cast<std::ptrdiff_t>(sizeof(std::int64_t));
        number_rows({to.data + i * to.steps[axis] * bytes, to.extents, to.steps},
                    {splits.data + i * splits.steps[axis] * bytes, splits.extents, splits.steps}, axis + 1);
    }
}

namespace detail {

/// Whether there is a row of this number among `count`.
template <class I>
bool exists(I number, extent_t count) {
    return !(number < I(0)) && static_cast<std::uint64_t>(number) < static_cast<std::uint64_t>(count);
}

/// Calls `fn(numbers, step, n, offset)` for the numbers along the last axis, wherever those of the other axes are;
/// `offset` is where x, whose first axes are those of the numbers, has its elements for them.
template <class I, class Fn>
void for_each_line(moved_value const& numbers, strides const& x_steps, I const* data, std::ptrdiff_t offset, int axis,
                   Fn const& fn) {
    if (axis + 1 >= numbers.extents.rank) {
        bool const is_scalar = numbers.extents.rank == 0;
        fn(data, is_scalar ? 0 : numbers.steps[axis], is_scalar ? 1 : numbers.extents[axis], offset);
        return;
    }
    for (extent_t i = 0; i < numbers.extents[axis]; ++i) {
        for_each_line(numbers, x_steps, data + i * numbers.steps[axis], offset + i * x_steps[axis], axis + 1, fn);
    }
}

} // namespace detail

/// to[i] = from[numbers[i]], along axis 0; zeros where there is no such row. `to` is contiguous.
template <class T, class I>
void gather_rows(moved_value const& to, moved_value const& from, moved_value const& numbers) {
    detail::some_axes const row(from, 1, from.extents.rank);
    extent_t const width = row.extents.size();
    bool const is_scalar = row.extents.rank == 0;
    bool const is_run = is_contiguous(row.extents, row.steps);
    T* out = reinterpret_cast<T*>(to.data);
    T const* const rows = reinterpret_cast<T const*>(from.data);
    strides const row_steps = contiguous_strides(row.extents);
    detail::for_each_line(
        numbers, strides{}, reinterpret_cast<I const*>(numbers.data), 0, 0,
        [&](I const* number, std::ptrdiff_t step, extent_t n, std::ptrdiff_t) {
            for (extent_t i = 0; i < n; ++i, out += width) {
                I const r = number[i * step];
                bool const is_there = detail::exists(r, from.extents[0]);
                T const* const found = rows + (is_there ? static_cast<extent_t>(r) * from.steps[0] : 0);
                if (is_scalar) {
                    *out = is_there ? *found : T();
                } else if (is_there && is_run) {
                    kernels::copy_bytes(reinterpret_cast<std::byte*>(out), reinterpret_cast<std::byte const*>(found),
                                        static_cast<std::size_t>(width) * sizeof(T));
                } else if (is_there) {
                    kernels::copy_strided(row.extents, {reinterpret_cast<std::byte*>(out), row_steps},
                                          {reinterpret_cast<std::byte const*>(found), row.steps}, sizeof(T));
                } else {
                    std::fill(out, out + width, T());
                }
            }
        });
}

namespace detail {

/// Folds `n` elements that are `step` apart into `start`.
template <class Op, class T>
T fold_run(T start, T const* x, std::ptrdiff_t step, extent_t n) {
    constexpr extent_t lanes = 16;
    extent_t i = 0;
    if (n >= 2 * lanes && step == 1) {
        T partial[lanes];
        std::copy(x, x + lanes, partial);
        for (i = lanes; i + lanes <= n; i += lanes) {
            for (extent_t lane = 0; lane < lanes; ++lane) {
                partial[lane] = Op::combine(partial[lane], x[i + lane]);
            }
        }
        for (extent_t half = lanes / 2; half > 0; half /= 2) {
            for (extent_t lane = 0; lane < half; ++lane) {
                partial[lane] = Op::combine(partial[lane], partial[lane + half]);
            }
        }
        start = Op::combine(start, partial[0]);
    }
    for (; i < n; ++i) {
        start = Op::combine(start, x[i * step]);
    }
    return start;
}

/// Folds a row into another one of the same extents.
template <class Op, class T>
void fold_row(shape const& extents, T* to, strides const& to_steps, T const* from, strides const& from_steps,
              int axis = 0) {
    if (axis + 1 == extents.rank && to_steps[axis] == 1 && from_steps[axis] == 1) {
        for (extent_t i = 0; i < extents[axis]; ++i) {
            to[i] = Op::combine(to[i], from[i]);
        }
    } else if (axis == extents.rank) {
        *to = Op::combine(*to, *from);
    } else {
        for (extent_t i = 0; i < extents[axis]; ++i) {
            fold_row<Op>(extents, to + i * to_steps[axis], to_steps, from + i * from_steps[axis], from_steps, axis + 1);
        }
    }
}

} // namespace detail

/// Folds the rows of `from` that have one number into the row of `to` with that number; `to` is contiguous.
template <class Op, class T, class I>
void fold_segments(moved_value const& to, moved_value const& from, moved_value const& numbers) {
    T* const results = reinterpret_cast<T*>(to.data);
    std::fill(results, results + to.extents.size(), Op::template identity<T>);
    int const rank = numbers.extents.rank;
    detail::some_axes const row(from, rank, from.extents.rank);
    detail::some_axes const target(to, 1, to.extents.rank);
    std::ptrdiff_t const step = rank == 0 ? 0 : from.steps[rank - 1];
    detail::for_each_line(numbers, from.steps, reinterpret_cast<I const*>(numbers.data), 0, 0,
                          [&](I const* number, std::ptrdiff_t number_step, extent_t n, std::ptrdiff_t offset) {
                              T const* const x = reinterpret_cast<T const*>(from.data) + offset;
                              for (extent_t i = 0, end = 0; i < n; i = end) {
                                  I const r = number[i * number_step];
                                  for (end = i + 1; end < n && number[end * number_step] == r;) {
                                      ++end;
                                  }
                                  if (!detail::exists(r, to.extents[0])) {
                                      continue;
                                  }
                                  T* const total = results + static_cast<extent_t>(r) * to.steps[0];
                                  if (row.extents.rank == 0) {
                                      *total = detail::fold_run<Op>(*total, x + i * step, step, end - i);
                                      continue;
                                  }
                                  for (extent_t k = i; k < end; ++k) {
                                      detail::fold_row<Op>(row.extents, total, target.steps, x + k * step, row.steps);
                                  }
                              }
                          });
}

} // namespace runtime
} // namespace v0
} // namespace calque
