// SPDX-License-Identifier: MIT
// Views and movements: of arguments and of intermediate arrays, as inputs of kernels and as results, against the
// interpreter: the same bits.
#include "tensor_compare.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

namespace {

using calque::all;
using calque::dyn;
using calque::range;
using calque::graph::to_the_end;
using tests::check_fused;
using tests::equal_bits;
using tests::noise;
using xt::xtensor;

using matrix = xtensor<float, 2>;

inline constexpr auto transposes = [](auto x) {
    auto const y = exp(x);
    return std::tuple{transpose(x) * 2 + 1, transpose(y), y + transpose(transpose(x) + 1), reshape(transpose(y), dyn),
                      reshape(transpose(x), dyn)};
};
inline constexpr auto slices = [](auto x) {
    auto const y = tanh(x);
    return std::tuple{view(x, range(1, to_the_end, 2), range(-3, to_the_end)) + 1,
                      view(y, all(), 2),
                      view(y, -1) * view(x, 0),
                      view(y, range(-2, -1), range(0, 3, 2)),
                      view(view(x, range(1, to_the_end)), all(), range(1, to_the_end, 3)),
                      reshape(view(y, all(), range(0, to_the_end, 2)), dyn),
                      view(x, range(5, 2))};
};
inline constexpr auto coordinates = [](auto p, auto q) {
    auto const x = view(p, all(), 0), y = view(p, all(), 1), z = view(p, all(), -1);
    auto const u = view(q, all(), 0), v = view(q, all(), 2), w = view(q, all(), 5);
    return std::tuple{calque::stack<1>(y * w - z * v, z * u - x * w, x * v - y * u), calque::sum(x * u + 1),
                      x - calque::sum<1>(p), calque::sum(view(exp(q), all(), 3) * y)};
};
inline constexpr auto parts_of_rows = [](auto p, auto w) {
    auto const position = view(p, all(), range(0, 2)), velocity = view(p, all(), range(2, 4));
    auto const three = view(p, all(), range(0, 3)), four = view(p, all(), range(4, 8));
    auto const last = view(p, all(), range(7, 8));
    return std::tuple{position + velocity * 2, position * w,        three / (last * last + 1), four * four,
                      four * last,             three * three - 0.5, position * w + last,       cast<double>(three) * 2};
};
inline constexpr auto colors = [](auto x) {
    return view(x, all(), all(), 0) * 3 + view(x, all(), all(), 1) * 2 + view(x, all(), all(), 2);
};
inline constexpr auto with_gaps = [](auto x, auto w, auto c) {
    return std::tuple{x * 2 + 1, tanh(x) * sigmoid(x), sqrt(abs(x)) / (x * x + 1),
                      tanh(x + w), exp(x) * c,         cast<double>(x) * 3 - 1};
};
inline constexpr auto crops = [](auto x, auto w) {
    auto const inside = view(x, range(2, -1), range(1, -2), all()), fewer = view(x, all(), range(1, -1), range(0, -1));
    return std::tuple{inside * 2 + 1, (inside - 1) * w, tanh(fewer), exp(fewer) * view(w, range(1, to_the_end))};
};
inline constexpr auto reshapes = [](auto x) {
    auto const flat = reshape(x, dyn);
    auto const y = reshape(sqrt(abs(x)), dyn, 2);
    return std::tuple{
        flat, flat * flat, transpose(y) + 1, expand_dims<0, -1>(x), expand_dims<1>(x * 2), calque::sum<-1>(y)};
};
inline constexpr auto concatenations = [](auto a, auto b) {
    return std::tuple{calque::concatenate<0>(a, b * 2, a), calque::concatenate<0>(transpose(a), transpose(b)) - 1,
                      tanh(calque::concatenate<1>(transpose(b), transpose(a + 1)))};
};
inline constexpr auto takes = [](auto x, auto at) {
    return std::tuple{take(x, at), take<-1>(x * 2, at) + 1, take(view(x, all(), 0), at)};
};
inline constexpr auto takes_of_three = [](auto x, auto at) {
    return std::tuple{calque::take<0>(x, at), calque::take<1>(x, at), calque::take<2>(x, at)};
};
inline constexpr auto taken_sums_of_three = [](auto x, auto at) {
    return calque::sum(square(calque::take<0>(x, at))) + calque::sum(square(calque::take<1>(x, at))) +
           calque::sum(square(calque::take<2>(x, at)));
};
inline constexpr auto taken_sum = [](auto x, auto at) { return calque::sum(square(take(x, at)) * 0.5f); };
inline constexpr auto indices = [](auto labels, auto x) {
    return std::tuple{calque::one_hot(labels, 7),
                      calque::one_hot<double>(expand_dims<0>(labels + 1), 3),
                      calque::arange<float>(5) * 2.f + 1.f,
                      x + calque::arange<float>(0.f, 2.5f, 0.5f),
                      calque::zeros_like(x),
                      calque::full<std::int32_t>(3, 2, 2)};
};
inline constexpr auto of_three = [](auto x) {
    auto const turned = calque::transpose<2, 0, 1>(x);
    return std::tuple{turned,
                      exp(turned) + 1,
                      reshape(turned, dyn),
                      calque::sum<0>(turned),
                      view(turned, range(0, to_the_end, 2), -1, all()),
                      calque::transpose<1, 0, 2>(x) * x};
};
inline constexpr auto sizes_of_elements = [](auto x) {
    return std::tuple{transpose(x), view(x, all(), range(0, to_the_end, 2)), calque::concatenate<1>(x, x),
                      take(x, cast<std::int64_t>(view(x, 0)))};
};

inline constexpr auto concatenations_of_rows = [](auto x, auto y) { return calque::concatenate<1>(x, y, x); };
inline constexpr auto rolls = [](auto x, auto shift) {
    return std::tuple{calque::roll<0>(x, shift), calque::roll<1>(x, shift), calque::roll<0>(x, 1),
                      calque::roll<1>(x, -2)};
};
inline constexpr auto rolled_sum = [](auto x, auto shift) {
    return calque::sum(square(calque::roll<1>(x, shift)) * x);
};

} // namespace

