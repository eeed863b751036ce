// SPDX-License-Identifier: MIT
// The kernel of a row program over rows that would fill few registers: each lane has a row of its own.
#pragma once

#include <calque/kernels/cpu/rolled.hpp>
#include <calque/kernels/cpu/row_lanes.hpp>
#include <calque/kernels/cpu/row_program.hpp>
#include <calque/kernels/cpu/row_reciprocals.hpp>
#include <calque/kernels/cpu/row_tiles.hpp>
#include <calque/kernels/cpu/row_variant.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Runs a row program with lanes along the rows, `Groups` groups of rows at a time: what varies along both is
/// transposed into tiles in L1, the phases walk down those, and results are transposed back.
///
/// A column of a tile is one pack, so that a walk along the columns meets full registers only, a reduction folds no
/// lanes, and what a row has once (a logarithm, a division) is computed for a pack of rows at a time.
template <class Group, int Groups>
class fused_short_rows {
    using program = row_program<Group>;
    static constexpr auto const& plan = program::plan;
    static constexpr int rows_at_once = Groups * simd::width;
    using lanes = row_lanes<Group, Groups>;
    using registers = typename lanes::registers;
    using reciprocals = row_reciprocals<Group, Groups>;
    /// Whether a few groups take turns with each phase, so that none waits for what it computes once.
    static constexpr bool takes_turns = Groups > 1 && row_traits(Group::steps(), plan).gains_by_turns();

public:
    using arguments = typename lanes::arguments;

    /// Bytes of scratch for rows of this many columns.
    static constexpr std::size_t scratch_bytes(std::ptrdiff_t columns) {
        return bytes_of_a_block(columns) * static_cast<std::size_t>(blocks_in_turn(columns));
    }

    /// The rows from `first` on, up to `rows`.
    static CALQUE_NOINLINE void run(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns,
                                    std::ptrdiff_t first) {
        fused_short_rows kernel(a, columns);
        lanes::template compute_row_values<0, false>(kernel.row_, a, 0, 0);
        if constexpr (takes_turns) {
            std::ptrdiff_t const rows_in_turn = blocks_in_turn(columns) * rows_at_once;
            for (std::ptrdiff_t i = first; i < rows; i += rows_in_turn) {
                kernel.run_blocks(i, std::min(rows_in_turn, rows - i), typename program::phases{});
            }
        } else {
            for (std::ptrdiff_t i = first; i < rows; i += rows_at_once) {
                kernel.run_block(i, static_cast<int>(std::min<std::ptrdiff_t>(rows_at_once, rows - i)),
                                 typename program::phases{});
            }
        }
    }

private:
    // ---- tiles

    /// Whether a step loads an array that must be transposed.
    static constexpr bool is_transposed(int i) {
        graph::step const& s = Group::steps()[i];
        return s.leaf >= 0 && s.varies_along_rows && s.varies_along_columns;
    }

    static constexpr bool is_full_result(int i) {
        int const r = Group::steps()[i].result;
        return r >= 0 && Group::is_full(r);
    }

    /// The tile of each step that needs one: as an operand, as a result, or to be read again in a later phase.
    struct tile_table {
        int of[program::step_count]{};
        int count = 0;
        std::size_t element_bytes = 1; // of the widest

        constexpr tile_table() {
            for (int i = 0; i < program::step_count; ++i) {
                bool const is_needed = is_transposed(i) || is_full_result(i) || plan.scratch[i] >= 0;
                of[i] = is_needed ? count++ : -1;
                std::size_t const bytes = is_needed ? size_of(Group::steps()[i].type) : 0;
                element_bytes = bytes > element_bytes ? bytes : element_bytes;
            }
        }
    };
    static constexpr tile_table tiles{};

    static constexpr auto transposed = list_steps<program::step_count>(is_transposed);
    static constexpr auto full_results = list_steps<program::step_count>(is_full_result);

    static constexpr std::size_t tile_bytes(std::ptrdiff_t columns) {
        return static_cast<std::size_t>(columns) * rows_at_once * tiles.element_bytes;
    }

    static constexpr std::size_t bytes_of_a_block(std::ptrdiff_t columns) {
        return static_cast<std::size_t>(tiles.count) * tile_bytes(columns);
    }

