// SPDX-License-Identifier: MIT
// error(g++): calque: custom_vjp: a derivative assigns to a variable, as that of a checkpoint does if its function does
// error(clang): assigns_to_no_variable<calque::graph::ops::custom_derivative
// first
#include <calque/calque.hpp>
#include <calque/checkpoint.hpp>

inline constexpr auto function = [](auto count, auto x) {
    return calque::checkpoint([](auto passed, auto a) {
#ifndef CALQUE_POSITIVE_CONTROL
        passed.assign_add(1.f);
#endif
        return calque::sum(tanh(a) * passed);
    })(count, x);
};

inline constexpr auto graph = calque::trace<calque::variable<float>, calque::spec<float, 4>>(function);
