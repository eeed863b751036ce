// SPDX-License-Identifier: MIT
// A list of types: the leaves of an argument, in order.
#pragma once

#include <calque/core/config.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace calque {
inline namespace v0 {

/// Types in order.
template <class... T>
struct type_list {
    static constexpr std::size_t size = sizeof...(T);
};

namespace detail {

// Overload resolution finds a type by its position: one class a list and a cheap look-up, where a recursion would
// instantiate a class for every position of every list.
template <std::size_t I, class T>
struct indexed_type {
    using type = T;
};

template <class Indices, class... T>
struct indexed_types;
template <std::size_t... I, class... T>
struct indexed_types<std::index_sequence<I...>, T...> : indexed_type<I, T>... {};

template <std::size_t I, class T>
indexed_type<I, T> find_indexed_type(indexed_type<I, T> const*);
template <class T, std::size_t I>
std::integral_constant<std::size_t, I> find_index_of_type(indexed_type<I, T> const*);

template <class List>
struct index_of_list;
template <class... T>
struct index_of_list<type_list<T...>> {
    using type = indexed_types<std::make_index_sequence<sizeof...(T)>, T...>;
};

// Three lists a step: an argument has few children, so that the recursion is short.
template <class... Lists>
struct concatenated;
template <>
struct concatenated<> {
    using type = type_list<>;
};
template <class... A>
struct concatenated<type_list<A...>> {
    using type = type_list<A...>;
};
template <class... A, class... B>
struct concatenated<type_list<A...>, type_list<B...>> {
    using type = type_list<A..., B...>;
};
template <class... A, class... B, class... C, class... Rest>
struct concatenated<type_list<A...>, type_list<B...>, type_list<C...>, Rest...> {
    using type = typename concatenated<type_list<A..., B..., C...>, Rest...>::type;
};

} // namespace detail

/// The type at position `I` of a list.
template <class List, std::size_t I>
using type_at_t = typename decltype(detail::find_indexed_type<I>(
    static_cast<typename detail::index_of_list<List>::type const*>(nullptr)))::type;

/// The position of a type in a list of different types.
template <class List, class T>
inline constexpr std::size_t index_of_type_v = decltype(detail::find_index_of_type<T>(
    static_cast<typename detail::index_of_list<List>::type const*>(nullptr)))::value;

/// The types of all lists, in order.
template <class... Lists>
using concatenate_t = typename detail::concatenated<Lists...>::type;

} // namespace v0
} // namespace calque
