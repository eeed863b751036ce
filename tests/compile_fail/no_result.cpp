// SPDX-License-Identifier: MIT
// error: calque: the traced function returns what is no result: return traced arrays, numbers, or tuples
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

#include <tuple>
#include <vector>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return std::tuple{x, x * 2};
#else
    return std::vector{x, x * 2};
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
