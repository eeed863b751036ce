// SPDX-License-Identifier: MIT
// Loops: while_loop, fori_loop and scan against plain loops and the interpreter.
#include "agrees_with_interpreter.hpp"
#include "message_of.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <tuple>

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;
using tests::agrees_with_interpreter;
using tests::message_of;

vector numbers(std::size_t n) {
    vector x = xt::arange<float>(static_cast<float>(n));
    return x * 0.25f - 1.f;
}

inline constexpr auto square_root = [](auto x) {
    return calque::while_loop([&](auto y) { return max(abs(y * y - x)) > 1e-4f; },
                              [&](auto y) { return 0.5f * (y + x / y); }, x);
};
inline constexpr auto collatz = [](auto n) {
    auto const [last, steps] =
        calque::while_loop([](auto m, auto) { return m != 1; },
                           [](auto m, auto k) { return std::tuple{where(m % 2 == 0, m / 2, m * 3 + 1), k + 1}; }, n, 0);
    return steps;
};
inline constexpr auto fibonacci = [](auto n) { // two carried values that change places
    auto const [a, b] = calque::fori_loop(0, n, [](auto, auto x, auto y) { return std::tuple{y, x + y}; }, 0.f, 1.f);
    return a;
};
inline constexpr auto powers = [](auto x) {
    return calque::fori_loop(1, 6, [&](auto i, auto total) { return total + x * i; }, zeros_like(x));
};
inline constexpr auto from_a_constant = [](auto x) { // the loop meets the trace in its body
    return calque::fori_loop(0, 4, [&](auto i, auto total) { return total + x * i; }, calque::zeros<float>(3));
};
inline constexpr auto running_sum = [](auto x) {
    return calque::scan([](auto total, auto v) { return std::tuple{total + v, total + v}; }, 0.f, x);
};
inline constexpr auto kept_and_carried = [](auto start, auto xs) { // one value goes to four places
    return calque::scan(
        [](auto carried, auto x) {
            auto const [a, b] = carried;
            auto const next = a * 0.5f + b * x;
            return std::tuple{std::tuple{next, next}, std::tuple{next, a, next}};
        },
        std::tuple{start, start * 2.f}, xs);
};
inline constexpr auto means_of_rows = [](auto start, auto xs) {
    return calque::scan(
        [](auto a, auto x) {
            auto const next = a + (x - a) * 0.25f;
            return std::tuple{next, next};
        },
        start, xs);
};
inline constexpr auto loss_of_means = [](auto start, auto xs) {
    auto const [last, means] = means_of_rows(start, xs);
    return sum(means * means) + sum(last);
};
inline constexpr auto recurrent = [](auto w, auto xs) {
    return calque::scan(
        [&](auto h, auto x) {
            auto const next = tanh(calque::matmul(w, h) + x);
            return std::tuple{next, sum(next * next)};
        },
        sum<0>(xs) * 0.f, xs);
};
inline constexpr auto of_a_tree = [](auto x, auto y) {
    return calque::scan(
        [](auto carried, auto items) {
            auto const [a, b] = carried;
            auto const [u, v] = items;
            return std::tuple{std::tuple{a + u, b * v}, a - v};
        },
        std::tuple{0.f, 1.f}, std::tuple{x, y});
};
inline constexpr auto nested_loops = [](auto x) {
    return calque::fori_loop(
        0, 3,
        [&](auto i, auto total) {
            return calque::fori_loop(0, 2, [&](auto j, auto t) { return t + x * (i * 10 + j); }, total);
        },
        zeros_like(x));
};
inline constexpr auto branch_in_a_loop = [](auto x) {
    return calque::fori_loop(
        0, 6,
        [&](auto i, auto y) { return calque::cond(sum(y) > 4.f, [&] { return y * 0.5f; }, [&] { return y + x * i; }); },
        x);
};
inline constexpr auto counts = [](auto v, auto x) {
    calque::fori_loop(
        0, 3,
        [&](auto, auto y) {
            v.assign_add(y);
            return y * 2.f;
        },
        x);
};
inline constexpr auto over_rows = [](auto x) { // whose number only the call knows
    return calque::fori_loop(
        0, x.extent(0), [&](auto i, auto total) { return total * 0.5f + take<0>(x, i); }, sum<0>(x) * 0.f);
};
template <int First>
inline constexpr auto count_from = [](auto x) {
    return calque::fori_loop(
        First, x.extent(0), [](auto i, auto total) { return total * 3.f + i; }, sum(x) * 0.f + 1.f);
};
inline constexpr auto unchanged = [](auto x, auto w) { // `w` goes through the loop as it is
    auto const [y, same] = calque::fori_loop(0, 3, [](auto, auto a, auto b) { return std::tuple{a + b, b}; }, x, w);
    return std::tuple{y, same};
};

} // namespace

