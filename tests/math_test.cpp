// SPDX-License-Identifier: MIT
// The vector functions against long double: the greatest error in ULP over sampled bits and special values, and that
// a value has the same result in every lane, tail and pack size.
#define DOCTEST_CONFIG_SUPER_FAST_ASSERTS

#include <calque/kernels/cpu/math.hpp>

#include "documents.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace math = calque::math;
using calque::simd::pack;

/// The greatest error of a function in ULP, in the builds for AVX-512, AVX2 and SSE4.2, a little rounded up.
///
/// Measured at some 4 million arguments a dtype: where the function does something, and random bits.
struct accuracy {
    std::string_view function;
    double in_float;
    double in_double;
};
constexpr accuracy bounds[] = {
    {"exp", 1.1, 1.1},   {"exp2", 1.3, 1.3},  {"expm1", 1.4, 1.4}, {"log", 0.9, 0.9},     {"log2", 1.1, 1.2},
    {"log1p", 0.9, 0.9}, {"pow", 0.6, 1.2},   {"sqrt", 0.5, 0.5},  {"rsqrt", 1.6, 1.6},   {"cbrt", 0.6, 0.6},
    {"sin", 1.6, 0.9},   {"cos", 1.6, 0.9},   {"tan", 3.1, 2.3},   {"asin", 0.7, 0.7},    {"acos", 0.7, 0.7},
    {"atan", 1.3, 1.3},  {"atan2", 1.4, 1.4}, {"sinh", 0.9, 0.9},  {"cosh", 0.9, 0.9},    {"tanh", 1.9, 1.9},
    {"asinh", 1.3, 1.3}, {"acosh", 0.9, 0.9}, {"atanh", 1.1, 1.1}, {"sigmoid", 2.0, 2.0}, {"erf", 1.5, 1.3},
    {"erfc", 3.6, 3.5},  {"fmod", 0, 0},      {"round", 0, 0},     {"floor", 0, 0},       {"ceil", 0, 0},
    {"trunc", 0, 0},     {"abs", 0, 0},
};

template <class T>
constexpr double bound_of(std::string_view function) {
    accuracy const row =
        *std::find_if(std::begin(bounds), std::end(bounds), [&](accuracy const& a) { return a.function == function; });
    return sizeof(T) == sizeof(float) ? row.in_float : row.in_double;
}

// As many arguments as a build is fast enough for.
#ifdef __OPTIMIZE__
constexpr std::size_t sample_count = 1'000'000;
#else
constexpr std::size_t sample_count = 100'000;
#endif

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// The distance of `actual` from `exact` in units of the last place of a T; huge where even the kind is wrong.
template <class T>
double error_in_ulp(T actual, long double exact) {
    using limits = std::numeric_limits<T>;
    constexpr double wrong = 1e9;
    if (std::isnan(exact) || std::isnan(actual)) {
        return std::isnan(exact) && std::isnan(actual) ? 0 : wrong;
    }
    T const rounded = static_cast<T>(exact);
    if (std::isinf(exact) || exact == 0) {
        return actual == rounded && std::signbit(actual) == std::signbit(exact) ? 0 : wrong;
    }
    if (actual == 0 && std::signbit(actual) != std::signbit(exact)) {
        return wrong;
    }
    if (std::isinf(actual) || std::isinf(rounded)) { // an overflow counts as one ulp above the greatest number
        return actual == rounded ? 0 : std::abs(actual) == limits::max() || std::isinf(actual) ? 1 : wrong;
    }
    int const exponent = std::max(std::ilogb(exact), limits::min_exponent - 1);
    long double const ulp = std::ldexp(1.0L, exponent - (limits::digits - 1));
    return static_cast<double>(std::abs(static_cast<long double>(actual) - exact) / ulp);
}

