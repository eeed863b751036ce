// SPDX-License-Identifier: MIT
// error: calque: check takes a traced bool: a comparison, say; for a C\+\+ bool use if and throw
// first
#include <calque/calque.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    calque::check(x > 0.f, "positive");
#else
    calque::check(x.rank() == 1, "a vector");
#endif
    return x;
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
