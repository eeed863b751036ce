// SPDX-License-Identifier: MIT
// The kernel of a fused group with several reductions over rows: what they read is read once.
#pragma once

#include <calque/kernels/cpu/column_walk.hpp>
#include <calque/kernels/cpu/rolled.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Folds the rows of a group's space by some reductions, each into a row of totals, a result of the group.
///
/// A few rows are folded in registers while one walks along the columns, and then into the totals, which stay in L1.
/// Many rows are halved, again and again, so that rounding errors grow with the logarithm of their number.
template <class Group, bool Broadcasts = false>
class fused_column_totals : column_walk<Group, Broadcasts> {
    using walk = column_walk<Group, Broadcasts>;
    using walk::matrices;

public:
    using arguments = fused_arguments<Group::leaf_count, Group::result_count>;

    static void run(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        bool const are_far = walk::gains_from_streams_apart(rows, columns);
        std::ptrdiff_t const panel_columns = are_far ? most_panel_columns : thresholds::columns_of_a_panel;
        row_order const of_far = columns <= panel_columns ? row_order::streams_apart : row_order::streams;
        bool const are_crowded = may_be_near && walk::are_crowded(a, rows, columns);
        auto const fold_panel = [&](arguments const& panel, std::ptrdiff_t n) {
            fold_halves(panel, 0, rows, n, are_far ? of_far : order_of_near(n, are_crowded));
        };
        arguments panel = a;
        for (; columns > panel_columns; columns -= panel_columns) {
            fold_panel(panel, panel_columns);
            move_to_columns(panel, panel_columns);
        }
        fold_panel(panel, columns);
    }

private:
    /// How rows are walked along: a few of each block of columns, or beside each other along all columns, streams that
    /// processors see ahead; of rows that stand apart, each read on into the next one.
    enum class row_order : std::uint8_t { pieces, streams, streams_apart };

    static constexpr auto reductions =
        list_steps<Group::step_count>([](int i) { return detail::is_reduction(Group::steps()[i]); });

    /// Groups of columns at once: half of the registers have what they accumulated.
    static constexpr int groups_at_once = [] {
        int groups = walk::groups_at_once;
        int const of_one = reductions.size * (has_wide_values(Group::steps(), Group::step_count) ? 2 : 1);
        while (groups > 1 && groups * of_one > simd::register_count / 2) {
            groups /= 2;
        }
        return groups;
    }();

    /// Whether rows may be streams that do not stand apart: little work on several matrices, or on rows that
    /// crowd a set of L1.
    static constexpr bool may_be_near = walk::is_light() && matrices.size > 0;
    static constexpr row_order order_of_near(std::ptrdiff_t columns, bool are_crowded) {
        bool const are_several = may_be_near && matrices.size > 1 && columns >= thresholds::least_columns_of_streams;
        return are_several || are_crowded ? row_order::streams : row_order::pieces;
    }
    static constexpr std::ptrdiff_t most_panel_columns =
        walk::may_be_apart ? thresholds::columns_of_a_far_panel : thresholds::columns_of_a_panel;
    static constexpr int at_once = thresholds::streams_at_once;
    static constexpr int groups_of_streams = std::min(groups_at_once, thresholds::groups_of_streams_of_several_folds);

    /// Whether matrices may be read in whole lines: for sums that wait for their loads.
    static constexpr bool may_be_in_lines = [] {
        bool are_sums = walk::may_be_in_lines;
        for (int k = 0; k < reductions.size; ++k) {
            are_sums &= Group::steps()[reductions.at[k]].op == graph::code_of<graph::ops::sum>;
        }
        return are_sums && walk::cost() + reductions.size <= thresholds::cost_of_sums_in_lines;
    }();

    /// Whether they should be: L1 does not have them, and rows cross lines.
    static CALQUE_INLINE bool gains_from_lines(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        std::ptrdiff_t bytes = 0;
        for (int k = 0; k < matrices.size; ++k) {
            bytes += rows * columns * static_cast<std::ptrdiff_t>(size_of(Group::steps()[matrices.at[k]].type));
        }
        return columns >= thresholds::least_columns_of_streams_in_lines && bytes > thresholds::most_bytes_in_l1 &&
               walk::crosses_lines(a);
    }

    using walk::walk;

    /// Calls `f(step)` for each reduction.
    template <class F>
    static CALQUE_INLINE void for_each_reduction(F&& f) {
        unroll_steps<0, reductions.size>(
            [&](auto k) CALQUE_INLINE_LAMBDA { f(std::integral_constant<int, reductions.at[k]>{}); });
    }

