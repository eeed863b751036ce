// SPDX-License-Identifier: MIT
// Operations that users write, outside of the library: of elements, and functions of the host that see whole arrays.
#pragma once

#include <calque/graph/op.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace graph {

/// An array that a function of the host gets: its elements are contiguous.
struct untyped_array {
    shape const* extents;
    std::byte* data;
};

/// An operation of a user as a graph keeps it: without its type, but for what was instantiated of it for one dtype.
struct user_operation {
    std::string_view name;
    /// Computes a contiguous array from inputs of its extents, whose elements lie `steps` apart.
    void (*run)(shape const& extents, std::byte* to, std::byte const* const* inputs, strides const* steps) = nullptr;
    /// Writes the adjoint of each input; null: the operation has no derivative.
    void (*vjp)(value const& dy, value const* inputs, value const& y, value* adjoints) = nullptr;
    /// Calls a function of the host with its inputs; then comes the result, if there is one.
    void (*call)(untyped_array const* arrays) = nullptr;
};

namespace ops {

/// What an operation's attribute says of a `user_operation`, its number in the graph's list: the low 32 bits.
struct of_user : op_defaults {
    static constexpr op_kind kind = op_kind::movement;
    static constexpr int arity = -1;

    static constexpr std::uint64_t number(std::uint64_t attribute) { return attribute & 0xffffffffu; }
    static constexpr std::uint64_t with_number(std::uint64_t attribute, int number) {
        return (attribute & ~std::uint64_t{0xffffffffu}) | static_cast<std::uint64_t>(number);
    }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute()); }
};

/// An operation of a user, element by element.
///
/// Inputs have one shape and one dtype, which are those of the result. It is stored: nothing is fused with it.
struct user_function : of_user {
    static constexpr std::string_view name = "apply";
    static constexpr int cost = 100;

    static constexpr shape infer(inference& in) { return broadcast_inputs(in); }
};

/// A function of the host that gets whole arrays. Attribute: above the number, the dtype of the result.
struct host_operation : of_user {
    static constexpr int cost = 1000;

    static constexpr std::uint64_t pack(int number, dtype result) {
        return with_number(static_cast<std::uint64_t>(result) << 32, number);
    }

    static constexpr dtype infer_type(dtype const*, std::uint64_t attribute) {
        return static_cast<dtype>(attribute >> 32);
    }
};

/// Makes an array of the extents of the first input.
struct host_function : host_operation {
    static constexpr std::string_view name = "host_function";

    static constexpr shape infer(inference& in) { return in.input(0); }
};

/// Does something that others notice. The last input, the state of the graph's checks, goes through unchanged: what
/// demands and does something happens in the order of the program, and nobody leaves it out.
struct host_call : host_operation {
    static constexpr std::string_view name = "host_call";

    static constexpr shape infer(inference& in) { return in.input(in.count - 1); }
};

} // namespace ops
} // namespace graph
} // namespace v0
} // namespace calque