TEST_CASE("transposes") {
    for (std::size_t const m : {0u, 1u, 2u, 3u, 4u, 16u, 33u, 70u}) {
        for (std::size_t const n : {m, std::size_t{1}, std::size_t{17}, std::size_t{64}}) {
            CAPTURE(m);
            CAPTURE(n);
            matrix const x = noise<float, 2>({m, n}, 1);
            check_fused(transposes, equal_bits, x);
            check_fused(transposes, equal_bits, xt::transpose(x));
            check_fused(transposes, equal_bits, xt::view(x, xt::all(), xt::range(0, n, 2)));
            check_fused(transposes, equal_bits, noise<double, 2>({m, n}, 2));
        }
    }
}

TEST_CASE("slices with steps and from the end") {
    for (std::size_t const m : {2u, 3u, 20u}) {
        for (std::size_t const n : {3u, 4u, 33u, 100u}) {
            CAPTURE(m);
            CAPTURE(n);
            matrix const x = noise<float, 2>({m, n}, 1);
            check_fused(slices, equal_bits, x);
            check_fused(slices, equal_bits, xt::transpose(noise<float, 2>({n, m}, 1)));
        }
    }
    check_fused(slices, equal_bits, xt::xtensor_fixed<float, xt::xshape<4, 9>>(noise<float, 2>({4, 9}, 1)));
    CHECK_THROWS_AS(calque::function(slices)(noise<float, 2>({2, 2}, 1)), calque::shape_error);
    CHECK_THROWS_AS(calque::function(slices)(noise<float, 2>({0, 4}, 1)), calque::shape_error);
}

