// SPDX-License-Identifier: MIT
// The kernel of a group over rows in its variants, of which only those are instantiated that a call can ask for.
#pragma once

#include <calque/kernels/cpu/folded_rows.hpp>
#include <calque/kernels/cpu/fused_rows.hpp>
#include <calque/kernels/cpu/fused_short_rows.hpp>
#include <calque/kernels/cpu/joined_rows.hpp>
#include <calque/kernels/cpu/past_caches.hpp>
#include <calque/kernels/cpu/row_variant.hpp>
#include <calque/kernels/cpu/separate_rows.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// `Group`: as for `row_program`, with the constants `rows` and `columns`, extents that may be dynamic.
/// `MayBroadcast`: some call may have leaves with one element a row that the compiler knows nothing of. `Spacings`: how
/// far the columns of leaves may stand apart in some call, as bits.
template <class Group, bool MayBroadcast = false, unsigned Spacings = 0>
class row_kernel {
    static constexpr row_traits traits{Group::steps(), row_program<Group>::plan};
    static constexpr extent_t rows_known = Group::rows;
    static constexpr extent_t columns_known = Group::columns;

    static constexpr bool may_be_short =
        traits.may_be_short && !(is_static(columns_known) && traits.are_long(columns_known));
    /// Over columns of one register, few rows lose little to idle lanes: not worth a third kernel.
    static constexpr bool must_be_short = may_be_short && !traits.is_one_walk && is_static(columns_known) &&
                                          columns_known <= simd::width && !is_static(rows_known);

    // The kernels that some call can ask for: for each way that rows are divided, or for the one that the compiler
    // knows.
    static constexpr bool is_known = is_static(rows_known) && is_static(columns_known);
    using folded = folded_rows<Group>;
    /// Whether rows are, but where a call has too few of them, which then run by themselves.
    static constexpr bool are_folded = is_known ? folded::suits(rows_known, columns_known)
                                                : is_static(columns_known) && folded::suits(simd::width, columns_known);
    static constexpr row_split split_known =
        traits.split(is_known ? rows_known : 0, is_known ? columns_known : 0, true);
    /// The fewer columns, the sooner a few rows have a lane each.
    static constexpr bool are_too_few =
        is_static(rows_known) && rows_known <= simd::width && !traits.split(rows_known, 1, true).has_narrow();
    static constexpr bool has_wide =
        !are_folded &&
        (is_known ? split_known.has_wide() : may_be_short && !(is_static(rows_known) && rows_known <= simd::width));
    static constexpr bool has_narrow =
        !are_folded && (is_known ? split_known.has_narrow() : may_be_short && !traits.is_one_walk && !are_too_few);
    static constexpr bool has_long = are_folded || (is_known ? split_known.has_long(rows_known) : !must_be_short);
    static constexpr bool has_folded = are_folded || (folded::exists && !is_static(columns_known) &&
                                                      !(is_static(rows_known) && rows_known < simd::width));

    static constexpr row_split split(std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if (!has_wide && !has_narrow) {
            return {};
        }
        if (is_known && rows != rows_known) { // loops around take the others: one kernel that is there does these
            return {has_wide ? rows : 0, has_wide || has_narrow ? rows : 0};
        }
        return traits.split(rows, columns, !must_be_short);
    }

    using wide = fused_short_rows<Group, thresholds::groups_of_short_rows>;
    using narrow = fused_short_rows<Group, 1>;
    using long_rows = fused_rows<Group>;
    using separate = separate_rows<Group, MayBroadcast>;
    using rows_past_caches = fused_rows<Group, broadcast::none, 1, true>;

    /// The loop over rows is a good part of a call of little elementwise work on a few elements, and most matrices are
    /// one row in memory.
    static constexpr bool has_kernel_of_one_row =
        !is_static(rows_known) && traits.reductions == 0 &&
        Group::step_count <= thresholds::steps_with_kernel_of_one_row;

    static constexpr bool is_light = row_program<Group>::plan.cost[0] <= thresholds::light_phase;
    static constexpr join_limits limits{!is_light        ? thresholds::least_rows_joined
                                        : traits.is_wide ? thresholds::least_light_wide_rows_joined
                                                         : thresholds::least_light_rows_joined,
                                        thresholds::most_columns_joined};
    static constexpr bool may_be_joined = Group::leaf_count > 1 &&
                                          joined_rows<Group>::may_join(Group::step_count, limits, false);

    /// Whether the results of some call may be stored past the caches.
    static constexpr bool may_pass_caches =
        has_long && gains_past_caches<Group>() &&
        !(is_known && rows_known * columns_known < thresholds::least_elements_past_caches);

    using contiguous_arguments = fused_arguments<Group::leaf_count, Group::result_count>;

