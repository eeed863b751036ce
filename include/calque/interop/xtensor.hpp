// SPDX-License-Identifier: MIT
// xtensor's containers, adaptors and views as arguments and outputs, without copies, in any layout.
#pragma once

#include <calque/core/compatibility_xtensor.hpp>
#include <calque/interop/array_adaptor.hpp>

#include <array>

namespace calque {
inline namespace v0 {

namespace detail {

/// The number of axes that a shape type of xtensor fixes: -1 if it is known at run time only.
template <class Shape>
inline constexpr int rank_of_shape_v = -1;
template <class U, std::size_t Rank>
inline constexpr int rank_of_shape_v<std::array<U, Rank>> = static_cast<int>(Rank);
template <std::size_t... Extents>
inline constexpr int rank_of_shape_v<xt::fixed_shape<Extents...>> = static_cast<int>(sizeof...(Extents));

/// The spec that a shape type of xtensor guarantees.
template <class T, class Shape>
struct spec_of_shape;
template <class T, class U, std::size_t Rank>
struct spec_of_shape<T, std::array<U, Rank>> {
    using type = dynamic_spec_t<T, Rank>;
};
template <class T, std::size_t... Extents>
struct spec_of_shape<T, xt::fixed_shape<Extents...>> {
    using type = spec<T, static_cast<extent_t>(Extents)...>;
};

/// Containers that own their elements: these are resized. Adaptors and views of others' elements are not.
template <class A>
inline constexpr bool is_xtensor_container_v = false;
template <class E, std::size_t Rank, xt::layout_type Layout, class Tag>
inline constexpr bool is_xtensor_container_v<xt::xtensor_container<E, Rank, Layout, Tag>> = true;
template <class E, xt::layout_type Layout, class Shape, class Tag>
inline constexpr bool is_xtensor_container_v<xt::xarray_container<E, Layout, Shape, Tag>> = true;

/// Containers and adaptors: a static row-major layout makes these contiguous (which it does not say of every view).
template <class A>
inline constexpr bool is_whole_xtensor_v = is_xtensor_container_v<A>;
template <class E, std::size_t Rank, xt::layout_type Layout, class Tag>
inline constexpr bool is_whole_xtensor_v<xt::xtensor_adaptor<E, Rank, Layout, Tag>> = true;
template <class E, xt::layout_type Layout, class Shape, class Tag>
inline constexpr bool is_whole_xtensor_v<xt::xarray_adaptor<E, Layout, Shape, Tag>> = true;
template <class T, class Shape, xt::layout_type Layout, bool Sharable, class Tag>
inline constexpr bool is_whole_xtensor_v<xt::xfixed_container<T, Shape, Layout, Sharable, Tag>> = true;

/// An expression whose elements lie in memory at regular strides.
template <class A>
concept strided_xtensor = xt::is_xexpression<A>::value && xt::has_data_interface<A>::value &&
                          xt::has_strides<A>::value && element<typename A::value_type> && requires(A const& a) {
                              { a.data() } -> std::convertible_to<typename A::value_type const*>;
                              a.data_offset();
                          };

/// Memory access to a strided xtensor expression, whatever is known of its rank.
template <strided_xtensor A>
struct xtensor_access {
    using value_type = typename A::value_type;
    static constexpr bool contiguous = is_whole_xtensor_v<A> && A::static_layout == xt::layout_type::row_major;
    static constexpr bool column_major = is_whole_xtensor_v<A> && A::static_layout == xt::layout_type::column_major;
    static constexpr bool resizable = is_xtensor_container_v<A>;

    static auto data(A const& a) { return first_element(a); }
    static auto data(A& a) { return first_element(a); }
    static int run_time_rank(A const& a) { return static_cast<int>(a.dimension()); }
    static extent_t extent(A const& a, int axis) {
        return static_cast<extent_t>(a.shape()[static_cast<std::size_t>(axis)]);
    }
    static std::int64_t stride(A const& a, int axis) {
        return static_cast<std::int64_t>(a.strides()[static_cast<std::size_t>(axis)]);
    }

    static void resize(A& a, shape const& wanted) {
        if constexpr (is_xtensor_container_v<A>) {
            typename A::shape_type extents{};
            xt::resize_container(extents, static_cast<std::size_t>(wanted.rank));
            for (int axis = 0; axis < wanted.rank; ++axis) {
                extents[static_cast<std::size_t>(axis)] = static_cast<typename A::shape_type::value_type>(wanted[axis]);
            }
            a.resize(extents);
        } else {
            shape actual;
            for (int axis = 0; axis < run_time_rank(a); ++axis) {
                actual.push_back(extent(a, axis));
            }
            if (!(actual == wanted)) {
                throw_not_resizable(actual, wanted);
            }
        }
    }

private:
    /// Views of an array without elements may begin nowhere, where an offset means nothing.
    template <class Array>
    static auto first_element(Array& a) {
        if constexpr (is_whole_xtensor_v<A>) {
            return a.data() + a.data_offset();
        } else {
            auto* const base = a.data();
            return base == nullptr ? base : base + a.data_offset();
        }
    }
};

} // namespace detail

/// `xt::xtensor`, `xt::xtensor_fixed`, `xt::adapt`ed buffers of a compile-time rank, and strided views of these.
template <detail::strided_xtensor A>
    requires(detail::rank_of_shape_v<typename A::shape_type> >= 0)
struct array_adaptor<A> : detail::xtensor_access<A> {
    using spec = typename detail::spec_of_shape<typename A::value_type, typename A::shape_type>::type;
    static constexpr int rank = spec::rank;

    static constexpr extent_t extent(A const& a, int axis) {
        if constexpr (spec::is_static) {
            return spec::shape[axis];
        } else {
            return detail::xtensor_access<A>::extent(a, axis);
        }
    }
};

/// An xtensor array whose rank is known only at run time: an `xt::xarray`, or a view of one.
template <class A>
inline constexpr bool is_array_of_run_time_rank_v = false;
template <detail::strided_xtensor A>
inline constexpr bool is_array_of_run_time_rank_v<A> = detail::rank_of_shape_v<typename A::shape_type> < 0;

/// An xtensor expression without elements in memory: a function, a reducer, a view with an index list.
template <class A>
inline constexpr bool is_unevaluated_expression_v = false;
template <class A>
    requires(xt::is_xexpression<A>::value && !xt::has_data_interface<A>::value)
inline constexpr bool is_unevaluated_expression_v<A> = true;

} // namespace v0
} // namespace calque