TEST_CASE("columns of an array, one by one and a few beside each other") {
    for (std::size_t const rows : {0u, 1u, 2u, 15u, 16u, 17u, 33u, 127u, 128u, 129u, 1000u, 6001u}) {
        CAPTURE(rows);
        tests::closeness const sums{16, 1000};
        check_fused(coordinates, sums, noise<float, 2>({rows, 3}, 1), noise<float, 2>({rows, 7}, 2));
        check_fused(coordinates, sums, noise<double, 2>({rows, 4}, 3), noise<double, 2>({rows, 7}, 4));
        check_fused(parts_of_rows, equal_bits, noise<float, 2>({rows, 8}, 5), noise<float, 1>({2}, 6));
        check_fused(parts_of_rows, equal_bits, noise<double, 2>({rows, 9}, 7), noise<double, 1>({2}, 8));
        check_fused(colors, equal_bits, noise<float, 3>({rows / 10, 10, 3}, 9));
        check_fused(colors, equal_bits, noise<double, 3>({rows / 5, 5, 4}, 10));
    }
    auto const image = noise<float, 3>({50, 20, 5}, 11); // its colors are copied together
    CHECK(calque::function(colors).plan(image).text().find(" [50,20,3] to contiguous memory, by permutations") !=
          std::string::npos);
}

TEST_CASE("rows with gaps between them") {
    for (std::size_t const rows : {1u, 7u, 16u, 64u, 127u, 130u}) {
        for (std::size_t const columns : {1u, 3u, 5u, 9u, 15u, 16u, 17u, 31u, 33u, 49u, 65u, 130u, 145u}) {
            CAPTURE(rows);
            CAPTURE(columns);
            auto const w = noise<float, 1>({columns}, 2);
            auto const c = noise<float, 2>({rows, 1}, 3);
            matrix const x = noise<float, 2>({rows, columns + 3}, 1);
            check_fused(with_gaps, equal_bits, xt::view(x, xt::all(), xt::range(std::size_t{1}, columns + 1)), w, c);
        }
        xtensor<double, 2> const x = noise<double, 2>({rows, 40}, 1);
        auto const c = xt::view(noise<double, 2>({rows, 3}, 3), xt::all(), xt::range(0, 1));
        check_fused(with_gaps, equal_bits, xt::view(x, xt::all(), xt::range(2, 19)), noise<double, 1>({17}, 2), c);
    }
}

TEST_CASE("crops of images") {
    for (std::size_t const channels : {2u, 3u, 4u, 17u}) {
        for (std::size_t const side : {4u, 20u, 70u}) {
            CAPTURE(channels);
            CAPTURE(side);
            auto const image = noise<float, 3>({side + 5, side, channels}, 1);
            check_fused(crops, equal_bits, image, noise<float, 1>({channels}, 2));
        }
    }
}

TEST_CASE("reshapes") {
    matrix const x = noise<float, 2>({12, 10}, 1);
    check_fused(reshapes, equal_bits, matrix(xt::view(x, xt::range(0, 1), xt::all())));
    for (auto const& e : {std::array<std::size_t, 2>{2, 1}, {6, 5}, {12, 10}, {0, 4}}) {
        check_fused(reshapes, tests::closeness{4, 40}, noise<float, 2>(e, 1));
    }
    tests::closeness const close{4, 40};
    check_fused(reshapes, close, xt::transpose(x));
    check_fused(reshapes, close, xt::view(x, xt::range(0, 12, 2), xt::all()));
    check_fused(reshapes, close, xt::view(x, xt::all(), xt::range(1, 7)));
    check_fused(reshapes, close, xt::view(x, xt::all(), xt::range(0, 10, 3)));
    CHECK_THROWS_AS(calque::function(reshapes)(noise<float, 2>({3, 5}, 1)), calque::shape_error);
}

