// SPDX-License-Identifier: MIT
// Results: the host type that a caller gets for what a traced function returns, and its making without touching memory.
#pragma once

#include <calque/interop/bind.hpp>
#include <calque/interop/tree_build.hpp>

namespace calque {
inline namespace v0 {

namespace detail {

template <class Result, class Outputs, std::size_t First>
constexpr auto host_type_of();

template <class Result, class Outputs, std::size_t First>
using host_type_t = typename decltype(host_type_of<Result, Outputs, First>())::type;

template <class Result, class Outputs, std::size_t First, class... Children, std::size_t... I>
constexpr auto host_type_of_children(type_list<Children...>, std::index_sequence<I...>) {
    [[maybe_unused]] constexpr auto const& offsets = leaf_offsets_v<Children...>;
    if constexpr (requires(Result& pair) { pair.first; }) {
        return std::type_identity<std::pair<host_type_t<Children, Outputs, First + offsets.values[I]>...>>{};
    } else if constexpr (requires(Result& array) { array[0]; }) {
        using list = type_list<host_type_t<Children, Outputs, First + offsets.values[I]>...>;
        static_assert(
            (std::is_same_v<host_type_t<Children, Outputs, First + offsets.values[I]>, type_at_t<list, 0>> && ...),
            "calque: the results in a std::array differ in rank or static shape: return a std::tuple");
        return std::type_identity<std::array<type_at_t<list, 0>, sizeof...(Children)>>{};
    } else {
        return std::type_identity<std::tuple<host_type_t<Children, Outputs, First + offsets.values[I]>...>>{};
    }
}

template <class Result, class Outputs, std::size_t First>
constexpr auto host_type_of() {
    using result = std::remove_cvref_t<Result>;
    constexpr tree_kind kind = tree_kind_v<result>;
    if constexpr (std::is_void_v<result>) {
        return std::type_identity<void>{};
    } else if constexpr (is_leaf(kind)) {
        return std::type_identity<output_array_t<type_at_t<Outputs, First>>>{};
    } else if constexpr (kind == tree_kind::tuple) {
        return host_type_of_children<result, Outputs, First>(tree_children_t<result>{},
                                                             std::make_index_sequence<tree_children_t<result>::size>{});
    } else if constexpr (kind == tree_kind::family) {
        return std::type_identity<rebind_tree_t<result, host>>{};
    } else if constexpr (kind == tree_kind::traced_struct) {
        return std::type_identity<typename result::struct_type>{};
    } else {
        static_assert(kind == tree_kind::empty,
                      "calque: a traced function returns traced values, or tuples, pairs, std::arrays and "
                      "template <class M> structs of these");
        return std::type_identity<result>{};
    }
}

/// The specs that a result's type declares: those of its families; elsewhere the outputs themselves.
template <class Result, class Outputs, std::size_t First>
constexpr bool fits_declared_leaves();

template <class Outputs, std::size_t First, class... Children, std::size_t... I>
constexpr bool children_fit(type_list<Children...>, std::index_sequence<I...>) {
    [[maybe_unused]] constexpr auto const& offsets = leaf_offsets_v<Children...>;
    return (fits_declared_leaves<Children, Outputs, First + offsets.values[I]>() && ...);
}

template <class Result, class Outputs, std::size_t First>
constexpr bool fits_declared_leaves() {
    constexpr tree_kind kind = tree_kind_v<Result>;
    if constexpr (kind == tree_kind::spec) {
        return are_compatible<Result, type_at_t<Outputs, First>>();
    } else if constexpr (kind == tree_kind::family) {
        using declared = rebind_tree_t<Result, specs>;
        return children_fit<Outputs, First>(tree_children_t<declared>{},
                                            std::make_index_sequence<tree_children_t<declared>::size>{});
    } else if constexpr (kind == tree_kind::tuple) {
        return children_fit<Outputs, First>(tree_children_t<Result>{},
                                            std::make_index_sequence<tree_children_t<Result>::size>{});
    } else {
        return true;
    }
}

} // namespace detail

/// What a caller gets for a traced function's result type `Result`, whose leaves are the specs `Outputs` (a type_list):
/// arrays for handles, `dense<host>` for `dense<traced>`, `C` for `traced_struct<C>`, tuples of these for tuples.
template <class Result, class Outputs>
using host_result_t = detail::host_type_t<Result, Outputs, 0>;

namespace detail {

template <class A>
[[noreturn]] CALQUE_COLD void throw_not_static(extent_t const* extents) {
    shape actual;
    for (int axis = 0; axis < array_spec_t<A>::rank; ++axis) {
        actual.push_back(extents[axis]);
    }
    throw_shape_mismatch("the result", actual, array_spec_t<A>::shape);
}

} // namespace detail

/// An array of these extents, or a number. Its elements have no values yet, where the type allows that.
template <class A>
CALQUE_INLINE A make_array(extent_t const* extents) {
    if constexpr (arithmetic<A>) {
        return A{};
    } else if constexpr (detail::is_xtensor_container_v<A>) {
        typename A::shape_type sizes;
        for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
            sizes[axis] = static_cast<typename A::size_type>(extents[axis]);
        }
        A array(sizes);
        detail::prefer_large_pages(array.data(), array.size() * sizeof(typename A::value_type));
        return array;
    } else if constexpr (array_spec_t<A>::is_static) {
        for (int axis = 0; axis < array_spec_t<A>::rank; ++axis) {
            if (extents[axis] != array_spec_t<A>::shape[axis]) [[unlikely]] {
                detail::throw_not_static<A>(extents);
            }
        }
        return A(); // made in place: a copy would read what has no values yet
    } else {
        A array;
        if (!detail::has_extents(array, extents)) [[unlikely]] {
            detail::resize_output(array, extents);
        }
        return array;
    }
}

/// The result of a call, its arrays of the right shapes but without values: `extents_of(index)` gives a pointer to the
/// extents of the output at `index`, a `std::integral_constant`. Fill it through `bind_outputs`.
template <class Result, class Outputs, class ExtentsOf>
CALQUE_INLINE host_result_t<Result, Outputs> make_result(ExtentsOf const& extents_of) {
    static_assert(detail::fits_declared_leaves<Result, Outputs, 0>(),
                  "calque: the result does not fit its struct: another dtype, rank or static extent than the "
                  "calque::leaf declares");
    auto make = [&extents_of](auto type, auto index) CALQUE_INLINE_LAMBDA {
        using array = typename decltype(type)::type;
        return make_array<array>(extents_of(index));
    };
    return detail::build_tree<host_result_t<Result, Outputs>, Result, 0>(make);
}

/// Binds the outputs of a call: calls `fn(index, ref)` for each leaf, with a `std::integral_constant` and an
/// `array_ref`.
///
/// `tree` is a host result, an array or number for a single output, or a tree of these with the structure of `Result`:
/// `std::tie(a, b)`, a family of host arrays. Arrays of another shape are resized; those that cannot be throw.
template <class Result, class Outputs, class Tree, class ExtentsOf, class Fn>
CALQUE_INLINE void bind_outputs(Tree&& tree, ExtentsOf const& extents_of, Fn&& fn) {
    for_each_indexed_leaf<Result>(tree, [&](auto index, auto& leaf) CALQUE_INLINE_LAMBDA {
        fn(index, bind_output<type_at_t<Outputs, decltype(index)::value>>(leaf, extents_of(index)));
    });
}

} // namespace v0
} // namespace calque
