// SPDX-License-Identifier: MIT
// Arithmetic, comparisons and selection of packs. Integers wrap around; comparisons are IEEE: only `!=` is true of NaN.
#pragma once

#include <calque/kernels/cpu/pack_memory.hpp>

#include <cmath>
#include <concepts>

namespace calque {
inline namespace v0 {
namespace simd {

namespace detail {

// Registers of integers overflow like unsigned ones: without undefined behaviour.
template <class R>
CALQUE_INLINE auto wrapping(R x) {
    using T = element_of<R>;
    if constexpr (std::integral<T>) {
        return bits_as<vec<unsigned_of<T>, lanes_of<R>>>(x);
    } else {
        return x;
    }
}

} // namespace detail

template <class T, int U>
CALQUE_INLINE pack<T, U> operator+(pack<T, U> const& a, pack<T, U> const& b) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA {
        return bits_as<reg<T>>(detail::wrapping(a.r[i]) + detail::wrapping(b.r[i]));
    });
}

template <class T, int U>
CALQUE_INLINE pack<T, U> operator-(pack<T, U> const& a, pack<T, U> const& b) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA {
        return bits_as<reg<T>>(detail::wrapping(a.r[i]) - detail::wrapping(b.r[i]));
    });
}

template <class T, int U>
CALQUE_INLINE pack<T, U> operator*(pack<T, U> const& a, pack<T, U> const& b) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA {
        return bits_as<reg<T>>(detail::wrapping(a.r[i]) * detail::wrapping(b.r[i]));
    });
}

template <std::floating_point T, int U>
CALQUE_INLINE pack<T, U> operator/(pack<T, U> const& a, pack<T, U> const& b) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return a.r[i] / b.r[i]; });
}

template <class T, int U>
CALQUE_INLINE pack<T, U> operator-(pack<T, U> const& a) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return bits_as<reg<T>>(-detail::wrapping(a.r[i])); });
}

/// a * b + c. Floating packs round once where the hardware can (`has_fused_multiply`), else twice; integers wrap.
template <class T, int U>
CALQUE_INLINE pack<T, U> fma(pack<T, U> const& a, pack<T, U> const& b, pack<T, U> const& c) {
    if constexpr (std::integral<T>) {
        return a * b + c;
    } else {
        return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return fma(a.r[i], b.r[i], c.r[i]); });
    }
}

/// c - a * b, rounded like `fma`.
template <class T, int U>
CALQUE_INLINE pack<T, U> fnma(pack<T, U> const& a, pack<T, U> const& b, pack<T, U> const& c) {
    if constexpr (std::integral<T>) {
        return c - a * b;
    } else {
        return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return fnma(a.r[i], b.r[i], c.r[i]); });
    }
}

/// a * b - c, rounded like `fma`.
template <class T, int U>
CALQUE_INLINE pack<T, U> fms(pack<T, U> const& a, pack<T, U> const& b, pack<T, U> const& c) {
    if constexpr (std::integral<T>) {
        return a * b - c;
    } else {
        return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return fms(a.r[i], b.r[i], c.r[i]); });
    }
}

/// The lanes where the comparison holds.
template <comparison C, class T, int U>
CALQUE_INLINE pack<bool, U> compare(pack<T, U> const& a, pack<T, U> const& b) {
    if constexpr (std::same_as<T, bool>) {
        return pack<bool, U>::generate([&](int i) CALQUE_INLINE_LAMBDA {
            group_mask const x = a.r[i], y = b.r[i];
            return C == comparison::equal        ? ~(x ^ y)
                   : C == comparison::not_equal  ? x ^ y
                   : C == comparison::less       ? ~x & y
                   : C == comparison::less_equal ? ~x | y
                   : C == comparison::greater    ? x & ~y
                                                 : x | ~y;
        });
    } else if constexpr (lanes<T> == width) {
        return pack<bool, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return compare<C>(a.r[i], b.r[i]); });
    } else {
        return pack<bool, U>::generate([&](int i) CALQUE_INLINE_LAMBDA {
            return compare<C>(a.r[2 * i], b.r[2 * i], a.r[2 * i + 1], b.r[2 * i + 1]);
        });
    }
}

template <class T, int U>
CALQUE_INLINE pack<bool, U> operator==(pack<T, U> const& a, pack<T, U> const& b) {
    return compare<comparison::equal>(a, b);
}
template <class T, int U>
CALQUE_INLINE pack<bool, U> operator!=(pack<T, U> const& a, pack<T, U> const& b) {
    return compare<comparison::not_equal>(a, b);
}
template <class T, int U>
CALQUE_INLINE pack<bool, U> operator<(pack<T, U> const& a, pack<T, U> const& b) {
    return compare<comparison::less>(a, b);
}
template <class T, int U>
CALQUE_INLINE pack<bool, U> operator<=(pack<T, U> const& a, pack<T, U> const& b) {
    return compare<comparison::less_equal>(a, b);
}
template <class T, int U>
CALQUE_INLINE pack<bool, U> operator>(pack<T, U> const& a, pack<T, U> const& b) {
    return compare<comparison::greater>(a, b);
}
template <class T, int U>
CALQUE_INLINE pack<bool, U> operator>=(pack<T, U> const& a, pack<T, U> const& b) {
    return compare<comparison::greater_equal>(a, b);
}

