// SPDX-License-Identifier: MIT
// error: calque: the traced function does not take these arguments
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x, auto y) { return x + y; };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph = calque::trace<calque::spec<float, 4>, calque::spec<float, 4>>(function);
#else
inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
#endif
