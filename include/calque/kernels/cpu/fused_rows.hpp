// SPDX-License-Identifier: MIT
// The kernel of a fused group over rows: elementwise work, reductions along rows, and what consumes them, row by row.
#pragma once

#include <calque/kernels/cpu/loaded_once.hpp>
#include <calque/kernels/cpu/rolled.hpp>
#include <calque/kernels/cpu/row_block.hpp>
#include <calque/kernels/cpu/row_search.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {
/// Runs a row program with lanes along the columns. `Broadcast`, `Apart`, `PastCaches`: as for `row_block`.
template <class Group, broadcast Broadcast = broadcast::none, int Apart = 1, bool PastCaches = false>
class fused_rows : row_block<Group, Broadcast, Apart, PastCaches> {
    using base = row_block<Group, Broadcast, Apart, PastCaches>;
    using base::columns_;
    using base::finish_row;
    using base::lanes_of;
    using base::row_;
    using base::scratch_bytes_of_a_row;
    using typename base::kept_lanes;
    using typename base::row_registers;
    using program = row_program<Group>;
    static constexpr auto const& plan = program::plan;
    static constexpr bool is_spaced = Apart != 1;
    template <int Phase>
    using phase = typename base::template phase<Phase>;

public:
    using arguments = typename base::arguments;

    /// Bytes of scratch for rows of this many columns.
    static constexpr std::size_t scratch_bytes(std::ptrdiff_t columns) {
        return scratch_bytes_of_a_row(columns) * static_cast<std::size_t>(rows_in_turn(columns));
    }

    /// The rows from `first` on, up to `rows`. `OneRow`: there is one row in any call; small arrays pay for the loop
    /// over rows else.
    template <bool OneRow = false>
    static CALQUE_NOINLINE void run(arguments const& a, [[maybe_unused]] std::ptrdiff_t rows, std::ptrdiff_t columns,
                                    [[maybe_unused]] std::ptrdiff_t first = 0) {
        arguments row = a; // for all that a compiler knows, a store could change what it has by reference
        if constexpr (OneRow) {
            fused_rows kernel(1, columns, columns, 0);
            kernel.base::template compute_row_values<0, false>(row);
            kernel.template run_row<true, false>(row, typename program::phases{});
        } else {
            fused_rows kernel(rows, columns, end_of_overlapping_blocks(a, columns),
                              find_overlapping_phases(a, columns, typename program::phases{}));
            kernel.base::template compute_row_values<0, false>(row);
            move_to_row<Group>(row, first);
            if (has_loop_of_short_rows && phase<0>::has_no_blocks(columns)) {
                kernel.template run_all<has_loop_of_short_rows>(row, rows - first);
            } else {
                kernel.template run_all<false>(row, rows - first);
            }
        }
    }

    /// How many columns of a row should run by themselves, so that rows of whole registers from there on, of together
    /// so many elements, store at multiples of a register.
    static CALQUE_INLINE std::ptrdiff_t columns_before_aligned(arguments const& row, std::ptrdiff_t elements) {
        if constexpr (phase<0>::aligns_stores_of_rows) {
            if (elements >= thresholds::least_elements_of_aligned_joined_rows) {
                return count_unaligned<0>(row);
            }
        }
        return 0;
    }

private:
    static constexpr bool takes_turns = plan.takes_turns();
    static constexpr bool has_loop_of_short_rows = !PastCaches && phase<0>::has_loop_of_short_rows;

    /// How many rows take turns with each phase: as many as L1 holds with what they read and write.
    static constexpr std::ptrdiff_t rows_in_turn(std::ptrdiff_t columns) {
        return detail::count_turns(takes_turns ? thresholds::rows_in_turn : 1, columns * bytes_of_a_column,
                                   thresholds::bytes_of_rows_in_turn);
    }

    /// Of all arrays and scratch rows that have a value for each column of each row, of results so many times.
    static constexpr std::ptrdiff_t count_bytes_of_a_column(std::size_t times_results) {
        std::size_t bytes = 0;
        for (int i = 0; i < program::step_count; ++i) {
            graph::step const& s = Group::steps()[i];
            bool const is_matrix = s.leaf >= 0 && s.varies_along_columns && s.varies_along_rows;
            bytes += size_of(s.type) * (static_cast<std::size_t>(is_matrix) +
                                        (plan.stored_in[i] >= 0 ? times_results : 0) + (plan.scratch[i] >= 0));
        }
        return static_cast<std::ptrdiff_t>(bytes);
    }
    /// Of results twice: they push out as much again.
    static constexpr std::ptrdiff_t bytes_of_a_column = count_bytes_of_a_column(2);

    CALQUE_INLINE fused_rows(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t end_of_overlapping,
                             unsigned overlapping_phases)
        : base(columns), elements_(rows * columns),
          waits_for_memory_(rows * columns >= phase<0>::prefetched_elements(columns)),
          is_behind_l1_(rows * columns * bytes_of_a_column > thresholds::most_bytes_in_l1),
          end_of_overlapping_blocks_(end_of_overlapping), overlapping_phases_(overlapping_phases) {}

