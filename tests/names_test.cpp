// SPDX-License-Identifier: MIT
// A program's own global names, declared before the headers: they do not take the place of what the headers call.
namespace {

struct any_global {};
[[maybe_unused]] constexpr any_global any, clamp, convert, scale, select, select_if, first_element, keep_first,
    fold_groups, min_or_second, max_or_second, zero_of, assert_shape, broadcast_like;

} // namespace

#include <calque/calque.hpp>
#include <calque/random.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace {

inline constexpr auto functions = [](auto x) {
    auto const small = tanh(x) + erf(x) + erfc(x) + sinh(x) + cbrt(x) + expm1(x) + exp2(x) + sin(x) + asin(0.1f * x);
    return small + pow(abs(x), x) + log(exp(x)) + fmod(x, 0.25f) + calque::where(x < 1, x, -x) + clip(x, 0, 1);
};
inline constexpr auto loss = [](auto x, auto w) {
    auto const y = calque::softmax<-1>(matmul(functions(x), w));
    return calque::sum(calque::max<-1>(y)) + calque::sum(calque::cast<float>(calque::cast<std::int32_t>(x)));
};
inline constexpr auto walk = [](auto key, auto x) {
    return calque::scan([](auto at, auto by) { return std::tuple{at + by, at}; }, 0.f,
                        x + 0 * calque::random::normal_like(key, x));
};
inline constexpr auto slope = [](auto key, auto x) { return calque::sum(std::get<1>(walk(key, x))); };

} // namespace

TEST_CASE("global names of a program before the include") {
    xt::xtensor<float, 2> const x = {{0.5f, 0.25f}, {0.75f, 1.f}, {0.1f, 0.2f}}, w = {{1, 2, 3}, {3, 2, 1}};
    xt::xtensor<float, 2> const y = calque::function(functions)(x);
    double const e = 0.5, exact = std::tanh(e) + std::erf(e) + std::erfc(e) + std::sinh(e) + std::cbrt(e) +
                                  std::expm1(e) + std::exp2(e) + std::sin(e) + std::asin(0.1 * e) + std::pow(e, e) + e +
                                  std::fmod(e, 0.25) + e + e;
    CHECK(y(0, 0) == doctest::Approx(exact));
    auto const [dx, dw] = calque::function(calque::grad<0, 1>(loss))(x, w);
    CHECK(dx.shape() == x.shape());
    CHECK(std::isfinite(dw(1, 2)));
    xt::xtensor<float, 1> const v = {1, 2, 3};
    CHECK(calque::function(slope)(calque::random::key(1), v) == 4.f);
    CHECK(calque::function(calque::grad<1>(slope))(calque::random::key(1), v)(0) == 2.f);
}
