// SPDX-License-Identifier: MIT
// Operations that copy elements to other places.
#pragma once

#include <calque/graph/ops/views.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace graph::ops {

struct movement : op_defaults {
    static constexpr op_kind kind = op_kind::movement;
    static constexpr int cost = 100;
};

/// Arrays one after the other along an axis. Attribute: the axis.
struct concatenate : movement {
    static constexpr std::string_view name = "concatenate";
    static constexpr int arity = -1; // any number

    static constexpr shape infer(inference& in) {
        shape result = in.input(0);
        int const joined = static_cast<int>(in.attribute);
        for (int k = 1; k < in.count; ++k) {
            shape const& other = in.input(k);
            if (other.rank != result.rank) {
                in.fail(reason::extents_differ);
                return result;
            }
            for (int axis = 0; axis < result.rank; ++axis) {
                extent_t& extent = result[axis];
                if (axis == joined) {
                    extent = is_static(extent) && is_static(other[axis]) ? extent + other[axis] : dyn;
                } else if (extent != other[axis]) {
                    if (is_static(extent) && is_static(other[axis])) {
                        in.fail(reason::extents_differ);
                    }
                    extent = is_static(other[axis]) || extent == dyn ? other[axis] : extent;
                }
            }
        }
        return result;
    }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute() + 1); }
};

/// Up to 8 elements known to the compiler, of the dtype of the input. Attribute: a list, of their bits.
struct literal_elements : movement {
    static constexpr std::string_view name = "literal_elements";
    static constexpr int arity = 1;
    static constexpr int first_shape_input = 0;
    static constexpr int list_count = 1;

    static constexpr shape infer(inference& in) { return {in.list(static_cast<int>(in.attribute)).rank}; }
    static constexpr auto vjp(auto dy, auto /*like*/, auto /*y*/) { return dy.none(); }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute()); }
};

namespace detail {

/// Whether the first input of an operation has the shape of the part that a slice with its attribute reads of the
/// second; else it fails. The shape of the second.
constexpr shape infer_placed(inference& in) {
    shape const& placed = in.input(0);
    shape const part = part_of(in, in.input(1));
    for (int axis = 0; axis < part.rank; ++axis) {
        if (is_static(placed[axis]) && is_static(part[axis]) && placed[axis] != part[axis]) {
            in.fail(reason::index_out_of_range); // ranges have been compared before
        }
    }
    return in.input(1);
}

} // namespace detail

/// Places the first input into zeros of the second's shape, where a `slice` with this attribute would read it.
struct slice_adjoint : movement {
    static constexpr std::string_view name = "slice_adjoint";
    static constexpr int list_count = 3;
    static constexpr int arity = 2;
    static constexpr int first_shape_input = 1;

    static constexpr shape infer(inference& in) { return detail::infer_placed(in); }
    static constexpr auto vjp(auto dy, auto /*x*/, auto like, auto y) {
        return std::array{graph::slice(dy, y.attribute()), like.none()};
    }
    static constexpr auto batch(auto const& in) { return in.again(in.ranges_behind_all()); }
};

/// The second input, but for the first in its place, where a `slice` with this attribute would read it.
struct set_slice : movement {
    static constexpr std::string_view name = "set_slice";
    static constexpr int list_count = 3;
    static constexpr int arity = 2;

    static constexpr shape infer(inference& in) { return detail::infer_placed(in); }
    static constexpr auto vjp(auto dy, auto part, auto /*x*/, auto y) {
        auto const nothing = graph::broadcast_like(zero_of(dy), part);
        return std::array{graph::slice(dy, y.attribute()), graph::set_slice(nothing, dy, y.attribute())};
    }
    static constexpr auto batch(auto const& in) { return in.again(in.ranges_behind_all()); }
};

/// Element i along an axis is element i - shift of the first input, around the end. The second is the shift, a scalar
/// of dtype int64. Attribute: the axis.
struct roll : movement {
    static constexpr std::string_view name = "roll";
    static constexpr int arity = 2;

    static constexpr shape infer(inference& in) { return in.input(0); }
    static constexpr auto vjp(auto dy, auto /*x*/, auto shift, auto y) {
        return std::array{graph::roll(dy, static_cast<int>(y.attribute()), -shift), dy.none()};
    }
    static constexpr auto batch(auto const& in) {
        int const axis = static_cast<int>(in.attribute());
        if (!in.is_mapped(1)) {
            return graph::roll(in.batch(0), axis + 1, in.part(1));
        }
        return graph::roll_each(in.batch(0), in.batch(1), axis);
    }
};

/// The elements of the first input at integer positions along an axis. Attribute: the axis.
///
/// Shape: the axis is replaced by the axes of the indices. A negative index counts from the end; one that is out of
/// range takes the nearest element that exists.
struct take : movement {
    static constexpr std::string_view name = "take";
    static constexpr int arity = 2;

    static constexpr shape infer(inference& in) {
        shape const& from = in.input(0);
        shape const& indices = in.input(1);
        shape to;
        if (from.rank - 1 + indices.rank > max_rank) {
            in.fail(reason::rank_too_high);
            return from;
        }
        if (from[static_cast<int>(in.attribute)] == 0 && indices.is_static() && indices.size() != 0) {
            in.fail(reason::empty_reduction); // there is no nearest element
        }
        for (int axis = 0; axis < from.rank; ++axis) {
            if (axis != static_cast<int>(in.attribute)) {
                to.push_back(from[axis]);
                continue;
            }
            for (int i = 0; i < indices.rank; ++i) {
                to.push_back(indices[i]);
            }
        }
        return to;
    }
    static constexpr auto vjp(auto dy, auto x, auto indices, auto y) {
        return std::array{graph::take_adjoint(dy, indices, x, y.attribute()), dy.none()};
    }
    static constexpr auto batch(auto const& in) {
        std::uint64_t const axis = in.attribute();
        if (!in.is_mapped(1)) {
            return graph::take(in.batch(0), in.part(1), axis + 1);
        }
        if (!in.is_mapped(0)) { // the batch axis comes with the axes of the indices
            return graph::move_to_front(graph::take(in.part(0), in.batch(1), axis), static_cast<int>(axis));
        }
        return graph::take_each(in.batch(0), in.batch(1), static_cast<int>(axis));
    }
};

/// Adds the first input into zeros of the third's shape, where a `take` with the second as indices would read it.
struct take_adjoint : movement {
    static constexpr std::string_view name = "take_adjoint";
    static constexpr int arity = 3;
    static constexpr int first_shape_input = 2;
    static constexpr dtype_set accepts = dtype_set::numbers;

    static constexpr shape infer(inference& in) { return in.input(2); }
    static constexpr auto vjp(auto dy, auto /*x*/, auto indices, auto like, auto y) {
        return std::array{graph::take(dy, indices, y.attribute()), like.none(), like.none()};
    }
    static constexpr auto batch(auto const& in) {
        std::uint64_t const axis = in.attribute();
        if (!in.is_mapped(1)) {
            return graph::take_adjoint(in.batch(0), in.part(1), in.shape_of(2), axis + 1);
        }
        return graph::take_each_adjoint(in.batch(0), in.batch(1), in.shape_of(2), static_cast<int>(axis));
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
