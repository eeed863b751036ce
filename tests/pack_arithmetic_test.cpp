// SPDX-License-Identifier: MIT
// The arithmetic and the conversions of packs against plain loops: all dtypes, special values included.
#include "pack_testing.hpp"

namespace {

using namespace pack_testing;

/// a op b as it wraps around, for integers; as it is, for floating types.
template <class T, class F>
T wrapped(T a, T b, F f) {
    if constexpr (is_floating<T>) {
        return f(a, b);
    } else {
        return static_cast<T>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
    }
}

template <class T, int U>
void check_arithmetic() {
    using P = pack<T, U>;
    CHECK(agrees<T, U>([](P a, P b) { return a + b; },
                       [](T a, T b) { return wrapped(a, b, [](auto x, auto y) { return x + y; }); }));
    CHECK(agrees<T, U>([](P a, P b) { return a - b; },
                       [](T a, T b) { return wrapped(a, b, [](auto x, auto y) { return x - y; }); }));
    CHECK(agrees<T, U>([](P a, P b) { return a * b; },
                       [](T a, T b) { return wrapped(a, b, [](auto x, auto y) { return x * y; }); }));
    CHECK(agrees<T, U>([](P a, P) { return -a; },
                       [](T a, T b) { return wrapped(a, b, [](auto x, auto) { return -x; }); }));
    CHECK(agrees<T, U>([](P a, P b) { return maximum(a, b); },
                       [](T a, T b) {
                           return a != a ? a : b != b ? b : a > b ? a : b;
                       }));
    CHECK(agrees<T, U>([](P a, P b) { return minimum(a, b); },
                       [](T a, T b) {
                           return a != a ? a : b != b ? b : a < b ? a : b;
                       }));
    CHECK(agrees<T, U>([](P a, P) { return abs(a); },
                       [](T a, T b) {
                           if constexpr (is_floating<T>) {
                               return std::abs(a);
                           } else {
                               return a < T(0) ? wrapped(a, b, [](auto x, auto) { return -x; }) : a;
                           }
                       }));
    auto const fused = [](T a, T b, T c) {
        if constexpr (is_floating<T>) {
            return simd::has_fused_multiply ? std::fma(a, b, c) : a * b + c;
        } else {
            return wrapped(a, b, [&](auto x, auto y) { return x * y + static_cast<std::uint64_t>(c); });
        }
    };
    T const c(3);
    CHECK(agrees<T, U>([&](P a, P b) { return fma(a, b, P(c)); }, [&](T a, T b) { return fused(a, b, c); }));
    if constexpr (std::is_signed_v<T>) {
        auto const negative = [](T a) { return wrapped(a, a, [](auto x, auto) { return -x; }); };
        CHECK(agrees<T, U>([&](P a, P b) { return fnma(a, b, P(c)); },
                           [&](T a, T b) { return fused(negative(a), b, c); }));
        CHECK(agrees<T, U>([&](P a, P b) { return fms(a, b, P(c)); },
                           [&](T a, T b) { return fused(a, b, negative(c)); }));
    }
    bool ok = true;
    for (int const first : {0, 5, 100}) {
        elements<T, U> const counted(P::iota(static_cast<T>(first)));
        for (int i = 0; i < P::size; ++i) {
            ok = ok && counted[i] == static_cast<T>(first + i);
        }
    }
    CHECK(ok);
}

template <class T, int U>
void check_floating() {
    using P = pack<T, U>;
    CHECK(agrees<T, U>([](P a, P b) { return a / b; }, [](T a, T b) { return a / b; }));
    auto const root = [](T a, T) { return std::sqrt(a); };
    CHECK(agrees<T, U>([](P a, P) { return sqrt(a); }, root));
    CHECK(agrees<T, U>([](P a, P) { return simd::sqrt_in_turns<0>(a); }, root));
    CHECK(agrees<T, U>([](P a, P) { return simd::sqrt_in_turns<1>(a); }, root));
    CHECK(agrees<T, U>([](P a, P) { return simd::sqrt_in_turns<2>(a); }, root));
    CHECK(agrees<T, U>([](P a, P) { return round_even(a); }, [](T a, T) { return std::nearbyint(a); }));
    CHECK(agrees<T, U>([](P a, P) { return floor(a); }, [](T a, T) { return std::floor(a); }));
    CHECK(agrees<T, U>([](P a, P) { return ceil(a); }, [](T a, T) { return std::ceil(a); }));
    CHECK(agrees<T, U>([](P a, P) { return trunc(a); }, [](T a, T) { return std::trunc(a); }));
    CHECK(agrees<T, U>([](P a, P b) { return copysign(a, b); }, [](T a, T b) { return std::copysign(a, b); }));
    constexpr T bound = T(2.25);
    CHECK(agrees<T, U>([](P a, P) { return clamp(a, -bound, bound); },
                       [](T a, T) { return a < -bound  ? -bound
                                           : a > bound ? bound
                                                       : a; }));
    // Halves, and exponents far beyond the type's range.
    bool halves = true, scaled = true;
    for (int k = -40; k <= 40; ++k) {
        elements<T, U> const rounded(round_even(P(T(k) / 4)));
        halves = halves && identical(rounded[0], std::nearbyint(T(k) / 4));
    }
    elements<T, U> const a(9);
    for (int n = -5000; n <= 5000; n += n > -1100 && n < 1100 ? 3 : 250) {
        elements<T, U> const result(ldexp(a.loaded(), P(T(n))));
        elements<T, U> const near_one(scale(P(T(1.375)), P(T(n))));
        for (int i = 0; i < P::size; ++i) {
            scaled = scaled && identical(result[i], std::ldexp(a[i], n));
        }
        if (std::abs(n) < 2 * std::numeric_limits<T>::max_exponent - 4) {
            scaled = scaled && identical(near_one[0], std::ldexp(T(1.375), n));
        }
    }
    CHECK(halves);
    CHECK(scaled);
}

/// The number of `values` of which a root without the divider has other bits than that of the standard library.
template <class T>
int wrong_roots(std::vector<T> const& values) {
    elements<T, 2> some;
    std::size_t const size = some.value.size();
    int wrong = 0;
    for (std::size_t first = 0; first < values.size(); first += size) {
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(std::min(first, values.size() - size)), size,
                    some.value.begin());
        elements<T, 2> const roots(simd::sqrt_in_turns<0>(some.loaded()));
        for (int i = 0; i < some.size; ++i) {
            wrong += !identical(roots[i], std::sqrt(some[i]));
        }
    }
    return wrong;
}

