// SPDX-License-Identifier: MIT
// error: the compiler does not know the extents: take them from an array: zeros_like\(x\), say
// first
#include <calque/random.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto k, auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return x + calque::random::uniform_like(k, x);
#else
    return x + calque::random::uniform(k, x.extent(0));
#endif
};

inline constexpr auto graph = calque::trace<calque::random::key, calque::spec<float, calque::dyn>>(function);
