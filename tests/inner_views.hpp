// SPDX-License-Identifier: MIT
// The inside of grids, and what stencils compute there, for tests.
#pragma once

#include <calque/calque.hpp>

namespace tests {

/// A matrix without its edges.
constexpr auto inner(auto x) {
    return view(x, calque::range(1, -1), calque::range(1, -1));
}

/// Of the inside of a matrix, the sum of the four neighbours less four times each element.
constexpr auto laplacian(auto u) {
    using calque::range;
    constexpr auto end = calque::graph::to_the_end;
    return view(u, range(0, -2), range(1, -1)) + view(u, range(2, end), range(1, -1)) +
           view(u, range(1, -1), range(0, -2)) + view(u, range(1, -1), range(2, end)) - 4 * inner(u);
}

} // namespace tests
