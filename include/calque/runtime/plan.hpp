// SPDX-License-Identifier: MIT
// A plan: all that a call of known extents needs to run, as plain data. Making one is what a trace costs at run time.
#pragma once

#include <calque/graph/schedule.hpp>
#include <calque/kernels/cpu/matmul_variant.hpp>
#include <calque/kernels/cpu/row_variant.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace runtime {

/// Where a stored value lies: a distance from one of a call's base addresses.
///
/// The bases are the arguments' data, then the outputs', then the arena, then the plan's scalars.
struct location {
    int base = -1;
    std::ptrdiff_t offset = 0; // bytes
};

/// A stored value of one call: where it lies and how.
struct value_plan {
    location at;
    shape extents;
    calque::strides steps; // in elements
};

/// A leaf as its kernel reads it: from a row to the next, and along the axes that loop around the kernel.
struct leaf_plan {
    location at;
    std::ptrdiff_t row_stride = 0;
    std::ptrdiff_t outer_strides[max_rank]{};
};

/// A result as its kernel writes it.
struct result_plan {
    location at;
    std::ptrdiff_t row_stride = 0;
    std::ptrdiff_t outer_strides[max_rank]{};
};

/// The loops of a group: axes that cannot be merged go around the kernel, which runs over rows and columns.
struct group_plan {
    std::ptrdiff_t rows = 1;
    std::ptrdiff_t columns = 1;
    int outer_rank = 0;
    std::ptrdiff_t outer_extents[max_rank]{};
    kernels::row_variant variant{};    // rows: which way lanes run
    kernels::matmul_variant product{}; // products: the variant, and the inner extent
    std::ptrdiff_t depth = 0;
};

/// A copy that makes a value contiguous for a kernel, before the group runs.
struct copy_plan {
    int before_group = 0;
    location from, to;
    shape extents;
    calque::strides from_steps;
    std::size_t element_bytes = 0;
};

/// A plan under construction or in use, whoever stores its arrays.
struct plan_view {
    value_plan* values = nullptr;
    leaf_plan* leaves = nullptr;
    result_plan* results = nullptr;
    group_plan* groups = nullptr;
    copy_plan* copies = nullptr;
    std::uint64_t* scalars = nullptr; // by stored value: the bits of constants and counts
    int* copy_count = nullptr;
    std::size_t* workspace_offset = nullptr; // in the arena: kernels' scratch
    std::size_t* arena_bytes = nullptr;
};

/// The arrays of a plan for a schedule of this size, of which `Copies` at most are copied for kernels.
template <graph::schedule_size Size, int Copies>
struct plan_storage {
    static constexpr int at_least_one(int n) { return n == 0 ? 1 : n; }

    value_plan values[at_least_one(Size.values)]{};
    leaf_plan leaves[at_least_one(Size.leaves)]{};
    result_plan results[at_least_one(Size.results)]{};
    group_plan groups[at_least_one(Size.groups)]{};
    copy_plan copies[at_least_one(Copies)]{};
    std::uint64_t scalars[at_least_one(Size.values)]{};
    int copy_count = 0;
    std::size_t workspace_offset = 0;
    std::size_t arena_bytes = 0;
    bool is_interpreted = false; // a dynamic extent broadcasts where the kernels rely on equal ones

    constexpr plan_view view() {
        return {values, leaves, results, groups, copies, scalars, &copy_count, &workspace_offset, &arena_bytes};
    }
};

} // namespace runtime
} // namespace v0
} // namespace calque
