// SPDX-License-Identifier: MIT
// error: calque: nonzero: the number of results depends on the values: keep the shape and a mask
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/running.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return x != 0;
#else
    return calque::nonzero(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
