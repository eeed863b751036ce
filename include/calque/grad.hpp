// SPDX-License-Identifier: MIT
// Gradients of functions, as functions: `grad` and `value_and_grad`. They nest, in traced functions and around them.
#pragma once

#include <calque/passes/differentiate.hpp>
#include <calque/trace/differentiated.hpp>

#include <tuple>

namespace calque {
inline namespace v0 {
namespace detail {

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
        passes::differentiate<typename graph::op_set_for<Y>::type>(from, by.data(), by.size(), gradients.data());
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
            static_assert(floating<detail::element_of_t<Y>>,
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
