// SPDX-License-Identifier: MIT
// The passes that every graph goes through before it is scheduled.
#pragma once

#include <calque/passes/contract.hpp>
#include <calque/passes/reverse_axes.hpp>
#include <calque/passes/simplify.hpp>

namespace calque {
inline namespace v0 {
namespace passes {

/// What is traced, as the executors run it: simplified, contracted, without dead nodes.
constexpr void optimize(graph::graph_view const& from, graph::builder& to) {
    graph::builder simple;
    simplify(from, simple);
    contract(simple.view(), to);
}

/// The same for arguments of which some lie by columns, as a set. Regions see views of arrays as they are; what has
/// some is not changed.
constexpr void optimize_by_columns(graph::graph_view const& from, std::uint64_t arguments, graph::builder& to) {
    graph::builder simple;
    simplify(from, simple);
    if (from.region_count > 1) {
        contract(simple.view(), to);
        return;
    }
    graph::builder reversed;
    reverse_axes(simple.view(), arguments, reversed);
    graph::builder simple_again;
    simplify(reversed.view(), simple_again);
    contract(simple_again.view(), to);
}

} // namespace passes
} // namespace v0
} // namespace calque
