// SPDX-License-Identifier: MIT
// Reductions of a few elements as elementwise operations.
#pragma once

#include <calque/graph/op_set.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

/// The elementwise operation that combines two elements of `type` as the reduction `op` does; `op` itself: none. (A sum
/// of half floats rounds once, not with each of its elements.)
constexpr graph::op_code combining(graph::op_code op, dtype type) {
    using namespace graph;
    return is_half_float(type)                                                 ? op
           : op == code_of<ops::sum>                                           ? code_of<ops::add>
           : op == code_of<ops::reduce_max>                                    ? code_of<ops::maximum>
           : op == code_of<ops::reduce_min> || op == code_of<ops::first_index> ? code_of<ops::minimum>
                                                                               : op;
}

} // namespace detail
} // namespace passes
} // namespace v0
} // namespace calque
