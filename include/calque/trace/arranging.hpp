// SPDX-License-Identifier: MIT
// Elements of traced arrays in other places: stacked, split, turned around, padded, and assigned to in part.
#pragma once

#include <calque/graph/arranging.hpp>
#include <calque/trace/shaping.hpp>

#include <cstddef>
#include <tuple>
#include <utility>

namespace calque {
inline namespace v0 {

/// Two axes in each other's place.
template <int A, int B, handle X>
constexpr X swapaxes(X const& x) {
    graph::value const v = x.value();
    int const a = detail::axis_of<graph::ops::transpose>(v, A, v.rank(), "swapaxes");
    int const b = detail::axis_of<graph::ops::transpose>(v, B, v.rank(), "swapaxes");
    return detail::with_value(x, graph::swap_axes(v, a, b));
}

/// Without some axes, whose extent is 1; a dynamic extent is checked by the call.
template <int... Axes, handle X>
constexpr X squeeze(X const& x) {
    static_assert(sizeof...(Axes) > 0, "calque: squeeze takes the axes to drop: squeeze<0>(x)");
    graph::value const v = x.value();
    return detail::with_value(x, graph::squeeze(v, detail::axis_set_of<graph::ops::squeeze, Axes...>(v, v.rank())));
}

/// Arrays of one shape along a new axis, at this place of the result.
template <int Axis = 0, handle... X>
constexpr auto stack(X const&... x) {
    using T = detail::common_element_t<graph::ops::concatenate, X...>;
    detail::meeting const at(x...);
    graph::value parts[] = {at.template import <T>(x)...};
    graph::value const first = parts[0];
    int const axis = detail::axis_of<graph::ops::concatenate>(first, Axis, first.rank() + 1, "stack");
    for (graph::value& part : parts) {
        if (part.rank() != first.rank()) {
            graph::node_id const operands[] = {first.id, part.id};
            at.owner().fail(graph::reason::extents_differ, graph::code_of<graph::ops::concatenate>, operands, 2,
                            "stack");
        }
        part = graph::expand_dims(part, graph::axis_set{1} << axis);
    }
    return at.template wrap<expr<T>>(graph::concatenate(parts, static_cast<int>(sizeof...(X)), axis));
}

/// `Parts` equal parts of an array along an axis, as a tuple: `auto [q, k, v] = split<-1, 3>(x)`.
///
/// An extent that is no multiple of `Parts` is an error.
template <int Axis, int Parts, handle X>
constexpr auto split(X const& x) {
    static_assert(Parts > 0, "calque: split takes the number of parts: split<-1, 3>(x)");
    graph::value const v = x.value();
    int const axis = detail::axis_of<graph::ops::split_axis>(v, Axis, v.rank(), "split");
    graph::value const parts = v.rank() == 0 ? v : graph::split_axis(v, axis, Parts);
    auto const part = [&](extent_t i) {
        graph::axis_set const dropped = graph::axis_set{1} << axis;
        return detail::with_value(x, v.rank() == 0 ? v
                                                   : graph::squeeze(graph::slice_axis(parts, axis, i, i + 1), dropped));
    };
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple{part(static_cast<extent_t>(I))...};
    }(std::make_index_sequence<static_cast<std::size_t>(Parts)>{});
}

/// Some axes from their last element to the first; without any, all of them.
template <int... Axes, handle X>
constexpr X flip(X const& x) {
    graph::value const v = x.value();
    return detail::with_value(x, graph::flip(v, detail::axis_set_of<graph::ops::flip, Axes...>(v, v.rank())));
}

/// Element i along an axis is element i - shift, around the end. `shift`: a number, or a traced integer.
template <int Axis, handle X, operand S>
constexpr X roll(X const& x, S const& shift) {
    static_assert(std::is_integral_v<detail::element_of_t<S>>, "calque: roll takes an integer shift");
    if constexpr (handle<S>) {
        detail::meeting const at(x, shift);
        graph::value const v = at.import(x);
        graph::value const by = at.import(shift);
        int const axis = detail::axis_of<graph::ops::roll>(v, Axis, v.rank(), "roll");
        if (by.rank() != 0) {
            at.owner().fail(graph::reason::shift_not_a_scalar, graph::code_of<graph::ops::roll>, &by.id, 1, "roll");
            return x;
        }
        return at.template wrap<X>(v.rank() == 0 ? v : graph::roll(v, axis, graph::cast(by, dtype::int64)));
    } else {
        graph::value const v = x.value();
        int const axis = detail::axis_of<graph::ops::roll>(v, Axis, v.rank(), "roll");
        return detail::with_value(x, v.rank() == 0 ? v : graph::roll(v, axis, static_cast<extent_t>(shift)));
    }
}

/// How many elements `pad` puts before and after those of an axis.
struct padding {
    extent_t before = 0;
    extent_t after = 0;
};

/// `x` with more elements around it, all of one value: `pad(x, 0, padding{1, 1}, padding{0, 2})`, an entry an axis.
///
/// Missing axes, the last ones, stay as they are.
template <handle X, operand V, std::same_as<padding>... Axes>
constexpr X pad(X const& x, V const& value, Axes... axes) {
    using T = typename X::value_type;
    detail::meeting const at(x, value);
    graph::value v = at.import(x);
    graph::value const fill = at.template import <T>(value);
    padding const wanted[] = {axes..., padding{}};
    if (static_cast<int>(sizeof...(Axes)) > v.rank() || fill.rank() != 0) {
        at.owner().fail(graph::reason::rank_too_low, graph::code_of<graph::ops::concatenate>, &v.id, 1, "pad");
        return x;
    }
    for (int axis = 0; axis < static_cast<int>(sizeof...(Axes)); ++axis) {
        if (wanted[axis].before < 0 || wanted[axis].after < 0) {
            at.owner().fail(graph::reason::padding_negative, graph::code_of<graph::ops::concatenate>, &v.id, 1, "pad");
            return x;
        }
        v = graph::pad_axis(v, axis, wanted[axis].before, wanted[axis].after, fill);
    }
    return at.template wrap<X>(v);
}

namespace detail {

/// `x` where `keep(x)` is true, else 0.
template <class X>
constexpr X masked_matrices(X const& x, std::string_view name, auto keep) {
    graph::value const v = x.value();
    if (v.rank() < 2) {
        v.owner->fail(graph::reason::rank_too_low, graph::code_of<graph::ops::where>, &v.id, 1, name);
        return x;
    }
    return with_value(x, graph::where(keep(v), v, graph::zero_of(v)));
}

/// A part of an array, to assign to.
template <class X>
class part_of {
public:
    constexpr part_of(X const& x, selection const& selected) : x_(x), selected_(selected) {}

