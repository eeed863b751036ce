// SPDX-License-Identifier: MIT
// The standard library's arrays as arguments and outputs: std::vector, std::span, std::array and C arrays.
#pragma once

#include <calque/interop/array_adaptor.hpp>

#include <array>
#include <span>
#include <vector>

namespace calque {
inline namespace v0 {

namespace detail {

/// What the one-dimensional arrays of the standard library share.
template <class T, extent_t Extent>
struct standard_array {
    using value_type = std::remove_cv_t<T>;
    using spec = calque::spec<value_type, Extent>;
    static constexpr int rank = 1;
    static constexpr bool contiguous = true;

    static constexpr std::int64_t stride(auto const& /*array*/, int /*axis*/) { return 1; }
};

} // namespace detail

/// A vector. (Not `std::vector<bool>`, which has no elements to point to.)
template <element T, class Allocator>
    requires(!std::same_as<T, bool>)
struct array_adaptor<std::vector<T, Allocator>> : detail::standard_array<T, dyn> {
    using array = std::vector<T, Allocator>;
    static constexpr bool resizable = true;

    static constexpr T const* data(array const& a) { return a.data(); }
    static constexpr T* data(array& a) { return a.data(); }
    static constexpr extent_t extent(array const& a, int /*axis*/) { return static_cast<extent_t>(a.size()); }
    static constexpr void resize(array& a, shape const& wanted) { a.resize(static_cast<std::size_t>(wanted[0])); }
};

/// A span: a view, so it is never resized. Its constness is that of its elements.
template <class T, std::size_t Extent>
    requires element<std::remove_cv_t<T>>
struct array_adaptor<std::span<T, Extent>>
    : detail::standard_array<T, Extent == std::dynamic_extent ? dyn : static_cast<extent_t>(Extent)> {
    using array = std::span<T, Extent>;

    static constexpr T* data(array const& a) { return a.data(); }
    static constexpr extent_t extent(array const& a, int /*axis*/) { return static_cast<extent_t>(a.size()); }
    static constexpr void resize(array const& a, shape const& wanted) {
        if (wanted[0] != extent(a, 0)) {
            throw_not_resizable(shape{extent(a, 0)}, wanted);
        }
    }
};

namespace detail {

/// Arrays of arrays, std::array and C arrays alike: the dtype, the extents and the first element of the innermost ones.
template <class A>
struct nested_array {};
template <element T>
struct nested_array<T> {
    using spec = calque::spec<T>;
    static constexpr auto* data(auto& element) { return &element; }
};

/// An array of `Size` arrays that have a `Spec` each.
template <class Inner, std::size_t Size, class Spec>
struct array_of_arrays;
template <class Inner, std::size_t Size, class T, extent_t... Extents>
struct array_of_arrays<Inner, Size, calque::spec<T, Extents...>> {
    using spec = calque::spec<T, static_cast<extent_t>(Size), Extents...>;
    static constexpr auto* data(auto& array) { return nested_array<Inner>::data(array[0]); }
};
template <class Inner, std::size_t Size>
    requires(Size != 0 && requires { typename nested_array<Inner>::spec; })
struct nested_array<std::array<Inner, Size>> : array_of_arrays<Inner, Size, typename nested_array<Inner>::spec> {};
template <class Inner, std::size_t Size>
    requires requires { typename nested_array<Inner>::spec; }
struct nested_array<Inner[Size]> : array_of_arrays<Inner, Size, typename nested_array<Inner>::spec> {};

/// The adaptor of arrays of fixed size, of any number of axes.
template <class Array>
struct fixed_array {
    using spec = typename nested_array<Array>::spec;
    using value_type = typename spec::value_type;
    static constexpr int rank = spec::rank;
    static constexpr bool contiguous = true;
    static_assert(sizeof(Array) == sizeof(value_type) * static_cast<std::size_t>(spec::shape.size()));

    static constexpr value_type const* data(Array const& a) { return nested_array<Array>::data(a); }
    static constexpr value_type* data(Array& a) { return nested_array<Array>::data(a); }
    static constexpr extent_t extent(Array const& /*a*/, int axis) { return spec::shape[axis]; }
    static constexpr std::int64_t stride(Array const& /*a*/, int axis) { return contiguous_strides(spec::shape)[axis]; }
    static constexpr void resize(Array& /*a*/, shape const& wanted) { require_shape(spec{}, wanted); }
};

/// A std::array without elements, which has no first one.
template <element T>
struct fixed_array<std::array<T, 0>> : standard_array<T, 0> {
    using array = std::array<T, 0>;

    static constexpr T const* data(array const& a) { return a.data(); }
    static constexpr T* data(array& a) { return a.data(); }
    static constexpr extent_t extent(array const& /*a*/, int /*axis*/) { return 0; }
    static constexpr void resize(array& /*a*/, shape const& wanted) { require_shape(calque::spec<T, 0>{}, wanted); }
};

} // namespace detail

/// `std::array<float, 3>`, and `std::array<std::array<float, 3>, 2>`: an array of two axes, row-major.
template <class Inner, std::size_t Size>
    requires(element<Inner> || requires { typename detail::nested_array<std::array<Inner, Size>>::spec; })
struct array_adaptor<std::array<Inner, Size>> : detail::fixed_array<std::array<Inner, Size>> {};

/// `float w[3]`, `float w[2][3]`.
template <class Inner, std::size_t Size>
    requires requires { typename detail::nested_array<Inner[Size]>::spec; }
struct array_adaptor<Inner[Size]> : detail::fixed_array<Inner[Size]> {};

} // namespace v0
} // namespace calque
