// SPDX-License-Identifier: MIT
// The containers and views of xtensor, wherever the installed version keeps them: 0.24, 0.25 (flat) or 0.26 and newer.
//
// Only interop/ includes this: a program that uses spans pays nothing for xtensor.
#pragma once

#if __has_include(<xtensor/containers/xtensor.hpp>) // 0.26 and newer
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xfixed.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xtensor_config.hpp>
#include <xtensor/views/xstrided_view.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xtensor_config.hpp>
#include <xtensor/xview.hpp>
#endif

#if XTENSOR_VERSION_MAJOR == 0 && XTENSOR_VERSION_MINOR < 24
#error "calque: xtensor 0.24 or newer is needed"
#endif
