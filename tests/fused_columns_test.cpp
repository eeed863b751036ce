// SPDX-License-Identifier: MIT
// Reductions over other axes than the last ones, over several, and over arrays that are stretched first.
#include "tensor_compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace {

using calque::keepdims;
using tests::check_fused;
using tests::closeness;
using tests::equal_bits;
using tests::noise;
using xt::xtensor;

using matrix = xtensor<float, 2>;

inline constexpr auto column_sums = [](auto x) {
    return std::tuple{calque::sum<0>(x), calque::sum<0>(x * x, keepdims)};
};
inline constexpr auto column_extremes = [](auto x) {
    return std::tuple{calque::max<0>(x), calque::min<0>(abs(x)), calque::argmax<0>(x, keepdims)};
};
// One by one, too: kernels of one reduction have ways of their own.
inline constexpr auto column_sum = [](auto x) { return calque::sum<0>(x); };
inline constexpr auto column_squares = [](auto x) { return calque::sum<0>(x * x); };
inline constexpr auto column_maxima = [](auto x) { return calque::max<0>(x); };

void check_column_sums(closeness const& close, auto const& x) {
    check_fused(column_sums, close, x);
    check_fused(column_sum, close, x);
    check_fused(column_squares, close, x);
}

void check_column_extremes(auto const& x) {
    check_fused(column_extremes, equal_bits, x);
    check_fused(column_maxima, equal_bits, x);
}

inline constexpr auto column_soft = [](auto x) {
    return std::tuple{calque::softmax<0>(x), calque::logsumexp<0>(x), x - calque::mean<0>(x)};
};
inline constexpr auto of_three = [](auto x) {
    return std::tuple{calque::sum<0>(x),    calque::sum<1>(x),    calque::sum<2>(x),       calque::sum<0, 1>(x),
                      calque::sum<1, 2>(x), calque::sum<0, 2>(x), calque::sum(x, keepdims)};
};
inline constexpr auto extremes_of_three = [](auto x) {
    return std::tuple{calque::max<0, 2>(x), calque::min<1>(x, keepdims), calque::argmax<1>(x),
                      calque::softmax<0, 2>(x)};
};
inline constexpr auto of_stretched = [](auto column, auto row) {
    auto const outer = column * row;
    return std::tuple{calque::sum<0>(outer), calque::sum<1>(outer), calque::sum(outer + 1),
                      calque::sum<0>(column + row * 0)};
};
inline constexpr auto batch_norm = [](auto x, auto gain) {
    auto const centred = x - calque::mean<0>(x);
    auto const variance = calque::mean<0>(square(centred));
    return std::tuple{gain * centred * rsqrt(variance + 1e-3f), variance};
};
inline constexpr auto both_ways = [](auto x) {
    return x / (calque::sum<0>(x, keepdims) + calque::sum<1>(x, keepdims));
};

inline constexpr auto column_products = [](auto x, auto y) { return calque::sum<0>(x * y); };
inline constexpr auto columns_of_three = [](auto x, auto y, auto z) {
    return std::tuple{calque::sum<0>(x * y * z), calque::max<0>(x - y), calque::sum<0>((x - y) * (z + x))};
};
inline constexpr auto difference_columns = [](auto x, auto y) { return calque::sum<0>((x - y) * (y + x)); };
inline constexpr auto costly_columns = [](auto x, auto scale) { return calque::sum<0>(tanh(x * scale)); };
inline constexpr auto sums_of_exp = [](auto x) { return calque::sum<0>(exp(x)); };

inline constexpr auto counted_columns = [](auto x) { return calque::sum<0>(calque::cast<float>(x)); };

} // namespace

TEST_CASE("columns of every number of rows and of columns") {
    for (std::size_t const m : {0u, 1u, 15u, 16u, 17u, 100u}) {
        for (std::size_t const n : {1u, 15u, 16u, 17u, 64u, 65u, 96u, 97u, 130u, 160u, 161u}) {
            CAPTURE(m);
            CAPTURE(n);
            check_column_sums(closeness{4, 4. * static_cast<double>(m)}, noise<float, 2>({m, n}, 1));
            check_fused(column_products, closeness{4, 4. * static_cast<double>(m)}, noise<float, 2>({m, n}, 1),
                        noise<float, 2>({m, n}, 2));
            if (m != 0) {
                check_column_extremes(noise<float, 2>({m, n}, 2));
                check_fused(column_soft, closeness{16, 4}, noise<float, 2>({m, n}, 3));
            }
        }
    }
    check_fused(column_sums, equal_bits, noise<std::int16_t, 2>({30, 33}, 1));
    check_fused(column_extremes, equal_bits, noise<std::int16_t, 2>({30, 33}, 1));
    check_column_sums(closeness{4, 1000}, noise<double, 2>({100, 1000}, 1));
}

