// SPDX-License-Identifier: MIT
// error: calque: an integer array meets a floating number: write calque::cast<float>\(x\), or an integer
// error(clang): takes_number<int, float>
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::cast<float>(x) * 0.5f + calque::cast<float>(x * 2);
#else
    return x * 0.5f;
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<int, 4>>(function);
