// SPDX-License-Identifier: MIT
// error(g++): calque: vmap: the array has no such axis: float\[\]
// error(clang): has_such_an_axis<.*calque::spec<float>>.*calque: the array has no such axis
// first
#include <calque/trace/elementwise.hpp>
#include <calque/vmap.hpp>

inline constexpr auto product = [](auto x, auto y) { return x * y; };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto mapped = calque::vmap<0, calque::unmapped>(product);
#else
inline constexpr auto mapped = calque::vmap(product);
#endif

inline constexpr auto graph = calque::trace<calque::spec<float, 4>, calque::spec<float>>(mapped);
