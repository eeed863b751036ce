// SPDX-License-Identifier: MIT
// The programs of docs/transforms.md: each of its blocks stands here, line by line, in a test that holds it to what the
// page says. The last test finds blocks that do not.
#include <calque/calque.hpp>
#include <calque/custom_vjp.hpp>
#include <calque/jacobian.hpp>
#include <calque/jvp.hpp>
#include <calque/vjp.hpp>
#include <calque/vmap.hpp>

#include "documents.hpp"

#include <cmath>
#include <tuple>

namespace {

inline constexpr auto score = [](auto row, auto w) { return calque::softmax<-1>(matmul(row, w)); };

inline constexpr auto dot = [](auto a, auto b) { return calque::sum(a * b); };
inline constexpr auto table = calque::vmap<0, calque::unmapped>(calque::vmap<calque::unmapped, 0>(dot));

inline constexpr auto loss = [](auto w, auto row, auto target) {
    auto error = matmul(row, w) - target;
    return calque::sum(error * error);
};

inline constexpr auto energy = [](auto p) { return calque::sum(exp(p) * p); };

inline constexpr auto hessian_times = [](auto p, auto direction) {
    auto [slope, change] = calque::jvp(calque::grad(energy))(p, direction);
    return change;
};

inline constexpr auto pulled = [](auto row, auto w) {
    auto pull_back = [&](auto u) { return std::get<1>(calque::vjp(score)(std::tuple{row, w}, u)); };
    auto [by_row, by_w] = pull_back(calque::arange<float>(3));
    return by_row;
};

inline constexpr auto polar = [](auto q) {
    auto r = view(q, 0), angle = view(q, 1);
    return calque::concatenate<0>(expand_dims<0>(r * cos(angle)), expand_dims<0>(r * sin(angle)));
};

inline constexpr auto clip_gradient =
    calque::custom_vjp([](auto z) { return z; }, [](auto, auto u) { return minimum(maximum(u, -1), 1); });

inline constexpr auto block = calque::checkpoint([](auto x, auto w) { return tanh(matmul(tanh(matmul(x, w)), w)); });

TEST_CASE("checkpoints") {
    auto const slope = calque::function(calque::grad([](auto x, auto w) { return calque::sum(block(x, w)); }));
    CHECK(slope(xt::xtensor<double, 2>{{0.}}, xt::xtensor<double, 2>{{2.}})(0, 0) == 4.);
}

TEST_CASE("rows of a batch") {
    auto scores = calque::function(calque::vmap<0, calque::unmapped>(score)); // rows along axis 0; one w for all
    xt::xtensor<float, 2> x = {{1, 0}, {0, 1}, {1, 1}}, w = {{1, 2, 3}, {3, 2, 1}};
    xt::xtensor<float, 2> y = scores(x, w); // 3 x 3

    CHECK(y.shape(0) == 3);
    CHECK(y(2, 0) == doctest::Approx(1. / 3));
    CHECK(y(0, 2) > y(0, 1));
    CHECK(scores.plan(x, w).text().starts_with(" 0 product"));
}

TEST_CASE("a table") {
    xt::xtensor<float, 2> a = {{1, 2}, {3, 4}}, b = {{1, 0}, {0, 1}, {1, 1}};
    xt::xtensor<float, 2> products = calque::function(table)(a, b); // 2 x 3: dot(a[i], b[j])

    CHECK(products(0, 2) == 3);
    CHECK(products(1, 0) == 3);
}

TEST_CASE("gradients of each example") {
    xt::xtensor<float, 2> x = {{1, 0}, {0, 1}, {1, 1}};
    auto gradients = calque::function(calque::vmap<calque::unmapped, 0, 0>(calque::grad(loss)));
    xt::xtensor<float, 1> v = {1, 2}, targets = {0, 1, 2};
    xt::xtensor<float, 2> each = gradients(v, x, targets); // 3 x 2: one gradient a row

    CHECK(each(0, 0) == 2);
    CHECK(each(0, 1) == 0);
    CHECK(each(1, 1) == 2);
    CHECK(each(2, 0) == 2);
}

TEST_CASE("a Hessian times a vector") {
    xt::xtensor<double, 1> p = {0, 1}, direction = {1, 2};
    xt::xtensor<double, 1> change = calque::function(hessian_times)(p, direction); // (2 + p) exp(p) direction

    CHECK(change(0) == doctest::Approx(2));
    CHECK(change(1) == doctest::Approx(6 * std::exp(1.)));
}

TEST_CASE("a cotangent pulled back") {
    xt::xtensor<float, 2> w = {{1, 2, 3}, {3, 2, 1}};
    xt::xtensor<float, 1> row = {1, 1};
    xt::xtensor<float, 1> by_row = calque::function(pulled)(row, w);

    CHECK(by_row(0) == doctest::Approx(2. / 3)); // the covariance of w[0] and 0, 1, 2 under equal probabilities
    CHECK(by_row(1) == doctest::Approx(-2. / 3));
}

TEST_CASE("whole derivatives") {
    xt::xtensor<double, 1> p = {0, 1};
    xt::xtensor_fixed<double, xt::xshape<2>> q = {2, 0};
    auto j = calque::function(calque::jacobian(polar))(q); // {{1, 0}, {0, 2}}
    auto h = calque::function(calque::hessian(energy))(p); // diagonal: (2 + p) exp(p)

    CHECK(j(0, 0) == 1);
    CHECK(j(0, 1) == 0);
    CHECK(j(1, 0) == 0);
    CHECK(j(1, 1) == 2);
    CHECK(h(0, 0) == doctest::Approx(2));
    CHECK(h(0, 1) == 0);
    CHECK(h(1, 1) == doctest::Approx(3 * std::exp(1.)));
}

TEST_CASE("a derivative of one's own") {
    xt::xtensor<float, 1> row = {1, 1};
    auto slope = calque::function(calque::grad([](auto z) { return calque::sum(clip_gradient(z) * 5); }));
    xt::xtensor<float, 1> clipped = slope(row); // 1, not 5

    CHECK(clipped(0) == 1);
}

TEST_CASE("every program of docs/transforms.md is in this file") {
    CHECK(documents::blocks_that_are_missing("docs/transforms.md", "tests/docs_transforms_test.cpp") == "");
    CHECK(documents::blocks_that_are_missing("docs/transforms.md", "tests/docs_test.cpp") != ""); // this test can fail
}

} // namespace
