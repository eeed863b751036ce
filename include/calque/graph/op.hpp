// SPDX-License-Identifier: MIT
// The bases of operations. An operation is one struct: name, dtype rule, shape rule, functor, derivative; printing, the
// interpreter, the kernels, differentiation and the documentation derive from it.
#pragma once

#include <calque/graph/inference.hpp>
#include <calque/graph/vocabulary.hpp>

#include <string_view>

namespace calque {
inline namespace v0 {
namespace graph {

/// How an operation is executed; passes and kernels ask for nothing finer.
enum class op_kind : std::uint8_t {
    source,      // no data inputs: arguments, constants, indices
    elementwise, // one element of the result from one element of each input, which broadcast
    reduction,   // folds some axes to extent 1
    view,        // the same elements under other extents or strides: no work
    contraction, // matrix products
    movement,    // copies elements to other places
    control,     // branches and loops, which run regions
    border,      // values that enter or leave a region
};

/// The defaults of an operation; a struct overrides what differs.
///
/// Beside its shape rule an operation has a rule for `vmap`, unless it is a source: `batch(in)` is called with a
/// `passes::mapped_node` where an input that lends its elements has a batch axis in front, and returns the result with
/// one. The families below state it once.
struct op_defaults {
    /// The dtypes that it is compiled for. Arrays of a half-float dtype that it does not accept reach it as float.
    static constexpr dtype_set accepts = dtype_set::all;
    static constexpr int cost = 1; // instructions a pack, for the fusion cost model
    /// Whether it divides or takes a root and does nothing else, so that wide registers take longer than narrow ones.
    static constexpr bool uses_divider = false;
    /// Whether `apply` takes a number that the compiler knows in the place of one of two packs, too, with the same
    /// bits.
    static constexpr bool takes_numbers = false;

    /// Whether the results must be distinct nodes even if the inputs agree.
    static constexpr bool is_unique = false;
    /// Whether an element depends on where it stands, in row-major order: the operation has `generate`, not `apply`.
    static constexpr bool is_indexed = false;
    /// Inputs from this one on lend their shape only; their elements are never read.
    static constexpr int first_shape_input = 1000;
    /// How many interned lists the attribute refers to: 0, 1 (the attribute is its index) or 3 (`slice_lists`).
    static constexpr int list_count = 0;

    /// The dtype of the result.
    static constexpr dtype infer_type(dtype const* inputs, std::uint64_t /*attribute*/) { return inputs[0]; }
    /// The shape of the result. (That of an argument or an example is given with the node.)
    static constexpr shape infer(inference&) { return {}; }
};

/// An operation on `Arity` arrays that broadcast. It defines `apply`, on scalars or packs of SIMD registers.
template <int Arity>
struct elementwise : op_defaults {
    static constexpr op_kind kind = op_kind::elementwise;
    static constexpr int arity = Arity;

    static constexpr shape infer(inference& in) { return broadcast_inputs(in); }
    static constexpr auto batch(auto const& in) { return in.again(in.attribute()); }
};

/// An elementwise question: the result is bool.
template <int Arity>
struct predicate : elementwise<Arity> {
    static constexpr dtype_set accepts = dtype_set::computed;

    static constexpr dtype infer_type(dtype const*, std::uint64_t) { return dtype::bool_; }
};

/// A fold over the axes in the attribute, which keep extent 1. It defines `identity` and `combine`.
struct reduction : op_defaults {
    static constexpr op_kind kind = op_kind::reduction;
    static constexpr int arity = 1;
    static constexpr bool has_identity = true;
    static constexpr bool rounds = true; // so that of floating-point elements results depend on their order

    static constexpr auto batch(auto const& in) { return in.again(in.attribute() << 1); }

    static constexpr shape infer_reduction(inference& in, bool allow_empty) {
        shape result = in.copy_of_input(0);
        for (int axis = 0; axis < result.rank; ++axis) {
            if (contains(in.attribute, axis)) {
                if (result[axis] == 0 && !allow_empty) {
                    in.fail(reason::empty_reduction);
                }
                result[axis] = 1;
            }
        }
        return result;
    }
};

/// Elements under other extents.
struct view_op : op_defaults {
    static constexpr op_kind kind = op_kind::view;
    static constexpr int arity = 1;
    static constexpr int cost = 0;
};

namespace ops {

// What operations call by these names are the functions of the values that they get, found by their namespace. Without
// a declaration here a global name of the program's would take their place.
template <class Mask, class V>
V select(Mask, V, V) = delete;
template <class To, class V>
To convert(V) = delete;

} // namespace ops

} // namespace graph
} // namespace v0
} // namespace calque
