// SPDX-License-Identifier: MIT
// error: calque: random: this distribution has floating numbers: uniform<float>\(key, extents...\)
// first
#include <calque/random.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto k, auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return x + calque::cast<int>(calque::random::uniform<float>(k, 4) * 6);
#else
    return x + calque::random::uniform<int>(k, 4);
#endif
};

inline constexpr auto graph = calque::trace<calque::random::key, calque::spec<int, 4>>(function);
