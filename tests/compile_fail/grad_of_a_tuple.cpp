// SPDX-License-Identifier: MIT
// error: calque: grad takes a function that returns a scalar, not a tuple or a struct
// first
#include <calque/grad.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>

#include <tuple>

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto function = calque::grad([](auto x) { return sum(x) + sum(x * x); });
#else
inline constexpr auto function = calque::grad([](auto x) { return std::tuple{sum(x), sum(x * x)}; });
#endif

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