TEST_CASE("concatenations") {
    for (std::size_t const n : {1u, 16u, 33u}) {
        check_fused(concatenations, equal_bits, noise<float, 2>({4, n}, 1), noise<float, 2>({4, n}, 2));
        matrix const x = noise<float, 2>({n, 4}, 3);
        check_fused(concatenations, equal_bits, xt::transpose(x),
                    xt::view(noise<float, 2>({8, n}, 4), xt::range(0, 8, 2), xt::all()));
    }
    check_fused([](auto a, auto b) { return calque::concatenate<0>(a, b, a); }, equal_bits, noise<double, 1>({0}, 1),
                noise<double, 1>({5}, 1));
    CHECK_THROWS_AS(calque::function(concatenations)(noise<float, 2>({4, 3}, 1), noise<float, 2>({4, 2}, 1)),
                    calque::shape_error);
}

TEST_CASE_TEMPLATE("stacks of single elements", T, float, double, std::int8_t, calque::half, bool) {
    for (std::size_t const n : {0u, 1u, 15u, 16u, 17u, 100u}) {
        CAPTURE(n);
        auto const make = [&](unsigned seed) { return xtensor<T, 1>(xt::cast<T>(noise<float, 1>({n}, seed) * 9.f)); };
        xtensor<T, 1> const a = make(1), b = make(2), c = make(3), d = make(4);
        check_fused([](auto x, auto y) { return calque::stack<-1>(x, y); }, equal_bits, a, b);
        check_fused([](auto x, auto y, auto z) { return calque::stack<1>(x, y, z); }, equal_bits, a, b, c);
        check_fused([](auto x, auto y, auto z, auto w) { return calque::stack<-1>(x, y, z, w); }, equal_bits, a, b, c,
                    d);
        check_fused([](auto x, auto y) { return calque::stack<0>(x, y); }, equal_bits, a, b);
        check_fused([](auto x, auto y) { return calque::stack<-1>(x, calque::flip<0>(y)); }, equal_bits, a, b);
    }
    auto const x = xtensor<T, 2>(xt::cast<T>(noise<float, 2>({5, 7}, 1) * 9.f));
    check_fused([](auto y) { return calque::stack<-1>(y, y, y); }, equal_bits, x);
    check_fused([](auto y) { return calque::stack<-1>(transpose(y), transpose(y)); }, equal_bits, x);
}

TEST_CASE("runs of a few elements beside each other") {
    for (std::size_t const n : {1u, 2u, 511u, 512u, 513u, 1025u}) {
        for (std::size_t const k : {1u, 2u, 3u, 4u, 5u}) {
            CAPTURE(n);
            CAPTURE(k);
            matrix const x = noise<float, 2>({n, k}, 1);
            check_fused(concatenations_of_rows, equal_bits, x, noise<float, 2>({n, 3}, 2));
            check_fused(concatenations_of_rows, equal_bits, xtensor<std::int16_t, 2>(100.f * x),
                        noise<std::int16_t, 2>({n, k}, 3));
            check_fused(concatenations_of_rows, equal_bits, xtensor<double, 2>(x),
                        xt::view(noise<double, 2>({n, 9}, 2), xt::all(), xt::range(3, 3 + k)));
        }
    }
}

TEST_CASE("rolls, from rows and columns and around the end more than once") {
    for (std::size_t const m : {0u, 1u, 2u, 3u, 7u, 40u}) {
        for (std::size_t const n : {1u, 2u, 3u, 16u, 33u}) {
            CAPTURE(m);
            CAPTURE(n);
            matrix const x = noise<float, 2>({m, n}, 1);
            for (std::int64_t const shift : {0, 1, -1, 5, -70, 100}) {
                check_fused(rolls, equal_bits, x, shift);
                check_fused(rolls, equal_bits, xt::transpose(noise<float, 2>({n, m}, 2)), shift);
                check_fused(rolls, equal_bits, noise<std::uint8_t, 2>({m, n}, 3), shift);
            }
            check_fused(rolls, equal_bits, x, std::numeric_limits<std::int64_t>::min());
            check_fused(calque::grad(rolled_sum), equal_bits, x, std::int64_t{3});
        }
    }
    xtensor<double, 3> const x = noise<double, 3>({2, 5, 3}, 1);
    check_fused([](auto a) { return calque::roll<1>(a, 2) - calque::roll<2>(a, -1); }, equal_bits, x);
    xtensor<double, 1> const row = {1, 2, 3, 4, 5};
    CHECK(calque::function([](auto a) { return calque::roll<0>(a, 2); })(row) == xtensor<double, 1>{4, 5, 1, 2, 3});
    CHECK(calque::function([](auto a) { return calque::roll<0>(a, -6); })(row) == xtensor<double, 1>{2, 3, 4, 5, 1});
}

