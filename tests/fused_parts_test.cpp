// SPDX-License-Identifier: MIT
// Operands that a kernel cannot read as they lie, so large that they are copied and used part by part, against the
// interpreter.
#include "tensor_compare.hpp"

#include <string>
#include <tuple>

namespace {

using calque::dyn;
using tests::check_fused;
using tests::closeness;
using tests::equal_bits;
using tests::noise;
using xt::xtensor;

using matrix = xtensor<float, 2>;
using vector = xtensor<float, 1>;

struct size {
    std::size_t rows, columns;
};

// Of one part and of many, the last cut off; with rows shorter and longer than registers.
constexpr size sizes[]{{1, 5000}, {5000, 1}, {16, 300}, {17, 300}, {100, 100}, {65, 130}, {1000, 5}, {33, 257}};

inline constexpr auto sums = [](auto a, auto b) { return a + transpose(b); };
inline constexpr auto with_broadcasts = [](auto a, auto b, auto row, auto column) {
    auto const y = (a - transpose(b)) * row + expand_dims<1>(column);
    return std::tuple{y, tanh(y)};
};
inline constexpr auto row_programs = [](auto a, auto b) {
    auto const x = transpose(b);
    return std::tuple{softmax(a * x), calque::sum<1>(a - x), calque::argmax<1>(x), calque::mean(a + x)};
};
template <int Classes>
inline constexpr auto places = [](auto labels, auto b) {
    return transpose(b) * 2.f + calque::one_hot<float>(labels, Classes);
};
inline constexpr auto of_three = [](auto a, auto b) {
    return std::tuple{a + calque::transpose<2, 0, 1>(b), calque::sum<-1>(a * calque::transpose<2, 0, 1>(b)),
                      expand_dims<0>(a) * expand_dims<0>(calque::transpose<2, 0, 1>(b))};
};

} // namespace

TEST_CASE("elementwise work on a transpose") {
    for (size const& of : sizes) {
        std::size_t const rows = of.rows;
        std::size_t const columns = of.columns;
        CAPTURE(rows);
        CAPTURE(columns);
        matrix const a = noise<float, 2>({rows, columns}, 1);
        matrix const b = noise<float, 2>({columns, rows}, 2);
        check_fused(sums, equal_bits, a, b);
        check_fused(with_broadcasts, equal_bits, a, b, noise<float, 1>({columns}, 3), noise<float, 1>({rows}, 4));
        // Every second element, and columns in reverse.
        matrix const wide = noise<float, 2>({rows, 2 * columns}, 5);
        check_fused(sums, equal_bits, xt::view(wide, xt::all(), xt::range(0, 2 * columns, 2)), b);
        check_fused(sums, equal_bits, xt::view(a, xt::all(), xt::range(columns, xt::placeholders::_, -1)), b);
    }
}

TEST_CASE("transposes of floats and doubles, block by block") {
    auto const affine = [](auto x, auto z, auto row) { return x + calque::transpose(z) * row; };
    auto const of_types = [](auto x, auto z) {
        return where(x > 0, calque::transpose(z), 2.f) + calque::cast<float>(calque::transpose(x) > 1);
    };
    for (std::size_t const rows : {1u, 2u, 7u, 16u, 17u, 45u, 130u}) {
        for (std::size_t const columns : {16u, 63u, 64u, 65u, 128u, 129u, 300u}) {
            CAPTURE(rows);
            CAPTURE(columns);
            auto const check = [&]<class T>(T) {
                xtensor<T, 2> const x = noise<T, 2>({rows, columns}, 1), z = noise<T, 2>({columns, rows}, 2);
                check_fused(affine, equal_bits, x, z, xtensor<T, 1>(noise<T, 1>({columns}, 3)));
                check_fused(affine, equal_bits, x, z, xtensor<T, 2>(noise<T, 2>({rows, 1}, 3)));
                check_fused(affine, equal_bits, x, xt::transpose(x), xtensor<T, 1>(noise<T, 1>({columns}, 3)));
                check_fused(affine, equal_bits, xt::transpose(z), xt::view(z, xt::all(), xt::all()),
                            xtensor<T, 1>(noise<T, 1>({columns}, 3)));
            };
            check(0.f);
            check(0.);
        }
    }
    matrix const square = noise<float, 2>({130, 130}, 1);
    check_fused(of_types, equal_bits, xtensor<std::int64_t, 2>(10.f * square), square);
    check_fused([](auto x, auto z) { return x * calque::transpose(z) + calque::transpose(x); }, equal_bits, square,
                matrix(noise<float, 2>({130, 130}, 2)));
    auto const symmetric = calque::function([](auto x) { return x + calque::transpose(x); });
    matrix in_place = square;
    symmetric.into(in_place, in_place);
    CHECK(in_place == matrix(square + xt::transpose(square)));
}

