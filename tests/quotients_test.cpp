// SPDX-License-Identifier: MIT
// Quotients, by numbers that a call, a row or the program has once among others: the bits of C++'s, whichever kernel
// divides.
#include "tensor_compare.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>

namespace {

using calque::keepdims;
using tests::noise;
using xt::xtensor;

inline constexpr auto by_argument = [](auto x, auto s) { return x / s; };
inline constexpr auto by_constant = [](auto x) { return (x - 0.5) / 255; };
inline constexpr auto by_column = [](auto x, auto k) { return abs(x) / k; };
inline constexpr auto by_maximum = [](auto x) { return x / calque::max<1>(x, keepdims); };
inline constexpr auto greatest = [](auto x, auto s) {
    return std::tuple{calque::max(x / s), calque::max<0>(x / s), calque::max<1>(x / s)};
};
inline constexpr auto by_matrix = [](auto x, auto y) { return std::tuple{x / y, calque::max<0>(x / y), y / (x + 2)}; };
inline constexpr auto by_product = [](auto x, auto y) { return abs(x) / (x * y * y + 3); };
inline constexpr auto root = [](auto x, auto s) { return sqrt(abs(x)) / s; };

/// A matrix of which some elements are zeros, infinite, or so small or large that a quotient is not a normal number.
template <class T>
xtensor<T, 2> matrix(std::size_t rows, std::size_t columns) {
    using limits = std::numeric_limits<T>;
    xtensor<T, 2> x = noise<T, 2>({rows, columns}, 3);
    T const others[] = {0, -T(0), limits::infinity(), limits::denorm_min(), limits::min(), -limits::max()};
    for (std::size_t i = 5; i < x.size(); i += 1 + i % 97) {
        x.data()[i] = others[i % 6];
    }
    return x;
}

} // namespace

TEST_CASE_TEMPLATE("quotients by one number have the bits of C++'s", T, float, double) {
    auto const f = calque::function(by_argument);
    for (std::size_t const columns : {1u, 7u, 16u, 17u, 33u, 64u, 100u, 257u, 1000u}) {
        xtensor<T, 2> const x = matrix<T>(11, columns);
        for (T const s : {T(3), T(-0.1), T(255), T(1e-25), T(0), std::numeric_limits<T>::infinity()}) {
            CAPTURE(columns);
            CAPTURE(s);
            xtensor<T, 2> const quotients = f(x, s);
            bool are_right = true;
            for (std::size_t i = 0; i < x.size(); ++i) {
                T const expected = x.data()[i] / s, is = quotients.data()[i];
                are_right &= std::isnan(expected) ? std::isnan(is)
                                                  : is == expected && std::signbit(is) == std::signbit(expected);
            }
            CHECK(are_right);
        }
    }
}

TEST_CASE_TEMPLATE("every kernel divides as the interpreter does", T, float, double) {
    for (std::size_t const rows : {1u, 3u, 40u, 333u}) {
        for (std::size_t const columns : {1u, 5u, 16u, 31u, 64u, 65u, 300u}) {
            CAPTURE(rows);
            CAPTURE(columns);
            xtensor<T, 2> const x = matrix<T>(rows, columns);
            xtensor<T, 2> const k = noise<T, 2>({rows, 1}, 4);
            tests::check_fused(by_constant, tests::equal_bits, x);
            tests::check_fused(by_column, tests::equal_bits, x, k);
            tests::check_fused(by_maximum, tests::equal_bits, x);
            tests::check_fused(greatest, tests::equal_bits, x, T(-1.7));
            tests::check_fused(root, tests::equal_bits, x, T(0.3));
            xtensor<T, 2> const y = noise<T, 2>({rows, columns}, 5);
            tests::check_fused(by_matrix, tests::equal_bits, x, y);
            tests::check_fused(by_matrix, tests::equal_bits, y, x);
            tests::check_fused(by_product, tests::equal_bits, x, y);
        }
    }
}
