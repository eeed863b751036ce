// SPDX-License-Identifier: MIT
#include "chain.hpp"

template void call_chain<78, 243>(xt::xtensor<float, 1>&, xt::xtensor<float, 1> const&);
