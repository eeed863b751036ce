// SPDX-License-Identifier: MIT
// Cumulative sums and products, orders of elements, and elements by their places, on traced arrays.
#pragma once

#include <calque/graph/running.hpp>
#include <calque/trace/reductions.hpp>

#include <tuple>

namespace calque {
inline namespace v0 {
namespace detail {

/// Applies `make(value, axis)` to `x` as an array of dtype `T`, and to one of its axes.
template <class Op, class Result, class T, int Axis, class X>
constexpr Result along_axis(X const& x, std::string_view name, auto make) {
    meeting const at(x);
    graph::value const v = at.template import <T>(x);
    int const axis = axis_of<Op>(v, Axis, v.rank(), name);
    return at.template wrap<Result>(v.rank() == 0 ? v : make(v, axis)); // a scalar has no axis: that is reported
}

} // namespace detail

/// The sum of the elements up to each one along an axis. bool and integers are summed as int64.
template <int Axis, handle X>
constexpr auto cumsum(X const& x) {
    using T = detail::sum_element<typename X::value_type>;
    return detail::along_axis<graph::ops::running_sum, detail::like_t<X, T>, T, Axis>(
        x, "cumsum", [](graph::value v, int axis) { return graph::cumulative_sum(v, axis); });
}

/// The product of the elements up to each one along an axis. bool and integers are multiplied as int64.
template <int Axis, handle X>
constexpr auto cumprod(X const& x) {
    using T = detail::sum_element<typename X::value_type>;
    return detail::along_axis<graph::ops::recurrence, detail::like_t<X, T>, T, Axis>(
        x, "cumprod", [](graph::value v, int axis) { return graph::cumulative_product(v, axis); });
}

/// Which element along an axis comes first, second, ... in ascending order, as int64. Equal elements keep their order;
/// NaN comes last.
template <int Axis = -1, handle X>
constexpr expr<std::int64_t> argsort(X const& x) {
    using result = expr<std::int64_t>;
    return detail::along_axis<graph::ops::sort_order, result, typename X::value_type, Axis>(
        x, "argsort", [](graph::value v, int axis) { return graph::sort_order(v, axis, false); });
}

/// The elements along an axis in ascending order, NaN last. A gradient goes to where an element came from.
template <int Axis = -1, handle X>
constexpr X sort(X const& x) {
    return detail::along_axis<graph::ops::sort_order, X, typename X::value_type, Axis>(
        x, "sort", [](graph::value v, int axis) { return graph::sort(v, axis); });
}

/// The `K` largest elements along an axis, the largest first, and their indices as int64: a tuple.
///
/// NaN is the largest; of equal elements the first comes first. An axis of fewer elements is an error.
template <int K, int Axis = -1, handle X>
constexpr auto top_k(X const& x) {
    static_assert(K >= 0, "calque: top_k<k> takes a number of elements");
    graph::value const v = x.value();
    int const axis = detail::axis_of<graph::ops::sort_order>(v, Axis, v.rank(), "top_k");
    if (v.rank() == 0) {
        return std::tuple{x, expr<std::int64_t>(graph::cast(v, dtype::int64), x.shared())};
    }
    if (calque::is_static(v.shape()[axis]) && v.shape()[axis] < K) {
        v.owner->fail(graph::reason::too_few_elements, graph::code_of<graph::ops::sort_order>, &v.id, 1, "top_k");
    }
    graph::value const best = graph::sort_order(v, axis, true, K);
    return std::tuple{X(graph::take_along(v, best, axis), x.shared()), expr<std::int64_t>(best, x.shared())};
}

/// The element of `x` at each index along an axis: y[i][j] = x[i][indices[i][j]], of matrices along axis 1.
///
/// `indices`: integers, of the rank of `x`; along the other axes both broadcast. A negative index counts from the end;
/// one that is out of range takes the nearest element. (`take` has the same indices for all lines.)
template <int Axis, handle X, handle I>
constexpr X take_along_axis(X const& x, I const& indices) {
    static_assert(is_integer(dtype_of<typename I::value_type>), "calque: take_along_axis needs integer indices");
    detail::meeting const at(x, indices);
    graph::value const v = at.import(x);
    graph::value const by = at.import(indices);
    int const axis = detail::axis_of<graph::ops::take>(v, Axis, v.rank(), "take_along_axis");
    if (v.rank() != by.rank() || v.rank() == 0) {
        graph::node_id const operands[] = {v.id, by.id};
        at.owner().fail(graph::reason::extents_differ, graph::code_of<graph::ops::take>, operands, 2,
                        "take_along_axis");
        return x;
    }
    return at.template wrap<X>(graph::take_along_broadcast(v, by, axis));
}

/// `take_along_axis`, by the name that other libraries have for it.
template <int Axis, handle X, handle I>
constexpr X gather(X const& x, I const& indices) {
    return take_along_axis<Axis>(x, indices);
}

/// `x`, to which `updates` are added where `take<Axis>(x, indices)` reads. What has one index adds up.
///
/// Shape of `updates`: that of what `take` reads.
template <int Axis = 0, handle X, handle I, handle U>
constexpr X scatter_add(X const& x, I const& indices, U const& updates) {
    static_assert(is_integer(dtype_of<typename I::value_type>), "calque: scatter_add needs integer indices");
    using T = detail::common_element_t<graph::ops::take_adjoint, X, U>;
    detail::check_dtype<graph::ops::take_adjoint, T>();
    detail::meeting const at(x, indices, updates);
    graph::value const v = at.template import <T>(x);
    graph::value const by = at.import(indices);
    auto const axis = static_cast<std::uint64_t>(detail::axis_of<graph::ops::take>(v, Axis, v.rank(), "scatter_add"));
    if (v.rank() == 0) {
        return x;
    }
    graph::value const added = graph::broadcast_like(at.template import <T>(updates), graph::take(v, by, axis));
    return at.template wrap<X>(v + graph::take_adjoint(added, by, v, axis));
}

// ---- what has no shape that the compiler could know

/// Not an operation: how many elements there are would depend on their values.
template <class X>
constexpr void unique(X const& /*x*/) {
    static_assert(detail::never<X>,
                  "calque: unique: the number of results depends on the values: sort, and mark the first of equals: "
                  "s = sort<0>(x), and s != roll<0>(s, 1) is the mask");
}

/// Not an operation: how many elements there are would depend on their values.
template <class X>
constexpr void nonzero(X const& /*x*/) {
    static_assert(detail::never<X>,
                  "calque: nonzero: the number of results depends on the values: keep the shape and a mask: "
                  "where(x != 0, y, 0), sum(cast<int>(x != 0))");
}

} // namespace v0
} // namespace calque