/// The doubles whose roots are nearest to the middle M + 1/2 of two neighbours, as integers: x 2^k = M^2 + M - j for
/// small j, where M has 53 bits. Digit by digit j and one bit say which M that is.
std::vector<double> hardest_roots() {
    std::vector<double> values;
    for (int const k : {52, 53, 54}) {
        for (int j = -2000; j <= 2000; j += 2) {
            for (std::uint64_t last_bit : {0u, 1u}) {
                std::uint64_t m = last_bit;
                for (int bit = 1; bit < k; ++bit) {
                    m |= ((m * m + m - static_cast<std::uint64_t>(j)) >> bit & 1) << bit;
                }
                for (; m < std::uint64_t(1) << 53; m += std::uint64_t(1) << k) {
                    double const x = std::ldexp(std::fma(double(m), double(m), double(m) - j), -k);
                    if (m >= std::uint64_t(1) << 52 && x < 0x1p53) {
                        values.push_back(std::ldexp(x, k % 2));
                    }
                }
            }
        }
    }
    return values;
}

inline constexpr auto by_uniform = [](auto const& x, auto const& y) { return simd::divide_by_uniform(x, y); };
inline constexpr auto in_turns = [](auto const& x, auto const& y) { return simd::divide_in_turns<0>(x, y); };

