// SPDX-License-Identifier: MIT
// error: calque: a traced array is not a number, and std:: functions do not take it
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

#include <cmath>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return exp(x);
#else
    return std::exp(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
