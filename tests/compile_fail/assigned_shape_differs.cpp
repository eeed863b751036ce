// SPDX-License-Identifier: MIT
// error: calque: .*the value does not have the shape of the variable
// first
#include <calque/calque.hpp>

#include <tuple>

inline constexpr auto function = [](auto v, auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    v.assign(x + 1.f);
#else
    v.assign(sum<0>(x, calque::keepdims));
#endif
};

inline constexpr auto graph = calque::trace<calque::variable<float, 4>, calque::spec<float, 4>>(function);
