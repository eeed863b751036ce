// SPDX-License-Identifier: MIT
// Functions of the host in a graph, and what is printed from inside of one: what they get, how often, in which order.
#include "agrees_with_interpreter.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

/// The place that each element would have if the array were sorted.
struct ranks {
    static constexpr std::string_view name = "ranks";
    static void call(calque::host_array<int> result, calque::host_array<float const> x) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            result[i] = static_cast<int>(std::count_if(x.begin(), x.end(), [&](float y) { return y < x[i]; }));
        }
    }
};

std::vector<std::string> events;

struct note {
    static constexpr std::string_view name = "note";
    static void call(calque::host_array<float const> x, calque::host_array<int const> tag) {
        events.push_back(std::to_string(tag[0]) + " of " + std::to_string(x.size()) + ": " +
                         std::to_string(static_cast<int>(std::accumulate(x.begin(), x.end(), 0.f))));
    }
};
struct refuse {
    static constexpr std::string_view name = "refuse";
    static void call(calque::host_array<float const> x) {
        if (x[0] < 0.f) {
            throw std::runtime_error("negative");
        }
    }
};

inline constexpr auto weighted = [](auto x) {
    auto const place = calque::host_function<ranks, int>(x * 2.f);
    return calque::cast<float>(place) * x + 1.f;
};
inline constexpr auto of_a_transpose = [](auto x) { return calque::host_function<ranks, int>(transpose(x)); };
inline constexpr auto noted = [](auto x, auto tag) {
    calque::host_call<note>(x, tag);
    auto const y = x + 1.f;
    calque::host_call<note>(y, tag + 1);
    return sum(y);
};
inline constexpr auto noted_in_regions = [](auto x, auto tag) {
    auto const result = calque::fori_loop(
        0, 3,
        [&](auto i, auto y) {
            calque::cond(i == 1, [&] { calque::host_call<note>(y, tag); }, [] {});
            return y * 2.f;
        },
        x);
    calque::host_call<note>(result, tag);
    return result;
};
inline constexpr auto refusing = [](auto v, auto x) {
    v.assign_add(x);
    calque::host_call<refuse>(x);
    return v * 2.f;
};
inline constexpr auto printing = [](auto x, auto parameters) {
    calque::debug::print<"x">(x);
    calque::debug::print(parameters);
    calque::debug::print<"sum">(sum(x));
    return x * 2.f;
};
inline constexpr auto loss = [](auto x) {
    calque::debug::print<"loss">(sum(x * x));
    return sum(x * x);
};

inline constexpr auto print_row = [](auto x) {
    calque::debug::print<"row">(x);
    return sum(x);
};

std::vector<std::string> printed_by(auto const& run) {
    std::vector<std::string> lines;
    calque::debug::print_to([&](std::string_view line) { lines.emplace_back(line); });
    run();
    calque::debug::print_to({});
    return lines;
}

} // namespace

TEST_CASE("a function of the host makes an array of whole arrays") {
    auto const f = calque::function(weighted);
    CHECK(f(vector{3.f, 1.f, 2.f}) == vector{7.f, 1.f, 3.f});
    CHECK(f(vector{5.f}) == vector{1.f});
    CHECK(f(vector::from_shape({0})).size() == 0);
    CHECK(tests::agrees_with_interpreter(weighted, vector{4.f, 4.f, 1.f, 9.f}));
    CHECK(calque::function(of_a_transpose)(matrix{{1.f, 5.f}, {3.f, 2.f}}) == xt::xtensor<int, 2>{{0, 2}, {3, 1}});
    auto const [value, gradient] =
        calque::function(calque::value_and_grad([](auto x) { return sum(weighted(x)); }))(vector{3.f, 1.f, 2.f});
    CHECK(value == 11.f);
    CHECK(gradient == vector{2.f, 0.f, 1.f}); // the places are constants
}

TEST_CASE("calls of the host happen in the order of the program, each time it comes by") {
    events.clear();
    auto const f = calque::function(noted);
    CHECK(f(vector{1.f, 2.f}, 7) == 5.f);
    CHECK(f(vector{3.f, 2.f, 1.f}, 1) == 9.f);
    CHECK(events == std::vector<std::string>{"7 of 2: 3", "8 of 2: 5", "1 of 3: 6", "2 of 3: 9"});
    events.clear();
    CHECK(calque::function(noted_in_regions)(vector{1.f, 2.f}, 4) == vector{8.f, 16.f});
    CHECK(events == std::vector<std::string>{"4 of 2: 6", "4 of 2: 24"});
}

TEST_CASE("what a function of the host throws leaves the call, and variables as they were") {
    calque::variable<float, calque::dyn> v(vector{1.f, 2.f});
    auto const f = calque::function(refusing);
    CHECK_THROWS_WITH_AS(f(v, vector{-1.f, 1.f}), "negative", std::runtime_error);
    CHECK(v.value() == vector{1.f, 2.f});
    CHECK(f(v, vector{1.f, 1.f}) == vector{4.f, 6.f});
    CHECK(v.value() == vector{2.f, 3.f});
}

TEST_CASE("debug::print shows arrays and trees when the function runs") {
    auto const f = calque::function(printing);
    auto const run = [&] { f(vector{1.f, 2.5f}, std::tuple{matrix{{1.f}, {2.f}}, 3}); };
    std::vector<std::string> const expected{"x: float[2] {1, 2.5}", "float[2,1] {{1}, {2}}", "int32[] 3",
                                            "sum: float[] 3.5"};
    CHECK(printed_by(run) == expected);
    CHECK(printed_by(run) == expected); // a hit prints too
    auto const eagerly = printed_by([&] {
        calque::run_eagerly(true, {.sink = [](std::string_view) {}});
        run();
        calque::run_eagerly(false);
    });
    CHECK(eagerly == expected);
    vector const many = xt::arange<float>(20.f);
    CHECK(printed_by([&] { f(many, 0); })[0] == "x: float[20] {0, 1, 2, ..., 17, 18, 19}");
    auto const mapped = calque::function([](auto x) { return calque::vmap(print_row)(x); });
    CHECK(printed_by([&] { CHECK(mapped(matrix{{1.f, 2.f}, {3.f, 4.f}}) == vector{3.f, 7.f}); }) ==
          std::vector<std::string>{"row: float[2,2] {{1, 2}, {3, 4}}"});
    auto const by_gradient = printed_by([&] { calque::function(calque::grad(loss))(vector{1.f, 2.f}); });
    CHECK(by_gradient == std::vector<std::string>{"loss: float[] 5"});
}
