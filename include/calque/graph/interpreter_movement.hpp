// SPDX-License-Identifier: MIT
// The interpreter's views and movements: they copy elements from place to place, whatever the dtype.
#pragma once

#include <calque/graph/graph.hpp>
#include <calque/graph/interpreter_tensor.hpp>

#include <vector>

namespace calque {
inline namespace v0 {
namespace graph {
namespace detail {

inline placement transpose_placement(shape const& from, std::uint64_t permutation) {
    strides const own = contiguous_strides(from);
    placement p;
    for (int axis = 0; axis < from.rank; ++axis) {
        p.step[axis] = own[permuted(permutation, axis)];
    }
    return p;
}

inline placement flip_placement(shape const& from, axis_set axes) {
    strides const own = contiguous_strides(from);
    placement p;
    for (int axis = 0; axis < from.rank; ++axis) {
        bool const is_reversed = graph::contains(axes, axis);
        p.offset += is_reversed ? (from[axis] - 1) * own[axis] : 0;
        p.step[axis] = is_reversed ? -own[axis] : own[axis];
    }
    return p;
}

/// Where a slice of an array of shape `from` lies.
inline placement slice_placement(shape const& from, shape const* lists, slice_lists const& which) {
    strides const own = contiguous_strides(from);
    placement p;
    for (int axis = 0; axis < from.rank; ++axis) {
        auto const range = ops::clipped_range::clip(lists[which.starts][axis], lists[which.stops][axis], from[axis]);
        p.offset += range.start * own[axis];
        p.step[axis] = lists[which.steps][axis] * own[axis];
    }
    return p;
}

/// Where part `part` of a concatenation of shape `whole` lies; `parts` lend their shapes.
inline placement part_placement(shape const& whole, tensor const* const* parts, int part, int axis) {
    placement p;
    p.step = contiguous_strides(whole);
    for (int k = 0; k < part; ++k) {
        p.offset += parts[k]->extents[axis] * p.step[axis];
    }
    return p;
}

/// The elements of an array of integers, as positions in an axis of extent `n`: those below 0 count from the end, and
/// those out of range are the nearest that exist. (`Tensor` is `tensor`: a template, so that the eleven loops are
/// compiled only where a graph has indices.)
template <class Tensor>
std::vector<extent_t> positions(Tensor const& indices, extent_t n) {
    std::vector<extent_t> result;
    with_type_of(indices.type, [&]<class T>() {
        for (extent_t i = 0; i < indices.size(); ++i) {
            T const given = indices.template as<T>()[i];
            bool const is_beyond = given > T(0) && static_cast<std::uint64_t>(given) >= static_cast<std::uint64_t>(n);
            extent_t const at = is_beyond ? n - 1 : static_cast<extent_t>(given);
            result.push_back(at >= 0 ? at : at + n < 0 ? 0 : at + n);
        }
    });
    return result;
}

/// Calls `fn(element of x, element of y)` for every y of a `take` along `axis` of an array of shape `x`.
template <class Fn>
void for_each_taken(shape const& x, tensor const& indices, int axis, Fn fn) {
    std::vector<extent_t> const at = positions(indices, x[axis]);
    extent_t outer = 1;
    extent_t inner = 1;
    for (int i = 0; i < x.rank; ++i) {
        (i < axis ? outer : inner) *= i == axis ? 1 : x[i];
    }
    extent_t y = 0;
    for (extent_t o = 0; o < outer; ++o) {
        for (extent_t const position : at) {
            for (extent_t i = 0; i < inner; ++i) {
                fn((o * x[axis] + position) * inner + i, y++);
            }
        }
    }
}

/// Rolls `x` along an axis: element by element, as all is here.
inline void run_roll(tensor const& x, std::int64_t shift, int axis, tensor& y) {
    extent_t const n = x.extents[axis];
    extent_t inner = 1;
    for (int i = axis + 1; i < x.extents.rank; ++i) {
        inner *= x.extents[i];
    }
    std::size_t const size = size_of(x.type);
    for (extent_t to = 0; to < y.size(); ++to) {
        extent_t const place = to / inner % n;
        extent_t const from = to + (((place - shift % n) % n + n) % n - place) * inner;
        std::memcpy(y.data.data() + static_cast<std::size_t>(to) * size,
                    x.data.data() + static_cast<std::size_t>(from) * size, size);
    }
}

template <class Tensor>
void run_take(Tensor const& x, Tensor const& indices, int axis, Tensor& y) {
    std::size_t const size = size_of(x.type);
    for_each_taken(x.extents, indices, axis, [&](extent_t from, extent_t to) {
        std::memcpy(y.data.data() + static_cast<std::size_t>(to) * size,
                    x.data.data() + static_cast<std::size_t>(from) * size, size);
    });
}

} // namespace detail
} // namespace graph
} // namespace v0
} // namespace calque
