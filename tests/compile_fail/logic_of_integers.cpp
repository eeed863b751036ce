// SPDX-License-Identifier: MIT
// error: calque: the operation takes bool: write what is to hold, as in x != 0
// error(clang): takes_dtype<calque::graph::ops::logical_not, int>
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return !(x != 0);
#else
    return !x;
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<int, 4>>(function);
