// SPDX-License-Identifier: MIT
// Arrays that are rolled by numbers that the compiler knows, which kernels read where they lie: against the
// interpreter, over shapes, axes, shifts and strides; in place; beside reductions, products and loops; and what plans
// say.
#include "tensor_compare.hpp"

#include <calque/eigen.hpp>

#include <cstdint>
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

inline constexpr auto differences = [](auto x) {
    return std::tuple{x - calque::roll<0>(x, 1), calque::roll<0>(x, 2) - calque::roll<0>(x, -3)};
};
inline constexpr auto stencil = [](auto x) {
    return calque::roll<0>(x, 1) + calque::roll<0>(x, -1) + calque::roll<1>(x, 1) + calque::roll<1>(x, -1) - 4 * x;
};
inline constexpr auto far = [](auto x, auto y) { // around the end more than once, and by nothing
    return calque::roll<0>(x, 5) * calque::roll<1>(y, -70) + calque::roll<1>(x, 0) - calque::roll<-2>(y, 100);
};
inline constexpr auto in_space = [](auto x, auto row, auto column) {
    return std::tuple{calque::roll<0>(x, 1) * x + calque::roll<1>(x, -2) + calque::roll<2>(x, 1),
                      calque::roll<1>(x, 3) * row + column, calque::roll<2>(x, -1) - calque::roll<0>(x, 2)};
};
inline constexpr auto made_before = [](auto x) { // and read by several kernels
    auto const y = exp(x) + 1;
    auto const slope = calque::roll<0>(y, 1) - y;
    return std::tuple{slope, calque::sum<1>(slope), calque::max<0>(slope), calque::matmul(slope, transpose(x)),
                      slope - calque::mean(slope)};
};
inline constexpr auto diagonal = [](auto x) {
    return calque::roll<0>(calque::roll<1>(x, 1), 1) + calque::roll<1>(calque::roll<0>(x, 1), -1) - x;
};
inline constexpr auto of_views = [](auto x) {
    auto const inner = view(x, calque::range(1, calque::to_the_end), calque::range(0, calque::to_the_end, 2));
    return std::tuple{calque::roll<0>(transpose(x), 1) + calque::roll<1>(transpose(x), 1),
                      calque::roll<1>(inner, 1) * inner, calque::roll<0>(calque::flip<0>(x), 2) - x};
};
inline constexpr auto as_output_too = [](auto x) {
    auto const y = calque::roll<0>(x, 1);
    return std::tuple{y, y - x, calque::sum<0>(y), calque::transpose(calque::roll<1>(x, 1))};
};
inline constexpr auto broadcast = [](auto x, auto row) {
    return x + calque::roll<0>(row, 1) * calque::roll<0>(row, -1);
};
inline constexpr auto of_products = [](auto a, auto b) {
    return std::tuple{calque::matmul(a, b) + calque::roll<1>(a, 1), calque::roll<0>(calque::matmul(a, b), 1) * a};
};
inline constexpr auto energy = [](auto x) {
    auto const slope = x - calque::roll<1>(x, 1);
    return calque::sum(slope * slope) + calque::sum(calque::roll<0>(x, -1) * exp(x));
};
inline constexpr auto diffusion = [](auto u) {
    return calque::fori_loop(0, 5, [](auto, auto v) { return v + 0.1 * stencil(v); }, u);
};
inline constexpr auto places = [](auto x) { return calque::roll<0>(x, 1) + calque::arange<float>(x.extent(0)); };

constexpr std::size_t some_extents[] = {1, 2, 3, 8, 31, 48, 65};

std::string plan_of(auto const& f, auto const&... args) {
    return calque::function(f).plan(args...).text();
}

