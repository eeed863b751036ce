// SPDX-License-Identifier: MIT
// error(g++): calque: jvp: the extents differ: float\[4\] and float\[3\]
// error(clang): extents_agree<.*calque::spec<float, 4>, calque::spec<float, 3>>.*calque: the extents differ
// first
#include <calque/jvp.hpp>
#include <calque/trace/elementwise.hpp>

inline constexpr auto slope = calque::jvp([](auto x) { return exp(x); });

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph = calque::trace<calque::spec<float, 4>, calque::spec<float, 4>>(slope);
#else
inline constexpr auto graph = calque::trace<calque::spec<float, 4>, calque::spec<float, 3>>(slope);
#endif
