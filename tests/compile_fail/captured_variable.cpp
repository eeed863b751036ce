// SPDX-License-Identifier: MIT
// error: calque: the traced function captures something: pass it in as an argument
// first
#include <calque/calque.hpp>

#include <tuple>

#ifdef CALQUE_POSITIVE_CONTROL
inline constexpr auto graph = calque::trace<calque::variable<float, 4>>([](auto v) { v.assign_add(1.f); });
#else
inline void use() {
    calque::variable<float, 4> v;
    static_cast<void>(calque::trace<calque::spec<float, 4>>([&v](auto x) { return x + v; }));
}
#endif
