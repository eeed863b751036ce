// SPDX-License-Identifier: MIT
// The order of elements.
#pragma once

#include <calque/graph/op.hpp>

namespace calque {
inline namespace v0 {
namespace graph::ops {

/// Which elements of each row, the last axis, come first, second, ... in ascending order, as int64.
///
/// Equal elements keep their order, and NaN is the largest. Attribute: 1 for descending order, NaN first.
struct sort_order : op_defaults {
    static constexpr std::string_view name = "argsort";
    static constexpr op_kind kind = op_kind::movement;
    static constexpr int arity = 1;
    static constexpr int cost = 1000;

    static constexpr dtype infer_type(dtype const*, std::uint64_t) { return dtype::int64; }
    static constexpr shape infer(inference& in) {
        if (in.input(0).rank == 0) {
            in.fail(reason::rank_too_low);
        }
        return in.input(0);
    }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute()); }

    /// Whether element `a` stands before element `b` of another value.
    template <class T>
    static constexpr bool precedes(T a, T b, bool is_descending) {
        return is_descending ? a > b || (a != a && b == b) : a < b || (b != b && a == a);
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