/// Counts elements of `x` whose quotient by that of `y`, in registers with their neighbours, is not rounded as C++
/// rounds it.
template <class T>
int wrong_quotients(auto const& divide, std::vector<T> const& x, std::vector<T> const& y) {
    using P = simd::pack<T, 4>;
    int wrong = 0;
    for (std::size_t k = 0; k + P::size <= x.size(); k += P::size) {
        P const quotients = divide(P::load(x.data() + k), P::load(y.data() + k));
        T lanes[P::size];
        quotients.store(lanes);
        for (std::size_t i = 0; i < P::size; ++i) {
            wrong += !identical(lanes[i], x[k + i] / y[k + i]);
        }
    }
    return wrong;
}

/// The same of one divisor, both ways.
template <class T>
int wrong_quotients(std::vector<T> const& x, T divisor) {
    std::vector<T> const y(x.size(), divisor);
    return wrong_quotients(by_uniform, x, y) + wrong_quotients(in_turns, x, y);
}

__extension__ typedef __int128 wide_integer;

/// Numbers whose quotients by `divisor`, an odd integer of all bits of a significand, are nearest to the middle of two
/// neighbours: x 2^b = divisor middle - rest for small rests, where an odd middle has b bits, one more than numbers.
template <class T>
std::vector<T> hardest_dividends(std::uint64_t divisor) {
    constexpr int bits = std::numeric_limits<T>::digits + 1;
    constexpr std::uint64_t mask = (std::uint64_t(1) << bits) - 1;
    std::uint64_t inverse = 1; // of the divisor, of integers of 64 bits
    for (int step = 0; step < 6; ++step) {
        inverse *= 2 - divisor * inverse;
    }
    std::vector<T> result;
    for (std::int64_t rest = -31; rest <= 31; rest += 2) {
        std::uint64_t const middle = inverse * static_cast<std::uint64_t>(rest) & mask;
        wide_integer const product = static_cast<wide_integer>(divisor) * middle - rest;
        result.push_back(static_cast<T>(product >> bits));
    }
    return result;
}

/// Of divisors at random and at the ends of what is divided by steps.
template <class T>
void check_hardest_quotients(int divisors) {
    std::mt19937_64 random(5);
    constexpr int digits = std::numeric_limits<T>::digits;
    int wrong = 0;
    for (int k = 0; k < divisors; ++k) {
        std::uint64_t const top = std::uint64_t(1) << (digits - 1);
        std::uint64_t const divisor =
            k < 8 ? 2 * top - 1 - 2 * static_cast<std::uint64_t>(k) : top | (random() & (top - 1)) | 1;
        std::vector<T> x = hardest_dividends<T>(divisor);
        auto const any = [&](int least, int count) {
            return least + static_cast<int>(random() % static_cast<unsigned>(count));
        };
        constexpr int most = std::numeric_limits<T>::max_exponent;
        int const exponent = any(-most, 2 * most - digits);
        for (T& element : x) {
            element = std::ldexp(element, exponent);
        }
        x.resize(simd::pack<T, 4>::size, std::ldexp(T(1), exponent));
        T const scaled = std::ldexp(static_cast<T>(divisor), any(-most - digits, 2 * most));
        wrong += wrong_quotients(x, scaled) + wrong_quotients(x, -scaled);
    }
    CHECK(wrong == 0);
}

/// Division and roots of what is the same in all lanes.
template <class T>
void check_uniform() {
    if constexpr (simd::has_uniform<T>) {
        using P = pack<T, 1>;
        using N = simd::uniform<T>;
        bool quotients = true, roots = true;
        for (T const a : samples<T>(1, 40)) {
            elements<T, 1> const root{static_cast<P>(sqrt(N(P(a))))};
            roots = roots && identical(root[0], std::sqrt(a)) && identical(root[P::size - 1], std::sqrt(a));
            for (T const b : samples<T>(2, 40)) {
                elements<T, 1> const quotient{static_cast<P>(N(P(a)) / N(b))};
                quotients = quotients && identical(quotient[0], a / b) && identical(quotient[P::size - 1], a / b);
            }
        }
        CHECK(quotients);
        CHECK(roots);
    }
}

