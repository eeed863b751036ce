// SPDX-License-Identifier: MIT
// error: calque: the traced function is not usable in constant evaluation
// error(g++): condition_of_check_depends_on_no_argument
// first
#include <calque/calque.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    calque::check(x > 0.f, "positive");
#else
    calque::check(calque::full<float>(1.f) > 0.f, "positive");
#endif
    return x;
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
