// SPDX-License-Identifier: MIT
// Kernels that copy elements to other places. They know the size of an element, not its type: one instantiation a size.
//
// Rows that are contiguous on both sides go through memcpy, transpositions through register tiles; what is left (both
// sides strided along every axis) is copied one element at a time, which has no SIMD form that pays.
#pragma once

#include <calque/core/shape.hpp>
#include <calque/kernels/cpu/transpose.hpp>

#include <cstring>

namespace calque {
inline namespace v0 {
namespace kernels {

/// One side of a copy: an address, and the distance between neighbours along each axis, in elements.
struct strided_side {
    std::byte* data;
    strides steps;
};
struct strided_source {
    std::byte const* data;
    strides steps;
};

namespace detail {

template <class T>
struct copier {
    shape extents;
    strides to_steps, from_steps;

    void run(T* to, T const* from, int axis = 0) const {
        int const left = extents.rank - axis;
        if (left == 0) {
            *to = *from;
        } else if (left == 1) {
            copy_row(to, from, axis);
        } else if (left == 2 && to_steps[axis + 1] == 1 && from_steps[axis] == 1 && extents[axis] > 1) {
            copy_transposed(from, extents[axis + 1], extents[axis], from_steps[axis + 1], to, to_steps[axis]);
        } else {
            for (extent_t i = 0; i < extents[axis]; ++i) {
                run(to + i * to_steps[axis], from + i * from_steps[axis], axis + 1);
            }
        }
    }

    void copy_row(T* to, T const* from, int axis) const {
        extent_t const n = extents[axis];
        std::ptrdiff_t const to_step = to_steps[axis];
        std::ptrdiff_t const from_step = from_steps[axis];
        if (to_step == 1 && from_step == 1) {
            std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
        } else if (to_step == 1 && from_step == 0) {
            T const value = *from;
            for (extent_t i = 0; i < n; ++i) {
                to[i] = value;
            }
        } else {
            for (extent_t i = 0; i < n; ++i) {
                to[i * to_step] = from[i * from_step];
            }
        }
    }
};

/// Without axes of extent 1, and with those merged along which both sides are evenly spaced.
inline shape merge_axes(shape const& extents, strides& a, strides& b) {
    shape merged;
    strides x, y;
    for (int axis = 0; axis < extents.rank; ++axis) {
        if (extents[axis] == 1) {
            continue;
        }
        int const last = merged.rank - 1;
        if (last >= 0 && x[last] == a[axis] * extents[axis] && y[last] == b[axis] * extents[axis]) {
            merged[last] *= extents[axis];
        } else {
            merged.push_back(extents[axis]);
        }
        x[merged.rank - 1] = a[axis];
        y[merged.rank - 1] = b[axis];
    }
    a = x;
    b = y;
    return merged;
}

template <class F>
void with_element_of_size(std::size_t bytes, F&& f) {
    switch (bytes) {
    case 1: f(std::uint8_t{}); break;
    case 2: f(std::uint16_t{}); break;
    case 4: f(std::uint32_t{}); break;
    default: f(std::uint64_t{}); break;
    }
}

} // namespace detail

/// Copies elements between arrays of the same extents, any strides. They must not overlap.
inline void copy_strided(shape const& extents, strided_side to, strided_source from, std::size_t element_bytes) {
    if (extents.size() == 0) {
        return;
    }
    shape const merged = detail::merge_axes(extents, to.steps, from.steps);
    detail::with_element_of_size(element_bytes, [&]<class T>(T) {
        detail::copier<T>{merged, to.steps, from.steps}.run(reinterpret_cast<T*>(to.data),
                                                            reinterpret_cast<T const*>(from.data));
    });
}

/// The position that an index means along an axis of extent `n`: from the end if negative, and always one that exists.
inline extent_t existing_index(extent_t index, extent_t n) {
    index = index < 0 ? index + n : index;
    return index < 0 ? 0 : index >= n ? n - 1 : index;
}

/// An index of any integer type; one that is too large is the largest, not a negative one.
template <class I>
constexpr extent_t to_extent(I index) {
    if constexpr (std::is_unsigned_v<I> && sizeof(I) == sizeof(extent_t)) {
        return index > static_cast<I>(INT64_MAX) ? INT64_MAX : static_cast<extent_t>(index);
    } else {
        return static_cast<extent_t>(index);
    }
}

/// Calls `f(position, index)` for all indices of an integer array, in row-major order; `position` is their number.
template <class I, class F>
void for_each_index(shape const& extents, strides const& steps, I const* indices, F&& f) {
    extent_t const n = extents.size();
    for (extent_t position = 0; position < n; ++position) {
        std::ptrdiff_t offset = 0;
        extent_t left = position;
        for (int axis = extents.rank - 1; axis >= 0; --axis) {
            offset += left % extents[axis] * steps[axis];
            left /= extents[axis];
        }
        f(position, to_extent(indices[offset]));
    }
}

} // namespace kernels
} // namespace v0
} // namespace calque
