// SPDX-License-Identifier: MIT
// Quotients without the divider, for AVX-512: fused multiply-adds that end in the bits of the instruction, which takes
// 10 cycles for 16 floats and 16 for 8 doubles on an Intel Xeon. Else empty.
#pragma once

#if defined(__AVX512F__)

#include <calque/kernels/cpu/registers_avx512.hpp>

namespace calque {
inline namespace v0 {
namespace simd {

/// The sizes of x that are divided by steps: neither their quotients by such divisors nor what is left of x leaves the
/// normal numbers.
template <std::floating_point T>
inline constexpr T least_dividend = sizeof(T) == 4 ? T(0x1p-95) : T(0x1p-700);
template <std::floating_point T>
inline constexpr T most_dividend = sizeof(T) == 4 ? T(0x1p95) : T(0x1p700);

/// Those of such divisors.
template <std::floating_point T>
inline constexpr T least_divisor = sizeof(T) == 4 ? T(0x1p-30) : T(0x1p-300);
template <std::floating_point T>
inline constexpr T most_divisor = 1 / least_divisor<T>;

namespace detail {

template <class T>
inline constexpr unsigned all_lanes = (1u << lanes<T>)-1;

// The lanes whose sizes are between two, with the first.
template <class R>
CALQUE_INLINE unsigned sizes_between(R x, element_of<R> least, element_of<R> end) {
    using Bits = unsigned_of<element_of<R>>;
    Bits const first = bits_as<Bits>(least), count = bits_as<Bits>(end) - first;
    auto const sizes = bits_as<reg<Bits>>(x) & splat(static_cast<Bits>(~Bits{0} >> 1));
    return compare_lanes<comparison::less>(sizes - splat(first), splat(count));
}

// a * b + c in some lanes, and c in others.
CALQUE_INLINE __m512 fma_where(unsigned lanes, __m512 a, __m512 b, __m512 c) {
    return _mm512_mask3_fmadd_ps(a, b, c, mask16(lanes));
}
CALQUE_INLINE __m512d fma_where(unsigned lanes, __m512d a, __m512d b, __m512d c) {
    return _mm512_mask3_fmadd_pd(a, b, c, mask8(lanes));
}

// The lanes that have zeros, infinities or NaN: numbers of classes that an instruction tells apart.
inline constexpr int zero_infinity_or_nan = 0x01 | 0x02 | 0x04 | 0x08 | 0x10 | 0x80;
CALQUE_INLINE unsigned special_lanes(__m512 x) {
    return _mm512_fpclass_ps_mask(x, zero_infinity_or_nan);
}
CALQUE_INLINE unsigned special_lanes(__m512d x) {
    return _mm512_fpclass_pd_mask(x, zero_infinity_or_nan);
}

// Estimates of reciprocals, to 14 bits.
CALQUE_INLINE __m512 reciprocal_estimate(__m512 x) {
    return _mm512_maskz_rcp14_ps(all16, x);
}
CALQUE_INLINE __m512d reciprocal_estimate(__m512d x) {
    return _mm512_maskz_rcp14_pd(all8, x);
}

// a * b + c, rounded up.
CALQUE_INLINE __m512 fma_up(__m512 a, __m512 b, __m512 c) {
    return _mm512_fmadd_round_ps(a, b, c, up);
}
CALQUE_INLINE __m512d fma_up(__m512d a, __m512d b, __m512d c) {
    return _mm512_fmadd_round_pd(a, b, c, up);
}

// Whether the sizes of all lanes of both are in [2^-64, 2^64), of doubles in [2^-512, 2^512): then a bit of the
// difference from the least is zero, whatever the sign.
template <class R>
CALQUE_INLINE bool are_ordinary(R x, R y) {
    using T = element_of<R>;
    using Bits = unsigned_of<T>;
    auto const least = splat(bits_as<Bits>(sizeof(T) == 4 ? T(0x1p-64) : T(0x1p-512)));
    auto const high = (bits_as<reg<Bits>>(x) - least) | (bits_as<reg<Bits>>(y) - least);
    auto const second_bit = splat(static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 2)));
    return _mm512_test_epi64_mask(bits_as<__m512i>(high), bits_as<__m512i>(second_bit)) == 0;
}

} // namespace detail

/// Whether a divisor, or those of all lanes, are of such sizes.
template <std::floating_point T>
CALQUE_INLINE bool divides_by_steps(T divisor) {
    T const size = divisor < 0 ? -divisor : divisor;
    return size >= least_divisor<T> && size <= most_divisor<T>;
}
template <class R>
    requires(sizeof(R) == 64)
CALQUE_INLINE bool divides_by_steps(R divisors) {
    using T = element_of<R>;
    return detail::sizes_between(divisors, least_divisor<T>, most_divisor<T>) == detail::all_lanes<T>;
}

/// x / divisor, correctly rounded, of which `reciprocal` is 1 / divisor rounded to nearest: their product, which is
/// wrong by less than 1.5 ulp, and what it leaves of x, divided alike. (N. Brisebarre, J.-M. Muller, S. K. Raina,
/// "Accelerating correctly rounded floating-point division when the divisor is known in advance", 2004. Checked of all
/// numbers of up to 12 bits.) The divisor is one that `divides_by_steps`. Of zeros, infinities and NaN the
/// first product is the quotient; a register with other numbers that are too small or too large goes by the divider.
template <class R>
CALQUE_INLINE R quotient_by_steps(R x, R divisor, R reciprocal) {
    using T = element_of<R>;
    unsigned const ordinary = detail::sizes_between(x, least_dividend<T>, most_dividend<T>);
    R const product = x * reciprocal;
    R const quotient = detail::fma_where(ordinary, fnma(product, divisor, x), reciprocal, product);
    if (ordinary != detail::all_lanes<T>) [[unlikely]] {
        if ((ordinary | detail::special_lanes(x)) != detail::all_lanes<T>) {
            return x / divisor;
        }
    }
    return quotient;
}

/// x / y, correctly rounded: of 1 / |y| an estimate, by Newton's steps, to an ulp and then rounded to nearest, and with
/// that x / y as above. The last but one rounds up, since of the largest significand the one above would be in the
/// middle of two numbers. A register with numbers that are too small or too large, zeros too, goes by the divider. (P.
/// Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990. Checked of all numbers
/// of up to 11 bits and all reciprocals to an ulp.)
template <class R>
CALQUE_INLINE R quotient_by_steps(R x, R y) {
    using T = element_of<R>;
    if (!detail::are_ordinary(x, y)) [[unlikely]] {
        return x / y;
    }
    using Bits = reg<unsigned_of<T>>;
    Bits const sign = bits_as<Bits>(y) & bits_as<Bits>(splat(T(-0.0)));
    R const dividend = bits_as<R>(bits_as<Bits>(x) ^ sign), divisor = bits_as<R>(bits_as<Bits>(y) ^ sign);
    R const one = splat(T(1));
    R reciprocal = detail::reciprocal_estimate(divisor);
    if constexpr (sizeof(T) == 8) {
        reciprocal = fma(fnma(divisor, reciprocal, one), reciprocal, reciprocal);
    }
    reciprocal = detail::fma_up(fnma(divisor, reciprocal, one), reciprocal, reciprocal);
    reciprocal = fma(fnma(divisor, reciprocal, one), reciprocal, reciprocal);
    R const product = dividend * reciprocal;
    return fma(fnma(product, divisor, dividend), reciprocal, product);
}

} // namespace simd
} // namespace v0
} // namespace calque

#endif