    /// The same of rows that have something once, which the compiler knows or, where it may be so, only the call.
    static constexpr bool may_have_places = (MayBroadcast || find_elements_a_row<Group>() != 0) &&
                                            Group::leaf_count > 1 &&
                                            Group::step_count <= thresholds::steps_with_places &&
                                            joined_rows<Group>::may_join(Group::step_count, limits, true);

public:
    using arguments = std::conditional_t<Spacings != 0, spaced_arguments<Group::leaf_count, Group::result_count>,
                                         contiguous_arguments>;

    static constexpr bool needs_scratch = has_wide || has_narrow || row_program<Group>::plan.scratch_rows != 0;

    /// Whether rows that no cache holds are stored past the caches: none that are short, unless they are joined.
    static constexpr bool pass_caches([[maybe_unused]] std::ptrdiff_t rows, [[maybe_unused]] std::ptrdiff_t columns) {
        constexpr std::ptrdiff_t least = traits.reductions != 0 ? thresholds::least_reduced_columns_past_caches
                                                                : thresholds::least_columns_past_caches;
        return may_pass_caches && (columns >= least || (may_be_joined && limits.suit(rows, columns)));
    }

    static constexpr row_variant choose(std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if (has_folded && folded::suits(rows, columns)) {
            return row_variant::folded_together;
        }
        return split(rows, columns).narrow_end > 0 ? row_variant::lanes_along_rows : row_variant::lanes_along_columns;
    }

    static constexpr std::size_t scratch_bytes(row_variant variant, std::ptrdiff_t columns) {
        std::size_t bytes = long_rows::scratch_bytes(columns);
        if (variant == row_variant::folded_together) {
            bytes = std::max(bytes, folded::scratch_bytes(columns));
        }
        if (variant == row_variant::lanes_along_rows) {
            if constexpr (has_wide) {
                bytes = std::max(bytes, wide::scratch_bytes(columns));
            } else if constexpr (has_narrow) {
                bytes = std::max(bytes, narrow::scratch_bytes(columns));
            }
        }
        return bytes;
    }

    template <bool OneRow>
    static CALQUE_INLINE void run([[maybe_unused]] row_variant variant, arguments const& a, std::ptrdiff_t rows,
                                  std::ptrdiff_t columns) {
        if constexpr (Spacings != 0) {
            if (a.spaced.any()) {
                run_spaced(a, rows, columns);
                return;
            }
        }
        if (run_as_they_lie<OneRow, true>(variant, a, rows, columns)) {
            return;
        }
        if constexpr (MayBroadcast) {
            if (a.broadcast_leaves != 0) [[unlikely]] {
                if constexpr (may_have_places) {
                    if (suit_places(rows, columns) && run_joined<true>(a, rows, columns)) {
                        return;
                    }
                }
                if (run_as_they_lie<OneRow>(variant, a, rows, columns)) {
                    return;
                }
                fused_rows<Group, broadcast::rows>::run(a, rows, columns);
                return;
            }
        }
        if constexpr (may_pass_caches) {
            if (variant == row_variant::past_caches && run_past_caches<OneRow>(a, rows, columns)) [[unlikely]] {
                return;
            }
        }
        if constexpr (!OneRow && has_folded) {
            if (variant == row_variant::folded_together) {
                folded::run(a, rows, columns);
                if (std::ptrdiff_t const done = folded::count(rows); done != rows) {
                    long_rows::run(a, rows, columns, done);
                }
                return;
            }
        }
        if constexpr (has_wide || has_narrow) {
            if (variant == row_variant::lanes_along_rows) {
                run_split(a, rows, columns);
                return;
            }
        }
        if constexpr (!OneRow && may_be_joined) {
            if (limits.suit(rows, columns) && run_joined<false>(a, rows, columns)) {
                return;
            }
        } else if constexpr (!OneRow && may_have_places) {
            if (suit_places(rows, columns) && run_joined<true>(a, rows, columns)) {
                return;
            }
        }
        if (run_as_they_lie<OneRow>(variant, a, rows, columns)) {
            return;
        }
        if constexpr (!OneRow && has_kernel_of_one_row) {
            if (rows == 1) {
                long_rows::template run<true>(a, rows, columns);
                return;
            }
        }
        if constexpr (has_long) {
            long_rows::template run<OneRow>(a, rows, columns);
        }
    }

private:
    /// Runs short rows as they lie, of `OnlyGaps` those that cannot be joined as they have gaps between them. False if
    /// they are no such rows.
    template <bool OneRow, bool OnlyGaps = false>
    static CALQUE_INLINE bool run_as_they_lie([[maybe_unused]] row_variant variant, [[maybe_unused]] arguments const& a,
                                              [[maybe_unused]] std::ptrdiff_t rows,
                                              [[maybe_unused]] std::ptrdiff_t columns) {
        if constexpr (!OneRow && separate::exists) {
            bool const are_short = variant == row_variant::lanes_along_columns && separate::suits(a, rows, columns);
            if (are_short && (!OnlyGaps || separate::have_gaps(a, columns))) {
                separate::run(a, rows, columns);
                return true;
            }
        }
        return false;
    }

