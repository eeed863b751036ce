// SPDX-License-Identifier: MIT
// Operations that go along an axis in order, and orders of rows, on placed arrays.
#pragma once

#include <calque/graph/ops/running.hpp>
#include <calque/graph/row_order.hpp>
#include <calque/kernels/cpu/recurrence.hpp>
#include <calque/runtime/move.hpp>

namespace calque {
inline namespace v0 {
namespace runtime {
namespace detail {

/// A recurrence on elements of `T`; without factors, running sums.
///
/// A step of the axis is made for all elements of the axes behind it at once, so that memory is walked in its order.
template <class T, bool HasFactors>
struct recurrence {
    using kernel = kernels::recurrence_kernel<T, HasFactors>;

    shape extents;
    strides to_steps, a_steps, b_steps;
    graph::ops::running_order order;

    void run(T* to, T const* a, T const* b, int axis = 0) const {
        if (axis == order.axis) {
            go_along(to, a, b);
        } else if (axis + 1 == order.axis && order.axis + 1 == extents.rank) {
            go_along(to, a, b, axis, extents[axis]);
        } else {
            for (extent_t i = 0; i < extents[axis]; ++i) {
                run(to + i * to_steps[axis], a + i * a_steps[axis], b + i * b_steps[axis], axis + 1);
            }
        }
    }

private:
    /// Along the axis, and `rows` times along `row_axis` if it is the last one.
    void go_along(T* to, T const* a, T const* b, int row_axis = 0, extent_t rows = 1) const {
        int const axis = order.axis;
        extent_t const n = extents[axis];
        std::ptrdiff_t const sign = order.is_reversed ? -1 : 1;
        std::ptrdiff_t const to_step = sign * to_steps[axis], a_step = sign * a_steps[axis];
        std::ptrdiff_t const b_step = sign * b_steps[axis];
        if (order.is_reversed && n != 0) {
            to += (n - 1) * to_steps[axis];
            a += (n - 1) * a_steps[axis];
            b += (n - 1) * b_steps[axis];
        }
        std::ptrdiff_t const lag = order.is_lagged ? a_step : 0;
        if (axis + 1 == extents.rank) {
            kernel::run_rows({to, to_step, to_steps[row_axis]}, {a - lag, a_step, a_steps[row_axis]},
                             {b, b_step, b_steps[row_axis]}, rows, n);
            return;
        }
        for (extent_t i = 0; i < n; ++i) {
            step(to + i * to_step, i == 0 ? nullptr : to + (i - 1) * to_step, a + i * a_step - (i == 0 ? 0 : lag),
                 b + i * b_step, axis + 1);
        }
    }

    /// One step, from `axis` on. `before`: null in the first one.
    void step(T* to, T const* before, T const* a, T const* b, int axis) const {
        std::ptrdiff_t const to_step = to_steps[axis], a_step = a_steps[axis], b_step = b_steps[axis];
        extent_t const n = extents[axis];
        if (axis + 1 != extents.rank) {
            for (extent_t i = 0; i < n; ++i) {
                step(to + i * to_step, before == nullptr ? nullptr : before + i * to_step, a + i * a_step,
                     b + i * b_step, axis + 1);
            }
        } else if (before == nullptr) {
            for (extent_t i = 0; i < n; ++i) {
                to[i * to_step] = b[i * b_step];
            }
        } else if (to_step == 1 && b_step == 1 && (!HasFactors || a_step == 1)) {
            kernel::run_step(to, before, a, b, n);
        } else {
            for (extent_t i = 0; i < n; ++i) {
                to[i * to_step] = kernel::next(before[i * to_step], a, i * a_step, b[i * b_step]);
            }
        }
    }
};

} // namespace detail

/// y[k] = a[k] y[k - 1] + b[k] along an axis.
template <class T>
void run_recurrence(moved_value const& to, moved_value const& a, moved_value const& b, std::uint64_t attribute) {
    detail::recurrence<T, true> const along{to.extents, to.steps, a.steps, b.steps,
                                            graph::ops::running_order::unpack(attribute)};
    along.run(reinterpret_cast<T*>(to.data), reinterpret_cast<T const*>(a.data), reinterpret_cast<T const*>(b.data));
}

/// Sums of the elements up to each one along an axis.
template <class T>
void run_running_sum(moved_value const& to, moved_value const& x, std::uint64_t attribute) {
    T const* const elements = reinterpret_cast<T const*>(x.data);
    detail::recurrence<T, false> const along{to.extents, to.steps, strides{}, x.steps,
                                             graph::ops::running_order::unpack(attribute)};
    along.run(reinterpret_cast<T*>(to.data), elements, elements);
}

/// The order of each row, the last axis, or the beginning of it.
template <class T>
void sort_rows(moved_value const& to, moved_value const& x, bool is_descending, int axis = 0) {
    if (to.extents.size() == 0) {
        return;
    }
    if (axis + 1 == to.extents.rank) {
        graph::order_row(reinterpret_cast<T const*>(x.data), x.steps[axis], x.extents[axis], is_descending,
                         to.extents[axis], reinterpret_cast<std::int64_t*>(to.data));
        return;
    }
    for (extent_t i = 0; i < to.extents[axis]; ++i) {
        auto const index_bytes = static_cast<std::ptrdiff_t>(sizeof(std::int64_t));
        auto const bytes = static_cast<std::ptrdiff_t>(sizeof(T));
        sort_rows<T>({to.data + i * to.steps[axis] * index_bytes, to.extents, to.steps},
                     {x.data + i * x.steps[axis] * bytes, x.extents, x.steps}, is_descending, axis + 1);
    }
}

} // namespace runtime
} // namespace v0
} // namespace calque
