// SPDX-License-Identifier: MIT
// error: calque: the arrays have different dtypes: write calque::cast<...>\(x\) on one of them
// error(clang): same_dtype<calque::(v0::)?half, float>
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x, auto y) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::cast<float>(x) * y;
#else
    return x * y;
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<calque::half, 4>, calque::spec<float, 4>>(function);
