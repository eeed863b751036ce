// SPDX-License-Identifier: MIT
// error: calque: vmap: a number has no axis: write calque::unmapped in place of one
// first
#include <calque/trace/elementwise.hpp>
#include <calque/vmap.hpp>

inline constexpr auto product = [](auto x, auto y) { return x * y; };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto mapped = calque::vmap<0, calque::unmapped>(product);
#else
inline constexpr auto mapped = calque::vmap(product);
#endif

inline constexpr auto graph = calque::trace<calque::spec<float, 4>, float>(mapped);
