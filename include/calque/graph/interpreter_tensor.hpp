// SPDX-License-Identifier: MIT
// What the interpreter computes with: arrays whose dtype and shape are known at run time, always contiguous.
#pragma once

#include <calque/core/dtype.hpp>
#include <calque/core/shape.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace calque {
inline namespace v0 {
namespace graph {

/// A contiguous row-major array that owns its elements.
struct tensor {
    dtype type = dtype::float32;
    shape extents;
    std::vector<std::byte> data;

    tensor() = default;

    /// Zeros.
    tensor(dtype element_type, shape const& s)
        : type(element_type), extents(s), data(static_cast<std::size_t>(s.size()) * size_of(element_type)) {}

    /// A copy of `s.size()` elements.
    template <element T>
    static tensor copy_of(shape const& s, T const* elements) {
        tensor t(dtype_of<T>, s);
        if (!t.data.empty()) {
            std::memcpy(t.data.data(), elements, t.data.size());
        }
        return t;
    }

    extent_t size() const { return extents.size(); }

    /// The elements; `T` is the type of the dtype.
    template <element T>
    T* as() {
        return reinterpret_cast<T*>(data.data());
    }
    template <element T>
    T const* as() const {
        return reinterpret_cast<T const*>(data.data());
    }
};

namespace detail {

/// Calls `fn(index)` for every index of an array of shape `s`, in row-major order.
template <class Fn>
void for_each_index(shape const& s, Fn fn) {
    shape index;
    index.rank = s.rank;
    for (extent_t left = s.size(); left > 0; --left) {
        fn(static_cast<shape const&>(index));
        for (int axis = s.rank - 1; axis >= 0 && ++index[axis] == s[axis]; --axis) {
            index[axis] = 0;
        }
    }
}

/// Calls `fn(index, n)` for every row of an array of shape `s`, in order: where its `n` elements along the last axis
/// begin. Without axes there is one element.
template <class Fn>
void for_each_row(shape const& s, Fn fn) {
    shape rows = s;
    extent_t const n = s.rank == 0 ? 1 : s[s.rank - 1];
    if (s.rank != 0) {
        rows[s.rank - 1] = n == 0 ? 0 : 1;
    }
    for_each_index(rows, [&](shape const& index) { fn(index, n); });
}

/// Where the elements of a part of an array lie: element `index` is at `offset` + the sum of index[axis] * step[axis].
struct placement {
    extent_t offset = 0;
    strides step;

    extent_t operator()(shape const& index) const {
        extent_t at = offset;
        for (int axis = 0; axis < index.rank; ++axis) {
            at += index[axis] * step[axis];
        }
        return at;
    }

    /// From each element of a row to the next one.
    extent_t along_row(shape const& s) const { return s.rank == 0 ? 0 : step[s.rank - 1]; }
};

/// The elements of an array of shape `from`, seen under the shape `to` to which it broadcasts.
inline placement broadcast_placement(shape const& from, shape const& to) {
    strides const own = contiguous_strides(from);
    placement p;
    for (int axis = 0; axis < from.rank; ++axis) {
        p.step[axis + to.rank - from.rank] = from[axis] == 1 ? 0 : own[axis];
    }
    return p;
}

/// Copies `n` elements of `size` bytes (1, 2, 4 or 8), which stand so many elements apart.
inline void copy_row(std::byte const* from, extent_t from_step, std::byte* to, extent_t to_step, extent_t n,
                     std::size_t size) {
    if (from_step == 1 && to_step == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(n) * size);
        return;
    }
    auto const copy = [&]<std::size_t Size>(std::integral_constant<std::size_t, Size> bytes) {
        for (extent_t i = 0; i < n; ++i) {
            std::memcpy(to + i * to_step * extent_t(Size), from + i * from_step * extent_t(Size), bytes);
        }
    };
    switch (size) {
    case 1: copy(std::integral_constant<std::size_t, 1>{}); break;
    case 2: copy(std::integral_constant<std::size_t, 2>{}); break;
    case 4: copy(std::integral_constant<std::size_t, 4>{}); break;
    default: copy(std::integral_constant<std::size_t, 8>{});
    }
}

/// y[index] = x[from(index)], for all of y.
inline void gather(tensor const& x, placement const& from, tensor& y) {
    std::size_t const size = size_of(y.type);
    std::byte* to = y.data.data();
    for_each_row(y.extents, [&](shape const& index, extent_t n) {
        std::byte const* const first = x.data.data() + static_cast<std::size_t>(from(index)) * size;
        copy_row(first, from.along_row(y.extents), to, 1, n, size);
        to += static_cast<std::size_t>(n) * size;
    });
}

/// y[to(index)] = x[index], for all of x.
inline void scatter(tensor const& x, placement const& to, tensor& y) {
    std::size_t const size = size_of(y.type);
    std::byte const* from = x.data.data();
    for_each_row(x.extents, [&](shape const& index, extent_t n) {
        std::byte* const first = y.data.data() + static_cast<std::size_t>(to(index)) * size;
        copy_row(from, 1, first, to.along_row(x.extents), n, size);
        from += static_cast<std::size_t>(n) * size;
    });
}

} // namespace detail
} // namespace graph
} // namespace v0
} // namespace calque
