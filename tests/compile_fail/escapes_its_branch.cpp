// SPDX-License-Identifier: MIT
// error: calque: .*a value made inside a branch or loop is used outside it: return it from the branch
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
    auto escaped = x;
    x.value().owner->enter_region(); // what a branch does
    auto const inside = exp(x);
#ifndef CALQUE_POSITIVE_CONTROL
    escaped = inside;
#endif
    x.value().owner->leave_region();
    return x + escaped;
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
