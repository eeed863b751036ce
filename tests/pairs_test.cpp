// SPDX-License-Identifier: MIT
// All pairs of points: what is computed of them coordinate by coordinate, against the graph as it was traced.
#include "tensor_compare.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>

namespace {

using calque::dim;
using calque::dyn;
using calque::expand_dims;
using calque::spec;
using calque::sum;
using calque::with_shape;
using tests::noise;

constexpr auto differences(auto x, auto y) {
    return expand_dims<1>(x) - expand_dims<0>(y);
}

inline constexpr auto distances = [](auto x, auto y) {
    auto const d = differences(x, y);
    return sum<-1>(d * d);
};
inline constexpr auto density = [](auto x, auto y) { return calque::mean<1>(exp(-distances(x, y))); };
inline constexpr auto nearest = [](auto x, auto y) {
    auto const squares = distances(x, y);
    return std::tuple{calque::argmin<1>(squares), calque::min<1>(squares)};
};
/// Each point's acceleration by all others.
inline constexpr auto forces = [](auto x, auto y, auto mass) {
    auto const d = differences(x, y);
    auto const r2 = sum<-1>(d * d) + 0.25;
    return sum<1>(d * expand_dims<2>(mass / (r2 * sqrt(r2))));
};
/// Along every axis, and over several.
inline constexpr auto folds = [](auto x, auto y, auto w) {
    auto const d = differences(x, y);
    return std::tuple{calque::max<-1>(abs(d) * w), calque::min<-1>(d),   sum<0>(where(d > 0, d, w)),
                      calque::mean<1>(d * w),      calque::max<1, 2>(d), sum(d * d)};
};
/// Boxes around points that have something in common, how many they are, and the sums of coordinates that are integers.
inline constexpr auto boxes = [](auto x, auto y) {
    auto const d = differences(x, y);
    auto const touch = calque::all<-1>(abs(d) < 0.5);
    return std::tuple{touch, calque::any<-1>(d > 1), calque::any<1>(touch), sum<-1>(calque::cast<std::int32_t>(d * 8))};
};
inline constexpr auto energy = [](auto x, auto y) { return sum(exp(-distances(x, y))); };
inline constexpr auto pull = [](auto x, auto y) { return calque::grad<0, 1>(energy)(x, y); };
/// The differences are a result too, so that all of them are needed in one array.
inline constexpr auto whole = [](auto x, auto y) {
    auto const d = differences(x, y);
    return std::tuple{d, sum<-1>(d * d)};
};
inline constexpr auto steps = [](auto x, auto y) {
    return calque::fori_loop(
        0, 3, [&](auto, auto p) { return p - 0.125 * sum<1>(calque::tanh(expand_dims<1>(p) - expand_dims<0>(y))); }, x);
};

template <class F, class... Args>
void check(F const& f, double scale, Args const&... args) {
    using compare = tests::comparison<F, Args...>;
    auto const fn = calque::function(f);
    INFO(fn.plan(args...).text());
    CHECK(compare::differences(fn(args...), compare::of_traced_graph(args...), {8, scale}) == "");
}

/// As many points as registers have lanes, fewer, more, and one.
void with_each_number(auto f) {
    for (std::size_t const m : {1u, 2u, 15u, 17u, 33u, 100u}) {
        for (std::size_t const n : {1u, 3u, 16u, 33u}) {
            CAPTURE(n);
            CAPTURE(m);
            f(n, m);
        }
    }
}

template <class F>
std::string schedule_of(F const& f) {
    return calque::trace<spec<float, dim("n"), 3>, spec<float, dim("m"), 3>>(f).schedule();
}

bool has(std::string const& text, char const* part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("points of three coordinates") {
    with_each_number([](std::size_t n, std::size_t m) {
        auto const some = noise<float, 2>({n, 3}, 1), others = noise<float, 2>({m, 3}, 2);
        auto const x = with_shape<dyn, 3>(some), y = with_shape<dyn, 3>(others);
        double const pairs = static_cast<double>(n * m);
        check(distances, 100, x, y);
        check(density, 1, x, y);
        check(nearest, 100, x, y);
        check(forces, 100 * pairs, x, y, noise<float, 1>({m}, 4));
        check(boxes, 0, x, y);
        check(folds, 100 * pairs, x, y, with_shape<3>(noise<float, 1>({3}, 3)));
        check(pull, 100 * pairs, x, y);
        check(whole, 100, x, y);
        check(steps, 100 * pairs, x, y);
    });
}

TEST_CASE("of two, in double") {
    with_each_number([](std::size_t n, std::size_t m) {
        auto const some = noise<double, 2>({n, 2}, 1), others = noise<double, 2>({m, 2}, 2);
        auto const x = with_shape<dyn, 2>(some), y = with_shape<dyn, 2>(others);
        check(distances, 100, x, y);
        check(forces, 100. * static_cast<double>(n * m), x, y, noise<double, 1>({m}, 4));
    });
}

TEST_CASE("of eight, and of nine, which are not split") {
    with_each_number([](std::size_t n, std::size_t m) {
        check(distances, 200, with_shape<dyn, 8>(noise<float, 2>({n, 8}, 1)),
              with_shape<dyn, 8>(noise<float, 2>({m, 8}, 2)));
        check(distances, 200, with_shape<dyn, 9>(noise<float, 2>({n, 9}, 1)),
              with_shape<dyn, 9>(noise<float, 2>({m, 9}, 2)));
    });
}

TEST_CASE("batches of points, and numbers of them that the compiler knows") {
    auto const of_batches = [](auto x, auto y) {
        auto const d = expand_dims<2>(x) - expand_dims<1>(y);
        return std::tuple{sum<-1>(d * d), calque::min<2>(sum<-1>(abs(d))), sum<1>(d)};
    };
    for (std::size_t const m : {1u, 4u, 20u}) {
        CAPTURE(m);
        check(of_batches, 2000, with_shape<dyn, dyn, 3>(noise<float, 3>({5, 7, 3}, 1)),
              with_shape<dyn, dyn, 3>(noise<float, 3>({5, m, 3}, 2)));
        check(of_batches, 2000, with_shape<dyn, dyn, 3>(noise<float, 3>({5, 7, 3}, 1)),
              with_shape<dyn, dyn, 3>(noise<float, 3>({1, m, 3}, 2)));
    }
    check(nearest, 100, with_shape<9, 3>(noise<float, 2>({9, 3}, 1)), with_shape<4, 3>(noise<float, 2>({4, 3}, 2)));
    check(nearest, 100, with_shape<4, 3>(noise<float, 2>({4, 3}, 1)), with_shape<4, 3>(noise<float, 2>({4, 3}, 2)));
}

TEST_CASE("no points") {
    xt::xtensor<float, 2> const none = xt::xtensor<float, 2>::from_shape({0, 3}), some = noise<float, 2>({20, 3}, 1);
    auto const x = with_shape<dyn, 3>(none), y = with_shape<dyn, 3>(some);
    check(distances, 0, x, y);
    check(distances, 0, y, x);
    check(forces, 0, x, y, noise<float, 1>({20}, 1));
    check(forces, 0, y, x, noise<float, 1>({0}, 1));
    check(pull, 0, x, y);
}

TEST_CASE("distances by a plain loop") {
    auto const x = noise<float, 2>({9, 3}, 1), y = noise<float, 2>({50, 3}, 2);
    xt::xtensor<float, 2> const result = calque::function(distances)(with_shape<dyn, 3>(x), with_shape<dyn, 3>(y));
    for (std::size_t i = 0; i < 9; ++i) {
        for (std::size_t j = 0; j < 50; ++j) {
            float expected = 0;
            for (std::size_t k = 0; k < 3; ++k) {
                expected += (x(i, k) - y(j, k)) * (x(i, k) - y(j, k));
            }
            CHECK(result(i, j) == doctest::Approx(expected));
        }
    }
}

TEST_CASE("points by columns") {
    using by_columns = xt::xtensor<float, 2, xt::layout_type::column_major>;
    by_columns const x = noise<float, 2>({20, 3}, 1), y = noise<float, 2>({33, 3}, 2);
    check(distances, 100, with_shape<dyn, 3>(x), with_shape<dyn, 3>(y));
    check(forces, 3300, with_shape<dyn, 3>(x), with_shape<dyn, 3>(y), noise<float, 1>({33}, 4));
}

TEST_CASE("NaN and infinities stay with their points") {
    auto x = noise<float, 2>({4, 3}, 1);
    auto const y = noise<float, 2>({40, 3}, 2);
    x(1, 2) = NAN;
    x(2, 0) = INFINITY;
    check(distances, 32, with_shape<dyn, 3>(x), with_shape<dyn, 3>(y));
    check(folds, 1e9, with_shape<dyn, 3>(x), with_shape<dyn, 3>(y), with_shape<3>(noise<float, 1>({3}, 3)));
}

TEST_CASE("what follows a distance joins its kernel, and no array has all coordinates of all pairs") {
    for (std::string const& text : {schedule_of(distances), schedule_of(density)}) {
        CAPTURE(text);
        CHECK(has(text, "kernel 0: "));
        CHECK(!has(text, "kernel 1: "));
    }
    std::string const of_forces =
        calque::trace<spec<float, dim("n"), 3>, spec<float, dim("m"), 3>, spec<float, dim("m")>>(forces).schedule();
    CAPTURE(of_forces);
    CHECK(!has(of_forces, "float[n,m"));
    CHECK(has(schedule_of(pull), "[n,m]"));
    CHECK(!has(schedule_of(pull), "[n,m,3]"));
    CHECK(!has(schedule_of(boxes), "[n,m,3]"));
    CHECK(has(schedule_of(whole), "[n,m,3]"));
}

TEST_CASE("points that meet others of another number") {
    auto const x = noise<float, 2>({4, 3}, 1), y = noise<float, 2>({40, 3}, 2);
    auto const fn = calque::function(forces);
    CHECK_THROWS(fn(with_shape<dyn, 3>(x), with_shape<dyn, 3>(y), noise<float, 1>({39}, 3)));
}
