// SPDX-License-Identifier: MIT
// error(g++): calque: while_loop: vmap cannot map it
// error(clang): has_a_batch_rule<calque::graph::ops::while_loop.*calque: vmap cannot map it
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/loops.hpp>
#include <calque/trace/reductions.hpp>
#include <calque/vmap.hpp>

inline constexpr auto halved = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return x * 0.5f;
#else
    return calque::while_loop([](auto y) { return sum(y) > 1; }, [](auto y) { return y * 0.5f; }, x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4, 3>>(calque::vmap(halved));
