// SPDX-License-Identifier: MIT
// Arrays that are rolled by numbers that the compiler knows: a kernel may read them where they lie, one range of its
// space after the other.
#pragma once

#include <calque/graph/schedule.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// Whether a node rolls its operand by a number that the compiler knows.
constexpr bool is_known_roll(graph_view const& g, node_id id) {
    return g.is<ops::roll>(id) && g.is<ops::constant>(g.input(id, 1));
}

/// How far such a node rolls an axis of so many elements, one at least: element i is element i - shift of its operand,
/// and the first ones, up to `shift`, come from the end.
constexpr extent_t known_shift(graph_view const& g, node_id id, extent_t extent) {
    auto const shift = from_bits<std::int64_t>(g[g.input(id, 1)].attribute);
    return (shift % extent + extent) % extent;
}

/// Whether a stored value is a view of one that is rolled.
constexpr bool is_rolled(graph_view const& g, schedule_view const& s, int v) {
    return s.values[v].kind == storage_kind::view && g.is<ops::roll>(s.values[v].node);
}

/// How many leaves of a group are.
constexpr int count_rolled(graph_view const& g, schedule_view const& s, group const& x) {
    int count = 0;
    for (int i = 0; i < x.leaf_count; ++i) {
        count += is_rolled(g, s, s.leaves[x.first_leaf + i]) ? 1 : 0;
    }
    return count;
}

} // namespace graph
} // namespace v0
} // namespace calque
