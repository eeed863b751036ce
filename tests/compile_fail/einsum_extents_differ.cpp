// SPDX-License-Identifier: MIT
// error(g++): calque: einsum: the extents differ: float\[3,4\] and float\[3,4\]
// error(clang): extents_agree<.*calque::spec<float, 3, 4>.*the extents differ
// first
#include <calque/trace/einsum.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::einsum<"ij,kj->ik">(x, x);
#else
    return calque::einsum<"ij,jk->ik">(x, x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>>(function);
