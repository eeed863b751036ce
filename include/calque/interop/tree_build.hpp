// SPDX-License-Identifier: MIT
// Builds trees leaf by leaf, in order, from types without default constructors too: `unflatten` and `tree_map`.
#pragma once

#include <calque/interop/tree_walk.hpp>

namespace calque {
inline namespace v0 {

namespace detail {

template <class Tree, class Structure, std::size_t First, class Make>
constexpr Tree build_tree(Make& make);

template <class Tree, std::size_t First, class... Fields, class... Structures, std::size_t... I, class Make>
constexpr Tree build_children(type_list<Fields...>, type_list<Structures...>, std::index_sequence<I...>, Make& make) {
    static_assert(!(std::is_array_v<Fields> || ...),
                  "calque: a struct that calque makes (a family, a result, what tree_map returns) has no C arrays: "
                  "write std::array");
    [[maybe_unused]] constexpr auto const& offsets = leaf_offsets_v<Structures...>;
    // Braces evaluate their initialisers in order, and construct fields in place.
    if constexpr (is_traced_struct_v<Tree>) {
        return Tree(typename Tree::handles{build_tree<Fields, Structures, First + offsets.values[I]>(make)...});
    } else if constexpr (is_positional_v<Tree> && requires(Tree& array) { array[0]; }) {
        return Tree{{build_tree<Fields, Structures, First + offsets.values[I]>(make)...}};
    } else {
        return Tree{build_tree<Fields, Structures, First + offsets.values[I]>(make)...};
    }
}

/// Makes a `Tree`: calls `make(type, index)`, a `std::type_identity` and a `std::integral_constant`, for its leaves.
template <class Tree, class Structure, std::size_t First, class Make>
constexpr Tree build_tree(Make& make) {
    using structure = structure_t<Structure>;
    if constexpr (is_leaf(tree_kind_v<structure>)) {
        return make(std::type_identity<Tree>{}, std::integral_constant<std::size_t, First>{});
    } else if constexpr (tree_kind_v<structure> == tree_kind::empty) {
        return Tree{};
    } else {
        using fields = typename children<Tree>::type;
        return build_children<Tree, First>(fields{}, tree_children_t<structure>{},
                                           std::make_index_sequence<fields::size>{}, make);
    }
}

} // namespace detail

/// What a traced function sees of an argument of type `A`, its handles in order from
/// `source.template next<Leaf, Handle>()`, where `Leaf` goes through `tree_leaves_t<A>`, and `Handle` through what
/// stands for it.
template <class A, class Source>
constexpr traced_t<A> unflatten(Source&& source) {
    auto make = [&source](auto type, auto index) {
        using handle = typename decltype(type)::type;
        return source.template next<type_at_t<tree_leaves_t<A>, decltype(index)::value>, handle>();
    };
    return detail::build_tree<traced_t<A>, std::remove_cvref_t<A>, 0>(make);
}

} // namespace v0
} // namespace calque
