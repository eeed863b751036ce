// SPDX-License-Identifier: MIT
// run_eagerly: the same results, op by op, with the first NaN named.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

inline constexpr auto predict = [](auto x, auto w) { return calque::softmax<-1>(calque::matmul(x, w)); };
inline constexpr auto count_up = [](auto state, auto x) {
    state.assign_add(x);
    return calque::cond(calque::sum(x) > 0.f, [&] { return state * 2.f; }, [&] { return x - 1.f; });
};
inline constexpr auto log_sum = [](auto x) { return calque::sum(log(x) * 2); };

/// Runs eagerly for as long as it lives, and keeps the lines.
struct eager_scope {
    std::vector<std::string> lines;

    explicit eager_scope(bool values = false, bool throw_on_nan = false) {
        calque::run_eagerly(true, {.values = values, .throw_on_nan = throw_on_nan, .sink = [this](std::string_view s) {
                                       lines.emplace_back(s);
                                   }});
    }
    eager_scope(eager_scope const&) = delete;
    ~eager_scope() { calque::run_eagerly(false); }

    bool has(std::string const& part) const {
        return std::any_of(lines.begin(), lines.end(),
                           [&](std::string const& line) { return line.find(part) != std::string::npos; });
    }
};

} // namespace

TEST_CASE("a call that runs eagerly computes the same, and shows each operation") {
    matrix const x = {{1, 2}, {3, 4}, {5, 6}};
    matrix const w = {{1, 0, 2}, {0, 1, 1}};
    auto const f = calque::function(predict);
    matrix const expected = f(x, w);
    eager_scope const eager;
    matrix const result = f(x, w);
    CHECK(xt::allclose(result, expected, 1e-6));
    CHECK(eager.has("= matmul %0, %1 : float[3,3]"));
    matrix strided = xt::zeros<float>({6, 3});
    auto every_other = xt::view(strided, xt::range(0, 6, 2), xt::all());
    f.into(every_other, x, w);
    CHECK(xt::allclose(every_other, expected, 1e-6));
    CHECK(strided(1, 1) == 0.f);
}

TEST_CASE("a sum of a product is rounded once, as in the kernel") {
    vector x(std::array<std::size_t, 1>{100}), y = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x(i) = 0.37f * static_cast<float>(i) - 20.f;
        y(i) = 1.f / (1.f + static_cast<float>(i));
    }
    auto const f =
        calque::function([](auto a, auto b) { return std::tuple{a * b - b / 3, a - b * sin(a), b * a + a}; });
    auto const expected = f(x, y);
    eager_scope const eager;
    CHECK(f(x, y) == expected);
    CHECK(eager.has("= fms "));
}

TEST_CASE("numbers of two bytes eagerly") {
    auto const f = calque::function([](auto x) { return calque::softmax<0>(x * 0.1) + 2; });
    xt::xtensor<calque::half, 1> const x = {calque::half(1), calque::half(2), calque::half(-3)};
    xt::xtensor<calque::half, 1> const expected = f(x);
    eager_scope const eager(true);
    CHECK(xt::xtensor<calque::half, 1>(f(x)) == expected);
    CHECK(eager.has("= cast %0 : float[3] {1, 2, -3}"));
    CHECK(eager.has(" : half[3] {"));
}

TEST_CASE("static functions, variables and branches run eagerly too") {
    xt::xtensor_fixed<float, xt::xshape<2>> const fixed = {1.f, 2.f};
    calque::variable<float, calque::dyn> state(vector{1, 1});
    auto const f = calque::function(count_up);
    auto const g = calque::function(log_sum);
    float const expected = g(fixed);
    eager_scope const eager;
    CHECK(g(fixed) == doctest::Approx(expected));
    CHECK(eager.has("= log %0 : float[2]"));
    CHECK(f(state, vector{1, 2})(1) == 6.f);
    CHECK(state.value()(1) == 3.f);
    CHECK(f(state, vector{-1, -2})(1) == -3.f);
    CHECK(state.value()(1) == 1.f);
}

TEST_CASE("values on request; the first operation that makes a NaN or an infinity is named") {
    auto const f = calque::function(log_sum);
    {
        eager_scope const eager(true);
        CHECK(std::isnan(f(vector{1, -1})));
        CHECK(eager.has("{1, -1}"));
        auto const marked = std::count_if(eager.lines.begin(), eager.lines.end(), [](std::string const& line) {
            return line.find("<- the first NaN") != std::string::npos;
        });
        CHECK(marked == 1);
        CHECK(eager.has("= log %0 : float[2] {0, nan}   <- the first NaN or infinity"));
    }
    eager_scope const eager(false, true);
    CHECK_THROWS_AS(f(vector{1, 0}), calque::error);
    CHECK(f(vector{1, 1}) == 0.f);
}

TEST_CASE("afterwards the kernels run again") {
    auto const f = calque::function(log_sum);
    std::size_t lines = 0;
    {
        eager_scope const eager;
        f(vector{1, 1});
        lines = eager.lines.size();
        calque::run_eagerly(false);
        f(vector{1, 1});
        CHECK(eager.lines.size() == lines);
    }
    CHECK(lines > 0);
}
