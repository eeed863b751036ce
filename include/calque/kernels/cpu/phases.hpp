// SPDX-License-Identifier: MIT
// The phases of a row program: a row is walked once for each reduction that must be finished before work can go on.
// What a later walk needs again it recomputes if that is cheap, else it keeps it in a scratch row, which stays in L1.
#pragma once

#include <calque/graph/schedule.hpp>
#include <calque/kernels/cpu/thresholds.hpp>
#include <calque/kernels/cpu/unroll_steps.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace kernels {

using graph::max_phases;

/// What the phases of a row program do with each of its `N` steps.
template <int N>
struct phase_plan {
    int count = 1;                  // phases
    int ready[N]{};                 // the first phase in which a step's inputs are there
    std::uint16_t computed_in[N]{}; // steps along columns: the phases that compute it, as bits
    std::uint16_t loaded_in[N]{};   // the phases that load it from its scratch row
    int scratch[N]{};               // its scratch row; -1: none
    int scratch_rows = 0;
    int stored_in[N]{};     // results: the phase that stores it
    int last_read[N]{};     // leaves: the last phase that loads it
    int cost[max_phases]{}; // instructions a pack
    bool reduces[max_phases]{};
    bool counts[max_phases]{}; // some operation of it is indexed

    /// Whether a few rows run each phase one behind the other, so that none waits for what it folds and computes once.
    /// Of two light phases that end in elementwise work a processor runs the next row's first one beside the second.
    constexpr bool takes_turns() const {
        bool const ends_light = count == 2 && !reduces[1] && std::max(cost[0], cost[1]) < thresholds::costly_phase;
        return count > 1 && !ends_light;
    }

    constexpr bool computes(int step, int phase) const { return (computed_in[step] >> phase & 1) != 0; }
    constexpr bool loads(int step, int phase) const { return (loaded_in[step] >> phase & 1) != 0; }
    /// Whether no phase before computes a step, or, of a leaf, reads it.
    constexpr bool is_first(int step, int phase) const { return (computed_in[step] & ((1u << phase) - 1)) == 0; }
};

namespace detail {

constexpr bool is_reduction(graph::step const& s) {
    return graph::info(s.op).kind == graph::op_kind::reduction;
}
constexpr bool is_extreme(graph::step const& s) {
    return s.op == graph::code_of<graph::ops::reduce_max> || s.op == graph::code_of<graph::ops::reduce_min>;
}

/// How many rows, or blocks of them, take turns: at most so many, and as many as fit into a part of L1.
constexpr std::ptrdiff_t count_turns(std::ptrdiff_t most, std::ptrdiff_t bytes_of_one, std::ptrdiff_t bytes) {
    while (most > 1 && most * bytes_of_one > bytes) {
        most /= 2;
    }
    return most;
}

} // namespace detail

/// Whether a register has half a group of some value that varies along the columns.
constexpr bool has_wide_values(graph::step const* steps, int count) {
    bool has = false;
    for (int i = 0; i < count; ++i) {
        has |= steps[i].varies_along_columns && size_of(steps[i].type) > sizeof(float);
    }
    return has;
}

/// The instructions a pack of a step: one, if the operation takes numbers and has one.
constexpr int cost_of_step(graph::step const* steps, int i) {
    graph::step const& s = steps[i];
    if (s.leaf >= 0) {
        return 1;
    }
    graph::op_info const& op = graph::info(s.op);
    bool has_number = false;
    for (int k = 0; op.takes_numbers && k < s.input_count; ++k) {
        has_number |= steps[s.inputs[k]].op == graph::code_of<graph::ops::constant>;
    }
    return has_number ? 1 : op.cost;
}

template <int N>
struct use_counts {
    int of[N == 0 ? 1 : N]{};
};

/// How often those steps of a list for which `selects` holds use each value of `N`.
template <int N>
constexpr use_counts<N> count_uses(graph::step const* steps, modelled_list<N> const& list, auto selects) {
    use_counts<N> counts;
    for (int w = 0; w < list.size; ++w) {
        graph::step const& s = steps[list.at[w]];
        for (int k = 0; selects(list.at[w]) && k < s.input_count; ++k) {
            ++counts.of[s.inputs[k]];
        }
    }
    return counts;
}

