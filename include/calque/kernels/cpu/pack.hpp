// SPDX-License-Identifier: MIT
// Packs: `U` groups of elements in lockstep. Every functor of the kernels is written once, on packs.
//
// A group is `width` elements: one register of float, two of double, one bit mask of bool. So packs of any dtypes with
// the same `U` hold the same number of elements and go side by side. U independent chains hide the latency of one.
#pragma once

#include <calque/kernels/cpu/pack_arithmetic.hpp>
#include <calque/kernels/cpu/pack_convert.hpp>
#include <calque/kernels/cpu/pack_half.hpp>
#include <calque/kernels/cpu/pack_integer.hpp>
#include <calque/kernels/cpu/pack_lines.hpp>
#include <calque/kernels/cpu/pack_memory.hpp>
#include <calque/kernels/cpu/pack_quotients.hpp>
#include <calque/kernels/cpu/pack_reduce.hpp>
#include <calque/kernels/cpu/pack_uniform.hpp>
