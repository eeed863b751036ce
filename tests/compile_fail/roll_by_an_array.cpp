// SPDX-License-Identifier: MIT
// error(g++): calque: roll: the shift is not a scalar: int32\[4\]
// error(clang): shift_is_a_scalar<.*calque::spec<int, 4>.*the shift is not a scalar
// first
#include <calque/trace/arranging.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::roll<0>(x, view(x, 0));
#else
    return calque::roll<0>(x, x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<int, 4>>(function);
