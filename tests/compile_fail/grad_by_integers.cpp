// SPDX-License-Identifier: MIT
// error: calque: integers and bool have no gradient: differentiate by another argument
// first
#include <calque/grad.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>

inline constexpr auto product = [](auto x, auto n) { return sum(x * calque::cast<float>(n)); };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto function = calque::grad<0>(product);
#else
inline constexpr auto function = calque::grad<1>(product);
#endif

inline constexpr auto graph = calque::trace<calque::spec<float, 4>, calque::spec<int, 4>>(function);
