// SPDX-License-Identifier: MIT
// error(g++): calque: matmul: the inner extents differ: float\[64,784\] and float\[100,10\]
// error(clang): inner_extents_agree<.*matmul, calque::spec<float, 64, 784>, calque::spec<float, 100, 10>>
// first
#include <calque/trace/products.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x, auto w) { return calque::matmul(x, w); };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph = calque::trace<calque::spec<float, 64, 784>, calque::spec<float, 784, 10>>(function);
#else
inline constexpr auto graph = calque::trace<calque::spec<float, 64, 784>, calque::spec<float, 100, 10>>(function);
#endif
