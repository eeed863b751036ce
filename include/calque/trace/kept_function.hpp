// SPDX-License-Identifier: MIT
// What transformed functions (`grad(f)`, `vmap(f)`) are made of: the function inside, kept so that the result can be
// traced, and handles brought into one graph.
#pragma once

#include <calque/trace/trace.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

/// A function that is kept in an object if it captures something, and else made where it is called, so that what is
/// made of it can be traced.
template <class F>
class kept_function {
public:
    constexpr explicit kept_function(F const& fn) : fn_(fn) {}
    constexpr F get() const { return fn_; }

private:
    F fn_;
};
template <class F>
    requires std::is_empty_v<F>
class kept_function<F> {
public:
    constexpr explicit kept_function(F const& /*fn*/) {}
    static constexpr F get() { return instance<F>(); }
};

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

/// A tree of handles, in which variables are what they are worth now.
template <class X>
constexpr auto read_variables(X const& x) {
    if constexpr (arithmetic<X> || std::is_same_v<traced_t<X>, X>) {
        return x;
    } else {
        current_values values(x);
        return unflatten<X>(values);
    }
}

/// Makes two handles point into one graph.
template <class A, class B>
constexpr void bring_together(A const& a, B const& b) {
    if (a.value().owner == b.value().owner) {
        return;
    }
    if (a.shared() == nullptr) {
        b.shared()->move_to(*a.value().owner, nullptr);
    } else {
        a.shared()->move_to(*b.value().owner, b.shared());
    }
}

/// A handle or number as an array of the graph that another handle points into.
template <class Leaf>
constexpr auto as_array(Leaf const& leaf, handle_base const& beside) {
    using T = element_of_t<Leaf>;
    if constexpr (handle<Leaf>) {
        bring_together(leaf, beside);
        return expr<T>(leaf.value(), leaf.shared());
    } else {
        graph::builder* const owner = beside.value().owner;
        return expr<T>({owner, owner->constant(dtype_of<T>, graph::to_bits<T>(static_cast<T>(leaf)))}, beside.shared());
    }
}

} // namespace detail
} // namespace v0
} // namespace calque