template <class T, int U>
void check_integer() {
    using P = pack<T, U>;
    using W = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    // In 64 bits only the least of them divided by -1 overflows: written apart.
    auto const overflows = [](T a, T b) {
        return std::is_signed_v<T> && b == static_cast<T>(-1) && a == std::numeric_limits<T>::min();
    };
    CHECK(agrees<T, U>([](P a, P b) { return a / b; },
                       [&](T a, T b) { return b == 0            ? T(0)
                                              : overflows(a, b) ? a
                                                                : static_cast<T>(W(a) / W(b)); }));
    CHECK(agrees<T, U>([](P a, P b) { return a % b; },
                       [&](T a, T b) { return b == 0 || overflows(a, b) ? T(0) : static_cast<T>(W(a) % W(b)); }));
    CHECK(agrees<T, U>([](P a, P b) { return a & b; }, [](T a, T b) { return static_cast<T>(a & b); }));
    CHECK(agrees<T, U>([](P a, P b) { return a | b; }, [](T a, T b) { return static_cast<T>(a | b); }));
    CHECK(agrees<T, U>([](P a, P b) { return a ^ b; }, [](T a, T b) { return static_cast<T>(a ^ b); }));
    CHECK(agrees<T, U>([](P a, P) { return ~a; }, [](T a, T) { return static_cast<T>(~a); }));
    auto const bounded = [](T count) { return static_cast<int>(static_cast<std::uint64_t>(count) % (8 * sizeof(T))); };
    CHECK(agrees<T, U>([](P a, P b) { return a << b; },
                       [&](T a, T b) { return static_cast<T>(static_cast<std::uint64_t>(a) << bounded(b)); }));
    CHECK(agrees<T, U>([](P a, P b) { return a >> b; }, [&](T a, T b) { return static_cast<T>(a >> bounded(b)); }));
}

template <class To, class From, int U>
void check_conversion() {
    // Values that both types hold: C++ leaves the others undefined.
    elements<From, U> from;
    for (int i = 0; i < from.size; ++i) {
        if constexpr (std::is_same_v<From, bool>) {
            from[i] = i % 3 == 0;
        } else if constexpr (std::is_signed_v<From> && (std::is_signed_v<To> || !is_floating<From>)) {
            from[i] = static_cast<From>(i * 3 - 60);
            if constexpr (is_floating<From>) {
                from[i] += From(i % 4) / 4;
            }
        } else {
            from[i] = static_cast<From>(i * 2);
        }
    }
    if constexpr (!is_floating<From> || is_floating<To>) { // every value of an integer type converts to any other
        auto const some = samples<From>(4, 5);
        std::copy(some.begin(), some.end(), from.value.begin());
    }
    elements<To, U> const result(simd::convert<To>(from.loaded()));
    bool ok = true;
    for (int i = 0; i < from.size; ++i) {
        ok = ok && identical(result[i], static_cast<To>(from[i]));
    }
    CHECK(ok);
}

TEST_CASE_TEMPLATE("packs compute what loops compute", T, CALQUE_NUMBERS){CALQUE_CHECK_SIZES(check_arithmetic, T)}

TEST_CASE_TEMPLATE("floating packs divide, round and scale exactly", T, float,
                   double){CALQUE_CHECK_SIZES(check_floating, T)}

