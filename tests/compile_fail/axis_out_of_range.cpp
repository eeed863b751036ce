// SPDX-License-Identifier: MIT
// error(g++): calque: mean: the array has no such axis: float\[3,4\]
// error(clang): has_such_an_axis<.*calque::spec<float, 3, 4>>.*calque: the array has no such axis
// first
#include <calque/trace/reductions.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::mean<-1>(x);
#else
    return calque::mean<2>(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>>(function);
