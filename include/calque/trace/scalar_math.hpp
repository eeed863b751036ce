// SPDX-License-Identifier: MIT
// sqrt, exp, log and pow of numbers in constant expressions: `x * calque::sqrt(2.f)` in a traced function. (Those of
// <cmath> are constant expressions for g++ only.)
//
// Computed with pairs of doubles, which carry about 100 bits: results are the nearest double or float, but for one in
// some millions. They are meant for the compiler: at run time these functions are those of <cmath>. (T. J. Dekker, "A
// floating-point technique for extending the available precision", 1971.)
#pragma once

#include <calque/core/config.hpp>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace calque {
inline namespace v0 {
namespace detail {

/// high + low, where low is less than half a unit in the last place of high.
struct double_pair {
    double high = 0;
    double low = 0;
};

/// a + b, exactly.
constexpr double_pair exact_sum(double a, double b) {
    double const s = a + b;
    double const part = s - a;
    return {s, (a - (s - part)) + (b - part)};
}

/// The upper 26 bits of a double, so that products of such halves are exact.
constexpr double upper_half(double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~((std::uint64_t{1} << 27) - 1));
}

/// a * b, exactly.
constexpr double_pair exact_product(double a, double b) {
    double const p = a * b;
    double const a_high = upper_half(a);
    double const b_high = upper_half(b);
    double const a_low = a - a_high;
    double const b_low = b - b_high;
    return {p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

constexpr double_pair operator+(double_pair a, double_pair b) {
    double_pair const s = exact_sum(a.high, b.high);
    return exact_sum(s.high, s.low + a.low + b.low);
}
constexpr double_pair operator*(double_pair a, double_pair b) {
    double_pair const p = exact_product(a.high, b.high);
    return exact_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}
constexpr double_pair operator/(double_pair a, double_pair b) {
    double const q = a.high / b.high;
    double_pair const p = double_pair{q, 0} * b;
    return exact_sum(q, ((a.high - p.high) - p.low + a.low) / b.high);
}

inline constexpr double_pair log_of_2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

inline constexpr std::uint64_t exponent_mask = 0x7ff0'0000'0000'0000;

/// x = mantissa * 2^exponent, the mantissa being from 1 to 2; x is positive and finite.
struct parts {
    double mantissa;
    int exponent;
};

constexpr parts split(double x) {
    int exponent = 0;
    if (x < std::numeric_limits<double>::min()) { // denormal
        x *= 0x1p54;
        exponent = -54;
    }
    std::uint64_t const bits = std::bit_cast<std::uint64_t>(x);
    exponent += static_cast<int>(bits >> 52) - 1023;
    return {std::bit_cast<double>((bits & ~exponent_mask) | std::uint64_t{1023} << 52), exponent};
}

/// 2^n, n being an exponent of normal numbers.
constexpr double power_of_2(int n) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

/// The square root's bits, one by one, as on paper: the remainder tells how to round.
constexpr double scalar_sqrt(double x) {
    if (!(x > 0) || x == std::numeric_limits<double>::infinity()) {
        return x < 0 ? std::numeric_limits<double>::quiet_NaN() : x;
    }
    parts const p = split(x);
    int const half = (p.exponent - (p.exponent & 1)) / 2;
    // The root of an integer of 106 bits, of which the lower half are zeros, is one of 53 bits; one more to round.
    std::uint64_t const digits = static_cast<std::uint64_t>(p.mantissa * 0x1p52) << (p.exponent & 1);
    std::uint64_t root = 0;
    std::uint64_t remainder = 0;
    for (int pair = 26; pair >= -27; --pair) {
        std::uint64_t const next = pair >= 0 ? digits >> (2 * pair) & 3 : 0;
        remainder = remainder << 2 | next;
        root <<= 1;
        if (remainder > 2 * root) {
            remainder -= 2 * root + 1;
            ++root;
        }
    }
    root += root & 1; // to nearest; a root of a double is never halfway between two
    return static_cast<double>(root) * 0x1p-53 * power_of_2(half);
}

/// log x = exponent log 2 + 2 artanh((m - 1) / (m + 1)), m being the mantissa, from sqrt(1/2) to sqrt(2).
constexpr double_pair log_as_pair(double x) {
    parts p = split(x);
    if (p.mantissa > 0x1.6a09e667f3bcdp+0) {
        p = {p.mantissa / 2, p.exponent + 1};
    }
    double_pair const s = double_pair{p.mantissa - 1, 0} / exact_sum(p.mantissa, 1);
    double_pair const square = s * s;
    double_pair sum;
    for (int n = 43; n >= 1; n -= 2) { // s^43 is below 2^-109
        sum = sum * square + double_pair{1, 0} / double_pair{static_cast<double>(n), 0};
    }
    double_pair const mantissa = s * sum;
    double_pair const exponent = double_pair{static_cast<double>(p.exponent), 0} * log_of_2;
    return exponent + double_pair{2 * mantissa.high, 2 * mantissa.low};
}

/// exp x = 2^n exp(r), r being at most log(2) / 2.
constexpr double exp_of_pair(double_pair x) {
    if (x.high > 710) {
        return std::numeric_limits<double>::infinity();
    }
    if (x.high < -746) {
        return 0;
    }
    double const scaled = x.high / log_of_2.high;
    int const n = static_cast<int>(scaled + (scaled < 0 ? -0.5 : 0.5));
    double_pair const r = x + double_pair{static_cast<double>(-n), 0} * log_of_2;
    double_pair sum{1, 0};
    for (int k = 27; k >= 1; --k) { // r^28 / 28! is below 2^-140
        sum = double_pair{1, 0} + sum * r / double_pair{static_cast<double>(k), 0};
    }
    // In two steps, so that neither power overflows; only the second one rounds, where the result is denormal. (An
    // overflow would be no constant expression.)
    double const value = (sum.high + sum.low) * power_of_2(n / 2);
    double const power = power_of_2(n - n / 2);
    bool const overflows = power > 1 && value > std::numeric_limits<double>::max() / power;
    return overflows ? std::numeric_limits<double>::infinity() : value * power;
}

constexpr double scalar_exp(double x) {
    return x != x ? x : exp_of_pair({x, 0});
}

constexpr double scalar_log(double x) {
    if (!(x > 0) || x == std::numeric_limits<double>::infinity()) {
        return x == 0 ? -std::numeric_limits<double>::infinity() : x < 0 ? std::numeric_limits<double>::quiet_NaN() : x;
    }
    return log_as_pair(x).high;
}

constexpr bool is_whole(double x) {
    return x >= 0x1p53 || x <= -0x1p53 || static_cast<double>(static_cast<std::int64_t>(x)) == x;
}
constexpr bool is_odd(double x) {
    return x < 0x1p53 && x > -0x1p53 && is_whole(x) && (static_cast<std::int64_t>(x) & 1) != 0;
}

/// The special cases are those of C's pow.
constexpr double scalar_pow(double x, double y) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (y == 0 || x == 1) {
        return 1;
    }
    if (x != x || y != y) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    bool const negative = std::bit_cast<std::int64_t>(x) < 0;
    double const magnitude = negative ? -x : x;
    double const sign = negative && is_odd(y) ? -1 : 1;
    if (magnitude == 0 || magnitude == infinity) {
        return sign * ((magnitude == 0) == (y > 0) ? 0 : infinity);
    }
    if (y == infinity || y == -infinity) {
        return magnitude == 1 ? 1 : (magnitude > 1) == (y > 0) ? infinity : 0;
    }
    if (negative && !is_whole(y)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    double_pair const log = log_as_pair(magnitude);
    if (double const rough = log.high * y; rough > 710 || rough < -746) {
        return sign * (rough > 0 ? infinity : 0);
    }
    return sign * exp_of_pair(log * double_pair{y, 0});
}

/// A result as a `T`; what is too large for a float is infinite. (The conversion alone would be no constant
/// expression.)
template <std::floating_point T>
constexpr T rounded(double x) {
    constexpr double beyond = static_cast<double>(std::numeric_limits<T>::max());
    if constexpr (std::same_as<T, float>) {
        if (x >= beyond + 0x1p103 || x <= -(beyond + 0x1p103)) {
            return x > 0 ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
        }
    }
    return static_cast<T>(x);
}

} // namespace detail

/// The square root.
template <std::floating_point T>
constexpr T sqrt(T x) {
    if (std::is_constant_evaluated()) {
        return detail::rounded<T>(detail::scalar_sqrt(static_cast<double>(x)));
    }
    return std::sqrt(x);
}

/// e to the power x.
template <std::floating_point T>
constexpr T exp(T x) {
    if (std::is_constant_evaluated()) {
        return detail::rounded<T>(detail::scalar_exp(static_cast<double>(x)));
    }
    return std::exp(x);
}

/// The natural logarithm: NaN below 0, -infinity at 0.
template <std::floating_point T>
constexpr T log(T x) {
    if (std::is_constant_evaluated()) {
        return detail::rounded<T>(detail::scalar_log(static_cast<double>(x)));
    }
    return std::log(x);
}

/// x to the power y, with the special cases of C's pow.
template <std::floating_point T>
constexpr T pow(T x, std::type_identity_t<T> y) {
    if (std::is_constant_evaluated()) {
        return detail::rounded<T>(detail::scalar_pow(static_cast<double>(x), static_cast<double>(y)));
    }
    return std::pow(x, y);
}

} // namespace v0
} // namespace calque
