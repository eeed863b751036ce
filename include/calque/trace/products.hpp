// SPDX-License-Identifier: MIT
// Products of traced vectors and matrices.
#pragma once

#include <calque/trace/apply.hpp>

namespace calque {
inline namespace v0 {

/// The product of vectors and matrices, as NumPy's `@`: [m,k] by [k,n] is [m,n], and an axis that a vector lacks drops.
template <handle A, handle B>
constexpr auto matmul(A const& a, B const& b) {
    using T = detail::common_element_t<graph::ops::matmul, A, B>;
    detail::check_dtype<graph::ops::matmul, T>();
    detail::meeting const at(a, b);
    graph::value const x = at.import <T>(a);
    graph::value const y = at.import <T>(b);
    if (x.rank() < 1 || x.rank() > 2 || y.rank() < 1 || y.rank() > 2) {
        graph::node_id const operands[] = {x.id, y.id};
        at.owner().fail(graph::reason::matrices_needed, graph::code_of<graph::ops::matmul>, operands, 2);
        return at.wrap<expr<T>>(x);
    }
    return at.wrap<expr<T>>(graph::matmul(x, y));
}

} // namespace v0
} // namespace calque
