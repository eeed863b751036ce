// SPDX-License-Identifier: MIT
// Elementwise kernels give the interpreter's bits: each dtype, all of them in one kernel, every function.
#include "tensor_compare.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

namespace {

using calque::cast;
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
    return std::tuple{chosen, wide,          counted,          flags, where(flags, u, cast<std::uint8_t>(i)),
                      x != x, cast<bool>(i), cast<float>(wide)};
};

/// What all numbers have in common.
template <class T>
struct arithmetic {
    constexpr auto operator()(auto x, auto y) const {
        auto const sum = x + y * x - square(y);
        auto const bounded = minimum(maximum(x, y), x * 3);
        auto const condition = (sum > bounded) | (x == y);
        return std::tuple{sum, where(condition, -x, abs(y)), x / y, cast<double>(bounded) * 0.5,
                          cast<std::int8_t>(sum <= x)};
    }
};

inline constexpr auto functions = [](auto x) {
    auto const positive = abs(x) + 0.25;
    return std::tuple{exp(x) - tanh(x) * sigmoid(x),
                      log(positive) + log1p(positive),
                      sin(x) * cos(x) + erf(x),
                      sqrt(x) + rsqrt(positive),
                      pow(positive, x),
                      expm1(x) * relu(x)};
};

/// Indices of every width, which the kernel counts: as they are, and in folds.
inline constexpr auto counting = [](auto x) {
    auto const n = x.extent(0);
    auto const time = calque::arange<float>(n) * 0.25f;
    auto const places = calque::arange<std::int32_t>(n);
    return std::tuple{sin(time) * x,
                      where(places % 3 == 0, x, -x),
                      cast<std::int8_t>(calque::arange<std::int64_t>(n)),
                      calque::arange<double>(n) - cast<double>(x),
                      calque::argmax<0>(x),
                      calque::argmin<0>(abs(x)),
                      calque::sum(where(places > 7, 1, 0)),
                      exp(-time) + cast<float>(places)};
};

template <class T>
void check_arithmetic() {
    CAPTURE(calque::name_of(calque::dtype_of<T>));
    for (std::size_t const n : {1u, 16u, 67u}) {
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

TEST_CASE("indices of vectors are counted, not stored") {
    for (std::size_t const n : lengths) {
        if (n == 0) {
            continue; // argmax has no value
        }
        CAPTURE(n);
        xtensor<float, 1> x = noise<float, 1>({n}, 1);
        check_fused(counting, equal_bits, x);
        x(n - 1) = NAN;
        check_fused(counting, equal_bits, x);
        auto const view = xt::view(x, xt::range(0, static_cast<std::ptrdiff_t>(n), 2)); // and of elements apart
        check_fused([](auto v) { return calque::arange<float>(v.extent(0)) * v; }, equal_bits, view);
    }
    auto const schedule = calque::trace<calque::spec<float, calque::dyn>>(counting).schedule();
    CAPTURE(schedule);
    CHECK(schedule.find("stores iota") == std::string::npos);
}

TEST_CASE("all dtypes in one kernel") {
    for (std::size_t const n : lengths) {
        CAPTURE(n);
        check_fused(mixed, equal_bits, noise<float, 1>({n}, 1), noise<double, 1>({n}, 2),
                    noise<std::int32_t, 1>({n}, 3), noise<std::uint8_t, 1>({n}, 4), noise<bool, 1>({n}, 5));
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
        for (std::size_t const n : {1u, 17u, 64u, 75u, 200u}) {
            xtensor<T, 1> x = noise<T, 1>({n}, 7);
            check_fused(functions, equal_bits, x);
            T const edges[] = {
                T(0),          T(-0.),           limits::infinity(), -limits::infinity(),  limits::quiet_NaN(),
                limits::max(), limits::lowest(), limits::min(),      limits::denorm_min(), -limits::denorm_min(),
                T(88.8),       T(-104)};
            for (std::size_t i = 0; i < n; ++i) {
                x(i) = edges[(i * 5 + n) % std::size(edges)];
            }
            check_fused(functions, equal_bits, x);
        }
    };
    check(0.f);
    check(0.);
}

TEST_CASE("functions over rows by themselves have the bits of one row") {
    auto const program = [](auto x, auto c) { return tanh(x * c) * sigmoid(x) - log(exp(x) + abs(c)); };
    auto const by_rows = calque::function(program, {.max_warnings = 0});
    auto const of_row = calque::function(program, {.max_warnings = 0});
    constexpr std::size_t rows = 5; // too few to be joined
    for (std::size_t const columns : {1u,  15u, 16u, 17u, 31u,  32u,  33u,  48u,  49u,  63u, 64u,
                                      65u, 80u, 81u, 97u, 113u, 128u, 129u, 161u, 200u, 300u}) {
        CAPTURE(columns);
        auto const x = noise<float, 2>({rows, columns}, 11);
        auto const c = noise<float, 2>({rows, 1}, 12);
        xtensor<float, 2> const y = by_rows(x, calque::with_shape<calque::dyn, 1>(c));
        for (std::size_t i = 0; i < rows; ++i) {
            xtensor<float, 1> const row = xt::view(x, i, xt::all());
            xtensor<float, 1> const expected = of_row(row, c(i, 0));
            for (std::size_t j = 0; j < columns; ++j) {
                CHECK(tests::is_close(y(i, j), expected(j), equal_bits));
            }
        }
    }
}

TEST_CASE("sums of functions over any number of elements") {
    auto const of_all = calque::function([](auto x) { return sum(log(abs(x) + 1) * 2); }, {.max_warnings = 0});
    auto const of_rows =
        calque::function([](auto x) { return calque::sum<1>(log(abs(x) + 1) * 2); }, {.max_warnings = 0});
    for (std::size_t const n : {1u, 16u, 31u, 63u, 64u, 65u, 100u, 127u, 128u, 129u, 200u, 300u}) {
        CAPTURE(n);
        auto const x = noise<float, 2>({3, n}, 13);
        xtensor<float, 1> const sums = of_rows(x);
        for (std::size_t i = 0; i < 3; ++i) {
            xtensor<float, 1> const row = xt::view(x, i, xt::all());
            double expected = 0;
            for (float const element : row) {
                expected += 2 * std::log(std::abs(double{element}) + 1);
            }
            CHECK(std::abs(double{sums(i)} - expected) <= 1e-6 * expected);
            CHECK(std::abs(double{of_all(row)} - expected) <= 1e-6 * expected);
        }
    }
}
