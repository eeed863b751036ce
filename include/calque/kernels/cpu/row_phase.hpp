// SPDX-License-Identifier: MIT
// What a kernel with lanes along the columns knows of a phase before it runs: how its work is divided, and which ways
// to load and store suit it.
#pragma once

#include <calque/kernels/cpu/pack_lines.hpp>
#include <calque/kernels/cpu/row_program.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Phase `Phase` of a row program. `Broadcasts`: leaves that vary along the columns may have one element a row in some
/// call. `IsSpaced`: columns of leaves may stand apart.
template <class Group, int Phase, bool Broadcasts, bool IsSpaced>
class row_phase {
    using program = row_program<Group>;
    static constexpr auto const& plan = program::plan;
    static constexpr auto const& read = program::template reads<Phase>;
    static constexpr auto const& stored = program::template stores<Phase>;
    static constexpr auto const& work = program::template work<Phase>;

    static constexpr graph::step const& step(int i) { return Group::steps()[i]; }

public:
    /// A kernel of many steps is generated once, masked: it waits for arithmetic, and half the code compiles in half
    /// the time.
    static constexpr bool always_masked = program::step_count > thresholds::steps_with_unmasked_loop;

    // ---- groups in lockstep

    static constexpr bool is_light = [] {
        int const light = plan.counts[Phase]           ? thresholds::light_counting_phase
                          : plan.reduces[Phase]        ? thresholds::light_reducing_phase
                          : simd::register_count == 32 ? thresholds::light_phase_of_32_registers
                                                       : thresholds::light_phase;
        return plan.cost[Phase] <= light;
    }();

    /// Whether registers are few: there are several values at a time, not one that it folds, or one function.
    static constexpr bool is_crowded = is_short_of_registers<Group> && plan.cost[Phase] > 1 &&
                                       plan.cost[Phase] <= thresholds::most_cost_of_crowded_phase;

    /// Whether four groups of more than light work run in lockstep: registers suffice, or what they keep elsewhere costs
    /// less than waiting.
    static constexpr bool is_deep = [] {
        bool const is_by_itself = plan.count == 1;
        bool const is_costly = !plan.reduces[Phase] && plan.cost[Phase] >= thresholds::least_cost_of_spilling_groups;
        bool const outweighs_spills =
            !Broadcasts && (is_by_itself || is_costly) && plan.cost[Phase] <= thresholds::most_cost_of_spilling_groups;
        return program::groups_are_registers && (program::has_registers_to_spare || outweighs_spills) && !is_light &&
               !plan.counts[Phase] && !IsSpaced && !always_masked;
    }();

    /// Independent chains in flight: more for little work, which waits for memory, and for functions, each a chain of
    /// instructions that wait for one another, of which a processor looks too few ahead; fewer where registers are
    /// short. Fewer, too, where leaves may have one element a row: what is in the registers of a group depends on the
    /// call, so that it is copied there. (Measured with one, exp(x - k) and tanh(x * k): 1.05, of joined rows 1.05 to
    /// 1.12; with four tanh takes up to 1.17.) But with 16 registers little work, an AMD Zen 3, measured with one: x + k
    /// 1.1 to 1.35, (x - k) l 1.1 to 2.3, max(x k + y, 0) 1.3 to 1.6, in double 1.0 to 1.6. Where columns stand apart,
    /// several registers make one.
    static constexpr int groups = [] {
        bool const is_copied = Broadcasts && !plan.reduces[Phase];
        int const light = !IsSpaced || plan.reduces[Phase] ? 4 : program::has_registers_to_spare ? 2 : 1;
        bool const has_four = is_light ? !is_crowded : is_deep;
        bool const copies_light = is_light && !IsSpaced && simd::register_count == 16;
        int const copied = is_deep ? 2 : copies_light ? (is_crowded ? 2 : 4) : 1;
        return is_copied ? copied : has_four ? light : 2;
    }();

    /// Whether rows are too short for whole blocks, of which a reduction has to fold the groups: of functions, which
    /// wait for themselves, for one block.
    static constexpr bool has_no_blocks(std::ptrdiff_t columns) {
        std::ptrdiff_t const block = (is_deep ? 2 : groups) * simd::width;
        return plan.reduces[Phase] && columns < thresholds::least_blocks_folded * block;
    }

