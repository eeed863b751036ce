// SPDX-License-Identifier: MIT
// error(g++): calque: top_k: the axis has fewer elements: float\[3,4\]
// error(clang): has_enough_elements<calque::graph::ops::sort_order, calque::spec<float, 3, 4>>
// first
#include <calque/trace/running.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::top_k<4>(x);
#else
    return calque::top_k<5>(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>>(function);
