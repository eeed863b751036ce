// SPDX-License-Identifier: MIT
// One register of the build's architecture and its arithmetic. pack.hpp puts registers in lockstep.
//
// Registers are the vector types of the compilers, to which both g++ and clang give the operators + - * / < == ?: []
// on every architecture. What those lack is written with them (registers_portable.hpp) or, on x86, as overloads with
// intrinsics (registers_x86.hpp, registers_avx512.hpp), elsewhere with xsimd (registers_xsimd.hpp): kernels never see
// which one they got. The architecture is the one that the compiler's flags name; run-time dispatch needs a translation
// unit each, which headers cannot be.
#pragma once

#include <calque/kernels/cpu/registers.hpp>

// Overloads come first: templates see only what is declared before them, since vector types have no namespace.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include <calque/kernels/cpu/registers_avx512.hpp>
#include <calque/kernels/cpu/registers_quotients.hpp>
#include <calque/kernels/cpu/registers_roots.hpp>
#define CALQUE_AVX512 1
#else
#if defined(__x86_64__) || defined(__i386__)
#include <calque/kernels/cpu/registers_x86.hpp>
#else
#include <calque/kernels/cpu/registers_xsimd.hpp>
#endif
#include <calque/kernels/cpu/registers_masks.hpp>
#define CALQUE_AVX512 0
#endif

#include <calque/kernels/cpu/registers_portable.hpp>

namespace calque {
inline namespace v0 {
namespace simd {

#if CALQUE_AVX512
static_assert(width == 16, "calque: XSIMD_DEFAULT_ARCH must be the architecture that the compiler's flags name");
#elif defined(__AVX__) && !defined(__AVX512F__)
static_assert(width == 8, "calque: XSIMD_DEFAULT_ARCH must be the architecture that the compiler's flags name");
#else
static_assert(width <= 8, "calque: of AVX-512 it needs F, BW, DQ and VL (-march=skylake-avx512 or newer)");
#endif

/// The greater of two numbers; NaN if one of them is NaN.
template <class R>
CALQUE_INLINE R maximum(R a, R b) {
    if constexpr (std::floating_point<element_of<R>>) {
        return max_if_ordered(a, b, a);
    } else {
        return max_or_second(a, b);
    }
}

/// The lesser of two numbers; NaN if one of them is NaN.
template <class R>
CALQUE_INLINE R minimum(R a, R b) {
    if constexpr (std::floating_point<element_of<R>>) {
        return min_if_ordered(a, b, a);
    } else {
        return min_or_second(a, b);
    }
}

// The operators by name, for code that is generic in the operation.
template <class R>
CALQUE_INLINE R add(R a, R b) {
    return a + b;
}
template <class R>
CALQUE_INLINE R multiply(R a, R b) {
    return a * b;
}

} // namespace simd
} // namespace v0
} // namespace calque