    /// Whether rows too short for blocks have a loop of their own, in which nothing asks again for each row: light
    /// sums, and, without AVX-512, several walks of little work. Measured without, over 16 to 47 columns:
    /// sums 1.05 to 1.3, of x * y 1.2 to 1.3, but 0.85 over 127; maxima 0.8 to 1.0; an AMD Zen 3, rows over their sums
    /// or norms, less their maxima: 1.3 to 1.6, of 16, 32 and 48 columns 1.0 to 1.2.
    static constexpr bool has_loop_of_short_rows = [] {
        bool are_sums = plan.count == 1 && is_light;
        auto const& reductions = program::template reductions<Phase>;
        for (int k = 0; k < reductions.size; ++k) {
            are_sums &= step(reductions.at[k]).op == graph::code_of<graph::ops::sum>;
        }
        bool const are_walks = simd::register_count != 32 && plan.count > 1 && !IsSpaced &&
                               *std::max_element(plan.cost, plan.cost + plan.count) < thresholds::costly_phase;
        return plan.reduces[Phase] && !always_masked && !Broadcasts && (are_sums || are_walks);
    }();

    /// Whether the last block of a row may end where the row does, and compute again what the one before it did:
    /// functions of elements in one walk. Measured without, exp(x - k) and tanh(x * k) over 256 rows of 95 to 511
    /// columns, more than half a block behind the last: 1.05 to 1.25; with it x * k, which waits for its stores, took
    /// 1.05 to 1.3.
    static constexpr bool has_overlapping_blocks = plan.count == 1 && !plan.reduces[Phase] && !is_light && groups > 1 &&
                                                   !plan.counts[Phase] && !IsSpaced && !Broadcasts && !always_masked;

    /// Whether the last register of a row may end where the row does: little elementwise work where the rest of a row
    /// is stored piece by piece. Measured without, an AMD Zen 3, rows over their sums 1.15 to 1.4, less their maxima 1.0
    /// to 1.25 over up to 100 columns, 1.0 to 1.15 over more.
    static constexpr bool has_overlapping_registers =
        simd::register_count != 32 && plan.cost[Phase] < thresholds::costly_phase && !plan.reduces[Phase] &&
        !plan.counts[Phase] && !IsSpaced && !Broadcasts && !always_masked && stored.size != 0;

    // ---- loads

    /// Whether the phase may ask for memory ahead of its loads: a reduction of so little work that it waits for nothing
    /// else. (What stores as well waits for its stores.) Processors without AVX-512 look ahead in two arrays better than
    /// in one. Measured with it, an AMD Zen 3, two arrays of 1 to 10 million: sums of x y 1.15 to 1.2, of |x - y| 1.05
    /// to 1.35, in rows 1.0 to 1.2; of doubles that L3 holds 0.8 to 0.95, of more 1.05 to 1.2.
    static constexpr bool prefetches = plan.reduces[Phase] && plan.cost[Phase] <= thresholds::light_phase &&
                                       (simd::register_count == 32 || read.size == 1);

    /// Whether the phase computes no functions.
    static constexpr bool is_cheap = plan.cost[Phase] <= thresholds::light_phase;

    /// Whether the phase asks for what the first one reads of a row ahead: of those behind it the one that computes
    /// most, while memory would idle.
    static constexpr bool prefetches_rows = [] {
        int most = 1;
        for (int k = 2; k < plan.count; ++k) {
            most = plan.cost[k] >= plan.cost[most] ? k : most;
        }
        bool const only_loads = stored.size == 0 && is_cheap;
        return simd::register_count != 32 && plan.count > 1 && Phase == most && !only_loads && !IsSpaced;
    }();

    /// Whether results that one row stores past the caches are, line by line of several parts side by side.
    template <bool OneRow>
    static constexpr bool stores_parts = OneRow && simd::register_count != 32;
    /// How many groups fill a line of what is stored.
    static constexpr int groups_of_a_line =
        stored.size == 0 ? 1 : static_cast<int>(simd::line_bytes / (simd::width * size_of(step(stored.at[0]).type)));

    /// Whether one row that no cache near by holds is read in several parts side by side instead: work of a phase that
    /// stores nothing.
    template <bool OneRow>
    static constexpr bool reads_parts = OneRow && simd::register_count != 32 && plan.reduces[Phase] &&
                                        stored.size == 0 && read.size != 0 && !always_masked;

    /// Whether a register is kept for what is loaded and used several times.
    static constexpr bool loads_once =
        simd::register_count == 32 || plan.cost[Phase] <= thresholds::most_cost_of_kept_loads;

    /// How often steps use each value.
    static constexpr auto uses =
        count_uses<Group::step_count>(Group::steps(), work, [](int i) { return !plan.loads(i, Phase); });

    /// Whether there is a reduction that looks for NaN.
    static constexpr bool looks_for_nan = [] {
        auto const& reductions = program::template reductions<Phase>;
        bool looks = false;
        for (int k = 0; k < reductions.size; ++k) {
            graph::step const& s = step(reductions.at[k]);
            looks |= detail::is_extreme(s) && is_floating(s.type);
        }
        return looks;
    }();