TEST_CASE("rows of a transpose") {
    for (size const& of : sizes) {
        std::size_t const rows = of.rows;
        std::size_t const columns = of.columns;
        CAPTURE(rows);
        CAPTURE(columns);
        check_fused(row_programs, closeness{4, 4. * static_cast<double>(columns)}, noise<float, 2>({rows, columns}, 1),
                    noise<float, 2>({columns, rows}, 2));
    }
}

TEST_CASE("elements that are made from their places, and elements of 8 bytes") {
    for (std::size_t const rows : {900u, 1023u}) {
        auto const labels = noise<std::int32_t, 1>({rows}, 1);
        check_fused(places<7>, equal_bits, labels, noise<float, 2>({7, rows}, 2));
        check_fused(places<150>, equal_bits, labels, noise<float, 2>({150, rows}, 2));
        check_fused(sums, equal_bits, noise<double, 2>({rows, 9}, 1), noise<double, 2>({9, rows}, 2));
    }
}

TEST_CASE("three axes, the first of which may be 1") {
    check_fused(of_three, closeness{4, 40}, noise<float, 3>({40, 9, 33}, 1), noise<float, 3>({9, 33, 40}, 2));
    check_fused(of_three, closeness{4, 40}, noise<float, 3>({1, 90, 70}, 1), noise<float, 3>({90, 70, 1}, 2));
    check_fused(of_three, closeness{4, 40}, noise<float, 3>({2, 90, 70}, 1), noise<float, 3>({90, 70, 2}, 2));
}

TEST_CASE("results in the place of either operand") {
    auto const f = calque::function(sums);
    for (std::size_t const n : {40u, 64u, 100u}) {
        matrix const a = noise<float, 2>({n, n}, 1);
        matrix const b = noise<float, 2>({n, n}, 2);
        matrix const expected = f(a, b);
        REQUIRE((f.plan(a, b).text().find("part by part") != std::string::npos) == (n != 40));
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                REQUIRE(expected(i, j) == a(i, j) + b(j, i));
            }
        }
        matrix first = a;
        matrix second = b;
        f.into(first, first, b);
        CHECK(first == expected);
        f.into(second, a, second);
        CHECK(second == expected);
        matrix both = a;
        matrix const doubled = f(a, a);
        f.into(both, both, both);
        CHECK(both == doubled);
    }
}

TEST_CASE("shapes that the compiler knows") {
    xt::xtensor_fixed<float, xt::xshape<70, 90>> a;
    xt::xtensor_fixed<float, xt::xshape<90, 70>> b;
    a = noise<float, 2>({70, 90}, 1);
    b = noise<float, 2>({90, 70}, 2);
    auto const f = calque::function(sums);
    auto const y = f(a, b);
    for (std::size_t i = 0; i < 70; ++i) {
        for (std::size_t j = 0; j < 90; ++j) {
            REQUIRE(y(i, j) == a(i, j) + b(j, i));
        }
    }
}
