// SPDX-License-Identifier: MIT
// The arithmetic of registers that the compilers' vector types lack, written with them: for every architecture, where
// no overload for a concrete register (registers_x86.hpp, registers_avx512.hpp, registers_xsimd.hpp) is better.
#pragma once

#include <calque/kernels/cpu/registers.hpp>

#include <limits>

namespace calque {
inline namespace v0 {
namespace simd {

/// The layout of a floating type.
template <class T>
struct floating_layout {
    using integer = signed_of<T>;
    static constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
    static constexpr integer bias = std::numeric_limits<T>::max_exponent - 1;
    static constexpr integer sign_bit = std::numeric_limits<integer>::min();

    /// The bits of 1.
    static constexpr integer one = bias << fraction_bits;

    /// Adding this to an x with |x| < 2^(fraction_bits - 1) leaves x, rounded to even, in the low bits: 1.5 * 2^22
    /// ulps.
    static constexpr T rounder = T(integer(3) << (fraction_bits - 1));
};

/// The lanes of a floating register as integers, to compute with its bits.
template <class R>
using integers_of = vec<signed_of<element_of<R>>, lanes_of<R>>;
template <class R>
using unsigneds_of = vec<unsigned_of<element_of<R>>, lanes_of<R>>;

template <class R>
CALQUE_INLINE integers_of<R> as_integers(R x) {
    return bits_as<integers_of<R>>(x);
}

template <class T>
CALQUE_INLINE reg<T> as_floating(vec<signed_of<T>, lanes<T>> x) {
    return bits_as<reg<T>>(x);
}

/// The first `n` lanes, the others zero; `n` may be 0 or more than there are. Memory past them is not touched.
template <class T>
CALQUE_INLINE reg<T> load_n(T const* p, int n) {
    T lane[lanes<T>] = {};
    for (int i = 0; i < n && i < lanes<T>; ++i) {
        lane[i] = p[i];
    }
    return load(lane);
}

/// Stores the first `n` lanes.
template <class T>
CALQUE_INLINE void store_n(T* p, std::type_identity_t<reg<T>> r, int n) {
    T lane[lanes<T>];
    store(lane, r);
    for (int i = 0; i < n && i < lanes<T>; ++i) {
        p[i] = lane[i];
    }
}

/// The first `n` elements, at most `Lanes`, half a register or less; other lanes are not specified. It may touch fewer
/// cache lines than `load_n`.
template <int Lanes, class T>
CALQUE_INLINE reg<T> load_part(T const* p, int n) {
    return load_n(p, n);
}

/// Stores the first `n` lanes, at most `Lanes`, of part `I` of so many lanes each.
template <int Lanes, int I, class T>
CALQUE_INLINE void store_part(T* p, std::type_identity_t<reg<T>> r, int n) {
    store_n(p, indices<lanes<T>>([&](auto... lane) CALQUE_INLINE_LAMBDA {
                return __builtin_shufflevector(r, r, (lane < Lanes ? lane + I * Lanes : -1)...);
            }),
            n);
}

/// The first `Lanes` of `a`, then those of `b`; others are not specified.
template <int Lanes, class R>
CALQUE_INLINE R join_parts(R a, R b) {
    return indices<lanes_of<R>>([&](auto... lane) CALQUE_INLINE_LAMBDA {
        return __builtin_shufflevector(
            a, b, (lane < Lanes ? lane : lane < 2 * Lanes ? lane - Lanes + lanes_of<R> : -1)...);
    });
}

/// A store that may go past the caches, where the architecture can; `p` is aligned like the register.
template <class T>
CALQUE_INLINE void stream(T* p, std::type_identity_t<reg<T>> r) {
    store(p, r);
}

/// Orders such stores before what the thread stores next, as all others are: to be called behind them.
CALQUE_INLINE void finish_streams() {
#if defined(__SSE2__)
    __builtin_ia32_sfence();
#endif
}

/// a * b + c. Where an architecture has an instruction that rounds once (`has_fused_multiply`), it has an overload.
template <class R>
CALQUE_INLINE R fma(R a, R b, R c) {
    return a * b + c;
}

/// c - a * b, rounded like `fma`.
template <class R>
CALQUE_INLINE R fnma(R a, R b, R c) {
    return fma(-a, b, c);
}

/// a * b - c, rounded like `fma`.
template <class R>
CALQUE_INLINE R fms(R a, R b, R c) {
    return fma(a, b, -c);
}

/// The lanes at `index` of two registers, one behind the other.
template <class R>
CALQUE_INLINE R lookup(R a, R b, integers_of<R> index) {
    element_of<R> lane[2 * lanes_of<R>];
    store(lane, a);
    store(lane + lanes_of<R>, b);
    return indices<lanes_of<R>>([&](auto... i) CALQUE_INLINE_LAMBDA { return R{lane[index[i.value]]...}; });
}

/// The elements of `table` at the lanes of `index`.
template <class T>
CALQUE_INLINE reg<T> gather(T const* table, vec<signed_of<T>, lanes<T>> index) {
    return indices<lanes<T>>([&](auto... i) CALQUE_INLINE_LAMBDA { return reg<T>{table[index[i.value]]...}; });
}

/// The products of the low halves of 64-bit lanes, whatever the upper halves hold.
template <class R>
CALQUE_INLINE R multiply_low_halves(R a, R b) {
    auto const low = splat(std::uint64_t{0xffffffff});
    return (a & low) * (b & low);
}

/// The greater of `a` and `b`, and `b` if either is NaN or both are zeros: what one x86 instruction does.
template <class R>
CALQUE_INLINE R max_or_second(R a, R b) {
    return a > b ? a : b;
}

/// The lesser of `a` and `b`, and `b` if either is NaN or both are zeros.
template <class R>
CALQUE_INLINE R min_or_second(R a, R b) {
    return a < b ? a : b;
}

/// `max_or_second(a, b)`, but NaN where `a` or `c` is.
template <class R>
CALQUE_INLINE R max_if_ordered(R a, R b, R c) {
    return ((a == a) & (c == c)) ? max_or_second(a, b) : splat(std::numeric_limits<element_of<R>>::quiet_NaN());
}

/// `min_or_second(a, b)`, but NaN where `a` or `c` is.
template <class R>
CALQUE_INLINE R min_if_ordered(R a, R b, R c) {
    return ((a == a) & (c == c)) ? min_or_second(a, b) : splat(std::numeric_limits<element_of<R>>::quiet_NaN());
}

template <class R>
CALQUE_INLINE R abs(R x) {
    using T = element_of<R>;
    return as_floating<T>(as_integers(x) & ~splat(floating_layout<T>::sign_bit));
}

/// The magnitude of `x` with the sign of `sign`.
template <class R>
CALQUE_INLINE R copysign(R x, R sign) {
    using T = element_of<R>;
    auto const bit = splat(floating_layout<T>::sign_bit);
    return as_floating<T>((as_integers(x) & ~bit) | (as_integers(sign) & bit));
}

/// To the nearest integer, halves to even; keeps the sign of a zero.
template <class R>
CALQUE_INLINE R round_even(R x) {
    using T = element_of<R>;
    R const magnitude = abs(x);
    R const rounder = splat(T(1) / std::numeric_limits<T>::epsilon()); // from here on every x is an integer
    R const rounded = (magnitude + rounder) - rounder;
    return copysign(magnitude < rounder ? rounded : x, x);
}

template <class R>
CALQUE_INLINE R floor(R x) {
    using T = element_of<R>;
    R const nearest = round_even(x);
    return copysign(nearest > x ? nearest - splat(T(1)) : nearest, x);
}

template <class R>
CALQUE_INLINE R ceil(R x) {
    using T = element_of<R>;
    R const nearest = round_even(x);
    return copysign(nearest < x ? nearest + splat(T(1)) : nearest, x);
}

template <class R>
CALQUE_INLINE R trunc(R x) {
    return copysign(floor(abs(x)), x);
}

/// x * 2^n for a normal x near 1 and an integral n of at most twice the largest exponent, rounded once.
///
/// Two factors: the first keeps the product normal, the second one rounds to a denormal or overflows.
template <class R>
CALQUE_INLINE R scale(R x, R n) {
    using T = element_of<R>;
    using layout = floating_layout<T>;
    using U = unsigned_of<T>;
    auto const bits = bits_as<unsigneds_of<R>>(R(n + splat(layout::rounder)));
    auto const half = bits >> 1; // of the rounder nothing is left behind the shifts
    auto const other = bits - half;
    auto const one = splat(U(layout::one));
    return x * bits_as<R>((half << layout::fraction_bits) + one) * bits_as<R>((other << layout::fraction_bits) + one);
}

/// x * 2^n for any x and any integral n, rounded once.
template <class R>
CALQUE_INLINE R ldexp(R x, R n) {
    using T = element_of<R>;
    using layout = floating_layout<T>;
    using I = typename layout::integer;
    // Denormals become normal; then a significand in [1, 2) and its exponent, for which `scale` does the rest.
    auto const is_tiny = abs(x) < splat(std::numeric_limits<T>::min());
    auto const bits = as_integers(is_tiny ? x * splat(T(I(1) << layout::fraction_bits)) : x);
    auto const field = splat(I(2 * layout::bias + 1));
    auto const biased = (bits >> layout::fraction_bits) & field;
    R const significand = as_floating<T>((bits & ~(field << layout::fraction_bits)) | splat(layout::one));
    R const rounder = splat(layout::rounder);
    R const exponent = R(as_floating<T>(as_integers(rounder) + biased) - rounder) - splat(T(layout::bias));
    R const n_bound = splat(T(6 * layout::bias)); // from here on every x is scaled to zero or to infinity
    R total = exponent + max_or_second(R(-n_bound), min_or_second(n_bound, n));
    total = is_tiny ? total - splat(T(layout::fraction_bits)) : total;
    R const bound = splat(T(2 * layout::bias - 2)); // what `scale` takes
    R const scaled = scale(significand, max_or_second(R(-bound), min_or_second(bound, total)));
    auto const is_regular = (abs(x) < splat(std::numeric_limits<T>::infinity())) & (x != R{});
    return is_regular ? scaled : x + x;
}

} // namespace simd
} // namespace v0
} // namespace calque
