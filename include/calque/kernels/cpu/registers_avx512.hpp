// SPDX-License-Identifier: MIT
// What AVX-512 (F, BW, DQ, VL) does better than registers_portable.hpp says it: masks are k-registers. Else empty.
#pragma once

#if defined(__AVX512F__)

#include <calque/kernels/cpu/registers.hpp>
#include <calque/kernels/cpu/registers_x86_narrow.hpp>

#include <cmath>

#include <immintrin.h>

namespace calque {
inline namespace v0 {
namespace simd {

namespace detail {

template <comparison C>
inline constexpr int float_predicate = C == comparison::equal        ? _CMP_EQ_OQ
                                       : C == comparison::not_equal  ? _CMP_NEQ_UQ
                                       : C == comparison::less       ? _CMP_LT_OS
                                       : C == comparison::less_equal ? _CMP_LE_OS
                                       : C == comparison::greater    ? _CMP_GT_OS
                                                                     : _CMP_GE_OS;
template <comparison C>
inline constexpr int integer_predicate = C == comparison::equal        ? _MM_CMPINT_EQ
                                         : C == comparison::not_equal  ? _MM_CMPINT_NE
                                         : C == comparison::less       ? _MM_CMPINT_LT
                                         : C == comparison::less_equal ? _MM_CMPINT_LE
                                         : C == comparison::greater    ? _MM_CMPINT_NLE
                                                                       : _MM_CMPINT_NLT;

inline constexpr int to_nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
inline constexpr int down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
inline constexpr int up = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
inline constexpr int to_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

// Of the classes of numbers that an instruction tells apart: +0, -0 and +infinity.
inline constexpr int zero_or_infinity = 0x02 | 0x04 | 0x08;

// Every lane. g++ 12 warns inside the unmasked intrinsics (bug 105593); the masked ones compile to the same.
inline constexpr __mmask16 all16 = 0xffff;
inline constexpr __mmask8 all8 = 0xff;

CALQUE_INLINE __mmask16 mask16(unsigned bits) {
    return static_cast<__mmask16>(bits);
}
CALQUE_INLINE __mmask8 mask8(unsigned bits) {
    return static_cast<__mmask8>(bits);
}

} // namespace detail

/// The products of the low halves of 64-bit lanes, whatever the upper halves hold.
CALQUE_INLINE vec<std::uint64_t, 8> multiply_low_halves(vec<std::uint64_t, 8> a, vec<std::uint64_t, 8> b) {
    return bits_as<vec<std::uint64_t, 8>>(
        _mm512_maskz_mul_epu32(detail::all8, bits_as<__m512i>(a), bits_as<__m512i>(b)));
}

CALQUE_INLINE __m512 fma(__m512 a, __m512 b, __m512 c) {
    return _mm512_fmadd_ps(a, b, c);
}
CALQUE_INLINE __m512d fma(__m512d a, __m512d b, __m512d c) {
    return _mm512_fmadd_pd(a, b, c);
}
CALQUE_INLINE __m512 fnma(__m512 a, __m512 b, __m512 c) {
    return _mm512_fnmadd_ps(a, b, c);
}
CALQUE_INLINE __m512d fnma(__m512d a, __m512d b, __m512d c) {
    return _mm512_fnmadd_pd(a, b, c);
}
CALQUE_INLINE __m512 fms(__m512 a, __m512 b, __m512 c) {
    return _mm512_fmsub_ps(a, b, c);
}
CALQUE_INLINE __m512d fms(__m512d a, __m512d b, __m512d c) {
    return _mm512_fmsub_pd(a, b, c);
}
CALQUE_INLINE __m512 sqrt(__m512 x) {
    return _mm512_maskz_sqrt_ps(detail::all16, x);
}
CALQUE_INLINE __m512d sqrt(__m512d x) {
    return _mm512_maskz_sqrt_pd(detail::all8, x);
}
/// 1 / sqrt(x) with a relative error below 2^-14, of denormal numbers, too; exact of zeros and infinity.
CALQUE_INLINE __m512 rsqrt_estimate(__m512 x) {
    return _mm512_maskz_rsqrt14_ps(detail::all16, x);
}
CALQUE_INLINE __m512d rsqrt_estimate(__m512d x) {
    return _mm512_maskz_rsqrt14_pd(detail::all8, x);
}
CALQUE_INLINE __m512 max_or_second(__m512 a, __m512 b) {
    return _mm512_maskz_max_ps(detail::all16, a, b);
}
CALQUE_INLINE __m512d max_or_second(__m512d a, __m512d b) {
    return _mm512_maskz_max_pd(detail::all8, a, b);
}
CALQUE_INLINE __m512 min_or_second(__m512 a, __m512 b) {
    return _mm512_maskz_min_ps(detail::all16, a, b);
}
CALQUE_INLINE __m512d min_or_second(__m512d a, __m512d b) {
    return _mm512_maskz_min_pd(detail::all8, a, b);
}

// Where `a` is NaN it stays: a masked instruction instead of a blend behind the ordinary one.
CALQUE_INLINE __m512 maximum(__m512 a, __m512 b) {
    return _mm512_mask_max_ps(a, _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), a, b);
}
CALQUE_INLINE __m512d maximum(__m512d a, __m512d b) {
    return _mm512_mask_max_pd(a, _mm512_cmp_pd_mask(a, a, _CMP_ORD_Q), a, b);
}
CALQUE_INLINE __m512 minimum(__m512 a, __m512 b) {
    return _mm512_mask_min_ps(a, _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), a, b);
}
CALQUE_INLINE __m512d minimum(__m512d a, __m512d b) {
    return _mm512_mask_min_pd(a, _mm512_cmp_pd_mask(a, a, _CMP_ORD_Q), a, b);
}

CALQUE_INLINE __m512 max_if_ordered(__m512 a, __m512 b, __m512 c) {
    return _mm512_mask_max_ps(_mm512_set1_ps(NAN), _mm512_cmp_ps_mask(a, c, _CMP_ORD_Q), a, b);
}
CALQUE_INLINE __m512d max_if_ordered(__m512d a, __m512d b, __m512d c) {
    return _mm512_mask_max_pd(_mm512_set1_pd(NAN), _mm512_cmp_pd_mask(a, c, _CMP_ORD_Q), a, b);
}
CALQUE_INLINE __m512 min_if_ordered(__m512 a, __m512 b, __m512 c) {
    return _mm512_mask_min_ps(_mm512_set1_ps(NAN), _mm512_cmp_ps_mask(a, c, _CMP_ORD_Q), a, b);
}
CALQUE_INLINE __m512d min_if_ordered(__m512d a, __m512d b, __m512d c) {
    return _mm512_mask_min_pd(_mm512_set1_pd(NAN), _mm512_cmp_pd_mask(a, c, _CMP_ORD_Q), a, b);
}

CALQUE_INLINE __m512 round_even(__m512 x) {
    return _mm512_maskz_roundscale_ps(detail::all16, x, detail::to_nearest);
}
CALQUE_INLINE __m512d round_even(__m512d x) {
    return _mm512_maskz_roundscale_pd(detail::all8, x, detail::to_nearest);
}
CALQUE_INLINE __m512 floor(__m512 x) {
    return _mm512_maskz_roundscale_ps(detail::all16, x, detail::down);
}
CALQUE_INLINE __m512d floor(__m512d x) {
    return _mm512_maskz_roundscale_pd(detail::all8, x, detail::down);
}
CALQUE_INLINE __m512 ceil(__m512 x) {
    return _mm512_maskz_roundscale_ps(detail::all16, x, detail::up);
}
CALQUE_INLINE __m512d ceil(__m512d x) {
    return _mm512_maskz_roundscale_pd(detail::all8, x, detail::up);
}
CALQUE_INLINE __m512 trunc(__m512 x) {
    return _mm512_maskz_roundscale_ps(detail::all16, x, detail::to_zero);
}
CALQUE_INLINE __m512d trunc(__m512d x) {
    return _mm512_maskz_roundscale_pd(detail::all8, x, detail::to_zero);
}

// scalef rounds once, takes any exponent and any x: both of the portable layer's functions in one instruction.
CALQUE_INLINE __m512 scale(__m512 x, __m512 n) {
    return _mm512_maskz_scalef_ps(detail::all16, x, n);
}
CALQUE_INLINE __m512d scale(__m512d x, __m512d n) {
    return _mm512_maskz_scalef_pd(detail::all8, x, n);
}
CALQUE_INLINE __m512 ldexp(__m512 x, __m512 n) {
    return _mm512_maskz_scalef_ps(detail::all16, x, n);
}
CALQUE_INLINE __m512d ldexp(__m512d x, __m512d n) {
    return _mm512_maskz_scalef_pd(detail::all8, x, n);
}

template <class T>
    requires(sizeof(T) >= 4)
CALQUE_INLINE reg<T> load_n(T const* p, int n) {
    if constexpr (std::same_as<T, float>) {
        return _mm512_maskz_loadu_ps(detail::mask16(first_lanes<16>(n)), p);
    } else if constexpr (std::same_as<T, double>) {
        return _mm512_maskz_loadu_pd(detail::mask8(first_lanes<8>(n)), p);
    } else if constexpr (sizeof(T) == 4) {
        return bits_as<reg<T>>(_mm512_maskz_loadu_epi32(detail::mask16(first_lanes<16>(n)), p));
    } else {
        return bits_as<reg<T>>(_mm512_maskz_loadu_epi64(detail::mask8(first_lanes<8>(n)), p));
    }
}
template <class T>
    requires(sizeof(T) < 4)
CALQUE_INLINE reg<T> load_n(T const* p, int n) {
    if constexpr (sizeof(T) == 2) {
        return bits_as<reg<T>>(_mm256_maskz_loadu_epi16(detail::mask16(first_lanes<16>(n)), p));
    } else {
        return bits_as<reg<T>>(_mm_maskz_loadu_epi8(detail::mask16(first_lanes<16>(n)), p));
    }
}

template <class T>
    requires(sizeof(T) >= 4)
CALQUE_INLINE void store_n(T* p, std::type_identity_t<reg<T>> r, int n) {
    if constexpr (std::same_as<T, float>) {
        _mm512_mask_storeu_ps(p, detail::mask16(first_lanes<16>(n)), r);
    } else if constexpr (std::same_as<T, double>) {
        _mm512_mask_storeu_pd(p, detail::mask8(first_lanes<8>(n)), r);
    } else if constexpr (sizeof(T) == 4) {
        _mm512_mask_storeu_epi32(p, detail::mask16(first_lanes<16>(n)), bits_as<__m512i>(r));
    } else {
        _mm512_mask_storeu_epi64(p, detail::mask8(first_lanes<8>(n)), bits_as<__m512i>(r));
    }
}
template <class T>
    requires(sizeof(T) < 4)
CALQUE_INLINE void store_n(T* p, std::type_identity_t<reg<T>> r, int n) {
    if constexpr (sizeof(T) == 2) {
        _mm256_mask_storeu_epi16(p, detail::mask16(first_lanes<16>(n)), bits_as<__m256i>(r));
    } else {
        _mm_mask_storeu_epi8(p, detail::mask16(first_lanes<16>(n)), bits_as<__m128i>(r));
    }
}

// Parts of registers, as registers of their own size.
template <int Lanes, std::same_as<float> T>
CALQUE_INLINE __m512 load_part(T const* p, int n) {
    __mmask8 const mask = detail::mask8(first_lanes<Lanes>(n));
    if constexpr (Lanes == 4) {
        return _mm512_castps128_ps512(_mm_maskz_loadu_ps(mask, p));
    } else {
        return _mm512_castps256_ps512(_mm256_maskz_loadu_ps(mask, p));
    }
}
template <int Lanes, std::same_as<double> T>
CALQUE_INLINE __m512d load_part(T const* p, int n) {
    __mmask8 const mask = detail::mask8(first_lanes<Lanes>(n));
    if constexpr (Lanes == 2) {
        return _mm512_castpd128_pd512(_mm_maskz_loadu_pd(mask, p));
    } else {
        return _mm512_castpd256_pd512(_mm256_maskz_loadu_pd(mask, p));
    }
}

template <int Lanes, int I, std::same_as<float> T>
CALQUE_INLINE void store_part(T* p, __m512 r, int n) {
    __mmask8 const mask = detail::mask8(first_lanes<Lanes>(n));
    if constexpr (Lanes == 4) {
        _mm_mask_storeu_ps(p, mask, _mm512_maskz_extractf32x4_ps(detail::all8, r, I));
    } else {
        _mm256_mask_storeu_ps(p, mask, _mm512_maskz_extractf32x8_ps(detail::all8, r, I));
    }
}
template <int Lanes, int I, std::same_as<double> T>
CALQUE_INLINE void store_part(T* p, __m512d r, int n) {
    __mmask8 const mask = detail::mask8(first_lanes<Lanes>(n));
    if constexpr (Lanes == 2) {
        _mm_mask_storeu_pd(p, mask, _mm512_maskz_extractf64x2_pd(detail::all8, r, I));
    } else {
        _mm256_mask_storeu_pd(p, mask, _mm512_maskz_extractf64x4_pd(detail::all8, r, I));
    }
}

/// Non-temporal: past the caches. `p` is aligned like the register; registers of 8- and 16-bit integers stay cached.
template <class T>
    requires(sizeof(T) >= 4)
CALQUE_INLINE void stream(T* p, std::type_identity_t<reg<T>> r) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(p), bits_as<__m512i>(r));
}

