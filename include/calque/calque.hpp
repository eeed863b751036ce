// SPDX-License-Identifier: MIT
// The core of calque in one include: trace, differentiate and run functions on arrays.
#pragma once

#include <calque/checkpoint.hpp>
#include <calque/constant.hpp>
#include <calque/custom_vjp.hpp>
#include <calque/eager.hpp>
#include <calque/grad.hpp>
#include <calque/interop/array_view.hpp>
#include <calque/interop/span.hpp>
#include <calque/interop/tree_map.hpp>
#include <calque/interop/with_shape.hpp>
#include <calque/interop/xtensor.hpp>
#include <calque/jacobian.hpp>
#include <calque/jvp.hpp>
#include <calque/random.hpp>
#include <calque/runtime/bounds.hpp>
#include <calque/runtime/dispatch.hpp>
#include <calque/runtime/function.hpp>
#include <calque/runtime/report.hpp>
#include <calque/trace/activations.hpp>
#include <calque/trace/block.hpp>
#include <calque/trace/branches.hpp>
#include <calque/trace/checks.hpp>
#include <calque/trace/creation.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/loops.hpp>
#include <calque/trace/output.hpp>
#include <calque/trace/products.hpp>
#include <calque/trace/reductions.hpp>
#include <calque/trace/scalar_math.hpp>
#include <calque/trace/shaping.hpp>
#include <calque/trace/trace.hpp>
#include <calque/trace/variables.hpp>
#include <calque/variable.hpp>
#include <calque/vjp.hpp>
#include <calque/vmap.hpp>
