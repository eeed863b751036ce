// SPDX-License-Identifier: MIT
// The kernel of a fused group over rows: elementwise work, reductions along rows, and what consumes them, row by row.
#pragma once

#include <calque/kernels/cpu/loaded_once.hpp>
#include <calque/kernels/cpu/past_caches.hpp>
#include <calque/kernels/cpu/rolled.hpp>
#include <calque/kernels/cpu/row_phase.hpp>
#include <calque/kernels/cpu/row_places.hpp>
#include <calque/kernels/cpu/row_program.hpp>
#include <calque/kernels/cpu/row_search.hpp>
#include <calque/kernels/cpu/spaced.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Whether leaves that vary along the columns for all that the compiler knows may have one element a row, or one for
/// each of the rows that are joined to one. (Which do is in `fused_arguments::broadcast_leaves`.)
enum class broadcast : std::uint8_t { none, rows, joined_rows };

/// Runs a row program with lanes along the columns. `Apart`: how many elements the columns of those leaves stand apart
/// of which `spaced_arguments` say so. `PastCaches`: results are stored past the caches, where that is possible.
template <class Group, broadcast Broadcast = broadcast::none, int Apart = 1, bool PastCaches = false>
class fused_rows {
    using program = row_program<Group>;
    static constexpr auto const& plan = program::plan;
    static constexpr bool Broadcasts = Broadcast != broadcast::none;
    static constexpr bool is_spaced = Apart != 1;
    template <int Phase>
    using phase = row_phase<Group, Phase, Broadcasts, is_spaced>;

public:
    using arguments = std::conditional_t<is_spaced, spaced_arguments<Group::leaf_count, Group::result_count>,
                                         std::conditional_t<Broadcast == broadcast::joined_rows,
                                                            joined_arguments<Group::leaf_count, Group::result_count>,
                                                            fused_arguments<Group::leaf_count, Group::result_count>>>;

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
            fused_rows kernel(1, columns, columns);
            kernel.template compute_row_values<0, false>(row);
            kernel.template run_row<true, false>(row, typename program::phases{});
        } else {
            fused_rows kernel(rows, columns, end_of_overlapping_blocks(a, columns));
            kernel.template compute_row_values<0, false>(row);
            move_to_row<Group>(row, first);
            if constexpr (takes_turns) {
                std::ptrdiff_t const turns = rows_in_turn(columns);
                for (std::ptrdiff_t i = first; i < rows; i += turns) {
                    std::ptrdiff_t const count = std::min(turns, rows - i);
                    kernel.run_rows(row, count, typename program::phases{});
                    move_to_row<Group>(row, count);
                }
            } else if (phase<0>::has_loop_of_short_rows && phase<0>::has_no_blocks(columns)) {
                kernel.template run_each<phase<0>::has_loop_of_short_rows>(row, rows - first);
            } else {
                kernel.template run_each<false>(row, rows - first);
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
    using row_registers = step_registers<Group, 1>;

    static constexpr std::size_t row_bytes(std::ptrdiff_t columns) {
        constexpr std::size_t widest = 4 * simd::width * sizeof(double); // a whole pack may be stored at the end
        return (static_cast<std::size_t>(columns) * sizeof(double) + widest + 63) / 64 * 64;
    }

    static constexpr std::size_t scratch_bytes_of_a_row(std::ptrdiff_t columns) {
        return static_cast<std::size_t>(plan.scratch_rows) * row_bytes(columns);
    }

    static constexpr bool takes_turns = plan.takes_turns();

    /// How many rows take turns with each phase: as many as L1 holds with what they read and write.
    static constexpr std::ptrdiff_t rows_in_turn(std::ptrdiff_t columns) {
        return detail::count_turns(takes_turns ? thresholds::rows_in_turn : 1, columns * bytes_of_a_column,
                                   thresholds::bytes_of_rows_in_turn);
    }

    /// Of all arrays and scratch rows that have a value for each column of each row; of results twice, which push out
    /// as much again.
    static constexpr std::ptrdiff_t bytes_of_a_column = [] {
        std::size_t bytes = 0;
        for (int i = 0; i < program::step_count; ++i) {
            graph::step const& s = Group::steps()[i];
            bool const is_matrix = s.leaf >= 0 && s.varies_along_columns && s.varies_along_rows;
            bytes += size_of(s.type) * (static_cast<std::size_t>(is_matrix) + (plan.stored_in[i] >= 0 ? 2 : 0) +
                                        (plan.scratch[i] >= 0));
        }
        return static_cast<std::ptrdiff_t>(bytes);
    }();

    CALQUE_INLINE fused_rows(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t end_of_overlapping)
        : columns_(columns), elements_(rows * columns),
          waits_for_memory_(rows * columns >= phase<0>::prefetched_elements(columns)),
          is_behind_l1_(rows * columns * bytes_of_a_column > thresholds::most_bytes_in_l1),
          end_of_overlapping_blocks_(end_of_overlapping) {}

    template <bool AreShort>
    CALQUE_INLINE void run_each(arguments& row, std::ptrdiff_t rows) {
        for (std::ptrdiff_t i = 0; i < rows; ++i) {
            run_row<false, AreShort>(row, typename program::phases{});
            move_to_row<Group>(row, 1);
        }
    }

    template <bool OneRow, bool IsShort, int... Phase>
    CALQUE_INLINE void run_row(arguments const& row, std::integer_sequence<int, Phase...>) {
        (run_phase<Phase, OneRow, IsShort>(row), ...);
        finish_row(row);
    }

    /// `count` rows from `first` on.
    template <int... Phase>
    CALQUE_INLINE void run_rows(arguments const& first, std::ptrdiff_t count, std::integer_sequence<int, Phase...>) {
        row_registers rows[thresholds::rows_in_turn];
        (run_phase_of_rows<Phase>(first, count, rows), ...);
        if constexpr (program::row_results.size != 0) {
            arguments row = first;
            for (std::ptrdiff_t r = 0; r < count; ++r) {
                program::template copy_row_values_before<plan.count>(rows[r], row_);
                finish_row(row);
                move_to_row<Group>(row, 1);
            }
        }
    }

    template <int Phase>
    CALQUE_INLINE void run_phase_of_rows(arguments row, std::ptrdiff_t count, row_registers* rows) {
        for (std::ptrdiff_t r = 0; r < count; ++r) {
            program::template copy_row_values_before<Phase>(rows[r], row_);
            run_phase<Phase, false>(row);
            program::template copy_row_values<Phase>(row_, rows[r]);
            move_to_row<Group>(row, 1);
            row.scratch += scratch_bytes_of_a_row(columns_);
        }
    }

    /// Computes and stores what a row has once in the end.
    CALQUE_INLINE void finish_row(arguments const& row) {
        compute_row_values<plan.count, true>(row);
        unroll_steps<0, program::row_results.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::row_results.at[k];
            using T = step_element<Group, step>;
            // Not a masked store, which overlaps that of the next row.
            *static_cast<T*>(row.results[step_v<Group, step>.result]) =
                simd::first_element(column_input<step>(row_, row_));
        });
    }

    /// Where a row lies in the array that a step loads.
    template <int I>
    static CALQUE_INLINE auto const* array_of(arguments const& row) {
        return static_cast<step_element<Group, I> const*>(row.leaves[step_v<Group, I>.leaf]);
    }

    /// Where a row lies in the first array that a phase stores to, as a result.
    template <int Phase>
    static CALQUE_INLINE auto const* first_result(arguments const& row) {
        constexpr int stored = program::template stores<Phase>.at[0];
        return static_cast<step_element<Group, stored> const*>(row.results[step_v<Group, stored>.result]);
    }

    // ---- values that a row has once

    template <int Phase, bool PerRow>
    CALQUE_INLINE void compute_row_values(arguments const& row) {
        unroll_steps<0, program::template row_values<Phase, PerRow>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template row_values<Phase, PerRow>.at[k];
            row_.template at<step>() = load_or_compute_row_value<step>(row);
        });
    }

    template <int I>
    CALQUE_INLINE auto load_or_compute_row_value(arguments const& row) {
        constexpr graph::step s = step_v<Group, I>;
        if constexpr (s.leaf >= 0) {
            return simd::pack<step_element<Group, I>, 1>(*array_of<I>(row));
        } else if constexpr (s.index >= 0) {
            using T = step_element<Group, I>;
            return simd::pack<T, 1>(generate_step<I, simd::pack<T, 1>>(row.indices[s.index], row_).r[0][0]);
        } else {
            return apply_uniform_step<I>(row_);
        }
    }

    // ---- one walk along a row

    /// Asks for what the block will read that stands behind the one at column `j` by the distance for it.
    template <int Phase, int U>
    CALQUE_INLINE void prefetch_block(arguments const& row, std::ptrdiff_t j) const {
        unroll_steps<0, program::template reads<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template reads<Phase>.at[k];
            if constexpr (step_v<Group, step>.leaf >= 0) {
                simd::prefetch<U * simd::width>(array_of<step>(row) + j, thresholds::prefetched_bytes);
            }
        });
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
                simd::prefetch<U * simd::width>(array_of<step>(row) + j, ahead * row.leaf_row_strides[s.leaf] * bytes);
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

    /// Whether a phase stores to an array that begins at an address.
    template <int Phase>
    static CALQUE_INLINE bool is_written(arguments const& row, void const* array) {
        bool is = false;
        unroll_steps<0, program::template stores<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            is |= row.results[step_v<Group, program::template stores<Phase>.at[k]>.result] == array;
        });
        return is;
    }

    /// Whether some arrays do not begin in their lines at column `j`, and none of these is stored to: the next line
    /// would have what was just stored, in part, and such a load waits.
    template <int Phase>
    static CALQUE_INLINE bool begins_in_lines(arguments const& row, std::ptrdiff_t j) {
        std::ptrdiff_t into_lines = 0;
        bool is_rewritten = false;
        unroll_steps<0, program::template reads<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            auto const* const array = array_of<program::template reads<Phase>.at[k]>(row);
            std::ptrdiff_t const into_line = simd::place_in_line(array + j);
            into_lines |= into_line;
            is_rewritten |= into_line != 0 && is_written<Phase>(row, array);
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
            lines.offsets[step_v<Group, step>.leaf] = simd::line_offset(array_of<step>(row) + j);
        });
        constexpr std::ptrdiff_t block = U * simd::width;
        CALQUE_ROLLED
        for (; j + block <= end; j += block) {
            run_block<Phase, false>(wide, lines, j, 0);
        }
        return j;
    }

    /// Runs the first columns of a phase, so that what it stores lies at the beginning of a line from there on, and, if
    /// several arrays lie anywhere then and it gains from that, blocks with loads in whole lines. Returns where it
    /// ended.
    template <int Phase>
    CALQUE_INLINE std::ptrdiff_t run_lines(arguments const& row) {
        int const first = -static_cast<int>(simd::place_in_line(first_result<Phase>(row))) & (simd::width - 1);
        bool in_lines = false;
        if constexpr (phase<Phase>::may_gain_from_lines) {
            in_lines = phase<Phase>::gains_from_lines(columns_) && begins_in_lines<Phase>(row, first);
        }
        // The line that an array begins in is never read whole.
        std::ptrdiff_t const begin = in_lines ? first + simd::width : first;
        step_registers<Group, 1> narrow;
        std::ptrdiff_t j = 0;
        for (int n = first == 0 ? simd::width : first; j < begin; j += n, n = simd::width) {
            run_block<Phase, true>(narrow, row, j, n);
        }
        if constexpr (phase<Phase>::may_gain_from_lines) {
            if (in_lines) {
                using T = step_element<Group, program::template stores<Phase>.at[0]>;
                constexpr int U = phase<Phase>::groups * simd::lanes<T> / simd::width; // lines are in registers
                step_registers<Group, U> wide;
                std::ptrdiff_t const end = columns_ - simd::width; // nor is the line that it ends in
                if constexpr (simd::waits_for_lines_that_are_crossed) {
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
            return simd::count_unaligned(first_result<Phase>(row));
        }
    }

    /// Runs these columns. Returns where it ended.
    template <int Phase>
    CALQUE_INLINE std::ptrdiff_t run_unaligned(arguments const& row) {
        int const unaligned = count_unaligned<Phase>(row);
        if (unaligned != 0) {
            step_registers<Group, 1> narrow;
            run_block<Phase, true>(narrow, row, 0, unaligned);
        }
        return unaligned;
    }

    /// Whether all arrays but the first begin in their lines at column `j`.
    template <int Phase>
    static CALQUE_INLINE bool lie_at_lines(arguments const& row, std::ptrdiff_t j) {
        std::ptrdiff_t into_lines = 0;
        unroll_steps<1, program::template reads<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            into_lines |= simd::place_in_line(array_of<program::template reads<Phase>.at[k]>(row) + j);
        });
        return into_lines == 0;
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
            if (!lie_at_lines<Phase>(row, simd::width - into_line)) {
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
        run_block<Phase, true>(narrow, row, 0, static_cast<int>(first));
        program::template for_each_reduction<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
            simd::put_last_group(accumulators.template at<step>(),
                                 simd::rotate_left(narrow.template at<step>(), first));
        });
        std::ptrdiff_t j = first;
        if constexpr (phase<Phase>::reduces_others_in_lines) {
            if (loads_others_in_lines<Phase>() && !lie_at_lines<Phase>(row, first)) {
                constexpr int leaf = step_v<Group, program::template reads<Phase>.at[0]>.leaf;
                j = run_blocks_in_lines<Phase, leaf>(accumulators, row, j, std::min(end, columns_ - simd::width));
            }
        }
        CALQUE_ROLLED
        for (; j + block <= end; j += block) {
            run_block<Phase, false>(accumulators, row, j, 0);
        }
        run_block<Phase, true, kept_lanes::first_of_last_group>(accumulators, row, j, static_cast<int>(end - j));
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
                run_block<Phase, true>(narrow, row, j, lanes_of(end - j, simd::width));
            }
            if (end == columns_) {
                return;
            }
            CALQUE_ROLLED
            for (j = end; j + block <= columns_; j += block) {
                run_block<Phase, false>(wide, row, j, 0);
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
                run_block<Phase, true>(narrow, row, j, n);
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
                run_block<Phase, false>(narrow, row, j, 0);
            }
        }
    }

    /// How many columns there are before whole registers, or, of parts, lines.
    template <int Phase, bool OneRow>
    static CALQUE_INLINE int columns_before_past_caches(arguments const& row) {
        if constexpr (phase<Phase>::template stores_parts<OneRow>) {
            constexpr int elements_of_a_line = phase<Phase>::groups_of_a_line * simd::width;
            return -static_cast<int>(simd::place_in_line(first_result<Phase>(row))) & (elements_of_a_line - 1);
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
            bool is_rewritten = false;
            unroll_steps<0, program::template reads<0>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
                constexpr int step = program::template reads<0>.at[k];
                if constexpr (step_v<Group, step>.leaf >= 0) {
                    is_rewritten |= is_written<0>(row, array_of<step>(row));
                }
            });
            std::ptrdiff_t const left = columns & (block - 1);
            return columns > block && left > block / 2 && !is_rewritten ? columns : columns - left;
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
                run_block<Phase, false>(wide, row, j, 0);
            }
            if (end == end_of_overlapping_blocks_) {
                return;
            }
            end = end_of_overlapping_blocks_;
            j = end - block;
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
                run_block<Phase, false>(wide, row, j + k * part, 0);
            }
        }
        return j + (parts - 1) * part;
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
                begin = run_lines<Phase>(row);
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
            if (columns_ >= phase<Phase>::least_columns_of_aligned_rows && pays) {
                begin = run_unaligned<Phase>(row);
            }
        }
        if constexpr (phase<Phase>::template reduces_lines<OneRow>) {
            auto const* const array = array_of<program::template reads<Phase>.at[0]>(row);
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
                    run_block<Phase, false>(wide, row, j, 0);
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
                    run_block<Phase, false>(wide, row, j, 0);
                }
                return begin;
            }
        }
        CALQUE_ROLLED
        for (std::ptrdiff_t j = first; j < end; j += block) {
            run_block<Phase, false>(wide, row, j, 0);
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
            if (auto const sought = compute_sought<Phase, Condition, Masked, U>(row, j, n); simd::any(sought)) {
                return j + simd::first_set(sought);
            }
        }
        return -1;
    }

    /// Which of the columns from `j` on are sought.
    template <int Phase, int Condition, bool Masked, int U>
    CALQUE_INLINE simd::pack<bool, U> compute_sought(arguments const& row, std::ptrdiff_t j, int n) {
        step_registers<Group, U> column; // for totals, too, of which there are none
        compute_block<Phase, Masked, kept_lanes::none>(column, column, row, j, n);
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
            return array_of<I>(row)[column];
        } else if constexpr (s.index >= 0) {
            return static_cast<step_element<Group, I>>(row.indices[s.index] + column);
        } else {
            return simd::first_element(column_input<I>(row_, row_));
        }
    }

    template <int Phase, bool OneRow, bool IsShort = false>
    CALQUE_INLINE void run_phase(arguments const& row) {
        constexpr int U = phase<Phase>::groups;
        constexpr std::ptrdiff_t block = U * simd::width;
        compute_row_values<Phase, true>(row);
        load_broadcast_elements<Phase>(row);
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
                run_block<Phase, true>(wide, row, j, lanes_of(columns_ - j, block));
            }
            finish_reductions<Phase>(wide);
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
            if constexpr (phase<Phase>::is_light &&
                          !is_spaced) { // masks of whole registers would be a good part of the work
                std::ptrdiff_t const end = end_of_blocks<simd::width>(begin);
                if constexpr (U != 1) {
                    CALQUE_ROLLED
                    for (std::ptrdiff_t j = first; j < end; j += simd::width) {
                        run_block<Phase, false>(narrow, row, j, 0);
                    }
                }
                if (end < columns_) { // no loop, for which compilers would keep a few addresses more
                    run_block<Phase, true>(narrow, row, end, lanes_of(columns_ - end, simd::width));
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
                            run_block<Phase, false>(pair, row, j, 0);
                        }
                    }
                    CALQUE_ROLLED
                    for (; columns_ - j > simd::width; j += pair_width) {
                        run_block<Phase, true>(pair, row, j, lanes_of(columns_ - j, pair_width));
                    }
                }
                CALQUE_ROLLED
                for (; j < columns_; j += simd::width) {
                    run_block<Phase, true>(narrow, row, j, lanes_of(columns_ - j, simd::width));
                }
            }
            finish_reductions<Phase>(narrow);
        }
    }

    /// Loads what a row has once of some leaves, though their steps vary along the columns.
    template <int Phase>
    CALQUE_INLINE void load_broadcast_elements([[maybe_unused]] arguments const& row) {
        if constexpr (Broadcasts) {
            unroll_steps<0, program::template reads<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
                constexpr int step = program::template reads<Phase>.at[k];
                constexpr int leaf = step_v<Group, step>.leaf;
                if constexpr (leaf >= 0) {
                    using T = step_element<Group, step>;
                    simd::pack<T, 1> const none{T()};
                    row_.template at<step>() = row.has_one_element(leaf) ? load_broadcast_element<step>(row) : none;
                }
            });
        }
    }

    template <int I>
    CALQUE_INLINE auto load_broadcast_element(arguments const& row) {
        using T = step_element<Group, I>;
        if constexpr (Broadcast == broadcast::joined_rows) {
            return simd::pack<T, 1>::load(array_of<I>(row), row.rows_in_one);
        } else {
            return simd::pack<T, 1>(*array_of<I>(row));
        }
    }

    /// The same for the columns from `j` on.
    template <int Model, int U>
    CALQUE_INLINE auto broadcast_elements(arguments const& row, int step, [[maybe_unused]] std::ptrdiff_t j) {
        using T = step_element<Group, Model>;
        auto& once = row_.template at<Model>(step);
        if constexpr (Broadcast == broadcast::joined_rows && simd::has_elements_at<T>) {
            return simd::elements_at<T, U>(once.r[0], row.places, j);
        } else {
            return widen<U>(once);
        }
    }

    /// How many lanes of a block there are columns for.
    static CALQUE_INLINE int lanes_of(std::ptrdiff_t columns_left, std::ptrdiff_t block) {
        return static_cast<int>(columns_left < block ? columns_left : block);
    }

    /// Which lanes of a block reductions take: `first_of_last_group` if all groups before it are whole.
    enum class kept_lanes { all, first, first_of_last_group, none };

    /// The columns from `j` on, one pack of them; `n` of them if masked. Accumulators are in the slots of reductions,
    /// which take the first `n` lanes if they do not keep all.
    template <int Phase, bool Masked, kept_lanes Kept = Masked ? kept_lanes::first : kept_lanes::all, int U, class Row>
    CALQUE_INLINE void run_block(step_registers<Group, U>& accumulators, Row const& row, std::ptrdiff_t j, int n) {
        step_registers<Group, U> column;
        compute_block<Phase, Masked, Kept>(column, accumulators, row, j, n);
        store_block<Phase, Masked>(column, row, j, n);
    }

    /// The values of these columns, and what reductions take of them.
    template <int Phase, bool Masked, kept_lanes Kept, int U, class Row>
    CALQUE_INLINE void compute_block(step_registers<Group, U>& column, step_registers<Group, U>& accumulators,
                                     Row const& row, std::ptrdiff_t j, int n) {
        constexpr bool is_sorted = U == 4 && phase<Phase>::is_deep;
        unroll_models<program::template work<Phase, is_sorted>>([&](auto model, int step) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = step_v<Group, model>;
            if constexpr (detail::is_reduction(s)) {
                constexpr int reduced = s.inputs[0];
                accumulate<model, Kept>(accumulators,
                                        column_input<reduced>(column, row_, Group::steps()[step].inputs[0]), step, n);
            } else if constexpr (plan.loads(model, Phase)) {
                column.template at<model>(step) = detail::load<Masked, U>(scratch<model>(row, step) + j, n);
            } else if constexpr (s.leaf >= 0) {
                int const leaf = Group::steps()[step].leaf;
                auto const* const from = static_cast<step_element<Group, model> const*>(row.leaves[leaf]) + j;
                if constexpr (is_spaced && has_spaced_loads(s.type)) {
                    load_neighbours<Phase, Masked, model>(column, row, step, j, n);
                } else if constexpr (requires { Row::other_leaf; }) {
                    if (leaf == Row::other_leaf) {
                        column.template at<model>(step) = load_leaf<Phase, Masked, Kept, U>(from, step, n);
                    } else {
                        column.template at<model>(step) =
                            simd::load_lines<step_element<Group, model>, U>(from, row.offsets[leaf]);
                    }
                } else if constexpr (Broadcasts) {
                    if (row.has_one_element(leaf)) { // always or never: a branch that is foreseen costs nothing
                        column.template at<model>(step) = broadcast_elements<model, U>(row, step, j);
                    } else {
                        column.template at<model>(step) = load_leaf<Phase, Masked, Kept, U>(from, step, n);
                    }
                } else {
                    column.template at<model>(step) = load_leaf<Phase, Masked, Kept, U>(from, step, n);
                }
            } else if constexpr (std::is_same_v<step_op<Group, model>, graph::ops::matmul>) {
                auto const* const tile = static_cast<step_element<Group, model> const*>(row.tile);
                column.template at<model>(step) = detail::load<Masked, U>(tile + j, n);
            } else if constexpr (s.index >= 0) {
                using V = simd::pack<step_element<Group, model>, U>;
                std::ptrdiff_t const first = row.indices[Group::steps()[step].index];
                column.template at<model>(step) = generate_step<model, V>(first + j, row_, step);
            } else {
                column.template at<model>(step) = apply_step<model>(column, row_, step);
            }
        });
    }

    /// Stores them, after all loads of the block, so that a result may take the place of an argument.
    template <int Phase, bool Masked, int U>
    CALQUE_INLINE void store_block(step_registers<Group, U>& column, arguments const& row, std::ptrdiff_t j, int n) {
        unroll_steps<0, program::template stores<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template stores<Phase>.at[k];
            if constexpr (plan.scratch[step] >= 0 && plan.computes(step, Phase)) {
                detail::store<Masked>(scratch<step>(row, step) + j, column.template at<step>(), n);
            }
            if constexpr (plan.stored_in[step] == Phase) {
                constexpr int r = step_v<Group, step>.result;
                auto* const to = static_cast<step_element<Group, step>*>(row.results[r]);
                if constexpr (PastCaches && !Masked && stores_past_caches<Group, Phase>) {
                    column_input<step>(column, row_).stream(to + j);
                } else {
                    detail::store<Masked>(to + j, column_input<step>(column, row_), n);
                }
            }
        });
    }

    /// What each step of a phase loads if the columns of its leaf stand apart.
    struct step_reads {
        spaced_reads at[Group::step_count]{};
    };
    template <int Phase>
    static constexpr step_reads reads_of_steps = [] {
        step_reads all;
        bool is_load[Group::step_count]{};
        auto const& work = program::template work<Phase>;
        for (int w = 0; w < work.size; ++w) {
            is_load[work.at[w]] = Group::steps()[work.at[w]].leaf >= 0 && !plan.loads(work.at[w], Phase);
        }
        for (int i = 0; i < Group::step_count; ++i) {
            all.at[i] = is_load[i] ? Group::reads(i, Apart, is_load) : spaced_reads{};
        }
        return all;
    }();

    /// Loads the columns from `j` on for a step like step `Model`, and for all others whose leaves are its neighbours.
    template <int Phase, bool Masked, int Model, int U>
    static CALQUE_INLINE void load_neighbours(step_registers<Group, U>& column, arguments const& row, int step,
                                              std::ptrdiff_t j, int n) {
        using T = step_element<Group, Model>;
        spaced_reads const& reads = reads_of_steps<Phase>.at[step];
        auto const array_of_step = [&](int its) CALQUE_INLINE_LAMBDA {
            return static_cast<T const*>(row.leaves[Group::steps()[its].leaf]);
        };
        if (reads.before < 0) {
            return; // another step does
        }
        if (row.is_spaced(Group::steps()[step].leaf)) { // always or never: a branch that is foreseen costs nothing
            detail::load_spaced<Apart, Masked, simd::pack<T, U>>(
                array_of_step(step) - reads.before + Apart * j, n, reads.last(),
                [&](int i, auto const& all) CALQUE_INLINE_LAMBDA {
                    simd::unroll<Apart>([&](auto d) CALQUE_INLINE_LAMBDA {
                        if (reads.steps[d] >= 0) {
                            column.template at<Model>(reads.steps[d]).r[i] = detail::every<Apart, d>(all);
                        }
                    });
                });
        } else {
            simd::unroll<Apart>([&](int d) CALQUE_INLINE_LAMBDA {
                if (int const its = reads.steps[d]; its >= 0) {
                    column.template at<Model>(its) = detail::load<Masked, U>(array_of_step(its) + j, n);
                }
            });
        }
    }

    template <int Phase, bool Masked, kept_lanes Kept, int U, class T>
    static CALQUE_INLINE simd::pack<T, U> load_leaf(T const* from, int step, int n) {
        constexpr int whole = Kept == kept_lanes::first_of_last_group ? U - 1 : 0;
        auto const loaded = detail::load<Masked, U, whole>(from, n);
        simd::pack<T, U> const kept =
            phase<Phase>::loads_once && phase<Phase>::uses.of[step] > 1 ? simd::loaded_once(loaded) : loaded;
        if constexpr (phase<Phase>::looks_for_nan) {
            return simd::loaded_in_order(kept);
        } else {
            return kept;
        }
    }

    template <int Model>
    CALQUE_INLINE auto* scratch(arguments const& row, int step) const {
        return reinterpret_cast<step_element<Group, Model>*>(
            row.scratch + static_cast<std::size_t>(plan.scratch[step]) * row_bytes(columns_));
    }

    // ---- reductions

    template <int Model, kept_lanes Kept, class T, int U>
    static CALQUE_INLINE void accumulate(step_registers<Group, U>& accumulators, simd::pack<T, U> x, int step, int n) {
        if constexpr (Kept == kept_lanes::none) {
            return;
        }
        if constexpr (Kept == kept_lanes::first) {
            x = simd::keep_first(x, simd::pack<T, U>(program::template identity<Model>), n);
        } else if constexpr (Kept == kept_lanes::first_of_last_group) {
            simd::pack<T, 1> const none(program::template identity<Model>);
            simd::put_last_group(x, simd::keep_first(simd::groups_of<U - 1, 1>(x), none, n - (U - 1) * simd::width));
        }
        // The total comes second: of a maximum it is the first operand that is looked at for NaN, which need not wait.
        auto& total = accumulators.template at<Model>(step);
        total = combine_with_totals<step_op<Group, Model>>(x, total);
    }

    template <int Phase, int U>
    CALQUE_INLINE void finish_reductions(step_registers<Group, U>& accumulators) {
        program::template for_each_reduction<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
            using T = step_element<Group, step>;
            row_.template at<step>() =
                simd::pack<T, 1>(fold_pack<step_op<Group, step>>(accumulators.template at<step>()));
        });
    }

    std::ptrdiff_t const columns_;
    std::ptrdiff_t const elements_;
    bool const waits_for_memory_;
    bool const is_behind_l1_;
    std::ptrdiff_t const end_of_overlapping_blocks_;
    row_registers row_;
};

} // namespace kernels
} // namespace v0
} // namespace calque
