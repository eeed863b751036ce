// SPDX-License-Identifier: MIT
// Directional derivatives of functions, as functions: `jvp`, forward mode. It nests with the other transformations.
#pragma once

#include <calque/passes/push_forward.hpp>
#include <calque/trace/differentiated.hpp>

namespace calque {
inline namespace v0 {

/// A function that returns another one's value and its tangent; `jvp` makes it.
template <class F, int... Arguments>
class jvp_function : detail::kept_function<F> {
public:
    using detail::kept_function<F>::kept_function;

    template <class Primals, class Tangents>
    constexpr auto operator()(Primals primals, Tangents tangents) const {
        auto p = detail::as_tuple(primals);
        auto t = detail::as_tuple(tangents);
        constexpr int count = static_cast<int>(std::tuple_size_v<decltype(p)>);
        constexpr bool are_in_range = ((Arguments >= 0 && Arguments < count) && ... && (count > 0));
        static_assert(are_in_range, "calque: jvp: the function has no such argument to differentiate by");
        if constexpr (are_in_range) {
            return evaluate(std::make_integer_sequence<int, count>{}, detail::places_of<count, Arguments...>(), p, t);
        }
    }

private:
    template <int... I, int... Place, class Primals, class Tangents>
    constexpr auto evaluate(std::integer_sequence<int, I...>, std::integer_sequence<int, Place...>, Primals& p,
                            Tangents& t) const {
        std::tuple<decltype(detail::fresh_tree(std::get<Place>(p)))...> wrt{detail::fresh_tree(std::get<Place>(p))...};
        if constexpr (detail::require_direction<decltype(wrt), Tangents>()) {
            auto fresh = wrt; // which the function may assign to
            F fn = jvp_function::get();
            auto const y =
                fn(detail::original_or_fresh<Place...>(std::integer_sequence<int, I>{}, fresh, std::get<I>(p))...);
            detail::handle_base const& place = detail::first_leaf(wrt);
            detail::bring_tree_to(place, wrt);
            detail::bring_tree_to(place, t);
            auto tangent = tree_map([&](auto const& leaf) { return detail::as_array(leaf, place); }, y);

            sequence<graph::value> by;
            for_each_leaf(wrt, [&](auto const& leaf) { by.push_back(leaf.value()); });
            sequence<graph::value> along;
            for_each_leaf(t, [&](auto const& leaf) {
                graph::value const direction = detail::as_array(leaf, place).value();
                along.push_back(detail::direction_of(by[along.size()], direction, "jvp"));
            });
            sequence<graph::value> results;
            for_each_leaf(tangent, [&](auto const& leaf) { results.push_back(leaf.value()); });
            sequence<graph::value> changes(results.size());
            passes::push_forward<typename graph::op_set_for<F>::type>(by.data(), along.data(), by.size(),
                                                                      results.data(), results.size(), changes.data());
            int next = 0;
            for_each_leaf(tangent, [&]<class Leaf>(Leaf& leaf) { leaf = Leaf(changes[next++], leaf.shared()); });
            return std::tuple{y, tangent};
        }
    }
};

/// The value of a function and its derivative in a direction: `auto [y, dy] = calque::jvp(f)(arguments, tangents)`.
///
/// `arguments` is a tuple of the function's arguments, `tangents` one of how they change: arrays of the same shapes,
/// trees of the same structures. `Arguments` chooses those that change (all, if there is none); `tangents` has only
/// theirs. A function of one array takes the array and its tangent without a tuple. `dy` has the structure of `y`:
/// where that is no floating dtype, it is zero.
///
/// Costs about two or three times the function, whatever the number of arguments and results.
///
/// ```cpp
/// auto [slope, product] = calque::jvp(calque::grad(loss))(x, v); // product: the Hessian of the loss times v
/// ```
template <int... Arguments, class F>
constexpr auto jvp(F const& fn) {
    return jvp_function<F, Arguments...>(fn);
}

} // namespace v0
} // namespace calque
