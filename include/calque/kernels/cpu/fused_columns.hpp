// SPDX-License-Identifier: MIT
// The kernel of a fused group that reduces over rows: elementwise work, folded into one row of totals.
#pragma once

#include <calque/kernels/cpu/column_walk.hpp>
#include <calque/kernels/cpu/flat_rows.hpp>
#include <calque/kernels/cpu/joined_rows.hpp>
#include <calque/kernels/cpu/rolled.hpp>
#include <calque/kernels/cpu/thresholds.hpp>
#include <calque/kernels/cpu/unroll_steps.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Folds the rows of a group's space: the last step is the reduction, and the group's one result its row of totals.
///
/// A few rows are folded in registers while one walks along the columns, and then into the totals, which stay in L1, or
/// in registers too if one block has all columns; so memory is read as it lies. Many rows are halved, again and
/// again, so that rounding errors grow with the logarithm of their number.
///
/// `Broadcasts`: leaves that vary along the columns for all that the compiler knows may have one element a row
/// (`fused_arguments::broadcast_leaves`). There is one way to walk then.
template <class Group, bool Broadcasts = false>
class fused_columns : column_walk<Group, Broadcasts> {
    using walk = column_walk<Group, Broadcasts>;
    using walk::cost;
    using walk::is_light;
    using walk::matrices;
    using walk::may_be_in_lines;

public:
    using arguments = fused_arguments<Group::leaf_count, Group::result_count>;

    static constexpr int step_count = Group::step_count;

    static CALQUE_INLINE void run(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if constexpr (may_be_flat) {
            if (are_flat(a, rows, columns)) {
                fold_flat(a, rows, columns);
                return;
            }
        }
        if constexpr (may_be_joined) {
            if (limits.suit(rows, columns) && columns % block != 0 && fold_joined(a, rows, columns)) {
                return;
            }
        }
        fold(a, rows, columns);
    }

private:
    static constexpr int reduction = step_count - 1;
    static constexpr int reduced = step_v<Group, reduction>.inputs[0];
    static constexpr std::ptrdiff_t rows_at_once = thresholds::rows_at_once;

    using Op = step_op<Group, reduction>;
    using T = step_element<Group, reduction>;
    static constexpr T identity = Op::template identity<T>;

    static constexpr int groups_at_once = walk::groups_at_once;
    static constexpr std::ptrdiff_t block = groups_at_once * simd::width;

    /// Whether `U` groups of columns may be folded by two rows at once, for which there have to be registers.
    template <int U>
    static constexpr bool folds_two = keeps_nan<Op, T> && 3 * simd::pack<T, U>::registers <= simd::register_count;
    /// Whether results depend on the order of rows.
    static constexpr bool rounds = Op::rounds && !std::is_integral_v<T>;
    static constexpr bool is_sum =
        cost() + graph::info(Group::steps()[reduction].op).cost <= thresholds::cost_of_a_sum;
    static constexpr int groups_of_one_piece =
        simd::register_count == 32 ? thresholds::groups_of_one_piece : thresholds::groups_of_one_piece_of_16_registers;
    /// The groups of columns beside which one may walk down all rows.
    static constexpr int groups_in_registers = !is_light()                  ? 1
                                               : simd::register_count != 32 ? groups_at_once
                                               : is_sum || !rounds ? thresholds::most_groups_in_registers
                                                                   : thresholds::groups_in_registers;

    static constexpr std::ptrdiff_t in_registers = groups_in_registers * simd::width;
    /// The columns of a walk down all rows that leaves a few to another.
    static constexpr std::ptrdiff_t most_at_once = in_registers + thresholds::groups_left_to_a_walk * simd::width;

    static constexpr auto rows_for_all = list_steps<reduction>([](int i) {
        graph::step const& s = Group::steps()[i];
        return s.leaf >= 0 && !s.varies_along_rows && s.varies_along_columns;
    });
    static constexpr auto counted_or_once_a_row = list_steps<reduction>([](int i) {
        graph::step const& s = Group::steps()[i];
        return s.index >= 0 || (s.varies_along_rows && !s.varies_along_columns);
    });

