// SPDX-License-Identifier: MIT
// Elementwise kernels give the interpreter's bits: all dtypes mixed, every length, every layout, every broadcast.
#include "tensor_compare.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

namespace {

using calque::cast;
using calque::dim;
using calque::with_shape;
using tests::check_fused;
using tests::equal_bits;
using tests::noise;
using xt::xtensor;

constexpr std::size_t lengths[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 1000};

/// Lanes of 1, 4 and 8 bytes in one kernel: masks, conversions and selections between all of them.
inline constexpr auto mixed = [](auto x, auto d, auto i, auto u, auto b) {
    auto const smaller = (x < 0.5f) & b;
    auto const chosen = where(smaller, x * 2 + 1, cast<float>(i) - x);
    auto const wide = cast<double>(chosen) * d + cast<double>(u);
    auto const counted = cast<std::int64_t>(i) * 3 - cast<std::int64_t>(cast<std::int16_t>(u));
    auto const flags = (wide >= d) | !(cast<std::int32_t>(u) == i);
    return std::tuple{chosen,  wide,   counted,         flags, where(flags, u, cast<std::uint8_t>(i)),
                      x != x,  cast<bool>(i), cast<float>(wide)};
};

/// What all numbers have in common.
template <class T>
struct arithmetic {
    constexpr auto operator()(auto x, auto y) const {
        auto const sum = x + y * x - square(y);
        auto const bounded = minimum(maximum(x, y), x * 3);
        auto const condition = (sum > bounded) | (x == y);
        return std::tuple{sum, where(condition, -x, abs(y)), x / y, cast<double>(bounded) * 0.5, cast<std::int8_t>(sum <= x)};
    }
};

inline constexpr auto functions = [](auto x) {
    auto const positive = abs(x) + 0.25;
    return std::tuple{exp(x) - tanh(x) * sigmoid(x), log(positive) + log1p(positive), sin(x) * cos(x) + erf(x),
                      sqrt(x) + rsqrt(positive),     pow(positive, x),                expm1(x) * relu(x)};
};

inline constexpr auto broadcast = [](auto full, auto row, auto column, auto scalar) {
    auto const outer = row * column + scalar;
    return std::tuple{tanh(full * row + column) - scalar, outer, full + square(row) * exp(column)};
};

inline constexpr auto three_axes = [](auto full, auto middle, auto last_two) {
    return full * exp(middle) + sqrt(abs(last_two)) - middle * last_two;
};

inline constexpr auto chain = [](auto x, auto y) { return tanh(x * y + 0.5f) * sigmoid(x) - 0.25f * y; };

template <class T>
void check_arithmetic() {
    CAPTURE(calque::name_of(calque::dtype_of<T>));
    for (std::size_t const n : {1, 16, 67}) {
        xtensor<T, 1> x = noise<T, 1>({n}, 1);
        xtensor<T, 1> y = noise<T, 1>({n}, 2);
        x(0) = std::numeric_limits<T>::max();
        y(0) = 3;
        if constexpr (std::floating_point<T>) {
            y(n - 1) = T(-0.);
            x(n / 2) = std::numeric_limits<T>::quiet_NaN();
        } else {
            y = xt::where(xt::equal(y, T(0)), T(5), y);
        }
        check_fused(arithmetic<T>{}, equal_bits, x, y);
    }
}

} // namespace

TEST_CASE("all dtypes in one kernel") {
    for (std::size_t const n : lengths) {
        CAPTURE(n);
        check_fused(mixed, equal_bits, noise<float, 1>({n}, 1), noise<double, 1>({n}, 2), noise<std::int32_t, 1>({n}, 3),
                    noise<std::uint8_t, 1>({n}, 4), noise<bool, 1>({n}, 5));
    }
}

TEST_CASE("arithmetic, each dtype") {
    check_arithmetic<std::int8_t>();
    check_arithmetic<std::int16_t>();
    check_arithmetic<std::int32_t>();
    check_arithmetic<std::int64_t>();
    check_arithmetic<std::uint8_t>();
    check_arithmetic<std::uint32_t>();
    check_arithmetic<std::uint64_t>();
    check_arithmetic<float>();
    check_arithmetic<double>();
}

TEST_CASE("functions, ordinary numbers and the edges of the dtype") {
    auto const check = [](auto zero) {
        using T = decltype(zero);
        using limits = std::numeric_limits<T>;
        for (std::size_t const n : {1, 17, 64, 75}) {
            xtensor<T, 1> x = noise<T, 1>({n}, 7);
            check_fused(functions, equal_bits, x);
            T const edges[] = {T(0), T(-0.), limits::infinity(), -limits::infinity(), limits::quiet_NaN(), limits::max(),
                               limits::lowest(), limits::min(), limits::denorm_min(), -limits::denorm_min(), T(88.8), T(-104)};
            for (std::size_t i = 0; i < n; ++i) {
                x(i) = edges[(i * 5 + n) % std::size(edges)];
            }
            check_fused(functions, equal_bits, x);
        }
    };
    check(0.f);
    check(0.);
}

