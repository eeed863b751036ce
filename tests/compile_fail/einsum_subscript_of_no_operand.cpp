// SPDX-License-Identifier: MIT
// error(g++): calque: einsum: a subscript of the result is one of no operand: ij,jk->ix
// error(clang): subscripts_of_the_result_are_known<.*'-', '>', 'i', 'x'>>.*a subscript of the result is one of no operand
// first
#include <calque/trace/einsum.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::einsum<"ij,jk->ik">(x, x);
#else
    return calque::einsum<"ij,jk->ix">(x, x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 3>>(function);
