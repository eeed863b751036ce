// SPDX-License-Identifier: MIT
// Traced arrays made from nothing, or in the shape of another.
#pragma once

#include <calque/graph/compositions.hpp>
#include <calque/trace/apply.hpp>

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

/// An array of one value: `full<float>(0.5f, 3, 4)`.
template <element T, std::integral... Extents>
constexpr expr<T> full(std::type_identity_t<T> value, Extents... extents) {
    return detail::make_detached<T>([&](graph::value anchor) {
        return graph::broadcast_to(graph::literal(anchor, value), shape{static_cast<extent_t>(extents)...});
    });
}

template <element T, std::integral... Extents>
constexpr expr<T> zeros(Extents... extents) {
    return full<T>(T(0), extents...);
}

template <element T, std::integral... Extents>
constexpr expr<T> ones(Extents... extents) {
    return full<T>(T(1), extents...);
}

/// 0, 1, ..., n - 1. Shape: [n]; n is known to the compiler.
template <element T>
constexpr expr<T> arange(std::integral auto n) {
    return detail::make_detached<T>([&](graph::value anchor) {
        graph::value const like = graph::broadcast_to(anchor, shape{static_cast<extent_t>(n)});
        return graph::iota_like(like, 0, dtype_of<T>);
    });
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
constexpr expr<T> one_hot(X const& labels, extent_t classes) {
    static_assert(is_integer(dtype_of<typename X::value_type>), "calque: one_hot takes integer labels");
    return expr<T>(graph::one_hot(labels.value(), classes, dtype_of<T>), labels.shared());
}

} // namespace v0
} // namespace calque
