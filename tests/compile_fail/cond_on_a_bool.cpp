// SPDX-License-Identifier: MIT
// error: calque: cond takes a traced bool: a comparison, say; for a C\+\+ bool use if
// first
#include <calque/calque.hpp>

#include <tuple>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::cond(sum(x) > 0.f, [&] { return x; }, [&] { return -x; });
#else
    return calque::cond(x.rank() == 1, [&] { return x; }, [&] { return -x; });
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
