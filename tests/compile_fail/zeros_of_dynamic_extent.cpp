// SPDX-License-Identifier: MIT
// error: the compiler does not know the extents: take them from an array: zeros_like\(x\), say
// first
#include <calque/trace/creation.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return x + calque::zeros<float>(x.extent(0));
#else
    return x + calque::zeros<float>(calque::dyn);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, calque::dyn>>(function);
