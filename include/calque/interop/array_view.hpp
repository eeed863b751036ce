// SPDX-License-Identifier: MIT
// Raw pointers as arguments and outputs: `array_view(pointer, shape, strides)`.
#pragma once

#include <calque/interop/array_adaptor.hpp>

#include <array>

namespace calque {
inline namespace v0 {

namespace detail {

/// As many integers as an array has axes: extents or strides. From a braced list of any integer types, `{rows, 3}`, or
/// a `std::array`, of which either has one length, so that a list says by itself of which rank an array is.
template <int Rank>
struct axis_numbers {
    std::int64_t values[Rank == 0 ? 1 : Rank]{};

    template <std::integral... I>
        requires(sizeof...(I) == Rank)
    constexpr axis_numbers(I... numbers) : values{static_cast<std::int64_t>(numbers)...} {}

    template <std::integral I>
        requires(Rank != 0)
    constexpr axis_numbers(std::array<I, static_cast<std::size_t>(Rank)> const& numbers) {
        for (int axis = 0; axis < Rank; ++axis) {
            values[axis] = static_cast<std::int64_t>(numbers[static_cast<std::size_t>(axis)]);
        }
    }
};

} // namespace detail

/// An array that lies at a pointer and belongs to somebody else: an argument, and an output if `T` is not const.
///
///     calque::array_view(pointer, {rows, columns})              row-major
///     calque::array_view(pointer, {rows, columns}, {1, rows})   any strides, in elements: here column-major
///
/// `pointer` is of the element whose indices are all 0, so strides may be negative; a stride of 0 repeats an input.
/// The rank is that of the shape. `Contiguous`: row-major without gaps, as the constructor without strides says.
/// Extents that the compiler is to know are said by `with_shape<64, 784>(view)`. As an output it is never resized:
/// another shape is a `shape_error`.
template <class T, int Rank, bool Contiguous = true>
    requires element<std::remove_cv_t<T>>
class array_view {
public:
    constexpr array_view(T* elements, detail::axis_numbers<Rank> const& extents)
        requires Contiguous
        : data_(elements), extents_(extents), strides_(extents) {
        std::int64_t step = 1;
        for (int axis = Rank - 1; axis >= 0; --axis) {
            strides_.values[axis] = step;
            step *= extents_.values[axis];
        }
    }
    constexpr array_view(T* elements, detail::axis_numbers<Rank> const& extents,
                         detail::axis_numbers<Rank> const& strides)
        requires(!Contiguous)
        : data_(elements), extents_(extents), strides_(strides) {}

    constexpr T* data() const { return data_; }
    constexpr extent_t extent(int axis) const { return extents_.values[axis]; }
    constexpr std::int64_t stride(int axis) const { return strides_.values[axis]; }

private:
    T* data_;
    detail::axis_numbers<Rank> extents_;
    detail::axis_numbers<Rank> strides_;
};

// One guide a rank: which of them a braced list converts to says how long it is. (Scalars are passed as themselves.)
#define CALQUE_ARRAY_VIEW_OF_RANK(rank)                                                                                \
    template <class T>                                                                                                 \
    array_view(T*, detail::axis_numbers<rank>) -> array_view<T, rank, true>;                                           \
    template <class T>                                                                                                 \
    array_view(T*, detail::axis_numbers<rank>, detail::axis_numbers<rank>) -> array_view<T, rank, false>;
CALQUE_ARRAY_VIEW_OF_RANK(1)
CALQUE_ARRAY_VIEW_OF_RANK(2)
CALQUE_ARRAY_VIEW_OF_RANK(3)
CALQUE_ARRAY_VIEW_OF_RANK(4)
CALQUE_ARRAY_VIEW_OF_RANK(5)
CALQUE_ARRAY_VIEW_OF_RANK(6)
CALQUE_ARRAY_VIEW_OF_RANK(7)
CALQUE_ARRAY_VIEW_OF_RANK(8)
#undef CALQUE_ARRAY_VIEW_OF_RANK

namespace detail {

/// What the views of others' memory do in `resize`. `A` is its adaptor's argument, const because a view's elements may
/// change where it does not.
template <class A>
constexpr void require_shape_of_view(A const& view, shape const& wanted) {
    if (!(shape_of(view) == wanted)) {
        throw_not_resizable(shape_of(view), wanted);
    }
}

} // namespace detail

template <class T, int Rank, bool Contiguous>
struct array_adaptor<array_view<T, Rank, Contiguous>> {
    using view = array_view<T, Rank, Contiguous>;
    using value_type = std::remove_cv_t<T>;
    using spec = detail::dynamic_spec_t<value_type, static_cast<std::size_t>(Rank)>;
    static constexpr int rank = Rank;
    static constexpr bool contiguous = Contiguous;

    static constexpr T* data(view const& v) { return v.data(); }
    static constexpr extent_t extent(view const& v, int axis) { return v.extent(axis); }
    static constexpr std::int64_t stride(view const& v, int axis) { return v.stride(axis); }
    static constexpr void resize(view const& v, shape const& wanted) { detail::require_shape_of_view(v, wanted); }
};

namespace detail {

/// `std::mdspan` and its kin (Kokkos', others' own): a pointer, extents and strides under the names of the standard.
template <class A>
concept mdspan_like = requires(A const& a) {
    typename A::element_type;
    requires element<std::remove_cv_t<typename A::element_type>>;
    { A::rank() } -> std::integral;
    requires A::rank() <= static_cast<decltype(A::rank())>(max_rank);
    { a.data_handle() } -> std::convertible_to<typename A::element_type*>;
    { a.extent(A::rank()) } -> std::integral;
    { a.stride(A::rank()) } -> std::integral;
};

/// What the type of such a view says of an extent.
template <mdspan_like A>
constexpr extent_t static_extent_of(std::size_t axis) {
    if constexpr (requires { A::static_extent(axis); }) {
        auto const extent = A::static_extent(axis);
        return extent == static_cast<std::size_t>(-1) ? dyn : static_cast<extent_t>(extent); // -1: std::dynamic_extent
    } else {
        return dyn;
    }
}

template <class A, class Axes>
struct mdspan_spec;
template <class A, std::size_t... Axis>
struct mdspan_spec<A, std::index_sequence<Axis...>> {
    using type = spec<std::remove_cv_t<typename A::element_type>, static_extent_of<A>(Axis)...>;
};

} // namespace detail

/// Views with the interface of `std::mdspan` whose layout has strides.
template <detail::mdspan_like A>
struct array_adaptor<A> {
    using value_type = std::remove_cv_t<typename A::element_type>;
    using spec = typename detail::mdspan_spec<A, std::make_index_sequence<static_cast<std::size_t>(A::rank())>>::type;
    static constexpr int rank = spec::rank;

    static constexpr typename A::element_type* data(A const& a) { return a.data_handle(); }
    static constexpr extent_t extent(A const& a, int axis) {
        return static_cast<extent_t>(a.extent(static_cast<decltype(A::rank())>(axis)));
    }
    static constexpr std::int64_t stride(A const& a, int axis) {
        return static_cast<std::int64_t>(a.stride(static_cast<decltype(A::rank())>(axis)));
    }
    static constexpr void resize(A const& a, shape const& wanted) { detail::require_shape_of_view(a, wanted); }
};

} // namespace v0
} // namespace calque
