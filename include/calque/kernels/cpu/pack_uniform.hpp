// SPDX-License-Identifier: MIT
// A number that is the same in all lanes, for division and roots: a divider takes its time for each 16 bytes of a
// register.
#pragma once

#include <calque/kernels/cpu/pack_arithmetic.hpp>

#include <concepts>

namespace calque {
inline namespace v0 {
namespace simd {

/// One number, in the lanes of 16 bytes.
template <std::floating_point T>
struct uniform {
    static constexpr int lanes = 16 / static_cast<int>(sizeof(T));

    vec<T, lanes> r;

    CALQUE_INLINE explicit uniform(vec<T, lanes> lanes_of_x) : r(lanes_of_x) {}
    CALQUE_INLINE explicit uniform(T x) : r(slice<0, lanes>(splat(x))) {}
    /// The number that all lanes of `x` have.
    CALQUE_INLINE explicit uniform(pack<T, 1> const& x) : r(slice<0, lanes>(x.r[0])) {}

    CALQUE_INLINE explicit operator pack<T, 1>() const { return pack<T, 1>(r[0]); }
};

template <class T>
CALQUE_INLINE uniform<T> operator/(uniform<T> a, uniform<T> b) {
    return uniform<T>(a.r / b.r);
}
template <class T>
CALQUE_INLINE uniform<T> sqrt(uniform<T> x) {
    return uniform<T>(sqrt(x.r));
}

/// Whether registers are wider than that, and there are instructions for those that are not.
template <class T>
inline constexpr bool has_uniform = false;
template <std::floating_point T>
inline constexpr bool has_uniform<T> =
    sizeof(reg<T>) > 16 && requires(vec<T, uniform<T>::lanes> x) { simd::sqrt(x); };

} // namespace simd
} // namespace v0
} // namespace calque