TEST_CASE("every length, contiguous and strided") {
    for (std::size_t const n : lengths) {
        CAPTURE(n);
        xtensor<float, 1> const x = noise<float, 1>({2 * n + 3}, 1), y = noise<float, 1>({2 * n + 3}, 2);
        check_fused(chain, equal_bits, xtensor<float, 1>(xt::view(x, xt::range(0, n))),
                    xtensor<float, 1>(xt::view(y, xt::range(0, n))));
        check_fused(chain, equal_bits, xt::view(x, xt::range(1, 2 * n + 1, 2)), xt::view(y, xt::range(3, n + 3)));
        check_fused(chain, equal_bits, std::span<float const>(x.data() + 1, n), std::vector<float>(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(n)));
    }
    check_fused(chain, equal_bits, xt::xtensor_fixed<float, xt::xshape<17>>(noise<float, 1>({17}, 1)),
                xt::xtensor_fixed<float, xt::xshape<17>>(noise<float, 1>({17}, 2)));
}

TEST_CASE("matrices in every layout") {
    xtensor<float, 2> const x = noise<float, 2>({65, 130}, 1), y = noise<float, 2>({130, 65}, 2);
    xtensor<float, 2, xt::layout_type::column_major> const z = noise<float, 2>({65, 130}, 3);
    check_fused(chain, equal_bits, x, xt::transpose(y));
    check_fused(chain, equal_bits, x, z);
    check_fused(chain, equal_bits, xt::transpose(y), z);
    check_fused(chain, equal_bits, xt::view(x, xt::range(0, 65, 3), xt::all()), xt::view(z, xt::range(5, 27), xt::all()));
    check_fused(chain, equal_bits, xt::view(x, xt::all(), xt::range(1, 64)), xt::view(y, xt::range(0, 65), xt::range(0, 63)));
    check_fused(chain, equal_bits, xt::view(x, xt::all(), xt::range(0, 130, 2)), xt::view(z, xt::all(), xt::range(65, 130)));
    check_fused(chain, equal_bits, x, xt::view(x, xt::range(7, 8), xt::all()));
    check_fused(chain, equal_bits, xt::view(x, xt::all(), xt::range(3, 4)), z);
}

TEST_CASE("broadcasts of dynamic extents, some of which are 1") {
    for (std::size_t const rows : {0, 1, 3, 17}) {
        for (std::size_t const columns : {0, 1, 16, 33, 70}) {
            CAPTURE(rows);
            CAPTURE(columns);
            check_fused(broadcast, equal_bits, noise<float, 2>({rows, columns}, 1), noise<float, 1>({columns}, 2),
                        noise<float, 2>({rows, 1}, 3), 0.5f);
            check_fused(broadcast, equal_bits, noise<float, 2>({1, columns}, 1), noise<float, 1>({1}, 2),
                        noise<float, 2>({rows, columns}, 3), -2.f);
        }
    }
}

TEST_CASE("broadcasts of static and named extents") {
    for (std::size_t const rows : {1, 5, 64}) {
        xtensor<float, 2> const full = noise<float, 2>({rows, 33}, 1), column = noise<float, 2>({rows, 1}, 2);
        xtensor<float, 1> const row = noise<float, 1>({33}, 3);
        check_fused(broadcast, equal_bits, with_shape<dim("rows"), 33>(full), with_shape<33>(row),
                    with_shape<dim("rows"), 1>(column), 0.25f);
        xtensor<float, 2> const tall = noise<float, 2>({33, rows}, 4);
        check_fused(broadcast, equal_bits, with_shape<dim("rows"), 33>(xt::transpose(tall)), with_shape<33>(row),
                    with_shape<dim("rows"), 1>(xt::view(full, xt::all(), xt::range(2, 3))), 0.25f);
    }
}

TEST_CASE("three axes") {
    for (auto const& e : {std::array<std::size_t, 3>{2, 3, 40}, {5, 1, 17}, {1, 7, 16}, {4, 0, 3}, {3, 5, 1}}) {
        xtensor<double, 3> const full = noise<double, 3>(e, 1);
        xtensor<double, 3> const middle = noise<double, 3>({1, e[1], 1}, 2);
        xtensor<double, 2> const last_two = noise<double, 2>({e[1], e[2]}, 3);
        check_fused(three_axes, equal_bits, full, middle, last_two);
        xtensor<double, 3> const turned = noise<double, 3>({e[2], e[0], e[1]}, 4);
        check_fused(three_axes, equal_bits, xt::transpose(turned, std::array<std::size_t, 3>{1, 2, 0}), middle, last_two);
    }
}
