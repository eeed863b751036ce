// SPDX-License-Identifier: MIT
// error: calque: the static extents of the array's type are not the ones that are declared
// first
#include <calque/calque.hpp>

inline constexpr auto sum_all = [](auto x) { return calque::sum(x); };

int main() {
    auto const f = calque::function(sum_all, calque::signature<calque::spec<float, calque::dyn, 3>>{});
#ifdef CALQUE_POSITIVE_CONTROL
    xt::xtensor_fixed<float, xt::xshape<2, 3>> const x = {{1.f, 2.f, 3.f}, {1.f, 2.f, 3.f}};
#else
    xt::xtensor_fixed<float, xt::xshape<2, 2>> const x = {{1.f, 2.f}, {1.f, 2.f}};
#endif
    return f(x) == 12.f ? 0 : 1;
}
