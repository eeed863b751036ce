// SPDX-License-Identifier: MIT
// What a user of calque includes in any case.
#include <xsimd/xsimd.hpp>
#include <xtensor/xtensor.hpp>
