// SPDX-License-Identifier: MIT
// A plan: all that a call of known extents needs to run, as plain data. Making one is what a trace costs at run time.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/graph/schedule.hpp>
#include <calque/kernels/cpu/matmul_variant.hpp>
#include <calque/kernels/cpu/row_variant.hpp>
#include <calque/kernels/cpu/spaced_leaves.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace calque {
inline namespace v0 {
namespace runtime {

/// Where a stored value lies: a distance from one of a call's base addresses.
///
/// The bases are the arguments' data, then the outputs', then the arena, then the plan's scalars.
struct location {
    int base = -1;
    std::ptrdiff_t offset = 0; // bytes

    constexpr bool operator==(location const&) const = default;
    constexpr bool operator<(location const& other) const {
        return base < other.base || (base == other.base && offset < other.offset);
    }
};

/// A stored value of one call: where it lies and how.
struct value_plan {
    location at;
    shape extents;
    calque::strides steps; // in elements
};

/// A leaf as its kernel reads it: from a row to the next. Its strides along the axes that loop around the kernel are in
/// `plan_view::leaf_outer_strides`.
struct leaf_plan {
    location at;
    std::ptrdiff_t row_stride = 0;
    std::ptrdiff_t column_stride = 1; // of a product's operand
};

/// A result as its kernel writes it.
struct result_plan {
    location at;
    std::ptrdiff_t row_stride = 0;
};

/// The loops of a group: axes that cannot be merged go around the kernel, which runs over rows and columns.
struct group_plan {
    std::ptrdiff_t rows = 1;
    std::ptrdiff_t columns = 1;
    std::ptrdiff_t depth = 0;          // products: the inner extent
    kernels::matmul_variant product{}; // products
    kernels::row_variant variant{};    // rows: which way lanes run
    int outer_rank = 0;
    int piece_rank = 0;          // rows in pieces: how many axes behind these lead from one run of them to the next
    int divided_axis = 0;        // the first that is not 1
    extent_t divided_extent = 0; // of that axis
    extent_t part = 0;           // rows: how much of it runs at once, after its copies; 0: all
    extent_t column_part = 0;    // and how many columns of that; 0: all
    bool is_in_place = false;    // slices' adjoints: a kernel has written them amid what are to be zeros
    int ranges = 1;              // of its space: leaves are rolled, and lie evenly in each
    bool keeps_order = false;    // what it makes lies as its operands do, which is not row-major
    std::uint64_t broadcast_leaves = 0; // as `kernels::fused_arguments` has them
    kernels::spaced_leaves spaced;
};

/// How far a leaf is rolled along a loop of its kernel: those around it, then its rows, then its columns.
struct roll_plan {
    int leaf = 0; // of the group
    int loop = 0;
    std::ptrdiff_t shift = 0; // to indices of the loop; not negative
};

/// A copy that makes a value contiguous for a kernel, before the group runs or before each part of it does.
struct copy_plan {
    int before_group = 0;
    bool is_by_parts = false;
    location from, to;
    shape extents;
    calque::strides from_steps;
    std::size_t element_bytes = 0;
    int rolled_axis = 0;
    extent_t shift = 0;             // the copy is rolled so far along that axis; not negative
    std::ptrdiff_t joined_step = 0; // not 0: the last axis counts values whose sources are neighbours, copied together

    /// The strides of the copy of a part of it.
    constexpr calque::strides to_steps(shape part) const {
        if (joined_step == 0) {
            return contiguous_strides(part);
        }
        --part.rank;
        calque::strides steps = contiguous_strides(part);
        steps[part.rank] = joined_step;
        return steps;
    }

    /// Whether it makes the value at a place.
    constexpr bool makes(location at) const {
        std::ptrdiff_t const bytes = joined_step * static_cast<std::ptrdiff_t>(element_bytes);
        extent_t const count = joined_step == 0 ? 1 : extents[extents.rank - 1];
        bool does = false;
        for (extent_t i = 0; i < count; ++i) {
            does |= at == location{to.base, to.offset + i * bytes};
        }
        return does;
    }
};

/// A plan under construction, whoever stores its arrays.
struct plan_view {
    value_plan* values = nullptr;
    leaf_plan* leaves = nullptr;
    result_plan* results = nullptr;
    group_plan* groups = nullptr;
    roll_plan* rolls = nullptr;       // by group
    std::uint64_t* scalars = nullptr; // by stored value: the bits of constants and counts
    // Of the axes that loop around kernels: `outer_axes` numbers for each group, leaf and result.
    std::ptrdiff_t* outer_extents = nullptr;
    std::ptrdiff_t* leaf_outer_strides = nullptr;
    std::ptrdiff_t* result_outer_strides = nullptr;
    int outer_axes = 0;
    std::size_t* workspace_offset = nullptr; // in the arena: kernels' scratch
    std::size_t* arena_bytes = nullptr;
};

/// What computes the results of a call.
enum class execution_mode : std::uint8_t {
    kernels,
    kernels_of_wider_outputs, // a dynamic extent broadcasts: some outputs are computed for more elements, and copied
    op_by_op,                 // one broadcasts where kernels rely on equal ones
};

/// What of a finished plan people may want to see.
struct const_plan_view {
    leaf_plan const* leaves = nullptr;
    group_plan const* groups = nullptr;
    std::ptrdiff_t const* outer_extents = nullptr;
    int outer_axes = 0;
    copy_plan const* copies = nullptr;
    int copy_count = 0;
    std::size_t arena_bytes = 0;
    bool is_in_registers = false;
    execution_mode mode = execution_mode::kernels;
};

/// What a plan has room for.
struct plan_capacity {
    graph::schedule_size schedule;
    int values = 0;     // that are read when the kernels run: all, or none but the outputs
    int outer_axes = 0; // that may loop around a kernel
    int rolls = 0;      // of leaves
    int copies = 0; // of a plan that is a constant; 0: they are on the heap, for few calls need any; -1: no call does
};

/// The copies of a plan.
template <int Capacity>
class copy_list {
public:
    constexpr void take(sequence<copy_plan>& from) {
        for (copy_plan const& c : from) {
            copies_[size_++] = c;
        }
    }
    constexpr int size() const { return size_; }
    constexpr copy_plan const* data() const { return copies_; }

private:
    copy_plan copies_[Capacity]{};
    int size_ = 0;
};
template <>
class copy_list<0> {
public:
    constexpr void take(sequence<copy_plan>& from) { copies_ = std::move(from); }
    constexpr int size() const { return copies_.size(); }
    constexpr copy_plan const* data() const { return copies_.data(); }

private:
    sequence<copy_plan> copies_;
};

template <>
class copy_list<-1> {
public:
    static constexpr int size() { return 0; }
    static constexpr copy_plan const* data() { return nullptr; }
};

/// The arrays of a plan, as small as they can be: the cache keeps many, and each new shape writes one.
template <plan_capacity Capacity>
struct plan_storage {
    static constexpr int at_least_one(int n) { return n == 0 ? 1 : n; }
    static constexpr graph::schedule_size size = Capacity.schedule;
    static constexpr int outer_axes = Capacity.outer_axes;

    value_plan outputs[at_least_one(size.outputs)]{};
    value_plan values[at_least_one(Capacity.values)]{};
    leaf_plan leaves[at_least_one(size.leaves)]{};
    result_plan results[at_least_one(size.results)]{};
    group_plan groups[at_least_one(size.groups)]{};
    roll_plan rolls[at_least_one(Capacity.rolls)]{};
    std::uint64_t scalars[at_least_one(size.values)]{};
    std::ptrdiff_t outer_extents[at_least_one(size.groups * outer_axes)]{};
    std::ptrdiff_t leaf_outer_strides[at_least_one(size.leaves * outer_axes)]{};
    std::ptrdiff_t result_outer_strides[at_least_one(size.results * outer_axes)]{};
    copy_list<Capacity.copies> copies;
    std::size_t workspace_offset = 0;
    std::size_t arena_bytes = 0;
    bool is_in_registers = false; // it runs as a `register_program`
    execution_mode mode = execution_mode::kernels;

    constexpr plan_view view() {
        return {values,
                leaves,
                results,
                groups,
                rolls,
                scalars,
                outer_extents,
                leaf_outer_strides,
                result_outer_strides,
                outer_axes,
                &workspace_offset,
                &arena_bytes};
    }
    constexpr const_plan_view view() const {
        return {leaves,        groups,      outer_extents,   outer_axes, copies.data(),
                copies.size(), arena_bytes, is_in_registers, mode};
    }
};

} // namespace runtime
} // namespace v0
} // namespace calque
