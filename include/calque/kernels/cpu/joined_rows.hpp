// SPDX-License-Identifier: MIT
// Rows of a few columns, several of which are joined to one that fills registers: what all rows read is repeated, and
// what each has once is in the lanes of a register.
#pragma once

#include <calque/kernels/cpu/copy_runs.hpp>
#include <calque/kernels/cpu/pack_lines.hpp>
#include <calque/kernels/cpu/row_places.hpp>
#include <calque/kernels/cpu/row_program.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <algorithm>
#include <bit>

namespace calque {
inline namespace v0 {
namespace kernels {

/// `Group`, whose leaves of one element a row vary along the columns, too.
template <class Group>
class joined_group : public Group {
    struct step_array {
        graph::step of[Group::step_count];

        constexpr step_array() {
            for (int i = 0; i < Group::step_count; ++i) {
                graph::step& s = of[i] = Group::steps()[i];
                s.varies_along_columns |= s.leaf >= 0 && s.varies_along_rows;
                for (int k = 0; k < s.input_count; ++k) {
                    s.varies_along_columns |= of[s.inputs[k]].varies_along_columns;
                }
            }
        }
    };
    static constexpr step_array all{};

public:
    static constexpr graph::step const* steps() { return all.of; }
};

/// As bits, the leaves of a group that have one element a row, as the compiler knows.
template <class Group>
constexpr std::uint64_t find_elements_a_row() {
    std::uint64_t leaves = 0;
    for (int i = 0; i < Group::step_count; ++i) {
        graph::step const& s = Group::steps()[i];
        bool const is_element = s.leaf >= 0 && s.varies_along_rows && !s.varies_along_columns;
        leaves |= is_element ? std::uint64_t{1} << s.leaf : 0;
    }
    return leaves;
}

/// Whether the first `steps` of a group do the same work for each column: no elements that are counted, and no value
/// that a row has once, but with `may_have_elements` for leaves.
template <class Group>
constexpr bool has_same_work_for_columns(int steps, bool may_have_elements) {
    bool has = true;
    for (int i = 0; i < steps; ++i) {
        graph::step const& s = Group::steps()[i];
        bool const is_once_a_row = s.varies_along_rows && !s.varies_along_columns;
        bool const is_element = may_have_elements && s.leaf >= 0 && s.result < 0;
        has = has && s.index < 0 && !detail::is_reduction(s) && (!is_once_a_row || is_element);
    }
    return has;
}

/// What joined rows should be like.
struct joined_form {
    std::ptrdiff_t columns;    // of one, about: no more than that, or than `simd::width` rows have
    std::ptrdiff_t before = 0; // how many elements should run before them
    /// Whether rows are one only if they end where a register does: else each is by itself, what is repeated at lines.
    bool must_fill_registers = false;
};

namespace detail {

/// A leaf of a group, or a result.
struct joined_array {
    int number = 0;
    bool is_result = false;
    bool varies_along_rows = false; // for all that the compiler knows
    bool varies_along_columns = false;
    std::ptrdiff_t element_bytes = 0;
};

/// The arrays of `fused_arguments`, of any number of leaves and results.
struct argument_arrays {
    void const** leaves;
    std::ptrdiff_t* leaf_row_strides;
    void** results;
    std::ptrdiff_t* result_row_strides;
    std::uint64_t& broadcast_leaves;

    template <int Leaves, int Results>
    explicit argument_arrays(fused_arguments<Leaves, Results>& a)
        : leaves(a.leaves), leaf_row_strides(a.leaf_row_strides), results(a.results),
          result_row_strides(a.result_row_strides), broadcast_leaves(a.broadcast_leaves) {}
};

/// How many rows are one, so that they end where a register of `lanes` does, unless memory has room for so many only: a
/// power of two, since a division takes as long as a row.
constexpr std::ptrdiff_t rows_to_join(std::ptrdiff_t rows, std::ptrdiff_t columns, joined_form const& form,
                                      std::ptrdiff_t lanes, std::ptrdiff_t most) {
    std::ptrdiff_t result = lanes >> std::countr_zero(static_cast<std::size_t>(columns | lanes));
    while (2 * result * columns <= form.columns && 8 * result <= rows) {
        result *= 2;
    }
    while (result > most) {
        result /= 2;
    }
    bool const fill_registers = result * columns % lanes == 0;
    return fill_registers || !form.must_fill_registers ? result : 1;
}

/// Of `rows` rows, how many joined ones there are behind `front` elements.
constexpr std::ptrdiff_t count_joined(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t at_once,
                                      std::ptrdiff_t front) {
    bool const lacks_some = (rows & (at_once - 1)) * columns < front;
    return (rows >> std::countr_zero(static_cast<std::size_t>(at_once))) - lacks_some;
}

/// The first `bytes` bytes from `from`, again and again until there are `all`.
inline void repeat_bytes(void const* from, std::size_t bytes, std::byte* to, std::size_t all) {
    copy_bytes(to, static_cast<std::byte const*>(from), bytes);
    for (std::size_t made = bytes; made < all; made *= 2) {
        copy_bytes(to + made, to, std::min(made, all - made));
    }
}

/// Makes joined rows of `whole`, and of `rest` what remains behind them: both come as copies of the given arguments.
/// Returns how many rows are one; 0 if they cannot be joined. `form.before`: 0 if these elements are no good before the
/// joined rows; else all arrays are then moved by them. `memory`: `thresholds::bytes_of_repeated_rows`, aligned to a
/// line.
///
/// One function for all groups: as a template it would be a good part of what a small kernel takes to compile.
CALQUE_NOINLINE inline std::ptrdiff_t join_rows(joined_array const* arrays, int count, std::ptrdiff_t rows,
                                                std::ptrdiff_t columns, joined_form& form, argument_arrays whole,
                                                argument_arrays rest, std::byte* memory, row_places& places) {
    constexpr auto line = static_cast<std::ptrdiff_t>(simd::line_bytes);
    auto const is_once_a_row = [&](joined_array const& x) {
        return !x.is_result && (!x.varies_along_columns || (whole.broadcast_leaves >> x.number & 1) != 0);
    };
    auto const is_repeated = [&](joined_array const& x) {
        return !x.is_result && (!x.varies_along_rows || whole.leaf_row_strides[x.number] == 0);
    };
    std::ptrdiff_t repeated_bytes = 1, widest = 1, once_bytes = 0; // there may be nothing to repeat
    for (joined_array const* x = arrays; x != arrays + count; ++x) {
        widest = std::max(widest, x->element_bytes);
        if (is_once_a_row(*x)) {
            bool const suits = once_bytes == 0 || once_bytes == x->element_bytes;
            if (!suits || !row_places::suit(x->element_bytes) || !x->varies_along_rows) {
                return 0;
            }
            once_bytes = x->element_bytes;
            whole.broadcast_leaves |= std::uint64_t{1} << x->number;
        } else if (is_repeated(*x)) {
            repeated_bytes += columns * x->element_bytes;
        }
    }
    std::ptrdiff_t const lanes = std::min<std::ptrdiff_t>(simd::width, 64 / widest); // of AVX-512
    std::ptrdiff_t most = thresholds::bytes_of_repeated_rows / repeated_bytes;
    if (once_bytes != 0) {
        most = std::min(most, row_places::most_rows(once_bytes));
    }
    std::ptrdiff_t const at_once = rows_to_join(rows, columns, form, lanes, most);
    if (at_once == 0 || (once_bytes != 0 && !places.fill(at_once, columns, once_bytes))) {
        return 0;
    }
    if (once_bytes != 0 || at_once * columns % lanes != 0) {
        form.before = 0;
    }
    std::ptrdiff_t const joined = count_joined(rows, columns, at_once, form.before);
    for (joined_array const* x = arrays; x != arrays + count; ++x) {
        bool const is_once = is_once_a_row(*x);
        std::ptrdiff_t const elements = is_once ? 1 : columns; // of a row
        std::ptrdiff_t& stride = x->is_result ? whole.result_row_strides[x->number] : whole.leaf_row_strides[x->number];
        if (!is_once && is_repeated(*x)) {
            std::ptrdiff_t const bytes_before = form.before * x->element_bytes;
            std::ptrdiff_t const bytes = bytes_before + at_once * columns * x->element_bytes;
            memory += -(reinterpret_cast<std::intptr_t>(memory) + bytes_before) & (line - 1);
            repeat_bytes(whole.leaves[x->number], static_cast<std::size_t>(columns * x->element_bytes), memory,
                         static_cast<std::size_t>(bytes));
            whole.leaves[x->number] = rest.leaves[x->number] = memory;
            memory += bytes;
            continue;
        }
        if (stride != elements) {
            return 0;
        }
        stride = at_once * elements;
        std::ptrdiff_t const behind = joined * stride * x->element_bytes;
        if (x->is_result) {
            rest.results[x->number] = static_cast<std::byte*>(rest.results[x->number]) + behind;
        } else {
            rest.leaves[x->number] = static_cast<std::byte const*>(rest.leaves[x->number]) + behind;
        }
    }
    rest.broadcast_leaves = whole.broadcast_leaves;
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

    /// Whether extents that the compiler may know can suit.
    constexpr bool may_suit(extent_t rows, extent_t columns) const {
        return !(is_static(columns) && columns > most_columns) && !(is_static(rows) && rows < least_rows);
    }
};

/// The rows of a call, pixels say, that do the same work on each column and lie without gaps: whole groups of them as
/// rows of more columns, and those that remain.
template <class Group>
class joined_rows {
public:
    using arguments = fused_arguments<Group::leaf_count, Group::result_count>;

    /// Whether the first `steps` of a group allow it: no elements that are counted, and no value that a row has once,
    /// but with `has_places` for leaves, whether the compiler or only the call knows which.
    static constexpr bool may_join(int steps, join_limits const& limits, bool has_places) {
        return limits.may_suit(Group::rows, Group::columns) && has_same_work_for_columns<Group>(steps, has_places) &&
               (!has_places || simd::has_elements_at<float>);
    }

    CALQUE_INLINE joined_rows(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns, joined_form form)
        : whole(a), rest(a),
          at_once(detail::join_rows(arrays.of, arrays.count, rows, columns, form, detail::argument_arrays(whole),
                                    detail::argument_arrays(rest), memory_, places_)),
          front(form.before) {}

    /// Of so many rows, the joined ones, and how many remain behind them, less the `front` elements.
    CALQUE_INLINE std::ptrdiff_t rows_of_whole(std::ptrdiff_t rows, std::ptrdiff_t columns) const {
        return detail::count_joined(rows, columns, at_once, front);
    }
    CALQUE_INLINE std::ptrdiff_t rows_of_rest(std::ptrdiff_t rows, std::ptrdiff_t columns) const {
        return rows - rows_of_whole(rows, columns) * at_once;
    }

    row_places const& places() const { return places_; }

    arguments whole;
    arguments rest;               // as the given ones, or as one row: what is repeated is so here too
    std::ptrdiff_t const at_once; // the rows that are one, a power of two; 1 if none are; 0 if they cannot be joined
    std::ptrdiff_t const front;   // elements to run before, by which both are not moved yet

private:
    struct array_list {
        detail::joined_array of[Group::leaf_count + Group::result_count];
        int count = 0;

        constexpr array_list() {
            for (int i = 0; i < Group::step_count; ++i) {
                graph::step const& s = Group::steps()[i];
                auto const bytes = static_cast<std::ptrdiff_t>(size_of(s.type));
                if (s.leaf >= 0 && (s.varies_along_columns || s.varies_along_rows)) {
                    of[count++] = {s.leaf, false, s.varies_along_rows, s.varies_along_columns, bytes};
                }
                if (s.result >= 0 && !detail::is_reduction(s)) {
                    of[count++] = {s.result, true, true, true, bytes};
                }
            }
        }
    };
    static constexpr array_list arrays{};

    row_places places_;
    static constexpr std::size_t bytes_around = 3 * simd::line_bytes; // each repeated row has so many more at most
    alignas(64) std::byte memory_[thresholds::bytes_of_repeated_rows + arrays.count * bytes_around];
};

} // namespace kernels
} // namespace v0
} // namespace calque
