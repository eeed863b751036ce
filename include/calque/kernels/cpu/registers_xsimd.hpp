// SPDX-License-Identifier: MIT
// What registers need beyond the operators of vector types, of xsimd: on architectures for which calque has no
// intrinsics.
#pragma once

#include <calque/kernels/cpu/registers.hpp>

#include <xsimd/xsimd.hpp>

namespace calque {
inline namespace v0 {
namespace simd {

CALQUE_INLINE reg<float> fma(reg<float> a, reg<float> b, reg<float> c) {
    return xsimd::fma(xsimd::batch<float>(a), xsimd::batch<float>(b), xsimd::batch<float>(c));
}
CALQUE_INLINE reg<double> fma(reg<double> a, reg<double> b, reg<double> c) {
    return xsimd::fma(xsimd::batch<double>(a), xsimd::batch<double>(b), xsimd::batch<double>(c));
}

CALQUE_INLINE reg<float> sqrt(reg<float> x) {
    return xsimd::sqrt(xsimd::batch<float>(x));
}
CALQUE_INLINE reg<double> sqrt(reg<double> x) {
    return xsimd::sqrt(xsimd::batch<double>(x));
}

} // namespace simd
} // namespace v0
} // namespace calque
