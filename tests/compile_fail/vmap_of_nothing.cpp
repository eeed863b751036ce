// SPDX-License-Identifier: MIT
// error: calque: vmap: no argument is mapped
// first
#include <calque/trace/elementwise.hpp>
#include <calque/vmap.hpp>

inline constexpr auto twice = [](auto x) { return x + x; };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto mapped = calque::vmap<0>(twice);
#else
inline constexpr auto mapped = calque::vmap<calque::unmapped>(twice);
#endif

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(mapped);
