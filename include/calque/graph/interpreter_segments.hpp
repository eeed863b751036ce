// SPDX-License-Identifier: MIT
// The interpreter's operations on rows of any length: one element at a time, sums in a wider type.
#pragma once

#include <calque/graph/interpreter_sums.hpp>
#include <calque/graph/ops/segments.hpp>

namespace calque {
inline namespace v0 {
namespace graph {
namespace detail {

/// Calls `fn(element of the rows, element of x)` for each element of x, [numbers..., a row...], whose row exists.
template <class Tensor, class Fn>
void for_each_numbered(Tensor const& numbers, shape const& rows, Fn fn) {
    extent_t const width = rows[0] == 0 ? 0 : rows.size() / rows[0];
    with_type_of(numbers.type, [&]<class I>() {
        for (extent_t i = 0; i < numbers.size(); ++i) {
            I const row = numbers.template as<I>()[i];
            if (!(row < I(0)) && static_cast<std::uint64_t>(row) < static_cast<std::uint64_t>(rows[0])) {
                for (extent_t j = 0; j < width; ++j) {
                    fn(static_cast<extent_t>(row) * width + j, i * width + j);
                }
            }
        }
    });
}

template <class Tensor>
void run_row_numbers(Tensor const& splits, Tensor& y) {
    int const last = y.extents.rank - 1;
    extent_t const n = y.extents[last];
    extent_t const count = splits.extents[last];
    for (extent_t i = 0; i < y.size(); ++i) {
        std::int64_t const* const own = splits.template as<std::int64_t>() + i / n * count;
        std::int64_t row = -1;
        for (extent_t r = 0; r < count && own[r] <= i % n; ++r) {
            row = r + 1 < count ? r : -1;
        }
        y.template as<std::int64_t>()[i] = row;
    }
}

template <class Tensor>
void run_gather_rows(Tensor const& x, Tensor const& numbers, Tensor& y) {
    std::size_t const size = size_of(x.type);
    std::memset(y.data.data(), 0, y.data.size());
    for_each_numbered(numbers, x.extents, [&](extent_t from, extent_t to) {
        std::memcpy(y.data.data() + static_cast<std::size_t>(to) * size,
                    x.data.data() + static_cast<std::size_t>(from) * size, size);
    });
}

template <class T, class Tensor>
void run_segment_sum(Tensor const& x, Tensor const& numbers, Tensor& y) {
    wide_sums<T> sums(y);
    for_each_numbered(numbers, y.extents, [&](extent_t to, extent_t from) {
        sums[to] += static_cast<wide_t<T>>(x.template as<T>()[from]);
    });
    sums.round();
}

/// Maxima and minima.
template <class Op, class T, class Tensor>
void run_segment_fold(Tensor const& x, Tensor const& numbers, Tensor& y) {
    T* const results = y.template as<T>();
    for (extent_t i = 0; i < y.size(); ++i) {
        results[i] = Op::template identity<T>;
    }
    for_each_numbered(numbers, y.extents, [&](extent_t to, extent_t from) {
        results[to] = Op::combine(results[to], x.template as<T>()[from]);
    });
}

} // namespace detail
} // namespace graph
} // namespace v0
} // namespace calque