namespace detail {

template <comparison C, class R>
CALQUE_INLINE unsigned compare_lanes(R a, R b) {
    using T = element_of<R>;
    constexpr int predicate = integer_predicate<C>;
    if constexpr (std::same_as<T, float>) {
        return _mm512_cmp_ps_mask(a, b, float_predicate<C>);
    } else if constexpr (std::same_as<T, double>) {
        return _mm512_cmp_pd_mask(a, b, float_predicate<C>);
    } else if constexpr (sizeof(T) == 1 && std::is_signed_v<T>) {
        return _mm_cmp_epi8_mask(bits_as<__m128i>(a), bits_as<__m128i>(b), predicate);
    } else if constexpr (sizeof(T) == 1) {
        return _mm_cmp_epu8_mask(bits_as<__m128i>(a), bits_as<__m128i>(b), predicate);
    } else if constexpr (sizeof(T) == 2 && std::is_signed_v<T>) {
        return _mm256_cmp_epi16_mask(bits_as<__m256i>(a), bits_as<__m256i>(b), predicate);
    } else if constexpr (sizeof(T) == 2) {
        return _mm256_cmp_epu16_mask(bits_as<__m256i>(a), bits_as<__m256i>(b), predicate);
    } else if constexpr (sizeof(T) == 4 && std::is_signed_v<T>) {
        return _mm512_cmp_epi32_mask(bits_as<__m512i>(a), bits_as<__m512i>(b), predicate);
    } else if constexpr (sizeof(T) == 4) {
        return _mm512_cmp_epu32_mask(bits_as<__m512i>(a), bits_as<__m512i>(b), predicate);
    } else if constexpr (std::is_signed_v<T>) {
        return _mm512_cmp_epi64_mask(bits_as<__m512i>(a), bits_as<__m512i>(b), predicate);
    } else {
        return _mm512_cmp_epu64_mask(bits_as<__m512i>(a), bits_as<__m512i>(b), predicate);
    }
}

/// The bits of two registers of a group as those of the group.
///
/// Not `low | high << 8`: g++ 12 may widen a mask inside a mask register, spill its 8 bits and load 32.
CALQUE_INLINE unsigned join_bits(unsigned low, unsigned high) {
    return _mm512_kunpackb(mask16(high), mask16(low));
}

template <class R>
CALQUE_INLINE R blend(unsigned bits, R a, R b) {
    using T = element_of<R>;
    if constexpr (std::same_as<T, float>) {
        return _mm512_mask_blend_ps(mask16(bits), b, a);
    } else if constexpr (std::same_as<T, double>) {
        return _mm512_mask_blend_pd(mask8(bits), b, a);
    } else if constexpr (sizeof(T) == 1) {
        return bits_as<R>(_mm_mask_blend_epi8(mask16(bits), bits_as<__m128i>(b), bits_as<__m128i>(a)));
    } else if constexpr (sizeof(T) == 2) {
        return bits_as<R>(_mm256_mask_blend_epi16(mask16(bits), bits_as<__m256i>(b), bits_as<__m256i>(a)));
    } else if constexpr (sizeof(T) == 4) {
        return bits_as<R>(_mm512_mask_blend_epi32(mask16(bits), bits_as<__m512i>(b), bits_as<__m512i>(a)));
    } else {
        return bits_as<R>(_mm512_mask_blend_epi64(mask8(bits), bits_as<__m512i>(b), bits_as<__m512i>(a)));
    }
}

} // namespace detail

