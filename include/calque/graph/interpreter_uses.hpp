// SPDX-License-Identifier: MIT
// Which operations and dtypes an interpreter is compiled for: all of them cost seconds, those of one graph next to
// nothing.
#pragma once

#include <calque/graph/graph.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// Every operation on every dtype: for graphs that only the run knows, and for tests.
struct everything {
    /// Whether `Op` is used (on `T`, giving `R`).
    template <class Op, class T = void, class R = void>
    static constexpr bool contains = true;
};

namespace detail {

/// For each operation, the dtypes of its inputs and of its results.
struct use_table {
    std::uint16_t inputs[op_set::size]{};
    std::uint16_t results[op_set::size]{};
    bool uses[op_set::size]{};
};

constexpr use_table collect_uses(graph_view const& g) {
    use_table table;
    for (node_id id = 0; id < g.node_count; ++id) {
        node const& n = g[id];
        int const op = static_cast<int>(n.op);
        table.uses[op] = true;
        table.results[op] |= static_cast<std::uint16_t>(1u << static_cast<int>(n.type));
        for (int k = 0; k < n.input_count; ++k) {
            table.inputs[op] |= static_cast<std::uint16_t>(1u << static_cast<int>(g[g.input(n, k)].type));
        }
    }
    return table;
}

} // namespace detail

/// What occurs in the graph `G::view()`, which is known to the compiler.
template <class G>
class used_by {
    static constexpr detail::use_table table = detail::collect_uses(G::view());

    template <class T>
    static constexpr bool has(std::uint16_t types) {
        if constexpr (element<T>) {
            return (types >> static_cast<int>(dtype_of<T>) & 1u) != 0;
        } else {
            return true;
        }
    }

public:
    template <class Op, class T = void, class R = void>
    static constexpr bool contains =
        table.uses[static_cast<int>(code_of<Op>)] && has<T>(table.inputs[static_cast<int>(code_of<Op>)]) &&
        has<R>(table.results[static_cast<int>(code_of<Op>)]);
};

} // namespace graph
} // namespace v0
} // namespace calque
