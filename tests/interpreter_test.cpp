// SPDX-License-Identifier: MIT
// Every operation, interpreted, against plain loops and the standard library: over dtypes, shapes (with extents 0 and
// 1, odd ones, broadcasts) and special values.
#include <calque/graph/compositions.hpp>

#include "run_graph.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace {

using namespace calque::graph;
using calque::dtype;
using calque::dyn;
using calque::extent_t;
using calque::shape;
using tests::check;
using tests::make;
using tests::noise;
using tests::run;

using values = std::vector<value> const&;

template <class T>
std::vector<T> elements(tensor const& t) {
    return std::vector<T>(t.as<T>(), t.as<T>() + t.size());
}

/// Calls `fn.operator()<T>()` for the given types.
template <class... T>
void for_types(auto fn) {
    (fn.template operator()<T>(), ...);
}
void for_integers(auto fn) {
    for_types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
              std::uint64_t>(fn);
}
void for_numbers(auto fn) {
    for_integers(fn);
    for_types<float, double>(fn);
}

template <class T>
std::vector<T> special_numbers() {
    using limits = std::numeric_limits<T>;
    if constexpr (std::floating_point<T>) {
        return {T(0),
                -T(0),
                T(1),
                T(-1),
                T(0.5),
                T(-2.75),
                T(1e-4),
                T(30.5),
                T(-101),
                limits::infinity(),
                -limits::infinity(),
                limits::quiet_NaN(),
                limits::min(),
                limits::max(),
                T(1e-20)};
    } else {
        return {T(0), T(1), T(2), T(7), T(-1), T(-7), limits::max(), limits::min(), T(limits::max() / 2)};
    }
}

/// All pairs of special numbers, as two arrays.
template <class T>
std::vector<tensor> special_pairs() {
    std::vector<T> a, b;
    for (T const x : special_numbers<T>()) {
        for (T const y : special_numbers<T>()) {
            a.push_back(x);
            b.push_back(y);
        }
    }
    shape const s{static_cast<extent_t>(a.size())};
    return {make(s, a), make(s, b)};
}

template <class Op>
auto const apply_op = [](values a) {
    return a.size() == 1   ? apply<Op>(0, a[0])
           : a.size() == 2 ? apply<Op>(0, a[0], a[1])
                           : apply<Op>(0, a[0], a[1], a[2]);
};

template <class T>
constexpr double rounding = std::is_same_v<T, float> ? 1e-6 : 1e-14;

/// Checks `Op` on all special numbers (arity 1) or pairs of them against `expected`.
template <class Op, class T>
void check_unary(auto expected, double error = rounding<T>) {
    std::vector<T> const x = special_numbers<T>();
    std::vector<T> y;
    for (T const e : x) {
        y.push_back(static_cast<T>(expected(e)));
    }
    shape const s{static_cast<extent_t>(x.size())};
    check({make(s, x)}, apply_op<Op>, make(s, y), {error});
}
template <class Op, class T>
void check_binary(auto expected, double error = 0) {
    std::vector<tensor> const x = special_pairs<T>();
    using R = decltype(expected(T(), T()));
    std::vector<R> y;
    for (extent_t i = 0; i < x[0].size(); ++i) {
        y.push_back(expected(x[0].as<T>()[i], x[1].as<T>()[i]));
    }
    check(x, apply_op<Op>, make(x[0].extents, y), {error});
}

/// The number that wraps around as unsigned ones do.
template <class T>
T wrapped(auto f, T x, T y) {
    if constexpr (std::integral<T>) {
        return static_cast<T>(f(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)));
    } else {
        return f(x, y);
    }
}

/// The positions in an array of shape `from`, row-major, that its broadcast to `to` reads.
std::vector<extent_t> broadcast_positions(shape const& from, shape const& to) {
    std::vector<extent_t> result;
    for (extent_t flat = 0; flat < to.size(); ++flat) {
        extent_t rest = flat, at = 0, step = 1;
        for (int i = 1; i <= to.rank; ++i) {
            extent_t const index = rest % to[to.rank - i];
            rest /= to[to.rank - i];
            if (i <= from.rank) {
                at += from[from.rank - i] == 1 ? 0 : index * step;
                step *= from[from.rank - i];
            }
        }
        result.push_back(at);
    }
    return result;
}

} // namespace