/// A group of bools: one bit a lane.
struct group_mask {
    std::uint16_t bits;

    group_mask() = default;
    CALQUE_INLINE explicit group_mask(unsigned lanes) : bits(static_cast<std::uint16_t>(lanes)) {}
};

CALQUE_INLINE group_mask operator&(group_mask a, group_mask b) {
    return group_mask(unsigned{a.bits} & unsigned{b.bits});
}
CALQUE_INLINE group_mask operator|(group_mask a, group_mask b) {
    return group_mask(unsigned{a.bits} | unsigned{b.bits});
}
CALQUE_INLINE group_mask operator^(group_mask a, group_mask b) {
    return group_mask(unsigned{a.bits} ^ unsigned{b.bits});
}
CALQUE_INLINE group_mask operator~(group_mask a) {
    return group_mask(~unsigned{a.bits});
}

/// Whether the comparison holds of the lanes of a group: of one register each or, where elements have 8 bytes, of two.
template <comparison C, class R>
CALQUE_INLINE group_mask compare(R a, R b) {
    return group_mask(detail::compare_lanes<C>(a, b));
}
template <comparison C, class R>
CALQUE_INLINE group_mask compare(R a, R b, R next_a, R next_b) {
    return group_mask(detail::join_bits(detail::compare_lanes<C>(a, b), detail::compare_lanes<C>(next_a, next_b)));
}

