// SPDX-License-Identifier: MIT
// error(g++): calque: transpose: the axes are not a permutation: float\[3,4,5\]
// error(clang): axes_are_a_permutation<calque::graph::ops::transpose, calque::spec<float, 3, 4, 5>>
// first
#include <calque/trace/shaping.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::transpose<0, 2, 1>(x);
#else
    return calque::transpose<0, 1>(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4, 5>>(function);
