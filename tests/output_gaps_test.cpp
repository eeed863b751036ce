// SPDX-License-Identifier: MIT
// Outputs with gaps between their rows: kernels write them where they lie, with the bits that outputs without have, and
// nothing else.
#include "tensor_compare.hpp"

#include <array>
#include <cstdint>
#include <tuple>

namespace {

using calque::extent_t;
using calque::range;
using tests::noise;
using xt::xtensor;

constexpr float untouched = 99;

/// The part of a larger matrix that begins at row `top` and column `left`.
template <class T>
auto part_of(xtensor<T, 2>& whole, extent_t top, extent_t left, extent_t rows, extent_t columns) {
    auto const stride = static_cast<extent_t>(whole.shape(1));
    return calque::array_view(whole.data() + top * stride + left, {rows, columns}, {stride, 1});
}

/// Runs a function into the middle of a larger matrix, and as a result of its own.
template <class T, class F, class... Args>
void check_in_the_middle(F const& f, std::size_t rows, std::size_t columns, Args const&... args) {
    CAPTURE(rows);
    CAPTURE(columns);
    auto run = calque::function(f);
    xtensor<T, 2> const expected = run(args...);
    for (std::size_t const right : {0u, 1u, 5u}) {
        xtensor<T, 2> whole({rows + 3, columns + 2 + right});
        whole.fill(static_cast<T>(untouched));
        auto const bottom = static_cast<extent_t>(rows), end = static_cast<extent_t>(columns);
        run.into(part_of(whole, 1, 2, bottom, end), args...);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < whole.shape(0); ++i) {
            for (std::size_t j = 0; j < whole.shape(1); ++j) {
                bool const is_inside = i >= 1 && i < rows + 1 && j >= 2 && j < columns + 2;
                wrong += !tests::is_close(whole(i, j), is_inside ? expected(i - 1, j - 2) : static_cast<T>(untouched),
                                          tests::equal_bits);
            }
        }
        CHECK(wrong == 0);
    }
}

inline constexpr auto chain = [](auto x, auto y) { return tanh(x * y) + 0.5f * x; };
inline constexpr auto inner_step = [](auto u) {
    auto const middle = view(u, range(1, -1), range(1, -1));
    return middle + 0.1f * (view(u, range(1, -1), range(0, -2)) + view(u, range(0, -2), range(1, -1)) - 2 * middle);
};
inline constexpr auto biased = [](auto x, auto row, auto column) { return (x + row) * column; };
inline constexpr auto centered = [](auto x) { return x - calque::mean(x); };
inline constexpr auto scaled = [](auto x) { return x * 2.f + 1.f; };

} // namespace

TEST_CASE("elementwise work and rows of any length") {
    for (std::size_t const rows : {0u, 1u, 3u, 40u, 300u}) {
        for (std::size_t const n : {0u, 1u, 3u, 10u, 16u, 17u, 33u, 64u, 100u, 515u}) {
            auto const x = noise<float, 2>({rows, n}, 1), y = noise<float, 2>({rows, n}, 2);
            check_in_the_middle<float>(chain, rows, n, x, y);
            if (n != 0) {
                check_in_the_middle<float>([](auto a) { return calque::softmax<-1>(a); }, rows, n, x);
            }
            check_in_the_middle<float>(biased, rows, n, x, noise<float, 1>({n}, 3), noise<float, 2>({rows, 1}, 4));
            check_in_the_middle<float>(centered, rows, n, x);
            check_in_the_middle<float>(inner_step, rows, n, noise<float, 2>({rows + 2, n + 2}, 5));
        }
    }
}

TEST_CASE_TEMPLATE("other types", T, double, std::int32_t, std::uint8_t) {
    for (std::size_t const n : {3u, 17u, 64u, 130u}) {
        auto const x = noise<T, 2>({50, n}, 1), y = noise<T, 2>({50, n}, 2);
        check_in_the_middle<T>([](auto a, auto b) { return a * b + a; }, 50, n, x, y);
    }
}

TEST_CASE("what no kernel over rows writes is copied there") {
    auto const x = noise<float, 2>({20, 30}, 1), y = noise<float, 2>({30, 20}, 2);
    check_in_the_middle<float>([](auto a, auto b) { return calque::matmul(a, b); }, 20, 20, x, y);
    check_in_the_middle<float>([](auto a) { return calque::transpose(a); }, 30, 20, x);
    check_in_the_middle<float>([](auto a, auto b) { return calque::concatenate<0>(a + 1, calque::transpose(b)); }, 40,
                               30, x, y);
    xtensor<float, 2> whole = noise<float, 2>({20, 60}, 3);
    auto run = calque::function(scaled);
    run.into(calque::array_view(whole.data() + 1, {20, 30}, {60, 2}), x); // every second column
    for (std::size_t i = 0; i < 20; ++i) {
        for (std::size_t j = 0; j < 30; ++j) {
            REQUIRE(whole(i, 2 * j + 1) == x(i, j) * 2 + 1);
        }
    }
}

