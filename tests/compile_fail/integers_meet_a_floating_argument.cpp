// SPDX-License-Identifier: MIT
// error: calque: an integer array meets a floating number: write calque::cast<float>\(x\), or an integer
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x, auto scale) { return x * scale; };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph = calque::trace<calque::spec<int, 4>, int>(function);
#else
inline constexpr auto graph = calque::trace<calque::spec<int, 4>, double>(function);
#endif
