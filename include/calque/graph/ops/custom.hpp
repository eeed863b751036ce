// SPDX-License-Identifier: MIT
// A derivative that the user gives: the value that has it, and the cotangent that it is written on.
#pragma once

#include <calque/graph/op.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace graph::ops {

struct custom_op : view_op {
    static constexpr int arity = -1;
    static constexpr bool is_unique = true;

    static constexpr shape infer(inference& in) { return in.input(0); }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute()); }
};

/// The placeholder that a derivative is traced with: of the shape of the first input, the value. The others are what
/// the value was computed of: as they are, it is mapped if one of them is.
struct cotangent : custom_op {
    static constexpr std::string_view name = "cotangent";
};

/// The first input, a value y, with a derivative of its own. Inputs: y, its `cotangent` u, then n arguments, then what
/// the derivative makes of u for each of them. Attribute: n.
///
/// A derivative puts the adjoint of the result in the place of u; what nobody differentiates is y.
struct custom_derivative : custom_op {
    static constexpr std::string_view name = "custom_derivative";

    static constexpr int first_argument = 2;
    static constexpr int argument_count(std::uint64_t attribute) { return static_cast<int>(attribute); }
};

/// The first input, once the second has been computed: the same elements as a value of its own, so that what is
/// computed of it is computed again.
struct after : view_op {
    static constexpr std::string_view name = "after";
    static constexpr int arity = 2;

    static constexpr shape infer(inference& in) { return in.input(0); }
    static constexpr auto vjp(auto dy, auto /*x*/, auto /*first*/, auto /*y*/) { return std::array{dy, dy.none()}; }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute()); }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
