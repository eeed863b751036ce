// SPDX-License-Identifier: MIT
// Elementwise work on many rows of a few columns: what all rows read is repeated, so that a dozen of them are one row.
#pragma once

#include <calque/kernels/cpu/fused_rows.hpp>

#include <numeric>

namespace calque {
inline namespace v0 {
namespace kernels {

/// A pixel, say, times a color: each row would fill a part of a register. Arrays that have all rows are read as they
/// lie, without gaps.
template <class Group>
class repeated_rows {
    static constexpr auto const& plan = row_program<Group>::plan;
    static constexpr bool is_light = plan.cost[0] <= thresholds::light_phase;
    static constexpr std::ptrdiff_t least_rows =
        is_light ? thresholds::least_light_rows_repeated : thresholds::least_rows_repeated;

public:
    using arguments = fused_arguments<Group::leaf_count, Group::result_count>;

    /// Whether some call of the group can run so: nothing has one value a row, or counts elements.
    static constexpr bool may_run() {
        bool may = Group::leaf_count > 1 &&
                   !(is_static(Group::columns) && Group::columns > thresholds::most_columns_repeated) &&
                   !(is_static(Group::rows) && Group::rows < least_rows);
        for (int i = 0; i < Group::step_count; ++i) {
            graph::step const& s = Group::steps()[i];
            may = may && s.index < 0 && !detail::is_reduction(s) && (s.varies_along_columns || !s.varies_along_rows);
        }
        return may;
    }

    /// Runs all rows if they are many, of few columns, and lie so. False if not.
    static CALQUE_INLINE bool run(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        return rows >= least_rows && columns <= thresholds::most_columns_repeated && run_repeated(a, rows, columns);
    }

private:
    static constexpr std::ptrdiff_t most_bytes = thresholds::bytes_of_repeated_rows;

    /// Whether all rows read what a step loads.
    template <graph::step Step>
    static CALQUE_INLINE bool is_repeated(arguments const& a) {
        return !Step.varies_along_rows || a.leaf_row_strides[Step.leaf] == 0;
    }

    /// The bytes that a row reads of what all rows do; negative if something lies with gaps.
    static CALQUE_INLINE std::ptrdiff_t bytes_to_repeat(arguments const& a, std::ptrdiff_t columns) {
        std::ptrdiff_t bytes = 0;
        bool has_gaps = false;
        unroll_steps<0, Group::step_count>([&](auto step) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = Group::steps()[step];
            if constexpr (s.leaf >= 0 && s.varies_along_columns) {
                bool const is_one_row = is_repeated<s>(a);
                bytes += is_one_row ? columns * static_cast<std::ptrdiff_t>(size_of(s.type)) : 0;
                has_gaps |= !is_one_row && a.leaf_row_strides[s.leaf] != columns;
            }
            if constexpr (s.result >= 0) {
                has_gaps |= a.result_row_strides[s.result] != columns;
            }
        });
        return has_gaps ? -1 : bytes;
    }

    /// The rows that are one, so that they end where a register does.
    static constexpr std::ptrdiff_t rows_at_once(std::ptrdiff_t rows, std::ptrdiff_t columns) {
        std::ptrdiff_t const least = simd::width / std::gcd(columns, std::ptrdiff_t{simd::width});
        std::ptrdiff_t const wanted = std::min(thresholds::columns_of_repeated_rows / columns, rows / 4);
        return least * std::max<std::ptrdiff_t>(1, wanted / least);
    }

    static CALQUE_NOINLINE bool run_repeated(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        std::ptrdiff_t const bytes = columns == 0 ? 0 : bytes_to_repeat(a, columns);
        if (bytes <= 0 || rows_at_once(rows, columns) * bytes > most_bytes) {
            return false;
        }
        std::ptrdiff_t const at_once = rows_at_once(rows, columns);
        std::ptrdiff_t const wide = at_once * columns;
        std::ptrdiff_t const whole = rows / at_once;
        alignas(64) std::byte memory[most_bytes];
        std::byte* place = memory;
        arguments wide_rows = a;
        arguments rest = a; // of the rows, as one
        unroll_steps<0, Group::step_count>([&](auto step) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = Group::steps()[step];
            using T = type_of<s.type>;
            if constexpr (s.leaf >= 0 && s.varies_along_columns) {
                if (is_repeated<s>(a)) {
                    T* const repeated = reinterpret_cast<T*>(place);
                    place += static_cast<std::size_t>(wide) * sizeof(T);
                    repeat(static_cast<T const*>(a.leaves[s.leaf]), columns, repeated, wide);
                    wide_rows.leaves[s.leaf] = rest.leaves[s.leaf] = repeated;
                } else {
                    wide_rows.leaf_row_strides[s.leaf] = wide;
                    rest.leaves[s.leaf] = static_cast<T const*>(a.leaves[s.leaf]) + whole * wide;
                }
            }
            if constexpr (s.result >= 0) {
                wide_rows.result_row_strides[s.result] = wide;
                rest.results[s.result] = static_cast<T*>(a.results[s.result]) + whole * wide;
            }
        });
        fused_rows<Group>::run(wide_rows, whole, wide);
        fused_rows<Group>::run(rest, 1, (rows - whole * at_once) * columns);
        return true;
    }

    /// The first `n` elements from `from`, again and again until there are `all`.
    template <class T>
    static void repeat(T const* from, std::ptrdiff_t n, T* to, std::ptrdiff_t all) {
        std::copy_n(from, n, to);
        for (std::ptrdiff_t made = n; made < all; made *= 2) {
            std::copy_n(to, std::min(made, all - made), to + made);
        }
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