/// The bits of a group as a number: through a general register, for the same reason as in `join_bits`.
CALQUE_INLINE unsigned as_number(group_mask mask) {
    asm("" : "+r"(mask.bits));
    return mask.bits;
}

/// The lanes of `a` that are set, of `b` elsewhere. `Register`: which one of a group it is.
template <int Register, class R>
CALQUE_INLINE R select(group_mask mask, R a, R b) {
    return detail::blend(unsigned{mask.bits} >> (Register * lanes_of<R> % width), a, b);
}

/// The lanes of `a` that are set, zeros elsewhere.
template <int Register, class R>
CALQUE_INLINE R select_or_zero(group_mask mask, R a) {
    return select<Register>(mask, a, R{});
}

/// The lanes of `a` where the comparison of `x` and `y` holds, of `b` elsewhere.
template <comparison C, class R, class V>
CALQUE_INLINE V select_if(R x, R y, V a, V b) {
    return detail::blend(detail::compare_lanes<C>(x, y), a, b);
}

/// The elements of `table` at the lanes of `index`.
CALQUE_INLINE __m512d gather(double const* table, vec<std::int64_t, 8> index) {
    return _mm512_mask_i64gather_pd(_mm512_setzero_pd(), detail::all8, bits_as<__m512i>(index), table, 8);
}

