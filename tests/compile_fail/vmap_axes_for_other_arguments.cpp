// SPDX-License-Identifier: MIT
// error: calque: vmap takes an axis \(or calque::unmapped\) for each argument, or none at all
// first
#include <calque/trace/elementwise.hpp>
#include <calque/vmap.hpp>

inline constexpr auto product = [](auto x, auto y) { return x * y; };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto mapped = calque::vmap<0, 1>(product);
#else
inline constexpr auto mapped = calque::vmap<0>(product);
#endif

inline constexpr auto graph = calque::trace<calque::spec<float, 4, 3>, calque::spec<float, 3, 4>>(mapped);
