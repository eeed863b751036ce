// SPDX-License-Identifier: MIT
// The kernel of a row program over short rows: some of them in lockstep, whose lanes are folded together.
#pragma once

#include <calque/kernels/cpu/pack_fold_rows.hpp>
#include <calque/kernels/cpu/rolled.hpp>
#include <calque/kernels/cpu/row_block.hpp>
#include <calque/kernels/cpu/row_lanes.hpp>
#include <calque/kernels/cpu/row_variant.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

namespace detail {

/// How many rows that are folded together run in lockstep.
inline constexpr int folded_in_lockstep = 4;

} // namespace detail

/// Rows in lockstep wait for no sums of their own, and the folds of as many rows as a register has lanes take few more
/// instructions than that of one. What rows have once is computed in the lanes of a register.
template <class Group>
class folded_rows : row_block<Group, broadcast::none, 1, false, detail::folded_in_lockstep> {
    static constexpr int in_lockstep = detail::folded_in_lockstep;
    static constexpr int rows_at_once = simd::width;
    static constexpr int turns = rows_at_once / in_lockstep;

    using base = row_block<Group, broadcast::none, 1, false, in_lockstep>;
    using base::columns_;
    using base::plan;
    using base::row_;
    using typename base::kept_lanes;
    using typename base::program;
    using typename base::rows_in_lockstep;
    using lanes = row_lanes<Group, 1>;
    static constexpr row_traits traits{Group::steps(), plan};
    static constexpr thresholds::row_folds folds = [] {
        thresholds::folds_of_rows const& of =
            simd::register_count == 32 ? thresholds::folds_of_32_registers : thresholds::folds_of_16_registers;
        auto const& rows = traits.is_wide ? of.doubles : of.floats;
        if (traits.is_one_walk) {
            return traits.is_costly ? rows.costly : traits.reductions > 1 ? rows.several : rows.one;
        }
        if (traits.is_costly) {
            return rows.costly_walks;
        }
        if (traits.moved > thresholds::most_moved_by_folded_walks) {
            return rows.moving_walks;
        }
        return traits.reductions > 1 ? rows.several_walks : rows.walks;
    }();

    /// Whether all that is reduced can be combined in any order, and no columns are counted. Integers of 8 bytes take
    /// all of 16 registers, and what looks for the place of a double in its row may stop there if it runs by itself.
    static constexpr bool suits_steps() {
        constexpr bool may_be_integers = simd::register_count == 32 && (traits.is_one_walk || !traits.is_wide);
        bool suits = true;
        for (int i = 0; i < Group::step_count; ++i) {
            graph::step const& s = Group::steps()[i];
            bool const is_integer = may_be_integers && (s.type == dtype::int32 || s.type == dtype::int64);
            bool const has_fold =
                (is_full_float(s.type) || is_integer) && s.op != graph::code_of<graph::ops::first_index>;
            suits &= s.index < 0 && s.op != graph::code_of<graph::ops::matmul>;
            suits &= !detail::is_reduction(s) || has_fold;
        }
        return suits;
    }

public:
    using arguments = typename base::arguments;

    /// Whether a group has such a kernel.
    static constexpr bool exists = traits.reductions > 0 && folds.most_near_columns > 0 && suits_steps() &&
                                   !row_phase<Group, 0, false, false>::always_masked;

    /// Whether rows are so short, and so many, that it gains.
    static constexpr bool suits(std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if (!exists || rows < rows_at_once) {
            return false;
        }
        if (columns < folds.least_columns && !(columns >= folds.least_long_columns && traits.are_long(columns, rows))) {
            return false;
        }
        if (rows * columns * traits.bytes > folds.near_bytes) {
            return columns <= folds.most_columns;
        }
        return columns <= (columns % simd::width == 0 ? folds.most_whole_columns : folds.most_near_columns);
    }

    /// Bytes of scratch for rows of this many columns.
    static constexpr std::size_t scratch_bytes(std::ptrdiff_t columns) {
        return rows_at_once * base::scratch_bytes_of_a_row(columns);
    }

    /// How many rows of so many `run` takes.
    static constexpr std::ptrdiff_t count(std::ptrdiff_t rows) { return rows & -rows_at_once; }

