// SPDX-License-Identifier: MIT
// Reductions of short rows, some of which are folded together, in one walk and in several: of any few rows and columns,
// with gaps between rows and with what a row has once, with NaN, in place of what they read, and known to the compiler.
#include "tensor_compare.hpp"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>

namespace {

using calque::extent_t;
using tests::check_fused;
using tests::closeness;
using tests::equal_bits;
using tests::noise;
using xt::xtensor;

constexpr std::size_t some_columns[] = {1, 5, 6, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 49, 65, 127, 128, 129};
constexpr std::size_t some_rows[] = {1, 7, 8, 9, 15, 16, 23, 40};

constexpr closeness of_sums(std::size_t columns) {
    return {8, 8 * static_cast<double>(columns)};
}

inline constexpr auto sum_of_rows = [](auto x) { return calque::sum<1>(x); };
inline constexpr auto largest = [](auto x) { return calque::max<1>(x); };
inline constexpr auto smallest = [](auto x) { return calque::min<1>(2 * x); };
inline constexpr auto product = [](auto x) { return calque::prod<1>(x * 0.25 + 1); };
inline constexpr auto length = [](auto x) { return sqrt(calque::sum<1>(x * x)); };
inline constexpr auto mean_of_integers = [](auto n) { return calque::mean<1>(calque::cast<float>(n)); };
inline constexpr auto dot = [](auto x, auto y) { return calque::sum<1>(x * y); };
inline constexpr auto distance = [](auto x, auto row) { return calque::max<1>(abs(x - row)); };
inline constexpr auto shifted = [](auto x, auto element) { return 2 * calque::sum<1>(x) - element; };
inline constexpr auto range_of_rows = [](auto x) { return calque::max<1>(x) - calque::min<1>(x); };
inline constexpr auto moments = [](auto x) {
    return std::tuple{calque::mean<1>(x), calque::mean<1>(x * x), calque::max<1>(x)};
};
inline constexpr auto partition = [](auto x) { return log(calque::sum<1>(exp(x))); };
inline constexpr auto largest_place = [](auto x) { return calque::argmax<1>(x); };

inline constexpr auto positive = [](auto x) { return calque::sum<1>(x > 0.5); };
inline constexpr auto some_positive = [](auto x) {
    return std::tuple{calque::any<1>(x > 0.9), calque::all<1>(x < 0.9)};
};

inline constexpr auto parts = [](auto x) { return x / calque::sum<1>(abs(x), calque::keepdims); };
inline constexpr auto below_largest = [](auto x) { return x - calque::max<1>(x, calque::keepdims); };
inline constexpr auto spread = [](auto x) { return calque::var<1>(x); };
inline constexpr auto around = [](auto x, auto column) { return calque::sum<1>(square(x - column)); };
inline constexpr auto layer_norm = [](auto x, auto gain, auto bias) {
    auto const centred = x - calque::mean<1>(x, calque::keepdims);
    return centred / sqrt(calque::mean<1>(centred * centred, calque::keepdims) + 1e-3) * gain + bias;
};
inline constexpr auto rescaled = [](auto x, auto column) {
    auto const least = calque::min<1>(x, calque::keepdims);
    auto const most = calque::max<1>(x, calque::keepdims);
    return std::tuple{(x - least) / (most - least + 1) + column, most, 2 * x};
};

inline constexpr auto everywhere = [](auto x) { // what a row has once, as a column has it and as what is reduced
    auto const mean = calque::mean<1>(x, calque::keepdims);
    auto const means = where(x == x, mean, 0 * x);
    return std::tuple{x - mean, means, calque::sum<1>(means), calque::max<1>(mean - 2)};
};
inline constexpr auto counted = [](auto x, auto row) { // what each row reduces to the same number
    auto const count = calque::sum<1>(calque::ones_like(x), calque::keepdims);
    return std::tuple{x - calque::sum<1>(x * row, calque::keepdims) / count, x / count,
                      calque::sum<1>(count * x + row)};
};
inline constexpr auto soft = [](auto x) { return std::tuple{calque::softmax<1>(x), calque::logsumexp<1>(x)}; };
inline constexpr auto soft_gradient = [](auto x, auto dy) {
    auto const y = calque::softmax<1>(x);
    return y * (dy - calque::sum<1>(y * dy, calque::keepdims));
};

template <class F, class... Args>
std::string plan_of(F const& f, Args const&... args) {
    return calque::function(f).plan(args...).text();
}

bool are_folded(std::string const& plan) {
    return plan.find("rows folded together") != std::string::npos;
}

void check_one_walk(std::size_t m, std::size_t n) {
    CAPTURE(m);
    CAPTURE(n);
    auto const x = noise<float, 2>({m, n}, 1), y = noise<float, 2>({m, n}, 2);
    check_fused(sum_of_rows, of_sums(n), x);
    check_fused(largest, equal_bits, x);
    check_fused(smallest, equal_bits, x);
    check_fused(product, closeness{8.0 * static_cast<double>(n)}, x);
    check_fused(length, of_sums(n), x);
    check_fused(dot, of_sums(n), x, y);
    check_fused(distance, equal_bits, x, noise<float, 1>({n}, 3));
    check_fused(shifted, of_sums(n), x, noise<float, 1>({m}, 4));
    check_fused(range_of_rows, equal_bits, x);
    check_fused(moments, of_sums(n), x);
}

void check_walks(std::size_t m, std::size_t n) {
    CAPTURE(m);
    CAPTURE(n);
    auto const x = noise<float, 2>({m, n}, 1), column = noise<float, 2>({m, 1}, 4);
    check_fused(parts, of_sums(n), x);
    check_fused(below_largest, equal_bits, x);
    check_fused(spread, of_sums(n), x);
    check_fused(around, of_sums(4 * n), x, column);
    check_fused(layer_norm, of_sums(n), x, noise<float, 1>({n}, 3), noise<float, 1>({n}, 5));
    check_fused(rescaled, closeness{4, 4}, x, column);
    check_fused(everywhere, of_sums(n), x);
    check_fused(partition, of_sums(n), x);
    check_fused(counted, of_sums(n), x, noise<float, 1>({n}, 3));
    check_fused(soft, of_sums(n), x);
    check_fused(soft_gradient, of_sums(n), x, noise<float, 2>({m, n}, 2));
    check_fused(largest_place, equal_bits, x);
}

template <class T, std::size_t M, std::size_t N>
auto known() {
    xt::xtensor_fixed<T, xt::xshape<M, N>> array;
    tests::fill_with_noise(array.data(), M * N, 1);
    return array;
}

} // namespace

