// SPDX-License-Identifier: MIT
// What a schedule is: which values of a graph are stored, and which kernels compute them, in what order.
#pragma once

#include <calque/graph/graph.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// How often a kernel may walk along a row: one reduction after the other that waits for it, and what uses the last.
inline constexpr int max_phases = 16;

/// What runs as one kernel.
enum class group_kind : std::uint8_t {
    rows,     // elementwise work, with reductions along rows: a loop over rows, and over the columns of each
    columns,  // elementwise work, summed over rows
    product,  // a matrix product; elementwise work on its result runs on each tile while it is in L1
    movement, // one operation that copies elements to other places
    control   // a branch or loop, which runs other schedules
};

/// One operation of a fused kernel, on steps before it.
struct step {
    node_id node = -1;
    op_code op{};
    dtype type = dtype::float32;
    std::uint64_t attribute = 0;
    int inputs[3] = {-1, -1, -1};
    int input_count = 0;
    int leaf = -1;   // it loads the group's leaf of this number
    int index = -1;  // it needs to know where its elements stand: the group's leaf of this number is their indices
    int result = -1; // it is stored as the group's result of this number
    bool varies_along_rows = false;
    bool varies_along_columns = false;
    bool ascends_along_columns = false; // it is 0, 1, 2, ... along the first axis of the columns
};

/// A group of nodes that run as one kernel over one iteration space. Ranges index the schedule's arrays.
struct group {
    group_kind kind = group_kind::rows;
    node_id node = -1;          // the matrix product, or the operation that moves elements
    int space = 0;              // the graph's shape over which the group iterates
    node_id space_node = -1;    // a node of that shape: what it is in a call
    int reduced_axes = 0;       // rows: how many last axes a reduction folds; columns: how many axes it folds,
    int first_reduced_axis = 0; // and the first of them
    int level = 0;
    int first_step = 0, step_count = 0;
    int first_leaf = 0, leaf_count = 0;     // stored values that it reads
    int first_result = 0, result_count = 0; // stored values that it makes
};

/// The axis of a group's space at which the columns of its kernel begin: those behind the axes that are folded; of
/// reductions along rows those that are folded; else the last axis, or that before last ones that are known to be 1.
constexpr int first_column_axis(group const& x, calque::shape const& space) {
    if (x.kind == group_kind::columns) {
        return x.first_reduced_axis + x.reduced_axes;
    }
    if (x.reduced_axes != 0) {
        return space.rank - x.reduced_axes;
    }
    int axis = space.rank - 1;
    while (x.kind == group_kind::rows && axis > 0 && space[axis] == 1) {
        --axis;
    }
    return axis;
}

/// Who owns the memory of a stored value.
enum class storage_kind : std::uint8_t {
    argument, // the caller
    constant, // the plan: a scalar known to the compiler
    count,    // the plan: a scalar that follows from extents
    buffer,   // the arena, or an output
    view,     // whoever owns the value that it is a view of
    indices,  // nobody: the row-major places of a node's elements, which kernels count
};

/// A value in memory.
struct stored_value {
    node_id node = -1;
    storage_kind kind = storage_kind::buffer;
    int made_by = -1;  // the group that makes it; -1: it is there before
    int last_use = -1; // the last group that makes it or reads it, through views too
    int output = -1;   // buffers: the output whose memory it takes; -1: none
    int source = -1;   // views: the stored value that it is a view of
    int argument = -1; // arguments: which
};

/// Reads a schedule, whoever stores it.
struct schedule_view {
    group const* groups = nullptr;
    step const* steps = nullptr;
    stored_value const* values = nullptr;
    int const* leaves = nullptr;  // stored values, by group
    int const* results = nullptr; // stored values, by group
    int const* outputs = nullptr; // the stored value of each output
    int group_count = 0;
    int value_count = 0;
    int output_count = 0;

    constexpr int leaf_count() const {
        int count = 0;
        for (int k = 0; k < group_count; ++k) {
            count += groups[k].leaf_count;
        }
        return count;
    }

    /// Whether a group or a view reads a stored value.
    constexpr bool is_read(int v) const {
        bool is = false;
        for (int i = 0; i < value_count; ++i) {
            is |= values[i].kind == storage_kind::view && values[i].source == v;
        }
        for (int i = 0; i < leaf_count(); ++i) {
            is |= leaves[i] == v;
        }
        return is;
    }

    /// The stored value that `v` is a view of, itself if it is none.
    constexpr int root_of(int v) const {
        while (values[v].kind == storage_kind::view) {
            v = values[v].source;
        }
        return v;
    }
};

/// Whether an output is all that a kernel over rows makes of a value, and no copy or view of it.
constexpr bool is_written_by_rows(schedule_view const& s, int output) {
    stored_value const& v = s.values[s.outputs[output]];
    return v.kind == storage_kind::buffer && v.output == output && s.groups[v.made_by].kind == group_kind::rows;
}

struct schedule_size {
    int groups = 0, steps = 0, values = 0, leaves = 0, results = 0, outputs = 0;

    constexpr bool operator==(schedule_size const&) const = default;
    constexpr bool fits_in(schedule_size const& c) const {
        return groups <= c.groups && steps <= c.steps && values <= c.values && leaves <= c.leaves &&
               results <= c.results && outputs <= c.outputs;
    }
};

/// A schedule of fixed size, which a constant can hold.
template <schedule_size Size>
struct static_schedule {
    static constexpr int at_least_one(int n) { return n == 0 ? 1 : n; }
    static constexpr schedule_size size = Size;

    group groups[at_least_one(Size.groups)]{};
    step steps[at_least_one(Size.steps)]{};
    stored_value values[at_least_one(Size.values)]{};
    int leaves[at_least_one(Size.leaves)]{};
    int results[at_least_one(Size.results)]{};
    int outputs[at_least_one(Size.outputs)]{};

    constexpr schedule_view view() const {
        return {groups, steps, values, leaves, results, outputs, Size.groups, Size.values, Size.outputs};
    }
};

/// A schedule in arrays of some capacity, if they have room for it, and its size.
template <schedule_size Capacity>
struct schedule_within {
    schedule_size size;
    static_schedule<Capacity> schedule; // empty, if it does not fit

    constexpr bool fits() const { return size.fits_in(Capacity); }
};

/// The same schedule in arrays of its exact size.
template <schedule_size Size, schedule_size Capacity>
constexpr static_schedule<Size> resized(static_schedule<Capacity> const& from) {
    static_schedule<Size> to;
    auto const copy = [](auto const* source, auto* target, int count) {
        for (int i = 0; i < count; ++i) {
            target[i] = source[i];
        }
    };
    copy(from.groups, to.groups, Size.groups);
    copy(from.steps, to.steps, Size.steps);
    copy(from.values, to.values, Size.values);
    copy(from.leaves, to.leaves, Size.leaves);
    copy(from.results, to.results, Size.results);
    copy(from.outputs, to.outputs, Size.outputs);
    return to;
}

} // namespace graph
} // namespace v0
} // namespace calque
