// SPDX-License-Identifier: MIT
// `host_function` and `host_call`: functions of the host that a graph calls with whole arrays.
#pragma once

#include <calque/trace/apply.hpp>

#include <cstddef>
#include <utility>

namespace calque {
inline namespace v0 {

/// An array of `T` that a function of the host gets: contiguous, in row-major order.
template <class T>
struct host_array {
    T* data;
    shape extents;

    std::size_t size() const { return static_cast<std::size_t>(extents.size()); }
    T& operator[](std::size_t i) const { return data[i]; }
    T* begin() const { return data; }
    T* end() const { return data + size(); }
};

namespace detail {

template <class T>
host_array<T> typed(graph::untyped_array const& x) {
    return {reinterpret_cast<T*>(x.data), *x.extents};
}

/// What a graph keeps of `Op` on arrays of `T...`.
template <class Op, class Result, class... T>
struct host_operation_table {
    static void call(graph::untyped_array const* arrays) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            if constexpr (std::is_void_v<Result>) {
                Op::call(typed<T const>(arrays[I])...);
            } else {
                Op::call(typed<Result>(arrays[sizeof...(T)]), typed<T const>(arrays[I])...);
            }
        }(std::index_sequence_for<T...>{});
    }
    static constexpr graph::user_operation value{Op::name, nullptr, nullptr, &call};
};

/// Not constexpr, so that the compiler's error names it: what no argument has met is in no graph that runs.
inline void host_call_depends_on_no_argument() {}

} // namespace detail

/// An array of `Result` with the extents of `x` that a function of the host makes of whole arrays:
///
/// ```cpp
/// struct ranks {
///     static constexpr std::string_view name = "ranks";
///     static void call(calque::host_array<int> result, calque::host_array<float const> x);
/// };
/// auto r = calque::host_function<ranks, int>(x);
/// ```
///
/// `call` is any C++ function; it runs at the call, not in the trace. It must be pure: a graph computes equal values
/// once, and may leave out what nobody reads. To derivatives the result is a constant. Under `vmap` it gets the whole
/// batch, each array with the batch as axis 0. What it throws leaves the call; outputs may have been written then.
template <class Op, element Result, handle X, handle... Rest>
constexpr auto host_function(X const& x, Rest const&... rest) {
    using table = detail::host_operation_table<Op, Result, detail::element_of_t<X>, detail::element_of_t<Rest>...>;
    detail::meeting const at(x, rest...);
    graph::node_id const inputs[] = {at.import(x).id, at.import(rest).id...};
    graph::builder& owner = at.owner();
    auto const attribute = graph::ops::host_operation::pack(owner.intern(table::value), dtype_of<Result>);
    graph::node_id const id =
        owner.add(graph::code_of<graph::ops::host_function>, inputs, static_cast<int>(sizeof...(Rest)) + 1, attribute);
    return at.template wrap<expr<Result>>({&owner, id});
}

/// Calls `Op::call(x...)`, a function of the host, with whole arrays (`host_array<float const>`), each time the program
/// comes by: in branches and loops too. Calls and checks happen in the order of the program.
///
/// Under `vmap` it gets the whole batch, once. A function with such calls writes outputs and variables at its end, as one
/// with checks does.
template <class Op, handle... X>
constexpr void host_call(X const&... x) {
    using table = detail::host_operation_table<Op, void, detail::element_of_t<X>...>;
    detail::meeting const at(x...);
    graph::node_id const inputs[] = {at.import(x).id...};
    graph::builder& owner = at.owner();
    if (((x.shared() != nullptr) && ...)) {
        detail::host_call_depends_on_no_argument();
    }
    owner.require({inputs[0], Op::name}); // so that the graph has the state that is handed on
    if (owner.watches_requirements()) {
        constexpr int count = static_cast<int>(sizeof...(X));
        graph::node_id all[count + 1];
        for (int k = 0; k < count; ++k) {
            all[k] = inputs[k];
        }
        all[count] = owner.variable(graph::builder::violation_variable);
        auto const attribute = graph::ops::host_operation::pack(owner.intern(table::value), dtype::int64);
        owner.assign(graph::builder::violation_variable,
                     owner.add(graph::code_of<graph::ops::host_call>, all, count + 1, attribute));
    }
}

} // namespace v0
} // namespace calque
