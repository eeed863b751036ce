// SPDX-License-Identifier: MIT
// error(g++): calque: einsum: the subscripts are of another number of operands: ij,jk->ik
// error(clang): subscripts_are_as_many_as_operands<.*'-', '>', 'i', 'k'>>.*the subscripts are of another number of operands
// first
#include <calque/trace/einsum.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::einsum<"ij->ji">(x);
#else
    return calque::einsum<"ij,jk->ik">(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 3>>(function);
