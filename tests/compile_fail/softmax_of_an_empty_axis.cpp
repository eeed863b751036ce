// SPDX-License-Identifier: MIT
// error(g++): calque: softmax: it has no value over an empty axis: float\[3,0\]
// error(clang): axis_is_not_empty<calque::graph::ops::reduce_max, calque::spec<float, 3, 0>>
// first
#include <calque/trace/reductions.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::softmax<0>(x);
#else
    return calque::softmax<1>(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 0>>(function);