TEST_CASE("columns behind the last block, of narrow and wide elements") {
    for (std::size_t const n : {1u, 8u, 9u, 16u, 17u, 31u, 32u, 33u, 48u, 49u, 63u, 64u, 80u, 97u, 113u, 127u, 128u,
                                129u}) {
        CAPTURE(n);
        xtensor<bool, 2> flags = xt::zeros<bool>({19, static_cast<int>(n)});
        xtensor<calque::half, 2> halves(flags.shape());
        for (std::size_t i = 0; i < flags.size(); ++i) {
            flags.flat(i) = i % 3 == 0 || i % 7 == 2;
            halves.flat(i) = calque::half(static_cast<float>(i % 11));
        }
        check_fused(counted_columns, equal_bits, flags); // whole numbers: exact in any order
        check_fused(counted_columns, equal_bits, halves);
        check_column_sums(closeness{4, 80}, noise<double, 2>({19, n}, 1));
    }
}

TEST_CASE("many rows of a few columns") {
    for (std::size_t const m : {31u, 32u, 63u, 159u, 160u, 261u, 600u}) {
        for (std::size_t const n : {1u, 2u, 3u, 5u, 8u, 12u, 13u, 17u, 48u, 63u, 64u, 65u, 96u, 144u, 145u}) {
            CAPTURE(m);
            CAPTURE(n);
            matrix const x = noise<float, 2>({m, n}, 1);
            check_column_sums(closeness{4, 4. * static_cast<double>(m)}, x);
            check_column_extremes(x);
            check_fused(costly_columns, closeness{16, 4. * static_cast<double>(m)}, x, noise<float, 1>({n}, 2));
            check_fused(costly_columns, closeness{16, 4. * static_cast<double>(m)}, noise<double, 2>({m, n}, 1),
                        noise<double, 2>({1, n}, 2));
            check_fused(costly_columns, closeness{16, 4. * static_cast<double>(m)},
                        xt::view(x, xt::all(), xt::range(0, n / 2)), noise<float, 1>({n / 2}, 2));
            check_fused(column_sums, equal_bits, noise<std::int16_t, 2>({m, n}, 1));
            check_fused(sums_of_exp, closeness{16, 16. * static_cast<double>(m)}, x);
        }
    }
    for (std::size_t const m : {256u, 1000u}) { // whole numbers: exact in any order
        xtensor<calque::half, 2> halves({m, 3});
        for (std::size_t i = 0; i < halves.size(); ++i) {
            halves.flat(i) = calque::half(static_cast<float>(i % 11));
        }
        check_fused(counted_columns, equal_bits, halves);
        check_fused(counted_columns, equal_bits, xtensor<bool, 2>(noise<float, 2>({m, 5}, 1) > 0.f));
    }
    matrix x = noise<float, 2>({500, 3}, 1);
    x(499, 1) = x(7, 2) = std::numeric_limits<float>::quiet_NaN();
    x(3, 1) = std::numeric_limits<float>::infinity();
    check_column_extremes(x);
    check_fused(of_three, closeness{4, 6000}, noise<float, 3>({30, 20, 3}, 1));
}

TEST_CASE_TEMPLATE("rows beside each other along many columns, of one to three matrices", T, float, double) {
    for (std::size_t const m : {5u, 10u, 16u, 17u, 63u, 193u}) {
        for (std::size_t const n : {300u, 1023u, 1024u, 2100u, 4097u}) {
            CAPTURE(m);
            CAPTURE(n);
            auto const x = noise<T, 2>({m, n}, 1), y = noise<T, 2>({m, n}, 2), z = noise<T, 2>({m, n}, 3);
            closeness const allowed{4, 4. * static_cast<double>(m)};
            check_column_sums(allowed, x);
            check_column_extremes(x);
            check_fused(column_products, allowed, x, y);
            check_fused(columns_of_three, allowed, x, y, z);
            check_fused(difference_columns, allowed, x, y);
            check_fused(column_products, allowed, x, noise<T, 1>({n}, 4));
        }
    }
}

