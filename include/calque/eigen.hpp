// SPDX-License-Identifier: MIT
// Eigen's types as arguments and outputs of traced functions. (Include Eigen's Tensor module yourself if you use it.)
#pragma once

#include <calque/interop/eigen.hpp>
#include <calque/interop/eigen_tensor.hpp>
