// SPDX-License-Identifier: MIT
// error: calque: the operation does not take this dtype: write calque::cast<float>\(x\)
// error(clang): takes_dtype<calque::graph::ops::exp, int>
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return exp(calque::cast<float>(x));
#else
    return exp(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<int, 4>>(function);