TEST_CASE("floats of any few rows and columns") {
    for (std::size_t const n : some_columns) {
        for (std::size_t const m : some_rows) {
            check_one_walk(m, n);
            check_walks(m, n);
            check_fused(mean_of_integers, of_sums(n), noise<std::int32_t, 2>({m, n}, 1));
        }
    }
}

TEST_CASE("doubles") {
    for (std::size_t const n : {7u, 8u, 9u, 12u, 16u, 17u, 31u, 32u, 33u, 48u, 49u}) {
        for (std::size_t const m : {8u, 13u, 40u}) {
            CAPTURE(m);
            CAPTURE(n);
            auto const x = noise<double, 2>({m, n}, 1);
            check_fused(sum_of_rows, of_sums(n), x);
            check_fused(largest, equal_bits, x);
            check_fused(dot, of_sums(n), x, noise<double, 2>({m, n}, 2));
            check_fused(shifted, of_sums(n), x, noise<double, 1>({m}, 4));
            check_fused(moments, of_sums(n), x);
            check_fused(parts, of_sums(n), x);
            check_fused(spread, of_sums(n), x);
            check_fused(layer_norm, of_sums(n), x, noise<double, 1>({n}, 3), noise<double, 1>({n}, 5));
            check_fused(counted, of_sums(n), x, noise<double, 1>({n}, 3));
            check_fused(soft, of_sums(n), x);
            check_fused(soft_gradient, of_sums(n), x, noise<double, 2>({m, n}, 2));
        }
    }
}