    /// `rows` rows from `row` on. `AreShort`: none fills the blocks of a phase.
    template <bool AreShort>
    CALQUE_INLINE void run_all(arguments& row, std::ptrdiff_t rows) {
        if constexpr (takes_turns) {
            std::ptrdiff_t const turns = rows_in_turn(columns_);
            for (std::ptrdiff_t i = 0; i < rows; i += turns) {
                std::ptrdiff_t const count = std::min(turns, rows - i);
                run_rows<AreShort>(row, count, typename program::phases{});
                move_to_row<Group>(row, count);
            }
        } else {
            for (std::ptrdiff_t i = 0; i < rows; ++i) {
                run_row<false, AreShort>(row, typename program::phases{});
                move_to_row<Group>(row, 1);
            }
        }
    }

    template <bool OneRow, bool IsShort, int... Phase>
    CALQUE_INLINE void run_row(arguments const& row, std::integer_sequence<int, Phase...>) {
        (run_phase<Phase, OneRow, IsShort>(row), ...);
        finish_row(row);
    }

    /// `count` rows from `first` on.
    template <bool AreShort, int... Phase>
    CALQUE_INLINE void run_rows(arguments const& first, std::ptrdiff_t count, std::integer_sequence<int, Phase...>) {
        row_registers rows[thresholds::rows_in_turn];
        (run_phase_of_rows<Phase, AreShort>(first, count, rows), ...);
        if constexpr (program::row_results.size != 0) {
            arguments row = first;
            for (std::ptrdiff_t r = 0; r < count; ++r) {
                program::template copy_row_values_before<plan.count>(rows[r], row_);
                finish_row(row);
                move_to_row<Group>(row, 1);
            }
        }
    }

    template <int Phase, bool AreShort>
    CALQUE_INLINE void run_phase_of_rows(arguments row, std::ptrdiff_t count, row_registers* rows) {
        for (std::ptrdiff_t r = 0; r < count; ++r) {
            program::template copy_row_values_before<Phase>(rows[r], row_);
            run_phase<Phase, false, AreShort>(row);
            program::template copy_row_values<Phase>(row_, rows[r]);
            move_to_row<Group>(row, 1);
            row.scratch += scratch_bytes_of_a_row(columns_);
        }
    }

    // ---- one walk along a row

