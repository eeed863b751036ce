// SPDX-License-Identifier: MIT
// Reductions of several axes whose operands have gaps or are shared by rows or columns: folded piece by piece where
// they lie.
#include "inner_views.hpp"
#include "tensor_compare.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

namespace {

using calque::all;
using calque::range;
using calque::graph::to_the_end;
using tests::check_fused;
using tests::closeness;
using tests::equal_bits;
using tests::inner;
using tests::laplacian;
using tests::noise;
using xt::xtensor;

constexpr std::size_t columns[] = {1, 7, 16, 31, 32, 33, 63, 64, 65, 129, 300};

template <class F, class... Args>
std::string plan_of(F const& f, Args const&... args) {
    return calque::function(f).plan(args...).text();
}

template <class F, class... Args>
void check_in_pieces(F const& f, closeness allowed, Args const&... args) {
    std::string const plan = plan_of(f, args...);
    CAPTURE(plan);
    CHECK(plan.find("(in pieces)") != std::string::npos);
    CHECK(plan.find("copy") == std::string::npos);
    check_fused(f, allowed, args...);
}

template <class T>
constexpr closeness of_sum(std::size_t elements) {
    return {16, 8 * static_cast<double>(elements)};
}

/// Without the first and the last element of each axis.
constexpr auto inner_of_cube(auto x) {
    return view(x, range(1, -1), range(1, -1), range(1, -1));
}

inline constexpr auto sum_of_squares = [](auto x) { return calque::sum(square(inner(x))); };
inline constexpr auto largest_difference = [](auto x, auto y) { return calque::max(abs(inner(x) - inner(y))); };
inline constexpr auto residual = [](auto u) { return calque::sum(square(laplacian(u))); };
inline constexpr auto residual_of_cube = [](auto u) {
    auto const around =
        view(u, range(0, -2), range(1, -1), range(1, -1)) + view(u, range(2, to_the_end), range(1, -1), range(1, -1)) +
        view(u, range(1, -1), range(1, -1), range(0, -2)) + view(u, range(1, -1), range(1, -1), range(2, to_the_end));
    return calque::sum(square(around - 4 * inner_of_cube(u)));
};
inline constexpr auto several_phases = [](auto x) {
    auto const part = inner(x);
    auto const centered = part - calque::mean(part);
    return std::tuple{calque::mean(square(centered)), calque::logsumexp(part), calque::min(part), centered};
};
inline constexpr auto kept_between_phases = [](auto x) {
    auto const e = exp(inner(x) - calque::max(inner(x)));
    return e / calque::sum(e);
};
inline constexpr auto loss = [](auto x, auto row, auto column, auto y) {
    return calque::mean(square(x * row + column - y));
};
inline constexpr auto product_of_edges = [](auto row, auto column) {
    return std::tuple{calque::sum(row * column), calque::max(column - row)};
};
inline constexpr auto of_planes = [](auto x) {
    auto const part = inner_of_cube(x);
    return std::tuple{calque::sum<1, 2>(part), part - calque::mean<1, 2>(part, calque::keepdims)};
};
inline constexpr auto total = [](auto x) { return calque::sum(x); };

} // namespace

TEST_CASE_TEMPLATE("views with gaps", T, float, double) {
    for (std::size_t const n : columns) {
        for (std::size_t const rows : {1u, 2u, 9u}) {
            CAPTURE(n);
            CAPTURE(rows);
            auto const x = noise<T, 2>({rows + 2, n + 2}, 1), y = noise<T, 2>({rows + 2, n + 2}, 2);
            closeness const allowed = of_sum<T>(rows * n);
            check_fused(largest_difference, equal_bits, x, y);
            check_fused(residual, {16, 400 * static_cast<double>(rows * n)}, x);
            check_fused(several_phases, allowed, x);
            check_fused(kept_between_phases, {64, 0}, x);
        }
    }
    auto const x = noise<T, 2>({20, 202}, 1), y = noise<T, 2>({20, 202}, 2);
    check_in_pieces(largest_difference, equal_bits, x, y);
    check_in_pieces(residual, {16, 1e6}, x);
    check_in_pieces(several_phases, of_sum<T>(4000), x);
    check_in_pieces(kept_between_phases, {64, 0}, x);
}

