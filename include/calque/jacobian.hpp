// SPDX-License-Identifier: MIT
// All first or second derivatives at once: `jacobian` and `hessian`, by `vmap` over unit vectors. They nest.
#pragma once

#include <calque/grad.hpp>
#include <calque/passes/push_forward.hpp>
#include <calque/passes/vectorize.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

/// The unit vectors of the space of arrays such as `x`: [extents of x..., extents of x...], 1 where both indices agree.
constexpr graph::value unit_arrays(graph::value x) {
    using namespace graph;
    int const rank = x.rank();
    axis_set const own = all_axes(x);
    if (rank == 0) {
        return literal(x, 1);
    }
    value agree{};
    for (int axis = 0; axis < rank; ++axis) {
        value const index = iota_like(x, axis, dtype::int64);
        value const here = expand_dims(index, own << rank) == expand_dims(index, own);
        agree = axis == 0 ? here : graph::apply<ops::logical_and>(0, agree, here);
    }
    return cast(agree, x.type());
}

/// `fn(unit array)` for each unit array of the space of `x`, a new axis in front for each axis of `x`.
template <class Ops, class Fn>
constexpr graph::value for_each_unit_array(graph::value x, Fn fn) {
    sequence<passes::mapped_argument> axes;
    graph::value unit = unit_arrays(x);
    for (int axis = 0; axis < x.rank(); ++axis) {
        graph::value const part = graph::apply<graph::ops::example>(0, unit);
        axes.push_back({unit, part});
        unit = part;
    }
    graph::value result = fn(unit);
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
        passes::vectorize<Ops>(&axes[axis], 1, &result, 1);
    }
    return result;
}

/// The derivative of `y` by `x`: [extents of y..., extents of x...]. Forward: a tangent for each element of x; else a
/// cotangent for each element of y.
template <class Ops>
constexpr graph::value jacobian_of(graph::value y, graph::value x, bool forward) {
    using namespace graph;
    if (!forward) {
        return for_each_unit_array<Ops>(y, [&](value unit) {
            value result;
            passes::pull_back<Ops>(&y, &unit, 1, &x, 1, &result);
            return result;
        });
    }
    value const columns = for_each_unit_array<Ops>(x, [&](value unit) {
        value result;
        passes::push_forward<Ops>(&x, &unit, 1, &y, 1, &result);
        return result;
    });
    std::uint64_t permutation = 0;
    for (int axis = 0; axis < columns.rank(); ++axis) {
        int const from = axis < y.rank() ? axis + x.rank() : axis - y.rank();
        permutation |= static_cast<std::uint64_t>(from) << (4 * axis);
    }
    return x.rank() == 0 || y.rank() == 0 ? columns : transpose(columns, permutation);
}

/// Whether there are fewer tangents than cotangents, as far as the compiler knows.
constexpr bool is_forward_cheaper(shape const& y, shape const& x) {
    return x.is_static() && (!y.is_static() || x.size() < y.size());
}

} // namespace detail

/// In which direction a Jacobian is computed.
enum class jacobian_mode {
    by_shape, // forward if the argument has fewer elements than the result, as far as the compiler knows
    forward,
    reverse
};

/// A function that returns the Jacobian of another one; `jacobian` and `hessian` make it.
template <jacobian_mode Mode, class F, int Argument>
class jacobian_function : detail::kept_function<F> {
public:
    using detail::kept_function<F>::kept_function;

    template <class... X>
    constexpr auto operator()(X... x) const {
        constexpr bool is_in_range = Argument >= 0 && Argument < static_cast<int>(sizeof...(X));
        static_assert(is_in_range, "calque: jacobian: the function has no such argument to differentiate by");
        if constexpr (is_in_range) {
            using argument = std::tuple_element_t<static_cast<std::size_t>(Argument), std::tuple<X...>>;
            static_assert(operand<argument>,
                          "calque: jacobian takes the derivative by an array, not by a tuple or a struct");
            if constexpr (operand<argument>) {
                return evaluate(std::make_integer_sequence<int, static_cast<int>(sizeof...(X))>{}, x...);
            }
        }
    }

private:
    template <int... I, class... X>
    constexpr auto evaluate(std::integer_sequence<int, I...>, X&... x) const {
        auto const wrt = detail::fresh_tree(std::get<Argument>(std::tie(x...)));
        auto fresh = std::tuple<std::remove_cv_t<decltype(wrt)>>(wrt); // which the function may assign to
        F fn = jacobian_function::get();
        auto const y = fn(detail::original_or_fresh<Argument>(std::integer_sequence<int, I>{}, fresh, x)...);
        using Y = std::remove_cv_t<decltype(y)>;
        static_assert(operand<Y>, "calque: jacobian takes a function that returns an array, not a tuple or a struct");
        if constexpr (operand<Y>) {
            using T = detail::element_of_t<Y>;
            static_assert(
                floating<T>,
                "calque: jacobian takes a function that returns float or double: write calque::cast<float>(y)");
            auto const result = detail::as_array(y, wrt);
            graph::value const from = result.value();
            graph::value const by = wrt.value();
            if (from.rank() + by.rank() > max_rank) {
                graph::node_id const operands[] = {from.id, by.id};
                from.owner->fail(graph::reason::rank_too_high, (*from.owner)[from.id].op, operands, 2, "jacobian");
                return result;
            }
            bool const forward = Mode == jacobian_mode::by_shape ? detail::is_forward_cheaper(from.shape(), by.shape())
                                                                 : Mode == jacobian_mode::forward;
            return expr<T>(detail::jacobian_of<typename graph::op_set_for<F>::type>(from, by, forward),
                           result.shared());
        }
    }
};

/// The derivative of each element of a function's result by each element of an argument:
/// [extents of the result..., extents of the argument...].
///
/// Computed for all elements at once, forward or in reverse, whichever needs fewer of them: see `jacobian_mode`, which
/// can be given. Extents may be dynamic.
template <int Argument = 0, jacobian_mode Mode = jacobian_mode::by_shape, class F>
constexpr auto jacobian(F const& fn) {
    return jacobian_function<Mode, F, Argument>(fn);
}

/// The second derivatives of a scalar function by an argument: [extents of the argument..., extents of the
/// argument...].
///
/// Forward over reverse: the Jacobian of the gradient. For a product with one vector there is `jvp(grad(fn))`, which
/// costs no more than a few gradients.
template <int Argument = 0, class F>
constexpr auto hessian(F const& fn) {
    return jacobian<Argument, jacobian_mode::forward>(grad<Argument>(fn));
}

} // namespace v0
} // namespace calque
