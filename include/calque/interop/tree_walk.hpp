// SPDX-License-Identifier: MIT
// Walks over the leaves of trees, in order, and the paths that messages name them by: `layers[1].w`.
#pragma once

#include <calque/core/text.hpp>
#include <calque/interop/traced_struct.hpp>

#include <string>

namespace calque {
inline namespace v0 {

namespace detail {

/// Where the leaves of each child begin among those of their parent; the last entry is the number of all.
template <class... Children>
struct leaf_offsets {
    std::size_t values[sizeof...(Children) + 1]{};

    constexpr leaf_offsets() {
        std::size_t const sizes[] = {tree_size_v<Children>..., 0};
        for (std::size_t i = 0; i < sizeof...(Children); ++i) {
            values[i + 1] = values[i] + sizes[i];
        }
    }
};

template <class... Children>
inline constexpr leaf_offsets<Children...> leaf_offsets_v{};

/// Calls `fn` with references to the children of a tree. (No std::apply: its layers fill the notes of every error in a
/// traced function.)
template <class Tree, class Fn>
CALQUE_INLINE constexpr decltype(auto) with_children(Tree& tree, Fn&& fn) {
    using plain = std::remove_const_t<Tree>;
    if constexpr (std::is_array_v<plain>) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) CALQUE_INLINE_LAMBDA -> decltype(auto) {
            return fn(tree[I]...);
        }(std::make_index_sequence<std::extent_v<plain>>{});
    } else if constexpr (is_positional_v<plain>) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) CALQUE_INLINE_LAMBDA -> decltype(auto) {
            return fn(std::get<I>(tree)...);
        }(std::make_index_sequence<std::tuple_size_v<plain>>{});
    } else if constexpr (is_traced_struct_v<plain>) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) CALQUE_INLINE_LAMBDA -> decltype(auto) {
            return fn(tree.template get<I>()...);
        }(std::make_index_sequence<std::tuple_size_v<plain>>{});
    } else {
        return with_fields(tree, fn);
    }
}

/// Whether a tree of a type such as `Tree` has children to walk.
template <class Tree>
constexpr bool branches() {
    if constexpr (is_positional_v<Tree> || is_family_v<Tree> || is_traced_struct_v<Tree>) {
        return true;
    } else {
        return tree_kind_v<Tree> == tree_kind::aggregate;
    }
}

template <class Structure, std::size_t First, class Tree, class Fn>
CALQUE_INLINE constexpr void visit_leaves(Tree& tree, Fn& fn);

template <std::size_t First, class... Structures, std::size_t... I, class Fn, class... Children>
CALQUE_INLINE constexpr void visit_children(type_list<Structures...>, std::index_sequence<I...>, Fn& fn,
                                            Children&... children) {
    constexpr bool as_many = sizeof...(Structures) == sizeof...(Children);
    static_assert(as_many, "calque: the outputs do not have the structure of the function's result");
    if constexpr (as_many) {
        (visit_leaves<Structures, First + leaf_offsets_v<Structures...>.values[I]>(children, fn), ...);
    }
}

template <class Structure, std::size_t First, class Tree, class Fn>
CALQUE_INLINE constexpr void visit_leaves(Tree& tree, Fn& fn) {
    using structure = structure_t<Structure>;
    if constexpr (is_leaf(tree_kind_v<structure>)) {
        fn(std::integral_constant<std::size_t, First>{}, tree);
    } else if constexpr (tree_kind_v<structure> != tree_kind::empty) {
        static_assert(branches<std::remove_const_t<Tree>>(),
                      "calque: the outputs do not have the structure of the function's result");
        if constexpr (branches<std::remove_const_t<Tree>>()) {
            with_children(tree, [&fn](auto&... children) CALQUE_INLINE_LAMBDA {
                visit_children<First>(tree_children_t<structure>{}, std::index_sequence_for<decltype(children)...>{},
                                      fn, children...);
            });
        }
    }
}

} // namespace detail

/// Calls `fn(index, leaf)` for each leaf of `tree` in order; `index` is a `std::integral_constant`, so that
/// `type_at_t<tree_leaves_t<Tree>, index>` is the leaf's spec.
///
/// `Structure` is the type that says what is a leaf, where that is not the tree's own: a function's result type, say,
/// for a tuple of references to outputs.
template <class Structure = void, class Tree, class Fn>
CALQUE_INLINE constexpr void for_each_indexed_leaf(Tree&& tree, Fn&& fn) {
    detail::visit_leaves<std::conditional_t<std::is_void_v<Structure>, std::remove_cvref_t<Tree>, Structure>, 0>(tree,
                                                                                                                 fn);
}

/// Calls `fn(leaf)` for each leaf of `tree` in order: arrays, numbers, handles; they can be changed if the tree can.
template <class Tree, class Fn>
constexpr void for_each_leaf(Tree&& tree, Fn&& fn) {
    for_each_indexed_leaf(tree, [&fn](auto /*index*/, auto& leaf) { fn(leaf); });
}

namespace detail {

template <class Structure, std::size_t Child>
constexpr void append_child_name(text& path) {
    if constexpr (is_traced_struct_v<Structure>) {
        append_child_name<typename Structure::struct_type, Child>(path);
    } else if constexpr (requires(Structure& pair) {
                             pair.first;
                             pair.second;
                         } && is_positional_v<Structure>) {
        path << (Child == 0 ? ".first" : ".second");
    } else if constexpr (is_positional_v<Structure>) {
        path << '[' << Child << ']';
    } else {
        path << '.' << field_name_v<Structure, Child>;
    }
}

} // namespace detail

/// Appends the path of the leaf at position `leaf` of a tree: `.layers[1].w`; nothing if the tree is a leaf.
template <class Tree>
constexpr void append_leaf_path(text& path, std::size_t leaf) {
    using structure = structure_t<Tree>;
    if constexpr (!is_leaf(tree_kind_v<structure>) && tree_kind_v<structure> != tree_kind::empty) {
        [&]<class... Children, std::size_t... I>(type_list<Children...>, std::index_sequence<I...>) {
            constexpr auto const& offsets = detail::leaf_offsets_v<Children...>;
            auto const descend = [&]<class Child, std::size_t J>(std::type_identity<Child>,
                                                                 std::integral_constant<std::size_t, J>) {
                if (offsets.values[J] <= leaf && leaf < offsets.values[J + 1]) {
                    detail::append_child_name<structure, J>(path);
                    append_leaf_path<Child>(path, leaf - offsets.values[J]);
                }
            };
            (descend(std::type_identity<Children>{}, std::integral_constant<std::size_t, I>{}), ...);
        }(tree_children_t<structure>{}, std::make_index_sequence<tree_children_t<structure>::size>{});
    }
}

/// The path of the leaf at position `leaf` of a tree: `.layers[1].w`. For messages, so never inlined.
template <class Tree>
CALQUE_COLD std::string leaf_path(std::size_t leaf) {
    text path;
    append_leaf_path<Tree>(path, leaf);
    return path.string();
}

/// Calls `fn(path, leaf)` for each leaf of `tree` in order: `fn("argument 0.layers[1].w", w)` with such a `prefix`.
template <class Tree, class Fn>
void for_each_leaf_with_path(Tree&& tree, std::string const& prefix, Fn&& fn) {
    for_each_indexed_leaf(
        tree, [&](auto index, auto& leaf) { fn(prefix + leaf_path<std::remove_cvref_t<Tree>>(index), leaf); });
}

} // namespace v0
} // namespace calque
