// SPDX-License-Identifier: MIT
// Cumulative operations and orders of elements, composed of recurrences, `argsort` and `take`.
#pragma once

#include <calque/graph/arranging.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// The sum of the elements up to each one along an axis.
constexpr value cumulative_sum(value x, int axis) {
    return running_sum(x, ops::running_order{axis}.pack());
}

/// The product of the elements up to each one along an axis: y[k] = x[k] y[k - 1], from y[0] = x[0] on.
///
/// What is added is -0: +0 would change the sign of a product that is -0.
constexpr value cumulative_product(value x, int axis) {
    value const index = iota_like(x, axis, dtype::int64);
    value const nothing = is_floating(x.type()) ? literal(x, -0.0) : zero_of(x);
    return recurrence(x, where(index == zero_of(index), x, nothing), ops::running_order{axis}.pack());
}

/// Which elements along an axis come first, second, ..., as int64: all of them, or `count`.
constexpr value sort_order(value x, int axis, bool is_descending, extent_t count = -1) {
    int const last = x.rank() - 1;
    std::uint64_t const attribute = ops::sort_order::pack(is_descending, count);
    return move_axis(apply<ops::sort_order>(attribute, move_axis(x, axis, last)), last, axis);
}

/// The elements along an axis in ascending order, NaN last.
constexpr value sort(value x, int axis) {
    return take_along(x, sort_order(x, axis, false), axis);
}

} // namespace graph
} // namespace v0
} // namespace calque
