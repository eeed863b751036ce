// SPDX-License-Identifier: MIT
// The order of a row's elements: what the interpreter and the kernels sort with.
#pragma once

#include <calque/graph/ops/sorting.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace graph {

/// Writes the order of `n` elements that lie `step` apart.
///
/// Elements of one value are told apart by their places, which makes the order total: a sort that needs no memory of
/// its own is stable then.
template <class T>
void order_row(T const* elements, std::ptrdiff_t step, std::int64_t n, bool is_descending, std::int64_t* order) {
    for (std::int64_t i = 0; i < n; ++i) {
        order[i] = i;
    }
    std::sort(order, order + n, [=](std::int64_t i, std::int64_t j) {
        T const a = elements[i * step];
        T const b = elements[j * step];
        return ops::sort_order::precedes(a, b, is_descending) ||
               (i < j && !ops::sort_order::precedes(b, a, is_descending));
    });
}

} // namespace graph
} // namespace v0
} // namespace calque
