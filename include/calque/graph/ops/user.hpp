// SPDX-License-Identifier: MIT
// Operations that users write, outside of the library: one struct here stands for all of them.
#pragma once

#include <calque/graph/op.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace graph {

/// An operation of a user as a graph keeps it: without its type, but for what was instantiated of it for one dtype.
struct user_operation {
    std::string_view name;
    /// Computes a contiguous array from inputs of its extents, whose elements lie `steps` apart.
    void (*run)(shape const& extents, std::byte* to, std::byte const* const* inputs, strides const* steps) = nullptr;
    /// Writes the adjoint of each input; null: the operation has no derivative.
    void (*vjp)(value const& dy, value const* inputs, value const& y, value* adjoints) = nullptr;
};

namespace ops {

/// An operation of a user, element by element. Attribute: its number in the graph's list of `user_operation`s.
///
/// Inputs have one shape and one dtype, which are those of the result. It is stored: nothing is fused with it.
struct user_function : op_defaults {
    static constexpr std::string_view name = "apply";
    static constexpr op_kind kind = op_kind::movement;
    static constexpr int arity = -1;
    static constexpr int cost = 100;

    static constexpr shape infer(inference& in) { return broadcast_inputs(in); }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute()); }
};

} // namespace ops
} // namespace graph
} // namespace v0
} // namespace calque
