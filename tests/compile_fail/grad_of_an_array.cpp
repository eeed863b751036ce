// SPDX-License-Identifier: MIT
// error(g++): calque: grad: it takes a function that returns a scalar: float\[4\]
// error(clang): is_a_scalar<.*calque::spec<float, 4>>.*calque: grad takes a function that returns a scalar
// first
#include <calque/grad.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto function = calque::grad([](auto x) { return sum(x * x); });
#else
inline constexpr auto function = calque::grad([](auto x) { return x * x; });
#endif

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