    /// Asks for what the block will read that stands behind the one at column `j` by the distance for it.
    template <int Phase, int U>
    CALQUE_INLINE void prefetch_block(arguments const& row, std::ptrdiff_t j) const {
        unroll_steps<0, program::template reads<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template reads<Phase>.at[k];
            if constexpr (step_v<Group, step>.leaf >= 0) {
                simd::prefetch<U * simd::width>(base::template array_of<step>(row) + j, thresholds::prefetched_bytes);
            }
        });
    }

    /// Asks for what elementwise work will read behind the block at column `j`, unless that is near.
    template <int Phase, bool OneRow, int U>
    CALQUE_INLINE void ask_for_reads(arguments const& row, std::ptrdiff_t j) const {
        unroll_steps<0, program::template reads<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template reads<Phase>.at[k];
            constexpr graph::step s = step_v<Group, step>;
            if constexpr (s.leaf >= 0 && (OneRow || s.varies_along_rows) && plan.is_first(step, Phase)) {
                if (Broadcast == broadcast::none || !row.has_one_element(s.leaf)) {
                    auto const* const from = base::template array_of<step>(row) + j;
                    simd::prefetch<U * simd::width>(from, thresholds::bytes_asked_ahead);
                }
            }
        });
    }

    /// Asks for where it will store then.
    template <int Phase, int U>
    CALQUE_INLINE void ask_for_stores(arguments const& row, std::ptrdiff_t j) const {
        unroll_steps<0, program::template stores<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template stores<Phase>.at[k];
            if constexpr (constexpr int r = step_v<Group, step>.result; r >= 0) {
                auto const* const to = static_cast<step_element<Group, step> const*>(row.results[r]) + j;
                simd::prefetch<U * simd::width, true>(to, thresholds::bytes_asked_ahead);
            }
        });
    }

    /// Whether L1 has not all that the rows read and store.
    template <int Phase, bool OneRow>
    bool are_behind_l1() const {
        constexpr std::ptrdiff_t bytes = OneRow ? phase<Phase>::bytes_of_column : count_bytes_of_a_column(1);
        return elements_ > thresholds::most_bytes_in_l1 / bytes;
    }

    /// How many rows that is: none, unless memory is far and rows are long.
    template <int Phase>
    std::ptrdiff_t rows_prefetched_ahead() const {
        bool const are_far = waits_for_memory_ && (!phase<Phase>::is_cheap ||
                                                   elements_ >= thresholds::least_elements_prefetched_by_cheap_walks);
        bool const gains = are_far && columns_ >= thresholds::least_columns_prefetched_ahead;
        return gains ? 1 + thresholds::elements_prefetched_ahead / columns_ : 0;
    }

    /// Asks for what the first walk will read, at the columns from `j` on, of the row that is so many ahead.
    template <int U>
    CALQUE_INLINE void prefetch_row(arguments const& row, std::ptrdiff_t j, std::ptrdiff_t ahead) const {
        unroll_steps<0, program::template reads<0>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template reads<0>.at[k];
            if constexpr (constexpr graph::step s = step_v<Group, step>; s.leaf >= 0 && s.varies_along_rows) {
                constexpr auto bytes = static_cast<std::ptrdiff_t>(size_of(s.type));
                simd::prefetch<U * simd::width>(base::template array_of<step>(row) + j,
                                                ahead * row.leaf_row_strides[s.leaf] * bytes);
            }
        });
    }

    /// A row, and where in its lines each array lies, but for one that is loaded as it lies.
    template <int OtherLeaf>
    struct row_lines : arguments {
        static constexpr int other_leaf = OtherLeaf;

        simd::line_offset offsets[Group::leaf_count == 0 ? 1 : Group::leaf_count];
    };
    static constexpr int no_leaf = -1;

    /// Whether some arrays do not begin in their lines at column `j`, and none of these is stored to: the next line
    /// would have what was just stored, in part, and such a load waits.
    template <int Phase>
    static CALQUE_INLINE bool begins_in_lines(arguments const& row, std::ptrdiff_t j) {
        std::ptrdiff_t into_lines = 0;
        bool is_rewritten = false;
        unroll_steps<0, program::template reads<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            auto const* const array = base::template array_of<program::template reads<Phase>.at[k]>(row);
            std::ptrdiff_t const into_line = simd::place_in_line(array + j);
            into_lines |= into_line;
            is_rewritten |= into_line != 0 && base::template is_written<Phase>(row, array);
        });
        return into_lines != 0 && !is_rewritten;
    }

    /// Runs the whole blocks of a phase from column `j` to `end`, a group before the row does at the latest, with loads
    /// in whole lines, but for those of one leaf. Returns where it ended.
    template <int Phase, int OtherLeaf = no_leaf, int U>
    CALQUE_INLINE std::ptrdiff_t run_blocks_in_lines(step_registers<Group, U>& wide, arguments const& row,
                                                     std::ptrdiff_t j, std::ptrdiff_t end) {
        row_lines<OtherLeaf> lines{row, {}};
        unroll_steps<0, program::template reads<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template reads<Phase>.at[k];
            lines.offsets[step_v<Group, step>.leaf] = simd::line_offset(base::template array_of<step>(row) + j);
        });
        constexpr std::ptrdiff_t block = U * simd::width;
        CALQUE_ROLLED
        for (; j + block <= end; j += block) {
            if constexpr (OtherLeaf == no_leaf && phase<Phase>::asks_ahead) {
                ask_for_stores<Phase, U>(row, j);
            }
            base::template run_block<Phase, false>(wide, lines, j, 0);
        }
        return j;
    }

    /// Runs the first columns of a phase, so that what it stores lies at the beginning of a line from there on, and, if
    /// several arrays lie anywhere then and it gains from that, blocks with loads in whole lines. Returns where it
    /// ended.
    template <int Phase, bool OneRow>
    CALQUE_INLINE std::ptrdiff_t run_lines(arguments const& row) {
        int const first =
            -static_cast<int>(simd::place_in_line(base::template first_result<Phase>(row))) & (simd::width - 1);
        bool in_lines = false;
        if constexpr (phase<Phase>::may_gain_from_lines) {
            in_lines = phase<Phase>::gains_from_lines(columns_) && begins_in_lines<Phase>(row, first);
        }
        // The line that an array begins in is never read whole.
        std::ptrdiff_t const begin = in_lines ? first + simd::width : first;
        step_registers<Group, 1> narrow;
        std::ptrdiff_t j = 0;
        for (int n = first == 0 ? simd::width : first; j < begin; j += n, n = simd::width) {
            base::template run_block<Phase, true>(narrow, row, j, n);
        }
        if constexpr (phase<Phase>::may_gain_from_lines) {
            if (in_lines) {
                using T = step_element<Group, program::template stores<Phase>.at[0]>;
                constexpr int U = phase<Phase>::groups * simd::lanes<T> / simd::width; // lines are in registers
                step_registers<Group, U> wide;
                std::ptrdiff_t const end = columns_ - simd::width; // nor is the line that it ends in
                if constexpr (OneRow && simd::waits_for_lines_that_are_crossed) {
                    auto const& read = program::template reads<Phase>;
                    if (columns_ <= thresholds::most_bytes_in_l1 / phase<Phase>::bytes_of_column) {
                        constexpr int last = step_v<Group, read.at[read.size - 1]>.leaf;
                        return run_blocks_in_lines<Phase, last>(wide, row, j, end);
                    }
                }
                return run_blocks_in_lines<Phase>(wide, row, j, end);
            }
        }
        return j;
    }

    /// How many columns of a phase there are before what it stores is aligned.
    template <int Phase>
    static CALQUE_INLINE int count_unaligned(arguments const& row) {
        constexpr int stored = program::template stores<Phase>.at[0];
        if constexpr (plan.stored_in[stored] != Phase) {
            return 0;
        } else {
            return simd::count_unaligned(base::template first_result<Phase>(row));
        }
    }

    /// Runs these columns. Returns where it ended.
    template <int Phase>
    CALQUE_INLINE std::ptrdiff_t run_unaligned(arguments const& row) {
        int const unaligned = count_unaligned<Phase>(row);
        if (unaligned != 0) {
            step_registers<Group, 1> narrow;
            base::template run_block<Phase, true>(narrow, row, 0, unaligned);
        }
        return unaligned;
    }

    /// Whether registers of all arrays, from one of them on, are aligned from column `j` on: with AVX-512 at lines.
    template <int Phase, int First = 0>
    static CALQUE_INLINE bool are_aligned(arguments const& row, std::ptrdiff_t j) {
        int unaligned = 0;
        unroll_steps<First, program::template reads<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            unaligned |= simd::count_unaligned(base::template array_of<program::template reads<Phase>.at[k]>(row) + j);
        });
        return unaligned == 0;
    }

    /// Whether a reduction loads others that lie elsewhere in whole lines: L1 has those of a row.
    template <int Phase>
    bool loads_others_in_lines() const {
        if constexpr (phase<Phase>::reduces_others_in_lines) {
            return columns_ <= thresholds::most_bytes_of_reduced_lines / phase<Phase>::bytes_of_column;
        } else {
            return false;
        }
    }

    /// Whether a row should be reduced so: it is long enough for that, not behind L2, and not at lines already.
    template <int Phase, bool OneRow>
    CALQUE_INLINE bool gains_from_reducing_lines(arguments const& row, std::ptrdiff_t into_line) const {
        using T = step_element<Group, program::template reads<Phase>.at[0]>;
        std::ptrdiff_t const bytes = columns_ * static_cast<std::ptrdiff_t>(sizeof(T));
        bool is_long = bytes >= phase<Phase>::template least_bytes_reduced_in_lines<OneRow>(is_behind_l1_);
        if (loads_others_in_lines<Phase>()) {
            if (!are_aligned<Phase, 1>(row, simd::width - into_line)) {
                return is_long && (phase<Phase>::permutes_in_l1 || is_behind_l1_) && !waits_for_memory_;
            }
            is_long |= bytes >= thresholds::least_bytes_reduced_in_lines_together;
        }
        return is_long && into_line != 0 && !waits_for_memory_;
    }

    /// Runs the whole blocks of a phase, with loads of the first array that begin where lines do: a group that ends
    /// where one does, and blocks from there on. Returns where it ended.
    ///
    /// Each accumulator gets the same elements in the same order as without that, so that the bits of the result do not
    /// depend on where an array lies: in other lanes, which it leaves at the end.
    template <int Phase, int U>
    CALQUE_INLINE std::ptrdiff_t reduce_lines(step_registers<Group, U>& accumulators, arguments const& row,
                                              std::ptrdiff_t into_line) {
        constexpr std::ptrdiff_t block = U * simd::width;
        std::ptrdiff_t const end = columns_ / block * block;
        std::ptrdiff_t const first = simd::width - into_line;
        step_registers<Group, 1> narrow;
        program::template start_reductions<Phase>(narrow);
        base::template run_block<Phase, true>(narrow, row, 0, static_cast<int>(first));
        program::template for_each_reduction<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
            simd::put_last_group(accumulators.template at<step>(),
                                 simd::rotate_left(narrow.template at<step>(), first));
        });
        std::ptrdiff_t j = first;
        if constexpr (phase<Phase>::reduces_others_in_lines) {
            if (loads_others_in_lines<Phase>() && !are_aligned<Phase, 1>(row, first)) {
                constexpr int leaf = step_v<Group, program::template reads<Phase>.at[0]>.leaf;
                j = run_blocks_in_lines<Phase, leaf>(accumulators, row, j, std::min(end, columns_ - simd::width));
            }
        }
        CALQUE_ROLLED
        for (; j + block <= end; j += block) {
            base::template run_block<Phase, false>(accumulators, row, j, 0);
        }
        base::template run_block<Phase, true, kept_lanes::first_of_last_group>(accumulators, row, j,
                                                                               static_cast<int>(end - j));
        program::template for_each_reduction<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
            auto& total = accumulators.template at<step>();
            total = simd::rotate_right(total, first);
        });
        return end;
    }

    /// Runs all of a phase, whole blocks from where the result is at a multiple of a register. One loop has the columns
    /// before and behind them, so that there is no more code than without.
    template <int Phase, int U>
    CALQUE_INLINE void run_aligned(step_registers<Group, U>& wide, arguments const& row) {
        constexpr std::ptrdiff_t block = U * simd::width;
        step_registers<Group, 1> narrow;
        std::ptrdiff_t j = 0;
        std::ptrdiff_t end = columns_ >= thresholds::least_columns_in_lines ? count_unaligned<Phase>(row) : 0;
        for (;;) {
            CALQUE_ROLLED
            for (; j < end; j += simd::width) {
                base::template run_block<Phase, true>(narrow, row, j, lanes_of(end - j, simd::width));
            }
            if (end == columns_) {
                return;
            }
            CALQUE_ROLLED
            for (j = end; j + block <= columns_; j += block) {
                base::template run_block<Phase, false>(wide, row, j, 0);
            }
            end = columns_;
        }
    }

    /// Runs a phase that stores past the caches register by register, as it waits for memory; of one row lines of
    /// several parts by turns before. One block has the columns before whole registers and behind them.
    template <int Phase, bool OneRow>
    CALQUE_INLINE void store_past_caches(arguments const& row) {
        ask_for_ends<Phase>(row);
        [[maybe_unused]] std::ptrdiff_t const ahead = rows_prefetched_ahead<Phase>();
        step_registers<Group, 1> narrow;
        std::ptrdiff_t j = 0;
        for (std::ptrdiff_t end = columns_before_past_caches<Phase, OneRow>(row);; end = columns_) {
            for (int n; j < end; j += n) {
                n = lanes_of(end - j, simd::width);
                base::template run_block<Phase, true>(narrow, row, j, n);
            }
            if (j == columns_) {
                return;
            }
            if constexpr (phase<Phase>::template stores_parts<OneRow>) {
                step_registers<Group, phase<Phase>::groups_of_a_line> line;
                j = run_parts<Phase>(line, row, j, columns_, thresholds::parts_side_by_side);
            }
            CALQUE_ROLLED
            for (; j + simd::width <= columns_; j += simd::width) {
                if constexpr (!OneRow && phase<Phase>::prefetches_rows) {
                    prefetch_row<1>(row, j, ahead);
                }
                base::template run_block<Phase, false>(narrow, row, j, 0);
            }
        }
    }

    /// How many columns there are before whole registers, or, of parts, lines.
    template <int Phase, bool OneRow>
    static CALQUE_INLINE int columns_before_past_caches(arguments const& row) {
        if constexpr (phase<Phase>::template stores_parts<OneRow>) {
            constexpr int elements_of_a_line = phase<Phase>::groups_of_a_line * simd::width;
            return -static_cast<int>(simd::place_in_line(base::template first_result<Phase>(row))) &
                   (elements_of_a_line - 1);
        } else {
            return count_unaligned<Phase>(row);
        }
    }

    /// Asks for the lines in which a row ahead begins, as they are stored in parts: stores behind them would wait.
    template <int Phase>
    static CALQUE_INLINE void ask_for_ends(arguments const& row) {
        unroll_steps<0, program::template stores<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template stores<Phase>.at[k];
            constexpr int r = step_v<Group, step>.result;
            auto* const to = static_cast<step_element<Group, step>*>(row.results[r]);
            __builtin_prefetch(advanced(to, thresholds::rows_ahead_past_caches * row.result_row_strides[r]), 1);
        });
    }

    /// Where the blocks of such rows end: with the row, if more than half a block is left, unless the result takes the
    /// place of what it is computed from.
    static CALQUE_INLINE std::ptrdiff_t end_of_overlapping_blocks([[maybe_unused]] arguments const& row,
                                                                  std::ptrdiff_t columns) {
        if constexpr (phase<0>::has_overlapping_blocks) {
            constexpr std::ptrdiff_t block = phase<0>::groups * simd::width;
            std::ptrdiff_t const left = columns & (block - 1);
            return columns > block && left > block / 2 && !base::template rewrites<0>(row) ? columns : columns - left;
        }
        return columns;
    }

    /// Runs the blocks of such a row. One loop has the whole ones and the one that ends with the row.
    template <int Phase, int U>
    CALQUE_INLINE void run_overlapping_blocks(step_registers<Group, U>& wide, arguments const& row) {
        constexpr std::ptrdiff_t block = U * simd::width;
        std::ptrdiff_t j = 0;
        std::ptrdiff_t end = end_of_blocks<block>(0);
        for (;;) {
            CALQUE_ROLLED
            for (; j < end; j += block) {
                base::template run_block<Phase, false>(wide, row, j, 0);
            }
            if (end == end_of_overlapping_blocks_) {
                return;
            }
            end = end_of_overlapping_blocks_;
            j = end - block;
        }
    }

    /// Which phases run the last register of a row so that it ends where the row does: all that may, unless rows are
    /// too short or the result takes the place of what it is computed from.
    template <int... Phase>
    static CALQUE_INLINE unsigned find_overlapping_phases([[maybe_unused]] arguments const& row,
                                                          [[maybe_unused]] std::ptrdiff_t columns,
                                                          std::integer_sequence<int, Phase...>) {
        auto const bit = [&](auto of) CALQUE_INLINE_LAMBDA {
            if constexpr (phase<of>::has_overlapping_registers) {
                return columns >= simd::width && !base::template rewrites<of>(row) ? 1u << of : 0u;
            } else {
                return 0u;
            }
        };
        return (0u | ... | bit(std::integral_constant<int, Phase>{}));
    }

    /// Runs whole registers of such a phase from column `j` on, the last of which ends with the row. One loop has all.
    template <int Phase>
    CALQUE_INLINE void run_overlapping_registers(arguments const& row, std::ptrdiff_t j) {
        step_registers<Group, 1> narrow;
        std::ptrdiff_t const last = columns_ - simd::width;
        CALQUE_ROLLED
        while (j < columns_) {
            base::template run_block<Phase, false>(narrow, row, std::min(j, last), 0);
            j += simd::width;
        }
    }

    /// Runs whole blocks of a phase from column `j` to `end`, one of each of so many parts by turns. Returns where it
    /// ended. Parts have an odd number of blocks, so that they begin in different sets of the caches.
    template <int Phase, int U>
    CALQUE_INLINE std::ptrdiff_t run_parts(step_registers<Group, U>& wide, arguments const& row, std::ptrdiff_t j,
                                           std::ptrdiff_t end, std::ptrdiff_t parts) {
        constexpr std::ptrdiff_t block = U * simd::width;
        std::ptrdiff_t const blocks = (end - j) / (parts * block);
        std::ptrdiff_t const part = (parts == 1 ? blocks : (blocks - 1) | 1) * block;
        for (std::ptrdiff_t const end_of_first = j + part; j < end_of_first; j += block) {
            CALQUE_ROLLED
            for (std::ptrdiff_t k = 0; k < parts; ++k) {
                base::template run_block<Phase, false>(wide, row, j + k * part, 0);
            }
        }
        return j + (parts - 1) * part;
    }

    /// Runs the blocks of a phase from column `j` to `end`, and asks ahead for where it stores, and for what crosses
    /// lines, as some array of many rows does.
    template <int Phase, bool OneRow, int U>
    CALQUE_INLINE void run_asking(step_registers<Group, U>& wide, arguments const& row, std::ptrdiff_t j,
                                  std::ptrdiff_t end) {
        bool const asks_for_reads = !OneRow || !are_aligned<Phase>(row, j);
        CALQUE_ROLLED
        for (; j < end; j += U * simd::width) {
            ask_for_stores<Phase, U>(row, j);
            if (asks_for_reads) {
                ask_for_reads<Phase, OneRow, U>(row, j);
            }
            base::template run_block<Phase, false>(wide, row, j, 0);
        }
    }

    /// Where the blocks of a phase end that begin at column `begin`.
    template <int Phase, bool OneRow>
    CALQUE_INLINE std::ptrdiff_t end_of_phase(std::ptrdiff_t begin) const {
        if constexpr (!OneRow && phase<Phase>::has_overlapping_blocks) {
            return end_of_overlapping_blocks_;
        } else {
            return end_of_blocks<phase<Phase>::groups * simd::width>(begin);
        }
    }

    /// Where the last whole block ends, of blocks from `begin` on. No loop begins where another came to, which would be
    /// computed again for every row.
    template <std::ptrdiff_t Block>
    CALQUE_INLINE std::ptrdiff_t end_of_blocks(std::ptrdiff_t begin) const {
        return begin + ((columns_ - begin) & -Block);
    }

    /// Runs the whole blocks of a phase. Returns where they begin: behind the columns that have to be run before, so
    /// that whole lines are loaded or stored.
    template <int Phase, bool OneRow, int U>
    CALQUE_INLINE std::ptrdiff_t run_blocks(step_registers<Group, U>& wide, arguments const& row) {
        constexpr std::ptrdiff_t block = U * simd::width;
        std::ptrdiff_t begin = 0;
        if constexpr (OneRow && phase<Phase>::loads_lines) {
            if (columns_ >= thresholds::least_columns_in_lines) {
                begin = run_lines<Phase, true>(row);
            }
        }
        if constexpr (OneRow && phase<Phase>::aligns_light_stores) {
            if (columns_ >= thresholds::least_columns_aligned) {
                begin = run_unaligned<Phase>(row);
            }
        }
        if constexpr (!OneRow && phase<Phase>::aligns_stores_of_rows) {
            constexpr bool pays_anywhere = !phase<Phase>::stores_wide || simd::waits_for_lines_that_are_crossed;
            constexpr bool pays_behind_l2 = simd::has_line_loads(dtype::float32); // else before it
            bool const pays = pays_anywhere || waits_for_memory_ == pays_behind_l2;
            bool const in_lines =
                phase<Phase>::loads_rows_in_lines && columns_ >= phase<Phase>::least_columns_of_rows_in_lines;
            if constexpr (phase<Phase>::loads_rows_in_lines) {
                if (in_lines) {
                    begin = run_lines<Phase, false>(row);
                }
            }
            if (!in_lines && columns_ >= phase<Phase>::least_columns_of_aligned_rows && pays) {
                begin = run_unaligned<Phase>(row);
            }
        }
        if constexpr (phase<Phase>::template reduces_lines<OneRow>) {
            auto const* const array = base::template array_of<program::template reads<Phase>.at[0]>(row);
            std::ptrdiff_t const into_line = simd::place_in_line(array) % simd::width; // of a register of them
            if (gains_from_reducing_lines<Phase, OneRow>(row, into_line)) {
                return reduce_lines<Phase>(wide, row, into_line);
            }
        }
        std::ptrdiff_t const end = end_of_phase<Phase, OneRow>(begin);
        std::ptrdiff_t first = begin;
        if constexpr (phase<Phase>::template reads_parts<OneRow>) {
            constexpr std::ptrdiff_t parts = thresholds::parts_side_by_side;
            if constexpr (phase<Phase>::is_light) {
                if (waits_for_memory_) {
                    first = run_parts<Phase>(wide, row, begin, end, parts);
                }
            } else { // one loop for all: a second one would take as long to compile
                for (bool are_several = waits_for_memory_; first < end; are_several = false) {
                    first = run_parts<Phase>(wide, row, first, end, are_several ? parts : 1);
                }
                return begin;
            }
        } else if constexpr (phase<Phase>::prefetches) {
            if (waits_for_memory_) {
                CALQUE_ROLLED
                for (std::ptrdiff_t j = begin; j < end; j += block) {
                    prefetch_block<Phase, U>(row, j);
                    base::template run_block<Phase, false>(wide, row, j, 0);
                }
                return begin;
            }
        }
        if constexpr (!OneRow && phase<Phase>::has_overlapping_blocks) {
            run_overlapping_blocks<Phase>(wide, row);
            return begin;
        }
        if constexpr (!OneRow && phase<Phase>::prefetches_rows) {
            if (std::ptrdiff_t const ahead = rows_prefetched_ahead<Phase>(); ahead != 0) {
                CALQUE_ROLLED
                for (std::ptrdiff_t j = first; j < end; j += block) {
                    prefetch_row<U>(row, j, ahead);
                    base::template run_block<Phase, false>(wide, row, j, 0);
                }
                return begin;
            }
        }
        if constexpr (phase<Phase>::asks_ahead) {
            if (are_behind_l1<Phase, OneRow>() && !base::template rewrites<Phase>(row)) {
                run_asking<Phase, OneRow>(wide, row, first, end);
                return begin;
            }
        }
        CALQUE_ROLLED
        for (std::ptrdiff_t j = first; j < end; j += block) {
            base::template run_block<Phase, false>(wide, row, j, 0);
        }
        return begin;
    }

    template <int Phase>
    static constexpr row_search search_of = find_search(Group::steps(), plan, Phase);

    /// Runs a phase that looks for the first column at which a condition holds.
    template <int Phase>
    CALQUE_INLINE void search(arguments const& row) {
        constexpr int reduction = program::template reductions<Phase>.at[0];
        using T = step_element<Group, reduction>;
        std::ptrdiff_t const column = find_column<Phase>(row);
        row_.template at<reduction>() =
            simd::pack<T, 1>(column < columns_ ? element_at<search_of<Phase>.place>(row, column)
                                               : program::template identity<reduction>);
    }

    /// The first such column; behind all, if there is none.
    template <int Phase>
    CALQUE_INLINE std::ptrdiff_t find_column(arguments const& row) {
        constexpr row_search searched = search_of<Phase>;
        if constexpr (searched.looks_for_extreme()) {
            auto const& extreme = row_.template at<searched.extreme>();
            if (simd::any(extreme != extreme)) { // seldom: no loop over whole blocks
                std::ptrdiff_t j = 0;
                std::ptrdiff_t const found = find_in_blocks<Phase, searched.nan, 1, true>(row, j);
                return found < 0 ? columns_ : found;
            }
            return find_column<Phase, searched.equality>(row);
        } else {
            return find_column<Phase, searched.condition>(row);
        }
    }

    template <int Phase, int Condition>
    CALQUE_INLINE std::ptrdiff_t find_column(arguments const& row) {
        constexpr int U = phase<Phase>::groups;
        if constexpr (finds_in_short_rows<Phase>) {
            if (columns_ <= simd::width) {
                return find_in_short_row<Phase, Condition, 1>(row);
            } else if (columns_ <= 2 * simd::width) {
                return find_in_short_row<Phase, Condition, 2>(row);
            } else if (program::groups_are_registers && columns_ <= 4 * simd::width) {
                return find_in_short_row<Phase, Condition, 4>(row);
            }
        }
        std::ptrdiff_t j = 0;
        std::ptrdiff_t found = -1;
        if constexpr (phase<Phase>::always_masked) {
            found = find_in_blocks<Phase, Condition, U, true>(row, j);
        } else {
            found = phase<Phase>::prefetches && waits_for_memory_
                        ? find_in_blocks<Phase, Condition, U, false, true>(row, j)
                        : find_in_blocks<Phase, Condition, U>(row, j);
            if (found < 0) {
                found = find_in_blocks<Phase, Condition, 1>(row, j);
            }
            if (found < 0 && j < columns_) {
                auto const sought =
                    compute_sought<Phase, Condition, true, 1>(row, j, lanes_of(columns_ - j, simd::width));
                found = j + simd::first_set(sought); // maybe one of the lanes behind the columns
            }
        }
        return found < 0 ? columns_ : found;
    }

    /// The same among the columns of blocks from `j` on, of whole ones if not masked; -1 if it is not there, and `j` is
    /// behind them.
    template <int Phase, int Condition, int U, bool Masked = false, bool Prefetch = false>
    CALQUE_INLINE std::ptrdiff_t find_in_blocks(arguments const& row, std::ptrdiff_t& j) {
        constexpr std::ptrdiff_t block = U * simd::width;
        std::ptrdiff_t const end = Masked ? columns_ : end_of_blocks<block>(j);
        CALQUE_ROLLED
        for (; j < end; j += block) {
            if constexpr (Prefetch) {
                prefetch_block<Phase, U>(row, j);
            }
            int const n = Masked ? lanes_of(columns_ - j, block) : 0;
            if (auto const sought = compute_sought<Phase, Condition, Masked, U>(row, j, n); is_some<Condition>(sought)) {
                return j + simd::first_set(sought);
            }
        }
        return -1;
    }

    /// Whether a search looks at all columns of a row of few groups: masks say which, and cost little. (Behind an
    /// extreme it gains little, and longer rows lose.)
    template <int Phase>
    static constexpr bool finds_in_short_rows =
        simd::register_count == 32 && phase<Phase>::is_light && !phase<Phase>::always_masked && !is_spaced &&
        !search_of<Phase>.looks_for_extreme();

    /// The first column sought of a row of no more than a block, without a branch that no processor foresees.
    template <int Phase, int Condition, int U>
    CALQUE_INLINE std::ptrdiff_t find_in_short_row(arguments const& row) {
        auto const sought = compute_sought<Phase, Condition, true, U>(row, 0, static_cast<int>(columns_));
        return std::min<std::ptrdiff_t>(simd::first_set(sought), columns_); // maybe a lane behind the columns
    }

    template <int Condition, int U>
    static CALQUE_INLINE bool is_some(simd::pack<bool, U> const& sought) {
        if constexpr (simd::register_count != 32 && has_mask_of_words(Group::steps(), Condition)) {
            return simd::any_of_words(sought);
        } else {
            return simd::any(sought);
        }
    }

    /// Which of the columns from `j` on are sought.
    template <int Phase, int Condition, bool Masked, int U>
    CALQUE_INLINE simd::pack<bool, U> compute_sought(arguments const& row, std::ptrdiff_t j, int n) {
        step_registers<Group, U> column; // for totals, too, of which there are none
        base::template compute_block<Phase, Masked, kept_lanes::none>(column, column, row, j, n);
        if constexpr (search_of<Phase>.wanted) {
            return column.template at<Condition>();
        } else {
            return !column.template at<Condition>();
        }
    }

    /// The element at a column of a step that has its index there, or a constant.
    template <int I>
    CALQUE_INLINE auto element_at(arguments const& row, [[maybe_unused]] std::ptrdiff_t column) {
        constexpr graph::step s = step_v<Group, I>;
        if constexpr (s.leaf >= 0) {
            return base::template array_of<I>(row)[column];
        } else if constexpr (s.index >= 0) {
            return static_cast<step_element<Group, I>>(row.indices[s.index] + column);
        } else {
            return simd::first_element(column_input<I>(row_, row_));
        }
    }

    /// Runs the columns of a phase behind its blocks, from `first` on; its whole registers begin at `begin`.
    template <int Phase, bool OneRow>
    CALQUE_INLINE void run_rest(step_registers<Group, 1>& narrow, arguments const& row, std::ptrdiff_t begin,
                                std::ptrdiff_t first) {
        constexpr int U = phase<Phase>::groups;
        if constexpr (phase<Phase>::is_light && !is_spaced) { // masks of whole registers would be a good part of it
            std::ptrdiff_t const end = end_of_blocks<simd::width>(begin);
            if constexpr (U != 1) {
                CALQUE_ROLLED
                for (std::ptrdiff_t j = first; j < end; j += simd::width) {
                    base::template run_block<Phase, false>(narrow, row, j, 0);
                }
            }
            if (end < columns_) { // no loop, for which compilers would keep a few addresses more
                base::template run_block<Phase, true>(narrow, row, end, lanes_of(columns_ - end, simd::width));
            }
        } else {
            std::ptrdiff_t j = first;
            constexpr bool masks_cost = simd::register_count < 32;
            if constexpr (U == 4 && !plan.reduces[Phase] && (masks_cost || !OneRow)) { // all that short rows have
                constexpr std::ptrdiff_t pair_width = 2 * simd::width;
                step_registers<Group, 2> pair;
                if constexpr (masks_cost) {
                    CALQUE_ROLLED
                    for (; columns_ - j >= pair_width; j += pair_width) {
                        base::template run_block<Phase, false>(pair, row, j, 0);
                    }
                }
                CALQUE_ROLLED
                for (; columns_ - j > simd::width; j += pair_width) {
                    base::template run_block<Phase, true>(pair, row, j, lanes_of(columns_ - j, pair_width));
                }
            }
            CALQUE_ROLLED
            for (; j < columns_; j += simd::width) {
                base::template run_block<Phase, true>(narrow, row, j, lanes_of(columns_ - j, simd::width));
            }
        }
    }

    template <int Phase, bool OneRow, bool IsShort = false>
    CALQUE_INLINE void run_phase(arguments const& row) {
        constexpr int U = phase<Phase>::groups;
        constexpr std::ptrdiff_t block = U * simd::width;
        base::template compute_row_values<Phase, true>(row);
        base::template load_broadcast_elements<Phase>(row);
        if constexpr (PastCaches && stores_past_caches<Group, Phase>) {
            store_past_caches<Phase, OneRow>(row);
            return;
        }
        if constexpr (search_of<Phase>.is_search()) {
            search<Phase>(row);
            return;
        }
        step_registers<Group, U> wide;
        if constexpr (phase<Phase>::always_masked) {
            program::template start_reductions<Phase>(wide);
            CALQUE_ROLLED
            for (std::ptrdiff_t j = 0; j < columns_; j += block) {
                base::template run_block<Phase, true>(wide, row, j, lanes_of(columns_ - j, block));
            }
            base::template finish_reductions<Phase>(wide);
        } else if constexpr (OneRow && phase<Phase>::stores_aligned) {
            run_aligned<Phase>(wide, row);
        } else {
            step_registers<Group, 1> narrow;
            std::ptrdiff_t begin = 0;
            std::ptrdiff_t first = 0; // behind the whole blocks
            if (IsShort || phase<Phase>::has_no_blocks(columns_) ||
                (!OneRow && phase<Phase>::runs_by_registers(columns_))) {
                program::template start_reductions<Phase>(narrow);
            } else if constexpr (!IsShort) {
                program::template start_reductions<Phase>(wide);
                begin = run_blocks<Phase, OneRow>(wide, row);
                program::template fold_reductions<Phase>(wide, narrow);
                first = end_of_phase<Phase, OneRow>(begin);
            }
            if constexpr (!OneRow && phase<Phase>::has_overlapping_registers) {
                if ((overlapping_phases_ >> Phase & 1) != 0) {
                    run_overlapping_registers<Phase>(row, first);
                    return;
                }
            }
            run_rest<Phase, OneRow>(narrow, row, begin, first);
            base::template finish_reductions<Phase>(narrow);
        }
    }

    std::ptrdiff_t const elements_;
    bool const waits_for_memory_;
    bool const is_behind_l1_;
    std::ptrdiff_t const end_of_overlapping_blocks_;
    unsigned const overlapping_phases_; // a bit for each
};

} // namespace kernels
} // namespace v0
} // namespace calque