/// The same from 16 floats, which are one register: a permutation instead of loads. Of an index the last 4 bits count.
CALQUE_INLINE __m512 lookup(float const (&table)[16], vec<std::int32_t, 16> index) {
    return _mm512_maskz_permutexvar_ps(detail::all16, bits_as<__m512i>(index), _mm512_loadu_ps(table));
}

/// The lanes at `index` of two registers, one behind the other. Of an index the last bits count.
CALQUE_INLINE __m512 lookup(__m512 a, __m512 b, vec<std::int32_t, 16> index) {
    return _mm512_permutex2var_ps(a, bits_as<__m512i>(index), b);
}
CALQUE_INLINE __m512d lookup(__m512d a, __m512d b, vec<std::int64_t, 8> index) {
    return _mm512_permutex2var_pd(a, bits_as<__m512i>(index), b);
}

/// The words of 32 bits at `index` of a register. Of an index the last 4 bits count.
CALQUE_INLINE vec<std::int32_t, 16> words_at(vec<std::int32_t, 16> x, vec<std::int32_t, 16> index) {
    return bits_as<vec<std::int32_t, 16>>(
        _mm512_maskz_permutexvar_epi32(detail::all16, bits_as<__m512i>(index), bits_as<__m512i>(x)));
}

// A group of bools in memory: one byte each, 0 or 1.
CALQUE_INLINE unsigned load_bools(bool const* p) {
    __m128i const bytes = _mm_loadu_si128(reinterpret_cast<__m128i const*>(p));
    return _mm_test_epi8_mask(bytes, bytes);
}
CALQUE_INLINE unsigned load_bools_n(bool const* p, int n) {
    __m128i const bytes = _mm_maskz_loadu_epi8(detail::mask16(first_lanes<16>(n)), p);
    return _mm_test_epi8_mask(bytes, bytes);
}
CALQUE_INLINE void store_bools(bool* p, unsigned bits) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_maskz_set1_epi8(detail::mask16(bits), 1));
}
CALQUE_INLINE void store_bools_n(bool* p, unsigned bits, int n) {
    _mm_mask_storeu_epi8(p, detail::mask16(first_lanes<16>(n)), _mm_maskz_set1_epi8(detail::mask16(bits), 1));
}

} // namespace simd
} // namespace v0
} // namespace calque

#endif