    /// Where the totals of a reduction are.
    template <int I>
    static CALQUE_INLINE auto* totals(arguments const& a) {
        return static_cast<step_element<Group, I>*>(a.results[step_v<Group, I>.result]);
    }

    static void move_to_columns(arguments& a, std::ptrdiff_t j) {
        move_to_column<Group>(a, j); // but not the totals, which have no rows
        for_each_reduction([&](auto step)
                               CALQUE_INLINE_LAMBDA { a.results[step_v<Group, step>.result] = totals<step>(a) + j; });
    }

    /// Folds rows [first, end) of at most a panel.
    static CALQUE_NOINLINE void fold_halves(arguments const& a, std::ptrdiff_t first, std::ptrdiff_t end,
                                            std::ptrdiff_t columns, row_order order) {
        bool const are_apart = order == row_order::streams_apart;
        if (end - first < (are_apart ? thresholds::rows_of_streams_halved : thresholds::rows_halved)) {
            fold_pieces(a, first, end, columns, order);
            return;
        }
        std::ptrdiff_t const middle = first + (end - first) / (2 * thresholds::rows_at_once) * thresholds::rows_at_once;
        constexpr std::size_t bytes = [] {
            std::size_t widest = 0;
            for (int k = 0; k < reductions.size; ++k) {
                widest = std::max(widest, size_of(Group::steps()[reductions.at[k]].type));
            }
            return most_panel_columns * widest;
        }();
        alignas(64) std::byte totals_behind[reductions.size * bytes];
        arguments behind = a;
        unroll_steps<0, reductions.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            behind.results[step_v<Group, reductions.at[k]>.result] = totals_behind + k * bytes;
        });
        fold_halves(a, first, middle, columns, order);
        fold_halves(behind, middle, end, columns, order);
        for_each_reduction([&](auto step) CALQUE_INLINE_LAMBDA {
            using V = simd::pack<step_element<Group, step>, 1>;
            for (std::ptrdiff_t j = 0; j < columns; j += simd::width) {
                int const n = static_cast<int>(std::min<std::ptrdiff_t>(columns - j, simd::width));
                V const both = step_op<Group, step>::combine(V::load(totals<step>(behind) + j, n),
                                                             V::load(totals<step>(a) + j, n));
                both.store(totals<step>(a) + j, n);
            }
        });
    }

    /// The same, a few rows at a time.
    static CALQUE_NOINLINE void fold_pieces(arguments const& a, std::ptrdiff_t first, std::ptrdiff_t end,
                                            std::ptrdiff_t columns, row_order order) {
        fused_column_totals kernel(a);
        bool const in_lines = may_be_in_lines && gains_from_lines(a, end - first, columns);
        std::ptrdiff_t i = first;
        if constexpr (may_be_near || walk::may_be_apart) {
            if (order != row_order::pieces) {
                kernel.template fold_rows<1, true>(i, i, 0, columns);
                i = kernel.fold_streams(i, end, columns, in_lines, order == row_order::streams_apart);
            }
        }
        if (i == first) { // also if there are no rows, whose totals are the identity
            i = std::min(first + thresholds::rows_at_once, end);
            kernel.template fold_rows<groups_at_once, true>(first, i, 0, columns, in_lines);
        }
        for (std::ptrdiff_t next; i < end; i = next) {
            next = std::min(i + thresholds::rows_at_once, end);
            kernel.template fold_rows<groups_at_once, false>(i, next, 0, columns, in_lines);
        }
    }

    /// A few rows beside each other along all columns, as long as there are so many. Returns the first that remains.
    CALQUE_INLINE std::ptrdiff_t fold_streams(std::ptrdiff_t first, std::ptrdiff_t end, std::ptrdiff_t columns,
                                              bool in_lines, bool are_apart) {
        constexpr std::ptrdiff_t block = groups_of_streams * simd::width;
        std::ptrdiff_t const whole = columns / block * block;
        typename walk::stream_turns const turns(end - first, at_once, are_apart);
        for (std::ptrdiff_t turn = 0, i = first; turn < turns.count; ++turn, i += turns.step) {
            std::ptrdiff_t j = 0;
            if constexpr (may_be_in_lines) {
                if (in_lines) {
                    fold_row_streams<1, false>(i, turns.apart, 0);
                    j = walk::template for_each_block_in_lines<block>(
                        columns, [&](std::ptrdiff_t begin) CALQUE_INLINE_LAMBDA {
                            fold_row_streams<groups_of_streams, true>(i, turns.apart, begin);
                        });
                    for (; j + simd::width <= whole; j += simd::width) {
                        fold_row_streams<1, false>(i, turns.apart, j);
                    }
                }
            }
            for (; j < whole; j += block) {
                fold_row_streams<groups_of_streams, false>(i, turns.apart, j);
            }
        }
        std::ptrdiff_t const end_of_streams = first + turns.count * at_once;
        fold_rows<1, false>(first, end_of_streams, whole, columns);
        return end_of_streams;
    }

    template <int U, bool InLines>
    CALQUE_INLINE void fold_row_streams(std::ptrdiff_t i, std::ptrdiff_t apart, std::ptrdiff_t j) {
        step_registers<Group, U> folded;
        fold_row<false, InLines>(folded, i, j, 0, [](auto, auto const& x) CALQUE_INLINE_LAMBDA { return x; });
        simd::unroll<at_once - 1>(
            [&](auto r) CALQUE_INLINE_LAMBDA { fold_row<false, InLines>(folded, i + (r + 1) * apart, j, 0); });
        add_to_totals<false, false>(folded, j, 0);
    }

    /// Rows [first, end), the columns from `j` on. `Begins`: the totals are not written yet.
    template <int U, bool Begins>
    CALQUE_INLINE void fold_rows(std::ptrdiff_t first, std::ptrdiff_t end, std::ptrdiff_t j, std::ptrdiff_t columns,
                                 bool in_lines = false) {
        constexpr std::ptrdiff_t block = U * simd::width;
        if constexpr (U > 1) {
            if constexpr (may_be_in_lines) {
                if (in_lines) {
                    fold_block<false, 1, Begins>(first, end, 0, 0);
                    j = walk::template for_each_block_in_lines<block>(
                        columns, [&](std::ptrdiff_t begin) CALQUE_INLINE_LAMBDA {
                            fold_block<false, U, Begins, true>(first, end, begin, 0);
                        });
                }
            }
            for (; j + block <= columns; j += block) {
                fold_block<false, U, Begins>(first, end, j, 0);
            }
        }
        for (; j < columns; j += simd::width) {
            int const n = static_cast<int>(std::min<std::ptrdiff_t>(columns - j, simd::width));
            fold_block<true, 1, Begins>(first, end, j, n);
        }
    }

    /// The block of columns from `j` on, `n` of them if masked.
    template <bool Masked, int U, bool Begins, bool InLines = false>
    CALQUE_INLINE void fold_block(std::ptrdiff_t first, std::ptrdiff_t end, std::ptrdiff_t j, int n) {
        step_registers<Group, U> folded;
        for_each_reduction([&](auto step) CALQUE_INLINE_LAMBDA {
            using T = step_element<Group, step>;
            folded.template at<step>() = simd::pack<T, U>(step_op<Group, step>::template identity<T>);
        });
        CALQUE_ROLLED
        for (std::ptrdiff_t i = first; i < end; ++i) {
            fold_row<Masked, InLines>(folded, i, j, n);
        }
        add_to_totals<Masked, Begins>(folded, j, n);
    }

    /// Folds one row into what others have accumulated, or makes something of it: `f(step, x)`.
    template <bool Masked, bool InLines, int U, class F>
    CALQUE_INLINE void fold_row(step_registers<Group, U>& folded, std::ptrdiff_t i, std::ptrdiff_t j, int n, F f) {
        step_registers<Group, 1> row;
        step_registers<Group, U> column;
        this->template compute_columns<Masked, InLines>(column, row, i, j, n);
        for_each_reduction([&](auto step) CALQUE_INLINE_LAMBDA {
            using pack = simd::pack<step_element<Group, step>, U>;
            constexpr int reduced = step_v<Group, step>.inputs[0];
            folded.template at<step>() = f(step, pack(column_input<reduced>(column, row)));
        });
    }
    template <bool Masked, bool InLines, int U>
    CALQUE_INLINE void fold_row(step_registers<Group, U>& folded, std::ptrdiff_t i, std::ptrdiff_t j, int n) {
        fold_row<Masked, InLines>(folded, i, j, n, [&](auto step, auto const& x) CALQUE_INLINE_LAMBDA {
            return step_op<Group, step>::combine(x, folded.template at<step>());
        });
    }

    template <bool Masked, bool Begins, int U>
    CALQUE_INLINE void add_to_totals(step_registers<Group, U>& folded, std::ptrdiff_t j, int n) {
        for_each_reduction([&](auto step) CALQUE_INLINE_LAMBDA {
            auto* const place = totals<step>(this->a_) + j;
            auto& total = folded.template at<step>();
            if constexpr (!Begins) {
                total = step_op<Group, step>::combine(total, detail::load<Masked, U>(place, n));
            }
            detail::store<Masked>(place, total, n);
        });
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
