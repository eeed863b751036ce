// SPDX-License-Identifier: MIT
// The interpreter's operations that go along an axis in order: one line after the other, in a wider type.
#pragma once

#include <calque/graph/interpreter_sums.hpp>
#include <calque/graph/ops/running.hpp>
#include <calque/graph/row_order.hpp>

namespace calque {
inline namespace v0 {
namespace graph {
namespace detail {

/// y[k] = a[k] y[k - 1] + b[k] along an axis; without `a`, running sums of b.
template <class T, class Tensor>
void run_recurrence(Tensor const* a, Tensor const& b, ops::running_order order, Tensor& y) {
    shape lines = y.extents;
    extent_t const n = lines[order.axis];
    lines[order.axis] = n == 0 ? 0 : 1;
    strides const steps = contiguous_strides(y.extents);
    for_each_index(lines, [&](shape const& index) {
        extent_t const line = placement{0, steps}(index);
        wide_t<T> total = 0;
        for (extent_t i = 0, before = 0; i < n; ++i) {
            extent_t const at = line + (order.is_reversed ? n - 1 - i : i) * steps[order.axis];
            auto const added = static_cast<wide_t<T>>(b.template as<T>()[at]);
            auto const factor = a == nullptr
                                    ? wide_t<T>(1)
                                    : static_cast<wide_t<T>>(a->template as<T>()[order.is_lagged ? before : at]);
            total = i == 0 ? added : factor * total + added;
            y.template as<T>()[at] = static_cast<T>(total);
            before = at;
        }
    });
}

template <class T, class Tensor>
void run_sort_order(Tensor const& x, node const& n, Tensor& y) {
    extent_t const row = x.extents[x.extents.rank - 1], count = y.extents[x.extents.rank - 1];
    bool const is_descending = ops::sort_order::is_descending(n.attribute);
    for (extent_t i = 0; i * count < y.size(); ++i) {
        order_row(x.template as<T>() + i * row, 1, row, is_descending, count,
                  y.template as<std::int64_t>() + i * count);
    }
}

} // namespace detail
} // namespace graph
} // namespace v0
} // namespace calque
