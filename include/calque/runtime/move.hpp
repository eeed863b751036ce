// SPDX-License-Identifier: MIT
// The operations that move elements, on placed arrays.
#pragma once

#include <calque/graph/ops/movement.hpp>
#include <calque/graph/ops/random.hpp>
#include <calque/kernels/cpu/movement.hpp>

namespace calque {
inline namespace v0 {
namespace runtime {

/// An array in memory.
struct moved_value {
    std::byte* data;
    shape extents;
    strides steps; // in elements
};

/// 0, 1, 2, ... (all extents but one are 1).
template <class T>
void fill_iota(moved_value const& to) {
    T* const out = reinterpret_cast<T*>(to.data);
    for (extent_t i = 0; i < to.extents.size(); ++i) {
        out[i] = static_cast<T>(i);
    }
}

/// The order of each row that its random words make, from `axis` on. Rows are the last axis.
inline void shuffle_rows(moved_value const& to, moved_value const& words, int axis = 0) {
    auto* const order = reinterpret_cast<std::int64_t*>(to.data);
    auto const* const word = reinterpret_cast<std::uint64_t const*>(words.data);
    if (axis + 1 == to.extents.rank) {
        graph::ops::shuffled_indices::shuffle(word, words.steps[axis], to.extents[axis], order);
        return;
    }
    for (extent_t i = 0; i < to.extents[axis]; ++i) {
        auto const bytes = static_cast<std::ptrdiff_t>(sizeof(std::uint64_t));
        shuffle_rows({to.data + i * to.steps[axis] * bytes, to.extents, to.steps},
                     {words.data + i * words.steps[axis] * bytes, words.extents, words.steps}, axis + 1);
    }
}

/// Copies `from` into `to` from `start` along an axis; returns its extent there.
template <class T>
extent_t copy_part(moved_value const& to, moved_value const& from, int axis, extent_t start) {
    constexpr auto bytes = static_cast<std::ptrdiff_t>(sizeof(T));
    kernels::copy_strided(from.extents, {to.data + start * to.steps[axis] * bytes, to.steps}, {from.data, from.steps},
                          sizeof(T));
    return from.extents[axis];
}

/// Writes zeros to a contiguous array; none, which may be nowhere, is right.
inline void clear(moved_value const& to, std::size_t element_bytes) {
    if (to.extents.size() != 0) {
        std::memset(to.data, 0, static_cast<std::size_t>(to.extents.size()) * element_bytes);
    }
}

/// Zeros, and `from` where a slice with these lists reads them.
template <class T>
void place_slice(moved_value const& to, moved_value const& from, shape const& starts, shape const& stops,
                 shape const& every) {
    clear(to, sizeof(T));
    std::byte* first = to.data;
    strides steps;
    for (int axis = 0; axis < to.extents.rank; ++axis) {
        extent_t const start = graph::ops::clipped_range::clip(starts[axis], stops[axis], to.extents[axis]).start;
        first += start * to.steps[axis] * static_cast<std::ptrdiff_t>(sizeof(T));
        steps[axis] = to.steps[axis] * every[axis];
    }
    kernels::copy_strided(from.extents, {first, steps}, {from.data, from.steps}, sizeof(T));
}

namespace detail {

/// The axes of an array without one of them.
struct without_axis {
    shape extents;
    strides steps;

    without_axis(moved_value const& v, int first, int count) {
        for (int axis = 0; axis < v.extents.rank; ++axis) {
            if (axis < first || axis >= first + count) {
                steps[extents.rank] = v.steps[axis];
                extents.push_back(v.extents[axis]);
            }
        }
    }
};

} // namespace detail

/// The elements of `from` at `indices` along an axis, which `to` has the axes of the indices in place of.
template <class I>
void take_elements(moved_value const& to, moved_value const& from, moved_value const& indices, int axis,
                   std::size_t bytes) {
    detail::without_axis const source(from, axis, 1);
    detail::without_axis const target(to, axis, indices.extents.rank);
    // Neighbouring indices are neighbours in `to`: it is contiguous.
    extent_t const step = detail::without_axis(to, 0, axis + indices.extents.rank).extents.size();
    if (from.extents[axis] == 0) {
        clear(to, bytes);
        return;
    }
    kernels::for_each_index(indices.extents, indices.steps, reinterpret_cast<I const*>(indices.data),
                            [&](extent_t position, extent_t index) {
                                extent_t const at = kernels::existing_index(index, from.extents[axis]);
                                auto const size = static_cast<std::ptrdiff_t>(bytes);
                                kernels::copy_strided(source.extents, {to.data + position * step * size, target.steps},
                                                      {from.data + at * from.steps[axis] * size, source.steps}, bytes);
                            });
}

namespace detail {

/// Adds elements to others of the same extents.
template <class T>
void add_strided(shape const& extents, T* to, strides const& to_steps, T const* from, strides const& from_steps,
                 int axis = 0) {
    if (axis == extents.rank) {
        *to = static_cast<T>(*to + *from);
        return;
    }
    for (extent_t i = 0; i < extents[axis]; ++i) {
        add_strided(extents, to + i * to_steps[axis], to_steps, from + i * from_steps[axis], from_steps, axis + 1);
    }
}

} // namespace detail

/// Zeros, plus `from` where a take with these indices reads them. Equal indices add up, so this runs in order.
template <class T, class I>
void add_taken(moved_value const& to, moved_value const& from, moved_value const& indices, int axis) {
    clear(to, sizeof(T));
    if (to.extents[axis] == 0) {
        return;
    }
    detail::without_axis const target(to, axis, 1);
    detail::without_axis const source(from, axis, indices.extents.rank);
    kernels::for_each_index(indices.extents, indices.steps, reinterpret_cast<I const*>(indices.data),
                            [&](extent_t position, extent_t index) {
                                extent_t const at = kernels::existing_index(index, to.extents[axis]);
                                std::ptrdiff_t offset = 0;
                                extent_t left = position;
                                for (int i = indices.extents.rank - 1; i >= 0; --i) {
                                    offset += left % indices.extents[i] * from.steps[axis + i];
                                    left /= indices.extents[i];
                                }
                                detail::add_strided(target.extents, reinterpret_cast<T*>(to.data) + at * to.steps[axis],
                                                    target.steps, reinterpret_cast<T const*>(from.data) + offset,
                                                    source.steps);
                            });
}

} // namespace runtime
} // namespace v0
} // namespace calque