TEST_CASE("arithmetic") {
    for_numbers([]<class T>() {
        check_binary<ops::add, T>([](T x, T y) { return wrapped<T>([](auto a, auto b) { return a + b; }, x, y); });
        check_binary<ops::subtract, T>([](T x, T y) { return wrapped<T>([](auto a, auto b) { return a - b; }, x, y); });
        check_binary<ops::multiply, T>([](T x, T y) { return wrapped<T>([](auto a, auto b) { return a * b; }, x, y); });
        check_binary<ops::minimum, T>([](T x, T y) { return x != x ? x : y != y ? y : x < y ? x : y; }, 1e-30);
        check_binary<ops::maximum, T>([](T x, T y) { return x != x ? x : y != y ? y : x > y ? x : y; }, 1e-30);
        check_unary<ops::negative, T>(
            [](T x) { return wrapped<T>([](auto a, auto b) { return b - a; }, x, std::integral<T> ? T(0) : T(-0.)); },
            1e-30);
        check_unary<ops::square, T>([](T x) { return wrapped<T>([](auto a, auto b) { return a * b; }, x, x); }, 0);
        check_unary<ops::abs, T>(
            [](T x) {
                if constexpr (std::floating_point<T>) {
                    return std::abs(x);
                } else {
                    return x < T(0) ? static_cast<T>(0u - static_cast<std::uint64_t>(x)) : x;
                }
            },
            0);
        check_unary<ops::relu, T>([](T x) { return x < T(0) ? T(0) : x; }, 0);
    });
}

TEST_CASE("division truncates, and gives 0 for x / 0") {
    for_integers([]<class T>() {
        auto const quotient = [](T x, T y) {
            bool const overflows = std::is_signed_v<T> && y == T(-1) && x == std::numeric_limits<T>::min();
            return y == T(0) ? T(0) : overflows ? x : static_cast<T>(x / y);
        };
        check_binary<ops::divide, T>(quotient);
        check_binary<ops::remainder, T>(
            [](T x, T y) { return y == T(0) || (std::is_signed_v<T> && y == T(-1)) ? T(0) : static_cast<T>(x % y); });
    });
    for_types<float, double>([]<class T>() { check_binary<ops::divide, T>([](T x, T y) { return x / y; }); });
}

TEST_CASE("elementary functions") {
    for_types<float, double>([]<class T>() {
        using wide = long double;
        check_unary<ops::sqrt, T>([](T x) { return std::sqrt(x); }, 0);
        check_unary<ops::rsqrt, T>([](T x) { return 1 / std::sqrt(wide{x}); });
        check_unary<ops::exp, T>([](T x) { return std::exp(wide{x}); });
        check_unary<ops::expm1, T>([](T x) { return std::expm1(wide{x}); });
        check_unary<ops::log, T>([](T x) { return std::log(wide{x}); });
        check_unary<ops::log1p, T>([](T x) { return std::log1p(wide{x}); });
        check_unary<ops::tanh, T>([](T x) { return std::tanh(wide{x}); });
        check_unary<ops::sigmoid, T>([](T x) { return 1 / (1 + std::exp(-wide{x})); });
        check_unary<ops::sin, T>([](T x) { return std::sin(wide{x}); });
        check_unary<ops::cos, T>([](T x) { return std::cos(wide{x}); });
        check_unary<ops::erf, T>([](T x) { return std::erf(wide{x}); });
        check_binary<ops::pow, T>([](T x, T y) { return static_cast<T>(std::pow(wide{x}, wide{y})); }, rounding<T>);
        check_unary<ops::cbrt, T>([](T x) { return std::cbrt(wide{x}); });
        check_unary<ops::exp2, T>([](T x) { return std::exp2(wide{x}); });
        check_unary<ops::log2, T>([](T x) { return std::log2(wide{x}); });
        check_unary<ops::erfc, T>([](T x) { return std::erfc(wide{x}); });
        check_unary<ops::softplus, T>(
            [](T x) { return x != x ? x : std::fmax(wide{x}, 0) + std::log1p(std::exp(-std::abs(wide{x}))); });
        check_unary<ops::tan, T>([](T x) { return std::tan(wide{x}); });
        check_unary<ops::asin, T>([](T x) { return std::asin(wide{x}); });
        check_unary<ops::acos, T>([](T x) { return std::acos(wide{x}); });
        check_unary<ops::atan, T>([](T x) { return std::atan(wide{x}); });
        check_binary<ops::atan2, T>([](T y, T x) { return static_cast<T>(std::atan2(wide{y}, wide{x})); }, rounding<T>);
        check_unary<ops::sinh, T>([](T x) { return std::sinh(wide{x}); });
        check_unary<ops::cosh, T>([](T x) { return std::cosh(wide{x}); });
        check_unary<ops::asinh, T>([](T x) { return std::asinh(wide{x}); });
        check_unary<ops::acosh, T>([](T x) { return std::acosh(wide{x}); });
        check_unary<ops::atanh, T>([](T x) { return std::atanh(wide{x}); });
    });
}

