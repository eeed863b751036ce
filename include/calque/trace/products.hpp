// SPDX-License-Identifier: MIT
// Products of traced vectors and matrices. (Of arrays of any rank by names of axes: trace/einsum.hpp.)
#pragma once

#include <calque/graph/contraction.hpp>
#include <calque/trace/apply.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

/// What `make` makes of two arrays of one dtype; of scalars it is an error under the name of the function.
template <class A, class B>
constexpr auto product_of(A const& a, B const& b, std::string_view name, auto make) {
    using T = common_element_t<graph::ops::matmul, A, B>;
    check_dtype<graph::ops::matmul, T>();
    meeting const at(a, b);
    graph::value const x = at.template import <T>(a);
    graph::value const y = at.template import <T>(b);
    if (x.rank() < 1 || y.rank() < 1) {
        graph::node_id const operands[] = {x.id, y.id};
        at.owner().fail(graph::reason::matrices_needed, graph::code_of<graph::ops::matmul>, operands, 2, name);
        return at.template wrap<expr<T>>(x);
    }
    return at.template wrap<expr<T>>(make(x, y));
}

} // namespace detail

/// The product of vectors and matrices, as NumPy's `@`: [..., m, k] by [..., k, n] is [..., m, n], and an axis that a
/// vector lacks drops. The axes before the last two count products, and broadcast.
template <handle A, handle B>
constexpr auto matmul(A const& a, B const& b) {
    return detail::product_of(a, b, "matmul",
                              [](graph::value x, graph::value y) { return graph::matmul_broadcast(x, y); });
}

/// The sum of products along the last axis of `a` and the last but one of `b`, as NumPy's `dot`: of vectors and
/// matrices it is `matmul`, of more axes [i, j, k] and [l, k, n] it is [i, j, l, n].
template <handle A, handle B>
constexpr auto dot(A const& a, B const& b) {
    return detail::product_of(a, b, "dot", [](graph::value x, graph::value y) { return graph::dot(x, y); });
}

/// All products of an element of `a` with one of `b`, both taken as vectors. Shape: [size of a, size of b].
template <handle A, handle B>
constexpr auto outer(A const& a, B const& b) {
    using T = detail::common_element_t<graph::ops::multiply, A, B>;
    detail::check_dtype<graph::ops::multiply, T>();
    detail::meeting const at(a, b);
    graph::value const x = graph::reshape(at.template import <T>(a), shape{dyn});
    graph::value const y = graph::reshape(at.template import <T>(b), shape{dyn});
    return at.template wrap<expr<T>>(graph::expand_dims(x, 2) * graph::expand_dims(y, 1));
}

} // namespace v0
} // namespace calque
