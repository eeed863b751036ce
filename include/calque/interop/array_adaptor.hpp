// SPDX-License-Identifier: MIT
// What makes a type an array: the customisation point, and the concepts that everything above asks.
#pragma once

#include <calque/core/error.hpp>
#include <calque/core/large_pages.hpp>
#include <calque/core/spec.hpp>
#include <calque/core/text.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace calque {
inline namespace v0 {

/// How calque reads (and writes) arrays of the type `A`, without copying them. Specialise it to pass your own arrays:
///
/// ```cpp
/// template <>
/// struct calque::array_adaptor<image> {
///     using value_type = float;
///     using spec = calque::spec<float, calque::dyn, calque::dyn>; // what the type itself guarantees
///     static constexpr int rank = spec::rank;
///     static float const* data(image const& x);                   // of the element whose indices are all 0
///     static calque::extent_t extent(image const& x, int axis);
///     static std::int64_t stride(image const& x, int axis);       // in elements; anything where the extent is 1
///     // for outputs
///     static float* data(image& x);
///     static void resize(image& x, calque::shape const& wanted);  // or throw: calque::throw_not_resizable
///     static constexpr bool resizable = true;                     // if `resize` does not throw
///     // optional: every object is contiguous and row-major, so that no stride is read
///     static constexpr bool contiguous = true;
///     // optional: the first axis has stride 1, the others ever longer ones, as of a matrix by columns
///     static constexpr bool column_major = true;
/// };
/// ```
template <class A>
struct array_adaptor;

namespace detail {

template <class A>
concept has_array_adaptor = requires { typename array_adaptor<A>::spec; };

} // namespace detail

/// A type that can be passed as an array.
template <class A>
concept array_argument = detail::has_array_adaptor<std::remove_cvref_t<A>>;

/// A type that results can be written to, `A` being the type of the expression: `xt::xtensor<float, 2>&`.
template <class A>
concept array_output = array_argument<A> && requires(std::remove_reference_t<A>& a, shape const& s) {
    {
        array_adaptor<std::remove_cvref_t<A>>::data(a)
    } -> std::same_as<typename array_adaptor<std::remove_cvref_t<A>>::value_type*>;
    array_adaptor<std::remove_cvref_t<A>>::resize(a, s);
};

/// What the type of an array guarantees: `spec<float, dyn, dyn>` of an `xt::xtensor<float, 2>`.
template <array_argument A>
using array_spec_t = typename array_adaptor<std::remove_cvref_t<A>>::spec;

/// The element type of an array.
template <array_argument A>
using array_value_t = typename array_adaptor<std::remove_cvref_t<A>>::value_type;

/// Whether every object of the array type is contiguous and row-major.
template <array_argument A>
inline constexpr bool is_always_contiguous_v = [] {
    if constexpr (requires { array_adaptor<std::remove_cvref_t<A>>::contiguous; }) {
        return array_adaptor<std::remove_cvref_t<A>>::contiguous;
    } else {
        return false;
    }
}();

/// Whether every object of the array type lies by columns: it is row-major, perhaps with gaps, with its axes reversed.
/// Programs read such arrays in that order; where a particular one lies otherwise, it is copied.
template <array_argument A>
inline constexpr bool is_column_major_v = [] {
    if constexpr (requires { array_adaptor<std::remove_cvref_t<A>>::column_major; }) {
        return array_spec_t<A>::rank > 1 && array_adaptor<std::remove_cvref_t<A>>::column_major;
    } else {
        return false;
    }
}();

/// Stands for the types of arrays that lie by columns: what programs are compiled for.
template <array_spec Spec>
struct array_by_columns {};

template <array_spec Spec>
struct array_adaptor<array_by_columns<Spec>> {
    using value_type = typename Spec::value_type;
    using spec = Spec;
    static constexpr int rank = Spec::rank;
    static constexpr bool column_major = true;
};

/// Whether outputs of the array type take other shapes. (The others throw, before any output is resized.)
template <array_argument A>
inline constexpr bool is_resizable_v = [] {
    if constexpr (requires { array_adaptor<std::remove_cvref_t<A>>::resizable; }) {
        return array_adaptor<std::remove_cvref_t<A>>::resizable;
    } else {
        return false;
    }
}();

/// The shape that an array has now.
template <array_argument A>
constexpr shape shape_of(A const& array) {
    shape result;
    for (int axis = 0; axis < array_spec_t<A>::rank; ++axis) {
        result.push_back(array_adaptor<A>::extent(array, axis));
    }
    return result;
}

/// What the adaptor of a view, or of an array of fixed size, does in `resize`, unless the shapes are equal.
[[noreturn]] CALQUE_COLD inline void throw_not_resizable(shape const& actual, shape const& wanted) {
    text message;
    message << "calque: an output of shape " << actual << " cannot become " << wanted
            << ": views, spans and arrays of fixed size are not resized; pass one of the right shape, or a container";
    throw shape_error(message.string());
}

namespace detail {

/// Gives an array another shape; its elements have no values then. Throws `shape_error` if its type cannot.
template <array_output A>
void resize(A& array, shape const& wanted) {
    using adaptor = array_adaptor<std::remove_const_t<A>>;
    adaptor::resize(array, wanted);
    prefer_large_pages(adaptor::data(array), static_cast<std::size_t>(wanted.size()) * sizeof(array_value_t<A>));
}

/// The first axis where two shapes of one rank differ; a declared extent that is not static differs from none.
constexpr int first_mismatch(shape const& actual, shape const& declared) {
    int axis = 0;
    while (axis < declared.rank && (!is_static(declared[axis]) || actual[axis] == declared[axis])) {
        ++axis;
    }
    return axis;
}

/// The spec of an array of which only the rank is known.
template <class T, class Axes>
struct dynamic_spec;
template <class T, std::size_t... Axis>
struct dynamic_spec<T, std::index_sequence<Axis...>> {
    using type = spec<T, (static_cast<void>(Axis), dyn)...>;
};

template <class T, std::size_t Rank>
using dynamic_spec_t = typename dynamic_spec<T, std::make_index_sequence<Rank>>::type;

/// The `resize` of an array whose type fixes its shape.
template <class T, extent_t... Extents>
constexpr void require_shape(spec<T, Extents...>, shape const& wanted) {
    if (!(wanted == shape{Extents...})) {
        throw_not_resizable(shape{Extents...}, wanted);
    }
}

} // namespace detail

} // namespace v0
} // namespace calque