TEST_CASE("rounding, signs and remainders") {
    for_types<float, double>([]<class T>() {
        check_unary<ops::floor, T>([](T x) { return std::floor(x); }, 0);
        check_unary<ops::ceil, T>([](T x) { return std::ceil(x); }, 0);
        check_unary<ops::round, T>([](T x) { return std::nearbyint(x); }, 0);
        check_unary<ops::trunc, T>([](T x) { return std::trunc(x); }, 0);
        check_binary<ops::fmod, T>([](T x, T y) { return std::fmod(x, y); });
    });
    for_numbers([]<class T>() {
        check_unary<ops::sign, T>([](T x) { return x > T(0) ? T(1) : x < T(0) ? static_cast<T>(-1) : x; }, 0);
    });
    for_integers([]<class T>() {
        check_binary<ops::fmod, T>(
            [](T x, T y) { return y == T(0) || (std::is_signed_v<T> && y == T(-1)) ? T(0) : static_cast<T>(x % y); });
    });
}

TEST_CASE("the bits of integers") {
    for_integers([]<class T>() {
        check_binary<ops::bit_and, T>([](T x, T y) { return static_cast<T>(x & y); });
        check_binary<ops::bit_or, T>([](T x, T y) { return static_cast<T>(x | y); });
        check_binary<ops::bit_xor, T>([](T x, T y) { return static_cast<T>(x ^ y); });
        check_unary<ops::bit_not, T>([](T x) { return static_cast<T>(~x); }, 0);
        auto const count = [](T y) { return static_cast<unsigned>(y) % (8 * sizeof(T)); };
        check_binary<ops::shift_left, T>(
            [&](T x, T y) { return static_cast<T>(static_cast<std::uint64_t>(x) << count(y)); });
        check_binary<ops::shift_right, T>([&](T x, T y) { return static_cast<T>(x >> count(y)); });
    });
}

TEST_CASE("multiply-adds round once or twice, as the hardware does") {
    for_types<float, double>([]<class T>() {
        std::vector<T> const x{T(1.1), T(-3), T(0.1), T(1e10), T(0)};
        std::vector<T> const y{T(2.3), T(1) / 3, T(10), T(1e-10), std::numeric_limits<T>::infinity()};
        std::vector<T> const z{T(-2.53), T(1), T(-1), T(5), T(1)};
        std::vector<T> sum, negative, difference;
        for (std::size_t i = 0; i < x.size(); ++i) {
            sum.push_back(std::fma(x[i], y[i], z[i]));
            negative.push_back(std::fma(-x[i], y[i], z[i]));
            difference.push_back(std::fma(x[i], y[i], -z[i]));
        }
        std::vector<tensor> const a{make({5}, x), make({5}, y), make({5}, z)};
        // Where the sum cancels, only a fused one is exact; elsewhere both agree.
        auto const check_fused = [&](tensor const& result, std::vector<T> const& fused) {
            for (std::size_t i = 0; i < 5; ++i) {
                T const exact = fused[i];
                double const scale = std::abs(static_cast<double>(x[i] * y[i])) + std::abs(static_cast<double>(z[i]));
                T const given = result.as<T>()[i];
                CHECK(((exact != exact && given != given) ||
                       std::abs(static_cast<double>(given - exact)) <= scale * std::numeric_limits<T>::epsilon()));
            }
        };
        check_fused(run(a, tests::extents::are_dynamic, apply_op<ops::fma>), sum);
        check_fused(run(a, tests::extents::are_dynamic, apply_op<ops::fnma>), negative);
        check_fused(run(a, tests::extents::are_dynamic, apply_op<ops::fms>), difference);
    });
}

