// SPDX-License-Identifier: MIT
// Functions of one example as functions of a batch: `vmap`. It nests, with itself and with derivatives.
#pragma once

#include <calque/interop/tree_map.hpp>
#include <calque/passes/vectorize.hpp>
#include <calque/trace/axes.hpp>
#include <calque/trace/kept_function.hpp>

#include <climits>
#include <tuple>

namespace calque {
inline namespace v0 {

/// In place of an axis: `vmap` passes the argument on whole, the same for all examples.
inline constexpr int unmapped = INT_MIN;

namespace detail {

/// The leaf with its mapped axis in front.
template <class Leaf>
constexpr Leaf with_axis_in_front(Leaf const& leaf, int axis) {
    graph::value const x = leaf.value();
    int const from = axis_of<graph::ops::example>(x, axis, x.rank(), "vmap"); // also an error: a scalar has no axis
    return Leaf(x.rank() == 0 ? graph::expand_dims(x, 1) : graph::move_to_front(x, from), leaf.shared());
}

/// Whether the compiler knows more of the extent of one batch than of that of another.
constexpr bool is_known_better(graph::value batch, graph::value other) {
    auto const knowledge = [](extent_t extent) { return v0::is_static(extent) ? 2 : is_named(extent) ? 1 : 0; };
    return knowledge(batch.shape()[0]) > knowledge(other.shape()[0]);
}

/// The leaf, which must have as many examples as `reference`: what the compiler does not know the call checks.
template <class Leaf>
constexpr Leaf with_same_batch(Leaf const& leaf, handle_base const& reference) {
    bring_together(leaf, reference);
    graph::value const x = leaf.value();
    graph::value const like = reference.value();
    bool const agrees = x.id == like.id || (x.shape()[0] == like.shape()[0] && x.shape()[0] != dyn);
    return Leaf(agrees ? x : graph::apply<graph::ops::same_batch>(0, x, like), leaf.shared());
}

/// Calls `fn(axis, leaf)` for the leaves of those trees that are mapped.
template <int... Axes, class Fn, class... Trees>
constexpr void for_each_mapped_leaf(Fn fn, Trees&... trees) {
    auto const visit = [&]<int Axis>(std::integral_constant<int, Axis>, auto& tree) {
        if constexpr (Axis != unmapped) {
            for_each_leaf(tree, [&](auto& leaf) { fn(Axis, leaf); });
        }
    };
    (visit(std::integral_constant<int, Axes>{}, trees), ...);
}

/// Which check has been violated first, as of now; nothing, if the function has no checks.
constexpr graph::value state_of_checks(graph::builder& owner) {
    if (owner.watches_requirements()) {
        return {&owner, owner.variable(graph::builder::violation_variable)};
    }
    return {};
}

/// Of the examples' violations, [B], the first in the order of the program is that of the batch.
constexpr void join_states(graph::value states) {
    graph::value const first = graph::squeeze(graph::reduce_min(states, 1), 1);
    states.owner->assign(graph::builder::violation_variable, first.id);
}

template <class... Leaves>
constexpr bool are_arrays(type_list<Leaves...>) {
    return (is_expr<Leaves> && ... && true);
}

} // namespace detail

/// A function that maps another one over axes of its arguments; `vmap` makes it.
template <class F, int... Axes>
class mapped_function : detail::kept_function<F> {
public:
    using detail::kept_function<F>::kept_function;

    template <class... X>
    constexpr auto operator()(X... x) const {
        if constexpr (sizeof...(Axes) == 0) {
            return map<(static_cast<void>(std::type_identity<X>{}), 0)...>(std::index_sequence_for<X...>{}, x...);
        } else {
            return map<Axes...>(std::index_sequence_for<X...>{}, x...);
        }
    }

private:
    /// What is mapped of a variable is its value.
    template <int Axis, class X>
    static constexpr auto mapped(X const& x) {
        if constexpr (Axis == unmapped) {
            return x;
        } else {
            return detail::read_variables(x);
        }
    }
    template <int Axis, class X>
    using mapped_t = decltype(mapped<Axis>(std::declval<X const&>()));

    template <int... Mapped, std::size_t... I, class... X>
    constexpr auto map(std::index_sequence<I...> indices, X&... x) const {
        constexpr bool has_axes = sizeof...(Mapped) == sizeof...(X);
        static_assert(has_axes, "calque: vmap takes an axis (or calque::unmapped) for each argument, or none at all");
        if constexpr (has_axes) {
            constexpr bool is_any_mapped = ((Mapped != unmapped) || ... || false);
            static_assert(is_any_mapped, "calque: vmap: no argument is mapped");
            constexpr bool are_arrays =
                ((Mapped == unmapped || detail::are_arrays(tree_leaves_t<mapped_t<Mapped, X>>{})) && ... && true);
            static_assert(are_arrays, "calque: vmap: a number has no axis: write calque::unmapped in place of one");
            using Y = decltype(std::declval<F&>()(x...));
            static_assert(!std::is_void_v<Y>, "calque: vmap takes a function that returns something");
            if constexpr (is_any_mapped && are_arrays && !std::is_void_v<Y>) {
                return evaluate<Mapped...>(indices, mapped<Mapped>(x)...);
            }
        }
    }

    template <int... Mapped, std::size_t... I, class... X>
    constexpr auto evaluate(std::index_sequence<I...>, X... x) const {
        detail::handle_base const* reference = nullptr; // the leaf of which the number of examples is known best
        auto const move_axis = [&](int axis, auto& leaf) {
            leaf = detail::with_axis_in_front(leaf, axis);
            if (reference == nullptr || detail::is_known_better(leaf.value(), reference->value())) {
                reference = &leaf;
            }
        };
        detail::for_each_mapped_leaf<Mapped...>(move_axis, x...);
        auto const check = [&](int, auto& leaf) { leaf = detail::with_same_batch(leaf, *reference); };
        detail::for_each_mapped_leaf<Mapped...>(check, x...);

        std::tuple<X...> parts{x...};
        auto const take_one = []<class Leaf>(int, Leaf& leaf) {
            leaf = Leaf(graph::apply<graph::ops::example>(0, leaf.value()), leaf.shared());
        };
        detail::for_each_mapped_leaf<Mapped...>(take_one, std::get<I>(parts)...);
        std::tuple<X...> arguments = parts; // which the function may assign to
        F fn = mapped_function::get();
        graph::value const state = detail::state_of_checks(*reference->value().owner);
        auto const y = fn(std::get<I>(arguments)...);
        auto result = tree_map([&](auto const& leaf) { return detail::as_array(leaf, *reference); }, y);

        sequence<passes::mapped_argument> mapped;
        detail::for_each_mapped_leaf<Mapped...>([&](int, auto& leaf) { mapped.push_back({leaf.value(), {}}); }, x...);
        int next = 0;
        auto const set_part = [&](int, auto& leaf) { mapped[next++].part = leaf.value(); };
        detail::for_each_mapped_leaf<Mapped...>(set_part, std::get<I>(parts)...);
        sequence<graph::value> values;
        for_each_leaf(result, [&](auto& leaf) { values.push_back(leaf.value()); });
        graph::value const next_state = detail::state_of_checks(*reference->value().owner);
        bool const has_checks = next_state.exists() && next_state.id != state.id;
        if (has_checks) {
            values.push_back(next_state);
        }
        passes::vectorize<typename graph::op_set_for<F>::type>(mapped.data(), mapped.size(), values.data(),
                                                               values.size());
        if (has_checks) {
            detail::join_states(values.back());
        }
        next = 0;
        for_each_leaf(result, [&]<class Leaf>(Leaf& leaf) { leaf = Leaf(values[next++], leaf.shared()); });
        return result;
    }
};

/// A function of one example as a function of a batch: it maps `fn` over an axis of each argument.
///
/// `Axes`: the mapped axis of each argument, from the end if negative; `unmapped` for an argument that is the same for
/// all examples; without any, axis 0 of all. An argument may be a tree, whose leaves are mapped over the same axis.
/// Each result has the batch as its axis 0. The extents of the mapped axes must agree: a compile error where the
/// compiler knows that they do not, else a `shape_error` of the call.
///
/// `fn` sees arrays without that axis, and may use other values of the body that it is called in, the same for all
/// examples. No loop comes of it: each operation is done for the whole batch.
///
/// ```cpp
/// auto gradients = calque::vmap<calque::unmapped, 0, 0>(calque::grad(loss)); // one for each row and its label
/// ```
template <int... Axes, class F>
constexpr auto vmap(F const& fn) {
    return mapped_function<F, Axes...>(fn);
}

} // namespace v0
} // namespace calque
