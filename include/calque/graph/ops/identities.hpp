// SPDX-License-Identifier: MIT
// Operations that pass elements on unchanged: what matters is the shape, or what the derivative sees.
#pragma once

#include <calque/graph/op.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace graph::ops {

struct identity_op : elementwise<1> {
    static constexpr int cost = 0;

    template <class V>
    static constexpr V apply(V x) {
        return x;
    }
};

/// A value of its own: what `grad` differentiates with respect to, however else its input is used.
struct fresh : identity_op {
    static constexpr std::string_view name = "fresh";
    static constexpr bool is_unique = true;

    static constexpr auto vjp(auto dy, auto /*x*/, auto /*y*/) { return dy; }
};

/// A value without a derivative.
struct stop_gradient : identity_op {
    static constexpr std::string_view name = "stop_gradient";
};

/// Stretches to a list of extents (the attribute), `dyn` ones being those of the second input, which lends its shape.
struct broadcast_to : identity_op {
    static constexpr std::string_view name = "broadcast_to";
    static constexpr int arity = 2;
    static constexpr int first_shape_input = 1;

    static constexpr shape infer(inference& in) {
        shape const& from = in.input(0);
        shape const& to = in.input(1);
        if (from.rank > to.rank) {
            in.fail(reason::rank_too_high);
            return to;
        }
        shape const joined = broadcast_inputs(in);
        for (int axis = 0; axis < to.rank; ++axis) {
            if (joined[axis] != to[axis] && is_static(to[axis])) {
                in.fail(reason::extents_do_not_broadcast);
            }
        }
        return to;
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto /*like*/, auto /*y*/) { return std::array{dy, dy.none()}; }
};

/// The transpose of broadcasting: sums over the axes along which the second input, which lends its shape, has extent 1.
///
/// Both have one rank. It stands where only the call knows the extents: where they agree, a plan drops it.
struct sum_to : identity_op {
    static constexpr std::string_view name = "sum_to";
    static constexpr int arity = 2;
    static constexpr int first_shape_input = 1;

    static constexpr shape infer(inference& in) { return in.input(1); }
    static constexpr auto vjp(auto dy, auto x, auto /*like*/, auto /*y*/) {
        return std::array{broadcast_like(dy, x), dy.none()};
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
