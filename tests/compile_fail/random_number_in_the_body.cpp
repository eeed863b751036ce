// SPDX-License-Identifier: MIT
// error: calque: the traced function is not usable in constant evaluation: .*pass values in as arguments
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

#include <cstdlib>

inline constexpr auto function = [](auto x, auto r) {
#ifdef CALQUE_POSITIVE_CONTROL
    return x * r;
#else
    return x * static_cast<float>(std::rand()) * r;
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>, float>(function);
