// SPDX-License-Identifier: MIT
// error: calque: the traced function is not usable in constant evaluation: .*calque::variables that it makes .*variables too
// first
#include <calque/calque.hpp>

#include <tuple>

inline constexpr auto function = [](auto x) {
#ifndef CALQUE_POSITIVE_CONTROL
    calque::variable<float, 4> made_here;
    made_here.assign(xt::zeros<float>({4}));
#endif
    return x + 1.f;
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
