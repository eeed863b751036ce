// SPDX-License-Identifier: MIT
// error(g++): calque: pad: a padding is negative: view makes arrays smaller: float\[4\]
// error(clang): padding_is_not_negative<.*calque::spec<float, 4>.*a padding is negative
// first
#include <calque/trace/arranging.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::pad(x, 0, calque::padding{1, 0});
#else
    return calque::pad(x, 0, calque::padding{-1, 0});
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