    /// Whether such rows should be joined where they have something once. (Those that fill registers gain little.)
    static constexpr bool suit_places(std::ptrdiff_t rows, std::ptrdiff_t columns) {
        constexpr bool has_16_registers = simd::register_count != 32;
        constexpr std::ptrdiff_t most_of_light_work = has_16_registers
                                                          ? thresholds::most_columns_with_places_of_16_registers
                                                          : thresholds::most_columns_with_places;
        constexpr std::ptrdiff_t most_of_costly_work =
            has_16_registers ? thresholds::most_columns_with_places_of_costly_work_of_16_registers
                             : thresholds::most_columns_with_places_of_costly_work;
        constexpr std::ptrdiff_t most = is_light ? most_of_light_work : most_of_costly_work;
        constexpr auto const& of_a_column =
            has_16_registers ? thresholds::rows_of_a_column_of_16_registers : thresholds::rows_of_a_column_with_places;
        constexpr std::ptrdiff_t rows_of_a_column = !is_light        ? of_a_column.of_costly_work
                                                    : traits.is_wide ? of_a_column.of_light_wide_work
                                                                     : of_a_column.of_light_work;
        constexpr std::ptrdiff_t whole = !has_16_registers ? 1
                                         : is_light        ? thresholds::whole_groups_with_places_of_16_registers
                                                           : 0;
        constexpr std::ptrdiff_t most_whole = (traits.is_wide ? whole / 2 : whole) * simd::width;
        bool const fill_registers = columns % simd::width == 0 && columns > most_whole;
        return limits.suit(rows, columns) && columns <= most && !fill_registers && rows >= rows_of_a_column * columns;
    }

    template <int Apart = most_apart>
    static CALQUE_INLINE void run_spaced(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if constexpr (Apart > 1) {
            if constexpr ((Spacings >> Apart & 1) != 0) {
                if (a.spaced.apart == Apart) {
                    fused_rows<Group, broadcast::none, Apart>::run(a, rows, columns);
                    return;
                }
            }
            run_spaced<Apart - 1>(a, rows, columns);
        }
    }

    /// False if results cannot be stored past the caches, or rows are too short for that.
    template <bool OneRow>
    static CALQUE_NOINLINE bool run_past_caches(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if (!suit_stores_past_caches<Group>(a)) {
            return false;
        }
        bool is_done = false;
        if constexpr (!OneRow && may_be_joined) {
            is_done = limits.suit(rows, columns) && run_joined<false, rows_past_caches>(a, rows, columns);
        }
        if (!is_done && (OneRow || columns >= thresholds::least_columns_past_caches)) {
            rows_past_caches::template run<OneRow>(a, rows, columns);
            is_done = true;
        }
        simd::finish_streams();
        return is_done;
    }

    /// `HasPlaces`: rows may have something once. False if they cannot be joined.
    template <bool HasPlaces, class Rows = long_rows>
    static CALQUE_NOINLINE bool run_joined(contiguous_arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        std::ptrdiff_t const before = HasPlaces ? 0 : long_rows::columns_before_aligned(a, rows * columns);
        bool const must_fill_registers = is_light && !HasPlaces; // else loads and stores wait for lines that they cross
        joined_rows<Group> joined(a, rows, columns, {thresholds::columns_of_joined_rows, before, must_fill_registers});
        if (joined.at_once == 0) {
            return false;
        }
        auto const run = [&](contiguous_arguments const& of, std::ptrdiff_t count, std::ptrdiff_t rows_in_one,
                             std::ptrdiff_t columns_before = 0) {
            if constexpr (HasPlaces) {
                using kernel = fused_rows<joined_group<Group>, broadcast::joined_rows>;
                kernel::run({of, rows_in_one, joined.places().words()}, count, rows_in_one * columns);
            } else {
                Rows::run(of, count, rows_in_one * columns - columns_before);
            }
        };
        if constexpr (!HasPlaces) {
            if (joined.front != 0) {
                long_rows::run(joined.whole, 1, joined.front);
                move_to_column<Group>(joined.whole, joined.front);
                move_to_column<Group>(joined.rest, joined.front);
            }
        }
        run(joined.whole, joined.rows_of_whole(rows, columns), joined.at_once);
        if (std::ptrdiff_t const rest = joined.rows_of_rest(rows, columns); rest != 0) {
            run(joined.rest, 1, rest, joined.front);
        }
        return true;
    }

    static CALQUE_INLINE void run_split(contiguous_arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        row_split const s = split(rows, columns);
        if constexpr (has_wide) {
            if (s.has_wide()) {
                wide::run(a, s.wide_end, columns, 0);
            }
        }
        if constexpr (has_narrow) {
            if (s.has_narrow()) {
                narrow::run(a, s.narrow_end, columns, s.wide_end);
            }
        }
        if constexpr (has_long) {
            if (s.has_long(rows)) {
                long_rows::run(a, rows, columns, s.narrow_end);
            }
        }
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
