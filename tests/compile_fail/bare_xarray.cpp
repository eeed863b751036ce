// SPDX-License-Identifier: MIT
// error: calque: the rank of an xt::xarray is known only at run time: pass calque::with_rank<N>\(x\)
// first
#include <calque/core/compatibility_xtensor.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) { return x * 2; };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph = calque::trace<decltype(calque::with_rank<2>(xt::xarray<float>{}))>(function);
#else
inline constexpr auto graph = calque::trace<xt::xarray<float>>(function);
#endif
