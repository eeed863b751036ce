// SPDX-License-Identifier: MIT
// Operations composed of others: written once, on untyped values. Fusion makes single kernels of them.
#pragma once

#include <calque/graph/value.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// The arithmetic mean; NaN over an empty axis. The axes keep extent 1.
constexpr value mean(value x, axis_set axes) {
    return sum(x, axes) / element_count(x, axes);
}

/// exp(x) / sum(exp(x)), with the maximum subtracted before, so that nothing overflows. (One quotient a sum, which is
/// at least 1: a division takes several times as long as a product.)
constexpr value softmax(value x, axis_set axes) {
    value const e = exp(x - stop_gradient(reduce_max(x, axes)));
    return e * (1 / sum(e, axes));
}

/// log(softmax(x)), without the rounding of the quotient.
constexpr value log_softmax(value x, axis_set axes) {
    value const shifted = x - stop_gradient(reduce_max(x, axes));
    return shifted - log(sum(exp(shifted), axes));
}

/// log(sum(exp(x))), without overflow. The axes keep extent 1.
///
/// An infinite maximum is not subtracted: of -inf alone the result is -inf, of any +inf it is +inf.
constexpr value logsumexp(value x, axis_set axes) {
    value const largest = stop_gradient(reduce_max(x, axes));
    value const finite = where(largest - largest == 0, largest, zero_of(largest));
    return log(sum(exp(x - finite), axes)) + finite;
}

/// The first index along an axis of `like` at which `hit` is true, as int64. The axis keeps extent 1.
///
/// Beside elements of up to 4 bytes indices are int32, as many in a register: 2^31 of them are more than an axis may
/// have.
constexpr value index_of_first(value hit, value like, int axis) {
    bool const is_wide = size_of(like.type()) > 4;
    value const index = iota_like(like, axis, is_wide ? dtype::int64 : dtype::int32);
    value const none = is_wide ? literal(index, INT64_MAX) : literal(index, INT32_MAX);
    return cast(reduce_min(where(hit, index, none), axis_set{1} << axis), dtype::int64);
}

/// Where `x` is its largest or least element along an axis, or NaN.
constexpr value equals_extreme(value x, value extreme) {
    return is_floating(x.type()) ? (x == extreme) | (x != x) : x == extreme;
}

/// The index of the first largest (or first NaN) element along an axis, as int64. The axis keeps extent 1.
constexpr value argmax(value x, int axis) {
    return index_of_first(equals_extreme(x, reduce_max(x, axis_set{1} << axis)), x, axis);
}

/// The index of the first smallest (or first NaN) element along an axis, as int64. The axis keeps extent 1.
constexpr value argmin(value x, int axis) {
    return index_of_first(equals_extreme(x, reduce_min(x, axis_set{1} << axis)), x, axis);
}

/// The mean of the squared distances from the mean, in two passes; NaN over an empty axis. The axes keep extent 1.
constexpr value variance(value x, axis_set axes) {
    return mean(square(x - mean(x, axes)), axes);
}

/// Whether some element is `wanted`; over an empty axis none is. The axes keep extent 1.
constexpr value some_are(value x, bool wanted, axis_set axes) {
    value const truth = x.type() == dtype::bool_ ? x : x != zero_of(x);
    value const zero{x.owner, x.owner->constant(dtype::int32, constant_bits(dtype::int32, 0))};
    value const none = literal(zero, INT32_MAX);
    value const place = wanted ? where(truth, zero, none) : where(truth, none, zero);
    return (axes == 0 ? place : apply<ops::first_index>(axes, place)) == zero;
}
/// Whether some element is true, or not 0. NaN is not 0.
constexpr value any(value x, axis_set axes) {
    return some_are(x, true, axes);
}
/// Whether all elements are true, or not 0.
constexpr value all(value x, axis_set axes) {
    return apply<ops::logical_not>(0, some_are(x, false, axes));
}

/// The place, in row-major order, of the first element that is false, as int64; INT64_MAX if all are true.
constexpr value first_false(value condition) {
    value const place = row_major_index(condition, 0, dtype::int64);
    value const failed = where(condition, literal(place, INT64_MAX), place);
    axis_set const all = all_axes(condition);
    return condition.rank() == 0 ? failed : squeeze(apply<ops::first_index>(all, failed), all);
}

/// 1 where an index along a new last axis is the label, else 0. `index`: 0, 1, 2, ... along an axis.
constexpr value one_hot(value labels, value index, dtype type) {
    return cast(expand_dims(labels, axis_set{1} << labels.rank()) == index, type);
}
/// The same for `classes` of them.
constexpr value one_hot(value labels, extent_t classes, dtype type) {
    value const like = broadcast_to(zero_of(labels), shape{classes});
    return one_hot(labels, iota_like(like, 0, labels.type()), type);
}
/// The same for as many as `like` has elements along an axis.
constexpr value one_hot_like(value labels, value like, int axis, dtype type) {
    return one_hot(labels, indices_along(like, axis, labels.type()), type);
}

} // namespace graph
} // namespace v0
} // namespace calque
