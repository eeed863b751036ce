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

/// Stretches to a list of extents (the attribute); one that is not static is kept from the input.
struct broadcast_to : identity_op {
    static constexpr std::string_view name = "broadcast_to";
    static constexpr int list_count = 1;

    static constexpr shape infer(inference& in) {
        shape const& from = in.input(0);
        shape to = in.list(static_cast<int>(in.attribute));
        if (from.rank > to.rank) {
            in.fail(reason::extents_do_not_broadcast);
            return to;
        }
        for (int i = 1; i <= to.rank; ++i) {
            bool const is_new = i > from.rank;
            extent_t const extent = is_new ? 1 : from[from.rank - i];
            extent_t& wanted = to[to.rank - i];
            if (!is_static(wanted)) {
                if (is_new) { // nothing says in a call how long it is
                    in.fail(reason::extents_not_known);
                }
                wanted = extent;
            } else if (is_static(extent) && extent != wanted && extent != 1) {
                in.fail(reason::extents_do_not_broadcast);
            }
        }
        return to;
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto /*y*/) { return dy; }
    static constexpr auto batch(auto const& in) { return in.again(in.list_behind(dyn)); }
};

/// Stretches to the shape of the second input, which lends only that.
struct broadcast_like : identity_op {
    static constexpr std::string_view name = "broadcast_like";
    static constexpr int arity = 2;
    static constexpr int first_shape_input = 1;

    static constexpr shape infer(inference& in) {
        shape const& to = in.input(1);
        if (in.input(0).rank > to.rank) {
            in.fail(reason::extents_do_not_broadcast);
            return to;
        }
        shape const joined = broadcast_inputs(in);
        for (int axis = 0; axis < to.rank; ++axis) {
            if (is_static(joined[axis]) && is_static(to[axis]) && joined[axis] != to[axis]) {
                in.fail(reason::extents_do_not_broadcast);
            }
        }
        return to;
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto /*like*/, auto /*y*/) { return std::array{dy, dy.none()}; }
};

/// The same elements, of a shape that the author asserts: a list of extents (the attribute), `dyn` ones being any.
struct assert_shape : identity_op {
    static constexpr std::string_view name = "assert_shape";
    static constexpr int list_count = 1;

    static constexpr shape infer(inference& in) {
        shape result = in.input(0);
        shape const& asserted = in.list(static_cast<int>(in.attribute));
        if (result.rank != asserted.rank) {
            in.fail(reason::shape_not_as_asserted);
            return result;
        }
        for (int axis = 0; axis < result.rank; ++axis) {
            if (is_static(asserted[axis]) && is_static(result[axis]) && asserted[axis] != result[axis]) {
                in.fail(reason::shape_not_as_asserted);
            }
            if (!is_static(result[axis]) && asserted[axis] != dyn) {
                result[axis] = asserted[axis];
            }
        }
        return result;
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto /*y*/) { return dy; }
    static constexpr auto batch(auto const& in) { return in.again(in.list_behind(dyn)); }
};

/// What a variable becomes. The second input, what it was, lends the shape that it must have. Attribute: the argument
/// that the variable is.
struct assigned : identity_op {
    static constexpr std::string_view name = "assign";
    static constexpr int arity = 2;
    static constexpr int first_shape_input = 1;

    static constexpr shape infer(inference& in) {
        shape const& value = in.input(0);
        shape const& variable = in.input(1);
        bool agree = value.rank == variable.rank;
        for (int axis = 0; agree && axis < value.rank; ++axis) {
            agree = value[axis] == variable[axis] || !is_static(value[axis]) || !is_static(variable[axis]);
        }
        if (!agree) {
            in.fail(reason::assigned_shape_differs);
        }
        return variable;
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto /*was*/, auto /*y*/) { return std::array{dy, dy.none()}; }
};

/// The transpose of broadcasting: sums over the axes along which the second input, which lends its shape, has extent 1.
///
/// Both have one rank. It stands where only the call knows the extents: where they agree, a plan drops it.
struct sum_to : identity_op {
    static constexpr std::string_view name = "sum_to";
    static constexpr dtype_set accepts = dtype_set::computed;
    static constexpr int arity = 2;
    static constexpr int first_shape_input = 1;

    static constexpr shape infer(inference& in) { return in.input(1); }
    static constexpr auto vjp(auto dy, auto x, auto /*like*/, auto /*y*/) {
        return std::array{graph::broadcast_like(dy, x), dy.none()};
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
