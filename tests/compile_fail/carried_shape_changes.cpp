// SPDX-License-Identifier: MIT
// error: calque: .*a carried value changes its shape from one step to the next
// first
#include <calque/calque.hpp>

#include <tuple>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::fori_loop(0, 3, [](auto, auto y) { return y + y; }, x);
#else
    return calque::fori_loop(0, 3, [](auto, auto y) { return sum(y); }, x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