TEST_CASE("elements at positions, negative and out of range ones too") {
    matrix const x = noise<float, 2>({6, 6}, 1);
    xtensor<std::int32_t, 1> const at = {0, 5, -1, -6, -7, 6, 100, -100, 3};
    check_fused(takes, equal_bits, x, at);
    check_fused(takes, equal_bits, xt::transpose(x), xt::view(at, xt::range(0, 9, 2)));
    check_fused(takes, equal_bits, x, xtensor<std::int64_t, 1>({std::numeric_limits<std::int64_t>::min(), 2}));
    check_fused(takes, equal_bits, x, xtensor<std::uint64_t, 1>({std::uint64_t{1} << 63, ~std::uint64_t{0}, 2}));
    check_fused(takes, equal_bits, x, xtensor<std::uint8_t, 1>({255, 128, 2}));
    check_fused(takes, equal_bits, x, xtensor<std::int8_t, 1>({-128, 127, 2}));
    check_fused(takes, equal_bits, x, xtensor<std::int32_t, 1>(std::array<std::size_t, 1>{0}));
    check_fused([](auto a, auto i) { return calque::take<1>(a, i) * 2; }, equal_bits, noise<float, 3>({2, 5, 3}, 1),
                noise<std::int32_t, 2>({4, 2}, 2));
    CHECK_THROWS_AS(calque::function(takes)(noise<float, 2>({0, 0}, 1), at), calque::shape_error);
}

TEST_CASE("integers that are added at positions wrap around; arrays without elements") {
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    auto const add = [](auto x, auto at, auto updates) { return calque::scatter_add<0>(x, at, updates); };
    xtensor<std::int32_t, 1> const at = {1, 1, 0};
    check_fused(add, equal_bits, xtensor<std::int32_t, 1>{most, 1, 2}, at, xtensor<std::int32_t, 1>{most, most, most});
    xtensor<std::int32_t, 2> const rows = {{most, most}, {1, 1}, {2, 2}};
    check_fused(add, equal_bits, rows, at, rows);
    xtensor<std::int32_t, 1> const none = xtensor<std::int32_t, 1>::from_shape({0});
    check_fused(add, equal_bits, rows, none, xtensor<std::int32_t, 2>::from_shape({0, 2}));
    check_fused([](auto x) { return calque::argsort<1>(x); }, equal_bits, xtensor<float, 2>::from_shape({3, 0}));
    check_fused([](auto x, auto i) { return calque::take<0>(x, i); }, equal_bits, xtensor<float, 2>::from_shape({3, 0}),
                at);
}

