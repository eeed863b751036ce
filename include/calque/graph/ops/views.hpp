// SPDX-License-Identifier: MIT
// The same elements under other extents or strides. A plan makes most of them out of pointers and strides alone.
#pragma once

#include <calque/graph/op.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace graph::ops {

/// Other extents for the same number of elements, in row-major order. Attribute: the list of extents, at most one of
/// them `dyn`: it follows from the number of elements.
struct reshape : view_op {
    static constexpr std::string_view name = "reshape";
    static constexpr int list_count = 1;

    static constexpr shape infer(inference& in) {
        shape const& from = in.input(0);
        shape to = in.list(static_cast<int>(in.attribute));
        extent_t known = 1;
        int unknown = -1;
        for (int axis = 0; axis < to.rank; ++axis) {
            if (is_static(to[axis])) {
                known *= to[axis];
            } else if (unknown >= 0) {
                in.fail(reason::extent_unknown);
            } else {
                unknown = axis;
            }
        }
        if (!from.is_static()) {
            return to;
        }
        if (unknown >= 0 && known != 0) {
            to[unknown] = from.size() / known;
        }
        if (known == 0 ? from.size() != 0 : to.is_static() && to.size() != from.size()) {
            in.fail(reason::sizes_differ);
        }
        return to;
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return graph::reshape_like(dy, x); }
    static constexpr auto batch(auto const& in) { return graph::reshape_like(in.batch(0), in.shape_of_result()); }
};

/// The extents of the second input, which lends its shape, for the elements of the first: the transpose of `reshape`.
struct reshape_like : view_op {
    static constexpr std::string_view name = "reshape_like";
    static constexpr int arity = 2;
    static constexpr int first_shape_input = 1;

    static constexpr shape infer(inference& in) {
        if (in.input(0).is_static() && in.input(1).is_static() && in.input(0).size() != in.input(1).size()) {
            in.fail(reason::sizes_differ);
        }
        return in.input(1);
    }
    static constexpr auto vjp(auto dy, auto x, auto like, auto /*y*/) {
        return std::array{graph::reshape_like(dy, x), like.none()};
    }
    static constexpr auto batch(auto const& in) { return in.again(0); }
};

/// The axes in another order. Attribute: the permutation.
struct transpose : view_op {
    static constexpr std::string_view name = "transpose";

    static constexpr shape infer(inference& in) {
        shape const& from = in.input(0);
        shape to = from;
        for (int axis = 0; axis < to.rank; ++axis) {
            to[axis] = from[permuted(in.attribute, axis)];
        }
        return to;
    }
    static constexpr auto vjp(auto dy, auto x, auto y) {
        std::uint64_t inverse = 0;
        for (int axis = 0; axis < x.rank(); ++axis) {
            inverse |= static_cast<std::uint64_t>(axis) << (4 * permuted(y.attribute(), axis));
        }
        return graph::transpose(dy, inverse);
    }
    static constexpr auto batch(auto const& in) {
        std::uint64_t permutation = 0;
        for (int axis = 0; axis < in.rank(); ++axis) {
            permutation |= static_cast<std::uint64_t>(permuted(in.attribute(), axis) + 1) << (4 * (axis + 1));
        }
        return in.again(permutation);
    }
};

/// New axes of extent 1. Attribute: where they are in the result.
struct expand_dims : view_op {
    static constexpr std::string_view name = "expand_dims";

    static constexpr shape infer(inference& in) {
        shape const& from = in.input(0);
        shape to;
        for (int axis = 0, taken = 0; taken < from.rank || contains(in.attribute, axis); ++axis) {
            if (axis >= max_rank) {
                in.fail(reason::rank_too_high);
                return to;
            }
            to.push_back(contains(in.attribute, axis) ? 1 : from[taken++]);
        }
        return to;
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return graph::squeeze(dy, y.attribute()); }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute() << 1); }
};

/// Without some axes of extent 1. Attribute: which.
struct squeeze : view_op {
    static constexpr std::string_view name = "squeeze";

    static constexpr shape infer(inference& in) {
        shape const& from = in.input(0);
        shape to;
        for (int axis = 0; axis < from.rank; ++axis) {
            if (!contains(in.attribute, axis)) {
                to.push_back(from[axis]);
            } else if (from[axis] != 1 && from[axis] != dyn) {
                in.fail(reason::extent_not_one);
            }
        }
        return to;
    }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return graph::expand_dims(dy, y.attribute()); }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute() << 1); }
};

/// The part of `range` that exists in an axis of extent `n`, as NumPy clips it.
struct clipped_range {
    extent_t start, stop;

