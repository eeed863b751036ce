// SPDX-License-Identifier: MIT
// A program's own names, and its own warnings: what the headers call their locals is no concern of -Wshadow's.
int total = 0, out = 0, k = 0, id = 0, step = 0, x = 0, y = 0, n = 0, sum = 0, max = 0;

#include <calque/calque.hpp>

inline constexpr auto loss = [](auto w, auto input) { return calque::sum(calque::tanh(calque::matmul(input, w))); };

xt::xtensor<float, 2> slope_of(xt::xtensor<float, 2> const& w);

xt::xtensor<float, 2> slope_of(xt::xtensor<float, 2> const& w) {
    return calque::function(calque::grad(loss))(w, w);
}
