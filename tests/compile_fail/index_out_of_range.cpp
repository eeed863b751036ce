// SPDX-License-Identifier: MIT
// error(g++): calque: view: the axis has no element of this index: float\[3,4\]
// error(clang): index_is_in_range<calque::graph::ops::slice, calque::spec<float, 3, 4>>
// first
#include <calque/trace/shaping.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return view(x, -3);
#else
    return view(x, 3);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>>(function);
