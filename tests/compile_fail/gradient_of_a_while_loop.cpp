// SPDX-License-Identifier: MIT
// error: calque: .*it has no reverse derivative: use scan, or fori_loop with constant bounds
// first
#include <calque/calque.hpp>

#include <tuple>

inline constexpr auto function = [](auto x) {
    auto const grown = [](auto y) {
        return calque::while_loop([](auto z) { return z < 9.f; }, [](auto z) { return z * 2.f; }, sum(y));
    };
#ifdef CALQUE_POSITIVE_CONTROL
    return grown(x);
#else
    return calque::grad(grown)(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
