// SPDX-License-Identifier: MIT
// error(g++): calque: assert_shape: the shape is not the asserted one: float\[3,4\] and \[3,5\]
// error(clang): shape_is_as_asserted<calque::graph::ops::assert_shape, calque::spec<float, 3, 4>>
// first
#include <calque/trace/shaping.hpp>
#include <calque/trace/trace.hpp>

inline constexpr auto function = [](auto x) {
#ifdef CALQUE_POSITIVE_CONTROL
    return calque::assert_shape<3, calque::dyn>(x);
#else
    return calque::assert_shape<3, 5>(x);
#endif
};

inline constexpr auto graph = calque::trace<calque::spec<float, 3, 4>>(function);
