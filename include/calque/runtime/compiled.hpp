// SPDX-License-Identifier: MIT
// A function compiled for some specs: its graph, optimized and scheduled, all of it constants of types.
#pragma once

#include <calque/graph/alike.hpp>
#include <calque/graph/extent_symbols.hpp>
#include <calque/graph/regions.hpp>
#include <calque/passes/assume_extents.hpp>
#include <calque/passes/make_schedule.hpp>
#include <calque/passes/optimize.hpp>
#include <calque/runtime/fusion_checks.hpp>
#include <calque/runtime/spaced_views.hpp>
#include <calque/trace/trace.hpp>

namespace calque {
inline namespace v0 {
namespace runtime {

/// A function's graph as executors run it. `ByColumns`: the arguments that lie by columns, as a set.
template <std::uint64_t ByColumns, class F, class... Specs>
struct optimized_program {
    using traced = calque::detail::program<F, Specs...>;

    /// Whether the kernels are made for extents that only a call knows. (Looked for apart: compilers limit the steps of
    /// one evaluation.)
    static constexpr bool assumes_extents = passes::assumes_extents(traced::graph.view());

    /// Whether only a call knows which extents broadcast.
    static constexpr bool is_ambiguous = graph::is_ambiguous(traced::graph.view());
    /// Whether a plan must check that no dynamic extent broadcasts.
    static constexpr bool relies_on_equal_extents =
        is_ambiguous && (passes::relies_on_equal_extents(traced::graph.view()) || assumes_extents);

    /// Whether axes are reversed so that arguments by columns are read as they lie. Regions see views of arrays as they
    /// are: what has some is not changed, and nothing of it lies by columns.
    static constexpr bool reverses_axes = ByColumns != 0 && traced::graph.view().region_count <= 1;

private:
    static constexpr void optimize(graph::builder& to) {
        if constexpr (assumes_extents) {
            graph::builder assumed;
            bool const is_possible = passes::assume_extents(traced::graph.view(), assumed);
            optimize(is_possible ? assumed.view() : traced::graph.view(), to);
        } else {
            optimize(traced::graph.view(), to);
        }
    }
    static constexpr void optimize(graph::graph_view const& from, graph::builder& to) {
        if constexpr (reverses_axes) {
            passes::optimize_by_columns(from, ByColumns, to);
        } else {
            passes::optimize(from, to);
        }
    }

    /// The passes run once, into arrays of the size of what is traced: they seldom add nodes. A constant of the exact
    /// size is copied from there, which costs the compiler a fraction of a second evaluation.
    static constexpr graph::graph_size capacity = graph::size_of_graph(traced::graph.view());
    static constexpr graph::graph_within<capacity> try_first() {
        graph::builder to;
        optimize(to);
        return graph::freeze_within<capacity>(to);
    }
    static constexpr graph::graph_within<capacity> first_try = try_first(); // g++ 12 would evaluate a lambda twice
    static constexpr auto make_graph() {
        if constexpr (first_try.fits()) {
            return graph::resized<first_try.size>(first_try.graph);
        } else {
            graph::builder to;
            optimize(to);
            return graph::freeze<first_try.size>(to);
        }
    }

public:
    static constexpr auto optimized = make_graph();
    static constexpr graph::graph_view view() {
        graph::graph_view g = optimized.view();
        g.by_columns = reverses_axes ? ByColumns : 0;
        return g;
    }
    static constexpr int argument_count = traced::argument_count;
};

template <class Around, int Group, int Index>
struct region_of;

/// A region's schedule. `Region` has `optimized`, the graph of the whole function, and `view()`, which says what of it
/// is to run.
///
/// Kernels are named by this type, not by the graph: a graph as a template argument makes symbols of 40 KB.
template <class Region>
struct scheduled {
    using source = Region;
    using checks = fusion_checks<scheduled>; // of the extents of a call
    static constexpr auto const& optimized = Region::optimized;
    static constexpr graph::graph_view view() { return Region::view(); }

private:
    static constexpr bool meet_as_equals = requires { requires Region::relies_on_equal_extents; };

    /// Scheduled once, like the graph: there is room for as many steps as nodes, and for what most functions need of
    /// the rest.
    static constexpr graph::schedule_size capacity{8, Region::view().node_count, 24, 24, 12, 12};
    static constexpr auto first_try =
        passes::scheduler(Region::view(), meet_as_equals).template freeze_within<capacity>();
    static constexpr auto make_schedule() {
        if constexpr (first_try.fits()) {
            return graph::resized<first_try.size>(first_try.schedule);
        } else {
            return passes::scheduler(Region::view(), meet_as_equals).template freeze<first_try.size>();
        }
    }

public:
    static constexpr auto schedule = make_schedule();
    static constexpr graph::schedule_size size = schedule.size;
    static constexpr int argument_count = Region::argument_count;
    static constexpr int output_count = schedule.size.outputs;

    /// The rows of a group's space, or the columns of each; or `dyn`.
    static constexpr extent_t known_size(graph::group const& x, bool of_rows) {
        shape const& space = optimized.view().shapes[x.space];
        bool const folds_rows = x.kind == graph::group_kind::columns;
        int const first_row = folds_rows ? x.first_reduced_axis : 0;
        int const first_column = folds_rows ? first_row + x.reduced_axes : space.rank - x.reduced_axes;
        extent_t known = 1;
        for (int axis = of_rows ? first_row : first_column; axis < (of_rows ? first_column : space.rank); ++axis) {
            known = is_static(known) && is_static(space[axis]) ? known * space[axis] : dyn;
        }
        return known;
    }

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

        /// What step `i` loads if the columns of views stand `apart`, with others that are loads in the same walk.
        static constexpr kernels::spaced_reads reads(int i, int apart, bool const* is_load) {
            return reads_of(scheduled::view(), schedule.view(), description, i, apart, is_load);
        }

        /// The rows of the space and the columns of each, as far as the compiler knows them.
        static constexpr extent_t columns = known_size(description, false);
        static constexpr extent_t rows = known_size(description, true);
    };

    /// Whether some kernel stores, folds or has as its tiles more than one value: they may differ in what broadcasts.
    /// And values that depend on their places must have one for each point.
    static constexpr bool has_several_values() {
        for (graph::group const& x : schedule.groups) {
            bool const is_tiled = x.kind == graph::group_kind::product && x.step_count > 1;
            int values = x.result_count + (is_tiled ? 1 : 0);
            for (int i = 0; i < x.step_count; ++i) {
                graph::step const& s = schedule.steps[x.first_step + i];
                values += graph::info(s.op).kind == graph::op_kind::reduction || s.index >= 0 ? 1 : 0;
            }
            if (values > 1 && x.kind != graph::group_kind::control) {
                return true;
            }
        }
        return false;
    }

    static constexpr bool has_regions() {
        for (int k = 0; k < size.groups; ++k) {
            if (schedule.groups[k].kind == graph::group_kind::control) {
                return true;
            }
        }
        return false;
    }

    /// The branch or loop that group `k` is.
    static constexpr graph::node_id control_node_id(int k) { return schedule.groups[k].node; }
    static constexpr graph::node const& control_node(int k) { return optimized.nodes[control_node_id(k)]; }

private:
    /// Whether the results of two branches or loops that anyone reads are the same ones.
    static constexpr bool have_same_results(graph::group const& a, graph::group const& b) {
        bool same = a.result_count == b.result_count;
        for (int i = 0; same && i < a.result_count; ++i) {
            graph::node const& first = optimized.nodes[schedule.values[schedule.results[a.first_result + i]].node];
            graph::node const& second = optimized.nodes[schedule.values[schedule.results[b.first_result + i]].node];
            same = first.op == second.op && first.attribute == second.attribute;
        }
        return same;
    }

    struct twin_table {
        int first[size.groups == 0 ? 1 : size.groups]{};

        constexpr twin_table() {
            for (int k = 0; k < size.groups; ++k) {
                first[k] = k;
                for (int j = 0; first[k] == k && j < k; ++j) {
                    graph::group const& a = schedule.groups[j];
                    graph::group const& b = schedule.groups[k];
                    bool const are_comparable = first[j] == j && a.kind == graph::group_kind::control &&
                                                b.kind == graph::group_kind::control && have_same_results(a, b);
                    if (are_comparable && graph::region_comparison(view(), a.node, b.node).are_alike()) {
                        first[k] = j;
                    }
                }
            }
        }
    };
    static constexpr twin_table twins{};

public:
    /// The first group whose regions are like those of group `k`, itself if there is none: its kernels serve both.
    static constexpr int twin_of(int k) { return twins.first[k]; }

    /// Region `R` of the branch or loop that group `K` is, or of the first one like it.
    template <int K, int R>
    using region = scheduled<region_of<scheduled, twin_of(K), R>>;
};

/// Region `Index` of the branch or loop that is a group of the schedule `Around`, and what of its yields anyone reads.
template <class Around, int Group, int Index>
struct region_of {
    static constexpr auto const& optimized = Around::optimized;

private:
    static constexpr graph::node_id control_id = Around::schedule.groups[Group].node;
    static constexpr graph::node const& control = optimized.nodes[control_id];
    static constexpr graph::control_counts counts = graph::control_counts::unpack(control.attribute);
    static constexpr graph::yield_range yields = graph::yields_of(control, Index);

    /// Whether yield `k` is carried on, or is a result that is read.
    static constexpr bool is_needed(int k) {
        if (control.op == graph::code_of<graph::ops::while_loop> || k < counts.carried) {
            return true;
        }
        graph::op_code const kind = control.op == graph::code_of<graph::ops::scan> ? graph::code_of<graph::ops::stacked>
                                                                                   : graph::code_of<graph::ops::result>;
        graph::group const& group = Around::schedule.groups[Group];
        bool needed = false;
        for (int i = 0; i < group.result_count; ++i) {
            int const v = Around::schedule.results[group.first_result + i];
            graph::node const& n = optimized.nodes[Around::schedule.values[v].node];
            needed |= n.op == kind && n.attribute == static_cast<std::uint64_t>(k - counts.carried);
        }
        return needed;
    }

    static constexpr int count_outputs() {
        int count = 0;
        for (int k = 0; k < yields.count; ++k) {
            count += is_needed(k) ? 1 : 0;
        }
        return count;
    }

    struct output_table {
        graph::node_id nodes[count_outputs() == 0 ? 1 : count_outputs()]{};
        int numbers[count_outputs() == 0 ? 1 : count_outputs()]{};

        constexpr output_table() {
            for (int k = 0, next = 0; k < yields.count; ++k) {
                if (is_needed(k)) {
                    graph::node_id const yield = optimized.inputs[control.first_input + yields.first + k];
                    nodes[next] = optimized.inputs[optimized.nodes[yield].first_input];
                    numbers[next++] = k;
                }
            }
        }
    };
    static constexpr output_table outputs{};

public:
    static constexpr int argument_count = counts.data;

    /// Which of the region's yields an output is.
    static constexpr int yield_of(int output) { return outputs.numbers[output]; }

private:
    static constexpr bool has_history(int k) {
        graph::group const& group = Around::schedule.groups[Group];
        bool has = false;
        for (int i = 0; i < group.result_count; ++i) {
            int const v = Around::schedule.results[group.first_result + i];
            graph::node const& n = optimized.nodes[Around::schedule.values[v].node];
            has |= n.op == graph::code_of<graph::ops::history> && n.attribute == static_cast<std::uint64_t>(k);
        }
        return has;
    }

    /// For each output the carried value that lives in its place, and the other way round; -1: none.
    struct stacking_table {
        int carried[count_outputs() == 0 ? 1 : count_outputs()];
        int output[counts.carried == 0 ? 1 : counts.carried];

        constexpr stacking_table() {
            for (int& k : carried) {
                k = -1;
            }
            for (int& o : output) {
                o = -1;
            }
            bool const is_scan = control.op == graph::code_of<graph::ops::scan>;
            for (int k = 0; is_scan && k < counts.carried; ++k) {
                for (int o = counts.carried; output[k] < 0 && !has_history(k) && o < count_outputs(); ++o) {
                    if (carried[o] < 0 && outputs.nodes[o] == outputs.nodes[k]) {
                        carried[o] = k;
                        output[k] = o;
                    }
                }
            }
        }
    };
    static constexpr stacking_table stacking{};

public:
    /// The output that stacks what a step carries on as value `k`: that is carried in the stacked array, and nothing
    /// copies it there. -1: none does, or what each step began with is kept too.
    static constexpr int output_that_stacks(int k) { return stacking.output[k]; }

    /// Whether an output is where a carried value is.
    static constexpr bool is_carried(int output) { return stacking.carried[output] >= 0; }

    static constexpr graph::graph_view view() {
        graph::graph_view g = optimized.view();
        g.entry = graph::region_of(g, control, Index);
        g.control = control_id;
        g.outputs = outputs.nodes;
        g.output_count = count_outputs();
        return g;
    }
};

/// The constants that every call of a program shares.
template <std::uint64_t ByColumns, class F, class... Specs>
struct compiled_for_orders : scheduled<optimized_program<ByColumns, F, Specs...>> {
    using traced = calque::detail::program<F, Specs...>;

    static constexpr int output_count = traced::output_count;
    static constexpr bool is_ambiguous = compiled_for_orders::source::is_ambiguous;
    static constexpr bool relies_on_equal_extents = compiled_for_orders::source::relies_on_equal_extents;
    /// Whether calls may have extents that fusion has not taken for equal, which some calls are checked for.
    static constexpr bool is_checked = is_ambiguous && !relies_on_equal_extents &&
                                       compiled_for_orders::has_several_values() &&
                                       compiled_for_orders::checks::count != 0;
    /// Whether calls may have extents that the kernels do not serve: those run op by op.
    static constexpr bool may_be_interpreted =
        relies_on_equal_extents || is_checked || (is_ambiguous && compiled_for_orders::has_regions());
    /// Whether calls may have outputs that are computed for more elements than they have.
    static constexpr bool may_be_widened =
        is_checked && ByColumns == 0 && !compiled_for_orders::has_regions() && compiled_for_orders::checks::may_widen();
};

/// The constants that every call of `F` with these specs shares, wherever its arrays lie.
template <class F, class... Specs>
using compiled = compiled_for_orders<0, F, Specs...>;

} // namespace runtime
} // namespace v0
} // namespace calque
