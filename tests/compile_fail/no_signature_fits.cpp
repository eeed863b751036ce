// SPDX-License-Identifier: MIT
// error: calque: no signature of this function has arguments of these dtypes, ranks and static extents
#include <calque/calque.hpp>

inline constexpr auto sum_all = [](auto x) { return calque::sum(x); };

int main() {
    using two = calque::signatures<calque::signature<calque::spec<float, calque::dyn>>,
                                   calque::signature<calque::spec<float, calque::dyn, 3>>>;
    auto const f = calque::function(sum_all, two{});
#ifdef CALQUE_POSITIVE_CONTROL
    xt::xtensor<float, 1> const x = {1.f, 2.f};
#else
    xt::xtensor<double, 1> const x = {1., 2.};
#endif
    return f(x) == 3.f ? 0 : 1;
}
