// SPDX-License-Identifier: MIT
// Which way the lanes of a row program run: a plan chooses by the sizes of a call, the compiler where it knows them.
#pragma once

#include <calque/kernels/cpu/pack_lines.hpp>
#include <calque/kernels/cpu/row_search.hpp>
#include <calque/kernels/cpu/simd.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace kernels {

enum class row_variant : std::uint8_t {
    lanes_along_columns,
    lanes_along_rows,
    folded_together,
    past_caches,
    in_pieces
};

/// How the rows of a call are divided: several groups of them at a time with a lane a row, then one group, and for the
/// others lanes run along the columns.
struct row_split {
    std::ptrdiff_t wide_end = 0;
    std::ptrdiff_t narrow_end = 0; // at least `wide_end`

    constexpr bool has_wide() const { return wide_end > 0; }
    constexpr bool has_narrow() const { return narrow_end > wide_end; }
    constexpr bool has_long(std::ptrdiff_t rows) const { return rows > narrow_end; }
};

/// The row program of `Group` as far as the choice of a variant goes.
struct row_traits {
    bool may_be_short = false; // it reduces rows, and no operation of it counts elements along them
    bool is_one_walk = false;  // along a row
    int most_cost = 0;         // instructions a pack, of the walk that has most
    bool is_costly = false;    // more work than the processor looks ahead of, from one row into the next
    bool takes_turns = false;  // see `phase_plan`
    bool is_wide = false;      // elements of which a register holds half a group
    bool is_search = false;    // one walk that looks for a column
    int reductions = 0;        // of a row
    extent_t once_a_row = 0;   // what a row costs whatever its columns, as the columns that would cost as much
    int moved = 0;             // arrays that tiles take or give, twice, and those kept for a later walk
    int repeated = 0;          // arrays that are one row, which lanes along the columns load for each
    extent_t bytes = 0;        // of what a column of a row reads and writes

    template <int N>
    constexpr row_traits(graph::step const* steps, phase_plan<N> const& plan)
        : is_one_walk(plan.count == 1),
          most_cost(*std::max_element(plan.cost, plan.cost + plan.count)),
          is_costly(most_cost >= thresholds::costly_phase),
          takes_turns(plan.takes_turns()),
          is_wide(has_wide_values(steps, N)) {
        bool const folds_at_length = is_costly && !is_one_walk;
        int const fold = folds_at_length ? thresholds::columns_of_a_fold_of_costly_rows : thresholds::columns_of_a_fold;
        bool is_indexed = false;
        int cost = 0;
        for (int i = 0; i < N; ++i) {
            graph::step const& s = steps[i];
            bool const is_reduction = detail::is_reduction(s);
            bool const varies_by_row = s.varies_along_rows || plan.ready[i] > 0;
            bool const is_hidden = is_one_walk && reductions > 0; // a fold behind the first one of a walk
            reductions += is_reduction;
            is_indexed |= s.index >= 0;
            bool const is_operand = s.leaf >= 0 && s.varies_along_columns;
            int const tiles = (is_operand && s.varies_along_rows ? 1 : 0) + (plan.stored_in[i] >= 0 ? 1 : 0);
            moved += 2 * tiles;
            bytes += tiles * static_cast<extent_t>(size_of(s.type));
            repeated += is_operand && !s.varies_along_rows ? 1 : 0;
            moved += plan.scratch[i] >= 0 ? 1 : 0;
            once_a_row += is_reduction && !is_hidden ? fold : 0;
            cost += !is_reduction && !s.varies_along_columns && varies_by_row ? graph::info(s.op).cost : 0;
        }
        once_a_row += cost / thresholds::instructions_of_a_column;
        is_search = is_one_walk && find_search(steps, plan, 0).is_search();
        if (!is_one_walk && moved > 0) {
            for (int phase = 0; phase < plan.count; ++phase) {
                bool const searches = find_search(steps, plan, phase).is_search();
                once_a_row -= searches ? fold - thresholds::columns_of_a_search : 0;
            }
        }
        may_be_short = reductions > 0 && !is_indexed;
    }

    /// Whether turns make up for what they cost few columns.
    constexpr bool gains_by_turns() const { return takes_turns && (is_costly || !is_wide); }

    /// Whether lanes run along so many columns, of so many rows or of however many there are.
    constexpr bool are_long(extent_t columns, extent_t rows = 0) const {
        extent_t const idle_lanes = -columns & (simd::width - 1);
        if (is_one_walk) {
            return columns >= first_long_row_of_one_walk(idle_lanes);
        }
        bool const leave_l2 =
            simd::register_count == 32 && rows * columns * bytes > thresholds::bytes_of_short_rows_in_l2;
        return columns * 100 >=
               first_long_row(idle_lanes) * (leave_l2 ? thresholds::percent_of_short_rows_behind_l2 : 100);
    }