template <class T>
std::vector<T> special_values() {
    using limits = std::numeric_limits<T>;
    std::vector<T> values;
    for (T const x : {T(0),
                      T(0.5),
                      T(1),
                      T(1.5),
                      T(2),
                      T(3),
                      T(10),
                      T(1e-3),
                      T(1e5),
                      T(1.0001e5),
                      T(1e6),
                      T(1.0001e6),
                      T(1e30),
                      T(1) + limits::epsilon(),
                      T(1) - limits::epsilon() / 2,
                      limits::epsilon(),
                      limits::epsilon() / 4,
                      limits::min(),
                      limits::denorm_min(),
                      7 * limits::denorm_min(),
                      limits::max(),
                      limits::infinity(),
                      limits::quiet_NaN(),
                      T(88.72),
                      T(88.73),
                      T(103.9),
                      T(104.1),
                      T(709.7),
                      T(709.8),
                      T(745.1),
                      T(745.2)}) {
        values.push_back(x);
        values.push_back(-x);
    }
    return values;
}

/// Special values, random bits, and numbers from where the function does something.
template <class T>
std::vector<T> arguments(double low, double high) {
    std::vector<T> values = special_values<T>();
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> inside(low, high);
    while (values.size() < sample_count) {
        auto const word = static_cast<bits_of<T>>(random());
        values.push_back(values.size() % 4 == 0 ? std::bit_cast<T>(word) : static_cast<T>(inside(random)));
    }
    return values;
}

template <class T, int U, class F>
[[gnu::noinline]] std::vector<T> apply(std::vector<T> const& x, F f) {
    using P = pack<T, U>;
    std::vector<T> y(x.size());
    for (std::size_t i = 0; i < x.size(); i += P::size) {
        int const n = static_cast<int>(std::min<std::size_t>(P::size, x.size() - i));
        f(P::load(x.data() + i, n)).store(y.data() + i, n);
    }
    return y;
}

template <class T>
struct greatest {
    double error = 0;
    T where = 0;
};

template <class T>
greatest<T> greatest_error(std::vector<T> const& x, std::vector<T> const& y, long double (*exact)(long double)) {
    greatest<T> result;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const error = error_in_ulp(y[i], exact(static_cast<long double>(x[i])));
        if (error > result.error) {
            result = {error, x[i]};
        }
    }
    return result;
}

/// Bit for bit, but any NaN for any other: which one an operation passes on depends on the order of its operands.
template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T x, T y) {
        return std::bit_cast<bits_of<T>>(x) == std::bit_cast<bits_of<T>>(y) || (std::isnan(x) && std::isnan(y));
    });
}

/// Whether each value has the bits it has in lane 0 of a pack full of it: in all lanes, pack sizes and tails.
template <class T, class F>
bool is_uniform(F f, double low, double high) {
    std::vector<T> x = arguments<T>(low, high);
    x.resize(1003);
    std::vector<T> alone(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        f(pack<T, 1>(x[i])).store(alone.data() + i, 1);
    }
    bool uniform = same_bits(alone, apply<T, 1>(x, f)) && same_bits(alone, apply<T, 4>(x, f));
    for (std::size_t shift = 0; shift < 2 * std::size_t{pack<T, 2>::size}; ++shift) { // other lanes, another tail
        std::vector<T> const shifted(x.begin() + static_cast<std::ptrdiff_t>(shift), x.end());
        std::vector<T> const expected(alone.begin() + static_cast<std::ptrdiff_t>(shift), alone.end());
        uniform = uniform && same_bits(expected, apply<T, 2>(shifted, f));
    }
    return uniform;
}

