// SPDX-License-Identifier: MIT
// Kernels that read elements which stand a few apart, as they lie: coordinates of points, every second column, pooling.
#include "tensor_compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>

namespace {

using calque::all;
using calque::dyn;
using calque::range;
using calque::graph::to_the_end;
using tests::check_fused;
using tests::equal_bits;
using tests::noise;

/// Whether a kernel reads all as it lies, of some arrays one of every `apart` elements.
template <class F, class... Args>
bool reads_spaced(int apart, F const& f, Args const&... args) {
    std::string const plan = calque::function(f).plan(args...).text();
    CAPTURE(plan);
    bool const is_spaced =
        plan.find("(of some, one of every " + std::to_string(apart) + " elements)") != std::string::npos;
    CHECK(is_spaced != (plan.find("copy") != std::string::npos));
    return is_spaced;
}

template <int Step>
constexpr auto every(auto x, int first) {
    return view(x, range(first, to_the_end, Step));
}

inline constexpr auto one_coordinate = [](auto p) { return view(p, all(), 1) * 2 + 1; };
inline constexpr auto coordinates_in_any_order = [](auto p, auto y) {
    auto const c = view(p, all(), 2), a = view(p, all(), 0), b = view(p, all(), 1);
    return std::tuple{c * y - a * b, a - c, sqrt(abs(b)) + y};
};
inline constexpr auto first_and_last = [](auto p) { return view(p, all(), -1) - view(p, all(), 0); };
inline constexpr auto of_two_arrays = [](auto p, auto q) {
    return view(p, all(), 0) * view(q, all(), 1) - view(p, all(), 1) * view(q, all(), 0);
};
inline constexpr auto folds = [](auto p, auto q) {
    auto const x = view(p, all(), 0), y = view(p, all(), 1);
    return std::tuple{calque::max(y), calque::min(x), calque::sum(x * y), calque::max(x - view(q, all(), 0))};
};
inline constexpr auto in_rows = [](auto x, auto w) {
    auto const even = view(x, all(), range(0, to_the_end, 2)), odd = view(x, all(), range(1, to_the_end, 2));
    return std::tuple{even * w - odd, tanh(even) + odd, calque::max<1>(even), calque::softmax<1>(odd)};
};

} // namespace

TEST_CASE_TEMPLATE("every second, third, fourth and fifth element", T, float, double) {
    for (std::size_t const n : {4u, 5u, 9u, 15u, 16u, 17u, 31u, 33u, 64u, 65u, 100u, 1000u}) {
        CAPTURE(n);
        xt::xtensor<T, 1> const y = noise<T, 1>({n}, 1);
        check_fused([](auto x, auto z) { return every<2>(x, 0) * z + every<2>(x, 1); }, equal_bits,
                    noise<T, 1>({2 * n}, 2), y);
        check_fused([](auto x, auto z) { return every<4>(x, 3) + every<4>(x, 0) * z - every<4>(x, 2); }, equal_bits,
                    noise<T, 1>({4 * n}, 4), y);
        check_fused([](auto x, auto z) { return every<2>(x, 1) * every<3>(z, 0); }, equal_bits, noise<T, 1>({2 * n}, 6),
                    noise<T, 1>({3 * n}, 7));
    }
}

TEST_CASE_TEMPLATE("every third element of other types", T, std::int32_t, std::int64_t, std::uint8_t) {
    for (std::size_t const n : {4u, 15u, 16u, 17u, 33u, 100u}) {
        CAPTURE(n);
        check_fused([](auto x, auto z) { return every<3>(x, 1) - every<3>(x, 2) * z; }, equal_bits,
                    noise<T, 1>({3 * n}, 3), noise<T, 1>({n}, 1));
    }
}

TEST_CASE("a row whose elements stand apart, beside rows that are folded, is copied once") {
    for (std::size_t const n : {5u, 17u, 100u}) {
        CAPTURE(n);
        auto const of_rows = [](auto x, auto w) { return calque::max<0>(x * every<2>(w, 1) - every<2>(w, 0)); };
        auto const of_matrices = [](auto x, auto w) { return calque::sum<0, 1>(x * every<2>(w, 1)); };
        auto const w = noise<float, 1>({2 * n}, 2);
        check_fused(of_rows, equal_bits, noise<float, 2>({40, n}, 1), w);
        check_fused(of_matrices, tests::closeness{8, 400}, noise<float, 3>({4, 10, n}, 1), w);
        std::string const plan = calque::function(of_rows).plan(noise<float, 2>({40, n}, 1), w).text();
        CAPTURE(plan);
        CHECK(plan.find("[1," + std::to_string(n)) != std::string::npos);
    }
}

