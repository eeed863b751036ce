// SPDX-License-Identifier: MIT
// A few columns of a row, one pack of them: what a row program loads, computes, folds and stores there, and what a row
// has once.
#pragma once

#include <calque/kernels/cpu/loaded_once.hpp>
#include <calque/kernels/cpu/past_caches.hpp>
#include <calque/kernels/cpu/rolled.hpp>
#include <calque/kernels/cpu/row_phase.hpp>
#include <calque/kernels/cpu/row_places.hpp>
#include <calque/kernels/cpu/row_program.hpp>
#include <calque/kernels/cpu/row_reciprocals.hpp>
#include <calque/kernels/cpu/spaced.hpp>

#include <type_traits>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Whether leaves that vary along the columns for all that the compiler knows may have one element a row, or one for
/// each of the rows that are joined to one. (Which do is in `fused_arguments::broadcast_leaves`.)
enum class broadcast : std::uint8_t { none, rows, joined_rows };

/// The blocks of a row program with lanes along the columns, whichever way a kernel walks along them. `Apart`: how many
/// elements the columns of those leaves stand apart of which `spaced_arguments` say so. `PastCaches`: results are
/// stored past the caches, where that is possible. `RowsAtOnce`: of how many rows, which then run in lockstep, what each
/// has once is in registers.
template <class Group, broadcast Broadcast, int Apart, bool PastCaches, int RowsAtOnce = 1>
class row_block {
protected:
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

protected:
    using row_registers = step_registers<Group, RowsAtOnce>;
    using reciprocals = row_reciprocals<Group, RowsAtOnce>;

    /// An odd number of lines, so that rows of scratch do not crowd a few sets of the cache.
    static constexpr std::size_t row_bytes(std::ptrdiff_t columns) {
        constexpr std::size_t element =
            has_wide_values(Group::steps(), Group::step_count) ? sizeof(double) : sizeof(float);
        constexpr std::size_t groups_at_the_end = RowsAtOnce > 1 ? 1 : 4; // which may be stored whole
        std::size_t const elements = static_cast<std::size_t>(columns) + groups_at_the_end * simd::width;
        return ((elements * element + 63) / 64 | 1) * 64;
    }

    static constexpr std::size_t scratch_bytes_of_a_row(std::ptrdiff_t columns) {
        return static_cast<std::size_t>(plan.scratch_rows) * row_bytes(columns);
    }

    CALQUE_INLINE explicit row_block(std::ptrdiff_t columns) : columns_(columns) {}

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

