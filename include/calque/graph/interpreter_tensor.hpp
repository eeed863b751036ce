// SPDX-License-Identifier: MIT
// What the interpreter computes with: arrays whose dtype and shape are known at run time, always contiguous.
#pragma once

#include <calque/core/dtype.hpp>
#include <calque/core/shape.hpp>

#include <cstddef>
#include <cstring>
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

/// y[index] = x[from(index)], for all of y.
inline void gather(tensor const& x, placement const& from, tensor& y) {
    std::size_t const size = size_of(y.type);
    std::byte* to = y.data.data();
    for_each_index(y.extents, [&](shape const& index) {
        std::memcpy(to, x.data.data() + static_cast<std::size_t>(from(index)) * size, size);
        to += size;
    });
}

/// y[to(index)] = x[index], for all of x.
inline void scatter(tensor const& x, placement const& to, tensor& y) {
    std::size_t const size = size_of(y.type);
    std::byte const* from = x.data.data();
    for_each_index(x.extents, [&](shape const& index) {
        std::memcpy(y.data.data() + static_cast<std::size_t>(to(index)) * size, from, size);
        from += size;
    });
}

} // namespace detail
} // namespace graph
} // namespace v0
} // namespace calque
