// SPDX-License-Identifier: MIT
// error: calque: a traced value has no bool: use calque::where\(c, a, b\), or calque::cond
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x, auto y) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::where(x > y, x, y);
#else
    if (x > y) {
        return x;
    }
    return y;
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float>, calque::spec<float>>(function);
