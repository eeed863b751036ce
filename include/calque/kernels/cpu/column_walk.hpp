// SPDX-License-Identifier: MIT
// One step of a walk down the rows of a group's space: what a block of a row has in registers for its reductions.
#pragma once

#include <calque/kernels/cpu/cache_sets.hpp>
#include <calque/kernels/cpu/fused_arguments.hpp>
#include <calque/kernels/cpu/loaded_once.hpp>
#include <calque/kernels/cpu/pack_lines.hpp>
#include <calque/kernels/cpu/phases.hpp>
#include <calque/kernels/cpu/registers_of_steps.hpp>
#include <calque/kernels/cpu/thresholds.hpp>
#include <calque/kernels/cpu/unroll_steps.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// What the kernels of a group that reduces over rows have in common: the work of one row, and how it is loaded.
/// `Broadcasts`: leaves that vary along the columns for all that the compiler knows may have one element a row
/// (`fused_arguments::broadcast_leaves`).
template <class Group, bool Broadcasts>
class column_walk {
public:
    using arguments = fused_arguments<Group::leaf_count, Group::result_count>;

    static constexpr int step_count = Group::step_count;

protected:
    CALQUE_INLINE explicit column_walk(arguments const& a) : a_(a) { compute_row_values<false>(row_, 0); }

    /// Whether a step has work for each element, but for what its reductions do.
    static constexpr bool is_column_work(int i) {
        return Group::steps()[i].varies_along_columns && !detail::is_reduction(Group::steps()[i]);
    }

    /// Instructions a register of columns, but for its fold.
    static constexpr int cost() {
        int result = 0;
        for (int i = 0; i < step_count; ++i) {
            result += is_column_work(i) ? cost_of_step(Group::steps(), i) : 0;
        }
        return result;
    }
    /// Whether there is little work. Then there is a walk for each number of groups that may be left behind the last
    /// block.
    static constexpr bool is_light() { return !Broadcasts && cost() <= thresholds::cost_of_a_light_fold; }
    static constexpr int groups_at_once = is_short_of_registers<Group> && cost() > thresholds::cost_of_a_sum
                                              ? thresholds::groups_of_crowded_folds_at_once
                                              : thresholds::groups_at_once;

    static constexpr auto matrices = list_steps<step_count>([](int i) {
        graph::step const& s = Group::steps()[i];
        return s.leaf >= 0 && s.varies_along_rows && s.varies_along_columns;
    });

    /// Whether matrices may be read in whole lines: where lines that are crossed take longer.
    static constexpr bool may_be_in_lines = [] {
        bool suits = simd::waits_for_lines_that_are_crossed && !Broadcasts;
        for (int k = 0; k < matrices.size; ++k) {
            suits &= simd::has_line_loads(Group::steps()[matrices.at[k]].type);
        }
        return suits;
    }();

    /// Whether some rows of matrices begin within a line.
    static CALQUE_INLINE bool crosses_lines(arguments const& a) {
        bool crosses = false;
        unroll_steps<0, matrices.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = step_v<Group, matrices.at[k]>;
            auto const* const begin = static_cast<type_of<s.type> const*>(a.leaves[s.leaf]);
            crosses |= simd::place_in_line(begin) != 0 || simd::place_in_line(begin + a.leaf_row_strides[s.leaf]) != 0;
        });
        return crosses;
    }

    /// Whether rows may be streams that stand apart, each of which is read on into the next row: little work on
    /// matrices.
    static constexpr bool may_be_apart = simd::register_count != 32 && is_light() && matrices.size > 0;

    /// Whether such streams gain: no cache near by holds the rows, and they are wide enough.
    static constexpr bool gains_from_streams_apart(std::ptrdiff_t rows, std::ptrdiff_t columns) {
        return may_be_apart && rows * columns >= thresholds::prefetched_elements &&
               columns >= thresholds::least_columns_of_streams_apart;
    }

    /// Whether rows of matrices crowd a set of L1, and are wide enough to be streams instead.
    static CALQUE_INLINE bool are_crowded(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        std::ptrdiff_t in_one_set = 0;
        unroll_steps<0, matrices.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = step_v<Group, matrices.at[k]>;
            constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(type_of<s.type>));
            in_one_set += are_in_one_set(a.leaf_row_strides[s.leaf] * size) ? rows : 0;
        });
        return columns >= thresholds::least_columns_of_crowded_streams && crowd_a_set(in_one_set);
    }

    /// How streams of so many rows, a few at once, take turns: rows side by side, or as far apart as there are turns.
    struct stream_turns {
        stream_turns(std::ptrdiff_t rows, std::ptrdiff_t at_once, bool are_apart)
            : count(rows / at_once), apart(are_apart ? count : 1), step(are_apart ? 1 : at_once) {}

        std::ptrdiff_t count;
        std::ptrdiff_t apart; // rows from one stream to the next
        std::ptrdiff_t step;  // rows from turn to turn
    };

    /// Calls `f(j)` for each block of so many columns, the first of which is `j`, that rows can be loaded in whole
    /// lines of: behind the first line and before the last one, of which a row has a part. Returns where they end.
    template <std::ptrdiff_t Block, class F>
    static CALQUE_INLINE std::ptrdiff_t for_each_block_in_lines(std::ptrdiff_t columns, F&& f) {
        std::ptrdiff_t j = simd::width;
        for (; j + Block + simd::width <= columns; j += Block) {
            f(j);
        }
        return j;
    }

    /// A block from memory.
    template <bool Masked, int U, class E>
    static CALQUE_INLINE simd::pack<E, U> load(E const* p, int n) {
        if constexpr (Masked) {
            return simd::pack<E, U>::template load<U <= groups_at_once ? U - 1 : U - 2>(p, n);
        } else {
            return simd::pack<E, U>::load(p);
        }
    }

    /// Computes what does not vary along the columns, and a block of row `i`: the columns from `j` on, `n` of them if
    /// masked. `InLines`: matrices are loaded in whole lines; a group before the block and behind it is the row's, too.
    template <bool Masked, bool InLines = false, int U>
    CALQUE_INLINE void compute_columns(step_registers<Group, U>& column, step_registers<Group, 1>& row,
                                       std::ptrdiff_t i, std::ptrdiff_t j, int n) {
        unroll_steps<0, row_values<false>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = row_values<false>.at[k];
            row.template at<step>() = row_.template at<step>();
        });
        compute_row_values<true>(row, i);
        unroll_models<work>([&](auto model, int step) CALQUE_INLINE_LAMBDA {
            column.template at<model>(step) = compute<model, Masked, InLines>(column, row, step, i, j, n);
        });
    }

    arguments const a_; // a copy: stores could change the original, whose addresses would be read again for each block

