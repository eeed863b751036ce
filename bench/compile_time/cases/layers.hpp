// SPDX-License-Identifier: MIT
// A residual network whose layers, each with parameters of its own, are blocks.
#pragma once

#include <calque/calque.hpp>

#include <array>

template <class M>
struct dense {
    calque::leaf<M, float, 64, 64> w;
    calque::leaf<M, float, 64> b;
};

inline constexpr auto layer = calque::block([](auto x, auto w, auto b) { return x + relu(matmul(x, w) + b); });
inline constexpr auto network = [](auto x, auto const& layers) {
    for (auto const& l : layers) {
        x = layer(x, l.w, l.b);
    }
    return sum(x);
};

template <std::size_t Count>
float run(xt::xtensor<float, 2> const& x, std::array<dense<calque::host>, Count> const& layers) {
    static auto const f = calque::function(network);
    return f(x, layers);
}