    static CALQUE_NOINLINE void run(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        folded_rows kernel(a, columns, typename program::phases{});
        for (std::ptrdiff_t i = 0; i < count(rows); i += rows_at_once) {
            kernel.run_rows(i, typename program::phases{});
        }
    }

private:
    template <int... Phase>
    CALQUE_INLINE folded_rows(arguments const& a, std::ptrdiff_t columns, std::integer_sequence<int, Phase...>)
        : base(columns), a_(a),
          overlapping_phases_(columns < simd::width ? 0 : ((may_overlap<Phase>(a) ? 1u << Phase : 0) | ...)) {
        lanes::template compute_row_values<0, false>(lanes_, a, 0, rows_at_once);
        unroll_steps<0, program::template row_values<0, false>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template row_values<0, false>.at[k];
            row_.template at<step>() = widen<in_lockstep>(lanes_.template at<step>());
        });
    }

    /// Whether the last registers of rows may end where these do, and compute again what those before them did.
    template <int Phase>
    static CALQUE_INLINE bool may_overlap(arguments const& a) {
        return !plan.reduces[Phase] && !base::template rewrites<Phase>(a);
    }

    /// Rows `i` to `i + rows_at_once - 1`.
    template <int... Phase>
    CALQUE_INLINE void run_rows(std::ptrdiff_t i, std::integer_sequence<int, Phase...>) {
        (run_phase<Phase>(i), ...);
        lanes::template compute_row_values<plan.count, true>(lanes_, a_, i, rows_at_once);
        lanes::store_row_results(lanes_, a_, i, rows_at_once);
    }

    template <int I>
    static constexpr auto combine = [](auto const& x, auto const& y)
                                        CALQUE_INLINE_LAMBDA { return step_op<Group, I>::combine(x, y); };

    template <int Phase>
    CALQUE_INLINE void run_phase(std::ptrdiff_t i) {
        lanes::template compute_row_values<Phase, true>(lanes_, a_, i, rows_at_once);
        row_reciprocals<Group, 1> of_lanes;
        of_lanes.template compute<Phase>(lanes_, true);
        rows_in_lockstep rows{a_};
        move_to_row<Group>(rows, i);
        step_registers<Group, 2 * turns> folded;
        auto const take_turn = [&](auto turn) CALQUE_INLINE_LAMBDA {
            step_registers<Group, in_lockstep> totals;
            program::template start_reductions<Phase>(totals);
            rows.scratch =
                a_.scratch + static_cast<std::size_t>(turn * in_lockstep) * base::scratch_bytes_of_a_row(columns_);
            spread_row_values<Phase>(of_lanes, turn * in_lockstep);
            run_columns<Phase>(totals, rows);
            move_to_row<Group>(rows, in_lockstep);
            program::template for_each_reduction<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
                auto const pairs = simd::fold_four_rows(totals.template at<step>(), combine<step>);
                folded.template at<step>().r[2 * turn] = pairs.r[0];
                folded.template at<step>().r[2 * turn + 1] = pairs.r[1];
            });
        };
        if constexpr (plan.cost[Phase] >= thresholds::costly_phase) { // less code, which the loop costs nothing
            CALQUE_ROLLED
            for (int turn = 0; turn < turns; ++turn) {
                take_turn(turn);
            }
        } else {
            simd::unroll<turns>(take_turn);
        }
        program::template for_each_reduction<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
            constexpr int groups = turns * simd::groups_of_two_registers<step_element<Group, step>>;
            lanes_.template at<step>() =
                simd::fold_rows(simd::groups_of<0, groups>(folded.template at<step>()), combine<step>);
        });
    }

    /// What rows have once that columns of a phase are computed with, reduce or store.
    template <int Phase>
    static constexpr auto row_operands = list_steps<Group::step_count>([](int i) {
        graph::step const& s = Group::steps()[i];
        bool is_operand = plan.stored_in[i] == Phase;
        for (int k = 0; k < Group::step_count; ++k) {
            graph::step const& by = Group::steps()[k];
            bool const goes_along_columns = by.varies_along_columns || detail::is_reduction(by);
            for (int input = 0; input < by.input_count; ++input) {
                is_operand |= by.inputs[input] == i && goes_along_columns && program::works(k, Phase);
            }
        }
        bool const is_known_before_rows = !s.varies_along_rows && plan.ready[i] == 0 && !detail::is_reduction(s);
        return is_operand && !s.varies_along_columns && !is_known_before_rows;
    });

    /// Those of the rows from lane `first` on, and their reciprocals, to all lanes of a group each.
    template <int Phase>
    CALQUE_INLINE void spread_row_values(row_reciprocals<Group, 1>& of_lanes, int first) {
        auto const to_groups = [&]<class T>(simd::pack<T, 1> const& values) CALQUE_INLINE_LAMBDA {
            T of_rows[simd::width];
            values.store(of_rows);
            return detail::load_element_of_rows<in_lockstep>(of_rows + first, 1);
        };
        unroll_steps<0, row_operands<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = row_operands<Phase>.at[k];
            row_.template at<step>() = to_groups(lanes_.template at<step>());
        });
        base::reciprocals_.template spread<Phase>(of_lanes, to_groups);
    }

    /// Whether two columns are looked at for NaN together: of floats, which leave registers for both.
    template <int Phase>
    static constexpr bool folds_two = [] {
        auto const& reductions = program::template reductions<Phase>;
        bool folds = reductions.size > 0 && !traits.is_wide && program::template stores<Phase>.size == 0;
        for (int k = 0; k < reductions.size; ++k) {
            graph::step const& s = Group::steps()[reductions.at[k]];
            folds &= detail::is_extreme(s) && is_full_float(s.type);
        }
        return folds;
    }();

    template <int Phase>
    CALQUE_INLINE void fold_two_columns(step_registers<Group, in_lockstep>& totals, rows_in_lockstep const& rows,
                                        std::ptrdiff_t j) {
        step_registers<Group, in_lockstep> first, second;
        base::template compute_block<Phase, false, kept_lanes::none>(first, totals, rows, j, 0);
        base::template compute_block<Phase, false, kept_lanes::none>(second, totals, rows, j + simd::width, 0);
        program::template for_each_reduction<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
            constexpr int reduced = step_v<Group, step>.inputs[0];
            auto& total = totals.template at<step>();
            total = combine_two<step_op<Group, step>>(column_input<reduced>(first, row_),
                                                      column_input<reduced>(second, row_), total);
        });
    }

    template <int Phase>
    CALQUE_INLINE void run_columns(step_registers<Group, in_lockstep>& totals, rows_in_lockstep const& rows) {
        std::ptrdiff_t j = 0;
        if constexpr (folds_two<Phase>) {
            CALQUE_ROLLED
            for (; j + 2 * simd::width <= columns_; j += 2 * simd::width) {
                fold_two_columns<Phase>(totals, rows, j);
            }
        }
        base::template run_in_lockstep<Phase>(totals, rows, j, (overlapping_phases_ >> Phase & 1) != 0);
    }

    arguments const a_; // a copy: stores could change the original, whose addresses would be read again for each block
    unsigned const overlapping_phases_; // a bit for each
    typename lanes::registers lanes_;   // of what rows have once, a row each
};

} // namespace kernels
} // namespace v0
} // namespace calque
