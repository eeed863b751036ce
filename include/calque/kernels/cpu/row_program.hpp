// SPDX-License-Identifier: MIT
// What the kernels of a row program have in common, whichever way their lanes run: its phases, and the work of each.
#pragma once

#include <calque/kernels/cpu/fused_arguments.hpp>
#include <calque/kernels/cpu/phases.hpp>
#include <calque/kernels/cpu/registers_of_steps.hpp>
#include <calque/kernels/cpu/unroll_steps.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// `Group`: a type with the constants `step_count`, `leaf_count`, `result_count`, `steps()` (an array of steps) and
/// `is_full(r)` (whether result r has a value for each column, not one for each row).
template <class Group>
struct row_program {
    static constexpr int step_count = Group::step_count;
    static constexpr phase_plan<step_count> plan =
        plan_phases<step_count>(Group::steps(), [](int r) { return Group::is_full(r); });

    /// Whether a group takes one register.
    static constexpr bool groups_are_registers = !has_wide_values(Group::steps(), step_count);

    /// Whether four groups fit into registers.
    static constexpr bool has_registers_to_spare = simd::register_count == 32 && groups_are_registers;

    /// Whether a step has work in a phase: a load, an elementwise operation, a reduction that accumulates.
    static constexpr bool works(int i, int phase) {
        return detail::is_reduction(Group::steps()[i]) ? plan.ready[i] == phase
                                                       : plan.loads(i, phase) || plan.computes(i, phase);
    }

    /// The steps with work in a phase: in the order of the graph, or sorted by depth.
    template <int Phase, bool ByDepth = false>
    static constexpr auto work = [] {
        auto list = list_steps<step_count>([](int i) { return works(i, Phase); });
        if constexpr (ByDepth) {
            list = by_depth(Group::steps(), list);
        }
        return with_models(list, [](int i, int j) {
            return plan.loads(i, Phase) == plan.loads(j, Phase) && are_alike(Group::steps(), i, j);
        });
    }();

    /// Those that read an array, or the tile of a product.
    template <int Phase>
    static constexpr auto reads = list_steps<step_count>([](int i) {
        graph::step const& s = Group::steps()[i];
        bool const is_in_memory = s.leaf >= 0 || s.op == graph::code_of<graph::ops::matmul>;
        return is_in_memory && plan.computes(i, Phase) && !plan.loads(i, Phase);
    });

    /// To be expanded by the function that runs the phases: each level of calls between that and a phase would be
    /// compiled with all of the phase's code.
    using phases = std::make_integer_sequence<int, plan.count>;

    /// Steps whose values along the columns are stored in a phase, in scratch or as a result.
    template <int Phase>
    static constexpr auto stores = list_steps<step_count>(
        [](int i) { return (plan.scratch[i] >= 0 && plan.computes(i, Phase)) || plan.stored_in[i] == Phase; });

    /// Values that do not vary along columns and become computable in `Phase`: once a row, or once a call. A call's are
    /// those that no row and no reduction has a part in; phase 0 has all of them.
    template <int Phase, bool PerRow>
    static constexpr auto row_values = list_steps<step_count>([](int i) {
        graph::step const& s = Group::steps()[i];
        bool const is_per_row = s.varies_along_rows || plan.ready[i] > 0;
        return !s.varies_along_columns && !detail::is_reduction(s) && s.op != graph::code_of<graph::ops::constant> &&
               plan.ready[i] == Phase && is_per_row == PerRow;
    });

    static constexpr auto row_results = list_steps<step_count>([](int i) {
        int const r = Group::steps()[i].result;
        return r >= 0 && !Group::is_full(r);
    });

    template <int I>
    static constexpr auto identity = step_op<Group, I>::template identity<step_element<Group, I>>;

    template <int Phase>
    static constexpr auto reductions =
        list_steps<step_count>([](int i) { return detail::is_reduction(Group::steps()[i]) && plan.ready[i] == Phase; });

    template <int Phase, class F>
    static CALQUE_INLINE void for_each_reduction(F&& f) {
        unroll_steps<0, reductions<Phase>.size>(
            [&](auto k) CALQUE_INLINE_LAMBDA { f(std::integral_constant<int, reductions<Phase>.at[k]>{}); });
    }

    template <int Phase, int U>
    static CALQUE_INLINE void start_reductions(step_registers<Group, U>& accumulators) {
        for_each_reduction<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
            accumulators.template at<step>() = simd::pack<step_element<Group, step>, U>(identity<step>);
        });
    }

    template <int Phase, int U, int N>
    static CALQUE_INLINE void fold_reductions(step_registers<Group, U>& wide, step_registers<Group, N>& narrow) {
        for_each_reduction<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
            using Op = step_op<Group, step>;
            narrow.template at<step>() = simd::fold_groups<N>(
                wide.template at<step>(), [](auto x, auto y) CALQUE_INLINE_LAMBDA { return Op::combine(x, y); });
        });
    }

    /// Copies what a row has once since `Phase`, reductions among it.
    template <int Phase, int U>
    static CALQUE_INLINE void copy_row_values(step_registers<Group, U>& from, step_registers<Group, U>& to) {
        auto const copy = [&](auto step) CALQUE_INLINE_LAMBDA { to.template at<step>() = from.template at<step>(); };
        for_each_reduction<Phase>(copy);
        unroll_steps<0, row_values<Phase, true>.size>(
            [&](auto k) CALQUE_INLINE_LAMBDA { copy(std::integral_constant<int, row_values<Phase, true>.at[k]>{}); });
    }

    /// The same, since any phase before `Phase`.
    template <int Phase, int U>
    static CALQUE_INLINE void copy_row_values_before(step_registers<Group, U>& from, step_registers<Group, U>& to) {
        if constexpr (Phase > 0) {
            copy_row_values_before<Phase - 1>(from, to);
            copy_row_values<Phase - 1>(from, to);
        }
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
