// SPDX-License-Identifier: MIT
// error: calque: the array's dtype is not the one that is declared for this argument
// first
#include <calque/calque.hpp>

inline constexpr auto sum_all = [](auto x) { return calque::sum(x); };

int main() {
    auto const f = calque::function(sum_all, calque::signature<calque::spec<double, calque::dyn>>{});
#ifdef CALQUE_POSITIVE_CONTROL
    xt::xtensor<double, 1> const x = {1., 2.};
#else
    xt::xtensor<float, 1> const x = {1.f, 2.f};
#endif
    return f(x) == 3. ? 0 : 1;
}
