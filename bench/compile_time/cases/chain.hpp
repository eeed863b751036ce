// SPDX-License-Identifier: MIT
// A long elementwise function, of which no node can be folded, shared or removed.
#pragma once

#include <calque/calque.hpp>

/// `Steps` times: two operations and a constant; every eighth step has a transcendental function as well.
template <int Steps>
struct chain {
    constexpr auto operator()(auto x) const {
        auto y = x;
        for (int i = 0; i != Steps; ++i) {
            y = (y + x) * (1.f / static_cast<float>(i + 3));
            if (i % 8 == 7) {
                y = tanh(y);
            }
        }
        return y;
    }
};

/// The call that a user would write, of a graph of at least so many nodes.
template <int Steps, int Nodes>
void call_chain(xt::xtensor<float, 1>& y, xt::xtensor<float, 1> const& x) {
    static_assert(calque::trace<calque::spec<float, calque::dyn>>(chain<Steps>{}).size() >= Nodes);
    calque::function(chain<Steps>{}).into(y, x);
}
