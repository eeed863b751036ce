// SPDX-License-Identifier: MIT
// Reflection of aggregates without macros: the fields of a struct, their names, and the place of a pointer to member.
//
// C++20 cannot list fields, but a braced initialiser of the right length compiles and a longer one does not. Fields
// are counted by trying, then named by structured bindings; the repetition that takes lives in this file alone.
#pragma once

#include <calque/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace calque {
inline namespace v0 {

/// The most fields that a reflected aggregate may have.
inline constexpr std::size_t max_fields = 32;

namespace detail {

// Initialises a field of any type but the aggregate itself, whose copy would look like a first field. Never called, but
// defined: std::tuple's converting constructor is instantiated while the compiler decides.
template <class Owner, std::size_t>
struct any_field {
    template <class T>
        requires(!std::same_as<T, Owner>)
    operator T() const noexcept {
        __builtin_unreachable();
    }
};

template <class T, std::size_t... I>
constexpr bool accepts_initializers(std::index_sequence<I...>) {
    return requires { T{any_field<T, I>{}...}; };
}

// How many initialisers `T{...}` takes. The accepted counts are one run: fewer leave a field without a default (a
// traced handle has none), more are too many. So the count is the last of the first run.
template <class T, std::size_t Count = 0, bool SomeAccepted = false>
constexpr std::size_t count_initializers() {
    constexpr bool accepted = accepts_initializers<T>(std::make_index_sequence<Count>{});
    if constexpr (SomeAccepted && !accepted) {
        return Count - 1;
    } else if constexpr (Count <= max_fields) {
        return count_initializers<T, Count + 1, SomeAccepted || accepted>();
    } else {
        return Count; // more than max_fields, or not to be initialised at all
    }
}

template <class T, std::size_t... Before, std::size_t... Inside, std::size_t... After>
constexpr bool accepts_nested(std::index_sequence<Before...>, std::index_sequence<Inside...>,
                              std::index_sequence<After...>) {
    return requires { T{any_field<T, Before>{}..., {any_field<T, Inside>{}...}, any_field<T, After>{}...}; };
}

template <class T, std::size_t Before, std::size_t Inside, std::size_t After>
inline constexpr bool accepts_nested_v = accepts_nested<T>(
    std::make_index_sequence<Before>{}, std::make_index_sequence<Inside>{}, std::make_index_sequence<After>{});

// How many initialisers the field takes that begins at initialiser `At`: 1, but the extent of a C array, whose braces
// may be left out. Braces around exactly those of an array leave room for the others and for no more.
template <class T, std::size_t Count, std::size_t At, std::size_t Inside = 1>
constexpr std::size_t initializers_of_field() {
    if constexpr (At + Inside > Count) {
        return 1; // a class that no list of `any_field` initialises
    } else if constexpr (accepts_nested_v<T, At, Inside, Count - At - Inside> &&
                         !accepts_nested_v<T, At, Inside, Count - At - Inside + 1>) {
        return Inside;
    } else {
        return initializers_of_field<T, Count, At, Inside + 1>();
    }
}

template <class T, std::size_t Count, std::size_t At = 0>
constexpr std::size_t count_fields() {
    if constexpr (At >= Count) {
        return 0;
    } else {
        return 1 + count_fields<T, Count, At + initializers_of_field<T, Count, At>()>();
    }
}

template <class T>
constexpr std::size_t count_fields_of() {
    static_assert(std::is_aggregate_v<T>, "calque: only aggregates (structs without constructors) are reflected");
    constexpr std::size_t initializers = count_initializers<T>();
    static_assert(initializers <= max_fields, "calque: an aggregate here has at most 32 fields, none of them a "
                                              "reference or a base class");
    return count_fields<T, initializers>();
}

} // namespace detail

/// The number of fields of the aggregate `T`.
template <class T>
inline constexpr std::size_t field_count_v = detail::count_fields_of<std::remove_cv_t<T>>();

#define CALQUE_FIELDS_1 f0
#define CALQUE_FIELDS_2 CALQUE_FIELDS_1, f1
#define CALQUE_FIELDS_3 CALQUE_FIELDS_2, f2
#define CALQUE_FIELDS_4 CALQUE_FIELDS_3, f3
#define CALQUE_FIELDS_5 CALQUE_FIELDS_4, f4
#define CALQUE_FIELDS_6 CALQUE_FIELDS_5, f5
#define CALQUE_FIELDS_7 CALQUE_FIELDS_6, f6
#define CALQUE_FIELDS_8 CALQUE_FIELDS_7, f7
#define CALQUE_FIELDS_9 CALQUE_FIELDS_8, f8
#define CALQUE_FIELDS_10 CALQUE_FIELDS_9, f9
#define CALQUE_FIELDS_11 CALQUE_FIELDS_10, f10
#define CALQUE_FIELDS_12 CALQUE_FIELDS_11, f11
#define CALQUE_FIELDS_13 CALQUE_FIELDS_12, f12
#define CALQUE_FIELDS_14 CALQUE_FIELDS_13, f13
#define CALQUE_FIELDS_15 CALQUE_FIELDS_14, f14
#define CALQUE_FIELDS_16 CALQUE_FIELDS_15, f15
#define CALQUE_FIELDS_17 CALQUE_FIELDS_16, f16
#define CALQUE_FIELDS_18 CALQUE_FIELDS_17, f17
#define CALQUE_FIELDS_19 CALQUE_FIELDS_18, f18
#define CALQUE_FIELDS_20 CALQUE_FIELDS_19, f19
#define CALQUE_FIELDS_21 CALQUE_FIELDS_20, f20
#define CALQUE_FIELDS_22 CALQUE_FIELDS_21, f21
#define CALQUE_FIELDS_23 CALQUE_FIELDS_22, f22
#define CALQUE_FIELDS_24 CALQUE_FIELDS_23, f23
#define CALQUE_FIELDS_25 CALQUE_FIELDS_24, f24
#define CALQUE_FIELDS_26 CALQUE_FIELDS_25, f25
#define CALQUE_FIELDS_27 CALQUE_FIELDS_26, f26
#define CALQUE_FIELDS_28 CALQUE_FIELDS_27, f27
#define CALQUE_FIELDS_29 CALQUE_FIELDS_28, f28
#define CALQUE_FIELDS_30 CALQUE_FIELDS_29, f29
#define CALQUE_FIELDS_31 CALQUE_FIELDS_30, f30
#define CALQUE_FIELDS_32 CALQUE_FIELDS_31, f31
#define CALQUE_WITH_FIELDS(count)                                                                                      \
    else if constexpr (field_count_v<T> == count) {                                                                    \
        auto& [CALQUE_FIELDS_##count] = object;                                                                        \
        return fn(CALQUE_FIELDS_##count);                                                                              \
    }

/// Calls `fn` with references to the fields of `object`, in order: `with_fields(p, [](auto& w, auto& b) { ... })`.
template <class T, class Fn>
constexpr decltype(auto) with_fields(T& object, Fn&& fn) {
    if constexpr (field_count_v<T> == 0) {
        return fn();
    }
    // clang-format off
    CALQUE_WITH_FIELDS(1) CALQUE_WITH_FIELDS(2) CALQUE_WITH_FIELDS(3) CALQUE_WITH_FIELDS(4)
    CALQUE_WITH_FIELDS(5) CALQUE_WITH_FIELDS(6) CALQUE_WITH_FIELDS(7) CALQUE_WITH_FIELDS(8)
    CALQUE_WITH_FIELDS(9) CALQUE_WITH_FIELDS(10) CALQUE_WITH_FIELDS(11) CALQUE_WITH_FIELDS(12)
    CALQUE_WITH_FIELDS(13) CALQUE_WITH_FIELDS(14) CALQUE_WITH_FIELDS(15) CALQUE_WITH_FIELDS(16)
    CALQUE_WITH_FIELDS(17) CALQUE_WITH_FIELDS(18) CALQUE_WITH_FIELDS(19) CALQUE_WITH_FIELDS(20)
    CALQUE_WITH_FIELDS(21) CALQUE_WITH_FIELDS(22) CALQUE_WITH_FIELDS(23) CALQUE_WITH_FIELDS(24)
    CALQUE_WITH_FIELDS(25) CALQUE_WITH_FIELDS(26) CALQUE_WITH_FIELDS(27) CALQUE_WITH_FIELDS(28)
    CALQUE_WITH_FIELDS(29) CALQUE_WITH_FIELDS(30) CALQUE_WITH_FIELDS(31) CALQUE_WITH_FIELDS(32)
    // clang-format on
}

#undef CALQUE_WITH_FIELDS
#undef CALQUE_FIELDS_1
#undef CALQUE_FIELDS_2
#undef CALQUE_FIELDS_3
#undef CALQUE_FIELDS_4
#undef CALQUE_FIELDS_5
#undef CALQUE_FIELDS_6
#undef CALQUE_FIELDS_7
#undef CALQUE_FIELDS_8
#undef CALQUE_FIELDS_9
#undef CALQUE_FIELDS_10
#undef CALQUE_FIELDS_11
#undef CALQUE_FIELDS_12
#undef CALQUE_FIELDS_13
#undef CALQUE_FIELDS_14
#undef CALQUE_FIELDS_15
#undef CALQUE_FIELDS_16
#undef CALQUE_FIELDS_17
#undef CALQUE_FIELDS_18
#undef CALQUE_FIELDS_19
#undef CALQUE_FIELDS_20
#undef CALQUE_FIELDS_21
#undef CALQUE_FIELDS_22
#undef CALQUE_FIELDS_23
#undef CALQUE_FIELDS_24
#undef CALQUE_FIELDS_25
#undef CALQUE_FIELDS_26
#undef CALQUE_FIELDS_27
#undef CALQUE_FIELDS_28
#undef CALQUE_FIELDS_29
#undef CALQUE_FIELDS_30
#undef CALQUE_FIELDS_31
#undef CALQUE_FIELDS_32

/// The fields of `object`, as a tuple of references.
template <class T>
constexpr auto tie_fields(T& object) {
    return with_fields(object, [](auto&... fields) { return std::tuple<decltype(fields)...>(fields...); });
}

/// The type of field `I` of the aggregate `T`.
template <class T, std::size_t I>
using field_t = std::remove_reference_t<std::tuple_element_t<I, decltype(tie_fields(std::declval<T&>()))>>;

namespace detail {

// An object that is never made, only pointed into: where its fields lie is known to the compiler. (Not constexpr:
// clang 14 wants a literal type for that, which an array is not.)
template <class T>
union unmade {
    constexpr unmade() : nothing() {}
    constexpr ~unmade() {}

    char nothing;
    T object;
};

template <class T>
struct specimen {
    static inline unmade<T> value{};
};

template <class Field>
struct field_pointer {
    Field* address;
};

template <class T, std::size_t I>
constexpr auto field_pointer_of() {
    return field_pointer<field_t<T, I>>{&std::get<I>(tie_fields(specimen<T>::value.object))};
}

// Named without an alias as its return type, so that all compilers end the text with the pointer.
template <auto Pointer>
constexpr char const* text_of_pointer() {
    return __PRETTY_FUNCTION__; // "... {&specimen<config>::value.object.scale}]", with more brackets in g++
}

constexpr bool is_identifier_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

constexpr std::string_view last_identifier(std::string_view text) {
    while (!text.empty() && !is_identifier_character(text.back())) {
        text.remove_suffix(1);
    }
    std::size_t begin = text.size();
    while (begin != 0 && is_identifier_character(text[begin - 1])) {
        --begin;
    }
    return text.substr(begin);
}

} // namespace detail

/// The name of field `I` of the aggregate `T`: `"scale"`.
template <class T, std::size_t I>
inline constexpr std::string_view field_name_v =
    detail::last_identifier(detail::text_of_pointer<detail::field_pointer_of<std::remove_cv_t<T>, I>()>());

/// The place of a field among the fields of its aggregate: `field_index(&config::scale)` is 0.
template <class T, class Field>
constexpr std::size_t field_index(Field T::* member) {
    return with_fields(detail::specimen<T>::value.object, [member](auto&... fields) {
        Field const* const wanted = &(detail::specimen<T>::value.object.*member);
        std::size_t index = 0;
        bool found = false;
        auto const compare = [&](auto& field) {
            if constexpr (std::is_same_v<decltype(&field), Field*>) {
                found = found || &field == wanted;
            }
            index += found ? 0 : 1;
        };
        (compare(fields), ...);
        return index;
    });
}

} // namespace v0
} // namespace calque
