// SPDX-License-Identifier: MIT
// Pytrees as types: which arguments are leaves, which are trees of them, and what a traced function sees instead.
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
             std::is_same_v<Form, specs>)
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
    } else if constexpr (std::is_arithmetic_v<A>) {
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

namespace detail {

template <class Field>
constexpr bool is_field_of_family() {
    constexpr tree_kind kind = tree_kind_v<Field>;
    if constexpr (std::is_array_v<Field>) {
        return is_field_of_family<std::remove_all_extents_t<Field>>();
    } else {
        return kind == tree_kind::spec || kind == tree_kind::tuple || kind == tree_kind::family ||
               kind == tree_kind::empty;
    }
}

template <class... Fields>
constexpr bool are_fields_of_family(type_list<Fields...>) {
    return (is_field_of_family<Fields>() && ...);
}

template <class... Children>
constexpr auto leaves_of_children(type_list<Children...>);

template <class A>
constexpr auto leaves_of() {
    using tree = structure_t<A>;
    constexpr tree_kind kind = tree_kind_v<tree>;
    static_assert(require_tree<tree>());
    if constexpr (kind == tree_kind::custom) {
        return type_list<typename leaf_traits<tree>::leaf>{};
    } else if constexpr (kind == tree_kind::boolean) {
        return type_list<spec<bool>>{};
    } else if constexpr (kind == tree_kind::number) {
        return type_list<typename canonical<tree>::type>{};
    } else if constexpr (kind == tree_kind::array) {
        return type_list<array_spec_t<tree>>{};
    } else if constexpr (is_leaf(kind)) {
        return type_list<tree>{};
    } else if constexpr (kind == tree_kind::unsupported || kind == tree_kind::empty) {
        return type_list<>{};
    } else {
        if constexpr (std::is_same_v<typename family_of<tree>::form, specs>) {
            static_assert(are_fields_of_family(tree_children_t<tree>{}),
                          "calque: the fields of a template <class M> struct are calque::leaf<M, T, extents...>, "
                          "other such structs with the same M, and tuples or arrays of these");
        }
        return leaves_of_children(tree_children_t<tree>{});
    }
}

template <class... Children>
constexpr auto leaves_of_children(type_list<Children...>) {
    return concatenate_t<decltype(leaves_of<Children>())...>{};
}

template <class A>
struct tree_leaves {
    using type = decltype(leaves_of<A>());
};

} // namespace detail

/// The leaves of an argument type, in order: the spec of an array; the declared specs of a family; the arithmetic type
/// itself for a weak number. A spec stands for itself.
template <class A>
using tree_leaves_t = typename detail::tree_leaves<std::remove_cvref_t<A>>::type;

/// The number of leaves of a tree.
template <class A>
inline constexpr std::size_t tree_size_v = tree_leaves_t<A>::size;

namespace detail {

template <class A>
constexpr auto traced_type_of();

template <class A>
struct traced_type {
    using type = typename decltype(traced_type_of<A>())::type;
};
template <class... T>
struct traced_type<std::tuple<T...>> {
    using type = std::tuple<typename traced_type<std::remove_cvref_t<T>>::type...>;
};
template <class A, class B>
struct traced_type<std::pair<A, B>> {
    using type = std::pair<typename traced_type<std::remove_cvref_t<A>>::type,
                           typename traced_type<std::remove_cvref_t<B>>::type>;
};
template <class T, std::size_t Size>
    requires(!array_argument<std::array<T, Size>>)
struct traced_type<std::array<T, Size>> {
    using type = std::array<typename traced_type<std::remove_cv_t<T>>::type, Size>;
};
template <class T, std::size_t Size>
    requires(!array_argument<T[Size]>)
struct traced_type<T[Size]> {
    using type = std::array<typename traced_type<std::remove_cv_t<T>>::type, Size>;
};

template <class A>
constexpr auto traced_type_of() {
    constexpr tree_kind kind = tree_kind_v<A>;
    static_assert(require_tree<A>());
    if constexpr (kind == tree_kind::spec) {
        return std::type_identity<expr<typename A::value_type>>{};
    } else if constexpr (kind == tree_kind::custom) {
        return std::type_identity<typename leaf_traits<A>::handle>{};
    } else if constexpr (kind == tree_kind::boolean) {
        return std::type_identity<expr<bool>>{};
    } else if constexpr (kind == tree_kind::number) {
        return std::type_identity<weak_expr<typename canonical<A>::type>>{};
    } else if constexpr (kind == tree_kind::array) {
        return std::type_identity<expr<array_value_t<A>>>{};
    } else if constexpr (kind == tree_kind::family) {
        return std::type_identity<rebind_tree_t<A, traced>>{};
    } else if constexpr (kind == tree_kind::aggregate) {
        return std::type_identity<traced_struct<A>>{};
    } else {
        return std::type_identity<A>{}; // a handle, a traced struct, an empty type
    }
}

} // namespace detail

/// What a traced function sees of an argument: `expr<float>` of an array, `dense<traced>` of a `dense<host>`,
/// `weak_expr<double>` of a number, `traced_struct<config>` of a plain struct.
template <class A>
using traced_t = typename detail::traced_type<std::remove_cvref_t<A>>::type;

} // namespace v0
} // namespace calque
