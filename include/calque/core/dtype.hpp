// SPDX-License-Identifier: MIT
// The element types an array can have, as values for the graph and as types for the kernels.
#pragma once

#include <calque/core/half.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace calque {
inline namespace v0 {

/// The element type of an array.
enum class dtype : std::uint8_t {
    bool_,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64,
    float16,
    bfloat16
};

inline constexpr int dtype_count = 13;

namespace detail {

template <dtype>
struct dtype_to_type;

template <class T>
struct type_to_dtype {}; // no `value`: not an element type

#define CALQUE_DTYPE(code, type)                                                                                       \
    template <>                                                                                                        \
    struct dtype_to_type<dtype::code> {                                                                                \
        using type_ = type;                                                                                            \
    };                                                                                                                 \
    template <>                                                                                                        \
    struct type_to_dtype<type> {                                                                                       \
        static constexpr dtype value = dtype::code;                                                                    \
    };
CALQUE_DTYPE(bool_, bool)
CALQUE_DTYPE(int8, std::int8_t)
CALQUE_DTYPE(int16, std::int16_t)
CALQUE_DTYPE(int32, std::int32_t)
CALQUE_DTYPE(int64, std::int64_t)
CALQUE_DTYPE(uint8, std::uint8_t)
CALQUE_DTYPE(uint16, std::uint16_t)
CALQUE_DTYPE(uint32, std::uint32_t)
CALQUE_DTYPE(uint64, std::uint64_t)
CALQUE_DTYPE(float32, float)
CALQUE_DTYPE(float64, double)
CALQUE_DTYPE(float16, half)
CALQUE_DTYPE(bfloat16, calque::bfloat16)
#undef CALQUE_DTYPE

// `long long` and `long` are both 64 bits wide on our platforms, but only one of them is std::int64_t.
template <class T>
struct canonical {
    using type = T;
};
template <>
struct canonical<long long> {
    using type = std::int64_t;
};
template <>
struct canonical<unsigned long long> {
    using type = std::uint64_t;
};

} // namespace detail

/// A C++ type that arrays can have as elements.
template <class T>
concept element = requires { detail::type_to_dtype<T>::value; };

/// The dtype of the element type `T`.
template <element T>
inline constexpr dtype dtype_of = detail::type_to_dtype<T>::value;

/// The C++ type of a dtype.
template <dtype D>
using type_of = typename detail::dtype_to_type<D>::type_;

/// Calls `fn.template operator()<T>()` with the element type of `d`, one that is computed with.
template <class Fn>
constexpr decltype(auto) with_computed_type_of(dtype d, Fn&& fn) {
    switch (d) {
    case dtype::bool_: return fn.template operator()<bool>();
    case dtype::int8: return fn.template operator()<std::int8_t>();
    case dtype::int16: return fn.template operator()<std::int16_t>();
    case dtype::int32: return fn.template operator()<std::int32_t>();
    case dtype::int64: return fn.template operator()<std::int64_t>();
    case dtype::uint8: return fn.template operator()<std::uint8_t>();
    case dtype::uint16: return fn.template operator()<std::uint16_t>();
    case dtype::uint32: return fn.template operator()<std::uint32_t>();
    case dtype::uint64: return fn.template operator()<std::uint64_t>();
    case dtype::float32: return fn.template operator()<float>();
    default: return fn.template operator()<double>();
    }
}

/// Calls `fn.template operator()<T>()` with the element type of `d`: from a value to a type.
template <class Fn>
constexpr decltype(auto) with_type_of(dtype d, Fn&& fn) {
    switch (d) {
    case dtype::float16: return fn.template operator()<half>();
    case dtype::bfloat16: return fn.template operator()<bfloat16>();
    default: return with_computed_type_of(d, fn);
    }
}

/// The name that users read and write: `float`, `int32`, `bool`.
constexpr std::string_view name_of(dtype d) {
    constexpr std::string_view names[] = {"bool",   "int8",   "int16", "int32",  "int64", "uint8",   "uint16",
                                          "uint32", "uint64", "float", "double", "half",  "bfloat16"};
    return names[static_cast<std::size_t>(d)];
}

/// Bytes an element takes in memory.
constexpr std::size_t size_of(dtype d) {
    constexpr std::uint8_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 2, 2};
    return sizes[static_cast<std::size_t>(d)];
}

constexpr bool is_floating(dtype d) {
    return d >= dtype::float32;
}

/// Whether elements are stored as `d` and computed with as float.
constexpr bool is_half_float(dtype d) {
    return d >= dtype::float16;
}

constexpr bool is_integer(dtype d) {
    return d != dtype::bool_ && !is_floating(d);
}

/// A set of dtypes: what an operation accepts.
enum class dtype_set : std::uint16_t {
    none = 0,
    boolean = 1,
    integers = 0b001'1111'1110,
    floating = 0b110'0000'0000,
    numbers = integers | floating,
    bits = boolean | integers,
    words = 0b001'1000'0000, // unsigned, of 32 and of 64 bits
    int64 = 0b000'0001'0000,
    word64 = 0b001'0000'0000,
    computed = boolean | integers | floating,
    half_floats = 0b1'1000'0000'0000, // an operation that does not accept them gets floats: see `builder`
    all = computed | half_floats,
};

constexpr bool contains(dtype_set set, dtype d) {
    return (static_cast<unsigned>(set) >> static_cast<unsigned>(d) & 1u) != 0;
}

/// How a message names a set of dtypes.
constexpr std::string_view name_of(dtype_set set) {
    switch (set) {
    case dtype_set::boolean: return "bool";
    case dtype_set::integers: return "an integer dtype";
    case dtype_set::floating: return "float or double";
    case dtype_set::numbers: return "a number dtype";
    case dtype_set::bits: return "bool or an integer dtype";
    case dtype_set::words: return "uint32 or uint64";
    case dtype_set::int64: return "int64";
    case dtype_set::word64: return "uint64";
    default: return "any dtype";
    }
}

/// The type in which operations compute on elements of `T`.
template <class T>
using computed_t = std::conditional_t<half_float<T>, float, T>;

} // namespace v0
} // namespace calque
