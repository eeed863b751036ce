// SPDX-License-Identifier: MIT
// error: nothing that it starts with depends on an argument: begin with zeros_like\(x\), say
// first
#include <calque/calque.hpp>

struct heard {
    static constexpr std::string_view name = "heard";
    static void call(calque::host_array<float const>) {}
};

inline constexpr auto function = [](auto x) { // the call is noted before the loop meets the function
#ifdef CALQUE_POSITIVE_CONTROL
    auto const start = 0.f * x;
#else
    auto const start = 0.f;
#endif
    auto const step = [&](auto, auto s) {
        calque::host_call<heard>(x);
        return s + x;
    };
    return calque::fori_loop(0, 3, step, start);
};

inline constexpr auto graph = calque::trace<calque::spec<float>>(function);