private:
    template <int Model, bool Masked, bool InLines, int U>
    CALQUE_INLINE auto compute(step_registers<Group, U>& column, step_registers<Group, 1>& row, int step,
                               std::ptrdiff_t i, std::ptrdiff_t j, int n) {
        constexpr graph::step s = step_v<Group, Model>;
        if constexpr (s.leaf >= 0) {
            using E = step_element<Group, Model>;
            int const index = Group::steps()[step].leaf;
            std::ptrdiff_t const offset = s.varies_along_rows ? i * a_.leaf_row_strides[index] : 0;
            E const* const from = static_cast<E const*>(a_.leaves[index]) + offset;
            if constexpr (Broadcasts) {
                if (a_.has_one_element(index)) { // always or never: a branch that is foreseen costs little
                    return simd::pack<E, U>(*from);
                }
            }
            if constexpr (InLines && s.varies_along_rows) {
                return simd::load_lines<E, U>(from + j, simd::line_offset(from)); // blocks are whole lines
            }
            auto const loaded = load<Masked, U>(from + j, n);
            return loads_once && uses.of[step] > 1 ? simd::loaded_once(loaded) : loaded;
        } else if constexpr (s.index >= 0) {
            using V = simd::pack<step_element<Group, Model>, U>;
            return generate_step<Model, V>(place_in_row<Model>(i, step) + j, row, step);
        } else {
            return apply_step<Model>(column, row, step);
        }
    }

    /// The place of an indexed step's first element in a row.
    template <int Model>
    CALQUE_INLINE std::ptrdiff_t place_in_row(std::ptrdiff_t i, int step = Model) const {
        int const index = Group::steps()[step].index;
        return a_.indices[index] + (step_v<Group, Model>.varies_along_rows ? i * a_.leaf_row_strides[index] : 0);
    }

    static constexpr auto work = with_models(list_steps<step_count>(is_column_work),
                                             [](int i, int j) { return are_alike(Group::steps(), i, j); });

    static constexpr auto uses = count_uses<step_count>(Group::steps(), work, [](int) { return true; });

    /// Whether a register is kept for what is loaded and used several times.
    static constexpr bool loads_once = simd::register_count == 32 || is_light();

    /// What does not vary along columns: once a row, or once a call.
    template <bool PerRow>
    static constexpr auto row_values = list_steps<step_count>([](int i) {
        graph::step const& s = Group::steps()[i];
        return !s.varies_along_columns && s.op != graph::code_of<graph::ops::constant> && s.varies_along_rows == PerRow;
    });

    template <bool PerRow>
    CALQUE_INLINE void compute_row_values(step_registers<Group, 1>& row, std::ptrdiff_t i) {
        unroll_steps<0, row_values<PerRow>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = row_values<PerRow>.at[k];
            constexpr graph::step s = step_v<Group, step>;
            if constexpr (s.leaf >= 0) {
                std::ptrdiff_t const offset = s.varies_along_rows ? i * a_.leaf_row_strides[s.leaf] : 0;
                using E = step_element<Group, step>;
                row.template at<step>() = simd::pack<E, 1>(static_cast<E const*>(a_.leaves[s.leaf])[offset]);
            } else if constexpr (s.index >= 0) {
                using V = simd::pack<step_element<Group, step>, 1>;
                row.template at<step>() = V(generate_step<step, V>(place_in_row<step>(i), row).r[0][0]);
            } else {
                row.template at<step>() = apply_uniform_step<step>(row);
            }
        });
    }

    step_registers<Group, 1> row_;
};

} // namespace kernels
} // namespace v0
} // namespace calque