    /// The cheapest way for so many rows. Whole groups of them have a lane each; for what remains, which is computed as
    /// a whole group too, it depends on what rows pay for the tail, the fold of the lanes and what each computes once
    /// if lanes run along the columns. `may_be_long`: there is a kernel for that. A group of rows of one walk by itself,
    /// whose steps wait for each other, takes as long as two: there is no such kernel.
    constexpr row_split split(extent_t rows, extent_t columns, bool may_be_long) const {
        if (!may_be_short || (may_be_long && are_long(columns, rows))) {
            return {};
        }
        constexpr extent_t group = simd::width;
        constexpr extent_t block = group * thresholds::groups_of_short_rows;
        if (is_one_walk) {
            extent_t const of_rows = is_costly ? block * (columns + in_lanes(thresholds::columns_of_a_group_of_rows))
                                               : of_light_rows(columns);
            extent_t const of_a_long_row = (columns + group - 1) / group * group + in_lanes(once_a_row);
            extent_t const rest = rows % block;
            extent_t const wide = of_rows < rest * of_a_long_row ? rows : rows - rest;
            return {wide, wide};
        }
        bool const fills_a_block = columns >= thresholds::groups_of_a_whole_block * group;
        extent_t const saved = fills_a_block ? in_lanes(thresholds::columns_saved_by_a_block) : 0;
        extent_t const once = gains_by_turns() ? once_a_row * thresholds::percent_of_once_in_turn / 100 : once_a_row;
        extent_t const of_a_long_row = columns + in_lanes(once) - saved;
        extent_t const of_a_group = group * (columns + in_lanes(thresholds::columns_of_a_group_of_rows));
        extent_t const of_a_block = of_a_group * thresholds::percent_of_a_block_of_rows / 100;

        auto const is_narrow = [&](extent_t n) { return !may_be_long || of_a_group < n * of_a_long_row; };
        extent_t const rest = rows % block;
        extent_t const narrow = is_narrow(rest % group) ? rest : rest >= group && is_narrow(group) ? group : 0;
        extent_t const of_long_rows =
            rest > narrow ? in_lanes(thresholds::columns_of_a_kernel) + (rest - narrow) * of_a_long_row : 0;
        extent_t const of_rest = (narrow + group - 1) / group * of_a_group + of_long_rows;
        bool const is_rest_wide = rest > group && of_a_block < of_rest;
        return is_rest_wide ? row_split{rows, rows} : row_split{rows - rest, rows - rest + narrow};
    }

private:
    /// What a block of light rows costs a lane a row: it waits for its tiles.
    constexpr extent_t of_light_rows(extent_t columns) const {
        extent_t const arrays = moved / 2;
        extent_t const once =
            in_lanes(thresholds::columns_of_light_rows + thresholds::columns_of_a_light_array * arrays);
        extent_t const percent = thresholds::percent_of_light_rows + thresholds::percent_of_a_light_array * arrays;
        return simd::width * (once + columns * percent / 100);
    }

    /// Whether a lane a row runs pairs of columns of costly walks in lockstep.
    constexpr bool has_costly_pairs() const { return is_costly && !is_wide && simd::register_count == 32; }

    /// The columns from which on lanes run along them, if so many of the lanes of a row's last register have none.
    constexpr extent_t first_long_row_of_one_walk(extent_t idle_lanes) const {
        constexpr extent_t least = simd::width;
        if (is_costly) {
            auto const& costly =
                has_costly_pairs() ? thresholds::costly_walk_of_pairs : thresholds::costly_walk_of_columns;
            extent_t const of_idle_lanes = idle_lanes * 16 / simd::width / costly.idle_lanes_of_a_column;
            extent_t const work = (costly.columns_of_an_instruction + of_idle_lanes) * most_cost;
            return std::clamp<extent_t>(work / std::max(moved, 1), least, costly.longest_rows);
        }
        // Of a wide group AVX-512 reads the second register in part for nothing; AVX2's masks cost too much. Tiles of
        // two arrays take twice as long, a fold does not. A search folds nothing.
        bool const is_half = moved > 2 || ((is_wide || is_search) && simd::register_count == 32);
        extent_t const of_a_fold = is_half ? least / 2 + 1 : least;
        return std::clamp<extent_t>(reductions * of_a_fold, of_a_fold, thresholds::longest_rows);
    }

    /// The same of several walks. What lanes do for nothing counts where walks are costly.
    constexpr extent_t first_long_row(extent_t idle_lanes) const {
        constexpr extent_t least = simd::width;
        extent_t const most = is_costly ? thresholds::longest_costly_rows : thresholds::longest_rows;
        extent_t const more_idle_lanes = idle_lanes - least / 2; // than there are as a rule
        extent_t const of_idle_lanes = has_costly_pairs() ? 2 * more_idle_lanes : is_costly ? more_idle_lanes : 0;
        int const saved = simd::waits_for_lines_that_are_crossed ? 0 : repeated / 2;
        int const fewest =
            simd::register_count != 32 && !is_costly ? thresholds::least_moved_arrays_of_16_registers : 1;
        int const of_a_column = percent_of_a_moved_array() * std::max(moved - saved, fewest);
        return std::clamp<extent_t>(once_a_row * 100 / of_a_column + of_idle_lanes, least, most);
    }

    /// What each array that is moved costs a lane a row, in hundredths of a column.
    constexpr int percent_of_a_moved_array() const {
        auto const& percent = simd::register_count != 32 ? thresholds::percent_of_moved_arrays_of_16_registers
                              : simd::waits_for_lines_that_are_crossed
                                  ? thresholds::percent_of_moved_arrays_across_lines
                                  : thresholds::percent_of_moved_arrays;
        if (is_costly) {
            return is_wide ? percent.of_wide_costly_rows : percent.of_costly_rows;
        }
        return takes_turns ? percent.of_rows : is_wide ? percent.of_wide_rows : percent.of_rows_without_turns;
    }

    /// The thresholds are for registers of 16 lanes.
    static constexpr extent_t in_lanes(extent_t columns) { return columns * simd::width / 16; }
};

} // namespace kernels
} // namespace v0
} // namespace calque