    static constexpr int streams_at_once =
        simd::register_count == 32 ? thresholds::streams_at_once : thresholds::streams_at_once_of_16_registers;
    /// Whether rows may be streams: little work on a few matrices, with nothing that a row has once.
    static constexpr bool may_be_streams =
        is_light() && matrices.size > 0 && matrices.size <= streams_at_once && counted_or_once_a_row.size == 0;

    /// The bytes of so many rows of the first matrix.
    static constexpr std::ptrdiff_t bytes_of(std::ptrdiff_t rows, std::ptrdiff_t columns) {
        return rows * columns * static_cast<std::ptrdiff_t>(size_of(Group::steps()[matrices.at[0]].type));
    }

    /// Whether rows are streams: many columns, of more than L2 has, or of more than L1 where a few more loads cost
    /// little or rows crowd a set of it.
    static CALQUE_INLINE bool are_streams(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if (walk::gains_from_streams_apart(rows, columns) || walk::are_crowded(a, rows, columns)) {
            return true;
        }
        if (columns <
            (may_be_in_lines ? thresholds::least_columns_of_streams_in_lines : thresholds::least_columns_of_streams)) {
            return false;
        }
        bool const are_cheap = may_be_in_lines || (simd::register_count == 32 && Group::leaf_count == matrices.size);
        return rows * columns >= thresholds::prefetched_elements ||
               (are_cheap && bytes_of(rows, columns) >= thresholds::least_bytes_of_streams);
    }

    /// Whether such rows are folded by longer panels.
    static constexpr bool are_long_streams(std::ptrdiff_t rows, std::ptrdiff_t columns) {
        return rows < thresholds::most_rows_of_long_panels &&
               bytes_of(1, columns) >= thresholds::least_bytes_of_long_streams &&
               bytes_of(rows, columns) >= thresholds::least_bytes_of_long_panels;
    }

    // (A light fold of some dozen columns walks down them as fast as it loads.)
    static constexpr std::ptrdiff_t most_light_columns =
        simd::register_count == 32 ? thresholds::most_columns_of_light_joined_folds
        : has_wide_values(Group::steps(), step_count)
            ? thresholds::most_columns_of_wide_joined_folds_of_16_registers * simd::width / 8
            : thresholds::most_columns_of_light_joined_folds_of_16_registers * simd::width / 8;
    static constexpr join_limits limits =
        is_light() ? join_limits{thresholds::least_rows_of_light_joined_folds, most_light_columns}
                   : join_limits{thresholds::least_rows_of_joined_folds, thresholds::most_columns_of_joined_folds};
    static constexpr bool may_be_joined = !Broadcasts && joined_rows<Group>::may_join(reduction, limits, false);

    static constexpr thresholds::flat_folds const& most_flat =
        simd::waits_for_lines_that_are_crossed ? thresholds::most_flat_folds_across_lines : thresholds::most_flat_folds;
    static constexpr std::ptrdiff_t most_flat_columns = sizeof(T) > sizeof(float) ? most_flat.wide_columns
                                                                                  : most_flat.columns;
    static constexpr join_limits flat_limits{thresholds::least_rows_of_flat_folds, most_flat_columns};
    /// Whether rows may be seen as one row of aligned registers: little work on matrices, and on rows that all have.
    static constexpr bool may_be_flat = is_light() && matrices.size > 0 && counted_or_once_a_row.size == 0 &&
                                        flat_limits.may_suit(Group::rows, Group::columns);
    static constexpr thresholds::flat_costs flat_costs =
        simd::register_count == 32 ? (keeps_nan<Op, T> ? thresholds::flat_extremes : thresholds::flat_sums)
        : keeps_nan<Op, T>         ? thresholds::flat_extremes_of_16_registers
                                   : thresholds::flat_sums_of_16_registers;

    /// The most and the least groups of a round that are folded at once.
    static constexpr int most_flat_groups =
        keeps_nan<Op, T> && !folds_two<groups_in_registers> ? groups_in_registers / 2 : groups_in_registers;
    static constexpr int least_flat_groups = (most_flat_groups + 1) / 2;

