// SPDX-License-Identifier: MIT
// error(g++): calque: einsum: the subscripts of an operand are not as many as its axes: float\[3,4\]
// error(clang): has_as_many_axes_as_subscripts<.*calque::spec<float, 3, 4>.*the subscripts of an operand are not as
// many first
#include <calque/trace/einsum.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::einsum<"ij->i">(x);
#else
    return calque::einsum<"ijk->i">(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>>(function);
