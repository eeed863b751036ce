// SPDX-License-Identifier: MIT
// error(g++): calque: same_batch: the mapped axes have different extents: float\[5,3\] and float\[4,3\]
// error(clang): mapped_extents_agree<.*calque::spec<float, 5, 3>, calque::spec<float, 4, 3>>.*calque: the mapped axes have different extents
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>
#include <calque/vmap.hpp>

inline constexpr auto dots = calque::vmap([](auto x, auto y) { return sum(x * y); });

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph = calque::trace<calque::spec<float, 4, 3>, calque::spec<float, 4, 3>>(dots);
#else
inline constexpr auto graph = calque::trace<calque::spec<float, 4, 3>, calque::spec<float, 5, 3>>(dots);
#endif