TEST_CASE_TEMPLATE("quotients by what rows have once are rounded correctly, whatever its size", T, float, double) {
    constexpr int exponents[] = {0, -130, 3, 120, -60, -148, 60, 64, -64, 1};
    for (std::size_t const n : {9u, 16u, 33u, 64u, 100u}) {
        for (std::size_t const m : {16u, 41u}) {
            CAPTURE(n);
            CAPTURE(m);
            xtensor<T, 2> x = xtensor<T, 2>::from_shape({m, n}); // small integers times powers of two: sums are exact
            bool const has_zeros = n > 50;
            for (std::size_t i = 0; i < m; ++i) {
                int const exponent = n == 9 ? 0 : exponents[i % std::size(exponents)];
                for (std::size_t j = 0; j < n; ++j) {
                    auto const integer = static_cast<T>((i * 7 + j * 5) % 11);
                    x(i, j) = has_zeros && i % 3 == 0 ? T(0) : std::ldexp(integer, exponent);
                }
            }
            check_fused(parts, equal_bits, x);
        }
    }
}

TEST_CASE("integers and bools") {
    for (std::size_t const n : {7u, 9u, 16u, 17u, 33u, 64u, 100u}) {
        for (std::size_t const m : {16u, 19u, 41u}) {
            CAPTURE(m);
            CAPTURE(n);
            auto const words = noise<std::int32_t, 2>({m, n}, 1);
            auto const longs = noise<std::int64_t, 2>({m, n}, 2);
            auto const x = noise<float, 2>({m, n}, 3);
            check_fused(sum_of_rows, equal_bits, words);
            check_fused(largest, equal_bits, words);
            check_fused(smallest, equal_bits, words);
            check_fused(range_of_rows, equal_bits, words);
            check_fused(sum_of_rows, equal_bits, longs);
            check_fused(largest, equal_bits, longs);
            check_fused(below_largest, equal_bits, longs);
            check_fused(positive, equal_bits, x);
            check_fused(some_positive, equal_bits, x);
            check_fused(largest_place, equal_bits, noise<double, 2>({m, n}, 4));
        }
    }
}

TEST_CASE("NaN and infinities stay in their rows") {
    float const nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    for (std::size_t const n : {6u, 8u, 17u, 33u, 64u, 100u}) {
        for (std::size_t const m : {8u, 19u}) {
            for (std::size_t row = 0; row < m; ++row) {
                auto x = noise<float, 2>({m, n}, 1);
                x(row, (3 * row) % n) = nan;
                x((row + 3) % m, n - 1) = infinity;
                x((row + 5) % m, 0) = -infinity;
                check_fused(largest, equal_bits, x);
                check_fused(smallest, equal_bits, x);
                check_fused(range_of_rows, equal_bits, x);
                check_fused(sum_of_rows, of_sums(n), x);
            }
        }
    }
}

TEST_CASE("an order of rows in memory is none of their sums") {
    auto const f = calque::function(sum_of_rows, {.max_warnings = 0});
    for (std::size_t const n : {8u, 17u, 32u, 33u}) {
        auto const x = noise<float, 2>({41, n + 3}, 1);
        auto const columns = static_cast<extent_t>(n);
        auto const stride = static_cast<extent_t>(n + 3);
        auto const there = calque::array_view(x.data() + 1, {41, columns}, {stride, extent_t{1}});
        auto const back = calque::array_view(x.data() + 1 + 40 * stride, {41, columns}, {-stride, extent_t{1}});
        auto const same = calque::array_view(x.data() + 1, {41, columns}, {extent_t{0}, extent_t{1}});
        xtensor<float, 1> const sums = f(there), sums_back = f(back), of_one = f(same);
        for (std::size_t i = 0; i < 41; ++i) {
            double exact = 0;
            for (std::size_t j = 0; j < n; ++j) {
                exact += x(i, j + 1);
            }
            CHECK(std::abs(sums(i) - exact) < 1e-4);
            CHECK(std::abs(sums_back(40 - i) - exact) < 1e-4);
            CHECK(std::abs(of_one(i) - sums(0)) < 1e-4);
        }
    }
}