TEST_CASE("arguments among the rows of an output") {
    auto run = calque::function(inner_step);
    auto u = noise<float, 2>({30, 40}, 1);
    xtensor<float, 2> const expected = run(u);
    run.into(part_of(u, 1, 1, 28, 38), u);
    xtensor<float, 2> const actual = xt::view(u, xt::range(1, 29), xt::range(1, 39));
    CHECK(actual == expected);

    auto pair = noise<float, 2>({30, 40}, 2); // the right half from the left one: rows lie between rows
    xtensor<float, 2> const left = xt::view(pair, xt::all(), xt::range(0, 20));
    calque::function(scaled).into(part_of(pair, 0, 20, 30, 20), part_of(pair, 0, 0, 30, 20));
    xtensor<float, 2> const right = xt::view(pair, xt::all(), xt::range(20, 40));
    CHECK(right == left * 2.f + 1.f);
}

TEST_CASE("several outputs, with and without gaps, in one array") {
    auto const f = [](auto x, auto y) { return std::tuple{x + y, x - y, calque::softmax<-1>(x * y)}; };
    auto run = calque::function(f);
    for (std::size_t const n : {7u, 32u, 65u}) {
        CAPTURE(n);
        auto const x = noise<float, 2>({24, n}, 1), y = noise<float, 2>({24, n}, 2);
        xtensor<float, 2> sum, difference, soft;
        std::tie(sum, difference, soft) = run(x, y);
        xtensor<float, 2> whole({24, 2 * n});
        xtensor<float, 2> own({24, n});
        auto const end = static_cast<extent_t>(n);
        auto left = part_of(whole, 0, 0, 24, end), right = part_of(whole, 0, end, 24, end);
        auto outputs = std::tie(left, own, right);
        run.into(outputs, x, y);
        CHECK(own == difference);
        xtensor<float, 2> const of_left = xt::view(whole, xt::all(), xt::range(0, n));
        xtensor<float, 2> const of_right = xt::view(whole, xt::all(), xt::range(n, 2 * n));
        CHECK(of_left == sum);
        CHECK(of_right == soft);
    }
}

TEST_CASE("one function, outputs that lie in other ways in turn") {
    auto run = calque::function(scaled);
    for (int times = 0; times < 3; ++times) {
        for (std::size_t const n : {20u, 33u}) {
            auto const x = noise<float, 2>({9, n}, static_cast<unsigned>(n));
            for (std::size_t const stride : {40u, 50u}) {
                xtensor<float, 2> whole({9, stride});
                run.into(part_of(whole, 0, 0, 9, static_cast<extent_t>(n)), x);
                xtensor<float, 2> const part = xt::view(whole, xt::all(), xt::range(0, n));
                CHECK(part == x * 2.f + 1.f);
            }
        }
    }
}

TEST_CASE("three axes, rows far apart, and views as arguments") {
    auto run = calque::function([](auto x, auto y) { return x * y - 1.f; });
    auto const x = noise<double, 3>({4, 6, 50}, 1), y = noise<double, 3>({4, 1, 50}, 2);
    xtensor<double, 3> const expected = run(x, y);
    xtensor<double, 3> whole({6, 9, 60});
    auto const inside = calque::array_view(whole.data() + 9 * 60 + 60 + 3, {4, 6, 50}, {9 * 60, 60, 1});
    run.into(inside, x, y);
    xtensor<double, 3> const actual = xt::view(whole, xt::range(1, 5), xt::range(1, 7), xt::range(3, 53));
    CHECK(actual == expected);

    run.into(inside, calque::array_view(x.data() + 5 * 50, {4, 6, 50}, {6 * 50, -50, 1}), y);
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 6; ++j) {
            for (std::size_t k = 0; k < 50; ++k) {
                REQUIRE(whole(i + 1, j + 1, k + 3) == std::fma(x(i, 5 - j, k), y(i, 0, k), -1.));
            }
        }
    }
}

TEST_CASE("a check that fails leaves the output as it was") {
    auto run = calque::function([](auto x) {
        calque::check(x < 3.f, "x must be small");
        return x * 2.f;
    });
    xtensor<float, 2> whole = xt::ones<float>({8, 40});
    xtensor<float, 2> x = xt::ones<float>({8, 30});
    x(7, 29) = 5;
    CHECK_THROWS(run.into(part_of(whole, 0, 3, 8, 30), x));
    CHECK(whole == xt::ones<float>({8, 40}));
}