    static constexpr clipped_range clip(extent_t start, extent_t stop, extent_t n) {
        auto const clip_one = [n](extent_t i) {
            i = i < 0 ? i + n : i;
            return i < 0 ? 0 : i > n ? n : i;
        };
        return {clip_one(start), clip_one(stop)};
    }
    constexpr extent_t size(extent_t step) const { return stop > start ? (stop - start + step - 1) / step : 0; }
};

/// Two neighbouring axes as one, in row-major order. Attribute: the first of them.
struct merge_axes : view_op {
    static constexpr std::string_view name = "merge_axes";

    static constexpr shape infer(inference& in) {
        shape const& from = in.input(0);
        int const first = static_cast<int>(in.attribute);
        shape to;
        for (int axis = 0; axis < from.rank; ++axis) {
            if (axis != first + 1) {
                to.push_back(from[axis]);
                continue;
            }
            extent_t& outer = to[first];
            extent_t const inner = from[axis];
            if (is_static(outer) && is_static(inner)) {
                outer *= inner;
            } else {
                outer = inner == 1 ? outer : outer == 1 ? inner : dyn;
            }
        }
        return to;
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return graph::reshape_like(dy, x); }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute() + 1); }
};

/// An axis as two, the first of which counts equal parts: the reverse of `merge_axes`. Attribute: the axis in the low 8
/// bits, the number of parts above.
struct split_axis : view_op {
    static constexpr std::string_view name = "split";

    static constexpr int axis(std::uint64_t attribute) { return static_cast<int>(attribute & 255u); }
    static constexpr extent_t parts(std::uint64_t attribute) { return static_cast<extent_t>(attribute >> 8); }

    static constexpr shape infer(inference& in) {
        shape const& from = in.input(0);
        extent_t const count = parts(in.attribute);
        shape to;
        if (from.rank == max_rank) {
            in.fail(reason::rank_too_high);
            return from;
        }
        for (int i = 0; i < from.rank; ++i) {
            if (i != axis(in.attribute)) {
                to.push_back(from[i]);
                continue;
            }
            if (is_static(from[i]) && from[i] % count != 0) {
                in.fail(reason::parts_differ);
            }
            to.push_back(count);
            to.push_back(is_static(from[i]) ? from[i] / count : dyn);
        }
        return to;
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return graph::reshape_like(dy, x); }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute() + 1); }
};

/// Some axes from their last element to the first. Attribute: which.
struct flip : view_op {
    static constexpr std::string_view name = "flip";

    static constexpr shape infer(inference& in) { return in.input(0); }
    static constexpr auto vjp(auto dy, auto /*x*/, auto y) { return graph::flip(dy, y.attribute()); }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute() << 1); }
};

/// The extents of the part of `whole` that the attribute, `slice_lists`, selects.
constexpr shape part_of(inference& in, shape const& whole) {
    slice_lists const lists = slice_lists::unpack(in.attribute);
    shape part = whole;
    for (int axis = 0; axis < part.rank; ++axis) {
        extent_t const start = in.list(lists.starts)[axis];
        extent_t const stop = in.list(lists.stops)[axis];
        extent_t const step = in.list(lists.steps)[axis];
        if (start == 0 && stop == to_the_end && step == 1) {
            continue;
        }
        part[axis] = is_static(part[axis]) ? clipped_range::clip(start, stop, part[axis]).size(step) : dyn;
    }
    return part;
}

/// A range of every axis. Attribute: `slice_lists`.
struct slice : view_op {
    static constexpr std::string_view name = "slice";
    static constexpr int list_count = 3;

    static constexpr shape infer(inference& in) { return part_of(in, in.input(0)); }
    static constexpr auto vjp(auto dy, auto x, auto y) { return graph::slice_adjoint(dy, x, y.attribute()); }
    static constexpr auto batch(auto const& in) { return in.again(in.ranges_behind_all()); }
};

/// The part of a concatenation that came from one of its inputs, which lend their shapes: the transpose of
/// `concatenate`. Attribute: the axis in the low 8 bits, the number of the input above.
struct concatenation_part : view_op {
    static constexpr std::string_view name = "concatenation_part";
    static constexpr int arity = -1; // the whole, then the inputs of the concatenation
    static constexpr int first_shape_input = 1;

    static constexpr int axis(std::uint64_t attribute) { return static_cast<int>(attribute & 255u); }
    static constexpr int part(std::uint64_t attribute) { return static_cast<int>(attribute >> 8); }

    static constexpr shape infer(inference& in) { return in.input(1 + part(in.attribute)); }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute() + 1); }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
