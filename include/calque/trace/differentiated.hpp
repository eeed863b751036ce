// SPDX-License-Identifier: MIT
// The arguments of functions that are differentiated: which ones, as values of their own, with their tangents.
#pragma once

#include <calque/interop/tree_map.hpp>
#include <calque/trace/kept_function.hpp>

#include <tuple>

namespace calque {
inline namespace v0 {
namespace detail {

/// A number that is differentiated by becomes a handle of a graph of its own.
template <class X>
constexpr auto differentiable(X const& x) {
    if constexpr (arithmetic<X>) {
        using T = typename canonical<X>::type;
        auto* const owner = new shared_builder;
        return weak_expr<T>({owner, owner->constant(dtype_of<T>, graph::to_bits<T>(x))}, owner);
    } else {
        return read_variables(x);
    }
}

/// A value of its own for a leaf: what a gradient is taken by, however else the leaf is used.
template <class Leaf>
constexpr void make_fresh(Leaf& leaf) {
    static_assert(handle<Leaf>, "calque: a tree that is differentiated by holds traced values only: this number "
                                "is a constant");
    if constexpr (handle<Leaf>) {
        static_assert(floating<typename Leaf::value_type>,
                      "calque: integers and bool have no gradient: differentiate by another argument, or pass "
                      "them in one of their own");
        leaf = Leaf(graph::apply<graph::ops::fresh>(0, leaf.value()), leaf.shared());
    }
}

template <class X>
constexpr auto fresh_tree(X const& x) {
    auto tree = differentiable(x);
    for_each_leaf(tree, [](auto& leaf) { make_fresh(leaf); });
    return tree;
}

/// Where argument `I` is among those that are differentiated by; -1 if it is not.
template <int I, int... Arguments>
constexpr int place_among() {
    int place = 0;
    for (int argument : {Arguments...}) {
        if (argument == I) {
            return place;
        }
        ++place;
    }
    return -1;
}

template <int... Arguments, int I, class Fresh, class X>
constexpr auto& original_or_fresh(std::integer_sequence<int, I>, Fresh& fresh, X& x) {
    constexpr int place = place_among<I, Arguments...>();
    if constexpr (place >= 0) {
        return std::get<static_cast<std::size_t>(place)>(fresh);
    } else {
        return x;
    }
}

/// The places of the arguments that are differentiated by: the chosen ones, or all of `Count`.
template <int Count, int... Arguments>
constexpr auto places_of() {
    if constexpr (sizeof...(Arguments) == 0) {
        return std::make_integer_sequence<int, Count>{};
    } else {
        return std::integer_sequence<int, Arguments...>{};
    }
}

/// Arguments that are passed as one: a tuple as it is, a single array or number as a tuple of it.
template <class X>
constexpr auto as_tuple(X const& x) {
    if constexpr (operand<X>) {
        return std::tuple<X>(x);
    } else {
        static_assert(is_positional_v<X>,
                      "calque: pass arguments, tangents and cotangents of several values as tuples");
        return x;
    }
}

template <class Leaf, class Direction>
constexpr bool leaf_fits() {
    if constexpr (is_expr<Leaf> && is_expr<Direction>) {
        return same_dtype<element_of_t<Leaf>, element_of_t<Direction>>;
    } else {
        return true; // a number takes the dtype
    }
}
template <class... Leaves, class... Directions>
constexpr bool leaves_fit(type_list<Leaves...>, type_list<Directions...>) {
    return (leaf_fits<Leaves, Directions>() && ... && true);
}

/// Whether `Direction`, a tree of tangents or cotangents, can be that of `Tree`; if not, fails to compile.
template <class Tree, class Direction>
constexpr bool require_direction() {
    constexpr bool branches_alike = have_same_structure<Tree, Direction>();
    static_assert(branches_alike,
                  "calque: tangents have the structure of the arguments, cotangents that of the result");
    if constexpr (branches_alike) {
        constexpr bool dtypes_agree = leaves_fit(tree_leaves_t<Tree>{}, tree_leaves_t<Direction>{});
        static_assert(dtypes_agree,
                      "calque: a tangent or cotangent has the dtype of its value: write calque::cast<...>(t)");
        return dtypes_agree;
    } else {
        return false;
    }
}

/// A tangent or cotangent of `x`, which must have its shape. `name`: of the transformation.
constexpr graph::value direction_of(graph::value x, graph::value direction, std::string_view name) {
    direction = graph::cast(direction, x.type());
    calque::shape const& to = x.shape();
    calque::shape const& from = direction.shape();
    bool agrees = to.rank == from.rank;
    for (int axis = 0; agrees && axis < to.rank; ++axis) {
        agrees = to[axis] == from[axis] || !v0::is_static(to[axis]) || !v0::is_static(from[axis]);
    }
    if (!agrees) {
        graph::node_id const operands[] = {x.id, direction.id};
        x.owner->fail(graph::reason::extents_differ, (*x.owner)[x.id].op, operands, 2, name);
        return graph::broadcast_like(graph::zero_of(x), x);
    }
    return graph::assert_shape(direction, to);
}

/// Brings the leaves of a tree into the graph of another handle.
template <class Tree>
constexpr void bring_tree_to(handle_base const& place, Tree const& tree) {
    for_each_leaf(tree, [&](auto const& leaf) {
        if constexpr (handle<std::remove_cvref_t<decltype(leaf)>>) {
            bring_together(leaf, place);
        }
    });
}

/// The first leaf of some trees of handles.
template <class... Trees>
constexpr handle_base const& first_leaf(Trees const&... trees) {
    handle_base const* first = nullptr;
    (for_each_leaf(trees, [&](auto const& leaf) { first = first == nullptr ? &leaf : first; }), ...);
    return *first;
}

} // namespace detail
} // namespace v0
} // namespace calque
