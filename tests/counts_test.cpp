// SPDX-License-Identifier: MIT
// Sums of bools, which count: of comparisons and of what is made of them, along rows, columns and all of an array, with
// gaps, beside other sums, and of more than fits into a byte.
#include "tensor_compare.hpp"

#include <cstdint>
#include <limits>
#include <tuple>

namespace {

using calque::extent_t;
using tests::check_fused;
using tests::closeness;
using tests::equal_bits;
using tests::noise;
using xt::xtensor;

inline constexpr auto positive = [](auto x) { return calque::sum<1>(x > 0); };
inline constexpr auto positive_of_columns = [](auto x) { return calque::sum<0>(x > 0); };
inline constexpr auto all_positive = [](auto x) { return calque::sum(x > 0); };
inline constexpr auto within = [](auto x, auto y) { return calque::sum<1>((x > y) && (x < 1)); };
inline constexpr auto neither = [](auto x, auto y) { return calque::sum<1>(!(x > y) || (y == y)); };
inline constexpr auto of_mask = [](auto mask, auto x) { return calque::sum<1>(mask && (x > 0)); };
inline constexpr auto beside_others = [](auto x, auto n) {
    return std::tuple{calque::sum<1>(x > 0), calque::sum<1>(n), calque::sum<1>(n > 2), calque::sum<1>(x),
                      calque::sum<1>(calque::cast<double>(x) > 0.5)};
};
inline constexpr auto above_mean = [](auto x) { return calque::sum<1>(x > calque::mean<1>(x, calque::keepdims)); };
inline constexpr auto inner_positive = [](auto x) {
    return calque::sum(view(x, calque::range(1, -1), calque::range(1, -1)) > 0);
};

} // namespace

TEST_CASE("bools of any rows") {
    for (std::size_t const n : {1u, 3u, 7u, 8u, 9u, 16u, 31u, 32u, 33u, 63u, 64u, 65u, 100u, 1000u}) {
        for (std::size_t const m : {1u, 4u, 9u, 40u}) {
            CAPTURE(m);
            CAPTURE(n);
            auto const x = noise<float, 2>({m, n}, 1), y = noise<float, 2>({m, n}, 2);
            check_fused(positive, equal_bits, x);
            check_fused(positive, equal_bits, noise<double, 2>({m, n}, 1));
            check_fused(positive, equal_bits, noise<std::int32_t, 2>({m, n}, 1));
            check_fused(positive, equal_bits, noise<std::int16_t, 2>({m, n}, 1));
            check_fused(positive_of_columns, equal_bits, x);
            check_fused(all_positive, equal_bits, x);
            check_fused(within, equal_bits, x, y);
            check_fused(neither, equal_bits, x, y);
            check_fused(of_mask, equal_bits, noise<bool, 2>({m, n}, 3), x);
            check_fused(above_mean, equal_bits, x);
            check_fused(beside_others, closeness{8, 8 * static_cast<double>(n)}, x, noise<std::int32_t, 2>({m, n}, 4));
        }
    }
}

TEST_CASE("bools of the inside of a matrix") {
    for (std::size_t const n : {3u, 9u, 34u, 35u, 70u, 300u}) {
        check_fused(inner_positive, equal_bits, noise<float, 2>({20, n}, 1));
    }
}

TEST_CASE("many of them, and none that are NaN") {
    auto x = xtensor<float, 1>::from_shape({100003});
    x.fill(1);
    CHECK(calque::function([](auto y) { return calque::sum(y > 0.f); })(x) == 100003);
    x.fill(std::numeric_limits<float>::quiet_NaN());
    CHECK(calque::function([](auto y) { return calque::sum(y > 0.f); })(x) == 0);
    CHECK(calque::function([](auto y) { return calque::sum(y != y); })(x) == 100003);
}
