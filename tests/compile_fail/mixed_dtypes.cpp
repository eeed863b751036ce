// SPDX-License-Identifier: MIT
// error: calque: the arrays have different dtypes: write calque::cast<...>\(x\) on one of them
// error(clang): same_dtype<float, double>
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x, auto y) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::cast<double>(x) * y;
#else
    return x * y;
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>, calque::spec<double, 4>>(function);
