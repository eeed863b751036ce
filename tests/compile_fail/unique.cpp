// SPDX-License-Identifier: MIT
// error: calque: unique: the number of results depends on the values: sort, and mark the first of equals
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/running.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::sort<0>(x) != calque::sort<0>(x * 2);
#else
    return calque::unique(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<int, 4>>(function);
