// SPDX-License-Identifier: MIT
// error: calque: .*a value made inside a branch or loop is used outside it: return it from the branch
// first
#include <calque/calque.hpp>

#include <tuple>

inline constexpr auto function = [](auto x) {
    auto kept = x;
    auto const y = calque::cond(
        sum(x) > 0.f,
        [&] {
            auto const inside = exp(x);
#ifndef CALQUE_POSITIVE_CONTROL
            kept = inside;
#endif
            return inside;
        },
        [&] { return x; });
    return y + kept;
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
