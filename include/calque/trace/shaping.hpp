// SPDX-License-Identifier: MIT
// Other shapes for traced arrays: reshape, transpose, views, concatenation, indexing.
#pragma once

#include <calque/trace/apply.hpp>
#include <calque/trace/axes.hpp>
#include <calque/trace/stretching.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

template <handle X>
constexpr X with_value(X const& x, graph::value v) {
    return X(v, x.shared());
}

} // namespace detail

/// The same elements, in row-major order, under other extents; one of them may be `calque::dyn`: it is inferred.
template <handle X, extent_argument... Extents>
constexpr X reshape(X const& x, Extents... extents) {
    return detail::with_value(x, graph::reshape(x.value(), shape{detail::listed_extent(extents)...}));
}

/// `x` stretched to some extents by broadcasting: numbers, or those of other arrays, `broadcast_to(x, y.extent(0), 3)`;
/// one that is `calque::dyn` is kept.
template <handle X, extent_argument... Extents>
constexpr X broadcast_to(X const& x, Extents... extents) {
    detail::meeting const at(x, extents...);
    graph::value const v = at.import(x);
    return at.template wrap<X>(detail::stretching<Extents...>(at, v).to(extents...));
}

/// New axes of extent 1, at these places of the result.
template <int... Axes, handle X>
constexpr X expand_dims(X const& x) {
    static_assert(sizeof...(Axes) > 0, "calque: expand_dims takes the new axes: expand_dims<-1>(x)");
    int const rank = x.rank() + static_cast<int>(sizeof...(Axes));
    return detail::with_value(
        x, graph::expand_dims(x.value(), detail::axis_set_of<graph::ops::expand_dims, Axes...>(x.value(), rank)));
}

/// The axes in another order; without any, in reverse.
template <int... Axes, handle X>
constexpr X transpose(X const& x) {
    if constexpr (sizeof...(Axes) == 0) {
        return detail::with_value(x, graph::transpose(x.value()));
    } else {
        graph::value const v = x.value();
        graph::axis_set const axes = detail::axis_set_of<graph::ops::transpose, Axes...>(v, v.rank());
        if (axes != graph::all_axes(v)) {
            v.owner->fail(graph::reason::not_a_permutation, graph::code_of<graph::ops::transpose>, &v.id, 1);
            return x;
        }
        std::uint64_t permutation = 0;
        int place = 0;
        for (int axis : {Axes...}) {
            permutation |= static_cast<std::uint64_t>(axis < 0 ? axis + v.rank() : axis) << (4 * place++);
        }
        return detail::with_value(x, graph::transpose(v, permutation));
    }
}

/// The stop of a range that ends with the last element: `range(1, to_the_end)`.
using graph::to_the_end;

/// The indices [start, stop) of an axis, every `step`-th; negative ones count from the end.
struct range {
    extent_t start = 0;
    extent_t stop = to_the_end;
    extent_t step = 1;

    constexpr range() = default;
    constexpr range(extent_t from, extent_t to, extent_t by = 1) : start(from), stop(to), step(by) {}
};

/// A whole axis.
constexpr range all() {
    return {};
}

namespace detail {

/// The part of an array that ranges and indices select.
struct selection {
    std::uint64_t lists = 0; // of a `slice`
    graph::axis_set dropped = 0;
    bool is_valid = false;
};

/// What `ranges` select of `v`; reports what they cannot, under the name that was called.
template <class... Ranges>
constexpr selection select(graph::value v, std::string_view name, Ranges... ranges) {
    shape starts, stops, steps;
    graph::axis_set dropped = 0;
    auto const add = [&]<class R>(R r) {
        if constexpr (std::integral<R>) {
            dropped |= graph::axis_set{1} << starts.rank;
            starts.push_back(r);
            stops.push_back(r == -1 ? graph::to_the_end : static_cast<extent_t>(r) + 1);
            steps.push_back(1);
        } else {
            starts.push_back(r.start);
            stops.push_back(r.stop);
            steps.push_back(r.step);
        }
    };
    (add(ranges), ...);
    if (starts.rank > v.rank()) {
        v.owner->fail(graph::reason::rank_too_low, graph::code_of<graph::ops::slice>, &v.id, 1, name);
        return {};
    }
    while (starts.rank < v.rank()) {
        add(all());
    }
    for (int axis = 0; axis < steps.rank; ++axis) {
        if (steps[axis] < 1) {
            v.owner->fail(graph::reason::step_not_positive, graph::code_of<graph::ops::slice>, &v.id, 1, name);
            return {};
        }
        extent_t const extent = v.shape()[axis];
        bool const is_known_index = graph::contains(dropped, axis) && calque::is_static(extent);
        if (is_known_index && (starts[axis] >= extent || starts[axis] < -extent)) {
            v.owner->fail(graph::reason::index_out_of_range, graph::code_of<graph::ops::slice>, &v.id, 1, name);
            return {};
        }
    }
    graph::slice_lists const lists{v.owner->intern(starts), v.owner->intern(stops), v.owner->intern(steps)};
    return {lists.pack(), dropped, true};
}

} // namespace detail

/// A part of an array: for each axis a `range`, `all()`, or an index, which drops the axis. Missing axes are whole.
template <handle X, class... Ranges>
constexpr X view(X const& x, Ranges... ranges) {
    graph::value const v = x.value();
    detail::selection const part = detail::select(v, "view", ranges...);
    return part.is_valid ? detail::with_value(x, graph::squeeze(graph::slice(v, part.lists), part.dropped)) : x;
}

/// Arrays one after the other along an axis.
template <int Axis, handle... X>
constexpr auto concatenate(X const&... x) {
    using T = detail::common_element_t<graph::ops::concatenate, X...>;
    detail::meeting const at(x...);
    graph::value const parts[] = {at.template import <T>(x)...};
    int const axis = detail::axis_of<graph::ops::concatenate>(parts[0], Axis, parts[0].rank());
    return at.template wrap<detail::result_t<T, X...>>(graph::concatenate(parts, static_cast<int>(sizeof...(X)), axis));
}

/// The elements at integer positions along an axis, which is replaced by the axes of the indices.
///
/// A negative index counts from the end; one that is out of range takes the nearest element.
template <int Axis = 0, handle X, handle I>
constexpr X take(X const& x, I const& indices) {
    static_assert(is_integer(dtype_of<typename I::value_type>), "calque: take needs integer indices");
    detail::meeting const at(x, indices);
    graph::value const v = at.import(x);
    int const axis = detail::axis_of<graph::ops::take>(v, Axis, v.rank());
    return at.template wrap<X>(graph::take(v, at.import(indices), static_cast<std::uint64_t>(axis)));
}

/// `x`, of which the author knows the shape: other static extents are a compile error, dynamic ones are checked by the
/// call.
template <extent_t... Extents, handle X>
constexpr X assert_shape(X const& x) {
    graph::value const v = x.value();
    auto const asserted = static_cast<std::uint64_t>(v.owner->intern(shape{Extents...}));
    return detail::with_value(x, graph::apply<graph::ops::assert_shape>(asserted, v));
}

} // namespace v0
} // namespace calque