    /// The bytes that are read and stored for each column.
    static constexpr std::ptrdiff_t bytes_of_column = [] {
        std::ptrdiff_t bytes = 0;
        for (auto const* list : {&read, &stored}) {
            for (int k = 0; k < list->size; ++k) {
                bytes += static_cast<std::ptrdiff_t>(size_of(step(list->at[k]).type));
            }
        }
        return bytes;
    }();

    // ---- loads in whole lines

    /// Whether arrays may be loaded line by line: by elementwise work that waits for its loads.
    static constexpr bool loads_lines = [] {
        bool suits = is_light && !plan.reduces[Phase] && read.size != 0;
        for (int k = 0; k < read.size; ++k) {
            suits &= step(read.at[k]).leaf >= 0 && simd::has_line_loads(step(read.at[k]).type);
        }
        for (int k = 0; k < stored.size; ++k) {
            suits &= simd::has_line_loads(step(stored.at[k]).type);
        }
        return suits;
    }();

private:
    // What is computed for each column in the units that permute, too: divisions and roots have one of their own, and
    // what keeps NaN takes a mask instead of a blend where lines are loaded.
    static constexpr int cost_beside_loads = [] {
        int cost = 0;
        for (int w = 0; w < work.size; ++w) {
            int const i = work.at[w];
            graph::op_info const& op = graph::info(step(i).op);
            int const most = plan.loads(i, Phase) || op.uses_divider ? 1 : op.takes_numbers ? 2 : op.cost;
            cost += step(i).leaf >= 0 ? 0 : std::min(cost_of_step(Group::steps(), i), most);
        }
        return cost;
    }();

    // What of that takes a unit longer beside permutations: instructions of three registers, which multiply and add, or
    // keep NaN.
    static constexpr int count_of_three_registers = [] {
        int count = 0;
        for (int w = 0; w < work.size; ++w) {
            int const i = work.at[w];
            graph::op_code const op = step(i).op;
            bool const multiplies = op == graph::code_of<graph::ops::fma> || op == graph::code_of<graph::ops::fms> ||
                                    op == graph::code_of<graph::ops::fnma>;
            bool const keeps_nan = graph::info(op).takes_numbers && cost_of_step(Group::steps(), i) > 1;
            count += !plan.loads(i, Phase) && (multiplies || keeps_nan) ? 1 : 0;
        }
        return count;
    }();

public:
    /// Whether the phase may gain from loads in whole lines: several, which wait longer for two lines each than the
    /// arithmetic does for permutations beside it.
    static constexpr bool may_gain_from_lines = read.size > 1 && cost_beside_loads < 2 * read.size;

    /// Whether each of many rows is loaded so, and from how many columns on.
    static constexpr bool loads_rows_in_lines = simd::waits_for_lines_that_are_crossed && loads_lines &&
                                                may_gain_from_lines && !Broadcasts && !IsSpaced &&
                                                read.size >= thresholds::least_arrays_of_rows_in_lines;
    static constexpr std::ptrdiff_t least_columns_of_rows_in_lines = [] {
        std::ptrdiff_t const arrays = std::max(1, read.size + stored.size);
        return thresholds::least_bytes_of_rows_in_lines / std::max<std::ptrdiff_t>(1, bytes_of_column / arrays);
    }();

    /// Whether it does over so many columns: with more arithmetic than loads only behind L1.
    static constexpr bool gains_from_lines(std::ptrdiff_t columns) {
        constexpr bool waits_for_units = cost_beside_loads + count_of_three_registers > 2 * read.size;
        constexpr std::ptrdiff_t least = cost_beside_loads <= read.size ? 0
                                         : waits_for_units ? thresholds::least_bytes_of_permuted_multiply_adds
                                                           : thresholds::least_bytes_of_permuted_arithmetic;
        return columns >= least / bytes_of_column && columns <= thresholds::most_columns_in_lines;
    }

    /// Whether the phase may accumulate from the beginning of a line on, of one row or of many: reductions that wait
    /// for their loads.
    template <bool OneRow>
    static constexpr bool reduces_lines =
        (OneRow || simd::waits_for_lines_that_are_crossed) && prefetches && !plan.counts[Phase] && !Broadcasts &&
        stored.size == 0 && read.size != 0 && step(read.at[0]).leaf >= 0;

    /// From how many bytes of it on a row is, unless all arrays lie together. One of many rows waits for what is behind
    /// L1, in the first phase.
    template <bool OneRow>
    static constexpr std::ptrdiff_t least_bytes_reduced_in_lines(bool are_behind_l1) {
        if constexpr (!simd::has_line_loads(dtype::float32)) {
            return thresholds::least_bytes_reduced_in_lines_by_memory;
        } else if constexpr (OneRow) {
            return looks_for_nan ? thresholds::least_bytes_of_extremes_in_lines
                                 : thresholds::least_bytes_reduced_in_lines;
        } else if (Phase == 0 && are_behind_l1) {
            return looks_for_nan ? thresholds::least_bytes_of_extremes_of_rows_in_lines
                                 : thresholds::least_bytes_of_rows_reduced_in_lines;
        } else {
            return thresholds::least_bytes_of_rows_reduced_in_lines_in_l1;
        }
    }

