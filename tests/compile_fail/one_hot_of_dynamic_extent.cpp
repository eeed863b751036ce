// SPDX-License-Identifier: MIT
// error: the compiler does not know the extents: take them from an array: zeros_like\(x\), say
// first
#include <calque/trace/creation.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto scores, auto labels) {
#ifdef CALQUE_POSITIVE_CONTROL
    return scores * calque::one_hot(labels, scores);
#else
    return scores * calque::one_hot(labels, scores.extent(-1));
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 64, calque::dyn>, calque::spec<int, 64>>(function);
