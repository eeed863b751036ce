// SPDX-License-Identifier: MIT
// Programs as users write them: means of sequences of different lengths by masks, and the gradient of each example.
#include <calque/calque.hpp>
#include <calque/ragged.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;

inline constexpr auto masked_means = [](auto padded, auto mask) { return calque::masked_mean<-1>(padded, mask); };

inline constexpr auto loss = [](auto w, auto x, auto y) { // logistic regression of one example
    auto const z = calque::sum(w * x);
    return calque::log1p(calque::exp(-y * z)) + 0.05 * calque::sum(w * w);
};

} // namespace

TEST_CASE("means of sequences of different lengths") {
    auto const means = calque::function(masked_means);
    std::vector<std::vector<double>> const rows = {{1, 2, 3}, {4}, {}, {5, 6, 7, 8}};
    matrix padded = xt::ones<double>({4, 5}) * 1e9; // whatever the padding holds
    xt::xtensor<bool, 2> mask = xt::zeros<bool>({4, 5});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows[i].size(); ++j) {
            padded(i, j) = rows[i][j];
            mask(i, j) = true;
        }
    }
    vector const found = means(padded, mask);
    CHECK(found(0) == 2);
    CHECK(found(1) == 4);
    CHECK(std::isnan(found(2))); // of nothing
    CHECK(found(3) == 6.5);

    // Other lengths are other values of the mask.
    mask(0, 2) = false;
    CHECK(means(padded, mask)(0) == 1.5);
    CHECK(means.trace_count() == 1);
}

TEST_CASE("the gradient of each example, and their sum") {
    auto const each = calque::function(calque::vmap<calque::unmapped, 0, 0>(calque::grad(loss)));
    auto const one = calque::function(calque::grad(loss));
    matrix x = xt::zeros<double>({17, 5});
    vector y = xt::zeros<double>({17});
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = std::sin(static_cast<double>(3 * i));
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
        y(i) = i % 3 == 0 ? 1 : -1;
    }
    vector w = {0.1, -0.2, 0.3, 0., 1.};
    matrix const gradients = each(w, x, y);
    REQUIRE(gradients.shape()[0] == 17);
    for (std::size_t i = 0; i < 17; ++i) {
        vector const row = xt::view(x, i);
        double z = 0;
        for (std::size_t j = 0; j < 5; ++j) {
            z += w(j) * row(j);
        }
        for (std::size_t j = 0; j < 5; ++j) {
            double const wanted = -y(i) * row(j) / (1 + std::exp(y(i) * z)) + 0.1 * w(j);
            CHECK(gradients(i, j) == doctest::Approx(wanted).epsilon(1e-12));
            CHECK(one(w, row, y(i))(j) == doctest::Approx(wanted).epsilon(1e-12));
        }
    }
    w(0) = 2;
    (void)each(w, x, y);
    CHECK(each.trace_count() == 1);
}
