// SPDX-License-Identifier: MIT
// error: calque: grad takes a function that returns float or double: write calque::cast<float>\(y\)
// first
#include <calque/grad.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto function = calque::grad([](auto x) { return calque::cast<float>(argmax<0>(x)); });
#else
inline constexpr auto function = calque::grad([](auto x) { return argmax<0>(x); });
#endif

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
