// SPDX-License-Identifier: MIT
// Functions with a derivative that their author gives: `custom_vjp`.
#pragma once

#include <calque/trace/differentiated.hpp>
#include <calque/trace/region.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

/// The tree, a constant to derivatives.
template <class X>
constexpr auto constant_tree(X const& x) {
    auto tree = x;
    for_each_leaf(tree, []<class Leaf>(Leaf& leaf) {
        if constexpr (handle<Leaf>) {
            leaf = Leaf(graph::stop_gradient(leaf.value()), leaf.shared());
        }
    });
    return tree;
}

/// Reports that a function or its derivative assigns to a variable.
constexpr void report_assignment(graph::value const& at) {
    at.owner->fail(graph::reason::assigned_in_derivative, graph::code_of<graph::ops::custom_derivative>, &at.id, 1,
                   "custom_vjp");
}

/// Fails if a function has assigned to a variable that it was passed in such a tree, where nothing would come of it.
template <class X>
constexpr void require_unassigned(X const& constants) {
    for_each_leaf(constants, []<class Leaf>(Leaf const& leaf) {
        if constexpr (is_variable_expr_v<Leaf>) {
            if (leaf.is_assigned()) {
                report_assignment(leaf.value());
            }
        }
    });
}

/// The gradients of some arguments, as a tuple: that of a single one may come without.
template <class... X, class Gradients>
constexpr auto gradients_tuple(Gradients const& gradients) {
    if constexpr (have_same_structure<std::tuple<X...>, std::tuple<Gradients>>()) {
        return std::tuple<Gradients>(gradients);
    } else {
        return gradients;
    }
}

} // namespace detail

/// A function with a derivative of its own; `custom_vjp` makes it.
template <class F, class Backward>
class custom_vjp_function {
public:
    constexpr custom_vjp_function(F const& fn, Backward const& backward) : fn_(fn), backward_(backward) {}

    template <class... X>
    constexpr auto operator()(X... x) const {
        return evaluate(std::index_sequence_for<X...>{}, x...);
    }

private:
    template <std::size_t... I, class... X>
    constexpr auto evaluate(std::index_sequence<I...>, X const&... x) const {
        std::tuple<X...> constants{detail::constant_tree(x)...};
        F fn = fn_.get();
        auto const y = fn(std::get<I>(constants)...);
        (detail::require_unassigned(std::get<I>(constants)), ...);
        using Y = std::remove_cv_t<decltype(y)>;
        static_assert(handle<Y>, "calque: custom_vjp takes a function that returns one array");
        if constexpr (handle<Y>) {
            static_assert(floating<typename Y::value_type>,
                          "calque: custom_vjp takes a function that returns float or double");
            (detail::bring_tree_to(y, x), ...);
            std::tuple<X...> arguments{x...}; // which the derivative may assign to
            Y const u = cotangent_of(y, x...);
            Backward backward = backward_.get();
            graph::builder& owner = *u.value().owner;
            sequence<graph::node_id> const before = detail::variables_of(owner);
            auto const gradients = detail::gradients_tuple<X...>(backward(std::get<I>(arguments)..., u));
            for (int v = 0; v < before.size(); ++v) {
                if (owner.variable(v) != before[v]) {
                    detail::report_assignment(u.value());
                }
            }
            using Gradients = std::remove_cv_t<decltype(gradients)>;
            if constexpr (detail::require_direction<std::tuple<X...>, Gradients>()) {
                return with_derivative(y, u, gradients, x...);
            } else {
                return y;
            }
        }
    }

    template <class Y, class... X>
    static constexpr Y cotangent_of(Y const& y, X const&... x) {
        sequence<graph::node_id> inputs;
        inputs.push_back(y.value().id);
        append_handles(inputs, x...);
        graph::builder* const owner = y.value().owner;
        return Y({owner, owner->add(graph::code_of<graph::ops::cotangent>, inputs.data(), inputs.size())}, y.shared());
    }

    template <class... X>
    static constexpr void append_handles(sequence<graph::node_id>& to, X const&... x) {
        auto const append = [&]<class Leaf>(Leaf const& leaf) {
            if constexpr (handle<Leaf>) {
                to.push_back(leaf.value().id);
            }
        };
        (for_each_leaf(x, append), ...);
    }

    template <class Y, class Gradients, class... X>
    static constexpr Y with_derivative(Y const& y, Y const& u, Gradients const& gradients, X const&... x) {
        detail::bring_tree_to(y, gradients);
        sequence<graph::value> by; // every leaf; a number has no value
        auto const add = [&]<class Leaf>(Leaf const& leaf) {
            if constexpr (handle<Leaf>) {
                by.push_back(leaf.value());
            } else {
                by.push_back(y.value().none());
            }
        };
        (for_each_leaf(x, add), ...);
        sequence<graph::node_id> inputs;
        inputs.push_back(y.value().id);
        inputs.push_back(u.value().id);
        for (graph::value const& argument : by) {
            if (argument.exists() && is_floating(argument.type())) {
                inputs.push_back(argument.id);
            }
        }
        auto const count = static_cast<std::uint64_t>(inputs.size() - graph::ops::custom_derivative::first_argument);
        int next = 0;
        for_each_leaf(gradients, [&](auto const& leaf) {
            graph::value const argument = by[next++];
            if (argument.exists() && is_floating(argument.type())) {
                inputs.push_back(detail::direction_of(argument, detail::as_array(leaf, y).value(), "custom_vjp").id);
            }
        });
        graph::builder* const owner = y.value().owner;
        return Y(
            {owner, owner->add(graph::code_of<graph::ops::custom_derivative>, inputs.data(), inputs.size(), count)},
            y.shared());
    }

    [[no_unique_address]] detail::kept_function<F> fn_;
    [[no_unique_address]] detail::kept_function<Backward> backward_;
};

/// `fn`, with a derivative that replaces the one that calque would derive: for a formula that is more exact or cheaper,
/// or where the derivative is not that of the value (a straight-through estimator, say).
///
/// `backward(arguments..., cotangent)` returns a tuple: for each argument the gradient of the sum of `value *
/// cotangent`, with the argument's shape and structure (what it says of integers is ignored; a single gradient may come
/// without the tuple). It must be linear in the cotangent, on which it may branch and loop too. It may compute what
/// `fn` computes once more: equal values are one node of the graph, so that there is no need to pass them on. What
/// `fn` captures keeps its ordinary derivative.
///
/// `fn` returns one array; `backward` assigns to no variable. The result nests: `grad` of it, `grad` of its `grad`
/// (which differentiates `backward`), `jvp` (the transpose of `backward`) and `vmap`.
///
/// ```cpp
/// constexpr auto rounded = calque::custom_vjp([](auto x) { return where(x < 0.5f, 0.f * x, 0.f * x + 1); },
///                                             [](auto, auto u) { return u; }); // straight through
/// ```
template <class F, class Backward>
constexpr auto custom_vjp(F const& fn, Backward const& backward) {
    return custom_vjp_function<F, Backward>(fn, backward);
}

} // namespace v0
} // namespace calque