template <int U>
CALQUE_INLINE pack<bool, U> operator&(pack<bool, U> const& a, pack<bool, U> const& b) {
    return pack<bool, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return a.r[i] & b.r[i]; });
}
template <int U>
CALQUE_INLINE pack<bool, U> operator|(pack<bool, U> const& a, pack<bool, U> const& b) {
    return pack<bool, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return a.r[i] | b.r[i]; });
}
template <int U>
CALQUE_INLINE pack<bool, U> operator^(pack<bool, U> const& a, pack<bool, U> const& b) {
    return pack<bool, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return a.r[i] ^ b.r[i]; });
}
template <int U>
CALQUE_INLINE pack<bool, U> operator!(pack<bool, U> const& a) {
    return pack<bool, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return ~a.r[i]; });
}

/// The lanes of `a` where `mask` is set, of `b` elsewhere.
template <class T, int U>
CALQUE_INLINE pack<T, U> select(pack<bool, U> const& mask, pack<T, U> const& a, pack<T, U> const& b) {
    if constexpr (std::same_as<T, bool>) {
        return (mask & a) | ((!mask) & b);
    } else {
        constexpr int of_a_group = pack<T, 1>::registers;
        return pack<T, U>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
            return select<i % of_a_group>(mask.r[i / of_a_group], a.r[i], b.r[i]);
        });
    }
}

/// The lanes of `a` where `mask` is set, zeros elsewhere.
template <class T, int U>
CALQUE_INLINE pack<T, U> select_or_zero(pack<bool, U> const& mask, pack<T, U> const& a) {
    constexpr int of_a_group = pack<T, 1>::registers;
    return pack<T, U>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
        return select_or_zero<i % of_a_group>(mask.r[i / of_a_group], a.r[i]);
    });
}

/// select(compare<C>(x, y), a, b) without the detour over bits where masks are ordinary registers.
///
/// `x` and `y` may be of another type than `a` and `b`, as wide.
template <comparison C, class S, class T, int U>
    requires(sizeof(S) == sizeof(T))
CALQUE_INLINE pack<T, U> select_if(pack<S, U> const& x, pack<S, U> const& y, pack<T, U> const& a, pack<T, U> const& b) {
    return pack<T, U>::generate([&](int i)
                                    CALQUE_INLINE_LAMBDA { return select_if<C>(x.r[i], y.r[i], a.r[i], b.r[i]); });
}

/// The bits of each element as those of another type, as wide.
template <class To, class From, int U>
    requires(sizeof(To) == sizeof(From))
CALQUE_INLINE pack<To, U> bits_as(pack<From, U> const& x) {
    return pack<To, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return bits_as<reg<To>>(x.r[i]); });
}

/// The lanes of `v` below `n`, of `identity` from there on.
template <class T, int U>
CALQUE_INLINE pack<T, U> keep_first(pack<T, U> const& v, pack<T, U> const& identity, int n) {
    auto const mask =
        pack<bool, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return first_lanes<width>(n - i * width); });
    return select(mask, v, identity);
}

/// The greater of two numbers; NaN if one of them is NaN.
template <class T, int U>
CALQUE_INLINE pack<T, U> maximum(pack<T, U> const& a, pack<T, U> const& b) {
    if constexpr (std::same_as<T, bool>) {
        return a | b;
    } else {
        return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return maximum(a.r[i], b.r[i]); });
    }
}

/// The lesser of two numbers; NaN if one of them is NaN.
template <class T, int U>
CALQUE_INLINE pack<T, U> minimum(pack<T, U> const& a, pack<T, U> const& b) {
    if constexpr (std::same_as<T, bool>) {
        return a & b;
    } else {
        return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return minimum(a.r[i], b.r[i]); });
    }
}

/// The lesser of two numbers; `b` if either is NaN or both are zeros. One instruction on x86.
template <std::floating_point T, int U>
CALQUE_INLINE pack<T, U> min_or_second(pack<T, U> const& a, pack<T, U> const& b) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return min_or_second(a.r[i], b.r[i]); });
}

/// The greater of two numbers; `b` if either is NaN or both are zeros. One instruction on x86.
template <std::floating_point T, int U>
CALQUE_INLINE pack<T, U> max_or_second(pack<T, U> const& a, pack<T, U> const& b) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return max_or_second(a.r[i], b.r[i]); });
}

