// SPDX-License-Identifier: MIT
// What a graph is made of: nodes in static single assignment form, regions, and how an operation's parameters are
// packed.
#pragma once

#include <calque/core/dtype.hpp>
#include <calque/core/shape.hpp>

#include <bit>
#include <cstdint>

namespace calque {
inline namespace v0 {
namespace graph {

/// Which operation a node performs: an index into `op_set`.
enum class op_code : std::uint8_t {};

/// The index of a node in its graph; inputs have smaller ones than the nodes that use them.
using node_id = int;

/// One value: an operation, its inputs, and the dtype and shape of its result.
struct node {
    op_code op{};
    dtype type = dtype::float32;
    std::uint16_t shape = 0;  // index into the graph's shapes
    std::uint16_t region = 0; // where it is computed; 0 is the function's body
    std::uint16_t input_count = 0;
    int first_input = 0; // index into the graph's list of inputs
    std::uint64_t attribute = 0;
};

/// The nodes that run under a condition or in a loop. Region 0 is the function's body.
struct region {
    std::uint16_t parent = 0;
    int first_node = 0; // its nodes, and those of the regions in it, are not before this one
};

/// A set of axes, as bits: the parameter of reductions, `squeeze` and `expand_dims`.
using axis_set = std::uint64_t;

constexpr bool contains(axis_set axes, int axis) {
    return (axes >> axis & 1u) != 0;
}

/// The bits of a constant of dtype `T`, widened with zeros: -0.0 and NaN compare right as bits.
template <element T>
constexpr std::uint64_t to_bits(T value) {
    if constexpr (std::same_as<T, bool>) {
        return value ? 1 : 0;
    } else if constexpr (std::same_as<T, float>) {
        return std::bit_cast<std::uint32_t>(value);
    } else if constexpr (std::same_as<T, double>) {
        return std::bit_cast<std::uint64_t>(value);
    } else if constexpr (half_float<T>) {
        return value.bits();
    } else {
        return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
    }
}

template <element T>
CALQUE_INLINE constexpr T from_bits(std::uint64_t bits) {
    if constexpr (std::same_as<T, bool>) {
        return bits != 0;
    } else if constexpr (std::same_as<T, float>) {
        return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits));
    } else if constexpr (std::same_as<T, double>) {
        return __builtin_bit_cast(double, bits);
    } else if constexpr (half_float<T>) {
        return T::from_bits(static_cast<std::uint16_t>(bits));
    } else {
        return static_cast<T>(bits);
    }
}

/// The bits of `value` converted to dtype `d`.
constexpr std::uint64_t constant_bits(dtype d, auto value) {
    return with_type_of(d, [&]<class T>() { return to_bits<T>(static_cast<T>(value)); });
}

/// A permutation of axes: axis i of the result is axis `permuted(p, i)` of the input.
constexpr int permuted(std::uint64_t permutation, int axis) {
    return static_cast<int>(permutation >> (4 * axis) & 15u);
}

/// The parameter of a slice: three interned lists with the starts, stops and steps of every axis.
struct slice_lists {
    int starts, stops, steps;

    constexpr std::uint64_t pack() const {
        return static_cast<std::uint64_t>(starts) | static_cast<std::uint64_t>(stops) << 16 |
               static_cast<std::uint64_t>(steps) << 32;
    }
    static constexpr slice_lists unpack(std::uint64_t attribute) {
        return {static_cast<int>(attribute & 0xffff), static_cast<int>(attribute >> 16 & 0xffff),
                static_cast<int>(attribute >> 32 & 0xffff)};
    }
};

/// The end of a slice that runs to the end of its axis.
inline constexpr extent_t to_the_end = INT64_MAX;

} // namespace graph
} // namespace v0
} // namespace calque
