// SPDX-License-Identifier: MIT
// The functions that derivatives are written in, declared: graph/value.hpp defines them, for `value`, once there is a
// builder. (An operation's struct hides the function of its name, so rules write `graph::exp(x)`.)
#pragma once

#include <calque/graph/node.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

struct value;

constexpr value zero_of(value like);
constexpr value square(value x);
constexpr value sqrt(value x);
constexpr value exp(value x);
constexpr value log(value x);
constexpr value sigmoid(value x);
constexpr value sin(value x);
constexpr value cos(value x);
constexpr value sinh(value x);
constexpr value cosh(value x);
constexpr value round(value x);
constexpr value pow(value x, value y);
constexpr value where(value condition, value x, value y);
constexpr value cast(value x, dtype to);
constexpr value sum(value x, axis_set axes);
constexpr value expand_dims(value x, axis_set axes);
constexpr value squeeze(value x, axis_set axes);
constexpr value transpose(value x);
constexpr value transpose(value x, std::uint64_t permutation);
constexpr value reshape_like(value x, value like);
constexpr value broadcast_like(value x, value like);
constexpr value slice(value x, std::uint64_t lists);
constexpr value slice_adjoint(value x, value like, std::uint64_t lists);
constexpr value set_slice(value part, value x, std::uint64_t lists);
constexpr value take(value x, value indices, std::uint64_t axis);
constexpr value take_adjoint(value x, value indices, value like, std::uint64_t axis);
constexpr value flip(value x, axis_set axes);
constexpr value roll(value x, int axis, value shift);
constexpr value running_sum(value x, std::uint64_t order);
constexpr value recurrence(value a, value b, std::uint64_t order);
constexpr value previous(value x, int axis, bool is_reversed);
constexpr value product_gradient(value dy, value x, axis_set axes);
constexpr value matmul(value a, value b);
constexpr value batch_matmul(value a, value b);
constexpr value gather_rows(value x, value numbers);
constexpr value segment_sum(value x, value numbers, value like);
constexpr value segment_max(value x, value numbers, value like);
constexpr value segment_min(value x, value numbers, value like);

// Of batches, whose first axis counts examples: graph/batches.hpp.
constexpr value merge_axes(value x, int first);
constexpr value move_axis(value x, int from, int to);
constexpr value move_to_front(value x, int axis);
constexpr value matmul_rows(value a, value b, value like);
constexpr value matmul_each(value a, value b);
constexpr value take_each(value x, value indices, int axis);
constexpr value roll_each(value x, value shifts, int axis);
constexpr value take_each_adjoint(value dy, value indices, value like, int axis);
constexpr value numbers_in_all(value numbers, value like);
constexpr value gather_rows_each(value x, value numbers);
constexpr value random_bits_each(value keys, value like, dtype word);

} // namespace graph
} // namespace v0
} // namespace calque