// (`math_test -s` shows the errors.)
#define CALQUE_FUNCTION(name, low, high, exact)                                                                        \
    TEST_CASE_TEMPLATE(#name, T, float, double) {                                                                      \
        auto const f = [](auto x) { return math::name(x); };                                                           \
        auto const x = arguments<T>(low, high);                                                                        \
        auto const worst =                                                                                             \
            greatest_error<T>(x, apply<T, 2>(x, f), [](long double v) -> long double { return exact; });               \
        INFO("at " << worst.where);                                                                                    \
        CHECK(worst.error <= bound_of<T>(#name));                                                                      \
        CHECK(is_uniform<T>(f, low, high));                                                                            \
    }

CALQUE_FUNCTION(exp, -100, 100, std::exp(v))
CALQUE_FUNCTION(exp2, -150, 150, std::exp2(v))
CALQUE_FUNCTION(expm1, -3, 3, std::expm1(v))
CALQUE_FUNCTION(log, 0, 3, std::log(v))
CALQUE_FUNCTION(log2, 0, 3, std::log2(v))
CALQUE_FUNCTION(log1p, -1, 3, std::log1p(v))
CALQUE_FUNCTION(sinh, -3, 3, std::sinh(v))
CALQUE_FUNCTION(cosh, -90, 90, std::cosh(v))
CALQUE_FUNCTION(tanh, -3, 3, std::tanh(v))
CALQUE_FUNCTION(asinh, -3, 3, std::asinh(v))
CALQUE_FUNCTION(acosh, 1, 3, std::acosh(v))
CALQUE_FUNCTION(atanh, -1, 1, std::atanh(v))
CALQUE_FUNCTION(sigmoid, -20, 20, v < 0 ? std::exp(v) / (1 + std::exp(v)) : 1 / (1 + std::exp(-v)))
CALQUE_FUNCTION(sin, -20, 20, std::sin(v))
CALQUE_FUNCTION(cos, -20, 20, std::cos(v))
CALQUE_FUNCTION(tan, -20, 20, std::tan(v))
CALQUE_FUNCTION(asin, -1, 1, std::asin(v))
CALQUE_FUNCTION(acos, -1, 1, std::acos(v))
CALQUE_FUNCTION(atan, -3, 3, std::atan(v))
CALQUE_FUNCTION(erf, -4, 4, std::erf(v))
CALQUE_FUNCTION(erfc, -2, 12, std::erfc(v))
CALQUE_FUNCTION(cbrt, -30, 30, std::cbrt(v))
CALQUE_FUNCTION(rsqrt, 0, 4, 1 / std::sqrt(v))
CALQUE_FUNCTION(sqrt, 0, 4, std::sqrt(v))
CALQUE_FUNCTION(round, -9, 9, std::nearbyint(v))
CALQUE_FUNCTION(floor, -9, 9, std::floor(v))
CALQUE_FUNCTION(ceil, -9, 9, std::ceil(v))
CALQUE_FUNCTION(trunc, -9, 9, std::trunc(v))
CALQUE_FUNCTION(abs, -9, 9, std::abs(v))

TEST_CASE_TEMPLATE("pow", T, float, double) {
    // Pairs: every special value to every other, random bits, and numbers whose power is neither 0 nor infinity.
    std::vector<T> x, y;
    for (T const a : special_values<T>()) {
        for (T const b : special_values<T>()) {
            x.push_back(a);
            y.push_back(b);
        }
    }
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> exponent(-30, 30), factor(-20, 20), near_one(0.99, 1.01), large(-9e3, 9e3);
    while (x.size() < sample_count) {
        x.push_back(std::bit_cast<T>(static_cast<bits_of<T>>(random())));
        y.push_back(static_cast<T>(x.size() % 2 == 0 ? factor(random) : std::nearbyint(factor(random))));
        x.push_back(static_cast<T>(std::exp(exponent(random))));
        y.push_back(static_cast<T>(factor(random)));
        x.push_back(static_cast<T>(near_one(random)));
        y.push_back(static_cast<T>(large(random)));
    }
    std::vector<T> result(x.size());
    using P = pack<T, 2>;
    bool uniform = true;
    double worst = 0;
    std::size_t where = 0;
    for (std::size_t i = 0; i + P::size <= x.size(); i += P::size) {
        math::pow(P::load(x.data() + i), P::load(y.data() + i)).store(result.data() + i);
        std::vector<T> alone(1);
        math::pow(pack<T, 1>(x[i + 3]), pack<T, 1>(y[i + 3])).store(alone.data(), 1);
        uniform = uniform && same_bits(alone, {result[i + 3]});
        for (std::size_t j = i; j < i + P::size; ++j) {
            double const error =
                error_in_ulp(result[j], std::pow(static_cast<long double>(x[j]), static_cast<long double>(y[j])));
            if (error > worst) {
                worst = error;
                where = j;
            }
        }
    }
    INFO(x[where] << " to the power " << y[where]);
    CHECK(worst <= bound_of<T>("pow"));
    CHECK(uniform);
}

/// Pairs: every special value and every other, random bits, numbers of one size, and of sizes far apart.
template <class T>
std::pair<std::vector<T>, std::vector<T>> pairs_of_arguments() {
    std::vector<T> x, y;
    auto const add = [&](T a, T b) {
        x.push_back(a);
        y.push_back(b);
    };
    for (T const a : special_values<T>()) {
        for (T const b : special_values<T>()) {
            add(a, b);
        }
    }
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> inside(-3, 3);
    auto const any_number = [&] { return std::bit_cast<T>(static_cast<bits_of<T>>(random())); };
    while (x.size() < sample_count) {
        add(static_cast<T>(inside(random)), static_cast<T>(inside(random)));
        add(any_number(), any_number());
        T const b = any_number();
        add(b * static_cast<T>(inside(random)), b);
        add(b, b * static_cast<T>(std::ldexp(inside(random), static_cast<int>(random() % 60) - 30)));
    }
    return {x, y};
}

/// The greatest error of a function of two numbers; infinite if a result depends on the lane.
template <class T>
double greatest_error(auto f, long double (*exact)(long double, long double)) {
    auto const [x, y] = pairs_of_arguments<T>();
    using P = pack<T, 2>;
    T result[P::size], alone;
    double worst = 0;
    for (std::size_t i = 0; i + P::size <= x.size(); i += P::size) {
        f(P::load(x.data() + i), P::load(y.data() + i)).store(result);
        f(pack<T, 1>(x[i + 3]), pack<T, 1>(y[i + 3])).store(&alone, 1);
        if (!same_bits<T>({alone}, {result[3]})) {
            return std::numeric_limits<double>::infinity();
        }
        for (std::size_t j = 0; j < P::size; ++j) {
            long double const a = static_cast<long double>(x[i + j]), b = static_cast<long double>(y[i + j]);
            worst = std::max(worst, error_in_ulp(result[j], exact(a, b)));
        }
    }
    return worst;
}

TEST_CASE_TEMPLATE("atan2", T, float, double) {
    auto const f = [](auto y, auto x) { return math::atan2(y, x); };
    CHECK(greatest_error<T>(f, [](long double y, long double x) { return std::atan2(y, x); }) <= bound_of<T>("atan2"));
}

TEST_CASE_TEMPLATE("fmod is exact", T, float, double) {
    auto const f = [](auto x, auto y) { return math::fmod(x, y); };
    CHECK(greatest_error<T>(f, [](long double x, long double y) { return std::fmod(x, y); }) == 0);
}

TEST_CASE("docs/accuracy.md has these bounds") {
    std::ostringstream table;
    table << "| function | float | double |\n|---|---|---|\n";
    for (accuracy const& row : bounds) {
        table << "| `" << row.function << "` | " << row.in_float << " | " << row.in_double << " |\n";
    }
    bool const is_there = documents::read("docs/accuracy.md").find("\n\n" + table.str() + "\n") != std::string::npos;
    if (!is_there) {
        MESSAGE("the table should be:\n" << table.str());
    }
    CHECK(is_there);
}

TEST_CASE_TEMPLATE("results stay within the range of the function", T, float, double) {
    auto const x = arguments<T>(-30, 30);
    auto const bounded = [&](auto f, T low, T high) {
        auto const y = apply<T, 2>(x, f);
        return std::all_of(y.begin(), y.end(), [&](T v) { return std::isnan(v) || (v >= low && v <= high); });
    };
    CHECK(bounded([](auto v) { return math::tanh(v); }, T(-1), T(1)));
    CHECK(bounded([](auto v) { return math::sigmoid(v); }, T(0), T(1)));
    CHECK(bounded([](auto v) { return math::erf(v); }, T(-1), T(1)));
    CHECK(bounded([](auto v) { return math::sin(v); }, T(-1), T(1)));
    CHECK(bounded([](auto v) { return math::cos(v); }, T(-1), T(1)));
    CHECK(bounded([](auto v) { return math::erfc(v); }, T(0), T(2)));
    CHECK(bounded([](auto v) { return math::atan(v); }, -std::atan(std::numeric_limits<T>::infinity()),
                  std::atan(std::numeric_limits<T>::infinity())));
    CHECK(bounded([](auto v) { return math::cosh(v); }, T(1), std::numeric_limits<T>::infinity()));
}

} // namespace
