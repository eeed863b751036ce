// SPDX-License-Identifier: MIT
// Rows of a few columns, several of which are joined to one that fills registers: what all rows read is repeated.
#pragma once

#include <calque/kernels/cpu/row_program.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <algorithm>
#include <numeric>

namespace calque {
inline namespace v0 {
namespace kernels {

/// The rows of a call, pixels say, that do the same work on each column and lie without gaps: whole groups of them as
/// rows of more columns, and those that remain.
template <class Group>
class joined_rows {
    static constexpr std::ptrdiff_t most_bytes = thresholds::bytes_of_repeated_rows;

public:
    using arguments = fused_arguments<Group::leaf_count, Group::result_count>;

    /// Whether the first `steps` of a group allow it: no value that a row has once, no elements that are counted.
    /// Fewer rows, or more columns, are not worth it.
    static constexpr bool may_join(int steps, std::ptrdiff_t least_rows, std::ptrdiff_t most_columns) {
        bool may = !(is_static(Group::columns) && Group::columns > most_columns) &&
                   !(is_static(Group::rows) && Group::rows < least_rows);
        for (int i = 0; i < steps; ++i) {
            graph::step const& s = Group::steps()[i];
            may = may && s.index < 0 && !detail::is_reduction(s) && (s.varies_along_columns || !s.varies_along_rows);
        }
        return may;
    }

    /// `wanted`: how many columns the joined rows should have, about: they have no more than that, or than the given
    /// ones times `simd::width`.
    CALQUE_INLINE joined_rows(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t wanted)
        : whole(a), rest(a) {
        std::ptrdiff_t const bytes = bytes_to_repeat(a, columns);
        std::ptrdiff_t const least = simd::width / std::gcd(columns, std::ptrdiff_t{simd::width});
        std::ptrdiff_t const groups = std::min(wanted / columns, rows / 4) / least;
        std::ptrdiff_t const rows_of_a_group = least * std::max<std::ptrdiff_t>(1, groups);
        if (bytes < 0 || rows_of_a_group * bytes > most_bytes) {
            return;
        }
        at_once = rows_of_a_group;
        join(a, rows, columns);
    }

    /// The rows that are one; 0 if they cannot be joined.
    std::ptrdiff_t at_once = 0;
    std::ptrdiff_t whole_rows = 0;    // joined ones
    std::ptrdiff_t whole_columns = 0; // of each
    std::ptrdiff_t rows_left = 0;     // of the given ones
    arguments whole;
    arguments rest; // as the given ones, or as one row: what is repeated is so here too

private:
    /// Whether all rows read what a step loads.
    template <graph::step Step>
    static CALQUE_INLINE bool is_repeated(arguments const& a) {
        return !Step.varies_along_rows || a.leaf_row_strides[Step.leaf] == 0;
    }

    /// The bytes that a row reads of what all rows do; negative if some array has gaps.
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
            if constexpr (s.result >= 0 && !detail::is_reduction(s)) {
                has_gaps |= a.result_row_strides[s.result] != columns;
            }
        });
        return has_gaps ? -1 : bytes;
    }

    CALQUE_INLINE void join(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        whole_rows = rows / at_once;
        whole_columns = at_once * columns;
        rows_left = rows % at_once;
        std::byte* place = memory_;
        unroll_steps<0, Group::step_count>([&](auto step) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = Group::steps()[step];
            using T = type_of<s.type>;
            if constexpr (s.leaf >= 0 && s.varies_along_columns) {
                if (is_repeated<s>(a)) {
                    T* const repeated = reinterpret_cast<T*>(place);
                    place += static_cast<std::size_t>(whole_columns) * sizeof(T);
                    repeat(static_cast<T const*>(a.leaves[s.leaf]), columns, repeated, whole_columns);
                    whole.leaves[s.leaf] = rest.leaves[s.leaf] = repeated;
                } else {
                    whole.leaf_row_strides[s.leaf] = whole_columns;
                    rest.leaves[s.leaf] = static_cast<T const*>(a.leaves[s.leaf]) + whole_rows * whole_columns;
                }
            }
            if constexpr (s.result >= 0 && !detail::is_reduction(s)) {
                whole.result_row_strides[s.result] = whole_columns;
                rest.results[s.result] = static_cast<T*>(a.results[s.result]) + whole_rows * whole_columns;
            }
        });
    }

    /// The first `n` elements from `from`, again and again until there are `all`.
    template <class T>
    static void repeat(T const* from, std::ptrdiff_t n, T* to, std::ptrdiff_t all) {
        std::copy_n(from, n, to);
        for (std::ptrdiff_t made = n; made < all; made *= 2) {
            std::copy_n(to, std::min(made, all - made), to + made);
        }
    }

    alignas(64) std::byte memory_[most_bytes];
};

} // namespace kernels
} // namespace v0
} // namespace calque