TEST_CASE_TEMPLATE("sums of integers and narrow types", T, std::int64_t, std::uint8_t) {
    for (std::size_t const n : {31u, 64u, 100u, 129u}) {
        CAPTURE(n);
        auto const x = noise<T, 2>({7, n + 2}, 1), y = noise<T, 2>({7, n + 2}, 2);
        check_in_pieces(
            [](auto a, auto b) {
                return std::tuple{calque::sum(inner(a) * inner(b)), calque::max(inner(a) - inner(b))};
            },
            equal_bits, x, y);
    }
}

TEST_CASE("views in a call") {
    for (std::size_t const n : {40u, 65u, 200u}) {
        CAPTURE(n);
        auto const x = noise<float, 2>({30, n + 5}, 1);
        auto const part = xt::view(x, xt::range(1, 20), xt::range(2, n + 2));
        check_in_pieces(total, of_sum<float>(19 * n), part);
        auto const every_second_row = xt::view(x, xt::range(0, 30, 2), xt::range(0, n));
        check_in_pieces(total, of_sum<float>(15 * n), every_second_row);
        check_in_pieces([](auto a, auto b) { return calque::max(a - b); }, equal_bits, part,
                        xt::xtensor<float, 2>(noise<float, 2>({19, n}, 2)));
        auto const apart = static_cast<calque::extent_t>(n + 5);
        auto const rows_flipped = calque::array_view(x.data() + 29 * apart, {30, apart - 5}, {-apart, 1});
        check_in_pieces(total, of_sum<float>(30 * n), rows_flipped);
        check_fused(total, of_sum<float>(30 * n), calque::array_view(x.data(), {30, apart - 5}, {1, 0}));
        check_in_pieces(total, of_sum<float>(30 * n), calque::array_view(x.data(), {30, apart - 5}, {0, 1}));
    }
}

TEST_CASE_TEMPLATE("any number of pieces of a few columns", T, float, double) {
    for (std::size_t const n : {8u, 9u, 15u, 16u, 17u, 25u, 40u}) {
        for (std::size_t const m : {1u, 2u, 3u, 4u, 5u, 7u, 9u, 30u}) {
            CAPTURE(n);
            CAPTURE(m);
            auto const x = noise<T, 2>({m + 2, n + 2}, 1), y = noise<T, 2>({m + 2, n + 2}, 2);
            check_fused(sum_of_squares, of_sum<T>(m * n), x);
            check_fused(largest_difference, equal_bits, x, y);
        }
    }
}

TEST_CASE("what rows and columns share") {
    using T = float;
    for (std::size_t const n : columns) {
        for (std::size_t const rows : {1u, 2u, 13u}) {
            CAPTURE(n);
            CAPTURE(rows);
            auto const x = noise<T, 2>({rows, n}, 1), y = noise<T, 2>({rows, n}, 2), column = noise<T, 2>({rows, 1}, 4);
            auto const row = noise<T, 1>({n}, 3);
            closeness const allowed{16, 64};
            check_fused(loss, allowed, x, row, column, y);
            check_fused(loss, allowed, row, x, x, column);
            check_fused(product_of_edges, of_sum<T>(rows * n), row, column);
        }
    }
    auto const x = noise<T, 2>({20, 100}, 1), y = noise<T, 2>({20, 100}, 2), column = noise<T, 2>({20, 1}, 4);
    auto const row = noise<T, 1>({100}, 3);
    check_in_pieces(loss, {16, 64}, x, row, column, y);
    check_in_pieces(product_of_edges, of_sum<T>(2000), row, column);
    auto const known = calque::with_shape<20, 100>(x);
    check_in_pieces([](auto a, auto b) { return calque::sum(square(a - b)); }, of_sum<T>(4000), known,
                    calque::with_shape<20, 1>(column));
    check_in_pieces([](auto a, auto b) { return calque::sum(square(a - b)); }, of_sum<T>(4000), known,
                    calque::with_shape<100>(row));
}

