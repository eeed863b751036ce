// SPDX-License-Identifier: MIT
// The passes that every graph goes through before it is scheduled.
#pragma once

#include <calque/passes/contract.hpp>
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

} // namespace passes
} // namespace v0
} // namespace calque
