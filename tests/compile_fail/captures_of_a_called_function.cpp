// SPDX-License-Identifier: MIT
// error: calque: the traced function captures something: pass it in as an argument
// first
// errors: 2
#include <calque/calque.hpp>

xt::xtensor<float, 1> scaled(xt::xtensor<float, 1> const& x, float factor) {
#ifdef CALQUE_POSITIVE_CONTROL
    auto const f = calque::function([](auto y, auto by) { return y * by; });
    return f(x, factor);
#else
    auto const f = calque::function([=](auto y) { return y * factor; });
    return f(x);
#endif
}