    /// The most elements of rows that a cache has, as if none were narrower than 4 bytes: a round's totals have to fit,
    /// too.
    static constexpr std::ptrdiff_t most_flat_elements = [] {
        std::size_t bytes = 0;
        for (int k = 0; k < matrices.size; ++k) {
            bytes += std::max<std::size_t>(size_of(Group::steps()[matrices.at[k]].type), 4);
        }
        std::ptrdiff_t const of_rounds = thresholds::most_rounds_of_flat_folds * most_flat_columns * simd::width / 2;
        return matrices.size == 0 ? 0 : std::min(most_flat.bytes / static_cast<std::ptrdiff_t>(bytes), of_rounds);
    }();

    /// Room for the rows that all have, each with what stands before the first group and is behind the last line.
    static constexpr std::ptrdiff_t bytes_around_repeated_row = 256;
    static constexpr std::ptrdiff_t bytes_of_repeated_rows =
        rows_for_all.size == 0 ? 1
                               : thresholds::most_repeated_groups_of_flat_folds * simd::width * 8 +
                                     rows_for_all.size * bytes_around_repeated_row;

    /// Whether rows are seen so: they have no gaps, are in a cache near by, and gain from it.
    static CALQUE_INLINE bool are_flat(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        std::ptrdiff_t const elements = rows * columns;
        bool may = flat_limits.suit(rows, columns) && elements >= thresholds::least_elements_of_flat_folds &&
                   elements <= most_flat_elements;
        unroll_steps<0, matrices.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            may &= a.leaf_row_strides[Group::steps()[matrices.at[k]].leaf] == columns;
        });
        return may && gains_from_flat_rows(rows, columns, most_flat_groups, rows_for_all.size, flat_costs);
    }

    using walk::walk;

    CALQUE_INLINE T* totals() const { return static_cast<T*>(this->a_.results[0]); }

    static void fold(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if constexpr (in_registers > block) {
            if (columns >= in_registers && columns <= most_at_once) {
                fold_halves<walks>(a, 0, rows, in_registers);
                if (columns > in_registers) {
                    fold_columns(move_to_columns(a, in_registers), rows, columns - in_registers);
                }
                return;
            }
        }
        fold_columns(a, rows, columns);
    }

    static void fold_columns(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if constexpr (may_be_streams) {
            if (are_streams(a, rows, columns)) {
                if (are_long_streams(rows, columns)) {
                    constexpr std::ptrdiff_t halved = streams::columns_of(thresholds::bytes_of_a_long_panel);
                    constexpr std::ptrdiff_t whole = streams::columns_of(thresholds::bytes_of_a_longest_panel);
                    fold_panels<streams, halved>(a, rows, columns, rows < streams::rows_halved ? whole : halved);
                } else {
                    fold_panels<streams>(a, rows, columns);
                }
                return;
            }
        }
        if (rows < pieces::rows_halved) {
            pieces::fold(a, 0, rows, columns);
        } else {
            fold_panels<pieces>(a, rows, columns);
        }
    }

    /// Folds by panels of columns whose totals stay in L1, or at least in L2, which `Way` folds. `Halved`: how many of
    /// them there may be if rows are halved.
    template <class Way, std::ptrdiff_t Halved = Way::panel_columns>
    static void fold_panels(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns,
                            std::ptrdiff_t panel_columns = Halved) {
        arguments panel = a;
        for (; columns > panel_columns; columns -= panel_columns) {
            fold_halves<Way, Halved>(panel, 0, rows, panel_columns);
            panel = move_to_columns(panel, panel_columns);
        }
        fold_halves<Way, Halved>(panel, 0, rows, columns);
    }

    static arguments move_to_columns(arguments a, std::ptrdiff_t j) {
        move_to_column<Group>(a, j); // but not the totals, which have no rows
        a.results[0] = static_cast<T*>(a.results[0]) + j;
        return a;
    }

    /// Folds rows [first, end) of at most a panel.
    template <class Way, std::ptrdiff_t Halved = Way::panel_columns>
    static CALQUE_NOINLINE void fold_halves(arguments const& a, std::ptrdiff_t first, std::ptrdiff_t end,
                                            std::ptrdiff_t columns) {
        if (end - first < Way::rows_halved) {
            Way::fold(a, first, end, columns);
            return;
        }
        std::ptrdiff_t const middle = first + (end - first) / (2 * rows_at_once) * rows_at_once;
        alignas(64) T totals_behind[Halved];
        arguments behind = a;
        behind.results[0] = totals_behind;
        fold_halves<Way, Halved>(a, first, middle, columns);
        fold_halves<Way, Halved>(behind, middle, end, columns);
        fold_totals(static_cast<T*>(a.results[0]), static_cast<T*>(a.results[0]), totals_behind, 1, columns);
    }

    /// All rows of as many columns as registers hold.
    struct walks {
        static constexpr std::ptrdiff_t panel_columns = in_registers;
        static constexpr std::ptrdiff_t rows_halved = thresholds::rows_halved;

        static CALQUE_NOINLINE void fold(arguments const& a, std::ptrdiff_t first, std::ptrdiff_t end,
                                         std::ptrdiff_t /*columns*/) {
            fused_columns kernel(a);
            kernel.template fold_block<false, groups_in_registers>(first, end, 0, 0, true);
        }
    };

    /// A few rows in registers, block by block, any number of columns.
    struct pieces {
        static constexpr std::ptrdiff_t panel_columns = thresholds::columns_of_a_panel;
        static constexpr std::ptrdiff_t rows_halved = thresholds::rows_halved;

        static CALQUE_NOINLINE void fold(arguments const& a, std::ptrdiff_t first, std::ptrdiff_t end,
                                         std::ptrdiff_t columns) {
            fused_columns kernel(a);
            std::ptrdiff_t const step = columns <= in_registers ? rows_halved : rows_at_once;
            std::ptrdiff_t i = first;
            do { // also if there are no rows, whose totals are the identity
                std::ptrdiff_t const end_of_step = i + step < end ? i + step : end;
                for_each_block(columns, [&](auto masked, auto groups, std::ptrdiff_t j, int n) CALQUE_INLINE_LAMBDA {
                    kernel.template fold_block<masked, groups>(i, end_of_step, j, n, i == first);
                });
                i += step;
            } while (i < end);
        }
    };

    /// A few rows beside each other along all columns: streams that processors see ahead, where memory is far.
    struct streams {
        static constexpr std::ptrdiff_t columns_of(std::ptrdiff_t bytes) {
            return bytes / static_cast<std::ptrdiff_t>(sizeof(T));
        }
        static constexpr std::ptrdiff_t panel_columns = columns_of(thresholds::bytes_of_a_panel_of_streams);
        static constexpr std::ptrdiff_t rows_halved = thresholds::rows_of_streams_halved;
        static constexpr int at_once = streams_at_once / matrices.size; // rows

        static CALQUE_NOINLINE void fold(arguments const& a, std::ptrdiff_t first, std::ptrdiff_t end,
                                         std::ptrdiff_t columns) {
            // The first rows begin the totals: at most as many as are folded at once, so that no others are left.
            std::ptrdiff_t const begin = end - (end - first - 1) / at_once * at_once;
            pieces::fold(a, first, begin, columns);
            fused_columns kernel(a);
            std::ptrdiff_t const whole = columns / simd::width * simd::width;
            [[maybe_unused]] bool const is_in_lines = may_be_in_lines && whole > 0 && walk::crosses_lines(a);
            typename walk::stream_turns const turns(end - begin, at_once,
                                                    walk::may_be_apart && columns < panel_columns);
            for (std::ptrdiff_t turn = 0, i = begin; turn < turns.count; ++turn, i += turns.step) {
                std::ptrdiff_t j = 0;
                if constexpr (may_be_in_lines) {
                    if (is_in_lines) {
                        fold_rows_at_once<false, 1>(kernel, i, turns.apart, 0);
                        j = walk::template for_each_block_in_lines<block>(
                            columns, [&](std::ptrdiff_t begin_of_block) CALQUE_INLINE_LAMBDA {
                                fold_rows_at_once<true, block / simd::width>(kernel, i, turns.apart, begin_of_block);
                            });
                    }
                }
                for (; j < whole; j += simd::width) {
                    fold_rows_at_once<false, 1>(kernel, i, turns.apart, j);
                }
            }
            if (whole < columns && begin < end) {
                kernel.template fold_block<true, 1>(begin, end, whole, static_cast<int>(columns - whole), false);
            }
        }

    private:
        static constexpr std::ptrdiff_t block = walk::groups_at_once * simd::lanes<T>;

        template <bool InLines, int U>
        static CALQUE_INLINE void fold_rows_at_once(fused_columns& kernel, std::ptrdiff_t i, std::ptrdiff_t apart,
                                                    std::ptrdiff_t j) {
            auto const element = [&](int r) CALQUE_INLINE_LAMBDA {
                return kernel.template element<false, U, InLines>(i + r * apart, j, 0);
            };
            using pack = simd::pack<T, U>;
            T* const place = kernel.totals() + j;
            if constexpr (folds_two<U> && at_once % 2 == 0) { // unrolled: as a loop, `fold_rows`, 1.5 to 1.8
                pack total = pack::load(place);
                simd::unroll<at_once / 2>([&](int r) CALQUE_INLINE_LAMBDA {
                    total = combine_two<Op>(element(2 * r), element(2 * r + 1), total);
                });
                total.store(place);
            } else {
                pack folded = element(0);
                simd::unroll<at_once - 1>([&](int r)
                                              CALQUE_INLINE_LAMBDA { folded = Op::combine(element(r + 1), folded); });
                Op::combine(folded, pack::load(place)).store(place);
            }
        }
    };

    /// Folds rows of other totals with the first ones.
    static CALQUE_NOINLINE void fold_totals(T* totals, T const* first, T const* others, std::ptrdiff_t rows,
                                            std::ptrdiff_t columns) {
        std::ptrdiff_t j = 0;
        for (; j + simd::width <= columns; j += simd::width) {
            fold_group_of_totals<false>(totals + j, first + j, others + j, rows, columns, simd::width);
        }
        if (j < columns) {
            int const n = static_cast<int>(columns - j);
            fold_group_of_totals<true>(totals + j, first + j, others + j, rows, columns, n);
        }
    }

    template <bool Masked>
    static CALQUE_INLINE void fold_group_of_totals(T* totals, T const* first, T const* others, std::ptrdiff_t rows,
                                                   std::ptrdiff_t columns, int n) {
        auto total = load<Masked, 1>(first, n);
        simd::pack<T, 1> other(identity);
        std::ptrdiff_t i = 0;
        for (; i + 2 <= rows; i += 2, others += 2 * columns) { // two of which neither waits for the other
            total = Op::combine(load<Masked, 1>(others, n), total);
            other = Op::combine(load<Masked, 1>(others + columns, n), other);
        }
        if (i < rows) {
            total = Op::combine(load<Masked, 1>(others, n), total);
        }
        detail::store<Masked>(totals, Op::combine(other, total), n);
    }

    /// Folds rows that are one row of aligned registers: a few groups of all rounds, and so on, and then the joined
    /// rows of a round. The totals get the same elements in the same order wherever the rows begin.
    static CALQUE_NOINLINE void fold_flat(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        constexpr graph::step first_matrix = step_v<Group, matrices.at[0]>;
        auto const* const begin = static_cast<type_of<first_matrix.type> const*>(a.leaves[first_matrix.leaf]);
        flat_rows const flat(rows, columns, simd::count_unaligned(begin), most_flat_groups);
        std::ptrdiff_t const size = flat.groups * simd::width;
        // Before the totals of the first group stand those of the last one, which has what comes before the first.
        alignas(64) T totals_with_last[(most_flat_columns + 1) * simd::width];
        T* const totals = totals_with_last + simd::width;
        alignas(64) std::byte memory[bytes_of_repeated_rows];
        fused_columns kernel(as_rounds(a, flat, columns, memory));
        simd::pack<T, most_flat_groups>(identity).store(totals + size - most_flat_groups * simd::width);
        if (int const n = static_cast<int>(flat.before); n != 0) {
            simd::rotate_right(kernel.first_elements(0, 0, n), simd::width - n).store(totals + size - simd::width);
        }
        std::ptrdiff_t end_of_rest = 0;
        for (std::ptrdiff_t group = 0; group < flat.groups;) {
            std::ptrdiff_t const left = flat.groups - group;
            bool const is_for_two = left > most_flat_groups && left < 2 * most_flat_groups;
            std::ptrdiff_t const at_once = is_for_two ? left / 2 : std::min<std::ptrdiff_t>(left, most_flat_groups);
            std::ptrdiff_t const j = group * simd::width;
            group += at_once;
            bool const is_in_rest = flat.rest >= group * simd::width;
            end_of_rest = is_in_rest ? group * simd::width : end_of_rest;
            simd::unroll<most_flat_groups - least_flat_groups + 1>([&](auto u) CALQUE_INLINE_LAMBDA {
                constexpr int U = least_flat_groups + u;
                if (at_once == U) {
                    using pack = simd::pack<T, U>;
                    pack const total = group == flat.groups ? pack::load(totals + j) : pack(identity);
                    std::ptrdiff_t const rounds_of_part = flat.rounds + is_in_rest;
                    kernel.template fold_rows<false, folds_two<U>>(total, 0, rounds_of_part, flat.before + j, 0)
                        .store(totals + j);
                }
            });
        }
        for (std::ptrdiff_t j = end_of_rest; j < flat.rest; j += simd::width) {
            int const n = static_cast<int>(std::min<std::ptrdiff_t>(flat.rest - j, simd::width));
            auto const x = kernel.first_elements(flat.rounds, flat.before + j, n);
            Op::combine(x, simd::pack<T, 1>::load(totals + j)).store(totals + j);
        }
        simd::pack<T, 1>::load(totals + size - simd::width).store(totals_with_last);
        T const* const first = totals - flat.before;
        fold_totals(static_cast<T*>(a.results[0]), first, first + columns, flat.joined - 1, columns);
    }

    /// The rounds as rows. Rows that all have are repeated: they are aligned as matrices are.
    static arguments as_rounds(arguments a, flat_rows const& flat, std::ptrdiff_t columns,
                               [[maybe_unused]] std::byte* memory) {
        std::ptrdiff_t const size = flat.groups * simd::width;
        unroll_steps<0, matrices.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            a.leaf_row_strides[Group::steps()[matrices.at[k]].leaf] = size;
        });
        unroll_steps<0, rows_for_all.size>([&](auto k) CALQUE_INLINE_LAMBDA {
            constexpr graph::step row = step_v<Group, rows_for_all.at[k]>;
            constexpr auto bytes = static_cast<std::ptrdiff_t>(size_of(row.type));
            std::byte* const to = memory + (-flat.before * bytes & 63);
            detail::repeat_bytes(a.leaves[row.leaf], static_cast<std::size_t>(columns * bytes), to,
                                 static_cast<std::size_t>((size + flat.before) * bytes));
            a.leaves[row.leaf] = to;
            memory += size * bytes / 64 * 64 + bytes_around_repeated_row;
        });
        return a;
    }

    /// The first `n` elements of a round from column `j` on.
    CALQUE_INLINE simd::pack<T, 1> first_elements(std::ptrdiff_t round, std::ptrdiff_t j, int n) {
        return simd::keep_first(element<true, 1>(round, j, n), simd::pack<T, 1>(identity), n);
    }

    /// Folds joined rows, and then the totals of each. False if the rows cannot be joined.
    static CALQUE_NOINLINE bool fold_joined(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        constexpr std::ptrdiff_t wanted = (is_light() ? 1 : thresholds::blocks_of_joined_folds) * block;
        joined_rows<Group> joined(a, rows, columns, {wanted});
        if (joined.at_once == 0) {
            return false;
        }
        alignas(64) T totals[std::max(wanted, limits.most_columns * simd::width)];
        joined.whole.results[0] = totals;
        fold(joined.rest, joined.rows_of_rest(rows, columns), columns);
        fold(joined.whole, joined.rows_of_whole(rows, columns), joined.at_once * columns);
        fold_totals(static_cast<T*>(a.results[0]), static_cast<T*>(a.results[0]), totals, joined.at_once, columns);
        return true;
    }

    /// Calls `f(masked, groups, j, n)` for packs of columns that cover a row. Of a masked one the last group, of many
    /// groups the last two, may have lanes beyond the `n` columns that are left.
    template <class F>
    static CALQUE_INLINE void for_each_block(std::ptrdiff_t columns, F&& f) {
        std::ptrdiff_t j = 0;
        bool const is_wide = in_registers <= block || columns > in_registers;
        for (; is_wide && j + block <= columns; j += block) {
            f(std::false_type{}, std::integral_constant<int, groups_at_once>{}, j, 0);
        }
        if constexpr (is_light()) {
            int const left = static_cast<int>(columns - j);
            int const groups = (left + simd::width - 1) / simd::width;
            simd::unroll<groups_in_registers>([&](auto g) CALQUE_INLINE_LAMBDA {
                constexpr int size = g + 1;
                // Of the many, every second number of groups is enough.
                if constexpr (size <= groups_at_once || size % 2 == 0) {
                    if (groups == size || (size > groups_at_once && groups == size - 1)) {
                        f(std::true_type{}, std::integral_constant<int, size>{}, j, left);
                    }
                }
            });
        } else {
            for (; j < columns; j += simd::width) {
                std::ptrdiff_t const left = columns - j;
                f(std::true_type{}, std::integral_constant<int, 1>{}, j,
                  static_cast<int>(left < simd::width ? left : simd::width));
            }
        }
    }

    template <bool Masked, int U, class E>
    static CALQUE_INLINE simd::pack<E, U> load(E const* p, int n) {
        return walk::template load<Masked, U>(p, n);
    }

    /// What rounds is folded in pieces of a few rows, so that errors do not grow with all of them; few groups, too,
    /// which would wait for each other. `begins`: the totals are not written yet.
    template <bool Masked, int U>
    CALQUE_INLINE void fold_block(std::ptrdiff_t first, std::ptrdiff_t end, std::ptrdiff_t j, int n, bool begins) {
        constexpr bool by_two = folds_two<U> && simd::register_count != 32;
        T* const place = totals() + j;
        simd::pack<T, U> total = begins ? simd::pack<T, U>(identity) : load<Masked, U>(place, n);
        if constexpr (!rounds && U >= groups_of_one_piece) {
            total = fold_rows<Masked, by_two>(total, first, end, j, n);
        } else {
            for (std::ptrdiff_t i = first; i < end; i += rows_at_once) {
                std::ptrdiff_t const end_of_piece = i + rows_at_once < end ? i + rows_at_once : end;
                simd::pack<T, U> const none(identity);
                total = Op::combine(fold_rows<Masked, by_two>(none, i, end_of_piece, j, n), total);
                if constexpr (U > groups_at_once && !is_sum) { // the work needs the registers
                    detail::store<Masked>(place, total, n);
                    total = load<Masked, U>(place, n);
                }
            }
        }
        detail::store<Masked>(place, total, n);
    }

    /// `ByTwo`: two rows at once.
    template <bool Masked, bool ByTwo, int U>
    CALQUE_INLINE simd::pack<T, U> fold_rows(simd::pack<T, U> folded, std::ptrdiff_t first, std::ptrdiff_t end,
                                             std::ptrdiff_t j, int n) {
        std::ptrdiff_t i = first;
        if constexpr (ByTwo) {
            for (; i + 2 <= end; i += 2) {
                folded = combine_two<Op>(element<Masked, U>(i, j, n), element<Masked, U>(i + 1, j, n), folded);
            }
        }
        for (; i < end; ++i) {
            folded = Op::combine(element<Masked, U>(i, j, n), folded);
        }
        return folded;
    }

    /// What is folded, of a block of a row.
    template <bool Masked, int U, bool InLines = false>
    CALQUE_INLINE simd::pack<T, U> element(std::ptrdiff_t i, std::ptrdiff_t j, int n) {
        step_registers<Group, 1> row;
        step_registers<Group, U> column;
        this->template compute_columns<Masked, InLines>(column, row, i, j, n);
        return simd::pack<T, U>(column_input<reduced>(column, row));
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
