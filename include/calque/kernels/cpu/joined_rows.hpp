// SPDX-License-Identifier: MIT
// Rows of a few columns, several of which are joined to one that fills registers: what all rows read is repeated.
#pragma once

#include <calque/kernels/cpu/row_program.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// An array that has a value for each column: a leaf of a group, or a result.
struct joined_array {
    int number = 0;
    bool is_result = false;
    bool varies_along_rows = false; // for all that the compiler knows
    std::ptrdiff_t element_bytes = 0;
};

/// The arrays of `fused_arguments`, of any number of leaves and results.
struct argument_arrays {
    void const** leaves;
    std::ptrdiff_t* leaf_row_strides;
    void** results;
    std::ptrdiff_t* result_row_strides;

    template <int Leaves, int Results>
    explicit argument_arrays(fused_arguments<Leaves, Results>& a)
        : leaves(a.leaves), leaf_row_strides(a.leaf_row_strides), results(a.results),
          result_row_strides(a.result_row_strides) {}
};

/// How many rows are one, so that they end where a register of `lanes` does, unless memory has room for so many only: a
/// power of two, since a division takes as long as a row.
constexpr std::ptrdiff_t rows_to_join(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t wanted_columns,
                                      std::ptrdiff_t lanes, std::ptrdiff_t most) {
    std::ptrdiff_t result = lanes >> std::countr_zero(static_cast<std::size_t>(columns | lanes));
    while (2 * result * columns <= wanted_columns && 8 * result <= rows) {
        result *= 2;
    }
    while (result > most) {
        result /= 2;
    }
    return result;
}

/// The first `bytes` bytes from `from`, again and again until there are `all`.
inline void repeat_bytes(void const* from, std::size_t bytes, std::byte* to, std::size_t all) {
    std::memcpy(to, from, bytes);
    for (std::size_t made = bytes; made < all; made *= 2) {
        std::memcpy(to + made, to, std::min(made, all - made));
    }
}

/// Makes joined rows of `whole`, and of `rest` what remains behind them: both come as copies of the given arguments.
/// Returns how many rows are one; 0 if they cannot be joined. `memory`: `thresholds::bytes_of_repeated_rows`.
///
/// One function for all groups: as a template it would be a good part of what a small kernel takes to compile.
CALQUE_NOINLINE inline std::ptrdiff_t join_rows(joined_array const* arrays, int count, std::ptrdiff_t rows,
                                                std::ptrdiff_t columns, std::ptrdiff_t wanted_columns,
                                                argument_arrays whole, argument_arrays rest, std::byte* memory) {
    auto const is_repeated = [&](joined_array const& x) {
        return !x.is_result && (!x.varies_along_rows || whole.leaf_row_strides[x.number] == 0);
    };
    std::ptrdiff_t repeated_bytes = 1, widest = 1; // there may be nothing to repeat
    for (joined_array const* x = arrays; x != arrays + count; ++x) {
        repeated_bytes += is_repeated(*x) ? columns * x->element_bytes : 0;
        widest = std::max(widest, x->element_bytes);
    }
    std::ptrdiff_t const lanes = std::min<std::ptrdiff_t>(simd::width, 64 / widest); // of AVX-512
    std::ptrdiff_t const at_once =
        rows_to_join(rows, columns, wanted_columns, lanes, thresholds::bytes_of_repeated_rows / repeated_bytes);
    std::ptrdiff_t const wide = at_once * columns;
    std::ptrdiff_t const behind = (rows & -at_once) * columns;
    for (joined_array const* x = arrays; x != arrays + count && at_once != 0; ++x) {
        if (x->is_result) {
            if (whole.result_row_strides[x->number] != columns) {
                return 0;
            }
            whole.result_row_strides[x->number] = wide;
            rest.results[x->number] = static_cast<std::byte*>(rest.results[x->number]) + behind * x->element_bytes;
            continue;
        }
        std::ptrdiff_t& stride = whole.leaf_row_strides[x->number];
        if (is_repeated(*x)) {
            std::ptrdiff_t const bytes = wide * x->element_bytes;
            repeat_bytes(whole.leaves[x->number], static_cast<std::size_t>(columns * x->element_bytes), memory,
                         static_cast<std::size_t>(bytes));
            whole.leaves[x->number] = rest.leaves[x->number] = memory;
            memory += bytes;
        } else if (stride == columns) {
            stride = wide;
            rest.leaves[x->number] = static_cast<std::byte const*>(rest.leaves[x->number]) + behind * x->element_bytes;
        } else {
            return 0;
        }
    }
    return at_once;
}

} // namespace detail

/// From how many rows of how few columns on joining them is worth it.
struct join_limits {
    std::ptrdiff_t least_rows;
    std::ptrdiff_t most_columns;

    constexpr bool suit(std::ptrdiff_t rows, std::ptrdiff_t columns) const {
        return rows >= least_rows && columns != 0 && columns <= most_columns;
    }
};

/// The rows of a call, pixels say, that do the same work on each column and lie without gaps: whole groups of them as
/// rows of more columns, and those that remain.
template <class Group>
class joined_rows {
public:
    using arguments = fused_arguments<Group::leaf_count, Group::result_count>;

    /// Whether the first `steps` of a group allow it: no value that a row has once, no elements that are counted.
    static constexpr bool may_join(int steps, join_limits const& limits) {
        bool may = !(is_static(Group::columns) && Group::columns > limits.most_columns) &&
                   !(is_static(Group::rows) && Group::rows < limits.least_rows);
        for (int i = 0; i < steps; ++i) {
            graph::step const& s = Group::steps()[i];
            may = may && s.index < 0 && !detail::is_reduction(s) && (s.varies_along_columns || !s.varies_along_rows);
        }
        return may;
    }

    /// `wanted`: how many columns the joined rows should have, about: they have no more than that, or than the given
    /// ones times `simd::width`.
    CALQUE_INLINE joined_rows(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t wanted)
        : whole(a), rest(a),
          at_once(detail::join_rows(arrays.of, arrays.count, rows, columns, wanted, detail::argument_arrays(whole),
                                    detail::argument_arrays(rest), memory_)) {}

    /// Of so many rows, the joined ones, and how many remain behind them.
    CALQUE_INLINE std::ptrdiff_t rows_of_whole(std::ptrdiff_t rows) const {
        return rows >> std::countr_zero(static_cast<std::size_t>(at_once));
    }
    CALQUE_INLINE std::ptrdiff_t rows_of_rest(std::ptrdiff_t rows) const { return rows & (at_once - 1); }

    arguments whole;
    arguments rest;               // as the given ones, or as one row: what is repeated is so here too
    std::ptrdiff_t const at_once; // the rows that are one, a power of two; 0 if they cannot be joined

private:
    struct array_list {
        detail::joined_array of[Group::leaf_count + Group::result_count];
        int count = 0;

        constexpr array_list() {
            for (int i = 0; i < Group::step_count; ++i) {
                graph::step const& s = Group::steps()[i];
                auto const bytes = static_cast<std::ptrdiff_t>(size_of(s.type));
                if (s.leaf >= 0 && s.varies_along_columns) {
                    of[count++] = {s.leaf, false, s.varies_along_rows, bytes};
                }
                if (s.result >= 0 && !detail::is_reduction(s)) {
                    of[count++] = {s.result, true, true, bytes};
                }
            }
        }
    };
    static constexpr array_list arrays{};

    alignas(64) std::byte memory_[thresholds::bytes_of_repeated_rows];
};

} // namespace kernels
} // namespace v0
} // namespace calque