    /// The whole array, with `elements` in this part, whose shape they broadcast to.
    template <operand V>
    constexpr X set(V const& elements) const {
        return replace(elements, [](auto... arguments) { return graph::set_part(arguments...); });
    }
    /// The whole array, with `elements` added to this part. Numbers only.
    template <operand V>
    constexpr X add(V const& elements) const {
        check_dtype<graph::ops::add, typename X::value_type>();
        return replace(elements, [](auto... arguments) { return graph::add_to_part(arguments...); });
    }

private:
    template <class V>
    constexpr X replace(V const& elements, auto make) const {
        using T = common_element_t<graph::ops::where, X, V>;
        meeting const at(x_, elements);
        graph::value const v = at.import(x_);
        graph::value const part = at.template import <T>(elements);
        int const kept = v.rank() - std::popcount(selected_.dropped);
        if (!selected_.is_valid) {
            return x_;
        }
        if (part.rank() > kept) {
            graph::node_id const operands[] = {v.id, part.id};
            at.owner().fail(graph::reason::extents_do_not_broadcast, graph::code_of<graph::ops::slice_adjoint>,
                            operands, 2, "at");
            return x_;
        }
        return at.template wrap<X>(make(v, part, selected_.lists, selected_.dropped));
    }

    X x_;
    selection selected_;
};

/// What `x.at(ranges...)` returns.
template <class X, class... Ranges>
constexpr part_of<X> make_part(X const& x, Ranges... ranges) {
    return {x, select(x.value(), "at", ranges...)};
}

} // namespace detail

/// The lower triangles of matrices, the last two axes: 0 more than `offset` places right of the diagonal.
template <handle X>
constexpr X tril(X const& x, extent_t offset = 0) {
    return detail::masked_matrices(x, "tril", [=](graph::value v) { return graph::lower_triangle(v, offset); });
}

/// The upper triangles of matrices: 0 left of what is `offset` places right of the diagonal.
template <handle X>
constexpr X triu(X const& x, extent_t offset = 0) {
    return detail::masked_matrices(x, "triu", [=](graph::value v) {
        return graph::apply<graph::ops::logical_not>(0, graph::lower_triangle(v, offset - 1));
    });
}

} // namespace v0
} // namespace calque
