// SPDX-License-Identifier: MIT
// error: calque: jacobian takes a function that returns an array, not a tuple or a struct
// first
#include <calque/jacobian.hpp>
#include <calque/trace/elementwise.hpp>

#include <tuple>

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto slopes = calque::jacobian([](auto x) { return exp(x) * x; });
#else
inline constexpr auto slopes = calque::jacobian([](auto x) { return std::tuple{exp(x), x}; });
#endif

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(slopes);
