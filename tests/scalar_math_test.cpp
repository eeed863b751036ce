// SPDX-License-Identifier: MIT
// sqrt, exp, log and pow of numbers: values and special cases in constant expressions, accuracy against <cmath>.
#include <calque/trace/elementwise.hpp>
#include <calque/trace/scalar_math.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double denormal = std::numeric_limits<double>::denorm_min();

constexpr bool is_nan(double x) {
    return x != x;
}

static_assert(calque::sqrt(2.) == std::numbers::sqrt2);
static_assert(calque::sqrt(2.f) == std::numbers::sqrt2_v<float>);
static_assert(calque::sqrt(4.) == 2 && calque::sqrt(0.25f) == 0.5f && calque::sqrt(0x1p1022) == 0x1p511);
static_assert(calque::sqrt(0x1p-1074) == 0x1p-537);
static_assert(calque::sqrt(0.) == 0 && calque::sqrt(infinity) == infinity);
static_assert(is_nan(calque::sqrt(-1.)) && is_nan(calque::sqrt(nan)));

static_assert(calque::exp(1.) == std::numbers::e && calque::exp(1.f) == std::numbers::e_v<float>);
static_assert(calque::exp(0.) == 1 && calque::exp(-infinity) == 0 && calque::exp(infinity) == infinity);
static_assert(calque::exp(710.) == infinity && calque::exp(-745.) == denormal && calque::exp(-746.) == 0);
static_assert(calque::exp(89.f) == std::numeric_limits<float>::infinity());
static_assert(is_nan(calque::exp(nan)));

static_assert(calque::log(2.) == std::numbers::ln2 && calque::log(10.f) == std::numbers::ln10_v<float>);
static_assert(calque::log(1.) == 0 && calque::log(0.) == -infinity && calque::log(infinity) == infinity);
static_assert(is_nan(calque::log(-1.)) && is_nan(calque::log(nan)));

static_assert(calque::pow(2., 10) == 1024 && calque::pow(2.f, -1) == 0.5f && calque::pow(-2., 3) == -8);
static_assert(calque::pow(2., 0.5) == std::numbers::sqrt2);
static_assert(calque::pow(0., 0) == 1 && calque::pow(nan, 0) == 1 && calque::pow(1., nan) == 1);
static_assert(calque::pow(0., -1) == infinity && calque::pow(-0., -1) == -infinity && calque::pow(0., 2) == 0);
static_assert(calque::pow(infinity, -2) == 0 && calque::pow(-infinity, 3) == -infinity);
static_assert(calque::pow(0.5, infinity) == 0 && calque::pow(0.5, -infinity) == infinity);
static_assert(calque::pow(-1., infinity) == 1);
static_assert(calque::pow(10., 400) == infinity && calque::pow(10., -400) == 0 && calque::pow(-10., 401) == -infinity);
static_assert(is_nan(calque::pow(-2., 0.5)) && is_nan(calque::pow(nan, 1)));

static_assert(std::is_same_v<decltype(calque::sqrt(2.f)), float>);
static_assert(std::is_same_v<decltype(calque::pow(2., 3)), double>);

/// How many representable numbers lie between two finite ones of one sign.
template <class T>
double distance(T a, T b) {
    using bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    return std::abs(static_cast<double>(std::bit_cast<bits>(a)) - static_cast<double>(std::bit_cast<bits>(b)));
}

/// Calls `check` with numbers of all magnitudes between two positive ones.
template <class T>
void for_numbers(double from, double to, auto check) {
    double const ratio = std::pow(to / from, 1. / 9973);
    double x = from;
    for (int i = 0; i < 9973; ++i, x *= ratio) {
        check(static_cast<T>(x));
    }
}

using namespace calque::detail;

// What the functions compute in constant expressions, at run time. (A build that contracts a * b + c loses some
// digits.)
TEST_CASE_TEMPLATE("at most a unit in the last place from <cmath>", T, float, double) {
    double const smallest = sizeof(T) == 4 ? 1e-44 : 1e-320;
    double const largest = sizeof(T) == 4 ? 3e38 : 1e308;
    double const exponent = sizeof(T) == 4 ? 88 : 709;
    for_numbers<T>(smallest, largest, [](T x) {
        CHECK(rounded<T>(scalar_sqrt(x)) == std::sqrt(x));
        CHECK(distance(rounded<T>(scalar_log(x)), std::log(x)) <= 1);
    });
    for_numbers<T>(1e-20, exponent, [](T x) {
        CHECK(distance(rounded<T>(scalar_exp(x)), std::exp(x)) <= 1);
        CHECK(distance(rounded<T>(scalar_exp(-x)), std::exp(-x)) <= 1);
        T const y = rounded<T>(scalar_log(x)) / 7;
        CHECK(distance(rounded<T>(scalar_pow(x, y)), std::pow(x, y)) <= 1);
        CHECK(distance(rounded<T>(scalar_pow(x, 3)), std::pow(x, T(3))) <= 1);
    });
    for_numbers<T>(0.9, 1.1, [](T x) { CHECK(distance(rounded<T>(scalar_log(x)), std::log(x)) <= 1); });
}

TEST_CASE("at run time the functions are those of <cmath>") {
    for_numbers<double>(0.1, 10, [](double x) {
        CHECK(calque::sqrt(x) == std::sqrt(x));
        CHECK(calque::exp(x) == std::exp(x));
        CHECK(calque::log(x) == std::log(x));
        CHECK(calque::pow(x, 1.5) == std::pow(x, 1.5));
    });
}

} // namespace
