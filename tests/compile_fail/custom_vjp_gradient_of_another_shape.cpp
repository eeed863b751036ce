// SPDX-License-Identifier: MIT
// error(g++): calque: custom_vjp: the extents differ: float\[4\] and float\[\]
// error(clang): extents_agree<.*calque::spec<float, 4>, calque::spec<float>>.*calque: the extents differ
// first
#include <calque/custom_vjp.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto total = calque::custom_vjp([](auto x) { return sum(x); }, [](auto x, auto u) { return x * u; });
#else
inline constexpr auto total = calque::custom_vjp([](auto x) { return sum(x); }, [](auto, auto u) { return u; });
#endif

inline constexpr auto graph = calque::trace<calque::spec<float, 4>>(total);
