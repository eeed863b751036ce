// SPDX-License-Identifier: MIT
// The lazy expressions of xtensor (functions, broadcasts, reducers, generators), wherever the installed version keeps
// them. Only the front end that lowers expression types includes this: it is xtensor's heavier half.
#pragma once

#include <calque/core/compatibility_xtensor.hpp>

#if __has_include(<xtensor/core/xmath.hpp>) // 0.26 and newer
#include <xtensor/core/xfunction.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/core/xoperation.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/generators/xgenerator.hpp>
#include <xtensor/reducers/xreducer.hpp>
#include <xtensor/views/xbroadcast.hpp>
#else
#include <xtensor/xbroadcast.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xfunction.hpp>
#include <xtensor/xgenerator.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xoperation.hpp>
#include <xtensor/xreducer.hpp>
#endif
