// SPDX-License-Identifier: MIT
// The elementwise functions as users write them: activations, bounds, kinds of numbers, bits, on arrays and numbers of
// several dtypes, against plain C++. (interpreter_test.cpp has the operations they are made of, math_test.cpp errors.)
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace {

using calque::spec;
using xt::xtensor;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Numbers take the array's dtype, bool results are bool, and weak scalars stay weak.
template <class F, class... Specs>
using result = calque::output_t<F, Specs...>;
static_assert(
    std::is_same_v<result<decltype([](auto x) { return gelu(x) + clip(x, -1, 1); }), spec<float, 3>>, spec<float, 3>>);
static_assert(
    std::is_same_v<result<decltype([](auto x) { return isnan(x) | (~isfinite(x) ^ isinf(x)); }), spec<float, 3>>,
                   spec<bool, 3>>);
static_assert(std::is_same_v<result<decltype([](auto i) { return (i & 3) | (1 << i) | ~i; }), spec<std::uint8_t, 3>>,
                             spec<std::uint8_t, 3>>);
static_assert(
    std::is_same_v<result<decltype([](auto x, auto y) { return atan2(x, y); }), spec<double, 4, 1>, spec<double, 3>>,
                   spec<double, 4, 3>>);

template <class T>
bool agree(T actual, double expected) {
    if (std::isnan(expected) || std::isinf(expected)) {
        return std::isnan(expected) ? std::isnan(actual) : double{actual} == expected;
    }
    double const allowed = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
    return std::abs(double{actual} - expected) <= allowed * (std::abs(expected) + 1e-30);
}

/// Checks each element of `y` against `exact` of the element of `x`.
template <class T>
void check(xtensor<T, 1> const& x, xtensor<T, 1> const& y, double (*exact)(double)) {
    REQUIRE(y.size() == x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const expected = exact(double{x(i)});
        CAPTURE(x(i));
        CAPTURE(y(i));
        CAPTURE(expected);
        CHECK(agree(y(i), expected));
    }
}

double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

} // namespace

TEST_CASE("activations") {
    auto const f = calque::function([](auto x) {
        return std::tuple{gelu(x),       gelu_tanh(x),        silu(x),      elu(x), elu(x, 0.5), softplus(x),
                          leaky_relu(x), leaky_relu(x, 0.25), reciprocal(x)};
    });
    xtensor<double, 1> const x{-40,  -20, -3, -1, -0.01, -1e-300, 0,        1e-300,
                               0.01, 1,   3,  20, 40,    1e10,    infinity, not_a_number};
    auto const [gelus, approximate, silus, elus, halves, plus, leaky, quarters, inverses] = f(x);
    check(x, silus, [](double v) { return v * sigmoid(v); });
    check(x, elus, [](double v) { return v > 0 ? v : std::expm1(v); });
    check(x, halves, [](double v) { return v > 0 ? v : 0.5 * std::expm1(v); });
    check(x, plus, [](double v) { return v > 30 ? v : std::log1p(std::exp(v)); });
    check(x, leaky, [](double v) { return v > 0 ? v : v * 0.01; });
    check(x, quarters, [](double v) { return v > 0 ? v : v * 0.25; });
    check(x, inverses, [](double v) { return 1 / v; });
    for (std::size_t i = 0; i < x.size(); ++i) { // far below 0 the rounding of x / sqrt(2) is magnified by x^2
        double const exact = 0.5 * x(i) * std::erfc(-x(i) / std::sqrt(2.));
        double const cubic = std::sqrt(8 / std::acos(-1.)) * (x(i) + 0.044715 * x(i) * x(i) * x(i));
        CAPTURE(x(i));
        CHECK((std::isnan(exact) ? std::isnan(gelus(i)) : gelus(i) == exact || std::abs(gelus(i) / exact - 1) < 1e-12));
        double const rough = x(i) * sigmoid(cubic);
        CHECK((std::isnan(rough)
                   ? std::isnan(approximate(i))
                   : approximate(i) == rough || std::abs(approximate(i) - rough) < 1e-15 * std::abs(x(i))));
    }
}

