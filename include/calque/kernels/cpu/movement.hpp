// SPDX-License-Identifier: MIT
// Kernels that copy elements to other places. They know the size of an element, not its type.
//
// Runs that are contiguous on both sides are copied as bytes, transpositions through register tiles, elements a few
// apart and reversed rows through permutations; what is left is copied one element at a time.
#pragma once

#include <calque/core/shape.hpp>
#include <calque/kernels/cpu/copy_runs.hpp>
#include <calque/kernels/cpu/interleave.hpp>
#include <calque/kernels/cpu/spaced.hpp>
#include <calque/kernels/cpu/transpose.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace calque {
inline namespace v0 {
namespace kernels {

/// One side of a copy: an address, and the distance between neighbours along each axis, in elements.
struct strided_side {
    std::byte* data;
    strides steps;
};
struct strided_source {
    std::byte const* data;
    strides steps;
};

namespace detail {

/// One side of a copy of rows: the distances to the next row and to the next element of a row, in elements.
struct row_steps {
    std::ptrdiff_t row, element;
};

template <class T>
CALQUE_NOINLINE void copy_rows(std::byte* to, row_steps to_steps, std::byte const* from, row_steps from_steps,
                               extent_t rows, extent_t n) {
    T* out = reinterpret_cast<T*>(to);
    T const* in = reinterpret_cast<T const*>(from);
    if (to_steps.row == 1 && from_steps.element == 1 && are_read_once(from_steps.row, n)) {
        extent_t const copied = copy_by_permutations(out, to_steps.element, in, from_steps.row, rows, n);
        out += copied;
        in += copied * from_steps.row;
        rows -= copied;
    }
    if (n > thresholds::elements_of_a_short_row || rows < n) {
        for (extent_t i = 0; i < rows; ++i) {
            copy_spaced(out + i * to_steps.row, to_steps.element, in + i * from_steps.row, from_steps.element, n);
        }
        return;
    }
    constexpr extent_t at_once = thresholds::short_rows_at_once;
    for (extent_t first = 0; first < rows; first += at_once) { // the first element of some of them, then the second
        for (extent_t j = 0; j < n; ++j) {
            copy_spaced(out + first * to_steps.row + j * to_steps.element, to_steps.row,
                        in + first * from_steps.row + j * from_steps.element, from_steps.row,
                        rows - first < at_once ? rows - first : at_once);
        }
    }
}

/// Whether elements of `bytes` bytes may lie at both places.
inline bool are_aligned(std::byte const* a, std::byte const* b, std::ptrdiff_t bytes) {
    auto const mask = static_cast<std::uintptr_t>(bytes - 1);
    return ((reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b)) & mask) == 0;
}

/// Copies rows of elements of `bytes` bytes. A template, so that only who calls it instantiates it.
template <class Bytes>
void copy_matrix(std::byte* to, row_steps to_step, std::byte const* from, row_steps from_step, extent_t rows,
                 extent_t n, Bytes bytes) {
    if (to_step.element == 1 && from_step.element == 1) {
        std::ptrdiff_t const run = n * bytes;
        bool const may_be_elements = (run == 2 || run == 4 || run == 8) && are_aligned(to, from, run);
        if (may_be_elements && to_step.row == n && from_step.row % n == 0) {
            copy_matrix(to, {0, 1}, from, {0, from_step.row / n}, 1, rows, run);
            return;
        }
        copy_runs(to, to_step.row * bytes, from, from_step.row * bytes, rows, n * bytes);
        return;
    }
    switch (bytes) {
    case 1: copy_rows<std::uint8_t>(to, to_step, from, from_step, rows, n); break;
    case 2: copy_rows<std::uint16_t>(to, to_step, from, from_step, rows, n); break;
    case 4: copy_rows<std::uint32_t>(to, to_step, from, from_step, rows, n); break;
    default: copy_rows<std::uint64_t>(to, to_step, from, from_step, rows, n); break;
    }
}

/// An axis of a copy: its extent, and how far neighbours are apart on both sides, in elements.
struct copied_axis {
    extent_t extent;
    std::ptrdiff_t to, from;
};
inline constexpr copied_axis no_axis{1, 0, 0};

/// Whether runs of one side lie across runs of the other.
constexpr bool is_transposition(copied_axis const& outer, copied_axis const& inner) {
    return inner.to == 1 && outer.from == 1;
}

/// Whether a transposition goes column by column of its source, or few columns in one walk.
constexpr bool is_taken_apart(copied_axis const& outer, copied_axis const& inner, std::ptrdiff_t bytes) {
    return inner.extent >= 2 * simd::width && has_permutations(inner.from, static_cast<std::size_t>(bytes)) &&
           (are_read_once(inner.from, outer.extent) || (outer.extent <= thresholds::most_columns_taken_apart &&
                                                        outer.extent * bytes <= thresholds::most_bytes_taken_apart));
}

/// The axes of a copy, without those of one element, with those merged along which both sides are evenly spaced: in the
/// order in which the target lies in memory, its runs last, and those of the source next to them.
///
/// Numbers are moved one by one, not as shapes and strides: what copies these right after they were written waits for
/// the writes, longer than it takes to transpose a small matrix.
struct copied_axes {
    int rank = 0;
    copied_axis axis[max_rank];

    copied_axes(shape const& extents, strides const& to, strides const& from) {
        for (int i = 0; i < extents.rank; ++i) {
            if (extents[i] != 1) {
                axis[rank++] = {extents[i], to[i], from[i]};
            }
        }
        for (int end = 1; end < rank; ++end) {
            for (int i = end; i > 0 && std::abs(axis[i - 1].to) < std::abs(axis[i].to); --i) {
                swap(axis[i - 1], axis[i]);
            }
        }
        merge();
        for (int i = 0; i + 2 < rank; ++i) {
            if (axis[i].from == 1 && axis[rank - 1].to == 1) {
                swap(axis[i], axis[i + 1]);
            }
        }
    }

    copied_axis const& inner() const { return rank == 0 ? no_axis : axis[rank - 1]; }
    copied_axis const& outer() const { return rank < 2 ? no_axis : axis[rank - 2]; }

private:
    static void swap(copied_axis& a, copied_axis& b) {
        std::swap(a.extent, b.extent);
        std::swap(a.to, b.to);
        std::swap(a.from, b.from);
    }

    void merge() {
        int merged = 0;
        for (int i = 0; i < rank; ++i) {
            copied_axis const x{axis[i].extent, axis[i].to, axis[i].from};
            bool is_even = false;
            if (merged > 0) {
                copied_axis const& last = axis[merged - 1];
                is_even = last.to == x.to * x.extent && last.from == x.from * x.extent;
            }
            extent_t const before = is_even ? axis[merged - 1].extent : 1;
            merged += !is_even;
            axis[merged - 1] = {before * x.extent, x.to, x.from};
        }
        rank = merged;
    }
};

/// Whether the last three axes are those of short runs that are each repeated before the next one.
inline bool repeats_runs(copied_axes const& axes, std::ptrdiff_t bytes) {
    copied_axis const& axis = axes.axis[axes.rank - 3];
    copied_axis const& times = axes.outer();
    copied_axis const& run = axes.inner();
    return run.to == 1 && run.from == 1 && times.from == 0 && times.to == run.extent &&
           axis.to == times.extent * run.extent && axis.from >= run.extent &&
           run.extent * bytes <= most_bytes_of_repeated_runs;
}

/// Copies elements of `bytes` bytes along all axes from the `first` on. Only transpositions are instantiated for each
/// size: the rest of the walk counts in bytes. `Transpose`: a program which copies nothing does not instantiate tiles.
template <class Transpose>
void copy_axes(copied_axes const& axes, std::byte* to, std::byte const* from, std::ptrdiff_t bytes, int first = 0) {
    if (axes.rank - first > 2) {
        copied_axis const& axis = axes.axis[first];
        if (axes.rank - first == 3 && repeats_runs(axes, bytes)) {
            repeat_runs(to, from, axis.from * bytes, axis.extent, axes.inner().extent * bytes, axes.outer().extent);
            return;
        }
        for (extent_t i = 0; i < axis.extent; ++i) {
            copy_axes<Transpose>(axes, to + i * axis.to * bytes, from + i * axis.from * bytes, bytes, first + 1);
        }
        return;
    }
    copied_axis const& outer = axes.outer();
    copied_axis const& inner = axes.inner();
    if (Transpose::may_occur && is_transposition(outer, inner) && is_taken_apart(outer, inner, bytes)) {
        copy_matrix(to, {1, outer.to}, from, {inner.from, 1}, inner.extent, outer.extent, bytes);
    } else if (Transpose::may_occur && is_transposition(outer, inner)) {
        Transpose::run(from, inner.extent, outer.extent, inner.from, to, outer.to, bytes);
    } else {
        copy_matrix(to, {outer.to, inner.to}, from, {outer.from, inner.from}, outer.extent, inner.extent, bytes);
    }
}

/// Transposes matrices of elements of `bytes` bytes.
struct transposition {
    static constexpr bool may_occur = true;

    template <class T>
    static void run_as(std::byte const* in, extent_t rows, extent_t columns, std::ptrdiff_t in_stride, std::byte* out,
                       std::ptrdiff_t out_stride) {
        auto const* const from = reinterpret_cast<T const*>(in);
        T* const to = reinterpret_cast<T*>(out);
        if constexpr (sizeof(T) >= 4) { // of so few rows tiles would be empty for the most part
            auto const row = [&](int i) { return from + i * in_stride; };
            switch (out_stride == rows ? rows : 0) {
            case 2: interleave_arrays(std::array{row(0), row(1)}, columns, to); return;
            case 3: interleave_arrays(std::array{row(0), row(1), row(2)}, columns, to); return;
            case 4: interleave_arrays(std::array{row(0), row(1), row(2), row(3)}, columns, to); return;
            default: break;
            }
        }
        copy_transposed(from, rows, columns, in_stride, to, out_stride);
    }
    template <class Bytes> // so that only who calls it instantiates it
    static void run(std::byte const* in, extent_t rows, extent_t columns, std::ptrdiff_t in_stride, std::byte* out,
                    std::ptrdiff_t out_stride, Bytes bytes) {
        switch (bytes) {
        case 1: run_as<std::uint8_t>(in, rows, columns, in_stride, out, out_stride); break;
        case 2: run_as<std::uint16_t>(in, rows, columns, in_stride, out, out_stride); break;
        case 4: run_as<std::uint32_t>(in, rows, columns, in_stride, out, out_stride); break;
        default: run_as<std::uint64_t>(in, rows, columns, in_stride, out, out_stride); break;
        }
    }
};

/// Where all arrays lie by rows, perhaps with stretched axes: tiles to transpose are a good part of a small program.
struct no_transposition {
    static constexpr bool may_occur = false;

    static void run(auto const&...) {}
};

} // namespace detail

/// How `copy_strided` copies such arrays, for people.
inline std::string_view name_of_copy(shape const& extents, strides const& to, strides const& from,
                                     std::size_t element_bytes) {
    detail::copied_axes const axes(extents, to, from);
    detail::copied_axis const& run = axes.inner();
    auto const bytes = static_cast<std::ptrdiff_t>(element_bytes);
    bool const is_transposition = detail::is_transposition(axes.outer(), run);
    bool const is_permuted = is_transposition ? detail::is_taken_apart(axes.outer(), run, bytes)
                                              : run.to == 1 && detail::has_permutations(run.from, element_bytes);
    return axes.rank == 0 || (run.to == 1 && run.from == 1) ? "row by row"
           : is_permuted                                    ? "by permutations"
           : is_transposition                               ? "by transposing tiles"
           : run.to == 1 && run.from == 0                   ? "by repeating elements"
                                                            : "element by element";
}

/// Copies elements between arrays of the same extents, any strides. They must not overlap. `Transpose`:
/// `no_transposition` if all strides are those of arrays by rows.
template <class Transpose = detail::transposition>
void copy_strided(shape const& extents, strided_side const& to, strided_source const& from, std::size_t element_bytes) {
    if (extents.size() != 0) {
        detail::copied_axes const axes(extents, to.steps, from.steps);
        detail::copy_axes<Transpose>(axes, to.data, from.data, static_cast<std::ptrdiff_t>(element_bytes));
    }
}

/// The position that an index means along an axis of extent `n`: from the end if negative, and always one that exists.
inline extent_t existing_index(extent_t index, extent_t n) {
    index = index < 0 ? index + n : index;
    return index < 0 ? 0 : index >= n ? n - 1 : index;
}

/// An index of any integer type; one that is too large is the largest, not a negative one.
template <class I>
constexpr extent_t to_extent(I index) {
    if constexpr (std::is_unsigned_v<I> && sizeof(I) == sizeof(extent_t)) {
        return index > static_cast<I>(INT64_MAX) ? INT64_MAX : static_cast<extent_t>(index);
    } else {
        return static_cast<extent_t>(index);
    }
}

/// Where the element of some number, in row-major order, stands.
inline std::ptrdiff_t offset_of(shape const& extents, strides const& steps, extent_t number) {
    std::ptrdiff_t offset = 0;
    for (int axis = extents.rank - 1; axis > 0; --axis) {
        offset += number % extents[axis] * steps[axis];
        number /= extents[axis];
    }
    return extents.rank == 0 ? 0 : offset + number * steps[0];
}

/// Calls `f(position, offset)` for all elements of an array, in row-major order; `position` is their number.
template <class F>
void for_each_offset(shape const& extents, strides const& steps, F&& f) {
    extent_t const n = extents.size();
    bool const is_one_run = is_contiguous(extents, steps);
    int const last = extents.rank - 1;
    extent_t const run = is_one_run ? n : extents[last];
    std::ptrdiff_t const step = is_one_run ? 1 : steps[last];
    for (extent_t first = 0; first < n; first += run) {
        std::ptrdiff_t const offset = is_one_run ? 0 : offset_of(extents, steps, first);
        for (extent_t i = 0; i < run; ++i) {
            f(first + i, offset + i * step);
        }
    }
}

/// Calls `f(position, index)` for all indices of an integer array, in row-major order; `position` is their number.
template <class I, class F>
void for_each_index(shape const& extents, strides const& steps, I const* indices, F&& f) {
    for_each_offset(extents, steps,
                    [&](extent_t position, std::ptrdiff_t offset) { f(position, to_extent(indices[offset])); });
}

} // namespace kernels
} // namespace v0
} // namespace calque
