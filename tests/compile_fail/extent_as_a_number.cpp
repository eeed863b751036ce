// SPDX-License-Identifier: MIT
// error(g++): calque: extent: only the call knows the extent: use it beside a traced value, as in sum.*: float\[dyn\]
// error(clang): the_compiler_knows_the_extent<.*calque::spec<float, -1>.*only the call knows the extent
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
    auto y = x;
    for (int i = 0; i < x.extent(0); ++i) {
        y = y * x;
    }
    return y;
};

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph = calque::trace<calque::spec<float, 3>>(function);
#else
inline constexpr auto graph = calque::trace<calque::spec<float, calque::dyn>>(function);
#endif