TEST_CASE("columns of more rows than caches hold, by longer panels or with rows apart: each sum and maximum") {
    for (std::array<std::size_t, 2> const& extents : {std::array<std::size_t, 2>{18, 180'021},
                                                      {200, 17'000},
                                                      {600, 6'200},
                                                      {900, 1'001},
                                                      {5'300, 100},
                                                      {9'001, 64},
                                                      {11'111, 48},
                                                      {1, 600'001},
                                                      {2, 600'001},
                                                      {3, 200'003},
                                                      {4, 200'003},
                                                      {7, 200'003}}) {
        auto const [n, m] = extents;
        CAPTURE(extents[0]);
        matrix const x = xt::cast<float>(noise<std::int32_t, 2>(extents, 1)); // small integers, whose sums are exact
        xtensor<float, 1> sums = xt::zeros<float>({m});
        xtensor<float, 1> maxima = xt::view(x, 0);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < m; ++j) {
                sums(j) += x(i, j);
                maxima(j) = std::max(maxima(j), x(i, j));
            }
        }
        CHECK(calque::function(column_sum)(x) == sums);
        CHECK(calque::function(column_maxima)(x) == maxima);
    }
}

TEST_CASE("sums over many rows are within 4 eps of the sum of absolute values") {
    auto const f = calque::function(column_sums);
    for (std::size_t const m : {383u, 384u, 1000u, 1537u, 20'000u}) {
        for (std::size_t const n : {1u, 3u, 20u, 65u, 600u}) {
            CAPTURE(m);
            CAPTURE(n);
            matrix const x = xt::abs(noise<float, 2>({m, n}, 1));
            auto const [sums, squares] = f(x);
            std::vector<double> expected(n), expected_of_squares(n);
            for (std::size_t i = 0; i < m; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    double const element = x(i, j);
                    expected[j] += element;
                    expected_of_squares[j] += element * element;
                }
            }
            bool are_close = true;
            for (std::size_t j = 0; j < n; ++j) {
                constexpr double eps = std::numeric_limits<float>::epsilon();
                are_close &= std::abs(sums(j) - expected[j]) <= 4 * eps * expected[j];
                are_close &= std::abs(squares(0, j) - expected_of_squares[j]) <= 4 * eps * expected_of_squares[j];
            }
            CHECK(are_close);
        }
    }
    // Streams, more than a panel wide, with columns and rows behind them.
    check_column_sums(closeness{4, 800}, noise<float, 2>({251, 2105}, 1));
    check_column_sums(closeness{4, 800}, noise<double, 2>({191, 3001}, 1));
    check_fused(column_sums, equal_bits, noise<std::int32_t, 2>({390, 1400}, 1));
    matrix wide = noise<float, 2>({300, 1800}, 1);
    wide(299, 1) = wide(7, 1799) = std::numeric_limits<float>::quiet_NaN();
    wide(3, 1795) = std::numeric_limits<float>::infinity();
    for (std::size_t i = 100; i < 104; ++i) { // each of the rows that are folded at once
        wide(i, 16 * i) = std::numeric_limits<float>::quiet_NaN();
    }
    check_column_extremes(wide);
    check_fused(column_extremes, equal_bits, xt::xtensor<double, 2>(xt::cast<double>(wide)));
    check_column_extremes(noise<float, 2>({1000, 700}, 1));
    check_fused(costly_columns, closeness{16, 4000}, noise<float, 2>({1000, 700}, 1), noise<float, 1>({700}, 2));
}

TEST_CASE("columns of strided arrays") {
    matrix const x = noise<float, 2>({70, 40}, 1);
    for (closeness const close : {closeness{4, 280}}) {
        check_fused(column_sums, close, xt::transpose(x));
        check_fused(column_sums, close, xt::view(x, xt::range(0, 70, 3), xt::range(2, 40)));
        check_fused(column_sums, close, xt::view(x, xt::all(), xt::range(1, 40, 2)));
    }
    check_fused(column_extremes, equal_bits, xt::transpose(x));
    check_fused(column_soft, closeness{16, 4}, xt::view(x, xt::all(), xt::range(1, 40, 2)));
    for (std::size_t const apart : {1023u, 1024u}) { // rows that crowd a set of L1
        matrix const wide = noise<float, 2>({50, apart}, 1);
        for (int const n : {63, 64, 65, 100, 255}) {
            CAPTURE(n);
            auto const part = xt::view(wide, xt::all(), xt::range(3, 3 + n));
            check_fused(column_sums, closeness{4, 200}, part);
            check_fused(column_extremes, equal_bits, part);
        }
    }
}

TEST_CASE("NaN in a column") {
    matrix x = noise<float, 2>({20, 40}, 1);
    x(3, 5) = std::numeric_limits<float>::quiet_NaN();
    x(19, 39) = std::numeric_limits<float>::quiet_NaN();
    x(0, 0) = std::numeric_limits<float>::infinity();
    check_column_extremes(x);
    auto const [largest, least, at] = calque::function(column_extremes)(x);
    CHECK(std::isnan(largest(5)));
    CHECK(std::isnan(least(39)));
    CHECK(at(0, 5) == 3);
}

TEST_CASE("every set of three axes") {
    for (auto const& e : {std::array<std::size_t, 3>{2, 3, 40}, {5, 1, 17}, {1, 7, 16}, {9, 10, 1}, {3, 17, 33}}) {
        CAPTURE(e[0]);
        CAPTURE(e[1]);
        CAPTURE(e[2]);
        xtensor<float, 3> const x = noise<float, 3>(e, 1);
        double const all = xt::sum(xt::abs(x))();
        check_fused(of_three, closeness{4, all}, x);
        check_fused(extremes_of_three, closeness{8, 1}, x);
        xtensor<float, 3> const turned = noise<float, 3>({e[2], e[0], e[1]}, 2);
        check_fused(of_three, closeness{4, all}, xt::transpose(turned, std::array<std::size_t, 3>{1, 2, 0}));
        check_fused(extremes_of_three, closeness{8, 1}, xt::view(x, xt::all(), xt::all(), xt::range(0, e[2], 2)));
        check_fused(of_three, closeness{4, all},
                    calque::with_shape<calque::dim("a"), calque::dyn, calque::dim("c")>(x));
    }
    check_fused(of_three, closeness{}, noise<float, 3>({2, 0, 5}, 1));
}

TEST_CASE("sums of what is stretched") {
    for (std::size_t const m : {1u, 9u, 40u}) {
        for (std::size_t const n : {1u, 16u, 77u}) {
            CAPTURE(m);
            CAPTURE(n);
            closeness const close{8, 4. * static_cast<double>(m * n)};
            check_fused(of_stretched, close, noise<float, 2>({m, 1}, 1), noise<float, 1>({n}, 2));
            check_fused(of_stretched, close, calque::with_shape<calque::dyn, 1>(noise<float, 2>({m, 1}, 1)),
                        noise<float, 1>({n}, 2));
            check_fused(of_stretched, close, noise<float, 2>({m, n}, 1), noise<float, 1>({1}, 2));
        }
    }
}

TEST_CASE("rows and columns of one array") {
    for (std::size_t const m : {2u, 33u}) {
        for (std::size_t const n : {1u, 16u, 50u}) {
            check_fused(batch_norm, closeness{m < 4 ? 3000. : 40., 4}, noise<float, 2>({m, n}, 1),
                        noise<float, 1>({n}, 2));
            check_fused(batch_norm, closeness{m < 4 ? 3000. : 40., 4}, noise<float, 2>({m, n}, 1),
                        noise<float, 1>({1}, 2));
            // The divisor is a difference of sums: kept away from 0.
            check_fused(both_ways, closeness{16, 1}, matrix(xt::abs(noise<float, 2>({m, n}, 1)) + 0.5f));
        }
    }
}

namespace {

inline constexpr auto moments = [](auto x, auto y) {
    auto const mean = calque::mean<0>(x, keepdims);
    return std::tuple{calque::sum<0>(x * y), calque::max<0>(y), mean, calque::mean<0>(square(x - mean)),
                      calque::sum<0>(where(x < y, calque::ones_like(x), calque::zeros_like(x)))};
};
inline constexpr auto six_columns = [](auto x, auto row) {
    return std::tuple{calque::sum<0>(x),       calque::max<0>(x),      calque::min<0>(x),
                      calque::sum<0>(x * row), calque::sum<0>(abs(x)), calque::max<0>(x - row)};
};
inline constexpr auto counted = [](auto x) {
    return std::tuple{calque::sum<0>(calque::cast<std::int64_t>(x > 0)), calque::max<0>(x), calque::any<0>(x > 1)};
};
inline constexpr auto costly_pair = [](auto x) {
    auto const e = exp(x);
    return std::tuple{calque::sum<0>(e), calque::sum<0>(e * x), calque::max<0>(x)};
};
inline constexpr auto stored_square = [](auto x) {
    auto const y = x * x;
    return std::tuple{y, calque::sum<0>(x), calque::sum<0>(y)}; // y is a result: the sum reads it
};
inline constexpr auto of_some_axes = [](auto x) {
    return std::tuple{calque::sum<1>(x), calque::max<1>(x, keepdims), calque::sum<0, 1>(x * x), calque::min<0, 1>(x)};
};

} // namespace

TEST_CASE("several reductions in one walk, of few and of many rows and columns") {
    for (std::size_t const m : {0u, 1u, 16u, 17u, 24u, 25u, 130u, 384u, 801u}) {
        for (std::size_t const n : {1u, 17u, 31u, 32u, 63u, 64u, 65u, 130u, 300u, 513u, 1025u}) {
            CAPTURE(m);
            CAPTURE(n);
            closeness const close{16, 4. * static_cast<double>(m)};
            matrix const x = noise<float, 2>({m, n}, 1), row = noise<float, 2>({1, n}, 2);
            if (m != 0) {
                check_fused(moments, close, x, noise<float, 2>({m, n}, 3));
                check_fused(six_columns, close, x, row);
                check_fused(counted, equal_bits, x);
                check_fused(costly_pair, close, xtensor<double, 2>(x));
            }
            check_fused(stored_square, close, x);
        }
    }
    check_fused(six_columns, closeness{16, 4000}, noise<float, 2>({700, 900}, 1), noise<float, 2>({1, 900}, 2));
}

TEST_CASE("several reductions of more rows than caches hold, with rows apart or by panels") {
    for (std::array<std::size_t, 2> const& extents : {std::array<std::size_t, 2>{11'111, 49},
                                                      {5'300, 100},
                                                      {900, 1'001},
                                                      {520, 1'024},
                                                      {300, 2'001},
                                                      {5, 110'003}}) {
        CAPTURE(extents[0]);
        auto const x = noise<std::int32_t, 2>(extents, 1), y = noise<std::int32_t, 2>(extents, 2);
        check_fused([](auto a) { return std::tuple{calque::sum<0>(a), calque::max<0>(a)}; }, equal_bits, x);
        check_fused([](auto a, auto b) { return std::tuple{calque::sum<0>(a), calque::sum<0>(a * b)}; }, equal_bits, x,
                    y);
    }
}

TEST_CASE("several reductions of columns that the compiler knows") {
    for (std::size_t const m : {1u, 20u, 33u, 500u}) {
        CAPTURE(m);
        closeness const close{16, 4. * static_cast<double>(m)};
        using calque::dyn;
        check_fused(costly_pair, close, calque::with_shape<dyn, 96>(noise<float, 2>({m, 96}, 1)));
        check_fused(costly_pair, close, calque::with_shape<dyn, 7>(noise<float, 2>({m, 7}, 1)));
        check_fused(column_sums, close, calque::with_shape<dyn, 100>(noise<float, 2>({m, 100}, 1)));
    }
}

TEST_CASE("several reductions of one array over other axes, of strided arrays, and with NaN") {
    xtensor<float, 3> const x = noise<float, 3>({5, 40, 70}, 1);
    check_fused(of_some_axes, closeness{8, 800}, x);
    check_fused(of_some_axes, closeness{8, 800}, noise<float, 3>({40, 3, 5}, 1));
    check_fused(of_some_axes, closeness{8, 800}, xt::view(x, xt::all(), xt::range(3, 40, 2), xt::range(0, 66)));
    for (std::size_t const n : {9u, 90u}) {
        matrix with_nan = noise<float, 2>({50, n}, 1);
        with_nan(49, 3) = with_nan(0, n - 1) = std::numeric_limits<float>::quiet_NaN();
        with_nan(7, 1) = -std::numeric_limits<float>::infinity();
        check_fused(column_extremes, equal_bits, with_nan);
        check_fused(six_columns, closeness{16, 200}, with_nan, noise<float, 2>({1, n}, 2));
        // One row of it, which only the call knows.
        check_fused(moments, closeness{16, 200}, noise<float, 2>({50, n}, 1), noise<float, 2>({1, n}, 2));
        check_fused(moments, closeness{16, 200}, noise<float, 2>({50, n}, 1), noise<float, 2>({50, 1}, 2));
    }
}