TEST_CASE("while_loop runs until its condition fails") {
    auto const f = calque::function(square_root);
    vector const y = f(vector{1.f, 2.f, 9.f});
    CHECK(y(1) == doctest::Approx(std::sqrt(2.f)).epsilon(1e-4));
    CHECK(y(2) == doctest::Approx(3.f).epsilon(1e-4));
    for (std::size_t const n : {1u, 7u, 16u, 17u, 1000u}) {
        CHECK(agrees_with_interpreter(square_root, vector(numbers(n) + 2.f)));
    }
    CHECK(f.trace_count() == 1);
}

TEST_CASE("a loop with integers that only the values end") {
    auto const f = calque::function(collatz);
    CHECK(f(std::int32_t{1}) == 0);
    CHECK(f(std::int32_t{6}) == 8);
    CHECK(f(std::int32_t{27}) == 111);
}

TEST_CASE("carried values may change places, whatever the number of steps") {
    auto const f = calque::function(fibonacci);
    CHECK(f(std::int64_t{0}) == 0.f);
    CHECK(f(std::int64_t{1}) == 1.f);
    CHECK(f(std::int64_t{2}) == 1.f);
    CHECK(f(std::int64_t{10}) == 55.f);
    CHECK(f(std::int64_t{11}) == 89.f);
    CHECK(f(std::int64_t{-3}) == 0.f);
}

TEST_CASE("fori_loop with bounds that the compiler knows") {
    CHECK(calque::function(powers)(vector{1.f, 2.f}) == vector{15.f, 30.f});
    CHECK(calque::function(from_a_constant)(vector{1.f, 2.f, 3.f}) == vector{6.f, 12.f, 18.f});
    auto const none =
        calque::function([](auto x) { return calque::fori_loop(3, 3, [&](auto, auto y) { return y + x; }, x); });
    CHECK(none(vector{1.f, 2.f}) == vector{1.f, 2.f});
}

TEST_CASE("fori_loop up to an extent that only the call knows, forward and back") {
    auto const f = calque::function(over_rows);
    for (std::size_t const rows : {1u, 2u, 5u}) {
        xt::xtensor<float, 2> x = xt::xtensor<float, 2>::from_shape({rows, 3});
        std::vector<float> expected(3, 0.f);
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < 3; ++j) {
                x(i, j) = static_cast<float>(i * 3 + j);
                expected[j] = expected[j] * 0.5f + x(i, j);
            }
        }
        vector const y = f(x);
        CHECK(std::equal(expected.begin(), expected.end(), y.begin(), y.end()));
        xt::xtensor<float, 2> const dx = calque::function(calque::grad([](auto v) { return sum(over_rows(v)); }))(x);
        for (std::size_t i = 0; i < rows; ++i) {
            CHECK(dx(i, 1) == std::pow(0.5f, static_cast<float>(rows - 1 - i)));
        }
    }
    auto const by_hand = [](int first, int last) {
        float total = 1.f;
        for (int i = first; i < last; ++i) {
            total = total * 3.f + static_cast<float>(i);
        }
        return total;
    };
    for (int const n : {0, 1, 2, 5}) {
        vector const x = numbers(static_cast<std::size_t>(n));
        CHECK(calque::function(count_from<0>)(x) == by_hand(0, n));
        CHECK(calque::function(count_from<2>)(x) == by_hand(2, n));
        CHECK(calque::function(count_from<-2>)(x) == by_hand(-2, n));
    }
    CHECK(calque::function(count_from<2>)(calque::with_shape<5>(vector(numbers(5)))) == by_hand(2, 5));
}

