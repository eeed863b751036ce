// SPDX-License-Identifier: MIT
// `value`: a node with operators. Derivatives, passes and composed operations (softmax, mean) are written on it, once
// for all dtypes; the typed handle that users see is a thin skin over it.
#pragma once

#include <calque/graph/builder.hpp>

#include <concepts>

namespace calque {
inline namespace v0 {
namespace graph {

/// A node of a graph under construction. Small, copied freely; it must not outlive its builder.
struct value {
    builder* owner = nullptr;
    node_id id = -1;

    constexpr dtype type() const { return (*owner)[id].type; }
    constexpr calque::shape const& shape() const { return owner->shape(id); }
    constexpr int rank() const { return shape().rank; }
    constexpr std::uint64_t attribute() const { return (*owner)[id].attribute; }

    /// No value: an input that a derivative does not reach.
    constexpr value none() const { return {owner, -1}; }
    constexpr bool exists() const { return id >= 0; }
};

/// Applies an operation to values of one builder.
template <class Op>
constexpr value apply(std::uint64_t attribute, value first, auto... rest) {
    node_id const inputs[]{first.id, rest.id...};
    return {first.owner, first.owner->add(code_of<Op>, inputs, 1 + static_cast<int>(sizeof...(rest)), attribute)};
}

/// A scalar constant of the dtype of `like`.
constexpr value literal(value like, auto number) {
    return {like.owner, like.owner->constant(like.type(), constant_bits(like.type(), number))};
}
constexpr value zero_of(value like) {
    return literal(like, 0);
}

template <class T>
concept number = arithmetic<T>;

#define CALQUE_VALUE_OPERATOR(symbol, operation)                                                                       \
    constexpr value operator symbol(value a, value b) {                                                                \
        return apply<ops::operation>(0, a, b);                                                                         \
    }                                                                                                                  \
    constexpr value operator symbol(value a, number auto b) {                                                          \
        return a symbol literal(a, b);                                                                                 \
    }                                                                                                                  \
    constexpr value operator symbol(number auto a, value b) {                                                          \
        return literal(b, a) symbol b;                                                                                 \
    }
CALQUE_VALUE_OPERATOR(+, add)
CALQUE_VALUE_OPERATOR(-, subtract)
CALQUE_VALUE_OPERATOR(*, multiply)
CALQUE_VALUE_OPERATOR(/, divide)
CALQUE_VALUE_OPERATOR(==, equal)
CALQUE_VALUE_OPERATOR(!=, not_equal)
CALQUE_VALUE_OPERATOR(<, less)
CALQUE_VALUE_OPERATOR(<=, less_equal)
CALQUE_VALUE_OPERATOR(>, greater)
CALQUE_VALUE_OPERATOR(>=, greater_equal)
#undef CALQUE_VALUE_OPERATOR

constexpr value operator-(value x) {
    return apply<ops::negative>(0, x);
}
constexpr value operator|(value a, value b) {
    return apply<ops::logical_or>(0, a, b);
}
constexpr value square(value x) {
    return apply<ops::square>(0, x);
}
constexpr value sqrt(value x) {
    return apply<ops::sqrt>(0, x);
}
constexpr value exp(value x) {
    return apply<ops::exp>(0, x);
}
constexpr value log(value x) {
    return apply<ops::log>(0, x);
}
constexpr value sigmoid(value x) {
    return apply<ops::sigmoid>(0, x);
}
constexpr value sin(value x) {
    return apply<ops::sin>(0, x);
}
constexpr value cos(value x) {
    return apply<ops::cos>(0, x);
}
constexpr value sinh(value x) {
    return apply<ops::sinh>(0, x);
}
constexpr value cosh(value x) {
    return apply<ops::cosh>(0, x);
}
constexpr value round(value x) {
    return apply<ops::round>(0, x);
}
constexpr value pow(value x, value y) {
    return apply<ops::pow>(0, x, y);
}
constexpr value where(value condition, value x, value y) {
    return apply<ops::where>(0, condition, x, y);
}
/// `x`, without a derivative.
constexpr value stop_gradient(value x) {
    return apply<ops::stop_gradient>(0, x);
}
constexpr value cast(value x, dtype to) {
    if (x.type() == to) {
        return x;
    }
    bool const is_far = (is_half_float(to) && x.type() != dtype::float32) ||
                        (is_half_float(x.type()) && to != dtype::float32); // all but float go by way of it
    value const from = is_far ? cast(x, dtype::float32) : x;
    return from.type() == to ? from : apply<ops::cast>(static_cast<std::uint64_t>(to), from);
}

// ---- axes and extents

/// Every axis of `x`.
constexpr axis_set all_axes(value x) {
    return (axis_set{1} << x.rank()) - 1;
}

constexpr value expand_dims(value x, axis_set axes) {
    return axes == 0 ? x : apply<ops::expand_dims>(axes, x);
}
constexpr value squeeze(value x, axis_set axes) {
    return axes == 0 ? x : apply<ops::squeeze>(axes, x);
}
constexpr value transpose(value x, std::uint64_t permutation) {
    return apply<ops::transpose>(permutation, x);
}
/// The axes in reverse order.
constexpr value transpose(value x) {
    std::uint64_t permutation = 0;
    for (int axis = 0; axis < x.rank(); ++axis) {
        permutation |= static_cast<std::uint64_t>(x.rank() - 1 - axis) << (4 * axis);
    }
    return transpose(x, permutation);
}
constexpr value reshape(value x, calque::shape const& extents) {
    return apply<ops::reshape>(static_cast<std::uint64_t>(x.owner->intern(extents)), x);
}
constexpr value reshape_like(value x, value like) {
    if (like.shape().is_static()) {
        return reshape(x, like.shape());
    }
    return apply<ops::reshape_like>(0, x, like);
}
constexpr value broadcast_to(value x, calque::shape const& extents) {
    return x.shape() == extents ? x : apply<ops::broadcast_to>(static_cast<std::uint64_t>(x.owner->intern(extents)), x);
}
constexpr value broadcast_like(value x, value like) {
    calque::shape const& to = like.shape();
    if (to.is_static()) {
        return broadcast_to(x, to);
    }
    bool has_dyn = false; // of two `dyn` extents one may be 1
    for (int axis = 0; axis < to.rank; ++axis) {
        has_dyn |= to[axis] == dyn;
    }
    return x.shape() == to && !has_dyn ? x : apply<ops::broadcast_like>(0, x, like);
}
/// `x`, of which more is known: extents that are `dyn` in one of the two are those of the other.
constexpr value assert_shape(value x, calque::shape const& extents) {
    return x.shape() == extents ? x : apply<ops::assert_shape>(static_cast<std::uint64_t>(x.owner->intern(extents)), x);
}
constexpr value slice(value x, std::uint64_t lists) {
    return apply<ops::slice>(lists, x);
}
constexpr value slice_adjoint(value x, value like, std::uint64_t lists) {
    return apply<ops::slice_adjoint>(lists, x, like);
}
constexpr value set_slice(value part, value x, std::uint64_t lists) {
    return apply<ops::set_slice>(lists, part, x);
}
/// Element i along an axis is element i - shift, around the end: `shift` is a scalar of dtype int64.
constexpr value roll(value x, int axis, value shift) {
    return apply<ops::roll>(static_cast<std::uint64_t>(axis), x, shift);
}
constexpr value take(value x, value indices, std::uint64_t axis) {
    return apply<ops::take>(axis, x, indices);
}
constexpr value take_adjoint(value x, value indices, value like, std::uint64_t axis) {
    return apply<ops::take_adjoint>(axis, x, indices, like);
}
/// The number of the row that each element is in, by splits [..., R + 1]. Shape: that of `like`, [..., N].
constexpr value row_numbers(value splits, value like) {
    return apply<ops::row_numbers>(0, splits, like);
}
/// The rows of `x` that integers number; zeros for a number that no row has.
constexpr value gather_rows(value x, value numbers) {
    return apply<ops::gather_rows>(0, x, numbers);
}
/// The rows of `x` folded by their numbers, into the shape of `like`.
constexpr value segment_sum(value x, value numbers, value like) {
    return apply<ops::segment_sum>(0, x, numbers, like);
}
constexpr value segment_max(value x, value numbers, value like) {
    return apply<ops::segment_max>(0, x, numbers, like);
}
constexpr value segment_min(value x, value numbers, value like) {
    return apply<ops::segment_min>(0, x, numbers, like);
}
/// 0, 1, 2, ... along an axis of `like`, extent 1 along its others.
constexpr value iota_like(value like, int axis, dtype type) {
    if (is_half_float(type)) {
        return cast(iota_like(like, axis, dtype::float32), type);
    }
    return apply<ops::iota>(static_cast<std::uint64_t>(type) << 4 | static_cast<std::uint64_t>(axis), like);
}

// ---- reductions; the axes keep extent 1

constexpr value sum(value x, axis_set axes) {
    return axes == 0 ? x : apply<ops::sum>(axes, x);
}
constexpr value reduce_max(value x, axis_set axes) {
    return axes == 0 ? x : apply<ops::reduce_max>(axes, x);
}
constexpr value reduce_min(value x, axis_set axes) {
    return axes == 0 ? x : apply<ops::reduce_min>(axes, x);
}
constexpr value reduce_product(value x, axis_set axes) {
    return axes == 0 ? x : apply<ops::reduce_product>(axes, x);
}
/// The number of elements along some axes, as a scalar of dtype `type`.
constexpr value element_count(value x, axis_set axes, dtype type) {
    calque::shape const& s = x.shape();
    extent_t n = 1;
    for (int axis = 0; axis < s.rank; ++axis) {
        if (contains(axes, axis)) {
            if (!is_static(s[axis])) {
                auto const computed = is_half_float(type) ? dtype::float32 : type;
                return cast(apply<ops::element_count>(axes | static_cast<std::uint64_t>(computed) << 8, x), type);
            }
            n *= s[axis];
        }
    }
    return {x.owner, x.owner->constant(type, constant_bits(type, n))};
}
/// The same, of the dtype of `x`.
constexpr value element_count(value x, axis_set axes) {
    return element_count(x, axes, x.type());
}

/// 0, 1, 2, ... as many as `x` has elements along an axis. Shape: [extent].
constexpr value indices_along(value x, int axis, dtype type) {
    return squeeze(iota_like(x, axis, type), all_axes(x) & ~(axis_set{1} << axis));
}

/// start, start + 1, ... in the graph and with the dtype of `like`. Shape: [count].
constexpr value count_from(value like, extent_t start, extent_t count) {
    return iota_like(broadcast_to(zero_of(like), shape{count}), 0, like.type()) + literal(like, start);
}

/// The place of each element of `like` in row-major order, the axes before `first` not counted. Extent 1 along those.
constexpr value row_major_index(value like, int first, dtype type) {
    value place{like.owner, like.owner->constant(type, constant_bits(type, 0))};
    for (int axis = first; axis < like.rank(); ++axis) {
        value const index = iota_like(like, axis, type);
        place = axis == first ? index : place * element_count(like, axis_set{1} << axis, type) + index;
    }
    return place;
}

/// Sums what broadcasting has stretched: from the shape of `x` back to that of `like`, to which it was broadcast.
constexpr value sum_like(value x, value like) {
    calque::shape const from = x.shape();
    calque::shape const to = like.shape();
    if (from == to && to.is_static()) {
        return x;
    }
    int const extra = from.rank - to.rank;
    axis_set stretched = 0;
    axis_set leading = 0;
    bool only_the_call_knows = false;
    for (int axis = 0; axis < from.rank; ++axis) {
        if (axis < extra) {
            leading |= axis_set{1} << axis;
        } else if (to[axis - extra] == 1) {
            stretched |= from[axis] == 1 ? 0 : axis_set{1} << axis;
        } else if (to[axis - extra] == dyn) {
            only_the_call_knows = true;
        }
    }
    if (extra < 0) {
        return broadcast_like(x, like); // a scalar adjoint of a constant, say
    }
    value const summed = squeeze(sum(x, leading | stretched), leading);
    return only_the_call_knows ? apply<ops::sum_to>(0, summed, like) : summed;
}

/// Arrays one after the other along an axis.
constexpr value concatenate(value const* parts, int count, int axis) {
    sequence<node_id> inputs;
    for (int k = 0; k < count; ++k) {
        inputs.push_back(parts[k].id);
    }
    return {parts[0].owner,
            parts[0].owner->add(code_of<ops::concatenate>, inputs.data(), count, static_cast<std::uint64_t>(axis))};
}

// ---- along an axis, in order

/// The attribute of a `slice` with a range of one axis, and all of the others.
constexpr std::uint64_t range_of_axis(value x, int axis, extent_t start, extent_t stop, extent_t step = 1) {
    calque::shape starts, stops, steps;
    for (int i = 0; i < x.rank(); ++i) {
        starts.push_back(i == axis ? start : 0);
        stops.push_back(i == axis ? stop : to_the_end);
        steps.push_back(i == axis ? step : 1);
    }
    return slice_lists{x.owner->intern(starts), x.owner->intern(stops), x.owner->intern(steps)}.pack();
}
/// Some axes from the last element to the first.
constexpr value flip(value x, axis_set axes) {
    return axes == 0 ? x : apply<ops::flip>(axes, x);
}
constexpr value running_sum(value x, std::uint64_t order) {
    return apply<ops::running_sum>(order, x);
}
constexpr value recurrence(value a, value b, std::uint64_t order) {
    return apply<ops::recurrence>(order, a, b);
}
/// The element before each one along an axis, in the order of a running operation; 0 before the first.
constexpr value previous(value x, int axis, bool is_reversed) {
    std::uint64_t const all_but_last = range_of_axis(x, axis, 0, -1);
    std::uint64_t const all_but_first = range_of_axis(x, axis, 1, to_the_end);
    return is_reversed ? slice_adjoint(slice(x, all_but_first), x, all_but_last)
                       : slice_adjoint(slice(x, all_but_last), x, all_but_first);
}
/// The product of the elements before each one along an axis.
constexpr value product_before(value x, int axis, bool is_reversed) {
    value const index = iota_like(x, axis, dtype::int64);
    value const last = element_count(x, axis_set{1} << axis, dtype::int64) - 1;
    value const is_first = index == (is_reversed ? last : zero_of(index));
    value const start = broadcast_like(cast(is_first, x.type()), x);
    return recurrence(x, start, ops::running_order{axis, is_reversed, true}.pack());
}
/// The adjoint of a product over `axes`, which keep extent 1: each element's is the product of the others.
constexpr value product_gradient(value dy, value x, axis_set axes) {
    int axis = 0;
    while (!contains(axes, axis)) {
        ++axis;
    }
    axis_set const first = axis_set{1} << axis;
    if (axes != first) {
        dy = product_gradient(dy, reduce_product(x, first), axes & ~first);
    }
    return dy * (product_before(x, axis, false) * product_before(x, axis, true));
}

// ---- products

/// The product of vectors and matrices, as NumPy's `@`.
constexpr value matmul(value a, value b) {
    if (a.rank() == 1 || b.rank() == 1) {
        axis_set const row = a.rank() == 1 ? 1 : 0;
        axis_set const column = b.rank() == 1 ? 2 : 0;
        value const product = apply<ops::matmul>(0, expand_dims(a, row), expand_dims(b, column));
        return product.rank() == 2 ? squeeze(product, row | column) : product;
    }
    return apply<ops::matmul>(0, a, b);
}

/// The products of the matrices of two batches: [B,M,K] by [B,K,N] is [B,M,N].
constexpr value batch_matmul(value a, value b) {
    return apply<ops::batch_matmul>(0, a, b);
}

} // namespace graph
} // namespace v0
} // namespace calque