TEST_CASE("slices that begin together and end apart, and some that begin in other blocks") {
    for (std::size_t const n : {9u, 33u, 100u}) {
        CAPTURE(n);
        auto const x = noise<float, 1>({2 * n}, 1);
        check_fused(
            [](auto a) {
                return view(a, range(0, -1, 2)) + view(a, range(0, to_the_end, 2)) * view(a, range(1, to_the_end, 2));
            },
            equal_bits, x);
        check_fused(
            [](auto a) {
                return view(a, range(2, to_the_end, 2)) * view(a, range(1, -1, 2)) - view(a, range(0, -2, 2)) +
                       view(a, range(3, to_the_end, 2));
            },
            equal_bits, x);
        check_fused([](auto a) { return view(a, range(-8, to_the_end, 2)) * view(a, range(1, 8, 2)); }, equal_bits, x);
    }
}

TEST_CASE_TEMPLATE("coordinates", T, float, double) {
    for (std::size_t const n : {0u, 1u, 3u, 4u, 5u, 15u, 16u, 17u, 31u, 32u, 33u, 63u, 65u, 1000u}) {
        CAPTURE(n);
        for (std::size_t const k : {2u, 3u, 4u, 5u}) {
            CAPTURE(k);
            xt::xtensor<T, 2> const p = noise<T, 2>({n, k}, 1), q = noise<T, 2>({n, 3}, 2);
            check_fused(first_and_last, equal_bits, p);
            check_fused(of_two_arrays, equal_bits, p, q);
            check_fused(one_coordinate, equal_bits, xt::view(p, xt::range(std::size_t{0}, n, 2), xt::all()));
            if (k >= 3) {
                check_fused(coordinates_in_any_order, equal_bits, p, noise<T, 1>({n}, 3));
            }
            if (n != 0) {
                check_fused(folds, tests::closeness{16, 1000}, p, q);
            }
        }
    }
    check_fused(first_and_last, equal_bits, xt::xtensor_fixed<T, xt::xshape<70, 3>>(noise<T, 2>({70, 3}, 1)));
    for (std::size_t const n : {3u, 4u, 17u, 100u}) {
        CAPTURE(n);
        auto const wide = noise<T, 2>({n, 4}, 6); // of which the columns of a view are no neighbours
        check_fused(of_two_arrays, equal_bits, xt::view(wide, xt::all(), xt::range(0, 4, 2)), noise<T, 2>({n, 4}, 7));
        auto const p = noise<T, 2>({n, 3}, 4);
        check_fused([](auto a, auto b) { return transpose(a) * b - view(transpose(a), 1); }, equal_bits,
                    calque::with_shape<dyn, 3>(p), noise<T, 2>({3, n}, 5));
    }
}

#if defined(__AVX2__)

TEST_CASE("what is read as it lies, and what is copied") {
    auto const points = noise<float, 2>({100, 3}, 1);
    CHECK(reads_spaced(3, one_coordinate, points));
    CHECK(reads_spaced(3, of_two_arrays, points, points));
    CHECK(reads_spaced(4, one_coordinate, noise<double, 2>({100, 4}, 1)));
    CHECK_FALSE(reads_spaced(5, one_coordinate, noise<float, 2>({100, 5}, 1)));
    CHECK_FALSE(reads_spaced(3, of_two_arrays, points, noise<float, 2>({100, 4}, 1))); // not all equally far apart
    CHECK(reads_spaced(3, one_coordinate, noise<std::uint8_t, 2>({100, 3}, 1)) == (calque::simd::width == 16));
    CHECK_FALSE(reads_spaced(3, one_coordinate, noise<float, 2>({3, 3}, 1))); // too few
    auto const pooled = [](auto x) { return calque::max<1, 3>(reshape(x, 14, 2, 14, 2)); };
    CHECK(reads_spaced(2, pooled, noise<float, 2>({28, 28}, 1)));
}

#endif