TEST_CASE("scan carries on and stacks") {
    auto const f = calque::function(running_sum);
    auto const [total, running] = f(vector{1.f, 2.f, 4.f});
    CHECK(total == 7.f);
    CHECK(running == vector{1.f, 3.f, 7.f});
    auto const [nothing, empty] = f(vector::from_shape({0}));
    CHECK(nothing == 0.f);
    CHECK(empty.size() == 0);
    for (std::size_t const n : {1u, 2u, 33u, 1000u}) {
        CHECK(agrees_with_interpreter(running_sum, numbers(n)));
    }
}

TEST_CASE("what a step carries on is stacked where it is carried") {
    auto const f = calque::function(means_of_rows);
    for (std::size_t const steps : {0u, 1u, 2u, 5u}) {
        for (std::size_t const columns : {1u, 3u, 40u}) {
            CAPTURE(steps);
            CAPTURE(columns);
            vector const start = numbers(columns);
            matrix xs = matrix::from_shape({steps, columns});
            for (std::size_t i = 0; i < xs.size(); ++i) {
                xs.data()[i] = static_cast<float>(i * i % 7);
            }
            CHECK(agrees_with_interpreter(means_of_rows, start, xs));
            CHECK(agrees_with_interpreter(kept_and_carried, start, xs));
            auto const [slope, slopes] = calque::function(calque::grad<0, 1>(loss_of_means))(start, xs);
            CHECK(slope.size() == columns);
            CHECK(slopes.shape() == xs.shape());
            vector last = start * 0.f;
            matrix all = xs * 0.f;
            f.into(std::tie(last, all), start, xs);
            CHECK(last == (steps == 0 ? start : vector(xt::row(all, static_cast<std::ptrdiff_t>(steps) - 1))));
        }
    }
}

TEST_CASE("scan over rows, with a matrix that its body captures") {
    matrix w = xt::ones<float>({3, 3}) * 0.1f;
    w(1, 2) = -0.7f;
    for (std::size_t const n : {1u, 2u, 9u}) {
        matrix xs = xt::ones<float>({std::size_t{n}, std::size_t{3}});
        for (std::size_t i = 0; i < n; ++i) {
            xs(i, 1) = 0.3f * static_cast<float>(i);
        }
        auto const [last, energy] = calque::function(recurrent)(w, xs);
        std::array<float, 3> h{};
        for (std::size_t i = 0; i < n; ++i) {
            std::array<float, 3> next{};
            for (std::size_t r = 0; r < 3; ++r) {
                next[r] = std::tanh(w(r, 0) * h[0] + w(r, 1) * h[1] + w(r, 2) * h[2] + xs(i, r));
            }
            h = next;
            CHECK(energy(i) == doctest::Approx(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]).epsilon(1e-5));
        }
        CHECK(last(2) == doctest::Approx(h[2]).epsilon(1e-5));
    }
}

TEST_CASE("scan takes strided rows and trees") {
    matrix const m{{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}};
    auto const column = xt::view(m, xt::all(), 1);
    auto const [total, running] = calque::function(running_sum)(column);
    CHECK(total == 7.f);
    CHECK(running == vector{2.f, 7.f});
    auto const [carried, stacked] = calque::function(of_a_tree)(vector{1.f, 2.f}, vector{3.f, 5.f});
    CHECK(std::get<0>(carried) == 3.f);
    CHECK(std::get<1>(carried) == 15.f);
    CHECK(stacked == vector{-3.f, -4.f});
}