TEST_CASE("comparisons; of NaN only != is true") {
    for_numbers([]<class T>() {
        check_binary<ops::equal, T>([](T x, T y) { return x == y; });
        check_binary<ops::not_equal, T>([](T x, T y) { return x != y; });
        check_binary<ops::less, T>([](T x, T y) { return x < y; });
        check_binary<ops::less_equal, T>([](T x, T y) { return x <= y; });
        check_binary<ops::greater, T>([](T x, T y) { return x > y; });
        check_binary<ops::greater_equal, T>([](T x, T y) { return x >= y; });
    });
}

TEST_CASE("logic on bool") {
    tensor const a = make<bool>({4}, {false, false, true, true});
    tensor const b = make<bool>({4}, {false, true, false, true});
    check({a, b}, apply_op<ops::logical_and>, make<bool>({4}, {false, false, false, true}));
    check({a, b}, apply_op<ops::logical_or>, make<bool>({4}, {false, true, true, true}));
    check({a, b}, apply_op<ops::bit_xor>, make<bool>({4}, {false, true, true, false}));
    check({a}, apply_op<ops::logical_not>, make<bool>({4}, {true, true, false, false}));
    check({a, b}, apply_op<ops::equal>, make<bool>({4}, {true, false, false, true}));
    check({a, b}, apply_op<ops::less>, make<bool>({4}, {false, true, false, false}));
    check({a, b}, apply_op<ops::greater_equal>, make<bool>({4}, {true, false, true, true}));
    check({a, b, a}, apply_op<ops::where>, make<bool>({4}, {false, false, false, true}));
}

TEST_CASE("where chooses elements of every dtype, NaN included") {
    for_numbers([]<class T>() {
        std::vector<tensor> const x = special_pairs<T>();
        tensor condition(dtype::bool_, x[0].extents);
        std::vector<T> expected;
        for (extent_t i = 0; i < condition.size(); ++i) {
            condition.as<bool>()[i] = i % 3 == 0;
            expected.push_back(x[i % 3 == 0 ? 0 : 1].template as<T>()[i]);
        }
        check({condition, x[0], x[1]}, apply_op<ops::where>, make(x[0].extents, expected));
    });
}

TEST_CASE("casts, as static_cast") {
    auto const check_cast = []<class From, class To>(std::vector<From> const& x) {
        std::vector<To> y;
        for (From const e : x) {
            y.push_back(static_cast<To>(e));
        }
        shape const s{static_cast<extent_t>(x.size())};
        auto const convert = [](values a) {
            return apply<ops::cast>(static_cast<std::uint64_t>(calque::dtype_of<To>), a[0]);
        };
        check({make(s, x)}, convert, make(s, y));
    };
    auto const to_all = [&]<class From>(std::vector<From> const& x) {
        for_numbers([&]<class To>() { check_cast.template operator()<From, To>(x); });
        check_cast.template operator()<From, bool>(x);
    };
    for_integers([&]<class From>() { to_all.template operator()<From>(special_numbers<From>()); });
    to_all.template operator()<bool>({false, true});
    for_types<float, double>([&]<class From>() { // what every integer type can hold, and truncation
        to_all.template operator()<From>({From(0), From(-0.), From(1), From(1.5), From(2.999), From(0.25), From(127)});
        for_types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(
            [&]<class To>() { check_cast.template operator()<From, To>({From(-1.5), From(-128), From(-0.75)}); });
        for_types<float, double, bool>([&]<class To>() {
            using limits = std::numeric_limits<From>;
            check_cast.template operator()<From, To>(
                {limits::infinity(), limits::quiet_NaN(), From(-1e30), From(1e-30)});
        });
    });
}

