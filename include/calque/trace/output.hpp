// SPDX-License-Identifier: MIT
// What a traced function returns, as a type: `output_t`. And whether every extent is known to the compiler.
#pragma once

#include <calque/trace/trace.hpp>

#include <array>
#include <tuple>
#include <utility>

namespace calque {
inline namespace v0 {
namespace detail {

/// The shape of output `Output` of a program.
template <class Program, std::size_t Output>
inline constexpr shape output_shape_v =
    Program::graph.shapes[Program::graph.nodes[Program::graph.outputs[Output]].shape];

template <class Program, std::size_t Output, class T, std::size_t... Axis>
constexpr auto output_spec(std::index_sequence<Axis...>) {
    return std::type_identity<spec<T, output_shape_v<Program, Output>.extents[Axis]...>>{};
}

/// Whether a result of shape `actual` can be stored in a family's leaf that is declared with some extents.
constexpr bool fits(shape const& actual, shape const& declared) {
    bool result = actual.rank == declared.rank;
    for (int axis = 0; result && axis < actual.rank; ++axis) {
        result = !is_static(actual[axis]) || !is_static(declared[axis]) || actual[axis] == declared[axis];
    }
    return result;
}

template <class Program, std::size_t First, class... Leaves, std::size_t... I>
constexpr bool leaves_fit(type_list<Leaves...>, std::index_sequence<I...>) {
    return (fits(output_shape_v<Program, First + I>, Leaves::shape) && ... && true);
}

template <class... T>
constexpr auto tuple_or_array(std::type_identity<T>...) {
    return std::type_identity<std::tuple<T...>>{};
}
template <class T, class... Rest>
    requires(std::is_same_v<T, Rest> && ...)
constexpr auto tuple_or_array(std::type_identity<T>, std::type_identity<Rest>...) {
    return std::type_identity<std::array<T, 1 + sizeof...(Rest)>>{};
}

template <class Program, class Result, std::size_t First>
constexpr auto output_type();

template <class Program, class Result, std::size_t First, class... Children, std::size_t... I>
constexpr auto output_type_of_children(type_list<Children...>, std::index_sequence<I...>) {
    [[maybe_unused]] constexpr auto const& offsets = leaf_offsets_v<Children...>;
    if constexpr (requires { typename Result::first_type; }) {
        return std::type_identity<
            std::pair<typename decltype(output_type<Program, Children, First + offsets.values[I]>())::type...>>{};
    } else if constexpr (requires(Result& array) { array[0]; } && sizeof...(I) != 0) {
        return tuple_or_array(output_type<Program, Children, First + offsets.values[I]>()...);
    } else {
        return std::type_identity<
            std::tuple<typename decltype(output_type<Program, Children, First + offsets.values[I]>())::type...>>{};
    }
}

/// What stands for a result of type `Result`, whose leaves are the outputs of `Program` from `First` on.
template <class Program, class Result, std::size_t First>
constexpr auto output_type() {
    constexpr tree_kind kind = tree_kind_v<Result>;
    if constexpr (kind == tree_kind::handle || kind == tree_kind::number || kind == tree_kind::boolean) {
        return output_spec<Program, First, element_of_t<Result>>(
            std::make_index_sequence<static_cast<std::size_t>(output_shape_v<Program, First>.rank)>{});
    } else if constexpr (kind == tree_kind::family) {
        using declared = rebind_tree_t<Result, specs>;
        static_assert(
            leaves_fit<Program, First>(tree_leaves_t<declared>{}, std::make_index_sequence<tree_size_v<declared>>{}),
            "calque: a leaf of the result does not have the extents that its family declares");
        return std::type_identity<declared>{};
    } else if constexpr (kind == tree_kind::traced_struct) {
        return std::type_identity<typename Result::struct_type>{};
    } else if constexpr (kind == tree_kind::empty) {
        return std::type_identity<Result>{};
    } else {
        return output_type_of_children<Program, Result, First>(
            tree_children_t<Result>{}, std::make_index_sequence<tree_children_t<Result>::size>{});
    }
}

template <class Program, class Result>
struct output {
    using type = typename decltype(output_type<Program, Result, 0>())::type;
};
template <class Program>
struct output<Program, void> {
    using type = void;
};

template <class Leaf>
constexpr bool is_static_leaf() {
    if constexpr (is_spec<Leaf>) {
        return Leaf::is_static;
    } else {
        return true;
    }
}

template <class... Leaves>
constexpr bool are_static_leaves(type_list<Leaves...>) {
    return (is_static_leaf<Leaves>() && ... && true);
}

template <class Program, std::size_t... I>
constexpr bool are_static_outputs(std::index_sequence<I...>) {
    return (output_shape_v<Program, I>.is_static() && ... && true);
}

template <class F, class... Args>
constexpr bool is_static() {
    if constexpr ((are_static_leaves(tree_leaves_t<Args>{}) && ... && true)) {
        using program = program_of<F, Args...>;
        return are_static_outputs<program>(std::make_index_sequence<static_cast<std::size_t>(program::output_count)>{});
    } else {
        return false;
    }
}

} // namespace detail

/// What `F` returns for arguments of some specs (or host types): the spec of an array, a tuple of those, a family in
/// its `specs` form, a plain struct for the `traced_struct` of it.
template <class F, class... Args>
using output_t =
    typename detail::output<detail::program_of<F, Args...>, typename detail::program_of<F, Args...>::result>::type;

/// Whether all extents of the arguments and the results are known to the compiler: such a call never traces.
template <class F, class... Args>
inline constexpr bool is_static_v = detail::is_static<F, Args...>();

} // namespace v0
} // namespace calque
