// SPDX-License-Identifier: MIT
// error: calque: tangents have the structure of the arguments, cotangents that of the result
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>
#include <calque/vjp.hpp>

#include <tuple>

inline constexpr auto both = calque::vjp([](auto x) { return std::tuple{exp(x), sum(x)}; });
using array = calque::spec<float, 4>;

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph = calque::trace<array, std::tuple<array, calque::spec<float>>>(both);
#else
inline constexpr auto graph = calque::trace<array, array>(both);
#endif