TEST_CASE("single elements that are added at positions, in order, from anywhere") {
    auto const add = [](auto x, auto at, auto updates) { return calque::scatter_add<0>(x, at, updates); };
    auto const add_to_columns = [](auto x, auto at, auto updates) { return calque::scatter_add<1>(x, at, updates); };
    xtensor<std::int32_t, 1> const at = {3, 1, 3, -1, 0, 9, 3, 1};
    xtensor<std::int64_t, 2> const table = {{3, 1, 3, -1}, {0, 9, 3, 1}};
    auto const x = noise<float, 1>({5}, 1), updates = noise<float, 1>({16}, 2);
    check_fused(add, equal_bits, x, at, xt::view(updates, xt::range(0, 8)));
    check_fused(add, equal_bits, x, at, xt::view(updates, xt::range(0, 16, 2)));
    auto const rows = noise<float, 2>({4, 4}, 3);
    check_fused(add, equal_bits, x, table, xt::view(rows, xt::range(0, 2)));
    check_fused(add, equal_bits, x, table, xt::view(rows, xt::range(0, 4, 2)));
    check_fused(add, equal_bits, x, table, xt::view(xt::transpose(rows), xt::range(0, 2)));
    check_fused(add_to_columns, equal_bits, noise<double, 2>({3, 5}, 4), at, noise<double, 2>({3, 8}, 5));
    check_fused(add_to_columns, equal_bits, noise<double, 2>({3, 5}, 4), at,
                xt::transpose(noise<double, 2>({8, 3}, 6)));
}

TEST_CASE("the gradient of elements at positions adds up") {
    xtensor<std::int32_t, 1> const at = {0, 5, -1, 5, 2, 6, -7, 3};
    check_fused(calque::grad(taken_sum), tests::closeness{4, 8}, noise<float, 2>({6, 19}, 1), at);
    check_fused(calque::grad(taken_sum), tests::closeness{4, 8}, noise<float, 1>({6}, 1), at);
    check_fused(calque::grad(taken_sum), tests::closeness{4, 8}, xt::transpose(noise<float, 2>({19, 6}, 1)), at);
}

TEST_CASE("elements at positions along each of three axes, fewer and more than there are") {
    for (auto const& e : {std::array<std::size_t, 3>{5, 4, 3}, {2, 30, 3}, {40, 2, 1}}) {
        for (std::size_t const n : {1u, 3u, 50u}) {
            CAPTURE(e[0]);
            CAPTURE(n);
            xtensor<float, 3> const x = noise<float, 3>(e, 1);
            xtensor<std::int32_t, 1> const at = noise<std::int32_t, 1>({n}, 2);
            xtensor<std::int32_t, 2> const table = noise<std::int32_t, 2>({2, n}, 3);
            xtensor<float, 3> const turned = noise<float, 3>({e[2], e[0], e[1]}, 4);
            auto const strided = xt::transpose(turned, std::array<std::size_t, 3>{1, 2, 0});
            check_fused(takes_of_three, equal_bits, x, at);
            check_fused(takes_of_three, equal_bits, strided, xt::transpose(table));
            check_fused(calque::grad(taken_sums_of_three), tests::closeness{8, 1000}, x, at);
            check_fused(calque::grad(taken_sums_of_three), tests::closeness{8, 1000}, strided, table);
        }
    }
}

TEST_CASE("one_hot, arange and their like") {
    check_fused(indices, equal_bits, xtensor<std::int32_t, 1>({0, 6, 7, -1, 3}), noise<float, 2>({3, 5}, 1));
    check_fused(indices, equal_bits, noise<std::uint8_t, 1>({40}, 2), noise<float, 2>({1, 5}, 1));
}

TEST_CASE("three axes in other orders") {
    for (auto const& e : {std::array<std::size_t, 3>{2, 2, 40}, {3, 3, 1}, {16, 16, 17}, {1, 1, 5}}) {
        xtensor<float, 3> const x = noise<float, 3>(e, 1);
        check_fused(of_three, tests::closeness{4, 40}, x);
        check_fused(of_three, tests::closeness{4, 40}, xt::view(x, xt::all(), xt::all(), xt::range(0, e[2], 2)));
    }
}

TEST_CASE("elements of every size move") {
    auto const check = []<class T>(T) {
        xtensor<T, 2> const x = noise<T, 2>({19, 34}, 1);
        check_fused(sizes_of_elements, equal_bits, x);
        check_fused(sizes_of_elements, equal_bits, xt::transpose(x));
    };
    check(std::int8_t{});
    check(std::int16_t{});
    check(double{});
}
