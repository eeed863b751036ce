// SPDX-License-Identifier: MIT
// Pytrees as types: which types are leaves, which are trees of them, and what their children are.
//
// An argument's *structure* is read from its type alone: tuples, pairs and arrays of trees, families (leaf.hpp), plain
// structs. A host family is read through its `specs` form, because its own fields do not tell all: three scalar leaves
// in a std::array look like one array once they are floats.
#pragma once

#include <calque/core/aggregate.hpp>
#include <calque/core/type_list.hpp>
#include <calque/interop/leaf.hpp>
#include <calque/interop/with_shape.hpp>

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

namespace calque {
inline namespace v0 {

/// What a traced function sees of a plain struct `C`: interop/traced_struct.hpp.
template <class C>
class traced_struct;

/// Makes a type a leaf: `leaf` stands for it in lists of leaves, `handle` is what a traced function sees. For types
/// that are neither arrays nor numbers, such as variables; specialised beside them.
template <class A>
struct leaf_traits;

/// What a type is in a tree.
enum class tree_kind : std::uint8_t {
    unsupported,
    // leaves
    spec,   // stands for itself
    handle, // expr<T>, weak_expr<T>
    custom, // leaf_traits
    boolean,
    number, // weak: takes the dtype of the array it meets
    array,
    // trees
    tuple, // also pairs, std::array and C arrays of trees
    family,
    aggregate,
    traced_struct,
    empty // passes through unchanged: its type is all there is to know
};

constexpr bool is_leaf(tree_kind kind) {
    return kind >= tree_kind::spec && kind <= tree_kind::array;
}

namespace detail {

template <class A>
inline constexpr bool is_handle_v = false;
template <class T>
inline constexpr bool is_handle_v<expr<T>> = true;
template <class T>
inline constexpr bool is_handle_v<weak_expr<T>> = true;
template <class T>
inline constexpr bool is_handle_v<variable_expr<T>> = true;

template <class A>
inline constexpr bool is_traced_struct_v = false;
template <class C>
inline constexpr bool is_traced_struct_v<traced_struct<C>> = true;

/// Families: the form, and the same family in another form.
template <class A>
struct family_of {
    using form = void;
};
template <template <class...> class Family, class Form, class... Rest>
    requires(std::is_same_v<Form, host> || std::is_same_v<Form, traced> || std::is_same_v<Form, variables> ||
             std::is_same_v<Form, traced_variables> || std::is_same_v<Form, specs>)
struct family_of<Family<Form, Rest...>> {
    using form = Form;
    template <class M>
    using rebind = Family<M, Rest...>;
};

template <class A>
inline constexpr bool is_family_v = !std::is_void_v<typename family_of<A>::form>;

template <class T, class Indices>
struct repeated;
template <class T, std::size_t... I>
struct repeated<T, std::index_sequence<I...>> {
    template <std::size_t>
    using same = T;
    using type = type_list<same<I>...>;
};

template <class T>
auto fields_of(T& object) {
    return with_fields(object,
                       [](auto&... fields) { return type_list<std::remove_reference_t<decltype(fields)>...>{}; });
}

/// The types of a tree's children, in order.
template <class A>
struct children {
    using type = decltype(fields_of(std::declval<A&>()));
};
template <class... T>
struct children<std::tuple<T...>> {
    using type = type_list<T...>;
};
template <class A, class B>
struct children<std::pair<A, B>> {
    using type = type_list<A, B>;
};
template <class T, std::size_t Size>
struct children<std::array<T, Size>> : repeated<T, std::make_index_sequence<Size>> {};
template <class T, std::size_t Size>
struct children<T[Size]> : repeated<T, std::make_index_sequence<Size>> {};

/// Tuples, pairs, std::array and C arrays: children by position.
template <class A>
inline constexpr bool is_positional_v = std::is_array_v<A>;
template <class... T>
inline constexpr bool is_positional_v<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_positional_v<std::pair<A, B>> = true;
template <class T, std::size_t Size>
inline constexpr bool is_positional_v<std::array<T, Size>> = true;

template <class A>
concept custom_leaf = requires { typename leaf_traits<A>::leaf; };

template <class A>
constexpr tree_kind kind_of() {
    if constexpr (is_spec<A>) {
        return tree_kind::spec;
    } else if constexpr (is_handle_v<A>) {
        return tree_kind::handle;
    } else if constexpr (custom_leaf<A>) {
        return tree_kind::custom;
    } else if constexpr (std::is_same_v<A, bool>) {
        return tree_kind::boolean;
    } else if constexpr (arithmetic<A>) {
        return element<typename canonical<A>::type> ? tree_kind::number : tree_kind::unsupported;
    } else if constexpr (is_family_v<A>) {
        return tree_kind::family;
    } else if constexpr (is_traced_struct_v<A>) {
        return tree_kind::traced_struct;
    } else if constexpr (array_argument<A>) { // after what need not be complete to be recognised
        return tree_kind::array;
    } else if constexpr (is_positional_v<A>) {
        return tree_kind::tuple;
    } else if constexpr (std::is_empty_v<A>) {
        return tree_kind::empty;
    } else if constexpr (std::is_class_v<A> && std::is_aggregate_v<A>) {
        return tree_kind::aggregate;
    } else {
        return tree_kind::unsupported;
    }
}

} // namespace detail

/// What `A` (without const and reference) is in a tree.
template <class A>
inline constexpr tree_kind tree_kind_v = detail::kind_of<A>();

/// Fails to compile, with a sentence, where `A` cannot be an argument.
template <class A>
constexpr bool require_tree() {
    using plain = std::remove_cvref_t<A>;
    static_assert(!is_array_of_run_time_rank_v<plain>,
                  "calque: the rank of an xt::xarray is known only at run time: pass calque::with_rank<N>(x), "
                  "calque::with_shape<...>(x), or use dispatch");
    static_assert(!is_unevaluated_expression_v<plain>, "calque: an unevaluated xtensor expression: write xt::eval(x)");
    static_assert(tree_kind_v<plain> != tree_kind::unsupported || is_array_of_run_time_rank_v<plain> ||
                      is_unevaluated_expression_v<plain>,
                  "calque: this type is no argument: pass arrays of a calque dtype, numbers, structs without "
                  "constructors, or tuples, pairs and std::arrays of these (for other arrays specialise "
                  "calque::array_adaptor)");
    return true;
}

namespace detail {

template <class Tree, class M>
struct rebound {
    using type = Tree;
};
template <class Tree, class M>
    requires is_family_v<Tree>
struct rebound<Tree, M> {
    using type = typename family_of<Tree>::template rebind<M>;
};
template <class... T, class M>
struct rebound<std::tuple<T...>, M> {
    using type = std::tuple<typename rebound<T, M>::type...>;
};
template <class A, class B, class M>
struct rebound<std::pair<A, B>, M> {
    using type = std::pair<typename rebound<A, M>::type, typename rebound<B, M>::type>;
};
template <class T, std::size_t Size, class M>
struct rebound<std::array<T, Size>, M> {
    using type = std::array<typename rebound<T, M>::type, Size>;
};

} // namespace detail

/// A tree with its families in the form `M`: `dense<host>` becomes `dense<traced>`, in tuples and arrays too.
template <class Tree, class M>
using rebind_tree_t = typename detail::rebound<Tree, M>::type;

namespace detail {

template <class A>
struct structure {
    using type = A;
};
template <class A>
    requires std::is_same_v<typename family_of<A>::form, host>
struct structure<A> {
    using type = rebind_tree_t<A, specs>;
};

} // namespace detail

/// The type that a tree's structure is read from: a host family's `specs` form, else the type itself.
template <class A>
using structure_t = typename detail::structure<std::remove_cvref_t<A>>::type;

/// The types of the children of a structure, in order.
template <class Structure>
using tree_children_t = typename detail::children<Structure>::type;

} // namespace v0
} // namespace calque
