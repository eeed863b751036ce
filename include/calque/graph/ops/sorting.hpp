// SPDX-License-Identifier: MIT
// The order of elements.
#pragma once

#include <calque/graph/op.hpp>

namespace calque {
inline namespace v0 {
namespace graph::ops {

/// Which elements of each row, the last axis, come first, second, ... in ascending order, as int64.
///
/// Equal elements keep their order, and NaN is the largest. Attribute: 1 for descending order, NaN first; and above
/// that bit, if only so many come first in each row, one more than that. Fewer elements are an error.
struct sort_order : op_defaults {
    static constexpr std::string_view name = "argsort";
    static constexpr op_kind kind = op_kind::movement;
    static constexpr int arity = 1;
    static constexpr int cost = 1000;

    static constexpr std::uint64_t pack(bool is_descending, extent_t count) {
        return (is_descending ? 1u : 0u) | static_cast<std::uint64_t>(count + 1) << 1;
    }
    static constexpr bool is_descending(std::uint64_t attribute) { return (attribute & 1) != 0; }
    /// How many come first; -1: all.
    static constexpr extent_t count(std::uint64_t attribute) { return static_cast<extent_t>(attribute >> 1) - 1; }

    static constexpr dtype infer_type(dtype const*, std::uint64_t) { return dtype::int64; }
    static constexpr shape infer(inference& in) {
        shape result = in.input(0);
        if (result.rank == 0) {
            in.fail(reason::rank_too_low);
        } else if (extent_t const first = count(in.attribute); first >= 0) {
            extent_t& row = result[result.rank - 1];
            if (is_static(row) && row < first) {
                in.fail(reason::too_few_elements);
            }
            row = first;
        }
        return result;
    }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute()); }

    /// Whether element `a` stands before element `b` of another value.
    template <class T>
    static constexpr bool precedes(T a, T b, bool descending) {
        return descending ? a > b || (a != a && b == b) : a < b || (b != b && a == a);
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
