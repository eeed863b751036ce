// SPDX-License-Identifier: MIT
// error: calque: grad: the function has no such argument to differentiate by
// first
#include <calque/grad.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>

inline constexpr auto square_sum = [](auto x) { return sum(x * x); };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto function = calque::grad<0>(square_sum);
#else
inline constexpr auto function = calque::grad<1>(square_sum);
#endif

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(function);
