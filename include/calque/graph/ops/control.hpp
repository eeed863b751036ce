// SPDX-License-Identifier: MIT
// Branches and loops, and the values that cross the borders of their regions.
//
// The nodes of a branch or of a loop's body are in a region of their own, before the node of the branch or loop. That
// node's inputs are what it reads (its operands, then what its regions capture: a pass lists those), then the `yield`s
// of its regions, which are in the regions. Its results are nodes after it.
#pragma once

#include <calque/graph/op.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// How many inputs and results of each kind a branch or loop has: its attribute.
struct control_counts {
    int data = 0;    // inputs whose elements are read: the operands, then what the regions capture
    int carried = 0; // loops: values that go from one step to the next; the first operands are what they start as
    int items = 0;   // scans: arrays of which each step sees one element along axis 0; operands after the carried
    int yields = 0;  // values that a region (of a `while_loop`, its body) returns
    bool backwards = false; // scans: from the last element to the first

    constexpr std::uint64_t pack() const {
        return static_cast<std::uint64_t>(data) | static_cast<std::uint64_t>(carried) << 16 |
               static_cast<std::uint64_t>(items) << 28 | static_cast<std::uint64_t>(yields) << 40 |
               static_cast<std::uint64_t>(backwards) << 52;
    }
    static constexpr control_counts unpack(std::uint64_t attribute) {
        return {static_cast<int>(attribute & 0xffff), static_cast<int>(attribute >> 16 & 0xfff),
                static_cast<int>(attribute >> 28 & 0xfff), static_cast<int>(attribute >> 40 & 0xfff),
                (attribute >> 52 & 1u) != 0};
    }
};

/// The first of the inputs of a branch or loop that are the yields of one of its regions, and how many there are.
struct yield_range {
    int first = 0;
    int count = 0;
};

/// Two inputs of a branch or loop that have one shape.
struct input_pair {
    int one = -1;
    int other = -1;
};

namespace ops {

struct control : op_defaults {
    static constexpr op_kind kind = op_kind::control;
    static constexpr int arity = -1;
    static constexpr int cost = 1000;
    static constexpr bool is_unique = true;

    static constexpr dtype infer_type(dtype const*, std::uint64_t) { return dtype::bool_; }

    /// Whether two shapes may be one: extents that only the call knows are compared there.
    static constexpr bool may_agree(shape const& a, shape const& b) {
        bool agree = a.rank == b.rank;
        for (int axis = 0; agree && axis < a.rank; ++axis) {
            agree = a[axis] == b[axis] || !is_static(a[axis]) || !is_static(b[axis]);
        }
        return agree;
    }
};

/// Runs one of its regions. Inputs: a scalar (a bool: the first region if it is true, else the second; an integer: the
/// region of that number, or the nearest), captures, and the yields of each region.
struct branch : control {
    static constexpr std::string_view name = "cond";

    static constexpr shape infer(inference& in) {
        control_counts const counts = control_counts::unpack(in.attribute);
        if (in.input(0).rank != 0) {
            in.fail(reason::condition_not_a_scalar);
        }
        for (int k = 0; k < in.count - counts.data - counts.yields; ++k) {
            if (input_pair const pair = alike(counts, k); !may_agree(in.input(pair.one), in.input(pair.other))) {
                in.fail(reason::branches_differ);
            }
        }
        return {};
    }

    static constexpr yield_range yields(control_counts const& counts, int region) {
        return {counts.data + region * counts.yields, counts.yields};
    }

    /// A result of the first region and that of another one.
    static constexpr input_pair alike(control_counts const& counts, int k) {
        return {yields(counts, 0).first + k % counts.yields, yields(counts, 1).first + k};
    }
};

/// Repeats its second region while its first one yields true. Inputs: what the carried values start as, captures, the
/// condition, and what the carried values become.
struct while_loop : control {
    static constexpr std::string_view name = "while_loop";

    static constexpr shape infer(inference& in) {
        control_counts const counts = control_counts::unpack(in.attribute);
        if (in.input(counts.data).rank != 0) {
            in.fail(reason::condition_not_a_scalar);
        }
        for (int k = 0; k < counts.carried; ++k) {
            if (input_pair const pair = alike(counts, k); !may_agree(in.input(pair.one), in.input(pair.other))) {
                in.fail(reason::carried_shape_changes);
            }
        }
        return {};
    }

