// SPDX-License-Identifier: MIT
// Reductions of a few elements as elementwise operations.
#pragma once

#include <calque/graph/op_set.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

/// The elementwise operation that combines two elements of `type` as the reduction `op` does; `op` itself: none that
/// this is asked of.
constexpr graph::op_code combining(graph::op_code op, dtype type) {
    using namespace graph;
    bool const is_real = type == dtype::float32 || type == dtype::float64;
    return !is_real                         ? op
           : op == code_of<ops::sum>        ? code_of<ops::add>
           : op == code_of<ops::reduce_max> ? code_of<ops::maximum>
           : op == code_of<ops::reduce_min> ? code_of<ops::minimum>
                                            : op;
}

} // namespace detail
} // namespace passes
} // namespace v0
} // namespace calque
