// SPDX-License-Identifier: MIT
// error(g++): calque: broadcast_to: the extents do not broadcast: float\[3,4\]
// error(clang): extents_broadcast<.*broadcast_to, calque::spec<float, 3, 4>>
// first
#include <calque/trace/shaping.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::broadcast_to(x, 2, 3, 4);
#else
    return calque::broadcast_to(x, 4);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>>(function);