TEST_CASE("inputs broadcast") {
    struct shapes {
        shape a, b, joined;
    };
    std::vector<shapes> const all{{{}, {}, {}},
                                  {{3}, {}, {3}},
                                  {{3}, {3}, {3}},
                                  {{1}, {5}, {5}},
                                  {{0}, {1}, {0}},
                                  {{0}, {}, {0}},
                                  {{2, 3}, {3}, {2, 3}},
                                  {{2, 1}, {1, 3}, {2, 3}},
                                  {{2, 3}, {2, 1}, {2, 3}},
                                  {{0, 3}, {3}, {0, 3}},
                                  {{4, 1, 3}, {5, 1}, {4, 5, 3}},
                                  {{1, 1, 1}, {2, 3, 4}, {2, 3, 4}},
                                  {{2, 1, 3, 1, 2, 1, 1, 2}, {3, 1, 5, 1, 3, 1, 1}, {2, 3, 3, 5, 2, 3, 1, 2}}};
    for (auto const& [a, b, joined] : all) {
        tensor const x = noise<float>(a, 1), y = noise<float>(b, 2);
        std::vector<extent_t> const from_x = broadcast_positions(a, joined), from_y = broadcast_positions(b, joined);
        std::vector<float> sums, differences, chosen;
        for (std::size_t i = 0; i < from_x.size(); ++i) {
            float const p = x.as<float>()[from_x[i]], q = y.as<float>()[from_y[i]];
            differences.push_back(q - p);
            chosen.push_back(p < q ? p : q);
        }
        check({x, y}, [](values v) { return v[1] - v[0]; }, make(joined, differences));
        check({x, y}, [](values v) { return where(v[0] < v[1], v[0], v[1]); }, make(joined, chosen));
    }
}

TEST_CASE("identities keep elements, broadcasts repeat them, sum_to adds them up again") {
    tensor const x = make<float>({3, 1}, {1, 2, 3});
    tensor const like = noise<float>({2, 3, 4}, 1);
    std::vector<float> const repeated{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    check({x}, apply_op<ops::fresh>, x);
    check({x}, apply_op<ops::stop_gradient>, x);
    check({x}, [](values a) { return broadcast_to(a[0], {2, dyn, 4}); }, make({2, 3, 4}, repeated));
    check({x, like}, apply_op<ops::broadcast_like>, make({2, 3, 4}, repeated));
    check(
        {x},
        [](values a) {
            auto const asserted = static_cast<std::uint64_t>(a[0].owner->intern({3, dyn}));
            return apply<ops::assert_shape>(asserted, a[0]);
        },
        x);
    tensor const grid = make<float>({2, 3}, {1, 2, 3, 40, 50, 60});
    check({grid, noise<float>({1, 3}, 1)}, apply_op<ops::sum_to>, make<float>({1, 3}, {41, 52, 63}));
    check({grid, noise<float>({2, 1}, 1)}, apply_op<ops::sum_to>, make<float>({2, 1}, {6, 150}));
    check({grid, noise<float>({1, 1}, 1)}, apply_op<ops::sum_to>, make<float>({1, 1}, {156}));
    check({grid, grid}, apply_op<ops::sum_to>, grid);
}

TEST_CASE("reductions over every set of axes") {
    std::vector<shape> const all{{}, {1}, {7}, {0}, {2, 3}, {5, 1}, {3, 0}, {0, 3}, {2, 3, 4}, {3, 1, 2, 5}};
    for_numbers([&]<class T>() {
        for (shape const& s : all) {
            tensor const x = noise<T>(s, 5);
            for (axis_set axes = 1; axes < axis_set{1} << s.rank; ++axes) {
                shape to = s;
                for (int axis = 0; axis < s.rank; ++axis) {
                    to[axis] = contains(axes, axis) ? 1 : s[axis];
                }
                std::vector<extent_t> const at = broadcast_positions(to, s);
                auto const size = static_cast<std::size_t>(to.size());
                using wide = std::conditional_t<std::floating_point<T>, long double, std::uint64_t>;
                std::vector<wide> sums(size);
                std::vector<T> largest(size, std::numeric_limits<T>::lowest());
                std::vector<T> smallest(size, std::numeric_limits<T>::max());
                for (std::size_t i = 0; i < at.size(); ++i) {
                    auto const to_i = static_cast<std::size_t>(at[i]);
                    T const e = x.as<T>()[i];
                    sums[to_i] += static_cast<wide>(e);
                    largest[to_i] = std::max(largest[to_i], e);
                    smallest[to_i] = std::min(smallest[to_i], e);
                }
                std::vector<T> expected;
                for (wide const e : sums) {
                    expected.push_back(static_cast<T>(e));
                }
                check({x}, [&](values a) { return sum(a[0], axes); }, make(to, expected), {rounding<T>});
                bool const is_over_nothing = s.size() == 0 && to.size() != 0;
                if (!is_over_nothing && at.size() != 0) {
                    check({x}, [&](values a) { return reduce_max(a[0], axes); }, make(to, largest));
                    check({x}, [&](values a) { return reduce_min(a[0], axes); }, make(to, smallest));
                }
            }
        }
    });
}

TEST_CASE("a maximum does not lose NaN; one over nothing is an error") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    tensor const x = make<float>({3, 3}, {1, nan, 2, -infinity, -infinity, -infinity, nan, 0, infinity});
    check({x}, [](values a) { return reduce_max(a[0], 2); }, make<float>({3, 1}, {nan, -infinity, nan}));
    check({x}, [](values a) { return reduce_min(a[0], 1); }, make<float>({1, 3}, {nan, nan, -infinity}));
    CHECK_THROWS_WITH_AS(
        run({noise<float>({3, 0}, 1)}, tests::extents::are_dynamic, [](values a) { return reduce_max(a[0], 2); }),
        "max: it has no value over an empty axis: float[3,0]", calque::shape_error);
}