TEST_CASE("sums take the place of what is subtracted from them, and of elements apart") {
    auto const f = calque::function(shifted);
    auto const x = noise<float, 2>({29, 20}, 1);
    auto element = noise<float, 1>({29}, 2);
    xtensor<float, 1> const expected = f(x, element);
    xtensor<float, 1> apart = noise<float, 1>({3 * 29}, 3), before = apart;
    f.into(calque::array_view(apart.data(), {29}, {3}), x, element);
    f.into(element, x, element);
    CHECK(element == expected);
    for (std::size_t i = 0; i < 3 * 29; ++i) {
        CHECK(apart(i) == (i % 3 == 0 ? expected(i / 3) : before(i)));
    }
}

TEST_CASE("several walks, in place and to rows with gaps") {
    auto const f = calque::function(layer_norm, {.max_warnings = 0});
    for (std::size_t const n : {7u, 8u, 16u, 17u, 31u, 33u, 64u, 65u, 191u}) {
        for (std::size_t const m : {8u, 21u}) {
            CAPTURE(n);
            auto x = noise<float, 2>({m, n}, 1);
            auto const gain = noise<float, 1>({n}, 2), bias = noise<float, 1>({n}, 3);
            xtensor<float, 2> const expected = f(x, gain, bias);
            auto apart = noise<float, 2>({m, n + 9}, 4);
            auto const before = apart;
            auto const rows = static_cast<extent_t>(m), columns = static_cast<extent_t>(n);
            f.into(calque::array_view(apart.data() + 4, {rows, columns}, {columns + 9, extent_t{1}}), x, gain, bias);
            for (std::size_t i = 0; i < m; ++i) {
                for (std::size_t j = 0; j < n + 9; ++j) {
                    CHECK(apart(i, j) == (j >= 4 && j < n + 4 ? expected(i, j - 4) : before(i, j)));
                }
            }
            f.into(x, x, gain, bias);
            for (std::size_t i = 0; i < m * n; ++i) {
                CHECK(std::abs(x.data()[i] - expected.data()[i]) < 1e-5f);
            }
        }
    }
}

TEST_CASE("extents that the compiler knows") {
    check_fused(moments, of_sums(20), known<float, 24, 20>());
    check_fused(sum_of_rows, of_sums(20), known<float, 19, 20>());
    check_fused(largest, equal_bits, known<float, 8, 6>());
    check_fused(sum_of_rows, of_sums(33), known<double, 11, 33>());
    check_fused(below_largest, equal_bits, known<float, 24, 20>());
    check_fused(spread, of_sums(33), known<float, 13, 33>());
    check_fused(soft, of_sums(44), known<float, 13, 44>());
}

TEST_CASE("a plan says so, of rows that are not too long for it") {
    constexpr bool has_avx512 = calque::simd::register_count == 32;
    CHECK(are_folded(plan_of(sum_of_rows, noise<float, 2>({40, 33}, 1))));
    CHECK(are_folded(plan_of(largest, noise<double, 2>({40, 9}, 1))));
    CHECK(are_folded(plan_of(spread, noise<float, 2>({40, 150}, 1))));
    CHECK(are_folded(plan_of(soft, noise<float, 2>({4096, 64}, 1))));
    CHECK(are_folded(plan_of(spread, noise<double, 2>({40, 150}, 1))) == has_avx512);
    CHECK(are_folded(plan_of(soft_gradient, noise<double, 2>({40, 48}, 1), noise<double, 2>({40, 48}, 2))) ==
          has_avx512);
    CHECK_FALSE(are_folded(plan_of(spread, noise<float, 2>({40, 8}, 1))));
    CHECK_FALSE(are_folded(plan_of(sum_of_rows, noise<float, 2>({40, 3}, 1))));
    CHECK_FALSE(are_folded(plan_of(sum_of_rows, noise<float, 2>({3, 33}, 1))));
    CHECK_FALSE(are_folded(plan_of(sum_of_rows, noise<float, 2>({40, 201}, 1))));
    CHECK_FALSE(are_folded(plan_of(sum_of_rows, noise<float, 2>({4000, 100}, 1))));
}