    /// Whether a phase stores to an array that begins at an address.
    template <int Phase>
    static CALQUE_INLINE bool is_written(arguments const& row, void const* array) {
        bool is = false;
        unroll_steps<0, program::template stores<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int result = step_v<Group, program::template stores<Phase>.at[k]>.result;
            if constexpr (result >= 0) { // else it is stored in scratch
                is |= row.results[result] == array;
            }
        });
        return is;
    }

    /// Whether a phase stores to an array that it reads.
    template <int Phase>
    static CALQUE_INLINE bool rewrites(arguments const& row) {
        bool does = false;
        unroll_steps<0, program::template reads<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template reads<Phase>.at[k];
            if constexpr (step_v<Group, step>.leaf >= 0) {
                does |= is_written<Phase>(row, array_of<step>(row));
            }
        });
        return does;
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

    /// Which lanes of a block reductions take: `first_of_last_group` if all groups before it are whole,
    /// `first_of_groups` of rows in lockstep.
    enum class kept_lanes { all, first, first_of_last_group, first_of_groups, none };

    /// The columns from `j` on, one pack of them; `n` of them if masked. Accumulators are in the slots of reductions,
    /// which take the first `n` lanes if they do not keep all.
    template <int Phase, bool Masked, kept_lanes Kept = Masked ? kept_lanes::first : kept_lanes::all, int U, class Row>
    CALQUE_INLINE void run_block(step_registers<Group, U>& accumulators, Row const& row, std::ptrdiff_t j, int n) {
        step_registers<Group, U> column;
        compute_block<Phase, Masked, Kept>(column, accumulators, row, j, n);
        store_block<Phase, Masked>(column, row, j, n);
    }

    /// The first of several rows, of which a block in lockstep has a group each.
    struct rows_in_lockstep : arguments {
        static constexpr bool moves(graph::step const& leaf) { return leaf.varies_along_rows; }
    };

    /// The columns from `j` on of what runs in lockstep, register by register. The last one is masked or, where
    /// elements of it may be stored again (`may_overlap`), ends with the row.
    template <int Phase, int U, class Rows>
    CALQUE_INLINE void run_in_lockstep(step_registers<Group, U>& totals, Rows const& rows, std::ptrdiff_t j,
                                       [[maybe_unused]] bool may_overlap) {
        std::ptrdiff_t const whole = columns_ & -simd::width;
        CALQUE_ROLLED
        for (; j < whole; j += simd::width) {
            run_block<Phase, false>(totals, rows, j, 0);
        }
        if (whole < columns_) {
            if constexpr (!plan.reduces[Phase]) {
                if (may_overlap) {
                    run_block<Phase, false>(totals, rows, columns_ - simd::width, 0);
                    return;
                }
            }
            int const left = static_cast<int>(columns_ - whole);
            run_block<Phase, true, kept_lanes::first_of_groups>(totals, rows, whole, left);
        }
    }

    /// The values of these columns, and what reductions take of them.
    template <int Phase, bool Masked, kept_lanes Kept, int U, class Row>
    CALQUE_INLINE void compute_block(step_registers<Group, U>& column, step_registers<Group, U>& accumulators,
                                     Row const& row, std::ptrdiff_t j, int n) {
        constexpr bool is_sorted = U == 4 && phase<Phase>::is_deep;
        unroll_models<program::template work<Phase, is_sorted>>([&](auto model, int step) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = step_v<Group, model>;
            if constexpr (detail::is_reduction(s)) {
                int const input = Group::steps()[step].inputs[0];
                if constexpr (constexpr int counted = counted_step(Group::steps(), model); counted >= 0) {
                    accumulate<model, Kept>(
                        accumulators, column_input<counted>(column, row_, Group::steps()[input].inputs[0]), step, n);
                } else {
                    accumulate<model, Kept>(accumulators, column_input<s.inputs[0]>(column, row_, input), step, n);
                }
            } else if constexpr (plan.loads(model, Phase)) {
                auto const* const from = scratch<model>(row, step) + j;
                if constexpr (RowsAtOnce > 1) {
                    column.template at<model>(step) = detail::load_rows<false, U>(from, scratch_stride<model>(), n);
                } else {
                    column.template at<model>(step) = detail::load<Masked, U>(from, n);
                }
            } else if constexpr (s.leaf >= 0) {
                int const leaf = Group::steps()[step].leaf;
                auto const* const from = static_cast<step_element<Group, model> const*>(row.leaves[leaf]) + j;
                if constexpr (requires { Row::moves(s); }) {
                    column.template at<model>(step) = load_in_lockstep<model, Masked, U>(row, leaf, from, j, n);
                } else if constexpr (is_spaced && has_spaced_loads(s.type)) {
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
            } else if constexpr (RowsAtOnce > 1 && reciprocals::divides(model)) {
                column.template at<model>(step) = reciprocals_.template quotient<model>(column, row_, step);
            } else {
                constexpr lanes_are lanes = RowsAtOnce > 1 ? lanes_are::rows : lanes_are::columns;
                column.template at<model>(step) = apply_step<model, lanes>(column, row_, step);
            }
        });
    }

    /// Stores them, after all loads of the block, so that a result may take the place of an argument.
    template <int Phase, bool Masked, int U, class Row>
    CALQUE_INLINE void store_block(step_registers<Group, U>& column, Row const& row, std::ptrdiff_t j, int n) {
        unroll_steps<0, program::template stores<Phase>.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr int step = program::template stores<Phase>.at[k];
            if constexpr (plan.scratch[step] >= 0 && plan.computes(step, Phase)) {
                auto* const to = scratch<step>(row, step) + j;
                if constexpr (RowsAtOnce > 1) { // whole registers: there is room behind a row
                    detail::store_rows<false>(to, scratch_stride<step>(), column.template at<step>(), n);
                } else {
                    detail::store<Masked>(to, column.template at<step>(), n);
                }
            }
            if constexpr (plan.stored_in[step] == Phase) {
                constexpr int r = step_v<Group, step>.result;
                auto* const to = static_cast<step_element<Group, step>*>(row.results[r]);
                if constexpr (requires { Row::moves(step_v<Group, step>); }) {
                    detail::store_rows<Masked>(to + j, row.result_row_strides[r], column_input<step>(column, row_), n);
                } else if constexpr (PastCaches && !Masked && stores_past_caches<Group, Phase>) {
                    column_input<step>(column, row_).stream(to + j);
                } else {
                    detail::store<Masked>(to + j, column_input<step>(column, row_), n);
                }
            }
        });
    }

    /// Loads a group of each of several rows.
    template <int Model, bool Masked, int U, class Rows, class T>
    static CALQUE_INLINE simd::pack<T, U> load_in_lockstep(Rows const& rows, int leaf, T const* from, std::ptrdiff_t j,
                                                           int n) {
        constexpr bool moves = Rows::moves(step_v<Group, Model>);
        if (Broadcasts && rows.has_one_element(leaf)) {
            return detail::load_element_of_rows<U>(from - j, moves ? rows.leaf_row_strides[leaf] : 0);
        } else if constexpr (moves) {
            return detail::load_rows<Masked, U>(from, rows.leaf_row_strides[leaf], n);
        } else {
            return widen<U>(detail::load<Masked, 1>(from, n));
        }
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

    /// How far apart the scratch of rows in lockstep is, in elements of a step.
    template <int I>
    CALQUE_INLINE std::ptrdiff_t scratch_stride() const {
        return static_cast<std::ptrdiff_t>(scratch_bytes_of_a_row(columns_) / sizeof(step_element<Group, I>));
    }

    // ---- reductions

    template <int Model, kept_lanes Kept, class T, int U>
    static CALQUE_INLINE void accumulate(step_registers<Group, U>& accumulators, simd::pack<T, U> x, int step, int n) {
        if constexpr (Kept == kept_lanes::none) {
            return;
        }
        constexpr auto identity = static_cast<T>(program::template identity<Model>);
        if constexpr (Kept == kept_lanes::first) {
            x = simd::keep_first(x, simd::pack<T, U>(identity), n);
        } else if constexpr (Kept == kept_lanes::first_of_groups) {
            simd::pack<T, 1> const none(identity);
            x = simd::generate_groups<T, U>(
                [&](auto k) CALQUE_INLINE_LAMBDA { return simd::keep_first(simd::groups_of<k, 1>(x), none, n); });
        } else if constexpr (Kept == kept_lanes::first_of_last_group) {
            simd::pack<T, 1> const none(identity);
            simd::put_last_group(x, simd::keep_first(simd::groups_of<U - 1, 1>(x), none, n - (U - 1) * simd::width));
        }
        // The total comes second: of a maximum it is the first operand that is looked at for NaN, which need not wait.
        auto& total = accumulators.template at<Model>(step);
        if constexpr (counted_step(Group::steps(), Model) >= 0) {
            total = simd::count_into(x, total);
        } else if constexpr (RowsAtOnce > 1) { // each keeps its own NaN
            total = step_op<Group, Model>::combine(x, total);
        } else {
            total = combine_with_totals<step_op<Group, Model>>(x, total);
        }
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
    row_registers row_;
    reciprocals reciprocals_; // of rows in lockstep
};

} // namespace kernels
} // namespace v0
} // namespace calque
