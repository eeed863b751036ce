// SPDX-License-Identifier: MIT
// error(g++): calque: at: the extents do not broadcast: float\[3,4\] and float\[3,4\]
// error(clang): extents_broadcast<.*spec<float, 3, 4>, calque::spec<float, 3, 4>>
// first
#include <calque/trace/arranging.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return x.at(0).set(calque::view(x, 1));
#else
    return x.at(0).set(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>>(function);
