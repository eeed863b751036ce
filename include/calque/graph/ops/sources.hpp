// SPDX-License-Identifier: MIT
// Operations without data inputs: arguments, constants, indices, sizes.
#pragma once

#include <calque/graph/op.hpp>

namespace calque {
inline namespace v0 {
namespace graph::ops {

struct source : op_defaults {
    static constexpr op_kind kind = op_kind::source;
    static constexpr int arity = 0;
    static constexpr int cost = 0;
};

/// A leaf of the function's arguments. Attribute: its index.
struct argument : source {
    static constexpr std::string_view name = "argument";
};

/// A scalar known to the compiler. Attribute: its bits.
struct constant : source {
    static constexpr std::string_view name = "constant";
};

/// The numbers 0, 1, 2, ... along one axis. Attribute: the axis in the low 4 bits, the dtype above.
///
/// Shape: that of the input along the axis, 1 along the others; the input lends only its shape.
struct iota : source {
    static constexpr std::string_view name = "iota";
    static constexpr int arity = 1;
    static constexpr bool is_indexed = true; // where a kernel counts instead of reading it
    static constexpr int first_shape_input = 0;

    static constexpr int axis(std::uint64_t attribute) { return static_cast<int>(attribute & 15u); }
    static constexpr dtype infer_type(dtype const*, std::uint64_t attribute) {
        return static_cast<dtype>(attribute >> 4);
    }
    static constexpr shape infer(inference& in) {
        shape result = in.input(0);
        int const counted = axis(in.attribute);
        if (infer_type(nullptr, in.attribute) == dtype::int32 && result[counted] > INT32_MAX) {
            in.fail(reason::too_many_elements);
        }
        for (int axis = 0; axis < result.rank; ++axis) {
            if (axis != counted) {
                result[axis] = 1;
            }
        }
        return result;
    }

    /// The numbers from `first` on, as many as `V` holds.
    template <class V>
    static CALQUE_INLINE V generate(std::uint64_t first) {
        return V::iota(static_cast<typename V::value_type>(first));
    }
};

/// The number of elements along a set of axes, as a scalar. Attribute: the axes in the low 8 bits, the dtype above.
struct element_count : source {
    static constexpr std::string_view name = "element_count";
    static constexpr int arity = 1;
    static constexpr int first_shape_input = 0;

    static constexpr dtype infer_type(dtype const*, std::uint64_t attribute) {
        return static_cast<dtype>(attribute >> 8);
    }
    static constexpr shape infer(inference&) { return {}; }

    static constexpr extent_t count(shape const& s, std::uint64_t attribute) {
        extent_t n = 1;
        for (int axis = 0; axis < s.rank; ++axis) {
            n *= contains(attribute & 255u, axis) ? s[axis] : 1;
        }
        return n;
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
