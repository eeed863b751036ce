// SPDX-License-Identifier: MIT
// The errors of a trace as requirements on types, for compilers that print the types of a static_assert but no computed
// text: `inner_extents_agree<ops::matmul, spec<float, 64, 784>, spec<float, 100, 10>>`.
#pragma once

#include <calque/core/spec.hpp>
#include <calque/core/type_list.hpp>
#include <calque/graph/builder.hpp>

#include <utility>

namespace calque {
inline namespace v0 {
namespace diagnostics {

/// The name of a dim, in a type.
template <char... Characters>
struct named;

/// An extent beside a named one, in a type.
template <extent_t Extent>
struct extent;

/// An array with named extents, in a type: `array<float, named<'b', 'a', 't', 'c', 'h'>, extent<784>>`.
template <class T, class... Extents>
struct array;

// The requirements of operations. None of them holds: the operation's shape rule has decided that.
template <class Operation, class... Operands>
inline constexpr bool extents_broadcast = false;
template <class Operation, class... Operands>
inline constexpr bool inner_extents_agree = false;
template <class Operation, class... Operands>
inline constexpr bool has_enough_axes = false;
template <class Operation, class... Operands>
inline constexpr bool has_at_most_8_axes = false;
template <class Operation, class... Operands>
inline constexpr bool are_vectors_or_matrices = false;
template <class Operation, class... Operands>
inline constexpr bool has_such_an_axis = false;
template <class Operation, class... Operands>
inline constexpr bool axes_are_distinct = false;
template <class Operation, class... Operands>
inline constexpr bool extent_is_one = false;
template <class Operation, class... Operands>
inline constexpr bool sizes_agree = false;
template <class Operation, class... Operands>
inline constexpr bool extents_agree = false;
template <class Operation, class... Operands>
inline constexpr bool extents_are_known = false;
template <class Operation, class... Operands>
inline constexpr bool axis_is_not_empty = false;
template <class Operation, class... Operands>
inline constexpr bool axes_are_a_permutation = false;
template <class Operation, class... Operands>
inline constexpr bool index_is_in_range = false;
template <class Operation, class... Operands>
inline constexpr bool has_enough_elements = false;
template <class Operation, class... Operands>
inline constexpr bool has_indices_of_int32 = false;
template <class Operation, class... Operands>
inline constexpr bool assigns_to_no_variable = false;
template <class Operation, class... Operands>
inline constexpr bool step_is_positive = false;
template <class Operation, class... Operands>
inline constexpr bool is_made_here = false;
template <class Operation, class... Operands>
inline constexpr bool shape_is_as_asserted = false;
template <class Operation, class... Operands>
inline constexpr bool is_a_scalar = false;
template <class Operation, class... Operands>
inline constexpr bool condition_is_a_scalar = false;
template <class Operation, class... Operands>
inline constexpr bool branches_agree = false;
template <class Operation, class... Operands>
inline constexpr bool carried_shape_stays = false;
template <class Operation, class... Operands>
inline constexpr bool has_the_shape_of_the_variable = false;
template <class Operation, class... Operands>
inline constexpr bool has_a_reverse_derivative = false;
template <class Operation, class... Operands>
inline constexpr bool begins_with_an_argument = false;
template <class Operation, class... Operands>
inline constexpr bool is_one_key = false;
template <class Operation, class... Operands>
inline constexpr bool extents_are_known_to_the_compiler = false;
template <class Operation, class... Operands>
inline constexpr bool mapped_extents_agree = false;
template <class Operation, class... Operands>
inline constexpr bool has_a_batch_rule = false;
template <class Operation, class... Operands>
inline constexpr bool is_returned_by_vmap = false;
template <class Operation, class... Operands>
inline constexpr bool parts_are_equal = false;
template <class Operation, class... Operands>
inline constexpr bool shift_is_a_scalar = false;
template <class Operation, class... Operands>
inline constexpr bool padding_is_not_negative = false;
template <class Operation, class... Operands>
inline constexpr bool has_as_many_axes_as_subscripts = false;
template <class Operation, class... Operands>
inline constexpr bool the_compiler_knows_the_extent = false;

template <extent_t Extent, class Indices>
struct extent_type;
template <extent_t Extent, std::size_t... I>
struct extent_type<Extent, std::index_sequence<I...>> {
    static constexpr dim_name name = name_of_dim(Extent);
    using type = named<name.characters[I]...>;
};
template <extent_t Extent>
struct extent_type<Extent, std::index_sequence<>> {
    using type = extent<Extent>;
};

constexpr std::size_t name_size(extent_t e) {
    return is_named(e) ? name_of_dim(e).size : 0;
}

template <class T, extent_t... Extents>
constexpr auto array_type() {
    if constexpr ((is_named(Extents) || ...)) {
        return std::type_identity<
            array<T, typename extent_type<Extents, std::make_index_sequence<name_size(Extents)>>::type...>>{};
    } else {
        return std::type_identity<spec<T, Extents...>>{};
    }
}

/// The type that names operand `K` of the error that `Source::error()` returns.
template <class Source, std::size_t K, class Axes>
struct operand;
template <class Source, std::size_t K, std::size_t... Axis>
struct operand<Source, K, std::index_sequence<Axis...>> {
    static constexpr graph::failure error = Source::error();
    using type = typename decltype(array_type<type_of<error.types[K]>, error.shapes[K].extents[Axis]...>())::type;
};

template <class Source, std::size_t K>
using operand_t =
    typename operand<Source, K,
                     std::make_index_sequence<static_cast<std::size_t>(Source::error().shapes[K].rank)>>::type;

/// Fails to compile with the sentence of a reason.
template <graph::reason Why, class... Names>
constexpr void require() {
    using enum graph::reason;
    if constexpr (Why == extents_do_not_broadcast) {
        static_assert(extents_broadcast<Names...>, "calque: the extents do not broadcast");
    } else if constexpr (Why == inner_extents_differ) {
        static_assert(inner_extents_agree<Names...>, "calque: the inner extents differ");
    } else if constexpr (Why == rank_too_low) {
        static_assert(has_enough_axes<Names...>, "calque: the array has too few axes");
    } else if constexpr (Why == rank_too_high) {
        static_assert(has_at_most_8_axes<Names...>, "calque: an array has at most 8 axes");
    } else if constexpr (Why == matrices_needed) {
        static_assert(are_vectors_or_matrices<Names...>, "calque: it takes vectors and matrices");
    } else if constexpr (Why == axis_out_of_range) {
        static_assert(has_such_an_axis<Names...>, "calque: the array has no such axis");
    } else if constexpr (Why == repeated_axis) {
        static_assert(axes_are_distinct<Names...>, "calque: an axis is given twice");
    } else if constexpr (Why == extent_not_one) {
        static_assert(extent_is_one<Names...>, "calque: only an axis of extent 1 can be squeezed");
    } else if constexpr (Why == sizes_differ) {
        static_assert(sizes_agree<Names...>, "calque: the number of elements changes");
    } else if constexpr (Why == extents_differ) {
        static_assert(extents_agree<Names...>, "calque: the extents differ");
    } else if constexpr (Why == extent_unknown) {
        static_assert(extents_are_known<Names...>, "calque: more than one extent is left to be inferred");
    } else if constexpr (Why == empty_reduction) {
        static_assert(axis_is_not_empty<Names...>, "calque: it has no value over an empty axis");
    } else if constexpr (Why == not_a_permutation) {
        static_assert(axes_are_a_permutation<Names...>, "calque: the axes are not a permutation");
    } else if constexpr (Why == index_out_of_range) {
        static_assert(index_is_in_range<Names...>, "calque: the axis has no element of this index");
    } else if constexpr (Why == too_few_elements) {
        static_assert(has_enough_elements<Names...>, "calque: the axis has fewer elements");
    } else if constexpr (Why == too_many_elements) {
        static_assert(has_indices_of_int32<Names...>, "calque: the axis has more elements than int32 has indices");
    } else if constexpr (Why == step_not_positive) {
        static_assert(step_is_positive<Names...>, "calque: the step of a range is at least 1");
    } else if constexpr (Why == escapes_its_region) {
        static_assert(is_made_here<Names...>,
                      "calque: a value made inside a branch or loop is used outside it: return it from the branch");
    } else if constexpr (Why == shape_not_as_asserted) {
        static_assert(shape_is_as_asserted<Names...>, "calque: the shape is not the asserted one");
    } else if constexpr (Why == not_a_scalar) {
        static_assert(is_a_scalar<Names...>, "calque: grad takes a function that returns a scalar");
    } else if constexpr (Why == condition_not_a_scalar) {
        static_assert(condition_is_a_scalar<Names...>, "calque: the condition is not a scalar");
    } else if constexpr (Why == branches_differ) {
        static_assert(branches_agree<Names...>, "calque: the branches return different shapes");
    } else if constexpr (Why == carried_shape_changes) {
        static_assert(carried_shape_stays<Names...>,
                      "calque: a carried value changes its shape from one step to the next");
    } else if constexpr (Why == assigned_shape_differs) {
        static_assert(has_the_shape_of_the_variable<Names...>,
                      "calque: the value does not have the shape of the variable");
    } else if constexpr (Why == no_reverse_derivative) {
        static_assert(has_a_reverse_derivative<Names...>, "calque: it has no reverse derivative: use scan, or "
                                                          "fori_loop with constant bounds");
    } else if constexpr (Why == loop_without_argument) {
        static_assert(begins_with_an_argument<Names...>,
                      "calque: nothing that it starts with depends on an argument: begin with zeros_like(x), say, not "
                      "with a constant");
    } else if constexpr (Why == one_key_needed) {
        static_assert(is_one_key<Names...>, "calque: it takes one key, not an array of them");
    } else if constexpr (Why == extents_not_known) {
        static_assert(extents_are_known_to_the_compiler<Names...>,
                      "calque: the compiler does not know the extents: take them from an array: zeros_like(x), say");
    } else if constexpr (Why == batches_differ) {
        static_assert(mapped_extents_agree<Names...>, "calque: the mapped axes have different extents");
    } else if constexpr (Why == no_batch_rule) {
        static_assert(has_a_batch_rule<Names...>, "calque: vmap cannot map it");
    } else if constexpr (Why == escapes_vmap) {
        static_assert(is_returned_by_vmap<Names...>,
                      "calque: a value made inside a mapped function is used outside it: return it from the function");
    } else if constexpr (Why == parts_differ) {
        static_assert(parts_are_equal<Names...>,
                      "calque: the extent of the axis is no multiple of the number of parts");
    } else if constexpr (Why == shift_not_a_scalar) {
        static_assert(shift_is_a_scalar<Names...>, "calque: the shift is not a scalar");
    } else if constexpr (Why == padding_negative) {
        static_assert(padding_is_not_negative<Names...>, "calque: a padding is negative: view makes arrays smaller");
    } else if constexpr (Why == extent_as_a_number) {
        static_assert(the_compiler_knows_the_extent<Names...>,
                      "calque: only the call knows the extent: use it beside a traced value, as in sum(x) / "
                      "x.extent(0), or in a list of extents");
    } else if constexpr (Why == assigned_in_derivative) {
        static_assert(assigns_to_no_variable<Names...>,
                      "calque: a derivative assigns to a variable, as that of a checkpoint does if its function does: "
                      "return the value and assign it outside");
    } else if constexpr (Why == subscripts_do_not_fit) {
        static_assert(has_as_many_axes_as_subscripts<Names...>,
                      "calque: the subscripts of an operand are not as many as its axes");
    }
}

template <graph::op_code Code, class... Ops>
constexpr auto operation_type(graph::op_list<Ops...>) {
    return std::type_identity<type_at_t<type_list<Ops...>, static_cast<std::size_t>(Code)>>{};
}

template <graph::op_code Code>
using operation_t = typename decltype(operation_type<Code>(graph::op_set{}))::type;

} // namespace diagnostics
} // namespace v0
} // namespace calque