TEST_CASE("three axes, along which no one stride leads") {
    using T = double;
    for (std::size_t const n : {1u, 16u, 33u, 70u}) {
        CAPTURE(n);
        auto const x = noise<T, 3>({5, 6, n + 2}, 1);
        check_fused(residual_of_cube, {16, 5000 * static_cast<double>(n)}, x);
        check_fused(of_planes, of_sum<T>(4 * n), x);
        check_fused([](auto a, auto of_plane, auto row) { return calque::sum(tanh(a * of_plane + row)); },
                    of_sum<T>(30 * n), x, noise<T, 3>({5, 1, n + 2}, 2), noise<T, 3>({1, 6, 1}, 3));
    }
    auto const x = noise<T, 3>({7, 9, 102}, 1);
    check_in_pieces(residual_of_cube, {16, 1e6}, x);
    check_in_pieces(of_planes, of_sum<T>(700), x);
}

TEST_CASE("an operand whose columns stand apart is copied, the others are not") {
    auto const x = noise<float, 2>({12, 102}, 1);
    auto const y = noise<float, 2>({100, 10}, 2);
    auto const f = [](auto a, auto b) { return calque::sum(inner(a) * calque::transpose(b)); };
    check_fused(f, of_sum<float>(4000), x, y);
    std::string const plan = plan_of(f, x, y);
    CAPTURE(plan);
    CHECK(plan.find("(in pieces)") != std::string::npos);
    CHECK(plan.find("copy") == plan.rfind("copy"));
    CHECK(plan.find("copy") != std::string::npos);
}

TEST_CASE("short pieces are copied") {
    CHECK(plan_of(sum_of_squares, noise<float, 2>({20, 4}, 1)).find("(in pieces)") == std::string::npos);
    CHECK(plan_of(total, noise<float, 2>({20, 100}, 1)).find("(in pieces)") == std::string::npos); // it has none
}

TEST_CASE("NaN and infinities in any piece") {
    float const nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    for (std::size_t const at : {103u, 140u, 202u, 305u}) {
        CAPTURE(at);
        for (float const special : {nan, infinity, -infinity}) {
            auto x = noise<float, 2>({5, 102}, 1);
            x.data()[at] = special;
            check_in_pieces(
                [](auto a) {
                    return std::tuple{calque::max(inner(a)), calque::min(inner(a)), calque::sum(square(inner(a)))};
                },
                of_sum<float>(1000), x);
        }
    }
}

TEST_CASE("places in a view") {
    auto x = noise<float, 2>({9, 102}, 1);
    x(4, 77) = 100;
    check_fused([](auto a) { return calque::argmax<0>(calque::reshape(inner(a), 700)); }, equal_bits, x);
    check_fused([](auto a) { return calque::sum(inner(a) * calque::reshape(calque::arange<float>(700), 7, 100)); },
                {16, 1e6}, x);
}

TEST_CASE("a result takes the place of an operand") {
    auto x = noise<float, 2>({9, 100}, 1);
    auto const row = noise<float, 1>({100}, 2);
    auto const f = [](auto a, auto b) { return a + b - calque::mean(a + b); };
    xtensor<float, 2> const expected = calque::function(f)(x, row);
    calque::function(f).into(x, x, row);
    CHECK(x == expected);
}

TEST_CASE("gradients of a norm of views") {
    auto const u = noise<double, 2>({10, 70}, 1);
    auto gradient = calque::function(calque::grad(residual));
    auto value = calque::function(residual);
    xtensor<double, 2> const g = gradient(u);
    for (std::size_t const at : {75u, 200u, 411u, 699u}) {
        auto up = u, down = u;
        up.data()[at] += 1e-5;
        down.data()[at] -= 1e-5;
        CHECK(g.data()[at] == doctest::Approx((value(up) - value(down)) / 2e-5).epsilon(1e-6));
    }
}
