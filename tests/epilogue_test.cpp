// SPDX-License-Identifier: MIT
// Products with work on the result, which gets it tile by tile or all tiles of a few rows together, against the
// interpreter.
#include "tensor_compare.hpp"

#include <cstddef>
#include <tuple>

namespace {

using tests::check_fused;
using tests::closeness;
using tests::noise;
using xt::xtensor;

struct extents {
    std::size_t m, k, n;
};

// Of one tile beside each other and of many, the last one narrow, cut off or whole; of one band and of many, the last
// one cut off; B in L1 and not; a band of more than its buffer.
constexpr extents sizes[]{{7, 10, 128},  {784, 10, 128}, {13, 5, 32},  {6, 3, 31},   {1, 4, 48},
                          {25, 64, 96},  {20, 3, 36},    {11, 8, 340}, {11, 8, 350}, {31, 80, 127},
                          {40, 90, 128}, {14, 1, 64},    {29, 0, 64},  {9, 12, 16},  {50, 7, 17}};

inline constexpr auto biased = [](auto a, auto b, auto row) { return maximum(matmul(a, b) + row, 0); };
inline constexpr auto with_column = [](auto a, auto b, auto column) {
    return matmul(a, b) * calque::expand_dims<1>(column);
};
/// The gradient of weights and their update, as an optimiser makes it: w and its mean in, both out.
inline constexpr auto update = [](auto w, auto mean, auto x, auto dz) {
    auto const new_mean = mean * 0.5 + matmul(transpose(x), dz) * 0.25;
    return std::tuple{w - new_mean * 0.125, new_mean};
};

} // namespace

TEST_CASE_TEMPLATE("products with work on the result", T, float, double) {
    for (extents const& e : sizes) {
        std::size_t const m = e.m, k = e.k, n = e.n;
        CAPTURE(m);
        CAPTURE(k);
        CAPTURE(n);
        closeness const allowed{4, 4. * static_cast<double>(k + 1)};
        auto const a = noise<T, 2>({m, k}, 1), b = noise<T, 2>({k, n}, 2), w = noise<T, 2>({m, n}, 4);
        check_fused(biased, allowed, a, b, noise<T, 1>({n}, 3));
        check_fused(with_column, allowed, a, b, noise<T, 1>({m}, 3));
        check_fused(update, allowed, w, noise<T, 2>({m, n}, 5), noise<T, 2>({k, m}, 6), b);
        // Operands with gaps between rows.
        auto const wide = noise<T, 2>({m, n + 3}, 7);
        check_fused(update, allowed, xt::view(wide, xt::all(), xt::range(0, n)), w, noise<T, 2>({k, m}, 6), b);
        check_fused(biased, allowed, xt::view(noise<T, 2>({m, k + 1}, 1), xt::all(), xt::range(0, k)), b,
                    noise<T, 1>({n}, 3));
    }
}

TEST_CASE("weights are updated in place") {
    auto const f = calque::function(update);
    auto w = noise<float, 2>({784, 128}, 1), mean = noise<float, 2>({784, 128}, 2);
    auto const x = noise<float, 2>({10, 784}, 3), dz = noise<float, 2>({10, 128}, 4);
    auto const [expected_w, expected_mean] = f(w, mean, x, dz);
    f.into(std::tie(w, mean), w, mean, x, dz);
    CHECK(w == expected_w);
    CHECK(mean == expected_mean);
}
