// SPDX-License-Identifier: MIT
// Matrices of a few columns times a vector: every count of rows and columns, with gaps between rows and backwards, and
// the same bits for a row whichever others go with it.
#include "tensor_compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace {

using calque::extent_t;
using tests::noise;
using xt::xtensor;

inline constexpr auto product = [](auto const& matrix, auto const& x) { return calque::matmul(matrix, x); };

template <class T, class F>
void check_rows(F const& f, std::size_t rows, std::size_t depth, std::size_t gap) {
    CAPTURE(rows);
    CAPTURE(depth);
    CAPTURE(gap);
    auto const stride = static_cast<extent_t>(depth + gap);
    auto const n = static_cast<extent_t>(depth);
    auto const matrix = noise<T, 2>({rows, depth + gap}, 1);
    auto const x = noise<T, 1>({depth}, 2);
    xtensor<T, 1> const y = f(calque::array_view(matrix.data(), {static_cast<extent_t>(rows), n}, {stride, 1}), x);
    for (std::size_t i = 0; i < rows; ++i) {
        double exact = 0, size = 0;
        for (std::size_t k = 0; k < depth; ++k) {
            double const term = static_cast<double>(matrix(i, k)) * static_cast<double>(x(k));
            exact += term;
            size += std::abs(term);
        }
        CHECK(std::abs(static_cast<double>(y(i)) - exact) <=
              static_cast<double>(std::numeric_limits<T>::epsilon()) * 4 * size);
        auto const row = static_cast<extent_t>(i);
        xtensor<T, 1> const alone = f(calque::array_view(matrix.data() + row * stride, {1, n}, {stride, 1}), x);
        CHECK(alone(0) == y(i));
    }
    auto const last = static_cast<extent_t>(rows - 1) * stride;
    xtensor<T, 1> const back =
        f(calque::array_view(matrix.data() + last, {static_cast<extent_t>(rows), n}, {-stride, 1}), x);
    CHECK(std::equal(back.begin(), back.end(), y.rbegin()));
}

} // namespace

TEST_CASE_TEMPLATE("matrices of few columns times a vector", T, float, double) {
    auto const f = calque::function(product, {.max_warnings = 0});
    for (std::size_t const depth : {1u, 2u, 3u, 7u, 8u, 9u, 15u, 16u, 17u, 24u, 31u, 32u, 33u, 47u, 48u, 49u, 65u}) {
        for (std::size_t const rows : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 33u, 50u}) {
            check_rows<T>(f, rows, depth, 0);
            check_rows<T>(f, rows, depth, 3);
        }
    }
    check_rows<T>(f, 2500, 5, 0); // more than the result's chunk of 4 KiB
}

TEST_CASE("NaN and infinities stay in their rows") {
    auto const f = calque::function(product, {.max_warnings = 0});
    auto matrix = noise<float, 2>({21, 9}, 1);
    xtensor<float, 1> const x = xt::ones<float>({9});
    matrix(4, 8) = std::numeric_limits<float>::quiet_NaN();
    matrix(17, 0) = std::numeric_limits<float>::infinity();
    xtensor<float, 1> const y = f(matrix, x);
    for (std::size_t i = 0; i < 21; ++i) {
        CHECK(std::isnan(y(i)) == (i == 4));
        CHECK(std::isinf(y(i)) == (i == 17));
    }
}
