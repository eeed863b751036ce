// SPDX-License-Identifier: MIT
// `tree_map`: a function applied leaf by leaf to trees of one structure, in traced functions and outside.
#pragma once

#include <calque/interop/tree_build.hpp>

namespace calque {
inline namespace v0 {

namespace detail {

template <class A, class B>
constexpr bool have_same_structure();

template <class... A, class... B>
constexpr bool have_same_structures(type_list<A...>, type_list<B...>) {
    if constexpr (sizeof...(A) == sizeof...(B)) {
        return (have_same_structure<A, B>() && ...);
    } else {
        return false;
    }
}

/// Whether two trees branch alike, whatever their leaves are.
template <class A, class B>
constexpr bool have_same_structure() {
    using first = structure_t<A>;
    using second = structure_t<B>;
    if constexpr (is_leaf(tree_kind_v<first>) || is_leaf(tree_kind_v<second>)) {
        return is_leaf(tree_kind_v<first>) && is_leaf(tree_kind_v<second>);
    } else if constexpr (tree_kind_v<first> == tree_kind::empty || tree_kind_v<second> == tree_kind::empty) {
        return tree_size_v<first> == 0 && tree_size_v<second> == 0;
    } else {
        return have_same_structures(tree_children_t<first>{}, tree_children_t<second>{});
    }
}

template <class... Structures>
constexpr std::size_t child_with_leaf(type_list<Structures...>, std::size_t leaf) {
    std::size_t child = 0;
    while (leaf_offsets_v<Structures...>.values[child + 1] <= leaf) {
        ++child;
    }
    return child;
}

template <class... Structures>
constexpr std::size_t first_leaf_of(type_list<Structures...>, std::size_t child) {
    return leaf_offsets_v<Structures...>.values[child];
}

/// The leaf of `tree` at position `Leaf`.
template <std::size_t Leaf, class Structure, class Tree>
constexpr auto& leaf_at(Tree& tree) {
    using structure = structure_t<Structure>;
    if constexpr (is_leaf(tree_kind_v<structure>)) {
        return tree;
    } else {
        using structures = tree_children_t<structure>;
        constexpr std::size_t child = child_with_leaf(structures{}, Leaf);
        return leaf_at<Leaf - first_leaf_of(structures{}, child), type_at_t<structures, child>>(
            with_children(tree, [](auto&... children) -> auto& {
                return std::get<child>(std::tuple<decltype(children)...>(children...));
            }));
    }
}

/// What `fn` makes of the leaves at position `Leaf`.
template <std::size_t Leaf, class Fn, class... Trees>
using mapped_leaf_t =
    decltype(std::declval<Fn&>()(leaf_at<Leaf, std::remove_const_t<Trees>>(std::declval<Trees&>())...));

/// The type of the mapped tree: tuples and arrays hold what `fn` returned; structs stay what they are, so that the
/// results must convert to their fields. A family of variables becomes one of handles: what is computed of a variable
/// is a value.
template <class Tree, std::size_t First, class Fn, class... Trees>
struct mapped_tree;

template <class Children, class Indices, std::size_t First, class Fn, class... Trees>
struct mapped_children;
template <class... Children, std::size_t... I, std::size_t First, class Fn, class... Trees>
struct mapped_children<type_list<Children...>, std::index_sequence<I...>, First, Fn, Trees...> {
    template <std::size_t Child>
    using at = typename mapped_tree<type_at_t<type_list<Children...>, Child>,
                                    First + leaf_offsets_v<Children...>.values[Child], Fn, Trees...>::type;
    using tuple = std::tuple<at<I>...>;
};

template <class Tree, std::size_t First, class Fn, class... Trees>
constexpr auto mapped_type_of() {
    constexpr tree_kind kind = tree_kind_v<structure_t<Tree>>;
    if constexpr (is_leaf(kind)) {
        return std::type_identity<std::remove_cvref_t<mapped_leaf_t<First, Fn, Trees...>>>{};
    } else if constexpr (kind == tree_kind::tuple) {
        using list = tree_children_t<Tree>;
        using mapped = mapped_children<list, std::make_index_sequence<list::size>, First, Fn, Trees...>;
        if constexpr (requires(Tree& pair) { pair.first; }) {
            return std::type_identity<std::pair<typename mapped::template at<0>, typename mapped::template at<1>>>{};
        } else if constexpr (requires(Tree& array) { array[0]; }) {
            return std::type_identity<std::array<typename mapped::template at<0>, list::size>>{};
        } else {
            return std::type_identity<typename mapped::tuple>{};
        }
    } else if constexpr (std::is_same_v<typename family_of<Tree>::form, traced_variables>) {
        return std::type_identity<rebind_tree_t<Tree, traced>>{};
    } else {
        return std::type_identity<Tree>{};
    }
}

template <class Tree, std::size_t First, class Fn, class... Trees>
struct mapped_tree {
    using type = typename decltype(mapped_type_of<std::remove_cvref_t<Tree>, First, Fn, Trees...>())::type;
};

} // namespace detail

/// Applies `fn` to the leaves of `tree` and to those at the same places of the `others`; the result has the structure
/// of `tree`: `tree_map([](auto const& p, auto const& g) { return p - 0.1f * g; }, params, gradient)`.
///
/// Works on traced trees in a traced function, and outside on host arrays and numbers, where `fn` must return an array
/// and not an unevaluated xtensor expression (which would refer to `fn`'s own variables): `xt::eval(p - 0.1f * g)`.
template <class Fn, class Tree, class... Others>
constexpr auto tree_map(Fn&& fn, Tree&& tree, Others&&... others) {
    using plain = std::remove_cvref_t<Tree>;
    constexpr bool same = (detail::have_same_structure<plain, std::remove_cvref_t<Others>>() && ...);
    static_assert(same, "calque: tree_map: the trees have different structures");
    if constexpr (!same) {
        return plain(tree); // so that the sentence above is the only error
    } else {
        auto make = [&]<class Leaf, std::size_t I>(std::type_identity<Leaf>, std::integral_constant<std::size_t, I>) {
            using result = std::remove_cvref_t<
                detail::mapped_leaf_t<I, Fn, std::remove_reference_t<Tree>, std::remove_reference_t<Others>...>>;
            static_assert(!is_unevaluated_expression_v<result>,
                          "calque: tree_map: the function returns an unevaluated xtensor expression: return "
                          "xt::eval(...)");
            // A double where the field is a float: converted, as an assignment would. An integer takes no fraction.
            if constexpr (floating<Leaf> && floating<result>) {
                return static_cast<Leaf>(
                    fn(detail::leaf_at<I, plain>(tree), detail::leaf_at<I, std::remove_cvref_t<Others>>(others)...));
            } else {
                return fn(detail::leaf_at<I, plain>(tree), detail::leaf_at<I, std::remove_cvref_t<Others>>(others)...);
            }
        };
        using mapped = typename detail::mapped_tree<plain, 0, Fn, std::remove_reference_t<Tree>,
                                                    std::remove_reference_t<Others>...>::type;
        return detail::build_tree<mapped, plain, 0>(make);
    }
}

} // namespace v0
} // namespace calque
