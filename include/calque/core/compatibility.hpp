// SPDX-License-Identifier: MIT
// The one place that knows which xsimd is installed: 8.1 (Debian 12) to 14. (core/compatibility_xtensor.hpp: xtensor.)
//
// calque takes from xsimd the choice of the architecture and the register types; the rest of it would add an eighth to
// the compile time of calque.hpp. Its operations are left where neither the compilers' vector types nor a few intrinsics
// say it as well (kernels/cpu/registers_xsimd.hpp). It keeps away from what differs between the versions or is wrong in
// one of them:
// - 8.1: `x != x` is false for NaN on AVX2 and AVX-512, fma is not fused on AVX-512, round() of doubles is wrong on
//   AVX-512 with clang 19, integers have no division and 8- and 16-bit integers no multiplication, batch_bool no mask;
// - both: pow is off by 70 ULP, erf of doubles by 68, exp loses denormal results, log is wrong for denormals.
// No XSIMD_ or XTENSOR_ macro is ever defined here: they are the user's, and part of their binary interface.
#pragma once

#include <calque/core/config.hpp>

#include <xsimd/config/xsimd_arch.hpp>

#if XSIMD_VERSION_MAJOR < 8
#error "calque: xsimd 8.1 or newer is needed"
#endif

namespace calque {
inline namespace v0 {
namespace compatibility {

/// The native register of `T` (float or double) in the build's architecture: a vector type of the compiler.
///
/// Never keep an `xsimd::batch` itself: g++ 12 copies that struct through the stack.
template <class T>
using register_of = typename xsimd::types::simd_register<T, xsimd::default_arch>::register_type;

} // namespace compatibility
} // namespace v0
} // namespace calque