TEST_CASE("integer sums wrap around, float sums accumulate in double") {
    tensor const x = make<std::int8_t>({4}, {100, 100, 100, -1});
    check({x}, [](values a) { return sum(a[0], 1); }, make<std::int8_t>({1}, {43}));
    tensor const y = make<float>({3}, {1e8f, 1, -1e8f});
    check({y}, [](values a) { return sum(a[0], 1); }, make<float>({1}, {1}));
}

TEST_CASE("products of matrices and vectors") {
    for_numbers([]<class T>() {
        for (auto const& [m, k, n] : {std::array<extent_t, 3>{1, 1, 1},
                                      {2, 3, 4},
                                      {7, 5, 3},
                                      {1, 8, 1},
                                      {3, 0, 2},
                                      {0, 3, 2},
                                      {2, 3, 0},
                                      {17, 33, 9}}) {
            tensor const a = noise<T>({m, k}, 3), b = noise<T>({k, n}, 4);
            std::vector<T> expected;
            for (extent_t i = 0; i < m; ++i) {
                for (extent_t j = 0; j < n; ++j) {
                    using wide = std::conditional_t<std::floating_point<T>, long double, std::uint64_t>;
                    wide total = 0;
                    for (extent_t l = 0; l < k; ++l) {
                        total += static_cast<wide>(a.as<T>()[i * k + l]) * static_cast<wide>(b.as<T>()[l * n + j]);
                    }
                    expected.push_back(static_cast<T>(total));
                }
            }
            auto const product = [](values v) { return matmul(v[0], v[1]); };
            double const error = 100 * rounding<T>;
            check({a, b}, product, make({m, n}, expected), {error});
            tensor row = a, column = b;
            row.extents = {m * k};
            column.extents = {k * n};
            if (m == 1) {
                check({row, b}, product, make({n}, expected), {error});
            }
            if (n == 1) {
                check({a, column}, product, make({m}, expected), {error});
            }
            if (m == 1 && n == 1) {
                check({row, column}, product, make({}, expected), {error});
            }
        }
    });
}

TEST_CASE("views keep the elements") {
    for_types<bool, std::int16_t, float, double>([]<class T>() {
        tensor const x = noise<T>({2, 3, 4}, 6);
        std::vector<T> const e = elements<T>(x);
        check({x}, [](values a) { return reshape(a[0], {6, dyn}); }, make({6, 4}, e));
        check({x, noise<float>({4, 6}, 1)}, [](values a) { return reshape_like(a[0], a[1]); }, make({4, 6}, e));
        check({x}, [](values a) { return expand_dims(a[0], 0b10010); }, make({2, 1, 3, 4, 1}, e));
        check({x}, [](values a) { return squeeze(expand_dims(a[0], 0b10010), 0b10010); }, make({2, 3, 4}, e));
        std::vector<T> reversed, rotated; // [4,3,2] and [3,4,2]
        for (std::size_t i = 0; i < 24; ++i) {
            reversed.push_back(e[i % 2 * 12 + i / 2 % 3 * 4 + i / 6]);
            rotated.push_back(e[i % 2 * 12 + i / 8 * 4 + i / 2 % 4]);
        }
        check({x}, [](values a) { return transpose(a[0]); }, make({4, 3, 2}, reversed));
        check({x}, [](values a) { return transpose(a[0], 0x021); }, make({3, 4, 2}, rotated));
    });
    tensor const nothing = noise<float>({0, 3}, 1);
    check({nothing}, [](values a) { return transpose(a[0]); }, make<float>({3, 0}, {}));
    check({nothing}, [](values a) { return reshape(a[0], {3, 0, 5}); }, make<float>({3, 0, 5}, {}));
}

