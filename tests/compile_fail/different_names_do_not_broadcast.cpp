// SPDX-License-Identifier: MIT
// error(g++): calque: multiply: the extents do not broadcast: float\[batch,784\] and float\[rows,1\]
// error(clang): extents_broadcast<.*array<float, .*named<'b', 'a', 't', 'c', 'h'>, .*extent<784>>
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

using calque::dim;

inline constexpr auto function = [](auto x, auto y) { return x * y; };

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph =
    calque::trace<calque::spec<float, dim("batch"), 784>, calque::spec<float, dim("batch"), 1>>(function);
#else
inline constexpr auto graph =
    calque::trace<calque::spec<float, dim("batch"), 784>, calque::spec<float, dim("rows"), 1>>(function);
#endif
