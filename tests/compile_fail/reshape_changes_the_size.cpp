// SPDX-License-Identifier: MIT
// error(g++): calque: reshape: the number of elements changes: float\[3,4\] and \[2,5\]
// error(clang): sizes_agree<.*reshape, calque::spec<float, 3, 4>>.*the number of elements changes
// first
#include <calque/trace/shaping.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::reshape(x, 2, 6);
#else
    return calque::reshape(x, 2, 5);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>>(function);
