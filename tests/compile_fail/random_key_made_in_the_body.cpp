// SPDX-License-Identifier: MIT
// error: calque: random: inside of a traced function keys are traced: pass the key as an argument
// first
#include <calque/random.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto k, auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return x + calque::random::normal_like(k, x);
#else
    (void)k;
    return x + calque::random::normal_like(calque::random::key(42), x);
#endif
};

inline constexpr auto graph = calque::trace<calque::random::key, calque::spec<float, 4>>(function);
