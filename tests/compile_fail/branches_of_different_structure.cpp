// SPDX-License-Identifier: MIT
// error: calque: branches return one structure, and a loop's body that of what it carries
// first
#include <calque/calque.hpp>

#include <tuple>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::cond(sum(x) > 0.f, [&] { return x; }, [&] { return -x; });
#else
    return calque::cond(sum(x) > 0.f, [&] { return x; }, [&] { return std::tuple{x, x}; });
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
