// SPDX-License-Identifier: MIT
// error(g++): calque: add: the extents do not broadcast: float\[3,4\] and float\[3\]
// error(clang): extents_broadcast<.*add, calque::spec<float, 3, 4>, calque::spec<float, 3>>
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x, auto y) { return x + y; };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>, calque::spec<float, 3, 1>>(function);
#else
inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>, calque::spec<float, 3>>(function);
#endif
