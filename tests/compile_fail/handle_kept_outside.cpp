// SPDX-License-Identifier: MIT
// error: calque: the traced function is not usable in constant evaluation: .*run-time variables
// error(g++): the value of .kept. is not usable in a constant expression
// first
#include <calque/calque.hpp>

#include <vector>

#ifndef CALQUE_POSITIVE_CONTROL
std::vector<calque::expr<float>> kept;
#endif

inline constexpr auto function = [](auto x) {
#ifndef CALQUE_POSITIVE_CONTROL
    kept.push_back(x);
#endif
    return x + 1.f;
};

xt::xtensor<float, 1> call(xt::xtensor<float, 1> const& x) {
    return calque::function(function)(x);
}
