// SPDX-License-Identifier: MIT
// error: calque: the traced function is not usable in constant evaluation: .*mark helpers constexpr
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

#ifdef CALQUE_POSITIVE_CONTROL
constexpr
#endif
    float
    half(float x) {
    return x / 2;
}

inline constexpr auto function = [](auto x) { return x * half(3.f); };

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
