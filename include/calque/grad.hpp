// SPDX-License-Identifier: MIT
// Gradients of functions, as functions: `grad` and `value_and_grad`. They nest, in traced functions and around them.
#pragma once

#include <calque/interop/tree_map.hpp>
#include <calque/passes/differentiate.hpp>
#include <calque/trace/kept_function.hpp>

#include <tuple>

namespace calque {
inline namespace v0 {
namespace detail {

/// Hands out the leaves of a tree as they are now.
class current_values {
public:
    template <class Tree>
    constexpr explicit current_values(Tree const& tree) {
        for_each_leaf(tree, [this](auto const& leaf) {
            if constexpr (handle<std::remove_cvref_t<decltype(leaf)>>) {
                values_.push_back(leaf.value());
            }
        });
    }

    template <class Leaf, class Handle>
    constexpr auto next() {
        return Handle(values_[next_++], nullptr);
    }

private:
    sequence<graph::value> values_;
    int next_ = 0;
};

/// A number that is differentiated by becomes a handle of a graph of its own.
template <class X>
constexpr auto differentiable(X const& x) {
    if constexpr (std::is_arithmetic_v<X>) {
        using T = typename canonical<X>::type;
        auto* const owner = new shared_builder;
        return weak_expr<T>({owner, owner->constant(dtype_of<T>, graph::to_bits<T>(x))}, owner);
    } else if constexpr (!std::is_same_v<traced_t<X>, X>) {
        current_values values(x); // variables: what they are worth
        return unflatten<X>(values);
    } else {
        return x;
    }
}

/// A value of its own for a leaf: what a gradient is taken by, however else the leaf is used.
template <class Leaf>
constexpr void make_fresh(Leaf& leaf) {
    static_assert(handle<Leaf>, "calque: grad: a tree that is differentiated by holds traced values only: this number "
                                "is a constant");
    if constexpr (handle<Leaf>) {
        static_assert(std::is_floating_point_v<typename Leaf::value_type>,
                      "calque: grad: integers and bool have no gradient: differentiate by another argument, or pass "
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

/// Replaces the leaves of trees by the gradients of `y` by them.
template <class Y, class... Trees>
constexpr void differentiate_by(Y const& y, Trees&... trees) {
    graph::value const from = y.value();
    bool const is_scalar = from.rank() == 0;
    if (!is_scalar) {
        from.owner->fail(graph::reason::not_a_scalar, (*from.owner)[from.id].op, &from.id, 1, "grad");
    }
    // What never met `y` in a graph has no part in it.
    sequence<graph::value> by;
    auto const add = [&](auto& leaf) {
        if (is_scalar && leaf.value().owner == from.owner) {
            by.push_back(leaf.value());
        }
    };
    (for_each_leaf(trees, add), ...);
    sequence<graph::value> gradients(by.size());
    if (!by.empty()) {
        passes::differentiate(from, by.data(), by.size(), gradients.data());
    }
    int next = 0;
    auto const replace = [&]<class Leaf>(Leaf& leaf) {
        graph::value const v = leaf.value();
        if (is_scalar && v.owner == from.owner) {
            leaf = Leaf(gradients[next++], y.shared());
        } else {
            leaf = Leaf(graph::broadcast_like(graph::zero_of(v), v), leaf.shared());
        }
    };
    (for_each_leaf(trees, replace), ...);
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

} // namespace detail

/// A function that returns gradients of another one; `grad` and `value_and_grad` make it.
template <bool WithValue, class F, int... Arguments>
class gradient_function : detail::kept_function<F> {
public:
    using detail::kept_function<F>::kept_function;

    template <class... X>
    constexpr auto operator()(X... x) const {
        constexpr bool are_in_range = ((Arguments >= 0 && Arguments < static_cast<int>(sizeof...(X))) && ...);
        static_assert(are_in_range, "calque: grad: the function has no such argument to differentiate by");
        if constexpr (are_in_range) {
            return evaluate(std::make_integer_sequence<int, static_cast<int>(sizeof...(X))>{}, x...);
        }
    }

private:
    template <int... I, class... X>
    constexpr auto evaluate(std::integer_sequence<int, I...>, X&... x) const {
        auto const arguments = std::tie(x...);
        // The type is written out because std::tuple{t} is a copy of the tuple t; the braces keep the order.
        std::tuple<decltype(detail::fresh_tree(std::get<Arguments>(arguments)))...> trees{
            detail::fresh_tree(std::get<Arguments>(arguments))...};
        auto fresh = trees; // which the function may assign to
        F fn = gradient_function::get();
        auto const y = fn(detail::original_or_fresh<Arguments...>(std::integer_sequence<int, I>{}, fresh, x)...);
        using Y = std::remove_cv_t<decltype(y)>;
        static_assert(operand<Y>, "calque: grad takes a function that returns a scalar, not a tuple or a struct");
        if constexpr (operand<Y>) {
            static_assert(std::is_floating_point_v<detail::element_of_t<Y>>,
                          "calque: grad takes a function that returns float or double: write calque::cast<float>(y)");
            std::apply([&](auto&... tree) { detail::differentiate_by(detail::differentiable(y), tree...); }, trees);
        }
        if constexpr (!WithValue) {
            return only_or_all(trees);
        } else {
            return std::tuple{y, only_or_all(trees)};
        }
    }

    template <class Gradients>
    static constexpr auto only_or_all(Gradients const& gradients) {
        if constexpr (sizeof...(Arguments) == 1) {
            return std::get<0>(gradients);
        } else {
            return gradients;
        }
    }
};

/// The gradient of a scalar function by its first argument, or by the chosen ones: a function of the same arguments.
///
/// It returns what has the structure of the argument: an array, or a tree of arrays; for several arguments a tuple. The
/// result is a function object: trace it, call it in a traced function, differentiate it again.
///
/// ```cpp
/// auto slope = calque::function(calque::grad([](auto x) { return sum(x * x * x); })); // 3 x^2
/// ```
template <int... Arguments, class F>
constexpr auto grad(F const& fn) {
    if constexpr (sizeof...(Arguments) == 0) {
        return gradient_function<false, F, 0>(fn);
    } else {
        return gradient_function<false, F, Arguments...>(fn);
    }
}

/// The same, and the function's value before it: `auto [value, gradient] = value_and_grad(loss)(parameters, batch)`.
template <int... Arguments, class F>
constexpr auto value_and_grad(F const& fn) {
    if constexpr (sizeof...(Arguments) == 0) {
        return gradient_function<true, F, 0>(fn);
    } else {
        return gradient_function<true, F, Arguments...>(fn);
    }
}

} // namespace v0
} // namespace calque