TEST_CASE("slices are Python's, and slice_adjoint puts them back") {
    tensor const x = make<float>({2, 5}, {0, 1, 2, 3, 4, 10, 11, 12, 13, 14});
    struct range {
        extent_t start, stop, step;
        std::vector<std::size_t> columns;
    };
    constexpr extent_t end = to_the_end;
    for (range const& r : std::vector<range>{{0, end, 1, {0, 1, 2, 3, 4}},
                                             {1, 4, 1, {1, 2, 3}},
                                             {0, end, 2, {0, 2, 4}},
                                             {1, end, 3, {1, 4}},
                                             {-2, end, 1, {3, 4}},
                                             {0, -1, 2, {0, 2}},
                                             {-100, 2, 1, {0, 1}},
                                             {3, 100, 1, {3, 4}},
                                             {4, 1, 1, {}},
                                             {0, end, 100, {0}}}) {
        auto const lists = [&](value v) {
            builder& b = *v.owner;
            return slice_lists{b.intern({1, r.start}), b.intern({end, r.stop}), b.intern({1, r.step})}.pack();
        };
        std::vector<float> expected, put_back(10);
        for (std::size_t const c : r.columns) {
            expected.push_back(static_cast<float>(10 + c));
            put_back[5 + c] = static_cast<float>(10 + c);
        }
        shape const s{1, static_cast<extent_t>(r.columns.size())};
        auto const cut = [&](values a) { return slice(a[0], lists(a[0])); };
        check({x}, cut, make(s, expected));
        check({x}, [&](values a) { return slice_adjoint(cut(a), a[0], lists(a[0])); }, make({2, 5}, put_back));
    }
}

TEST_CASE("concatenations, and their parts") {
    tensor const a = make<std::int32_t>({2, 1}, {1, 2});
    tensor const b = make<std::int32_t>({2, 0}, {});
    tensor const c = make<std::int32_t>({2, 3}, {3, 4, 5, 6, 7, 8});
    auto const join = [](values v) { return concatenate(v.data(), 3, 1); };
    check({a, b, c}, join, make<std::int32_t>({2, 4}, {1, 3, 4, 5, 2, 6, 7, 8}));
    tensor const parts[] = {a, b, c};
    for (int k = 0; k < 3; ++k) {
        auto const part = [&](values v) {
            auto const attribute = std::uint64_t{1} | static_cast<std::uint64_t>(k) << 8;
            return apply<ops::concatenation_part>(attribute, join(v), v[0], v[1], v[2]);
        };
        check({a, b, c}, part, parts[k]);
    }
    auto const below = [](values v) { return concatenate(v.data(), 2, 0); };
    check({c, c}, below, make<std::int32_t>({4, 3}, {3, 4, 5, 6, 7, 8, 3, 4, 5, 6, 7, 8}));
}

TEST_CASE("take reads positions, take_adjoint adds there") {
    tensor const x = make<float>({2, 3}, {0, 1, 2, 10, 11, 12});
    for_types<std::int8_t, std::int64_t, std::uint64_t>([&]<class I>() {
        std::vector<I> const places{I(2), I(0), I(1), std::numeric_limits<I>::max()};
        tensor const indices = make<I>({2, 2}, places);
        check(
            {x, indices}, [](values a) { return take(a[0], a[1], 1); },
            make<float>({2, 2, 2}, {2, 0, 1, 2, 12, 10, 11, 12}));
        check({x, make<I>({}, {I(1)})}, [](values a) { return take(a[0], a[1], 0); }, make<float>({3}, {10, 11, 12}));
        tensor const dy = make<float>({2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40});
        check(
            {dy, indices, x}, [](values a) { return take_adjoint(a[0], a[1], a[2], 1); },
            make<float>({2, 3}, {2, 3, 5, 20, 30, 50}));
    });
    tensor const from_end = make<std::int32_t>({4}, {-1, -3, -4, std::numeric_limits<std::int32_t>::min()});
    check(
        {x, from_end}, [](values a) { return take(a[0], a[1], 1); }, make<float>({2, 4}, {2, 0, 0, 0, 12, 10, 10, 10}));
    tensor const none = make<std::int32_t>({0}, {});
    check({noise<float>({0, 2}, 1), none}, [](values a) { return take(a[0], a[1], 0); }, make<float>({0, 2}, {}));
    CHECK_THROWS_AS(run({noise<float>({0, 2}, 1), from_end}, tests::extents::are_dynamic,
                        [](values a) { return take(a[0], a[1], 0); }),
                    calque::shape_error);
}

