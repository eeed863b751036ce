// SPDX-License-Identifier: MIT
// Numbers of two bytes to registers of float and back: with x86's instructions (F16C) where the build has them.
#pragma once

#include <calque/core/half.hpp>
#include <calque/kernels/cpu/simd.hpp>

#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#endif

namespace calque {
inline namespace v0 {
namespace simd {

/// Half the lanes of a float register: as many numbers of two bytes as it has floats.
using half_lanes = vec<std::uint16_t, width>;

/// The floats that numbers of two bytes are.
template <half_float Number>
CALQUE_INLINE reg<float> widen_lanes(half_lanes x) {
#if CALQUE_AVX512
    if constexpr (std::same_as<Number, half>) {
        return _mm512_maskz_cvtph_ps(detail::all16, bits_as<__m256i>(x));
    }
#elif defined(__F16C__)
    if constexpr (std::same_as<Number, half>) {
        return _mm256_cvtph_ps(bits_as<__m128i>(x));
    }
#endif
    auto const words = __builtin_convertvector(x, vec<std::uint32_t, width>);
    return bits_as<reg<float>>(calque::detail::widened<Number, vec<float, width>>(words));
}

/// The numbers of two bytes that are nearest to floats, of two the even one.
template <half_float Number>
CALQUE_INLINE half_lanes narrow_lanes(reg<float> x) {
#if CALQUE_AVX512
    if constexpr (std::same_as<Number, half>) {
        return bits_as<half_lanes>(_mm512_maskz_cvtps_ph(detail::all16, x, detail::to_nearest));
    }
#elif defined(__F16C__)
    if constexpr (std::same_as<Number, half>) {
        return bits_as<half_lanes>(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    }
#endif
    auto const words = calque::detail::narrowed<Number, vec<std::uint32_t, width>>(bits_as<vec<float, width>>(x));
    return __builtin_convertvector(words, half_lanes);
}

} // namespace simd
} // namespace v0
} // namespace calque
