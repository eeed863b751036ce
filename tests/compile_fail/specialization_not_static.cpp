// SPDX-License-Identifier: MIT
// error: calque: a specialization has static extents only
// first
#include <calque/calque.hpp>

inline constexpr auto sum_all = [](auto x) { return calque::sum(x); };

int main() {
#ifdef CALQUE_POSITIVE_CONTROL
    using hot = calque::specialize<calque::signature<calque::spec<float, 4>>>;
#else
    using hot = calque::specialize<calque::signature<calque::spec<float, calque::dyn>>>;
#endif
    auto const f = calque::function(sum_all, hot{});
    return f(xt::xtensor<float, 1>{1.f, 2.f}) == 3.f ? 0 : 1;
}
