// SPDX-License-Identifier: MIT
// error(g++): calque: split: the extent of the axis is no multiple of the number of parts: float\[3,4\]
// error(clang): parts_are_equal<.*calque::spec<float, 3, 4>.*no multiple of the number of parts
// first
#include <calque/trace/arranging.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::split<1, 2>(x);
#else
    return calque::split<1, 3>(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>>(function);
