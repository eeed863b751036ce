// SPDX-License-Identifier: MIT
// error: calque: the operation takes integers: write calque::cast<std::int32_t>\(x\)
// error(clang): takes_dtype<calque::graph::ops::shift_left, float>
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::cast<int>(x) << 1;
#else
    return x << 1;
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
