// SPDX-License-Identifier: MIT
// error: calque: a tangent or cotangent has the dtype of its value: write calque::cast<...>\(t\)
// first
#include <calque/jvp.hpp>
#include <calque/trace/elementwise.hpp>

inline constexpr auto slope = calque::jvp([](auto x) { return exp(x); });

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph = calque::trace<calque::spec<float, 4>, calque::spec<float, 4>>(slope);
#else
inline constexpr auto graph = calque::trace<calque::spec<float, 4>, calque::spec<double, 4>>(slope);
#endif
