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

template <element T, std::size_t Size>
struct array_adaptor<std::array<T, Size>> : detail::standard_array<T, static_cast<extent_t>(Size)> {
    using array = std::array<T, Size>;

    static constexpr T const* data(array const& a) { return a.data(); }
    static constexpr T* data(array& a) { return a.data(); }
    static constexpr extent_t extent(array const& /*a*/, int /*axis*/) { return static_cast<extent_t>(Size); }
    static constexpr void resize(array& /*a*/, shape const& wanted) {
        detail::require_shape(calque::spec<T, static_cast<extent_t>(Size)>{}, wanted);
    }
};

template <element T, std::size_t Size>
struct array_adaptor<T[Size]> : detail::standard_array<T, static_cast<extent_t>(Size)> {
    static constexpr T const* data(T const (&a)[Size]) { return a; }
    static constexpr T* data(T (&a)[Size]) { return a; }
    static constexpr extent_t extent(T const (& /*a*/)[Size], int /*axis*/) { return static_cast<extent_t>(Size); }
    static constexpr void resize(T (& /*a*/)[Size], shape const& wanted) {
        detail::require_shape(calque::spec<T, static_cast<extent_t>(Size)>{}, wanted);
    }
};

/// A C array of two axes, row-major: `float w[2][3]`.
template <element T, std::size_t Rows, std::size_t Columns>
struct array_adaptor<T[Rows][Columns]> {
    using array = T[Rows][Columns];
    using value_type = T;
    using spec = calque::spec<T, static_cast<extent_t>(Rows), static_cast<extent_t>(Columns)>;
    static constexpr int rank = 2;
    static constexpr bool contiguous = true;

    static constexpr T const* data(array const& a) { return a[0]; }
    static constexpr T* data(array& a) { return a[0]; }
    static constexpr extent_t extent(array const& /*a*/, int axis) { return spec::shape[axis]; }
    static constexpr std::int64_t stride(array const& /*a*/, int axis) {
        return axis == 0 ? static_cast<std::int64_t>(Columns) : 1;
    }
    static constexpr void resize(array& /*a*/, shape const& wanted) { detail::require_shape(spec{}, wanted); }
};

} // namespace v0
} // namespace calque
