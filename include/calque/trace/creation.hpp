// SPDX-License-Identifier: MIT
// Traced arrays made from nothing, or in the shape of another.
#pragma once

#include <calque/graph/compositions.hpp>
#include <calque/trace/apply.hpp>
#include <calque/trace/stretching.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace detail {

/// A value in a graph of its own, until it meets one that belongs to a trace.
template <element T>
constexpr expr<T> make_detached(auto make) {
    auto* owner = new shared_builder;
    graph::value const anchor{owner, owner->constant(dtype_of<T>, graph::to_bits<T>(T(0)))};
    return expr<T>(make(anchor), owner);
}

} // namespace detail

/// An array of one value: `full<float>(0.5f, 3, 4)`, `full<float>(0.5f, x.extent(0), 4)`.
template <element T, extent_argument... Extents>
constexpr expr<T> full(std::type_identity_t<T> value, Extents... extents) {
    if constexpr ((std::same_as<Extents, axis_extent> || ...)) {
        detail::meeting const at(extents...);
        graph::value const one = at.template import <T>(value);
        return at.template wrap<expr<T>>(detail::stretching<Extents...>(at, one).to(extents...));
    } else {
        return detail::make_detached<T>([&](graph::value anchor) {
            return graph::broadcast_to(graph::literal(anchor, value), shape{static_cast<extent_t>(extents)...});
        });
    }
}

template <element T, extent_argument... Extents>
constexpr expr<T> zeros(Extents... extents) {
    return full<T>(T(0), extents...);
}

template <element T, extent_argument... Extents>
constexpr expr<T> ones(Extents... extents) {
    return full<T>(T(1), extents...);
}

/// 0, 1, ..., n - 1. Shape: [n]; n is known to the compiler, or the extent of an array: `arange<int>(x.extent(0))`.
template <element T>
constexpr expr<T> arange(std::integral auto n) {
    return detail::make_detached<T>([&](graph::value anchor) {
        graph::value const like = graph::broadcast_to(anchor, shape{static_cast<extent_t>(n)});
        return graph::iota_like(like, 0, dtype_of<T>);
    });
}

template <element T>
constexpr expr<T> arange(axis_extent const& n) {
    detail::handle_base const& x = n.array();
    return expr<T>(graph::indices_along(x.value(), n.axis(), dtype_of<T>), x.shared());
}

/// start, start + step, ... up to but without stop. Shape: [ceil((stop - start) / step)].
template <element T>
constexpr expr<T> arange(std::type_identity_t<T> start, std::type_identity_t<T> stop,
                         std::type_identity_t<T> step = T(1)) {
    double const steps = (static_cast<double>(stop) - static_cast<double>(start)) / static_cast<double>(step);
    extent_t n = steps > 0 ? static_cast<extent_t>(steps) : 0;
    n += static_cast<double>(n) < steps ? 1 : 0;
    return detail::make_detached<T>([&](graph::value anchor) {
        graph::value const like = graph::broadcast_to(anchor, shape{n});
        return graph::iota_like(like, 0, dtype_of<T>) * step + start;
    });
}

/// `n` numbers from `first` to `last`, evenly spaced; of one it is `first`. Shape: [n].
///
/// They are computed in double, as NumPy does it, and the last one is `last` exactly.
template <element T>
constexpr expr<T> linspace(std::type_identity_t<T> first, std::type_identity_t<T> last, extent_argument auto n) {
    static_assert(floating<T>, "calque: linspace makes float or double: calque::linspace<float>(0, 1, n)");
    extent_t const count = n;
    double const distance = static_cast<double>(last) - static_cast<double>(first);
    double const step = count > 1 ? distance / static_cast<double>(count - 1) : 0;
    return detail::make_detached<T>([&](graph::value anchor) {
        graph::value const like = graph::broadcast_to(anchor, shape{count});
        graph::value const index = graph::iota_like(like, 0, dtype::float64);
        graph::value const inner = index * step + static_cast<double>(first);
        bool const has_last = count > 1;
        graph::value const all =
            has_last ? graph::where(index == static_cast<double>(count - 1), graph::literal(index, last), inner)
                     : inner;
        return graph::cast(all, dtype_of<T>);
    });
}

/// 1 on a diagonal, 0 elsewhere. Shape: [rows, columns]; the diagonal is `offset` places right of the main one.
template <element T>
constexpr expr<T> eye(extent_argument auto rows, extent_argument auto columns, extent_t offset = 0) {
    return detail::make_detached<T>([&](graph::value anchor) {
        shape const extents{detail::listed_extent(rows), detail::listed_extent(columns)};
        graph::value const like = graph::broadcast_to(anchor, extents);
        graph::value const row = graph::iota_like(like, 0, dtype::int64);
        graph::value const column = graph::iota_like(like, 1, dtype::int64);
        return graph::cast(column - graph::literal(row, offset) == row, dtype_of<T>);
    });
}
template <element T>
constexpr expr<T> eye(extent_argument auto n) {
    return eye<T>(n, n);
}