TEST_CASE("what a loop carries may begin with tuples of numbers") {
    auto const scanned = calque::function([](auto xs) {
        auto const step = [](auto s, auto x) {
            auto const [sum, count] = s;
            return std::pair(std::tuple(sum + x, count + 1), sum);
        };
        return calque::scan(step, std::tuple(0.f, 1), xs);
    });
    auto const [carried, before] = scanned(vector{1.f, 2.f, 4.f});
    CHECK(std::get<0>(carried) == 7.f);
    CHECK(std::get<1>(carried) == 4);
    CHECK(before == vector{0.f, 1.f, 3.f});

    auto const counted = calque::function([](auto x) {
        auto const step = [&](auto, auto s) { return std::pair(s.first + sum(x), s.second * 2.f); };
        return calque::fori_loop(0, 3, step, std::pair(0.f, 1.f));
    });
    auto const [sums, power] = counted(vector{1.f, 2.f});
    CHECK(sums == 9.f);
    CHECK(power == 8.f);
}

TEST_CASE("loops and branches nest") {
    CHECK(calque::function(nested_loops)(vector{1.f}) == vector{63.f});
    for (std::size_t const n : {1u, 3u, 17u}) {
        CHECK(agrees_with_interpreter(nested_loops, numbers(n)));
        CHECK(agrees_with_interpreter(branch_in_a_loop, numbers(n)));
    }
}

TEST_CASE("a loop assigns to variables in the order of its steps") {
    auto const f = calque::function(counts);
    calque::variable<float, calque::dyn> v(vector{0.f, 1.f});
    f(v, vector{1.f, 2.f});
    CHECK(v.value() == vector{7.f, 15.f});
    f(v, vector{1.f, 0.f});
    CHECK(v.value() == vector{14.f, 15.f});
    CHECK(f.trace_count() == 1);
}

TEST_CASE("what no step changes is not carried") {
    auto const f = calque::function(unchanged);
    auto const [y, same] = f(vector{1.f, 2.f}, vector{10.f, 20.f});
    CHECK(y == vector{31.f, 62.f});
    CHECK(same == vector{10.f, 20.f});
}

TEST_CASE("a carried value whose shape changes is an error when that is known, and nothing is written") {
    auto const f = calque::function(
        [](auto x, auto y) { return calque::fori_loop(0, 2, [&](auto, auto) { return y; }, x); }, {.name = "grow"});
    vector out{7.f};
    CHECK(
        message_of<calque::shape_error>([&] { f.into(out, vector{1.f, 2.f}, vector{1.f}); }) ==
        "calque: grow: fori_loop: a carried value changes its shape from one step to the next: float[2] and float[1]");
    CHECK(out == vector{7.f});
    CHECK(f(vector{1.f}, vector{5.f}) == vector{5.f});

    // Of what other loops carry and read, too, only what changes is shown.
    auto const scan = calque::function(
        [](auto x, auto rows) {
            return std::get<1>(calque::scan([](auto s, auto row) { return std::tuple{s + row, row}; }, x, rows));
        },
        {.name = "rows"});
    CHECK(message_of<calque::shape_error>([&] { (void)scan(vector{1.f}, matrix{{1.f, 2.f}, {3.f, 4.f}}); }) ==
          "calque: rows: scan: a carried value changes its shape from one step to the next: float[1] and float[2]");
    auto const repeat = calque::function(
        [](auto x, auto y) {
            return calque::while_loop([](auto a, auto) { return sum(a) < 9.f; },
                                      [](auto a, auto b) { return std::tuple{a + 1.f, concatenate<0>(b, b)}; }, x, y);
        },
        {.name = "repeat"});
    CHECK(message_of<calque::shape_error>([&] { (void)repeat(vector{1.f}, vector{1.f, 2.f, 3.f}); }) ==
          "calque: repeat: while_loop: a carried value changes its shape from one step to the next: float[3] and "
          "float[6]");
}
