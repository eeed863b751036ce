// SPDX-License-Identifier: MIT
// The arrays in a struct that exists in several forms: with host arrays, with traced handles, with variables.
//
//     template <class M>
//     struct dense {
//         calque::leaf<M, float, calque::dyn, calque::dyn> w;
//         calque::leaf<M, float, calque::dyn> b;
//     };
//
// `dense<host>` holds arrays, `dense<traced>` is what a traced function sees, `dense<variables>` keeps state. Such a
// template (the form first, then types only) is called a family.
#pragma once

#include <calque/interop/xtensor.hpp>

namespace calque {
inline namespace v0 {

/// The form of a family that holds arrays and scalars.
struct host {};
/// The form that a traced function's body sees: handles.
struct traced {};
/// The form that holds variables.
struct variables {};
/// What a traced function's body sees of a family of variables.
struct traced_variables {};
/// The form that holds only the declared specs: what the library reads a family's structure from.
struct specs {};

template <class T>
class expr; // a traced array: trace/expr.hpp
template <class T>
class weak_expr; // a traced number that takes the dtype of the array it meets: trace/expr.hpp
template <class T, extent_t... Extents>
class variable;
template <class T>
class variable_expr; // a traced variable: trace/variables.hpp

/// The array type that holds results of `Spec`: the number itself for a scalar; `xt::xtensor_fixed`, which needs no
/// allocation, if the shape is static and takes at most 4 KiB; else `xt::xtensor`.
template <array_spec Spec>
struct output_array;
template <class T, extent_t... Extents>
struct output_array<spec<T, Extents...>> {
    using type = xt::xtensor<T, sizeof...(Extents)>;
};
template <class T, extent_t... Extents>
    requires(sizeof...(Extents) != 0 && spec<T, Extents...>::is_static && spec<T, Extents...>::shape.size() != 0 &&
             spec<T, Extents...>::shape.size() * static_cast<extent_t>(sizeof(T)) <= 4096)
struct output_array<spec<T, Extents...>> {
    using type = xt::xtensor_fixed<T, xt::xshape<static_cast<std::size_t>(Extents)...>>;
};
template <class T>
struct output_array<spec<T>> {
    using type = T;
};

template <array_spec Spec>
using output_array_t = typename output_array<Spec>::type;

/// What a leaf is in the form `M`; each form is specialised beside the type that it holds.
template <class M, class T, extent_t... Extents>
struct leaf_type;
template <class T, extent_t... Extents>
struct leaf_type<host, T, Extents...> : output_array<spec<T, Extents...>> {};
template <class T, extent_t... Extents>
struct leaf_type<traced, T, Extents...> {
    using type = expr<T>;
};
template <class T, extent_t... Extents>
struct leaf_type<variables, T, Extents...> {
    using type = variable<T, Extents...>;
};
template <class T, extent_t... Extents>
struct leaf_type<traced_variables, T, Extents...> {
    using type = variable_expr<T>;
};
template <class T, extent_t... Extents>
struct leaf_type<specs, T, Extents...> {
    using type = spec<T, Extents...>;
};

/// An array of a family: `leaf<M, float, dyn, 784>`; a scalar without extents.
template <class M, class T, extent_t... Extents>
using leaf = typename leaf_type<M, T, Extents...>::type;

} // namespace v0
} // namespace calque
