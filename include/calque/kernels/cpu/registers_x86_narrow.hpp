// SPDX-License-Identifier: MIT
// What registers of 16 and 32 bytes do where there are wider ones, too: the greater and the lesser of two numbers in the
// halves that a register is folded to, and the root of what is the same in all lanes.
#pragma once

#include <calque/kernels/cpu/registers.hpp>

#if defined(__AVX__)
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif

namespace calque {
inline namespace v0 {
namespace simd {

CALQUE_INLINE __m128 max_or_second(__m128 a, __m128 b) {
    return _mm_max_ps(a, b);
}
CALQUE_INLINE __m128 min_or_second(__m128 a, __m128 b) {
    return _mm_min_ps(a, b);
}
CALQUE_INLINE __m128d max_or_second(__m128d a, __m128d b) {
    return _mm_max_pd(a, b);
}
CALQUE_INLINE __m128d min_or_second(__m128d a, __m128d b) {
    return _mm_min_pd(a, b);
}

CALQUE_INLINE __m128 max_if_ordered(__m128 a, __m128 b, __m128 c) {
    return _mm_or_ps(_mm_max_ps(a, b), _mm_cmpunord_ps(a, c)); // all bits set: NaN
}
CALQUE_INLINE __m128d max_if_ordered(__m128d a, __m128d b, __m128d c) {
    return _mm_or_pd(_mm_max_pd(a, b), _mm_cmpunord_pd(a, c)); // all bits set: NaN
}
CALQUE_INLINE __m128 min_if_ordered(__m128 a, __m128 b, __m128 c) {
    return _mm_or_ps(_mm_min_ps(a, b), _mm_cmpunord_ps(a, c)); // all bits set: NaN
}
CALQUE_INLINE __m128d min_if_ordered(__m128d a, __m128d b, __m128d c) {
    return _mm_or_pd(_mm_min_pd(a, b), _mm_cmpunord_pd(a, c)); // all bits set: NaN
}

CALQUE_INLINE __m128 sqrt(__m128 x) {
    return _mm_sqrt_ps(x);
}
CALQUE_INLINE __m128d sqrt(__m128d x) {
    return _mm_sqrt_pd(x);
}

#if defined(__AVX__)

CALQUE_INLINE __m256 max_or_second(__m256 a, __m256 b) {
    return _mm256_max_ps(a, b);
}
CALQUE_INLINE __m256 min_or_second(__m256 a, __m256 b) {
    return _mm256_min_ps(a, b);
}
CALQUE_INLINE __m256d max_or_second(__m256d a, __m256d b) {
    return _mm256_max_pd(a, b);
}
CALQUE_INLINE __m256d min_or_second(__m256d a, __m256d b) {
    return _mm256_min_pd(a, b);
}

CALQUE_INLINE __m256 max_if_ordered(__m256 a, __m256 b, __m256 c) {
    return _mm256_or_ps(_mm256_max_ps(a, b), _mm256_cmp_ps(a, c, _CMP_UNORD_Q)); // all bits set: NaN
}
CALQUE_INLINE __m256d max_if_ordered(__m256d a, __m256d b, __m256d c) {
    return _mm256_or_pd(_mm256_max_pd(a, b), _mm256_cmp_pd(a, c, _CMP_UNORD_Q)); // all bits set: NaN
}
CALQUE_INLINE __m256 min_if_ordered(__m256 a, __m256 b, __m256 c) {
    return _mm256_or_ps(_mm256_min_ps(a, b), _mm256_cmp_ps(a, c, _CMP_UNORD_Q)); // all bits set: NaN
}
CALQUE_INLINE __m256d min_if_ordered(__m256d a, __m256d b, __m256d c) {
    return _mm256_or_pd(_mm256_min_pd(a, b), _mm256_cmp_pd(a, c, _CMP_UNORD_Q)); // all bits set: NaN
}

#endif

} // namespace simd
} // namespace v0
} // namespace calque