TEST_CASE("constants, indices and counts") {
    for_numbers([]<class T>() {
        tensor const x = noise<T>({3, 4}, 1);
        check(
            {x}, [](values a) { return literal(a[0], std::numeric_limits<T>::lowest()); },
            make<T>({}, {std::numeric_limits<T>::lowest()}));
        check({x}, [](values a) { return iota_like(a[0], 1, calque::dtype_of<T>); }, make<T>({1, 4}, {0, 1, 2, 3}));
        check({x}, [](values a) { return element_count(a[0], 3); }, make<T>({}, {12}));
        check({x}, [](values a) { return element_count(a[0], 1); }, make<T>({}, {3}));
    });
}

TEST_CASE("compositions") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    tensor const x = make<double>({2, 3}, {1, 2, 4, -1000, 0, 1000});
    double const total = std::exp(-3.) + std::exp(-2.) + 1;
    check({x}, [](values a) { return softmax(a[0], 2); },
          make<double>({2, 3}, {std::exp(-3.) / total, std::exp(-2.) / total, 1 / total, 0, 0, 1}), {1e-14});
    check({x}, [](values a) { return logsumexp(a[0], 2); }, make<double>({2, 1}, {4 + std::log(total), 1000}), {1e-14});
    check({x}, [](values a) { return log_softmax(a[0], 2); },
          make<double>({2, 3}, {-3 - std::log(total), -2 - std::log(total), -std::log(total), -2000, -1000, 0}),
          {1e-14});
    check({x}, [](values a) { return mean(a[0], 3); }, make<double>({1, 1}, {7. / 6}), {1e-14});
    check(
        {make<double>({3, 2}, {-infinity, -infinity, infinity, 1, infinity, -infinity})},
        [](values a) { return logsumexp(a[0], 2); }, make<double>({3, 1}, {-infinity, infinity, infinity}));
    tensor const ties = make<float>({3, 3}, {1, 3, 3, 5, std::numeric_limits<float>::quiet_NaN(), 7, 0, 0, 0});
    check({ties}, [](values a) { return argmax(a[0], 1); }, make<std::int64_t>({3, 1}, {1, 1, 0}));
    check(
        {make<std::int32_t>({3}, {2, 0, 9})}, [](values a) { return one_hot(a[0], 3, dtype::float32); },
        make<float>({3, 3}, {0, 0, 1, 1, 0, 0, 0, 0, 0}));
    check(
        {make<std::int32_t>({3}, {2, 0, 9}), noise<float>({5, 3}, 1)},
        [](values a) { return one_hot_like(a[0], a[1], a[1].rank() - 1, dtype::float32); },
        make<float>({3, 3}, {0, 0, 1, 1, 0, 0, 0, 0, 0}));
}

TEST_CASE("what does not fit is an error") {
    auto const sum_of = [](values a) { return a[0] + a[1]; };
    CHECK_THROWS_WITH_AS(run({noise<float>({2}, 1), noise<float>({3}, 1)}, tests::extents::are_dynamic, sum_of),
                         "add: the extents do not broadcast: float[2] and float[3]", calque::shape_error);
    tests::sketch s;
    s.add_output(s.argument({2}).id);
    tensor const given = noise<double>({2}, 1);
    tensor result;
    CHECK_THROWS_WITH_AS(tests::interpreter::run(s.view(), &given, &result), "argument 0: it is double, declared float",
                         calque::dtype_error);
    CHECK_THROWS_WITH_AS(run({noise<bool>({2}, 1)}, tests::extents::are_static, apply_op<ops::negative>),
                         "negative: it takes a number dtype, not bool", calque::dtype_error);
}
