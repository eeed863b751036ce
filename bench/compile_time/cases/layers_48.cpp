// SPDX-License-Identifier: MIT
#include "layers.hpp"

template float run(xt::xtensor<float, 2> const&, std::array<dense<calque::host>, 48> const&);
