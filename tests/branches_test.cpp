// SPDX-License-Identifier: MIT
// Branches: which one runs, what it may capture, return and assign to, and that it agrees with the interpreter.
#include "agrees_with_interpreter.hpp"
#include "message_of.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

namespace {

using vector = xt::xtensor<float, 1>;
using tests::agrees_with_interpreter;
using tests::message_of;

inline constexpr auto by_sign = [](auto x) {
    return calque::cond(sum(x) > 0.f, [&] { return sqrt(x) + 1.f; }, [&] { return x - 1.f; });
};
inline constexpr auto several = [](auto x, auto i) {
    return calque::switch_case(
        i, [&] { return std::tuple{x + 1.f, sum(x)}; }, [&] { return std::tuple{x * 2.f, sum(x * x)}; },
        [&] { return std::tuple{x, sum(x) - 1.f}; });
};
inline constexpr auto nested = [](auto x, auto y) {
    auto const z = x * y; // captured by both levels
    return calque::cond(
        sum(x) > 0.f, [&] { return calque::cond(sum(y) > 0.f, [&] { return z + x; }, [&] { return z - y; }); },
        [&] { return exp(z) * x; });
};
inline constexpr auto number_or_array = [](auto x) {
    return calque::cond(x > 1.f, [&] { return x * 2.f; }, [] { return 0; });
};
inline constexpr auto assigns = [](auto v, auto x) {
    calque::cond(sum(x) > 0.f, [&] { v.assign(x); }, [&] { v.assign_add(1.f); });
    return sum(v);
};
inline constexpr auto unread_result = [](auto x) {
    auto const [a, b] = calque::cond(
        sum(x) > 0.f, [&] { return std::tuple{x + 1.f, exp(x)}; }, [&] { return std::tuple{x - 1.f, log(x)}; });
    static_cast<void>(b);
    return a;
};

} // namespace

TEST_CASE("cond runs the branch that the condition chooses, without a retrace") {
    auto const f = calque::function(by_sign);
    CHECK(f(vector{1.f, 4.f}) == vector{2.f, 3.f});
    CHECK(f(vector{-1.f, -4.f}) == vector{-2.f, -5.f}); // sqrt of a negative number has not run
    CHECK(f.trace_count() == 1);
    CHECK(agrees_with_interpreter(by_sign, vector{1.f, 2.f, 3.f}));
    CHECK(agrees_with_interpreter(by_sign, vector{-1.f, 2.f, -3.f}));
    CHECK(f(vector{std::numeric_limits<float>::quiet_NaN(), 2.f})(1) == 1.f); // NaN > 0 is false
}

TEST_CASE("an array of no elements goes through a branch too") {
    auto const f = calque::function(by_sign);
    CHECK(f(vector::from_shape({0})).size() == 0);
}

TEST_CASE("switch_case takes the nearest branch for an index out of range") {
    auto const f = calque::function(several);
    vector const x{1.f, 2.f, 3.f};
    for (std::int32_t const i : {-7, 0, 1, 2, 3, 100}) {
        auto const [y, total] = f(x, i);
        float const wanted = i <= 0 ? 2.f : i == 1 ? 2.f : 1.f;
        CHECK(y(0) == wanted);
        CHECK(total == (i <= 0 ? 6.f : i == 1 ? 14.f : 5.f));
        CHECK(agrees_with_interpreter(several, x, i));
    }
    CHECK(f.trace_count() == 1);
}

TEST_CASE("branches nest and capture what is outside") {
    auto const f = calque::function(nested);
    vector const plus{1.f, 2.f}, minus{-1.f, -2.f};
    CHECK(f(plus, plus) == vector{2.f, 6.f});
    CHECK(f(plus, minus) == vector{0.f, -2.f});
    CHECK(f(minus, plus)(0) == doctest::Approx(-std::exp(-1.f)));
    for (vector const& a : {plus, minus}) {
        for (vector const& b : {plus, minus}) {
            CHECK(agrees_with_interpreter(nested, a, b));
        }
    }
    CHECK(f.trace_count() == 1);
}

TEST_CASE("a number takes the dtype of the other branch's array") {
    auto const f = calque::function(number_or_array);
    CHECK(f(2.f) == 4.f);
    CHECK(f(0.5f) == 0.f);
}

TEST_CASE("a branch that assigns, assigns only when it runs") {
    auto const f = calque::function(assigns);
    calque::variable<float, calque::dyn> v(vector{1.f, 1.f});
    CHECK(f(v, vector{2.f, 3.f}) == 5.f);
    CHECK(v.value() == vector{2.f, 3.f});
    CHECK(f(v, vector{-2.f, -3.f}) == 7.f);
    CHECK(v.value() == vector{3.f, 4.f});
    CHECK(f.trace_count() == 1);
}

TEST_CASE("what nobody reads is not computed") {
    auto const f = calque::function(unread_result);
    CHECK(f(vector{1.f, 2.f}) == vector{2.f, 3.f});
    CHECK(f(vector{-1.f, -2.f}) == vector{-2.f, -3.f});
}

TEST_CASE("branches of different shapes that only the call knows are an error then, and nothing is written") {
    auto const f = calque::function(
        [](auto x, auto y) {
            return calque::cond(
                sum(x) > 0.f, [&] { return std::tuple{x, x + 1.f}; }, [&] { return std::tuple{x, y + 1.f}; });
        },
        {.name = "either"});
    vector same{8.f};
    vector out{7.f};
    CHECK(message_of<calque::shape_error>([&] { f.into(std::tie(same, out), vector{1.f, 2.f}, vector{1.f}); }) ==
          "calque: either: cond: the branches return different shapes: float[2] and float[1]");
    CHECK(same == vector{8.f});
    CHECK(out == vector{7.f});
}
