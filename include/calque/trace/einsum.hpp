// SPDX-License-Identifier: MIT
// `einsum<"bij,bjk->bik">(a, b)`: products of arrays whose axes are named by letters. The compiler reads the subscripts
// and chooses the order of the products.
#pragma once

#include <calque/graph/contraction.hpp>
#include <calque/trace/apply.hpp>
#include <calque/trace/subscripts.hpp>

namespace calque {
inline namespace v0 {

/// The product of arrays whose axes have letters for names, summed over the letters that the result lacks.
///
///     einsum<"ij,jk->ik">(a, b)      // matmul(a, b)
///     einsum<"bhid,bhjd->bhij">(q, k)
///     einsum<"ii->i">(a)             // the diagonal
///
/// Without "->" the result has the letters that occur once, in alphabetical order. Axes of one letter have one extent:
/// else it is an error. Of several operands, two are multiplied at a time; where all extents are static, in the order
/// that multiplies the least. The order of the sums is not fixed.
template <fixed_string Subscripts, handle... X>
constexpr auto einsum(X const&... x) {
    static_assert(sizeof...(X) > 0, "calque: einsum takes arrays: einsum<\"ij,jk->ik\">(a, b)");
    using T = detail::common_element_t<graph::ops::matmul, X...>;
    detail::check_dtype<graph::ops::matmul, T>();
    constexpr detail::subscripts read = detail::subscripts::read(Subscripts.view(), static_cast<int>(sizeof...(X)));
    detail::meeting const at(x...);
    graph::value const values[] = {at.template import <T>(x)...};
    if constexpr (read.error != detail::subscripts_error::none) {
        diagnostics::report_subscripts<Subscripts, read.error>();
        return at.template wrap<expr<T>>(values[0]);
    } else {
        graph::labelled operands[sizeof...(X)];
        for (int k = 0; k < read.count; ++k) {
            operands[k].x = values[k];
            if (values[k].rank() != read.ranks[k]) {
                at.owner().fail(graph::reason::subscripts_do_not_fit, graph::code_of<graph::ops::matmul>, &values[k].id,
                                1, "einsum");
                return at.template wrap<expr<T>>(values[0]);
            }
            for (int axis = 0; axis < read.ranks[k]; ++axis) {
                operands[k].labels[axis] = read.labels[k][axis];
            }
        }
        return at.template wrap<expr<T>>(graph::contract_all(operands, read.count, read.output, read.output_rank));
    }
}

} // namespace v0
} // namespace calque