namespace detail {

// The greater or the lesser of the lanes of a pack and of a number that the compiler knows, with the bits that
// `keep_nan` gives, which looks for NaN in each lane of its first operand; `or_second` need not.
template <class T, int U, class F, class G>
CALQUE_INLINE pack<T, U> choose_with_number(pack<T, U> const& a, T b, F keep_nan, G or_second) {
    pack<T, U> const number(b);
    if constexpr (std::floating_point<T>) {
        if (b < T(0) || b > T(0)) {
            return or_second(number, a);
        }
        if (b == T(0) && !std::signbit(b)) {
            return or_second(number, a) + number; // of two zeros it is the second one: -0 becomes 0
        }
    }
    return keep_nan(a, number);
}
template <class T, int U, class F, class G>
CALQUE_INLINE pack<T, U> choose_with_number(T a, pack<T, U> const& b, F keep_nan, G or_second) {
    if constexpr (std::floating_point<T>) {
        if (a == a) {
            return or_second(pack<T, U>(a), b);
        }
    }
    return keep_nan(pack<T, U>(a), b);
}

} // namespace detail

/// The same of a pack and a number that the compiler knows, in either order.
template <class X, class Y>
    requires(!std::same_as<X, Y>)
CALQUE_INLINE auto maximum(X const& a, Y const& b) {
    return detail::choose_with_number(
        a, b, [](auto x, auto y) CALQUE_INLINE_LAMBDA { return maximum(x, y); },
        [](auto x, auto y) CALQUE_INLINE_LAMBDA { return max_or_second(x, y); });
}
template <class X, class Y>
    requires(!std::same_as<X, Y>)
CALQUE_INLINE auto minimum(X const& a, Y const& b) {
    return detail::choose_with_number(
        a, b, [](auto x, auto y) CALQUE_INLINE_LAMBDA { return minimum(x, y); },
        [](auto x, auto y) CALQUE_INLINE_LAMBDA { return min_or_second(x, y); });
}

/// `x` between `low` and `high`; NaN stays NaN.
template <std::floating_point T, int U>
CALQUE_INLINE pack<T, U> clamp(pack<T, U> const& x, T low, T high) {
    return pack<T, U>::generate(
        [&](int i) CALQUE_INLINE_LAMBDA { return min_or_second(splat(high), max_or_second(splat(low), x.r[i])); });
}

/// The absolute value; that of the most negative integer is itself.
template <class T, int U>
CALQUE_INLINE pack<T, U> abs(pack<T, U> const& x) {
    if constexpr (std::floating_point<T>) {
        return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return abs(x.r[i]); });
    } else if constexpr (std::is_signed_v<T>) {
        return maximum(x, -x);
    } else {
        return x;
    }
}

#define CALQUE_UNARY(name)                                                                                             \
    template <std::floating_point T, int U>                                                                            \
    CALQUE_INLINE pack<T, U> name(pack<T, U> const& x) {                                                               \
        return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return name(x.r[i]); });                         \
    }
CALQUE_UNARY(round_even) // keeps the sign of a zero, as the next three do
CALQUE_UNARY(floor)
CALQUE_UNARY(ceil)
CALQUE_UNARY(trunc)
#undef CALQUE_UNARY

/// The square root, correctly rounded: `OfFour` of four registers by the divider, and the others without it where there
/// is a way to, so that the divider and the units that multiply work side by side. One register goes by the divider, as
/// nothing may be left to do until its root is there.
template <int OfFour, std::floating_point T, int U>
CALQUE_INLINE pack<T, U> sqrt_in_turns(pack<T, U> const& x) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA {
        if constexpr (pack<T, U>::registers > 1 && requires { sqrt_by_steps(x.r[i]); }) {
            bool const divides = OfFour == 2 ? i % 2 == 0 : i % 4 < OfFour;
            if (!divides) {
                return sqrt_by_steps(x.r[i]);
            }
        }
        return sqrt(x.r[i]);
    });
}

/// How many of four registers the divider takes beside other work: doubles keep it for twice as long.
template <std::floating_point T>
inline constexpr int roots_by_divider = sizeof(T) == 8 ? 2 : 4;

/// The square root, beside other work.
template <std::floating_point T, int U>
CALQUE_INLINE pack<T, U> sqrt(pack<T, U> const& x) {
    return sqrt_in_turns<roots_by_divider<T>>(x);
}

/// An estimate of 1 / sqrt(x), where there is an instruction for it.
template <std::floating_point T, int U>
    requires requires(reg<T> x) { rsqrt_estimate(x); }
CALQUE_INLINE pack<T, U> rsqrt_estimate(pack<T, U> const& x) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return rsqrt_estimate(x.r[i]); });
}

/// The magnitude of `x` with the sign of `sign`.
template <std::floating_point T, int U>
CALQUE_INLINE pack<T, U> copysign(pack<T, U> const& x, pack<T, U> const& sign) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return copysign(x.r[i], sign.r[i]); });
}

/// x * 2^n for integral n, rounded once.
template <std::floating_point T, int U>
CALQUE_INLINE pack<T, U> ldexp(pack<T, U> const& x, pack<T, U> const& n) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return ldexp(x.r[i], n.r[i]); });
}

/// The same for a normal x near 1 and |n| of at most twice the largest exponent: cheaper without AVX-512.
template <std::floating_point T, int U>
CALQUE_INLINE pack<T, U> scale(pack<T, U> const& x, pack<T, U> const& n) {
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return scale(x.r[i], n.r[i]); });
}

} // namespace simd
} // namespace v0
} // namespace calque
