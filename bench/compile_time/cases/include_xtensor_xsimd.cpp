// SPDX-License-Identifier: MIT
// What a user of calque includes in any case.
#include <xsimd/xsimd.hpp>
#if __has_include(<xtensor/containers/xtensor.hpp>) // 0.26 and newer
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif
