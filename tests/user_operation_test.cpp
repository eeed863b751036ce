// SPDX-License-Identifier: MIT
// Operations that users write: values, broadcasts, derivatives of the first and the second order, vmap, both kinds of
// extents.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string_view>

#include "agrees_with_interpreter.hpp"

namespace {

struct hypotenuse {
    static constexpr std::string_view name = "hypotenuse";
    template <class T>
    static T apply(T x, T y) {
        return std::hypot(x, y);
    }
    static constexpr auto vjp(auto dy, auto x, auto y, auto r) { return std::array{dy * x / r, dy * y / r}; }
};

/// No function of the library: a table, and no derivative.
struct digit_weight {
    static constexpr std::string_view name = "digit_weight";
    static int apply(int x) {
        static constexpr int weights[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
        return weights[x % 10];
    }
};

struct cube {
    static constexpr std::string_view name = "cube";
    template <class T>
    static T apply(T x) {
        return x * x * x;
    }
    static constexpr auto vjp(auto dy, auto x, auto) { return dy * 3 * (x * x); }
};

using matrix = xt::xtensor<double, 2>;

inline constexpr auto loss = [](auto x, auto y) { return sum(calque::apply<hypotenuse>(x, y)); };
inline constexpr auto sum_of_cubes = [](auto x) { return sum(calque::apply<cube>(x)); };

} // namespace

TEST_CASE("a function of elements, of arrays that broadcast") {
    auto const f = calque::function([](auto x, auto row, auto n) {
        return std::tuple(calque::apply<hypotenuse>(x, row) + 1, calque::apply<hypotenuse>(x, 2),
                          calque::apply<digit_weight>(n), calque::apply<cube>(transpose(x)));
    });
    for (auto const& extents : {std::array<std::size_t, 2>{0, 3}, {1, 1}, {3, 5}, {31, 33}}) {
        matrix x(extents);
        xt::xtensor<double, 1> row(std::array<std::size_t, 1>{extents[1]});
        xt::xtensor<int, 1> n(std::array<std::size_t, 1>{extents[1]});
        for (std::size_t j = 0; j < extents[1]; ++j) {
            row(j) = std::sin(static_cast<double>(j));
            n(j) = static_cast<int>(j);
            for (std::size_t i = 0; i < extents[0]; ++i) {
                x(i, j) = std::cos(static_cast<double>(i * 7 + j));
            }
        }
        auto const [sums, distances, weights, cubes] = f(x, row, n);
        REQUIRE((sums.shape(0) == extents[0] && cubes.shape(0) == extents[1]));
        bool is_right = true;
        for (std::size_t j = 0; j < extents[1]; ++j) {
            is_right = is_right && weights(j) == digit_weight::apply(n(j));
            for (std::size_t i = 0; i < extents[0]; ++i) {
                is_right = is_right && sums(i, j) == std::hypot(x(i, j), row(j)) + 1 &&
                           distances(i, j) == std::hypot(x(i, j), 2.) && cubes(j, i) == cube::apply(x(i, j));
            }
        }
        CHECK(is_right);
    }
}

TEST_CASE("derivatives and vmap follow from the struct") {
    auto const f = calque::function([](auto x, auto y) {
        auto const [dx, dy] = calque::grad<0, 1>(loss)(x, y);
        auto const second = calque::grad([](auto z) { return sum(calque::grad(sum_of_cubes)(z)); })(x);
        auto const rows =
            calque::vmap<0, calque::unmapped>([](auto a, auto b) { return calque::apply<hypotenuse>(a, b); });
        return std::tuple(dx, dy, second, rows(x, y));
    });
    matrix const x = {{3, 4, -1}, {0.5, 2, 8}};
    xt::xtensor<double, 1> const y = {4, 3, 2};
    auto const [dx, dy, second, mapped] = f(x, y);
    for (std::size_t j = 0; j < 3; ++j) {
        double total = 0;
        for (std::size_t i = 0; i < 2; ++i) {
            double const r = std::hypot(x(i, j), y(j));
            CHECK(dx(i, j) == doctest::Approx(x(i, j) / r));
            CHECK(second(i, j) == doctest::Approx(6 * x(i, j)));
            CHECK(mapped(i, j) == r);
            total += y(j) / r;
        }
        CHECK(dy(j) == doctest::Approx(total));
    }
}

TEST_CASE("in branches and loops, and interpreted") {
    static constexpr auto body = [](auto x) {
        auto const repeated = calque::fori_loop(0, 3, [](auto, auto y) { return calque::apply<hypotenuse>(y, 1); }, x);
        return calque::cond(sum(x) > 0, [&] { return calque::apply<cube>(repeated); }, [&] { return repeated; });
    };
    auto const f = calque::function(body);
    CHECK(tests::agrees_with_interpreter(body, xt::xtensor<double, 1>{1, 2}));
    for (double const sign : {1., -1.}) {
        xt::xtensor<double, 1> const x = {sign * 1, sign * 2};
        for (std::size_t i = 0; i < 2; ++i) {
            double const r = std::sqrt(x(i) * x(i) + 3);
            CHECK(f(x)(i) == doctest::Approx(sign > 0 ? r * r * r : r));
        }
    }
}

TEST_CASE("equal applications are one node, and the text names the operation") {
    constexpr auto g = calque::trace<calque::spec<float, 2>>(
        [](auto x) { return calque::apply<cube>(x) * calque::apply<cube>(x) + calque::apply<cube>(x * 2); });
    std::string const text = g.text();
    CHECK(text.find("apply(%0) cube float[2]") != std::string::npos);
    CHECK(g.size() == 7); // x, its cube, the square of that, 2, 2 x, the cube of that, and the sum
}
