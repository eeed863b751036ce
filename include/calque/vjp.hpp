// SPDX-License-Identifier: MIT
// The transpose of a function's derivative, as a function: `vjp`, reverse mode for results of any shape. It nests with
// the other transformations. (Of a scalar: `grad`.)
#pragma once

#include <calque/passes/differentiate.hpp>
#include <calque/trace/differentiated.hpp>

namespace calque {
inline namespace v0 {

/// A function that returns another one's value and pulls a cotangent back; `vjp` makes it.
template <class F, int... Arguments>
class vjp_function : detail::kept_function<F> {
public:
    using detail::kept_function<F>::kept_function;

    template <class Primals, class Cotangent>
    constexpr auto operator()(Primals primals, Cotangent cotangent) const {
        auto p = detail::as_tuple(primals);
        constexpr int count = static_cast<int>(std::tuple_size_v<decltype(p)>);
        constexpr bool are_in_range = ((Arguments >= 0 && Arguments < count) && ... && (count > 0));
        static_assert(are_in_range, "calque: vjp: the function has no such argument to differentiate by");
        if constexpr (are_in_range) {
            return evaluate(std::make_integer_sequence<int, count>{}, detail::places_of<count, Arguments...>(), p,
                            cotangent);
        }
    }

private:
    template <int... I, int... Place, class Primals, class Cotangent>
    constexpr auto evaluate(std::integer_sequence<int, I...>, std::integer_sequence<int, Place...>, Primals& p,
                            Cotangent& cotangent) const {
        std::tuple<decltype(detail::fresh_tree(std::get<Place>(p)))...> wrt{detail::fresh_tree(std::get<Place>(p))...};
        auto fresh = wrt; // which the function may assign to
        F fn = vjp_function::get();
        auto const y =
            fn(detail::original_or_fresh<Place...>(std::integer_sequence<int, I>{}, fresh, std::get<I>(p))...);
        using Y = std::remove_cv_t<decltype(y)>;
        if constexpr (detail::require_direction<Y, Cotangent>()) {
            detail::handle_base const& place = detail::first_leaf(wrt);
            detail::bring_tree_to(place, wrt);
            detail::bring_tree_to(place, y);
            detail::bring_tree_to(place, cotangent);
            sequence<graph::value> results;
            for_each_leaf(y, [&](auto const& leaf) { results.push_back(detail::as_array(leaf, place).value()); });
            sequence<graph::value> floating;
            sequence<graph::value> cotangents;
            int next = 0;
            for_each_leaf(cotangent, [&](auto const& leaf) {
                graph::value const result = results[next++];
                if (is_floating(result.type())) {
                    floating.push_back(result);
                    cotangents.push_back(detail::direction_of(result, detail::as_array(leaf, place).value(), "vjp"));
                }
            });
            sequence<graph::value> by;
            for_each_leaf(wrt, [&](auto const& leaf) { by.push_back(leaf.value()); });
            sequence<graph::value> gradients(by.size());
            passes::pull_back<typename graph::op_set_for<F>::type>(floating.data(), cotangents.data(), floating.size(),
                                                                   by.data(), by.size(), gradients.data());
            next = 0;
            for_each_leaf(wrt, [&]<class Leaf>(Leaf& leaf) { leaf = Leaf(gradients[next++], leaf.shared()); });
            return std::tuple{y, wrt};
        }
    }
};

/// The value of a function, and the gradients of the sum of `value * cotangent`:
/// `auto [y, gradients] = calque::vjp(f)(arguments, cotangent)`.
///
/// `arguments` is a tuple of the function's arguments (or an array, if that is all), `cotangent` has the shape or the
/// structure of the value. `gradients` is a tuple, of one element for each argument: of the chosen `Arguments`, or of
/// all. JAX's `vjp` returns a function of the cotangent instead; here that is a lambda around this one:
///
/// ```cpp
/// auto pull_back = [&](auto u) { return std::get<1>(calque::vjp(f)(std::tuple{x, w}, u)); };
/// ```
///
/// However often it is called in a body, what the calls have in common is one part of the graph.
template <int... Arguments, class F>
constexpr auto vjp(F const& fn) {
    return vjp_function<F, Arguments...>(fn);
}

} // namespace v0
} // namespace calque
