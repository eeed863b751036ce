// SPDX-License-Identifier: MIT
// A function compiled for some specs: its graph, optimized and scheduled, all of it constants of a type.
#pragma once

#include <calque/passes/ambiguity.hpp>
#include <calque/passes/make_schedule.hpp>
#include <calque/passes/optimize.hpp>
#include <calque/trace/trace.hpp>

namespace calque {
inline namespace v0 {
namespace runtime {

/// The constants that every call of `F` with these specs shares. Kernels are named by this type, not by the graph: a
/// graph as a template argument makes symbols of 40 KB.
template <class F, class... Specs>
struct compiled {
    using traced = detail::program<F, Specs...>;

private:
    static constexpr graph::graph_size measure_graph() {
        graph::builder to;
        passes::optimize(traced::graph.view(), to);
        return to.size();
    }
    static constexpr auto make_graph() {
        graph::builder to;
        passes::optimize(traced::graph.view(), to);
        return graph::freeze<measure_graph()>(to);
    }

public:
    static constexpr auto optimized = make_graph();

private:
    static constexpr graph::schedule_size measure_schedule() { return passes::scheduler(optimized.view()).size(); }
    static constexpr auto make_schedule() {
        return passes::scheduler(optimized.view()).template freeze<measure_schedule()>();
    }

public:
    static constexpr auto schedule = make_schedule();
    static constexpr graph::schedule_size size = schedule.size;

private:
    /// Whether some kernel stores, folds or has as its tiles more than one value: they may differ in what broadcasts.
    static constexpr bool has_several_values() {
        for (graph::group const& x : schedule.groups) {
            bool const is_tiled = x.kind == graph::group_kind::product && x.step_count > 1;
            int values = x.result_count + (is_tiled ? 1 : 0);
            for (int i = 0; i < x.step_count; ++i) {
                values += graph::info(schedule.steps[x.first_step + i].op).kind == graph::op_kind::reduction ? 1 : 0;
            }
            if (values > 1) {
                return true;
            }
        }
        return false;
    }

public:
    static constexpr int argument_count = traced::argument_count;
    static constexpr int output_count = traced::output_count;
    /// Whether only a call knows which extents broadcast.
    static constexpr bool is_ambiguous = passes::is_ambiguous(traced::graph.view());
    /// Whether a plan must check that no dynamic extent broadcasts.
    static constexpr bool relies_on_equal_extents =
        is_ambiguous && passes::relies_on_equal_extents(traced::graph.view());
    /// Whether calls may have extents that the kernels do not serve: those run op by op.
    static constexpr bool may_be_interpreted = relies_on_equal_extents || (is_ambiguous && has_several_values());

    /// What the kernels need to know of group `K`.
    template <int K>
    struct group {
        static constexpr graph::group const& description = schedule.groups[K];
        static constexpr int step_count = description.step_count;
        static constexpr int leaf_count = description.leaf_count;
        static constexpr int result_count = description.result_count;

        static constexpr graph::step const* steps() { return schedule.steps + description.first_step; }

        /// Whether result `r` has a value for each point of the space, not only one for each row.
        static constexpr bool is_full(int r) {
            graph::node_id const node = schedule.values[schedule.results[description.first_result + r]].node;
            return optimized.nodes[node].shape == description.space;
        }
    };
};

} // namespace runtime
} // namespace v0
} // namespace calque
