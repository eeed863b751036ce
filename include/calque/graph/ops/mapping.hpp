// SPDX-License-Identifier: MIT
// What `vmap` puts into a graph: the placeholder that a mapped function is traced with, and the check that what is
// mapped has equal extents.
#pragma once

#include <calque/graph/ops/identities.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace graph::ops {

/// One element of a batch, the first axis of its input: a mapped function is traced on it, and then rewritten.
///
/// What the rewritten nodes still ask of it is its shape: its elements are never read.
struct example : op_defaults {
    static constexpr std::string_view name = "example";
    static constexpr op_kind kind = op_kind::source;
    static constexpr int arity = 1;
    static constexpr int cost = 0;
    static constexpr int first_shape_input = 0;
    static constexpr bool is_unique = true;

    static constexpr shape infer(inference& in) {
        shape result;
        for (int axis = 1; axis < in.input(0).rank; ++axis) {
            result.push_back(in.input(0)[axis]);
        }
        return result;
    }
};

/// The first input, whose extent along one axis must be that of the second, which lends its shape: both are mapped
/// together. Attribute: the axis in the low 8 bits; above, whether they have another reason to agree.
struct same_batch : identity_op {
    static constexpr std::string_view name = "same_batch";
    static constexpr int arity = 2;
    static constexpr int first_shape_input = 1;

    static constexpr shape infer(inference& in) {
        shape result = in.input(0);
        int const axis = static_cast<int>(in.attribute & 255u);
        extent_t& own = result[axis];
        extent_t const other = in.input(1)[axis];
        if (own != other && is_named(own) == is_named(other) && own != dyn && other != dyn) {
            in.fail(in.attribute < 256 ? reason::batches_differ : reason::extents_differ);
        }
        if (own == dyn || is_static(other)) {
            own = other;
        }
        return result;
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto /*like*/, auto /*y*/) { return std::array{dy, dy.none()}; }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute() + 1); }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
