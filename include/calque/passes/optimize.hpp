// SPDX-License-Identifier: MIT
// The passes that every graph goes through before it is scheduled.
#pragma once

#include <calque/passes/contract.hpp>
#include <calque/passes/reverse_axes.hpp>
#include <calque/passes/simplify.hpp>
#include <calque/passes/split_coordinates.hpp>

namespace calque {
inline namespace v0 {
namespace passes {

/// What is traced, as the executors run it: simplified, contracted, without dead nodes.
template <class Graph, class Builder>
constexpr void optimize(Graph const& from, Builder& to) {
    Builder simple;
    simplify(from, simple);
    Builder split;
    if (!split_coordinates(simple.view(), split)) {
        contract(simple.view(), to);
        return;
    }
    Builder simple_again;
    simplify(split.view(), simple_again);
    contract(simple_again.view(), to);
}

/// The same for arguments of which some lie by columns, as a set. `from` has no regions.
template <class Graph, class Builder>
constexpr void optimize_by_columns(Graph const& from, std::uint64_t arguments, Builder& to) {
    Builder simple;
    simplify(from, simple);
    Builder split;
    bool const is_split = split_coordinates(simple.view(), split);
    Builder reversed;
    reverse_axes((is_split ? split : simple).view(), arguments, reversed);
    Builder simple_again;
    simplify(reversed.view(), simple_again);
    contract(simple_again.view(), to);
}

} // namespace passes
} // namespace v0
} // namespace calque
