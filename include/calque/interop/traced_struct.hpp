// SPDX-License-Identifier: MIT
// `traced_struct<C>`: what a traced function sees of a plain struct, whose fields cannot hold handles themselves.
#pragma once

#include <calque/interop/tree.hpp>

namespace calque {
inline namespace v0 {

namespace detail {

template <class Fields>
struct traced_fields;
template <class... Fields>
struct traced_fields<type_list<Fields...>> {
    using type = std::tuple<traced_t<Fields>...>;
};

} // namespace detail

/// The fields of a plain struct `C` as traced values, in their order.
///
/// A field is read by its pointer to member, `c[&config::scale]`, or all by a structured binding,
/// `auto [scale, power] = c`. A field that is a struct itself is a `traced_struct` again.
template <class C>
class traced_struct {
public:
    using struct_type = C;
    using handles = typename detail::traced_fields<tree_children_t<C>>::type;

    constexpr explicit traced_struct(handles fields) : handles_(static_cast<handles&&>(fields)) {}

    /// The traced value of a field.
    template <class Field>
    constexpr traced_t<Field> const& operator[](Field C::* member) const {
        return find<Field>(field_index(member), std::make_index_sequence<std::tuple_size_v<handles>>{});
    }

    template <std::size_t I>
    constexpr auto const& get() const {
        return std::get<I>(handles_);
    }
    template <std::size_t I>
    constexpr auto& get() {
        return std::get<I>(handles_);
    }

private:
    // Only fields of the same type can be the one; which of them it is, only the pointer's value tells.
    template <class Field, std::size_t... I>
    constexpr traced_t<Field> const& find(std::size_t index, std::index_sequence<I...>) const {
        traced_t<Field> const* found = nullptr;
        auto const compare = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
            if constexpr (std::is_same_v<field_t<C, J>, Field>) {
                found = index == J ? &std::get<J>(handles_) : found;
            }
        };
        (compare(std::integral_constant<std::size_t, I>{}), ...);
        return *found;
    }

    handles handles_;
};

namespace detail {

template <class C>
struct children<traced_struct<C>> : children<typename traced_struct<C>::handles> {};

} // namespace detail

} // namespace v0
} // namespace calque

template <class C>
struct std::tuple_size<calque::traced_struct<C>> : std::tuple_size<typename calque::traced_struct<C>::handles> {};

template <std::size_t I, class C>
struct std::tuple_element<I, calque::traced_struct<C>>
    : std::tuple_element<I, typename calque::traced_struct<C>::handles> {};
