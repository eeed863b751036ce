// SPDX-License-Identifier: MIT
// `spec`: dtype and shape as a type. Specs select a compiled function; inside a trace, shapes are values.
#pragma once

#include <calque/core/dtype.hpp>
#include <calque/core/shape.hpp>

namespace calque {
inline namespace v0 {

/// The dtype and the extents of an array, as a type. `spec<float>` is a scalar.
///
/// `Extents`: static (0 or more), `calque::dyn`, or `calque::dim("name")`.
template <element T, extent_t... Extents>
struct spec {
    static_assert(sizeof...(Extents) <= static_cast<std::size_t>(max_rank), "calque: an array has at most 8 axes");

    using value_type = T;
    static constexpr int rank = static_cast<int>(sizeof...(Extents));
    static constexpr calque::shape shape{Extents...};
    static constexpr bool is_static = ((Extents >= 0) && ... && true);
};

namespace detail {

template <class S>
inline constexpr bool is_spec = false;
template <class T, extent_t... E>
inline constexpr bool is_spec<spec<T, E...>> = true;

} // namespace detail

/// A type that is a `spec`.
template <class S>
concept array_spec = detail::is_spec<S>;

} // namespace v0
} // namespace calque
