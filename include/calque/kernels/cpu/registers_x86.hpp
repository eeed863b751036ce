// SPDX-License-Identifier: MIT
// What SSE2, AVX and FMA do better than registers_portable.hpp says it.
#pragma once

#include <calque/kernels/cpu/registers.hpp>
#include <calque/kernels/cpu/registers_x86_narrow.hpp>

// Not <immintrin.h> for all: it is a third of what a compiler without -march reads of xtensor and xsimd.
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE4_1__)
#include <smmintrin.h>
#else
#include <emmintrin.h>
#endif

namespace calque {
inline namespace v0 {
namespace simd {

// One bit a lane from a mask of all-ones and all-zero lanes.
CALQUE_INLINE unsigned mask_bits(vec<std::int32_t, 4> mask) {
    return static_cast<unsigned>(_mm_movemask_ps(bits_as<__m128>(mask)));
}
CALQUE_INLINE unsigned mask_bits(vec<std::int64_t, 2> mask) {
    return static_cast<unsigned>(_mm_movemask_pd(bits_as<__m128d>(mask)));
}
CALQUE_INLINE vec<std::int32_t, 4> join_masks(vec<std::int64_t, 2> low, vec<std::int64_t, 2> high) {
    return bits_as<vec<std::int32_t, 4>>(_mm_shuffle_ps(bits_as<__m128>(low), bits_as<__m128>(high), 0b10'00'10'00));
}

namespace detail {

// Of so many words those that do not fill 4, as pieces of 2 and 1.
CALQUE_INLINE void store_last_words(unsigned char* to, __m128i r, int words) {
    if ((words & 2) != 0) {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to), r);
        r = _mm_unpackhi_epi64(r, r);
        to += 8;
    }
    if ((words & 1) != 0) {
        _mm_storeu_si32(to, r);
    }
}

} // namespace detail

#if defined(__AVX__)

CALQUE_INLINE unsigned mask_bits(vec<std::int32_t, 8> mask) {
    return static_cast<unsigned>(_mm256_movemask_ps(bits_as<__m256>(mask)));
}
CALQUE_INLINE unsigned mask_bits(vec<std::int64_t, 4> mask) {
    return static_cast<unsigned>(_mm256_movemask_pd(bits_as<__m256d>(mask)));
}

CALQUE_INLINE __m256 sqrt(__m256 x) {
    return _mm256_sqrt_ps(x);
}
CALQUE_INLINE __m256d sqrt(__m256d x) {
    return _mm256_sqrt_pd(x);
}
CALQUE_INLINE __m256 round_even(__m256 x) {
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
CALQUE_INLINE __m256d round_even(__m256d x) {
    return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
CALQUE_INLINE __m256 floor(__m256 x) {
    return _mm256_floor_ps(x);
}
CALQUE_INLINE __m256d floor(__m256d x) {
    return _mm256_floor_pd(x);
}
CALQUE_INLINE __m256 ceil(__m256 x) {
    return _mm256_ceil_ps(x);
}
CALQUE_INLINE __m256d ceil(__m256d x) {
    return _mm256_ceil_pd(x);
}
CALQUE_INLINE __m256 trunc(__m256 x) {
    return _mm256_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
CALQUE_INLINE __m256d trunc(__m256d x) {
    return _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

#if defined(__AVX2__)
CALQUE_INLINE vec<std::int64_t, 4> widen_mask(vec<std::int32_t, 4> half) {
    return bits_as<vec<std::int64_t, 4>>(_mm256_cvtepi32_epi64(bits_as<__m128i>(half)));
}
CALQUE_INLINE vec<std::int32_t, 8> join_masks(vec<std::int64_t, 4> low, vec<std::int64_t, 4> high) {
    __m256 const by_chunks = _mm256_shuffle_ps(bits_as<__m256>(low), bits_as<__m256>(high), 0b10'00'10'00);
    return bits_as<vec<std::int32_t, 8>>(_mm256_permute4x64_epi64(bits_as<__m256i>(by_chunks), 0b11'01'10'00));
}
template <class M, class R>
    requires(sizeof(R) == 32 && std::integral<element_of<R>>) // of numbers compilers do it
CALQUE_INLINE R blend(M mask, R a, R b) {
    return bits_as<R>(_mm256_blendv_epi8(bits_as<__m256i>(b), bits_as<__m256i>(a), bits_as<__m256i>(mask)));
}

/// The products of the low halves of 64-bit lanes, whatever the upper halves hold.
CALQUE_INLINE vec<std::uint64_t, 4> multiply_low_halves(vec<std::uint64_t, 4> a, vec<std::uint64_t, 4> b) {
    return bits_as<vec<std::uint64_t, 4>>(_mm256_mul_epu32(bits_as<__m256i>(a), bits_as<__m256i>(b)));
}

/// The lanes at `index` of two registers, one behind the other. Of an index the last 4 bits count.
CALQUE_INLINE __m256 lookup(__m256 a, __m256 b, vec<std::int32_t, 8> index) {
    __m256i const lane = bits_as<__m256i>(index);
    __m256 const is_in_b = bits_as<__m256>(_mm256_slli_epi32(lane, 28));
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(a, lane), _mm256_permutevar8x32_ps(b, lane), is_in_b);
}

/// The words of 32 bits at `index` of a register. Of an index the last 3 bits count.
CALQUE_INLINE vec<std::int32_t, 8> words_at(vec<std::int32_t, 8> x, vec<std::int32_t, 8> index) {
    return bits_as<vec<std::int32_t, 8>>(_mm256_permutevar8x32_epi32(bits_as<__m256i>(x), bits_as<__m256i>(index)));
}
#endif

#if defined(__FMA__)
CALQUE_INLINE __m256 fma(__m256 a, __m256 b, __m256 c) {
    return _mm256_fmadd_ps(a, b, c);
}
CALQUE_INLINE __m256d fma(__m256d a, __m256d b, __m256d c) {
    return _mm256_fmadd_pd(a, b, c);
}
CALQUE_INLINE __m256 fnma(__m256 a, __m256 b, __m256 c) {
    return _mm256_fnmadd_ps(a, b, c);
}
CALQUE_INLINE __m256d fnma(__m256d a, __m256d b, __m256d c) {
    return _mm256_fnmadd_pd(a, b, c);
}
CALQUE_INLINE __m256 fms(__m256 a, __m256 b, __m256 c) {
    return _mm256_fmsub_ps(a, b, c);
}
CALQUE_INLINE __m256d fms(__m256d a, __m256d b, __m256d c) {
    return _mm256_fmsub_pd(a, b, c);
}
#endif

namespace detail {

// The masks of the first n lanes are the words from 8 - n on.
alignas(64) inline constexpr std::int32_t first_words[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

template <int WordsPerLane>
CALQUE_INLINE __m256i first_lanes_mask(int n) {
    int const words = n <= 0 ? 0 : n >= 8 / WordsPerLane ? 8 : n * WordsPerLane;
    return _mm256_loadu_si256(reinterpret_cast<__m256i const*>(first_words + 8 - words));
}

/// The first `words` words, as pieces of 4, 2 and 1.
///
/// Not as a masked store: on a Zen 3 that takes 13 cycles, these 4, as the branches are the same in all rows.
CALQUE_INLINE void store_words(void* p, __m256i r, int words) {
    if (words >= 8) {
        _mm256_storeu_si256(static_cast<__m256i*>(p), r);
    } else if (words > 0) {
        auto* to = static_cast<unsigned char*>(p);
        __m128i rest = _mm256_castsi256_si128(r);
        if ((words & 4) != 0) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to), rest);
            rest = _mm256_extractf128_si256(r, 1);
            to += 16;
        }
        store_last_words(to, rest, words);
    }
}

} // namespace detail

// Lanes of 4 and 8 bytes all go through the floating instructions: those that load integers need AVX2.
template <class T>
    requires(sizeof(T) == 4)
CALQUE_INLINE reg<T> load_n(T const* p, int n) {
    return bits_as<reg<T>>(_mm256_maskload_ps(reinterpret_cast<float const*>(p), detail::first_lanes_mask<1>(n)));
}
template <class T>
    requires(sizeof(T) == 8)
CALQUE_INLINE reg<T> load_n(T const* p, int n) {
    return bits_as<reg<T>>(_mm256_maskload_pd(reinterpret_cast<double const*>(p), detail::first_lanes_mask<2>(n)));
}
template <class T>
    requires(sizeof(T) >= 4)
CALQUE_INLINE void store_n(T* p, std::type_identity_t<reg<T>> r, int n) {
    detail::store_words(p, bits_as<__m256i>(r), n * static_cast<int>(sizeof(T) / 4));
}

/// Non-temporal: past the caches. `p` is aligned like the register; registers of 8- and 16-bit integers stay cached.
template <class T>
    requires(sizeof(T) >= 4)
CALQUE_INLINE void stream(T* p, std::type_identity_t<reg<T>> r) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), bits_as<__m256i>(r));
}

#else // SSE2

/// The products of the low halves of 64-bit lanes, whatever the upper halves hold.
CALQUE_INLINE vec<std::uint64_t, 2> multiply_low_halves(vec<std::uint64_t, 2> a, vec<std::uint64_t, 2> b) {
    return bits_as<vec<std::uint64_t, 2>>(_mm_mul_epu32(bits_as<__m128i>(a), bits_as<__m128i>(b)));
}

#if defined(__SSE4_1__)
CALQUE_INLINE __m128 round_even(__m128 x) {
    return _mm_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
CALQUE_INLINE __m128d round_even(__m128d x) {
    return _mm_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
CALQUE_INLINE __m128 floor(__m128 x) {
    return _mm_floor_ps(x);
}
CALQUE_INLINE __m128d floor(__m128d x) {
    return _mm_floor_pd(x);
}
CALQUE_INLINE __m128 ceil(__m128 x) {
    return _mm_ceil_ps(x);
}
CALQUE_INLINE __m128d ceil(__m128d x) {
    return _mm_ceil_pd(x);
}
CALQUE_INLINE __m128 trunc(__m128 x) {
    return _mm_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
CALQUE_INLINE __m128d trunc(__m128d x) {
    return _mm_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
#endif

namespace detail {

// The first `words` words, as pieces of 2 and 1: the branches are the same in all rows.
CALQUE_INLINE __m128i load_words(void const* p, int words) {
    auto const* from = static_cast<unsigned char const*>(p);
    if (words >= 4) {
        return _mm_loadu_si128(static_cast<__m128i const*>(p));
    }
    if (words >= 2) {
        __m128i const first = _mm_loadl_epi64(static_cast<__m128i const*>(p));
        return words == 2 ? first : _mm_unpacklo_epi64(first, _mm_loadu_si32(from + 8));
    }
    return words == 1 ? _mm_loadu_si32(from) : _mm_setzero_si128();
}

CALQUE_INLINE void store_words(void* p, __m128i r, int words) {
    if (words >= 4) {
        _mm_storeu_si128(static_cast<__m128i*>(p), r);
    } else if (words > 0) {
        store_last_words(static_cast<unsigned char*>(p), r, words);
    }
}

} // namespace detail

template <class T>
    requires(sizeof(T) >= 4)
CALQUE_INLINE reg<T> load_n(T const* p, int n) {
    return bits_as<reg<T>>(detail::load_words(p, n * static_cast<int>(sizeof(T) / 4)));
}
template <class T>
    requires(sizeof(T) >= 4)
CALQUE_INLINE void store_n(T* p, std::type_identity_t<reg<T>> r, int n) {
    detail::store_words(p, bits_as<__m128i>(r), n * static_cast<int>(sizeof(T) / 4));
}

template <class T>
    requires(sizeof(T) >= 4)
CALQUE_INLINE void stream(T* p, std::type_identity_t<reg<T>> r) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(p), bits_as<__m128i>(r));
}

#endif

} // namespace simd
} // namespace v0
} // namespace calque
