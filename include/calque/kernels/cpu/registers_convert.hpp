// SPDX-License-Identifier: MIT
// Conversions of lanes that are one instruction, of which g++ 12 makes two for the halves and a third to join them.
#pragma once

#include <calque/kernels/cpu/simd.hpp>

namespace calque {
inline namespace v0 {
namespace simd {
namespace detail {

#if defined(__AVX2__) && defined(__x86_64__)

/// The bytes of a vector of at most 16, in the low ones of a register.
template <class R>
CALQUE_INLINE __m128i low_bytes(R x) {
    if constexpr (sizeof(R) == 16) {
        return bits_as<__m128i>(x);
    } else if constexpr (sizeof(R) == 8) {
        return _mm_cvtsi64_si128(bits_as<long long>(x));
    } else {
        static_assert(sizeof(R) == 4);
        return _mm_cvtsi32_si128(bits_as<int>(x));
    }
}

/// What a conversion is chosen by: bytes of all lanes before and after, and of a lane.
template <class To, class R>
struct conversion {
    using From = element_of<R>;
    static constexpr int from = sizeof(R), to = lanes_of<R> * static_cast<int>(sizeof(To));
    static constexpr int lane = sizeof(From), to_lane = sizeof(To);
    static constexpr bool is_signed = std::is_signed_v<From>;
    static constexpr bool is_of_integers = std::integral<From> && std::integral<To>;
    static constexpr bool widens = is_of_integers && from <= 32 && (to == 32 || (width == 16 && to == 64)) &&
                                   ((from <= 16 && to_lane == 4 * lane) || to_lane == 2 * lane);
    static constexpr bool widens_to_double =
        std::same_as<To, double> && lane == 4 && to == width * 4 && (width == 16 || is_signed);
    static constexpr bool narrows =
        width == 16 && is_of_integers && from == 64 && (lane == 2 * to_lane || lane == 4 * to_lane);
    static constexpr bool is_one_instruction = widens || widens_to_double || narrows;
};

#if CALQUE_AVX512

template <class To, class R>
CALQUE_INLINE __m512i widen_to_64_bytes(R x) {
    using c = conversion<To, R>;
    if constexpr (c::lane == 1) {
        __m128i const low = low_bytes(x);
        return c::is_signed ? _mm512_maskz_cvtepi8_epi32(all16, low) : _mm512_maskz_cvtepu8_epi32(all16, low);
    } else if constexpr (c::lane == 2 && c::to_lane == 8) {
        __m128i const low = low_bytes(x);
        return c::is_signed ? _mm512_maskz_cvtepi16_epi64(all8, low) : _mm512_maskz_cvtepu16_epi64(all8, low);
    } else if constexpr (c::lane == 2) {
        auto const half = bits_as<__m256i>(x);
        return c::is_signed ? _mm512_maskz_cvtepi16_epi32(all16, half) : _mm512_maskz_cvtepu16_epi32(all16, half);
    } else {
        auto const half = bits_as<__m256i>(x);
        return c::is_signed ? _mm512_maskz_cvtepi32_epi64(all8, half) : _mm512_maskz_cvtepu32_epi64(all8, half);
    }
}

template <class To, class R>
CALQUE_INLINE auto narrow(R x) {
    using c = conversion<To, R>;
    auto const all = bits_as<__m512i>(x);
    if constexpr (c::lane == 8 && c::to_lane == 4) {
        return _mm512_maskz_cvtepi64_epi32(all8, all);
    } else if constexpr (c::lane == 8) {
        return _mm512_maskz_cvtepi64_epi16(all8, all);
    } else if constexpr (c::to_lane == 2) {
        return _mm512_maskz_cvtepi32_epi16(all16, all);
    } else {
        return _mm512_maskz_cvtepi32_epi8(all16, all);
    }
}

template <class R>
CALQUE_INLINE auto widen_to_double(R x) {
    using From = element_of<R>;
    if constexpr (std::same_as<From, float>) {
        return _mm512_maskz_cvtps_pd(all8, bits_as<__m256>(x));
    } else if constexpr (std::is_signed_v<From>) {
        return _mm512_maskz_cvtepi32_pd(all8, bits_as<__m256i>(x));
    } else {
        return _mm512_maskz_cvtepu32_pd(all8, bits_as<__m256i>(x));
    }
}

#else

template <class R>
CALQUE_INLINE auto widen_to_double(R x) {
    if constexpr (std::same_as<element_of<R>, float>) {
        return _mm256_cvtps_pd(bits_as<__m128>(x));
    } else {
        return _mm256_cvtepi32_pd(bits_as<__m128i>(x));
    }
}

#endif

template <class To, class R>
CALQUE_INLINE __m256i widen_to_32_bytes(R x) {
    using c = conversion<To, R>;
    __m128i const low = low_bytes(x);
    if constexpr (c::lane == 1 && c::to_lane == 2) {
        return c::is_signed ? _mm256_cvtepi8_epi16(low) : _mm256_cvtepu8_epi16(low);
    } else if constexpr (c::lane == 1) {
        return c::is_signed ? _mm256_cvtepi8_epi32(low) : _mm256_cvtepu8_epi32(low);
    } else if constexpr (c::lane == 2 && c::to_lane == 4) {
        return c::is_signed ? _mm256_cvtepi16_epi32(low) : _mm256_cvtepu16_epi32(low);
    } else if constexpr (c::lane == 2) {
        return c::is_signed ? _mm256_cvtepi16_epi64(low) : _mm256_cvtepu16_epi64(low);
    } else {
        return c::is_signed ? _mm256_cvtepi32_epi64(low) : _mm256_cvtepu32_epi64(low);
    }
}

/// As many lanes of `To`, by one instruction.
template <class To, class R>
    requires(conversion<To, R>::is_one_instruction)
CALQUE_INLINE vec<To, lanes_of<R>> convert_at_once(R x) {
    using c = conversion<To, R>;
    using result = vec<To, lanes_of<R>>;
    if constexpr (c::widens_to_double) {
        return widen_to_double(x);
#if CALQUE_AVX512
    } else if constexpr (c::narrows) {
        return bits_as<result>(narrow<To>(x));
    } else if constexpr (c::to == 64) {
        return bits_as<result>(widen_to_64_bytes<To>(x));
#endif
    } else {
        return bits_as<result>(widen_to_32_bytes<To>(x));
    }
}

/// Whether a half of a register of bytes widens to a register of `To` at once.
template <class To>
inline constexpr bool widens_bytes = std::integral<To> && sizeof(To) == 8;

/// The lower or the upper half of the bytes of a register as integers of 8 bytes.
template <int Half, class R>
CALQUE_INLINE auto widen_half_of_bytes(R x) {
    constexpr bool is_signed = std::is_signed_v<element_of<R>>;
    __m128i bytes = low_bytes(x);
    if constexpr (Half == 1) {
        bytes = sizeof(R) == 16 ? _mm_unpackhi_epi64(bytes, bytes) : _mm_srli_epi64(bytes, 32);
    }
#if CALQUE_AVX512
    return is_signed ? _mm512_maskz_cvtepi8_epi64(all8, bytes) : _mm512_maskz_cvtepu8_epi64(all8, bytes);
#else
    return is_signed ? _mm256_cvtepi8_epi64(bytes) : _mm256_cvtepu8_epi64(bytes);
#endif
}

#else

template <class To, class R>
struct conversion {
    static constexpr bool is_one_instruction = false;
};

template <class To, class R>
void convert_at_once(R) = delete;

template <class To>
inline constexpr bool widens_bytes = false;

template <int Half, class R>
void widen_half_of_bytes(R) = delete;

#endif

} // namespace detail
} // namespace simd
} // namespace v0
} // namespace calque
