// SPDX-License-Identifier: MIT
// error: calque: the branches return different dtypes, or a loop's body another one
// first
#include <calque/calque.hpp>

#include <tuple>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::cond(sum(x) > 0.f, [&] { return x; }, [&] { return -x; });
#else
    return calque::cond(sum(x) > 0.f, [&] { return x; }, [&] { return calque::cast<double>(x); });
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
