// SPDX-License-Identifier: MIT
// The loops of a fused group for one call: axes are merged while every operand lies evenly along them.
#pragma once

#include <calque/graph/graph.hpp>
#include <calque/graph/schedule.hpp>
#include <calque/runtime/placement.hpp>

#include <algorithm>
#include <cstdint>

namespace calque {
inline namespace v0 {
namespace runtime {

/// The axes of a group's space: those around the kernel, its rows, its columns. Each range may be empty.
struct axis_ranges {
    int first_row = 0, first_column = 0, end = 0;
    bool may_merge_into_columns = false; // no reduction ties a meaning to where the columns begin
    bool rows_are_reduced = false;       // one stride must lead through all rows
    std::uint32_t begins = 0; // as bits, the axes along which some operand is rolled: a loop begins with each

    constexpr bool may_lead_to(int axis) const { return (begins >> axis & 1) == 0; }

    /// `space`: as it is declared.
    static constexpr axis_ranges of(graph::group const& x, shape const& space) {
        if (x.kind == graph::group_kind::product) {
            return {0, 1, space.rank};
        }
        int const first_column = std::max(graph::first_column_axis(x, space), 0);
        if (x.kind == graph::group_kind::columns) {
            return {x.first_reduced_axis, first_column, space.rank, false, true};
        }
        return {0, first_column, space.rank, x.reduced_axes == 0};
    }
};

/// The strides of a value along the axes of a space that it broadcasts to: 0 where it does not vary.
constexpr calque::strides aligned_strides(value_plan const& v, shape const& space) {
    calque::strides aligned;
    int const missing = space.rank - v.extents.rank;
    for (int axis = missing < 0 ? 0 : missing; axis < space.rank; ++axis) {
        aligned[axis] = v.extents[axis - missing] == 1 ? 0 : v.steps[axis - missing];
    }
    return aligned;
}

/// Whether a value lies without gaps along axes [first, end) of a space: its stride is 1 along the last, and so on.
constexpr bool is_unit_run(calque::strides const& steps, shape const& space, int first, int end,
                           std::ptrdiff_t unit = 1) {
    for (int axis = end - 1; axis >= first; --axis) {
        if (space[axis] != 1 && steps[axis] != unit) {
            return false;
        }
        unit *= space[axis];
    }
    return true;
}

/// Whether a value is spaced evenly along axes [first, end): one stride leads through all of them.
constexpr bool is_even_run(calque::strides const& steps, shape const& space, int first, int end) {
    int last = end - 1;
    while (last >= first && space[last] == 1) {
        --last;
    }
    return last < first || is_unit_run(steps, space, first, end, steps[last]);
}

/// One stride through axes [first, end) that are evenly spaced.
constexpr std::ptrdiff_t run_stride(calque::strides const& steps, shape const& space, int first, int end) {
    for (int axis = end - 1; axis >= first; --axis) {
        if (space[axis] != 1) {
            return steps[axis];
        }
    }
    return 0;
}

constexpr std::ptrdiff_t run_size(shape const& space, int first, int end) {
    std::ptrdiff_t n = 1;
    for (int axis = first; axis < end; ++axis) {
        n *= space[axis];
    }
    return n;
}

} // namespace runtime
} // namespace v0
} // namespace calque
