// SPDX-License-Identifier: MIT
// error: calque: the traced function captures something: pass it in as an argument
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/trace.hpp>

constexpr auto make(float scale) {
#ifdef CALQUE_POSITIVE_CONTROL
    static_cast<void>(scale);
    return [](auto x, auto s) { return x * s; };
#else
    return [scale](auto x, auto) { return x * scale; };
#endif
}

inline constexpr auto function = make(2.f);
inline constexpr auto graph = calque::trace<calque::spec<float, 4>, float>(function);