bool contains(std::string const& text, char const* part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("vectors") {
    for (std::size_t const n : {0u, 1u, 2u, 3u, 4u, 15u, 16u, 17u, 100u, 5000u}) {
        CAPTURE(n);
        check_fused(differences, equal_bits, noise<float, 1>({n}, 1));
        check_fused(differences, equal_bits, noise<double, 1>({n}, 1));
        check_fused(differences, equal_bits, noise<std::int32_t, 1>({n}, 1));
        check_fused(differences, equal_bits, noise<float, 2>({n, 3}, 1));
    }
}

TEST_CASE("matrices, along rows and columns") {
    for (std::size_t const m : some_extents) {
        for (std::size_t const n : some_extents) {
            CAPTURE(m);
            CAPTURE(n);
            auto const x = noise<float, 2>({m, n}, 1);
            check_fused(stencil, equal_bits, x);
            check_fused(stencil, equal_bits, noise<double, 2>({m, n}, 2));
            check_fused(far, equal_bits, x, noise<float, 2>({m, n}, 3));
            check_fused(made_before, closeness{64, 64}, noise<float, 2>({m, n}, 4));
            check_fused(diagonal, equal_bits, x);
            check_fused(of_views, equal_bits, noise<float, 2>({m, m}, 1));
            check_fused(as_output_too, closeness{64, 64}, x);
            check_fused(broadcast, equal_bits, x, noise<float, 1>({n}, 5));
        }
    }
    check_fused(stencil, equal_bits, xtensor<float, 2>::from_shape({0, 5}));
    check_fused(stencil, equal_bits, xtensor<float, 2>::from_shape({5, 0}));
    check_fused(stencil, equal_bits, noise<float, 2>({700, 90}, 1));
}

TEST_CASE("three axes") {
    for (std::size_t const k : {1u, 2u, 5u}) {
        for (std::size_t const m : {1u, 4u, 9u}) {
            for (std::size_t const n : {1u, 3u, 17u, 50u}) {
                CAPTURE(k);
                CAPTURE(m);
                CAPTURE(n);
                check_fused(in_space, equal_bits, noise<float, 3>({k, m, n}, 1), noise<float, 1>({n}, 2),
                            noise<float, 2>({m, 1}, 3));
                check_fused(in_space, equal_bits, noise<double, 3>({k, m, n}, 1), noise<double, 1>({n}, 2),
                            noise<double, 2>({m, 1}, 3));
            }
        }
    }
}

TEST_CASE("other orders and gaps") {
    for (std::size_t const n : {3u, 20u, 60u}) {
        CAPTURE(n);
        auto const x = noise<float, 2>({n + 5, n}, 1);
        check_fused(stencil, equal_bits, xt::transpose(x));
        auto const wide = noise<float, 2>({n, 2 * n + 3}, 2);
        check_fused(stencil, equal_bits, xt::view(wide, xt::all(), xt::range(1, n + 1)));
        check_fused(stencil, equal_bits, xt::view(wide, xt::all(), xt::range(0, 2 * n, 2)));
        check_fused(stencil, equal_bits, xt::view(wide, xt::range(n, 0, -1), xt::all()));
        Eigen::MatrixXf const by_columns = Eigen::MatrixXf::Random(static_cast<Eigen::Index>(n), 7);
        check_fused(stencil, equal_bits, by_columns);

        auto const fn = calque::function(stencil, {.max_warnings = 0});
        xtensor<float, 2> const expected = fn(x);
        auto apart = noise<float, 2>({n + 5, n + 4}, 3);
        auto const before = apart;
        auto const rows = static_cast<extent_t>(n + 5), columns = static_cast<extent_t>(n);
        fn.into(calque::array_view(apart.data() + 2, {rows, columns}, {columns + 4, extent_t{1}}), x);
        for (std::size_t i = 0; i < n + 5; ++i) {
            for (std::size_t j = 0; j < n + 4; ++j) {
                CHECK(apart(i, j) == (j >= 2 && j < n + 2 ? expected(i, j - 2) : before(i, j)));
            }
        }
    }
}

TEST_CASE("results that take the place of what is rolled") {
    for (std::size_t const n : {1u, 5u, 64u, 1000u}) {
        CAPTURE(n);
        auto x = noise<float, 2>({3, n}, 1);
        auto const fn = calque::function(stencil, {.max_warnings = 0});
        xtensor<float, 2> const expected = fn(x);
        fn.into(x, x);
        CHECK(x == expected);
        auto v = noise<double, 1>({n + 1}, 1);
        auto const slope = calque::function([](auto y) { return y - calque::roll<0>(y, 1); }, {.max_warnings = 0});
        auto const size = static_cast<extent_t>(n);
        auto const part = calque::array_view(v.data(), {size}, {extent_t{1}});
        xtensor<double, 1> const of_part = slope(part);
        slope.into(calque::array_view(v.data() + 1, {size}, {extent_t{1}}), part); // an element behind it
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(v(i + 1) == of_part(i));
        }
    }
}

TEST_CASE("beside products, in gradients and loops") {
    for (std::size_t const n : {1u, 4u, 33u}) {
        CAPTURE(n);
        auto const a = noise<double, 2>({n, n}, 1), b = noise<double, 2>({n, n}, 2);
        check_fused(of_products, closeness{64, 64}, a, b);
        check_fused(calque::grad(energy), closeness{64, 64}, a);
        check_fused(diffusion, closeness{16, 16}, a);
        check_fused(places, equal_bits, noise<float, 1>({400 * n}, 1));
    }
    check_fused(calque::vmap(differences), equal_bits, noise<float, 2>({7, 60}, 1));
}

TEST_CASE("extents that the compiler knows") {
    xt::xtensor_fixed<float, xt::xshape<8>> few;
    xt::xtensor_fixed<double, xt::xshape<4, 4>> small;
    xt::xtensor_fixed<float, xt::xshape<9, 70>> large;
    tests::fill_with_noise(few.data(), 8, 1);
    tests::fill_with_noise(small.data(), 16, 1);
    tests::fill_with_noise(large.data(), 9 * 70, 1);
    check_fused(differences, equal_bits, few);
    check_fused(stencil, equal_bits, small);
    check_fused(far, equal_bits, small, small);
    check_fused(stencil, equal_bits, large);
    check_fused(made_before, closeness{64, 64}, large);
    check_fused(diffusion, closeness{16, 16}, small);
    check_fused(calque::grad(energy), closeness{64, 64}, small);
}

TEST_CASE("plans say how many ranges there are, and what is copied") {
    CHECK(contains(plan_of(differences, noise<float, 1>({50}, 1)), "50 (in 4 ranges)"));
    CHECK(contains(plan_of(stencil, noise<float, 2>({50, 60}, 1)), "50 x 60 (in 9 ranges)"));
    CHECK(contains(plan_of(stencil, noise<float, 2>({50, 20}, 1)), "1 x 1000 (in 3 ranges)"));
    CHECK(contains(plan_of(stencil, noise<float, 2>({50, 20}, 1)), "rolled"));
    CHECK_FALSE(contains(plan_of(stencil, noise<float, 2>({50, 60}, 1)), "copy"));
    CHECK_FALSE(contains(plan_of(stencil, noise<float, 2>({1, 60}, 1)), "copy"));
}