TEST_CASE("derivatives of activations at 0 and far from it") {
    auto const slopes = calque::function([](auto x) {
        return std::tuple{calque::grad([](auto v) { return sum(gelu(v)); })(x),
                          calque::grad([](auto v) { return sum(elu(v)); })(x),
                          calque::grad([](auto v) { return sum(silu(v)); })(x),
                          calque::grad([](auto v) { return sum(leaky_relu(v, 0.25)); })(x),
                          calque::grad([](auto v) { return sum(clip(v, -2, 3)); })(x)};
    });
    xtensor<double, 1> const x{-1000, -1, 0, 1, 1000};
    auto const [gelus, elus, silus, leaky, clipped] = slopes(x);
    check(x, gelus, [](double v) {
        double const density = std::exp(-v * v / 2) / std::sqrt(2 * std::acos(-1.));
        return 0.5 * std::erfc(-v / std::sqrt(2.)) + v * density;
    });
    check(x, elus, [](double v) { return v > 0 ? 1 : std::exp(v); });
    check(x, silus,
          [](double v) { return std::abs(v) > 999 ? double(v > 0) : sigmoid(v) * (1 + v * (1 - sigmoid(v))); });
    check(x, leaky, [](double v) { return v > 0 ? 1 : 0.25; });
    check(x, clipped, [](double v) { return v > -2 && v < 3 ? 1. : 0.; });
}

TEST_CASE("bounds, kinds of numbers, rounding") {
    auto const f = calque::function([](auto x, auto low) {
        return std::tuple{
            clip(x, low, 2), clip(x, 3, -3), isnan(x),   isinf(x),
            isfinite(x),     sign(x),        fmod(x, 2), floor(x) + ceil(x) * 10 + round(x) * 100 + trunc(x) * 1000};
    });
    xtensor<float, 1> const x{
        -2.5f, -0.5f, 0, 1.5f, 2.5f, 1e30f, float(infinity), -float(infinity), float(not_a_number)};
    auto const [bounded, crossed, nans, infinite, finite, signs, rests, rounded] = f(x, -1.f);
    for (std::size_t i = 0; i < x.size(); ++i) {
        float const v = x(i);
        CAPTURE(v);
        bool const is_nan = std::isnan(v);
        CHECK((is_nan ? std::isnan(bounded(i)) : bounded(i) == std::fmin(std::fmax(v, -1.f), 2.f)));
        CHECK((is_nan ? std::isnan(crossed(i)) : crossed(i) == -3));
        CHECK(nans(i) == is_nan);
        CHECK(infinite(i) == std::isinf(v));
        CHECK(finite(i) == std::isfinite(v));
        CHECK((is_nan ? std::isnan(signs(i)) : signs(i) == float((v > 0) - (v < 0))));
        CHECK(agree(rests(i), std::fmod(double{v}, 2)));
        CHECK(agree(rounded(i),
                    double{std::floor(v) + std::ceil(v) * 10 + std::nearbyint(v) * 100 + std::trunc(v) * 1000}));
    }
}

TEST_CASE("bits of integers and of bool") {
    auto const f = calque::function([](auto i, auto u, auto b) {
        return std::tuple{(i & 12) | (i ^ 5),
                          i << 3,
                          i >> 1,
                          ~i,
                          (u << 4) ^ (u >> 2),
                          sign(i),
                          fmod(i, 4),
                          isnan(u),
                          (b ^ (i > 0)) & ~(b & (u == 0))};
    });
    xtensor<std::int64_t, 1> const i{-9, -1, 0, 7, std::int64_t{1} << 62};
    xtensor<std::uint8_t, 1> const u{0, 1, 100, 200, 255};
    xtensor<bool, 1> const b{true, false, true, false, true};
    auto const [joined, up, down, flipped, bytes, signs, rests, nans, flags] = f(i, u, b);
    for (std::size_t k = 0; k < i.size(); ++k) {
        std::int64_t const v = i(k);
        unsigned const w = u(k);
        CAPTURE(v);
        CHECK(joined(k) == ((v & 12) | (v ^ 5)));
        CHECK(up(k) == static_cast<std::int64_t>(static_cast<std::uint64_t>(v) << 3));
        CHECK(down(k) == v >> 1);
        CHECK(flipped(k) == ~v);
        CHECK(unsigned{bytes(k)} == (((w << 4) & 255u) ^ (w >> 2)));
        CHECK(signs(k) == (v > 0) - (v < 0));
        CHECK(rests(k) == v % 4);
        CHECK(!nans(k));
        CHECK(flags(k) == ((b(k) != (v > 0)) && !(b(k) && w == 0)));
    }
}
