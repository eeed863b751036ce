// SPDX-License-Identifier: MIT
// error: calque: mean takes float or double: write calque::cast<float>\(x\)
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return mean(calque::cast<double>(x));
#else
    return mean(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<int, 4>>(function);
