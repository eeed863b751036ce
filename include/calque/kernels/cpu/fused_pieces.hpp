// SPDX-License-Identifier: MIT
// The kernel of one row that lies in pieces: a reduction of all of a view with gaps, or of a matrix and what its rows
// or columns share. Each phase walks through all pieces, and folds them together.
#pragma once

#include <calque/kernels/cpu/rolled.hpp>
#include <calque/kernels/cpu/row_block.hpp>
#include <calque/kernels/cpu/row_search.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <utility>

namespace calque {
inline namespace v0 {
namespace kernels {

/// How the pieces of a row follow each other: `count` of them by the row strides of `fused_arguments`, as often as the
/// axes around these say, of which the last one is the innermost.
struct row_pieces {
    std::ptrdiff_t count = 1;
    int rank = 0;                                   // of the axes around
    extent_t const* extents = nullptr;              // of these
    std::ptrdiff_t const* leaf_strides = nullptr;   // along these: `leaf_stride`
    std::ptrdiff_t const* result_strides = nullptr; // the same
    int strides_each = 0;                           // from one leaf to the next, or from one result

    std::ptrdiff_t leaf_stride(int leaf, int axis) const { return leaf_strides[leaf * strides_each + axis]; }
    std::ptrdiff_t result_stride(int result, int axis) const { return result_strides[result * strides_each + axis]; }

    std::ptrdiff_t runs() const {
        std::ptrdiff_t n = 1;
        for (int axis = 0; axis < rank; ++axis) {
            n *= extents[axis];
        }
        return n;
    }
};

/// Whether there is a kernel of a group for rows in pieces: none that looks for a column.
template <class Group>
constexpr bool has_kernel_of_pieces() {
    bool searches = false;
    for (int phase = 0; phase < row_program<Group>::plan.count; ++phase) {
        searches |= find_search(Group::steps(), row_program<Group>::plan, phase).is_search();
    }
    return !searches;
}

/// `MayBroadcast`: of some leaves a piece may have one element (`fused_arguments::broadcast_leaves`).
template <class Group, bool MayBroadcast>
class fused_pieces : row_block<Group, MayBroadcast ? broadcast::rows : broadcast::none, 1, false> {
    using base = row_block<Group, MayBroadcast ? broadcast::rows : broadcast::none, 1, false>;
    using base::columns_;
    using base::finish_row;
    using base::lanes_of;
    using base::plan;
    using base::scratch_bytes_of_a_row;
    using typename base::kept_lanes;
    using program = row_program<Group>;
    template <int Phase>
    using phase = typename base::template phase<Phase>;

public:
    using arguments = typename base::arguments;

    /// Whether pieces of so many columns gain by running several at a time, in some walk along them.
    static constexpr bool are_in_lockstep(std::ptrdiff_t columns) {
        constexpr std::ptrdiff_t least = simd::register_count != 32 ? simd::width
                                         : plan.count == 1          ? thresholds::least_columns_of_masked_pieces
                                                           : thresholds::least_columns_of_masked_pieces_in_walks;
        return [&]<int... Phase>(std::integer_sequence<int, Phase...>) {
            return columns >= least && columns <= most_columns_in_lockstep && (has_lockstep<Phase> || ...);
        }(typename program::phases{});
    }

    /// Bytes of scratch for so many pieces of so many columns.
    static constexpr std::size_t scratch_bytes(std::ptrdiff_t pieces, std::ptrdiff_t columns) {
        return scratch_bytes_of_a_row(columns) * static_cast<std::size_t>(pieces);
    }

    /// Runs a row whose pieces have so many columns.
    static CALQUE_NOINLINE void run(arguments const& a, row_pieces const& pieces, std::ptrdiff_t columns) {
        arguments const row = a; // for all that a compiler knows, a store could change what it has by reference
        fused_pieces kernel(pieces, columns);
        kernel.base::template compute_row_values<0, false>(row);
        kernel.run_phases(row, typename program::phases{});
        kernel.finish_row(row);
    }

private:
    CALQUE_INLINE fused_pieces(row_pieces const& pieces, std::ptrdiff_t columns) : base(columns), pieces_(pieces) {}

    template <int... Phase>
    CALQUE_INLINE void run_phases(arguments const& row, std::integer_sequence<int, Phase...>) {
        (run_phase<Phase>(row), ...);
    }

    template <int Phase>
    CALQUE_INLINE void run_phase(arguments const& row) {
        constexpr int U = phase<Phase>::groups;
        constexpr std::ptrdiff_t block = U * simd::width;
        base::template compute_row_values<Phase, true>(row);
        step_registers<Group, U> wide;
        step_registers<Group, 1> narrow;
        program::template start_reductions<Phase>(wide);
        program::template start_reductions<Phase>(narrow);
        bool const are_short = columns_ <= most_columns_in_lockstep;
        auto const run_several = [&](arguments& first, std::ptrdiff_t count) CALQUE_INLINE_LAMBDA {
            std::ptrdiff_t i = 0;
            if constexpr (has_lockstep<Phase>) {
                for (; are_short && i + U <= count; i += U) {
                    run_pieces<Phase>(wide, first);
                    move_pieces(first, U);
                }
            }
            return i;
        };
        for_each_piece(row, run_several, [&](arguments const& piece) CALQUE_INLINE_LAMBDA {
            base::template load_broadcast_elements<Phase>(piece);
            std::ptrdiff_t j = 0;
            CALQUE_ROLLED
            for (; columns_ - j >= block; j += block) {
                base::template run_block<Phase, false>(wide, piece, j, 0);
            }
            if constexpr (phase<Phase>::is_light && U != 1) {
                CALQUE_ROLLED
                for (; columns_ - j >= simd::width; j += simd::width) {
                    base::template run_block<Phase, false>(narrow, piece, j, 0);
                }
            }
            CALQUE_ROLLED
            for (; j < columns_; j += simd::width) {
                base::template run_block<Phase, true>(narrow, piece, j, lanes_of(columns_ - j, simd::width));
            }
        });
        add_wide<Phase>(wide, narrow);
        base::template finish_reductions<Phase>(narrow);
    }

    static constexpr std::ptrdiff_t most_columns_in_lockstep =
        has_wide_values(Group::steps(), Group::step_count) && simd::register_count != 32
            ? thresholds::most_columns_of_wide_pieces_in_lockstep
            : thresholds::most_columns_of_pieces_in_lockstep;

    /// Whether a phase runs short pieces several at a time: light work that stores nothing.
    template <int Phase>
    static constexpr bool has_lockstep = [] {
        bool may = phase<Phase>::is_light && phase<Phase>::groups > 1 && program::template stores<Phase>.size == 0;
        auto const& work = program::template work<Phase>;
        for (int w = 0; w < work.size; ++w) {
            may = may && Group::steps()[work.at[w]].index < 0 && !plan.loads(work.at[w], Phase);
        }
        return may;
    }();

    /// The first of several pieces.
    struct pieces_in_lockstep : arguments {
        static constexpr bool moves(graph::step const& leaf) { return leaf.varies_along_columns; }
    };

    /// Runs as many pieces as there are groups, a group of lanes of each at a time.
    template <int Phase, int U>
    CALQUE_INLINE void run_pieces(step_registers<Group, U>& totals, arguments const& first) {
        base::template run_in_lockstep<Phase>(totals, pieces_in_lockstep{first}, 0, false);
    }

    /// Folds what blocks have folded into what single groups have.
    template <int Phase, int U>
    static CALQUE_INLINE void add_wide(step_registers<Group, U>& wide, step_registers<Group, 1>& narrow) {
        step_registers<Group, 1> folded;
        program::template fold_reductions<Phase>(wide, folded);
        program::template for_each_reduction<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
            auto& total = narrow.template at<step>();
            total = combine_with_totals<step_op<Group, step>>(folded.template at<step>(), total);
        });
    }

    /// Calls `several(piece, count)` for the pieces of each run, which moves behind those that it runs and returns how
    /// many these are, and `one(piece)` for each of the others.
    CALQUE_INLINE void for_each_piece(arguments const& row, auto several, auto one) const {
        arguments piece = row;
        for (std::ptrdiff_t run = 0, runs = pieces_.runs(); run < runs; ++run) {
            std::byte* const scratch = piece.scratch;
            piece = row;
            piece.scratch = scratch;
            move_to_run(piece, run);
            for (std::ptrdiff_t i = several(piece, pieces_.count); i < pieces_.count; ++i) {
                one(piece);
                move_pieces(piece, 1);
            }
        }
    }

    /// Moves to a piece that is so many behind.
    CALQUE_INLINE void move_pieces(arguments& piece, std::ptrdiff_t count) const {
        move(
            piece, count, [&](int leaf) { return piece.leaf_row_strides[leaf]; },
            [&](int result) { return piece.result_row_strides[result]; });
        piece.scratch += scratch_bytes_of_a_row(columns_) * static_cast<std::size_t>(count);
    }

    /// From the first run of pieces that are evenly spaced to another.
    CALQUE_INLINE void move_to_run(arguments& piece, std::ptrdiff_t run) const {
        for (int axis = pieces_.rank - 1; axis >= 0; --axis) {
            move(
                piece, run % pieces_.extents[axis], [&](int leaf) { return pieces_.leaf_stride(leaf, axis); },
                [&](int result) { return pieces_.result_stride(result, axis); });
            run /= pieces_.extents[axis];
        }
    }

    /// Moves by so many strides what has something for each piece.
    static CALQUE_INLINE void move(arguments& piece, std::ptrdiff_t times, auto leaf_stride, auto result_stride) {
        unroll_steps<0, Group::step_count>([&](auto step) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = Group::steps()[step];
            using T = type_of<s.type>;
            if constexpr (s.leaf >= 0 && s.varies_along_columns) {
                piece.leaves[s.leaf] =
                    advanced(static_cast<T const*>(piece.leaves[s.leaf]), times * leaf_stride(s.leaf));
            }
            if constexpr (s.index >= 0 && s.varies_along_columns) {
                piece.indices[s.index] += times * leaf_stride(s.index);
            }
            if constexpr (s.result >= 0 && Group::is_full(s.result)) {
                piece.results[s.result] =
                    advanced(static_cast<T*>(piece.results[s.result]), times * result_stride(s.result));
            }
        });
    }

    row_pieces const& pieces_;
};

} // namespace kernels
} // namespace v0
} // namespace calque
