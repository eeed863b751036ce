// SPDX-License-Identifier: MIT
// error: nothing that it starts with depends on an argument: begin with zeros_like\(x\), say
// first
#include <calque/calque.hpp>

inline constexpr auto function = [](auto x) { // the loop meets the function inside of the branch
#ifdef CALQUE_POSITIVE_CONTROL
    auto const start = 0.f * x;
#else
    auto const start = 0.f;
#endif
    return calque::fori_loop(
        0, 3, [&](auto, auto s) { return calque::cond(x > 0.f, [&] { return s + x; }, [&] { return s; }); }, start);
};

inline constexpr auto graph = calque::trace<calque::spec<float>>(function);
