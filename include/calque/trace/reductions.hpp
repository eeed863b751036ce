// SPDX-License-Identifier: MIT
// Reductions and row operations on traced arrays. Axes are template arguments, from the end if negative; none means
// all.
#pragma once

#include <calque/graph/compositions.hpp>
#include <calque/trace/apply.hpp>
#include <calque/trace/axes.hpp>

#include <bit>

namespace calque {
inline namespace v0 {
namespace detail {

/// Applies `fold(value, axes)`, whose axes keep extent 1, and drops them unless they are to be kept.
template <class Op, class Result, bool Keep, int... Axes, class X>
constexpr Result reduce(X const& x, std::string_view name, auto fold) {
    meeting const at(x);
    graph::value const v = at.template import <computed_t<element_of_t<X>>>(x);
    graph::axis_set const axes = axis_set_of<Op, Axes...>(v, v.rank(), name);
    graph::value const folded = graph::cast(fold(v, axes), dtype_of<typename Result::value_type>);
    return at.template wrap<Result>(Keep ? folded : graph::squeeze(folded, axes));
}

/// `v`, of which some axes are to be folded; reports an empty one under the name that was called.
constexpr graph::value not_empty(graph::value v, graph::axis_set axes, std::string_view name) {
    for (int axis = 0; axis < v.rank(); ++axis) {
        if (graph::contains(axes, axis) && v.shape()[axis] == 0) {
            v.owner->fail(graph::reason::empty_reduction, graph::code_of<graph::ops::reduce_max>, &v.id, 1, name);
        }
    }
    return v;
}

/// The dtype in which elements are summed: integers and bool in int64.
template <class T>
using sum_element = std::conditional_t<floating<T>, T, std::int64_t>;

} // namespace detail

#define CALQUE_REDUCTION(name, operation, result, fold)                                                                \
    template <int... Axes, handle X>                                                                                   \
    constexpr auto name(X const& x) {                                                                                  \
        using T [[maybe_unused]] = typename X::value_type;                                                             \
        return detail::reduce<graph::ops::operation, detail::like_t<X, result>, false, Axes...>(x, #name, fold);       \
    }                                                                                                                  \
    template <int... Axes, handle X>                                                                                   \
    constexpr auto name(X const& x, keepdims_t) {                                                                      \
        using T [[maybe_unused]] = typename X::value_type;                                                             \
        return detail::reduce<graph::ops::operation, detail::like_t<X, result>, true, Axes...>(x, #name, fold);        \
    }

/// The sum over some axes; 0 over an empty one. bool and integers are summed as int64.
CALQUE_REDUCTION(sum, sum, detail::sum_element<T>, ([](graph::value v, graph::axis_set axes) {
                     return graph::sum(graph::cast(v, dtype_of<computed_t<detail::sum_element<T>>>), axes);
                 }))

/// The largest element along some axes; NaN if there is one. An empty axis is an error.
CALQUE_REDUCTION(max, reduce_max, T, ([](graph::value v, graph::axis_set axes) {
                     detail::check_dtype<graph::ops::reduce_max, T>();
                     return graph::reduce_max(v, axes);
                 }))

/// The smallest element along some axes; NaN if there is one. An empty axis is an error.
CALQUE_REDUCTION(min, reduce_min, T, ([](graph::value v, graph::axis_set axes) {
                     detail::check_dtype<graph::ops::reduce_min, T>();
                     return graph::reduce_min(v, axes);
                 }))

/// The arithmetic mean over some axes; NaN over an empty one. Floating dtypes only.
CALQUE_REDUCTION(mean, sum, T, ([](graph::value v, graph::axis_set axes) {
                     static_assert(floating<T>, "calque: mean takes float or double: write calque::cast<float>(x)");
                     return graph::mean(v, axes);
                 }))

/// The product over some axes; 1 over an empty one. bool and integers are multiplied as int64.
CALQUE_REDUCTION(prod, reduce_product, detail::sum_element<T>, ([](graph::value v, graph::axis_set axes) {
                     return graph::reduce_product(graph::cast(v, dtype_of<computed_t<detail::sum_element<T>>>), axes);
                 }))

/// The variance over some axes: the mean of the squared distances from the mean. Floating dtypes only.
CALQUE_REDUCTION(var, sum, T, ([](graph::value v, graph::axis_set axes) {
                     static_assert(floating<T>, "calque: var takes float or double: write calque::cast<float>(x)");
                     return graph::variance(v, axes);
                 }))

/// The standard deviation over some axes: the square root of `var`. Floating dtypes only.
CALQUE_REDUCTION(std, sum, T, ([](graph::value v, graph::axis_set axes) {
                     static_assert(floating<T>, "calque: std takes float or double: write calque::cast<float>(x)");
                     return graph::apply<graph::ops::sqrt>(0, graph::variance(v, axes));
                 }))

/// Whether some element along some axes is true, or not 0; false of none. dtype: bool.
CALQUE_REDUCTION(any, first_index, bool, ([](graph::value v, graph::axis_set axes) { return graph::any(v, axes); }))

/// Whether all elements along some axes are true, or not 0; true of none. dtype: bool.
CALQUE_REDUCTION(all, first_index, bool, ([](graph::value v, graph::axis_set axes) { return graph::all(v, axes); }))

/// log(sum(exp(x))) over some axes, without overflow.
CALQUE_REDUCTION(logsumexp, exp, T, ([](graph::value v, graph::axis_set axes) {
                     detail::check_dtype<graph::ops::exp, T>();
                     return graph::logsumexp(detail::not_empty(v, axes, "logsumexp"), axes);
                 }))

#undef CALQUE_REDUCTION

namespace detail {

/// The one axis of an `argmax`, as `graph::argmax` wants it.
inline constexpr auto first_largest = [](graph::value v, graph::axis_set axes) {
    not_empty(v, axes, "argmax");
    return graph::argmax(v, axes == 0 ? 0 : std::countr_zero(axes)); // 0: the axis is out of range, which is reported
};

} // namespace detail

/// The index of the first largest element along an axis, as int64; of the first NaN if there is one. An axis of 2^31
/// and more elements of up to 4 bytes is an error.
template <int Axis, handle X>
constexpr expr<std::int64_t> argmax(X const& x) {
    detail::check_dtype<graph::ops::reduce_max, typename X::value_type>();
    return detail::reduce<graph::ops::reduce_max, expr<std::int64_t>, false, Axis>(x, "argmax", detail::first_largest);
}

/// The same, and the axis is kept with extent 1.
template <int Axis, handle X>
constexpr expr<std::int64_t> argmax(X const& x, keepdims_t) {
    detail::check_dtype<graph::ops::reduce_max, typename X::value_type>();
    return detail::reduce<graph::ops::reduce_max, expr<std::int64_t>, true, Axis>(x, "argmax", detail::first_largest);
}

namespace detail {

inline constexpr auto first_smallest = [](graph::value v, graph::axis_set axes) {
    not_empty(v, axes, "argmin");
    return graph::argmin(v, axes == 0 ? 0 : std::countr_zero(axes));
};

} // namespace detail

/// The index of the first smallest element along an axis, as int64; of the first NaN if there is one. An axis of 2^31
/// and more elements of up to 4 bytes is an error.
template <int Axis, handle X>
constexpr expr<std::int64_t> argmin(X const& x) {
    detail::check_dtype<graph::ops::reduce_min, typename X::value_type>();
    return detail::reduce<graph::ops::reduce_min, expr<std::int64_t>, false, Axis>(x, "argmin", detail::first_smallest);
}

/// The same, and the axis is kept with extent 1.
template <int Axis, handle X>
constexpr expr<std::int64_t> argmin(X const& x, keepdims_t) {
    detail::check_dtype<graph::ops::reduce_min, typename X::value_type>();
    return detail::reduce<graph::ops::reduce_min, expr<std::int64_t>, true, Axis>(x, "argmin", detail::first_smallest);
}

/// exp(x) / sum(exp(x)) over some axes, without overflow. Shape: that of `x`.
template <int... Axes, handle X>
constexpr auto softmax(X const& x) {
    detail::check_dtype<graph::ops::exp, typename X::value_type>();
    return detail::reduce<graph::ops::exp, X, true, Axes...>(x, "softmax", [](graph::value v, graph::axis_set axes) {
        return graph::softmax(detail::not_empty(v, axes, "softmax"), axes);
    });
}

/// log(softmax(x)) over some axes. Shape: that of `x`.
template <int... Axes, handle X>
constexpr auto log_softmax(X const& x) {
    detail::check_dtype<graph::ops::exp, typename X::value_type>();
    return detail::reduce<graph::ops::exp, X, true, Axes...>(
        x, "log_softmax", [](graph::value v, graph::axis_set axes) {
            return graph::log_softmax(detail::not_empty(v, axes, "log_softmax"), axes);
        });
}

} // namespace v0
} // namespace calque