/// The steps of a list, each behind its inputs, of which the longest chain of instructions comes first, so that few
/// values wait for others. What functions read is loaded before all, the rest where it is used.
///
/// Measured with AVX-512 and four groups, in the order of the graph: tanh(a*b+c)*sigmoid(a)-0.5c 1.05 to 1.15,
/// log(b)*exp(a) 1.0, 0.5a(1+tanh(...))+b*c 1.1.
template <int N>
constexpr step_list<N> by_depth(graph::step const* steps, step_list<N> const& list) {
    bool is_waiting[N]{}; // for its place
    bool is_read[N]{};
    int depth[N]{};
    for (int w = 0; w < list.size; ++w) {
        int const i = list.at[w];
        is_waiting[i] = true;
        for (int k = 0; k < steps[i].input_count; ++k) {
            int const input = steps[i].inputs[k];
            is_read[input] = true;
            depth[i] = std::max(depth[i], depth[input]);
        }
        depth[i] += cost_of_step(steps, i);
    }
    bool is_for_functions[N]{};
    for (int w = list.size - 1; w >= 0; --w) {
        int const i = list.at[w];
        bool const is = is_for_functions[i] || cost_of_step(steps, i) >= thresholds::cost_of_a_function;
        for (int k = 0; k < steps[i].input_count; ++k) {
            is_for_functions[steps[i].inputs[k]] |= is;
        }
    }
    step_list<N> sorted;
    auto const add = [&](auto const& self, int i) {
        if (!is_waiting[i]) {
            return;
        }
        is_waiting[i] = false;
        graph::step s = steps[i];
        std::sort(s.inputs, s.inputs + s.input_count, [&](int x, int y) { return depth[x] > depth[y]; });
        for (int k = 0; k < s.input_count; ++k) {
            self(self, s.inputs[k]);
        }
        sorted.at[sorted.size++] = i;
    };
    for (int w = 0; w < list.size; ++w) {
        if (int const i = list.at[w]; steps[i].leaf >= 0 && is_for_functions[i]) {
            add(add, i);
        }
    }
    for (int w = 0; w < list.size; ++w) {
        if (int const i = list.at[w]; !is_read[i]) {
            add(add, i);
        }
    }
    return sorted;
}

/// Plans the phases of `N` steps. `is_full(r)`: whether result r has a value for each column.
template <int N>
constexpr phase_plan<N> plan_phases(graph::step const* steps, auto is_full) {
    phase_plan<N> p;
    for (int i = 0; i < N; ++i) {
        graph::step const& s = steps[i];
        for (int k = 0; k < s.input_count; ++k) {
            int const input = s.inputs[k];
            int const after = p.ready[input] + (detail::is_reduction(steps[input]) ? 1 : 0);
            p.ready[i] = after > p.ready[i] ? after : p.ready[i];
        }
        bool const needs_columns = detail::is_reduction(s) || (s.result >= 0 && is_full(s.result));
        if (needs_columns && p.ready[i] >= p.count) {
            p.count = p.ready[i] + 1;
        }
        p.scratch[i] = p.stored_in[i] = p.last_read[i] = -1;
    }
    int tree_cost[N]{};
    for (int i = 0; i < N; ++i) {
        tree_cost[i] = cost_of_step(steps, i);
        for (int k = 0; k < steps[i].input_count; ++k) {
            int const input = steps[i].inputs[k];
            tree_cost[i] += steps[input].varies_along_columns ? tree_cost[input] : 0;
        }
        tree_cost[i] = tree_cost[i] < 1000 ? tree_cost[i] : 1000; // shared inputs count once for each use
    }
    for (int phase = 0; phase < p.count; ++phase) {
        bool needed[N]{};
        for (int i = 0; i < N; ++i) {
            graph::step const& s = steps[i];
            if (detail::is_reduction(s) && p.ready[i] == phase) {
                needed[s.inputs[0]] = true;
                p.reduces[phase] = true;
            }
            if (s.result >= 0 && is_full(s.result) && p.ready[i] == phase) {
                needed[i] = true;
                p.stored_in[i] = phase;
            }
        }
        for (int i = N - 1; i >= 0; --i) {
            graph::step const& s = steps[i];
            if (!needed[i] || !s.varies_along_columns) {
                continue;
            }
            if (p.computed_in[i] != 0 && s.leaf < 0 && tree_cost[i] >= thresholds::cheap_to_recompute) {
                p.loaded_in[i] = static_cast<std::uint16_t>(p.loaded_in[i] | 1u << phase);
                p.scratch[i] = p.scratch[i] < 0 ? p.scratch_rows++ : p.scratch[i];
                p.cost[phase] += 1;
                continue;
            }
            p.computed_in[i] = static_cast<std::uint16_t>(p.computed_in[i] | 1u << phase);
            p.cost[phase] += cost_of_step(steps, i);
            p.counts[phase] |= s.index >= 0;
            if (s.leaf >= 0) {
                p.last_read[i] = phase;
            }
            for (int k = 0; k < s.input_count; ++k) {
                needed[s.inputs[k]] = true;
            }
        }
    }
    return p;
}

} // namespace kernels
} // namespace v0
} // namespace calque
