// SPDX-License-Identifier: MIT
#include "chain.hpp"

template void call_chain<320, 1000>(xt::xtensor<float, 1>&, xt::xtensor<float, 1> const&);