    static constexpr yield_range yields(control_counts const& counts, int region) {
        return region == 0 ? yield_range{counts.data, 1} : yield_range{counts.data + 1, counts.carried};
    }

    /// What a carried value starts as and what it becomes.
    static constexpr input_pair alike(control_counts const& counts, int k) { return {k, yields(counts, 1).first + k}; }
};

/// Runs its region for each element along axis 0 of its items. Inputs: what the carried values start as, the items,
/// captures, what the carried values become, and what each step returns.
struct scan : control {
    static constexpr std::string_view name = "scan";

    static constexpr shape infer(inference& in) {
        control_counts const counts = control_counts::unpack(in.attribute);
        for (int k = 0; k < counts.carried; ++k) {
            if (input_pair const pair = alike(counts, k); !may_agree(in.input(pair.one), in.input(pair.other))) {
                in.fail(reason::carried_shape_changes);
            }
        }
        extent_t const steps = in.input(counts.carried).rank == 0 ? 0 : in.input(counts.carried)[0];
        for (int k = counts.carried; k < counts.carried + counts.items; ++k) {
            if (in.input(k).rank == 0) {
                in.fail(reason::rank_too_low);
            } else if (extent_t const other = in.input(k)[0]; other != steps && is_static(other) && is_static(steps)) {
                in.fail(reason::extents_differ);
            }
        }
        return {};
    }

    static constexpr yield_range yields(control_counts const& counts, int /*region*/) {
        return {counts.data, counts.yields};
    }

    /// What a carried value starts as and what it becomes.
    static constexpr input_pair alike(control_counts const& counts, int k) { return {k, yields(counts, 0).first + k}; }
};

/// A value that crosses the border of a region. Attribute: its number among those of its kind.
struct border : op_defaults {
    static constexpr op_kind kind = op_kind::border;
    static constexpr int cost = 0;
    static constexpr bool is_unique = true;
};

/// A carried value as a region sees it. The input, what it starts as, lends its shape.
struct parameter : border {
    static constexpr std::string_view name = "parameter";
    static constexpr int arity = 1;
    static constexpr int first_shape_input = 0;

    static constexpr shape infer(inference& in) { return in.input(0); }
};

/// An element, along axis 0, of the array that lends its shape.
struct item : border {
    static constexpr std::string_view name = "item";
    static constexpr int arity = 1;
    static constexpr int first_shape_input = 0;

    static constexpr shape infer(inference& in) {
        shape result;
        for (int axis = 1; axis < in.input(0).rank; ++axis) {
            result.push_back(in.input(0)[axis]);
        }
        return result;
    }
};

/// What a region returns.
struct yield : border {
    static constexpr std::string_view name = "yield";
    static constexpr int arity = 1;

    static constexpr shape infer(inference& in) { return in.input(0); }
};

/// A result of the branch or loop that is its first input; the second, a yield, lends dtype and shape.
struct result : border {
    static constexpr std::string_view name = "result";
    static constexpr int arity = 2;
    static constexpr int first_shape_input = 0;
    static constexpr bool is_unique = false;

    static constexpr dtype infer_type(dtype const* inputs, std::uint64_t) { return inputs[1]; }
    static constexpr shape infer(inference& in) { return in.input(1); }
};

/// What the steps of the scan that is the first input returned, along a new axis 0: values of the dtype and shape of
/// the second input, as many as the third has elements along axis 0.
struct stacked : border {
    static constexpr std::string_view name = "stacked";
    static constexpr int arity = 3;
    static constexpr int first_shape_input = 0;
    static constexpr bool is_unique = false;

    static constexpr dtype infer_type(dtype const* inputs, std::uint64_t) { return inputs[1]; }
    static constexpr shape infer(inference& in) {
        shape result;
        if (in.input(1).rank == max_rank) {
            in.fail(reason::rank_too_high);
            return in.input(1);
        }
        result.push_back(in.input(2).rank == 0 ? 1 : in.input(2)[0]);
        for (int axis = 0; axis < in.input(1).rank; ++axis) {
            result.push_back(in.input(1)[axis]);
        }
        return result;
    }
};

/// The carried value that each step of a scan began with: as `stacked`, which its derivative runs back over.
struct history : stacked {
    static constexpr std::string_view name = "history";
};

} // namespace ops
} // namespace graph
} // namespace v0
} // namespace calque