    /// Whether the other arrays may be loaded in whole lines then: few enough for registers to have a block's lines.
    static constexpr bool reduces_others_in_lines = [] {
        bool suits = may_gain_from_lines;
        int registers = 0;
        for (int k = 0; k < read.size; ++k) {
            graph::step const& s = step(read.at[k]);
            suits &= s.leaf >= 0 && simd::has_line_loads(s.type);
            int const bytes = groups * simd::width * static_cast<int>(size_of(s.type));
            registers += k == 0 ? 0 : bytes / static_cast<int>(simd::line_bytes) + 1;
        }
        return suits && registers <= thresholds::most_registers_of_reduced_lines;
    }();

    /// Whether it gains from that in L1, too: processors of Intel permute in one of the two units that compute.
    static constexpr bool permutes_in_l1 = !simd::waits_for_lines_that_are_crossed || cost_beside_loads <= read.size;

    /// From how many elements on, in rows of so many columns, memory is asked for ahead: sooner of short rows in one
    /// walk, of those that are too short to be reduced in lines if they may be.
    static constexpr std::ptrdiff_t prefetched_elements(std::ptrdiff_t columns) {
        if constexpr (plan.count == 1 && reduces_lines<false>) {
            constexpr auto bytes = static_cast<std::ptrdiff_t>(size_of(step(read.at[0]).type));
            bool const is_short = columns * bytes < least_bytes_reduced_in_lines<false>(true);
            return is_short ? thresholds::prefetched_elements_across_lines : thresholds::prefetched_elements_in_lines;
        } else {
            bool const is_short = plan.count == 1 && columns <= thresholds::most_columns_prefetched_early;
            return is_short ? thresholds::prefetched_elements_of_rows : thresholds::prefetched_elements;
        }
    }

    // ---- stores

    /// Whether the phase is elementwise work that waits for its loads and stores.
    static constexpr bool only_moves = is_light && !plan.reduces[Phase] && stored.size != 0;

    /// Whether the phase asks ahead behind L1: little work, where that does not outweigh it.
    static constexpr bool asks_ahead = [] {
        bool const are_few = read.size <= thresholds::most_arrays_asked_ahead_of_16_registers;
        bool const costs_little =
            simd::register_count == 32 || (!Broadcasts && (are_few || sizeof(simd::reg<float>) == 16));
        return simd::waits_for_lines_that_are_stored && only_moves && is_cheap && costs_little && !IsSpaced &&
               !always_masked;
    }();

    /// Whether such a phase may begin to store at a multiple of a register, where there are no loads in whole lines.
    static constexpr bool aligns_light_stores = !simd::has_line_loads(dtype::float32) && only_moves;

    /// Whether it may do so in each of many rows, whose registers can cross lines.
    static constexpr bool aligns_stores_of_rows = simd::width * sizeof(float) > 16 && !Broadcasts && only_moves;

    /// Whether a phase of more work that loads no lines may begin to store at a multiple of a register.
    static constexpr bool stores_aligned =
        plan.cost[Phase] > thresholds::light_phase && !loads_lines && !plan.reduces[Phase] && stored.size != 0;

    /// Whether what it stores is of elements of 8 bytes.
    static constexpr bool stores_wide = stored.size != 0 && size_of(step(stored.at[0]).type) > sizeof(float);

    /// From how many columns on rows are stored at lines.
    static constexpr std::ptrdiff_t least_columns_of_aligned_rows =
        !simd::waits_for_lines_that_are_crossed ? thresholds::least_columns_of_aligned_rows
        : stores_wide                           ? thresholds::least_columns_of_wide_rows_at_lines
                                                : thresholds::least_columns_of_rows_at_lines;

    /// Whether one of many rows runs register by register, though its columns fill a block: light elementwise work, of
    /// which blocks would leave some. (Blocks are worth it sooner where they store at lines.)
    static constexpr bool runs_by_registers(std::ptrdiff_t columns) {
        constexpr bool may = simd::register_count == 32 && groups != 1 && only_moves && !IsSpaced &&
                             plan.cost[Phase] <= thresholds::light_phase;
        constexpr bool stores_at_lines = simd::waits_for_lines_that_are_crossed && aligns_stores_of_rows;
        constexpr std::ptrdiff_t least_columns_of_blocks =
            stores_at_lines ? least_columns_of_aligned_rows : thresholds::least_columns_of_blocks_and_rest;
        return may && columns < least_columns_of_blocks && columns % (groups * simd::width) != 0;
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
