// SPDX-License-Identifier: MIT
// What an operation's shape rule may see and say. The same rule runs twice: while tracing, on declared extents, and for
// each new key, on the extents of the call.
#pragma once

#include <calque/graph/node.hpp>

#include <string_view>

namespace calque {
inline namespace v0 {
namespace graph {

/// Why an operation cannot be applied.
enum class reason : std::uint8_t {
    none,
    extents_do_not_broadcast,
    inner_extents_differ,
    rank_too_low,
    rank_too_high,
    matrices_needed,
    axis_out_of_range,
    repeated_axis,
    extent_not_one,
    sizes_differ,
    extents_differ,
    extent_unknown,
    empty_reduction,
    not_a_permutation,
    step_not_positive,
    escapes_its_region,
    shape_not_as_asserted,
    not_a_scalar,
    condition_not_a_scalar,
    branches_differ,
    carried_shape_changes,
    assigned_shape_differs,
    no_reverse_derivative,
    loop_without_argument,
    one_key_needed,
    extents_not_known,
    batches_differ,
    no_batch_rule,
    escapes_vmap,
    parts_differ,
    subscripts_do_not_fit,
    shift_not_a_scalar,
    padding_negative,
    extent_as_a_number,
    index_out_of_range,
    too_few_elements,
    too_many_elements,
    assigned_in_derivative,
};

/// The sentence of a reason, as users read it after the operation's name.
constexpr std::string_view sentence(reason r) {
    switch (r) {
    case reason::none: return "";
    case reason::extents_do_not_broadcast: return "the extents do not broadcast";
    case reason::inner_extents_differ: return "the inner extents differ";
    case reason::rank_too_low: return "the array has too few axes";
    case reason::rank_too_high: return "an array has at most 8 axes";
    case reason::matrices_needed: return "it takes vectors and matrices";
    case reason::axis_out_of_range: return "the array has no such axis";
    case reason::repeated_axis: return "an axis is given twice";
    case reason::extent_not_one: return "only an axis of extent 1 can be squeezed";
    case reason::sizes_differ: return "the number of elements changes";
    case reason::extents_differ: return "the extents differ";
    case reason::extent_unknown: return "more than one extent is left to be inferred";
    case reason::empty_reduction: return "it has no value over an empty axis";
    case reason::not_a_permutation: return "the axes are not a permutation";
    case reason::step_not_positive: return "the step of a range is at least 1";
    case reason::escapes_its_region:
        return "a value made inside a branch or loop is used outside it: return it from the branch";
    case reason::shape_not_as_asserted: return "the shape is not the asserted one";
    case reason::not_a_scalar: return "it takes a function that returns a scalar";
    case reason::condition_not_a_scalar: return "the condition is not a scalar";
    case reason::branches_differ: return "the branches return different shapes";
    case reason::carried_shape_changes: return "a carried value changes its shape from one step to the next";
    case reason::assigned_shape_differs: return "the value does not have the shape of the variable";
    case reason::no_reverse_derivative:
        return "it has no reverse derivative: use scan, or fori_loop with constant bounds";
    case reason::loop_without_argument:
        return "nothing that it starts with depends on an argument: begin with zeros_like(x), say, not with a constant";
    case reason::one_key_needed: return "it takes one key, not an array of them";
    case reason::extents_not_known:
        return "the compiler does not know the extents: take them from an array: zeros_like(x), say";
    case reason::batches_differ: return "the mapped axes have different extents";
    case reason::no_batch_rule: return "vmap cannot map it";
    case reason::escapes_vmap:
        return "a value made inside a mapped function is used outside it: return it from the function";
    case reason::parts_differ: return "the extent of the axis is no multiple of the number of parts";
    case reason::shift_not_a_scalar: return "the shift is not a scalar";
    case reason::padding_negative: return "a padding is negative: view makes arrays smaller";
    case reason::extent_as_a_number:
        return "only the call knows the extent: use it beside a traced value, as in sum(x) / x.extent(0), or in a list "
               "of extents";
    case reason::index_out_of_range: return "the axis has no element of this index";
    case reason::too_few_elements: return "the axis has fewer elements";
    case reason::too_many_elements: return "the axis has more elements than int32 has indices";
    case reason::assigned_in_derivative:
        return "a derivative assigns to a variable, as that of a checkpoint does if its function does: return the "
               "value and assign it outside";
    case reason::subscripts_do_not_fit: return "the subscripts of an operand are not as many as its axes";
    }
    return "";
}

/// The inputs of a shape rule, and its complaint.
struct inference {
    shape const* const* inputs = nullptr;
    shape const* const* declared = nullptr; // what the trace knew: a named extent of 1 does not broadcast
    std::uint64_t attribute = 0;
    shape const* lists = nullptr; // the graph's shapes, which also hold the lists that attributes refer to
    int count = 0;
    reason failure = reason::none;

    constexpr shape const& input(int k) const { return *inputs[k]; }
    /// The shape of an input to make a result of.
    constexpr shape copy_of_input(int k) const {
        shape copy;
        copy_extents(copy, input(k));
        return copy;
    }
    constexpr shape const& list(int index) const { return lists[index]; }

    constexpr void fail(reason r) {
        if (failure == reason::none) {
            failure = r;
        }
    }
};

/// One axis of NumPy's broadcasting: `a` and `b` are extents, each with what the trace declared for it.
///
/// A `dyn` extent that is 1 at run time broadcasts, a named one never does; of two extents that must agree the more
/// informed one is the result, and the call checks them.
constexpr extent_t broadcast_extent(inference& in, extent_t a, extent_t declared_a, extent_t b, extent_t declared_b) {
    if (a == b) {
        return a;
    }
    if (a == 1 && may_broadcast(declared_a)) {
        return b;
    }
    if (b == 1 && may_broadcast(declared_b)) {
        return a;
    }
    if (a == dyn) {
        return b;
    }
    if (b == dyn) {
        return a;
    }
    if (is_named(a) && is_static(b)) {
        return b;
    }
    if (is_named(b) && is_static(a)) {
        return a;
    }
    in.fail(reason::extents_do_not_broadcast);
    return a;
}

constexpr void prepend_one(shape& s) {
    for (int axis = s.rank++; axis > 0; --axis) {
        s[axis] = s[axis - 1];
    }
    s[0] = 1;
}

/// NumPy's broadcasting of all inputs.
constexpr shape broadcast_inputs(inference& in) {
    shape result = in.copy_of_input(0);
    shape declared = *in.declared[0];
    for (int k = 1; k < in.count; ++k) {
        shape const& other = in.input(k);
        for (int added = result.rank; added < other.rank; ++added) {
            prepend_one(result);
            prepend_one(declared);
        }
        int const missing = result.rank - other.rank;
        for (int axis = missing; axis < result.rank; ++axis) {
            extent_t const other_declared = (*in.declared[k])[axis - missing];
            result[axis] = broadcast_extent(in, result[axis], declared[axis], other[axis - missing], other_declared);
            declared[axis] = may_broadcast(declared[axis]) ? other_declared : declared[axis];
        }
    }
    return result;
}

} // namespace graph
} // namespace v0
} // namespace calque