TEST_CASE("a result in the place of what is read") {
    for (std::size_t const n : {5u, 64u, 1000u}) {
        CAPTURE(n);
        auto x = noise<float, 1>({2 * n}, 1);
        auto const before = x;
        auto step = calque::function([](auto a) { return every<2>(a, 0) * 2 + every<2>(a, 1); });
        step.into(xt::view(x, xt::range(std::size_t{0}, n)), x);
        bool are_equal = true;
        for (std::size_t i = 0; i < n; ++i) {
            are_equal &= x(i) == before(2 * i) * 2 + before(2 * i + 1);
        }
        CHECK(are_equal);
    }
}

TEST_CASE_TEMPLATE("every second column", T, float, double) {
    for (std::size_t const rows : {1u, 2u, 17u, 130u}) {
        for (std::size_t const columns : {1u, 3u, 4u, 7u, 8u, 15u, 16u, 17u, 33u, 64u, 100u}) {
            CAPTURE(rows);
            CAPTURE(columns);
            xt::xtensor<T, 1> const w = noise<T, 1>({columns}, 1);
            check_fused(in_rows, tests::closeness{8, 1}, noise<T, 2>({rows, 2 * columns}, 2), w);
            auto const wider = noise<T, 2>({rows, 2 * columns + 3}, 3);
            check_fused(in_rows, tests::closeness{8, 1},
                        xt::view(wider, xt::all(), xt::range(std::size_t{1}, 2 * columns + 1)), w);
        }
    }
}

TEST_CASE_TEMPLATE("pooling", T, float, double) {
    for (std::size_t const rows : {1u, 2u, 7u, 16u}) {
        check_fused(
            [](auto a) {
                auto const cells = reshape(a, dyn, 2, 14, 2);
                return std::tuple{calque::max<1, 3>(cells), calque::mean<1, 3>(cells, calque::keepdims)};
            },
            tests::closeness{4, 8}, noise<T, 2>({2 * rows, 28}, 1));
        for (std::size_t const columns : {1u, 3u, 4u, 14u, 16u, 33u}) {
            CAPTURE(rows);
            CAPTURE(columns);
            xt::xtensor<T, 4> const cells = noise<T, 4>({rows, 2, columns, 2}, 2);
            check_fused(
                [](auto a) {
                    return std::tuple{calque::max<1, 3>(a), calque::min<-1, -3>(a * 2),
                                      calque::mean<1, 3>(a, calque::keepdims), calque::sum<0, 3>(a)};
                },
                tests::closeness{8, 64}, calque::with_shape<dyn, 2, dyn, 2>(cells));
            check_fused([](auto a) { return calque::max<1, 3>(a); }, equal_bits, cells);
            check_fused([](auto a) { return calque::max<1, 3>(a); }, equal_bits,
                        calque::with_shape<dyn, 3, dyn, 3>(noise<T, 4>({rows, 3, columns, 3}, 3)));
        }
    }
}

TEST_CASE_TEMPLATE("pooling and folds of one coordinate, against loops", T, float, double) {
    for (std::size_t const columns : {1u, 5u, 14u, 33u}) {
        CAPTURE(columns);
        std::size_t const rows = 6;
        auto const image = noise<T, 4>({rows, 3, columns, 2}, 1);
        auto pool = calque::function([](auto a) { return std::tuple{calque::max<1, 3>(a), calque::sum<1, 3>(a)}; });
        auto const [largest, sums] = pool(calque::with_shape<dyn, 3, dyn, 2>(image));
        bool are_equal = true;
        double error = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < columns; ++j) {
                T most = image(i, 0, j, 0);
                double sum = 0;
                for (std::size_t k = 0; k < 6; ++k) {
                    most = std::max(most, image(i, k / 2, j, k % 2));
                    sum += static_cast<double>(image(i, k / 2, j, k % 2));
                }
                are_equal &= largest(i, j) == most;
                error = std::max(error, std::abs(static_cast<double>(sums(i, j)) - sum));
            }
        }
        CHECK(are_equal);
        CHECK(error < 1e-5);

        auto const points = noise<T, 2>({columns, 3}, 2);
        auto fold =
            calque::function([](auto p) { return std::tuple{calque::max(view(p, all(), 1)), sum(view(p, all(), 2))}; });
        auto const [most, total] = fold(points);
        T expected_most = points(0, 1);
        double expected_total = 0;
        for (std::size_t i = 0; i < columns; ++i) {
            expected_most = std::max(expected_most, points(i, 1));
            expected_total += static_cast<double>(points(i, 2));
        }
        CHECK(most == expected_most);
        CHECK(std::abs(static_cast<double>(total) - expected_total) < 1e-4);
    }
}
