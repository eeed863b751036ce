// SPDX-License-Identifier: MIT
// Functions whose derivative computes them again, instead of keeping what they have computed: `checkpoint`.
#pragma once

#include <calque/custom_vjp.hpp>
#include <calque/passes/differentiate.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

template <class Leaf>
inline constexpr bool is_floating_handle = false;
template <handle Leaf>
inline constexpr bool is_floating_handle<Leaf> = floating<typename Leaf::value_type>;

/// The derivative of a function: runs it again on its arguments, once the cotangent is there.
template <class F>
class recomputed_derivative {
public:
    constexpr explicit recomputed_derivative(F const& fn) : fn_(fn) {}

    /// Takes the arguments, then the cotangent; returns the gradients as a tuple.
    template <class... X>
    constexpr auto operator()(X... x) const {
        return evaluate(std::make_index_sequence<sizeof...(X) - 1>{}, std::tuple<X...>(x...));
    }

private:
    template <std::size_t... I, class All>
    constexpr auto evaluate(std::index_sequence<I...>, All const& all) const {
        graph::value const u = std::get<sizeof...(I)>(all).value();
        std::tuple<std::tuple_element_t<I, All>...> arguments{after(u, std::get<I>(all))...};
        auto again = arguments; // which the function may assign to
        F fn = fn_.get();
        graph::value const y = fn(std::get<I>(again)...).value();
        sequence<graph::value> by;
        auto const add = [&by]<class Leaf>(Leaf const& leaf) {
            if constexpr (is_floating_handle<Leaf>) {
                by.push_back(leaf.value());
            }
        };
        (for_each_leaf(std::get<I>(arguments), add), ...);
        if (by.size() == 0) { // integers only: nothing has a gradient
            return arguments;
        }
        sequence<graph::value> gradients(by.size());
        passes::pull_back<typename graph::op_set_for<F>::type>(&y, &u, 1, by.data(), by.size(), gradients.data());
        int next = 0;
        auto const replace = [&]<class Leaf>(Leaf& leaf) {
            if constexpr (is_floating_handle<Leaf>) {
                leaf = Leaf(gradients[next++], leaf.shared());
            }
        };
        (for_each_leaf(std::get<I>(arguments), replace), ...);
        return arguments;
    }

    template <class X>
    static constexpr X after(graph::value const& u, X const& x) {
        X tree = x;
        for_each_leaf(tree, [&u]<class Leaf>(Leaf& leaf) {
            if constexpr (handle<Leaf>) {
                graph::value const own = graph::apply<graph::ops::fresh>(0, leaf.value()); // even if passed twice
                leaf = Leaf(graph::apply<graph::ops::after>(0, own, u), leaf.shared());
            }
        });
        return tree;
    }

    [[no_unique_address]] kept_function<F> fn_;
};

} // namespace detail

/// `fn`, the derivative of which computes `fn` again instead of keeping what is inside: the memory of a gradient grows
/// with the arguments of checkpointed parts, not with all that is between them. (A. Griewank, A. Walther, "Evaluating
/// Derivatives", 2nd ed., 2008, chapter 12.)
///
/// `fn` returns one array and assigns to no variable, captured or passed; its arguments may be trees, and it may branch
/// and loop. What it captures is not computed again. The steps of a `scan` need no checkpoint: its derivative keeps
/// what is carried and computes the inside of each step again. Of several scans, each with a checkpoint, it keeps what
/// one at a time has carried.
///
/// ```cpp
/// auto const layer = calque::checkpoint([](auto x, auto w) { return tanh(matmul(x, w)); });
/// ```
template <class F>
constexpr auto checkpoint(F const& fn) {
    return custom_vjp(fn, detail::recomputed_derivative<F>(fn));
}

} // namespace v0
} // namespace calque