TEST_CASE("square roots of all significands of floats, and of every 4099th float, are rounded correctly") {
    std::vector<float> values;
    for (std::uint32_t bits = 0x3f800000; bits < 0x40800000; ++bits) { // from 1 to 4
        values.push_back(simd::bits_as<float>(bits));
    }
    CHECK(wrong_roots(values) == 0);
    values.clear();
    for (std::uint64_t bits = 0; bits < std::uint64_t(1) << 32; bits += 4099) {
        values.push_back(simd::bits_as<float>(static_cast<std::uint32_t>(bits)));
    }
    CHECK(wrong_roots(values) == 0);
}

TEST_CASE("square roots of doubles that are hard to round, tiny and huge are rounded correctly") {
    std::vector<double> const hard = hardest_roots();
    CHECK(hard.size() > 4000);
    for (int const exponent : {0, 400, 900, -600, -950, -1020, -1100}) {
        std::vector<double> values(hard);
        for (double& x : values) {
            x = std::ldexp(x, exponent);
        }
        CAPTURE(exponent);
        CHECK(wrong_roots(values) == 0);
    }
    CHECK(wrong_roots(samples<double>(1'000'000, 7)) == 0);
}

TEST_CASE("quotients of all significands of floats are rounded correctly") {
    std::vector<float> values;
    for (std::uint32_t bits = 0x3f800000; bits < 0x40000000; ++bits) { // from 1 to 2
        values.push_back(simd::bits_as<float>(bits));
    }
    for (float const divisor : {3.f, -255.f, 0.1f, 0x1.fffffep0f, 0x1.000002p0f, 0x1.6a09e6p20f}) {
        CAPTURE(divisor);
        CHECK(wrong_quotients(values, divisor) == 0);
    }
    for (float const dividend : {1.f, -1.1f, 0x1.fffffep30f}) { // and all significands of divisors
        CAPTURE(dividend);
        CHECK(wrong_quotients(in_turns, std::vector<float>(values.size(), dividend), values) == 0);
    }
}

TEST_CASE("quotients that are hard to round are rounded correctly") {
    check_hardest_quotients<float>(40'000);
    check_hardest_quotients<double>(40'000);
}

TEST_CASE_TEMPLATE("quotients of special, tiny and huge numbers, among others", T, float, double) {
    using limits = std::numeric_limits<T>;
    std::vector<T> numbers{
        T(0),  limits::infinity(), limits::quiet_NaN(), limits::denorm_min(), limits::min(), limits::max(), T(1),
        T(0.3)};
    for (int exponent = limits::min_exponent - 20; exponent < limits::max_exponent; exponent += 9) {
        numbers.push_back(std::ldexp(T(1.7), exponent));
        numbers.push_back(std::ldexp(T(1), exponent));
    }
    std::vector<T> values;
    for (std::size_t i = 0; i < numbers.size(); ++i) { // each among ordinary ones, zeros and one another
        for (std::size_t const other : {std::size_t{0}, std::size_t{7}, i + 1, 3 * i + 1}) {
            values.push_back(numbers[i]);
            values.push_back(-numbers[other % numbers.size()]);
            values.insert(values.end(), 15, other < 8 ? numbers[other] : numbers[i]);
        }
    }
    for (T const divisor : numbers) {
        CAPTURE(divisor);
        CHECK(wrong_quotients(values, divisor) == 0);
        CHECK(wrong_quotients(values, -divisor) == 0);
        CHECK(wrong_quotients(in_turns, std::vector<T>(values.size(), divisor), values) == 0);
    }
}

TEST_CASE_TEMPLATE("what is the same in all lanes is divided, and its roots are taken, in fewer", T, float, double) {
    check_uniform<T>();
}

TEST_CASE_TEMPLATE("integer packs divide without traps, and shift", T, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t) {
    CALQUE_CHECK_SIZES(check_integer, T)
}

template <class From, class... To>
void check_conversions_to() {
    (check_conversion<To, From, 2>(), ...);
}

TEST_CASE_TEMPLATE("every dtype converts to every dtype", T, bool, CALQUE_NUMBERS) {
    check_conversions_to<T, bool, CALQUE_NUMBERS>();
}

} // namespace
