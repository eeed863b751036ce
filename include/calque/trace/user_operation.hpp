// SPDX-License-Identifier: MIT
// `calque::apply<my_operation>(x, y)`: operations that users write as structs of their own.
#pragma once

#include <calque/trace/apply.hpp>

#include <cstddef>
#include <utility>

namespace calque {
inline namespace v0 {
namespace detail {

/// Applies `Op` to elements of `T`, along the axes from `axis` on.
template <class Op, class T, std::size_t... I>
void run_user_operation(std::index_sequence<I...> indices, shape const& extents, T* to, strides const& to_steps,
                        T const* const* inputs, strides const* steps, int axis) {
    if (axis == extents.rank) {
        *to = Op::apply(*inputs[I]...);
        return;
    }
    extent_t const n = extents[axis];
    if (axis + 1 == extents.rank) {
        for (extent_t i = 0; i < n; ++i) {
            to[i] = Op::apply(inputs[I][i * steps[I][axis]]...);
        }
        return;
    }
    for (extent_t i = 0; i < n; ++i) {
        T const* const at[] = {inputs[I] + i * steps[I][axis]...};
        run_user_operation<Op, T>(indices, extents, to + i * to_steps[axis], to_steps, at, steps, axis + 1);
    }
}

/// What a graph keeps of `Op` on `Count` arrays of `T`.
template <class Op, class T, std::size_t Count>
struct user_operation_table {
    template <std::size_t... I>
    static constexpr bool has_derivative(std::index_sequence<I...>) {
        return requires(graph::value const& v) { Op::vjp(v, (static_cast<void>(I), v)..., v); };
    }

    static void run(shape const& extents, std::byte* to, std::byte const* const* inputs, strides const* steps) {
        T const* typed[Count];
        for (std::size_t k = 0; k < Count; ++k) {
            typed[k] = reinterpret_cast<T const*>(inputs[k]);
        }
        run_user_operation<Op, T>(std::make_index_sequence<Count>{}, extents, reinterpret_cast<T*>(to),
                                  contiguous_strides(extents), typed, steps, 0);
    }

    static constexpr void vjp(graph::value const& dy, graph::value const* inputs, graph::value const& y,
                              graph::value* adjoints) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            if constexpr (Count == 1) {
                adjoints[0] = Op::vjp(dy, inputs[0], y);
            } else {
                auto const all = Op::vjp(dy, inputs[I]..., y);
                static_assert(std::tuple_size_v<std::remove_cv_t<decltype(all)>> == Count,
                              "calque: the vjp of an operation returns a std::array of an adjoint for each input");
                ((adjoints[I] = all[I]), ...);
            }
        }(std::make_index_sequence<Count>{});
    }

    static constexpr graph::user_operation make() {
        if constexpr (floating<T> && has_derivative(std::make_index_sequence<Count>{})) {
            return {Op::name, &run, &vjp};
        } else {
            return {Op::name, &run, nullptr};
        }
    }
    static constexpr graph::user_operation value = make();
};

} // namespace detail

/// Applies an operation of your own, element by element, to arrays that broadcast and have one dtype:
///
/// ```cpp
/// struct hypotenuse {
///     static constexpr std::string_view name = "hypotenuse"; // in graphs' texts
///     template <class T>
///     static T apply(T x, T y) { return std::hypot(x, y); }
///     static constexpr auto vjp(auto dy, auto x, auto y, auto r) { return std::array{dy * x / r, dy * y / r}; }
/// };
/// auto r = calque::apply<hypotenuse>(x, y);
/// ```
///
/// `apply` is any C++ function of elements: it runs at the call, not in the trace. It must be pure: a graph computes
/// equal values once, and may leave out what nobody reads. `vjp` gets the adjoint of the result, the inputs and the
/// result as `graph::value`s, as the library's operations do (graph/vocabulary.hpp has the functions on them); without
/// it the result is a constant to derivatives. `vmap`, `jvp` and second derivatives follow. Nothing is fused with it.
template <class Op, operand... X>
    requires(handle<X> || ...)
constexpr auto apply(X const&... x) {
    using Element = detail::common_element_t<Op, X...>;
    using T = computed_t<Element>;
    static_assert(
        requires(T element) {
            { Op::apply((static_cast<void>(x), element)...) } -> std::same_as<T>;
            std::string_view(Op::name);
        }, "calque: apply<Op> takes a struct with a name and a static apply that makes an element of elements");
    detail::meeting const at(x...);
    graph::value const values[] = {at.template import <T>(x)...};
    constexpr int count = static_cast<int>(sizeof...(X));
    graph::value like = values[0]; // lends the shape that all broadcast to
    for (int k = 1; k < count; ++k) {
        like = graph::cast(like == values[k], dtype_of<T>);
    }
    graph::node_id inputs[sizeof...(X)];
    for (int k = 0; k < count; ++k) {
        inputs[k] = (count == 1 ? values[k] : graph::broadcast_like(values[k], like)).id;
    }
    graph::builder& owner = at.owner();
    auto const number =
        static_cast<std::uint64_t>(owner.intern(detail::user_operation_table<Op, T, sizeof...(X)>::value));
    graph::node_id const id = owner.add(graph::code_of<graph::ops::user_function>, inputs, count, number);
    return at.template wrap<detail::result_t<Element, X...>>(graph::cast({&owner, id}, dtype_of<Element>));
}

} // namespace v0
} // namespace calque
