// SPDX-License-Identifier: MIT
// The leaves of an argument type, in order, and the type that a traced function sees instead of it.
#pragma once

#include <calque/interop/tree_kind.hpp>

namespace calque {
inline namespace v0 {

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
inline constexpr bool is_variable_expr_v = false;
template <class T>
inline constexpr bool is_variable_expr_v<variable_expr<T>> = true;

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
        constexpr bool has_variables = std::is_same_v<typename family_of<A>::form, variables>;
        return std::type_identity<rebind_tree_t<A, std::conditional_t<has_variables, traced_variables, traced>>>{};
    } else if constexpr (is_variable_expr_v<A>) {
        return std::type_identity<expr<typename A::value_type>>{}; // what it is worth
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