    static constexpr std::ptrdiff_t blocks_in_turn(std::ptrdiff_t columns) {
        return detail::count_turns(takes_turns ? thresholds::blocks_of_short_rows_in_turn : 1,
                                   static_cast<std::ptrdiff_t>(bytes_of_a_block(columns)),
                                   thresholds::bytes_of_tiles_in_turn);
    }

    template <int Model>
    CALQUE_INLINE auto* tile(int step = Model) const {
        auto const of_step = static_cast<std::size_t>(tiles.of[step]);
        return reinterpret_cast<step_element<Group, Model>*>(tiles_ + of_step * tile_bytes(columns_));
    }

    CALQUE_INLINE fused_short_rows(arguments const& a, std::ptrdiff_t columns)
        : a_(a), columns_(columns), tiles_(a.scratch) {
        unroll_steps<0, transposed.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = transposed.at[k];
            fill_[k] = filling_of_row_tiles<rows_at_once, step_element<Group, step>>(columns, leaf_stride<step>());
        });
        unroll_steps<0, full_results.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = full_results.at[k];
            write_[k] = writing_of_row_tiles<rows_at_once, step_element<Group, step>>(columns, result_stride<step>());
        });
    }

    // ---- a block: a pack of rows

    /// Rows `i` to `i + n - 1`, one a lane.
    template <int... Phase>
    CALQUE_INLINE void run_block(std::ptrdiff_t i, int n, std::integer_sequence<int, Phase...>) {
        load_tiles(i, n);
        (run_phase<Phase>(i, n), ...);
        finish_block(i, n);
    }

    /// A few blocks, `count` rows.
    template <int... Phase>
    CALQUE_INLINE void run_blocks(std::ptrdiff_t first, std::ptrdiff_t count, std::integer_sequence<int, Phase...>) {
        registers rows[thresholds::blocks_of_short_rows_in_turn];
        for_each_block(first, count, [&](int, std::ptrdiff_t i, int n) CALQUE_INLINE_LAMBDA { load_tiles(i, n); });
        (run_phase_of_blocks<Phase>(first, count, rows), ...);
        for_each_block(first, count, [&](int block, std::ptrdiff_t i, int n) CALQUE_INLINE_LAMBDA {
            program::template copy_row_values_before<plan.count>(rows[block], row_);
            finish_block(i, n);
        });
    }

    template <int Phase>
    CALQUE_INLINE void run_phase_of_blocks(std::ptrdiff_t first, std::ptrdiff_t count, registers* rows) {
        for_each_block(first, count, [&](int block, std::ptrdiff_t i, int n) CALQUE_INLINE_LAMBDA {
            program::template copy_row_values_before<Phase>(rows[block], row_);
            run_phase<Phase>(i, n);
            program::template copy_row_values<Phase>(row_, rows[block]);
        });
    }

    /// Calls `f(block, i, n)` for blocks of `n` rows from `i` on, with their tiles.
    template <class F>
    CALQUE_INLINE void for_each_block(std::ptrdiff_t first, std::ptrdiff_t count, F&& f) {
        tiles_ = a_.scratch;
        int block = 0;
        for (std::ptrdiff_t done = 0; done < count; done += rows_at_once) {
            f(block++, first + done, static_cast<int>(std::min<std::ptrdiff_t>(rows_at_once, count - done)));
            tiles_ += bytes_of_a_block(columns_);
        }
    }

    CALQUE_INLINE void load_tiles(std::ptrdiff_t i, int n) const {
        unroll_steps<0, transposed.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = transposed.at[k];
            fill_[k](reinterpret_cast<std::byte const*>(lanes::template leaf<step>(a_, i)), n, columns_,
                     leaf_stride<step>(), reinterpret_cast<std::byte*>(tile<step>()));
        });
    }

    /// Computes what rows have once in the end, and stores results: when all has been read, so that a result may take
    /// the place of an argument.
    CALQUE_INLINE void finish_block(std::ptrdiff_t i, int n) {
        lanes::template compute_row_values<plan.count, true>(row_, a_, i, n);
        unroll_steps<0, full_results.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = full_results.at[k];
            write_[k](reinterpret_cast<std::byte const*>(tile<step>()), n, columns_, result_stride<step>(),
                      reinterpret_cast<std::byte*>(lanes::template result<step>(a_, i)));
        });
        lanes::store_row_results(row_, a_, i, n);
    }

    template <int I>
    CALQUE_INLINE std::ptrdiff_t leaf_stride() const {
        return a_.leaf_row_strides[step_v<Group, I>.leaf];
    }
    template <int I>
    CALQUE_INLINE std::ptrdiff_t result_stride() const {
        return a_.result_row_strides[step_v<Group, I>.result];
    }
    // ---- one walk along the columns

    template <int Phase>
    CALQUE_INLINE void run_phase(std::ptrdiff_t i, int n) {
        lanes::template compute_row_values<Phase, true>(row_, a_, i, n);
        reciprocals of_rows;
        of_rows.template compute<Phase>(row_, columns_ >= thresholds::least_columns_of_reciprocals);
        registers totals;
        std::ptrdiff_t j = 0;
        bool const runs_pairs = has_pairs<Phase> && columns_ >= least_columns_of_pairs;
        if constexpr (has_pairs<Phase>) {
            if (runs_pairs) {
                step_registers<Group, 2 * Groups> of_pairs;
                program::template start_reductions<Phase>(of_pairs);
                CALQUE_ROLLED
                for (; j + 2 <= columns_; j += 2) {
                    run_columns<Phase>(of_pairs, of_rows, j);
                }
                program::template fold_reductions<Phase>(of_pairs, totals);
            }
        }
        if (!runs_pairs) {
            program::template start_reductions<Phase>(totals);
        }
        for (; j < columns_; ++j) {
            run_columns<Phase>(totals, of_rows, j);
        }
        program::template for_each_reduction<Phase>(
            [&](auto step) CALQUE_INLINE_LAMBDA { row_.template at<step>() = totals.template at<step>(); });
    }

    /// Whether two columns run in lockstep: functions, each a chain of instructions that wait for one another.
    template <int Phase>
    static constexpr bool has_pairs = Groups == 2 && program::groups_are_registers &&
                                      plan.cost[Phase] >= (program::has_registers_to_spare
                                                               ? thresholds::least_cost_of_paired_columns
                                                               : thresholds::least_cost_of_spilling_groups);

    /// The columns from which on that gains.
    static constexpr std::ptrdiff_t least_columns_of_pairs =
        program::has_registers_to_spare ? 2 : thresholds::least_columns_of_spilling_pairs;

    /// Column `j`, or as many as `U` groups have from there on. Accumulators are in the slots of reductions.
    template <int Phase, int U>
    CALQUE_INLINE void run_columns(step_registers<Group, U>& totals, [[maybe_unused]] reciprocals& of_rows,
                                   std::ptrdiff_t j) {
        step_registers<Group, U> column;
        unroll_models<program::template work<Phase, (U > Groups)>>([&](auto model, int step) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = step_v<Group, model>;
            using T = step_element<Group, model>;
            using V = simd::pack<T, U>;
            if constexpr (detail::is_reduction(s)) {
                constexpr int reduced = s.inputs[0];
                auto& total = totals.template at<model>(step);
                total = step_op<Group, model>::combine(
                    column_input<reduced>(column, row_, Group::steps()[step].inputs[0]), total);
            } else if constexpr (is_transposed(model) || plan.loads(model, Phase)) {
                column.template at<model>(step) = V::load(tile<model>(step) + j * rows_at_once);
            } else if constexpr (s.leaf >= 0) {
                T const* const of_columns = lanes::template leaf<model>(a_, 0, step) + j;
                constexpr int of_one = simd::pack<T, Groups>::registers;
                column.template at<model>(step) = V::generate(
                    [&](int r) CALQUE_INLINE_LAMBDA { return simd::pack<T, 1>(of_columns[r / of_one]).r[0]; });
            } else if constexpr (reciprocals::divides(model)) {
                column.template at<model>(step) = of_rows.template quotient<model>(column, row_, step);
            } else {
                column.template at<model>(step) = apply_step<model, lanes_are::rows>(column, row_, step);
            }
        });
        unroll_steps<0, program::template stores<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template stores<Phase>.at[k];
            if constexpr (!is_transposed(step)) {
                column_input<step>(column, row_).store(tile<step>() + j * rows_at_once);
            }
        });
    }

    arguments const a_; // a copy: stores could change the original, whose addresses would be read again for each block
    std::ptrdiff_t const columns_;
    std::byte* tiles_; // of the block
    move_row_tile fill_[std::max(transposed.size, 1)];
    move_row_tile write_[std::max(full_results.size, 1)];
    registers row_;
};

} // namespace kernels
} // namespace v0
} // namespace calque
