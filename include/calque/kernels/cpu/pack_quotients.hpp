// SPDX-License-Identifier: MIT
// Quotients of packs, correctly rounded, for which the divider need not make each.
#pragma once

#include <calque/kernels/cpu/pack_arithmetic.hpp>

#include <concepts>

namespace calque {
inline namespace v0 {
namespace simd {

/// Whether quotients by divisors that are used again and again need the divider for their reciprocals only.
template <class T>
inline constexpr bool has_quotients_by_steps = requires(reg<T> x) { quotient_by_steps(x, x, x); };

/// How many of four of them the divider takes all the same.
template <std::floating_point T>
inline constexpr int quotients_by_divider = sizeof(T) == 8 ? 0 : 1;

/// x / divisors, correctly rounded, of divisors that `all_divide_by_steps` and their reciprocals.
template <std::floating_point T, int U, int D>
    requires has_quotients_by_steps<T>
CALQUE_INLINE pack<T, U> quotients_by_steps(pack<T, U> const& x, pack<T, D> const& divisors,
                                            pack<T, D> const& reciprocals) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA {
        int const k = i % pack<T, D>::registers;
        bool const divides = pack<T, U>::registers >= 4 && i % 4 < quotients_by_divider<T>;
        return divides ? x.r[i] / divisors.r[k] : quotient_by_steps(x.r[i], divisors.r[k], reciprocals.r[k]);
    });
}

/// Whether all divisors are of sizes for that.
template <std::floating_point T, int U>
    requires has_quotients_by_steps<T>
CALQUE_INLINE bool all_divide_by_steps(pack<T, U> const& divisors) {
    bool all = true;
    unroll<pack<T, U>::registers>([&](int i) CALQUE_INLINE_LAMBDA { all &= divides_by_steps(divisors.r[i]); });
    return all;
}

/// x / divisor, which is one number in all lanes, correctly rounded: without the divider, but for the reciprocal, if
/// there are a few registers and a way to.
template <std::floating_point T, int U>
CALQUE_INLINE pack<T, U> divide_by_uniform(pack<T, U> const& x, pack<T, U> const& divisor) {
    if constexpr (pack<T, U>::registers > 1 && has_quotients_by_steps<T>) {
        T const one = divisor.r[0][0];
        if (divides_by_steps(one)) [[likely]] {
            return quotients_by_steps(x, pack<T, 1>(one), pack<T, 1>(T(1) / one));
        }
    }
    return x / divisor;
}

/// x / y, correctly rounded: `OfFour` of four registers by the divider, and the others without it where there is a way
/// to. One register goes by the divider.
template <int OfFour, std::floating_point T, int U>
CALQUE_INLINE pack<T, U> divide_in_turns(pack<T, U> const& x, pack<T, U> const& y) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA {
        if constexpr (pack<T, U>::registers > 1 && has_quotients_by_steps<T>) {
            bool const divides = OfFour == 2 ? i % 2 == 0 : i % 4 < OfFour;
            if (!divides) {
                return quotient_by_steps(x.r[i], y.r[i]);
            }
        }
        return x.r[i] / y.r[i];
    });
}

} // namespace simd
} // namespace v0
} // namespace calque
