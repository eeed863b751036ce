// SPDX-License-Identifier: MIT
// Extents (static, dynamic, named) and shapes, as values: the tracer, the passes and the planner compute with them.
#pragma once

#include <calque/core/words.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

namespace calque {
inline namespace v0 {

/// The number of elements along an axis: 0 or more if it is known, `dyn` if it is not, below `dyn` if it has a name.
using extent_t = std::int64_t;

/// An extent that only the call knows.
inline constexpr extent_t dyn = -1;

inline constexpr int max_rank = 8;

/// A named extent: equal names are equal extents, and different names never broadcast.
///
/// `name`: 1 to 10 characters of [a-z0-9_], kept in the extent itself (base 38, negative).
/// Throws `std::invalid_argument` (in a constant expression: a compile error) for any other name.
constexpr extent_t dim(std::string_view name) {
    extent_t code = 0;
    if (name.empty() || name.size() > 10) {
        throw std::invalid_argument("calque: the name of a dim has 1 to 10 characters of [a-z0-9_]");
    }
    for (char c : name) {
        int const digit = c >= 'a' && c <= 'z' ? c - 'a' + 1 : c >= '0' && c <= '9' ? c - '0' + 27 : c == '_' ? 37 : 0;
        if (digit == 0) {
            throw std::invalid_argument("calque: the name of a dim has 1 to 10 characters of [a-z0-9_]");
        }
        code = code * 38 + digit;
    }
    return -code - 1;
}

constexpr bool is_static(extent_t e) {
    return e >= 0;
}

constexpr bool is_named(extent_t e) {
    return e < dyn;
}

/// The name in a named extent.
struct dim_name {
    char characters[10]{};
    std::size_t size = 0;

    constexpr std::string_view view() const { return {characters, size}; }
};

constexpr dim_name name_of_dim(extent_t e) {
    dim_name reversed;
    for (extent_t code = -(e + 1); code != 0; code /= 38) {
        int const digit = static_cast<int>(code % 38);
        reversed.characters[reversed.size++] = static_cast<char>(digit <= 26   ? 'a' + digit - 1
                                                                 : digit <= 36 ? '0' + digit - 27
                                                                               : '_');
    }
    dim_name name;
    while (name.size != reversed.size) {
        name.characters[name.size] = reversed.characters[reversed.size - 1 - name.size];
        ++name.size;
    }
    return name;
}

/// The extents of an array, outermost first. Rank 0 is a scalar.
struct shape {
    extent_t extents[max_rank]{};
    int rank = 0;

    constexpr shape() = default;
    constexpr shape(std::initializer_list<extent_t> list) {
        for (extent_t e : list) {
            push_back(e);
        }
    }

    constexpr extent_t& operator[](int axis) { return extents[axis]; }
    constexpr extent_t operator[](int axis) const { return extents[axis]; }

    /// The extent of `axis`, counted from the last axis if it is negative.
    constexpr extent_t extent(int axis) const { return extents[axis < 0 ? axis + rank : axis]; }

    constexpr void push_back(extent_t e) { extents[rank++] = e; }

    constexpr bool operator==(shape const& other) const {
        if (rank != other.rank) {
            return false;
        }
        for (int i = 0; i < rank; ++i) {
            if (extents[i] != other.extents[i]) {
                return false;
            }
        }
        return true;
    }

    /// Whether every extent is known.
    constexpr bool is_static() const {
        for (int i = 0; i < rank; ++i) {
            if (extents[i] < 0) {
                return false;
            }
        }
        return true;
    }

    /// The number of elements; the shape must be static.
    constexpr extent_t size() const {
        extent_t n = 1;
        for (int i = 0; i < rank; ++i) {
            n *= extents[i];
        }
        return n;
    }
};

/// Distances between neighbours along each axis, in elements.
struct strides {
    std::int64_t values[max_rank]{};

    constexpr std::int64_t& operator[](int axis) { return values[axis]; }
    constexpr std::int64_t operator[](int axis) const { return values[axis]; }
};

/// The strides of a contiguous row-major array.
constexpr strides contiguous_strides(shape const& s) {
    strides r;
    std::int64_t step = 1;
    for (int i = s.rank - 1; i >= 0; --i) {
        r[i] = step;
        step *= s[i];
    }
    return r;
}

/// Whether elements lie in row-major order without gaps.
constexpr bool is_contiguous(shape const& extents, strides const& steps) {
    std::int64_t expected = 1;
    for (int axis = extents.rank - 1; axis >= 0; --axis) {
        if (extents[axis] != 1 && steps[axis] != expected) {
            return extents.size() == 0;
        }
        expected *= extents[axis];
    }
    return true;
}

/// `to = from`, of a shape that has just been written (words.hpp), and only the axes that there are.
constexpr void copy_extents(shape& to, shape const& from) {
    to.rank = from.rank;
    detail::copy_words(to.extents, from.extents, from.rank);
}

/// Whether an array with this extent may stretch along its axis: a static 1, or a `dyn` extent that is 1 at run time.
constexpr bool may_broadcast(extent_t declared) {
    return declared == 1 || declared == dyn;
}

} // namespace v0
} // namespace calque