namespace detail {

template <class A>
struct literal_array {
    using element_type = A;
    static constexpr int rank = 0;
};
template <class A, std::size_t N>
struct literal_array<std::array<A, N>> {
    using element_type = typename literal_array<A>::element_type;
    static constexpr int rank = literal_array<A>::rank + 1;
};

/// Collects the bits and the extents of nested arrays.
template <class A>
constexpr void append_literal(A const& x, sequence<std::uint64_t>& bits, shape& extents, int axis) {
    if constexpr (literal_array<A>::rank == 0) {
        bits.push_back(graph::to_bits<A>(x));
    } else {
        extents[axis] = static_cast<extent_t>(x.size());
        for (auto const& part : x) {
            append_literal(part, bits, extents, axis + 1);
        }
    }
}

/// An array of known elements: nodes of up to 8, one after the other.
constexpr graph::value literal_elements(graph::value anchor, sequence<std::uint64_t> const& bits) {
    sequence<graph::value> parts;
    for (int first = 0; first < bits.size(); first += max_rank) {
        shape list;
        for (int i = first; i < bits.size() && list.rank < max_rank; ++i) {
            list.push_back(static_cast<extent_t>(bits[i]));
        }
        auto const attribute = static_cast<std::uint64_t>(anchor.owner->intern(list));
        parts.push_back(graph::apply<graph::ops::literal_elements>(attribute, anchor));
    }
    return parts.empty()       ? graph::broadcast_to(anchor, shape{0})
           : parts.size() == 1 ? parts[0]
                               : graph::concatenate(parts.data(), parts.size(), 0);
}

} // namespace detail

/// A constant array: `calque::literal(std::array{1.f, 2.f})`, and of arrays of arrays one of higher rank.
///
/// Its elements are part of the function's graph, in nodes of 8: a table of weights is better an argument.
template <class A, std::size_t N>
constexpr auto literal(std::array<A, N> const& elements) {
    using T = typename detail::literal_array<A>::element_type;
    static_assert(element<T>, "calque: literal takes arrays of bool, integers, float or double");
    sequence<std::uint64_t> bits;
    shape extents;
    extents.rank = detail::literal_array<A>::rank + 1;
    detail::append_literal(elements, bits, extents, 0);
    return detail::make_detached<T>([&](graph::value anchor) {
        graph::value const flat = detail::literal_elements(anchor, bits);
        return extents.rank == 1 ? flat : graph::reshape(flat, extents);
    });
}

/// An array of one value, with the shape and dtype of another.
template <handle X>
constexpr auto full_like(X const& x, std::type_identity_t<typename X::value_type> value) {
    return X(graph::broadcast_like(graph::literal(x.value(), value), x.value()), x.shared());
}

template <handle X>
constexpr auto zeros_like(X const& x) {
    return full_like(x, typename X::value_type(0));
}

template <handle X>
constexpr auto ones_like(X const& x) {
    return full_like(x, typename X::value_type(1));
}

/// 1 where the last axis, a new one of extent `classes`, has the label as its index, else 0.
///
/// dtype: `T` (float); labels are integers. A label outside of [0, classes) gives a row of zeros.
template <element T = float, handle X>
constexpr expr<T> one_hot(X const& labels, std::integral auto classes) {
    static_assert(is_integer(dtype_of<typename X::value_type>), "calque: one_hot takes integer labels");
    return expr<T>(graph::one_hot(labels.value(), static_cast<extent_t>(classes), dtype_of<T>), labels.shared());
}
template <element T = float, handle X>
constexpr expr<T> one_hot(X const& labels, axis_extent const& classes) {
    static_assert(is_integer(dtype_of<typename X::value_type>), "calque: one_hot takes integer labels");
    detail::meeting const at(labels, classes);
    graph::value const like = at.import(classes.array());
    return at.template wrap<expr<T>>(graph::one_hot_like(at.import(labels), like, classes.axis(), dtype_of<T>));
}

/// The same, with as many classes as the last axis of `scores` has: also if only the call knows how many.
///
/// dtype: `T`, or else that of scores, float if those are not floating.
template <class T = void, handle X, handle Scores>
constexpr auto one_hot(X const& labels, Scores const& scores) {
    using score = typename Scores::value_type;
    using result =
        std::conditional_t<!std::is_void_v<T>, T, std::conditional_t<is_floating(dtype_of<score>), score, float>>;
    if (scores.rank() == 0) {
        graph::value const like = scores.value();
        like.owner->fail(graph::reason::rank_too_low, graph::code_of<graph::ops::iota>, &like.id, 1);
        return expr<result>(graph::literal(like, result(0)), scores.shared());
    }
    return one_hot<result>(labels, scores.extent(-1));
}

} // namespace v0
} // namespace calque
