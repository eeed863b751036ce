// SPDX-License-Identifier: MIT
// Six programs that people write when TensorFlow warns them of retracing, and what becomes of them here.
//
// For each: what TensorFlow 2.21 computed and how often it traced (measured; `shared/seed_examples.md` of the
// developers has every run), and the same calls with calque. Where the mistake no longer compiles, the program that
// does not compile, with its message, is a file in tests/compile_fail. The program fails if an output is not
// TensorFlow's.
#include "table.hpp"

#include <calque/calque.hpp>
#include <calque/random.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using vector = xt::xtensor<float, 1>;

table results;

// ---- 000: variables and branches

// 000-1, a variable made in the body: tests/compile_fail/variable_made_in_the_body.cpp. What it meant is an array.
inline constexpr auto fresh_zeros = [](auto x) { return x + calque::zeros<float>(1); };

// 000-2: the variable lives outside and is passed in. It is read in every call, never baked in.
inline constexpr auto shifted = [](auto v, auto x) { return x + v; };

// 000-3, `if (x > 0)`: tests/compile_fail/if_on_a_traced_value.cpp. The branch belongs into the graph.
inline constexpr auto double_or_increment = [](auto x) {
    return calque::cond(x > 0, [&] { return x * 2; }, [&] { return x + 1; });
};
inline constexpr auto double_or_increment_where = [](auto x) { return where(x > 0, x * 2, x + 1); };

// ---- 001-1: a branch on two values

inline constexpr auto sum_or_difference = [](auto x, auto y) {
    return calque::cond(x > y, [&] { return x + y; }, [&] { return x - y; });
};
inline constexpr auto sum_or_difference_where = [](auto x, auto y) { return where(x > y, x + y, x - y); };

// ---- 003-3: a branch in an activation

inline constexpr auto activation = [](auto x) {
    return calque::cond(mean(x) > 0.5f, [&] { return relu(x); }, [&] { return sigmoid(x); });
};

// ---- 004-3, a random number that is drawn when the function is traced, once and for all:
// tests/compile_fail/random_number_in_the_body.cpp. Here the key is an argument, and each call draws another number.
inline constexpr auto with_noise = [](auto key, auto x) { return x + calque::random::uniform<float>(key); };

template <class F>
std::vector<double> call_with(F const& f, std::vector<int> const& arguments) {
    std::vector<double> outputs;
    for (int const x : arguments) {
        outputs.push_back(f(x));
    }
    return outputs;
}

void variables() {
    auto const made_inside = calque::function(fresh_zeros);
    std::vector<double> outputs;
    for (int i = 0; i < 5; ++i) {
        outputs.push_back(made_inside(vector{1.f})(0));
    }
    results.line("000-1 zeros made in the body", outputs, {1, 1, 1, 1, 1}, made_inside, 1,
                 "0 (eager); ValueError as tf.function");

    calque::variable<float, 1> v(xt::xtensor_fixed<float, xt::xshape<1>>{0.f});
    auto const passed = calque::function(shifted);
    outputs.clear();
    for (int i = 0; i < 5; ++i) {
        outputs.push_back(passed(v, vector{1.f})(0));
    }
    results.line("000-2 variable outside", outputs, {1, 1, 1, 1, 1}, passed, 1, "1");
    v.assign(xt::xtensor_fixed<float, xt::xshape<1>>{10.f});
    results.line("000-2 after v.assign(10)", {passed(v, vector{1.f})(0)}, {11}, passed, 1, "1");
}

void branches() {
    std::vector<int> const signs{1, -1, 1, -1, 1};
    std::vector<int> const five{1, 2, 3, 4, 5};
    auto const by_cond = calque::function(double_or_increment);
    results.line("000-3 branch on data, cond", call_with(by_cond, signs), {2, 0, 2, 0, 2}, by_cond, 1,
                 "1; of Python ints 2");
    results.line("000-3 five numbers, the same function", call_with(by_cond, five), {2, 4, 6, 8, 10}, by_cond, 1,
                 "5, and 2 warnings");
    auto const by_where = calque::function(double_or_increment_where);
    results.line("000-3 branch on data, where", call_with(by_where, signs), {2, 0, 2, 0, 2}, by_where, 1, "1");

    auto const difference = calque::function(sum_or_difference);
    results.line("001-1 conditional, cond", {difference(10.f, 5.f), difference(10.f, 15.f)}, {15, -5}, difference, 1,
                 "1; of Python floats 2");
    auto const difference_where = calque::function(sum_or_difference_where);
    results.line("001-1 conditional, where", {difference_where(10.f, 5.f), difference_where(10.f, 15.f)}, {15, -5},
                 difference_where, 1, "1");

    auto const activate = calque::function(activation);
    std::vector<double> outputs;
    for (vector const& x : {vector{1.f, 2.f}, vector{-1.f, 0.f}, vector{3.f, 0.f}}) {
        vector const y = activate(x);
        outputs.insert(outputs.end(), y.begin(), y.end());
    }
    results.line("003-3 control flow in an activation", outputs, {1, 2, 0.2689414322376251, 0.5, 3, 0}, activate, 1,
                 "1; without AutoGraph an error");
}

void random_numbers() {
    auto const noisy = calque::function(with_noise);
    std::vector<float> draws;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        draws.push_back(noisy(calque::random::key(seed), 0.f));
    }
    bool differ = true;
    for (std::size_t i = 0; i < draws.size(); ++i) {
        differ = differ && draws[i] >= 0.f && draws[i] < 1.f && (i == 0 || draws[i] != draws[i - 1]);
    }
    results.fail_unless(differ);
    std::printf("%-58s %g %g %g %g: %s   %d   TensorFlow: 1, with the first number four times\n",
                "004-3 random number in the result", static_cast<double>(draws[0]), static_cast<double>(draws[1]),
                static_cast<double>(draws[2]), static_cast<double>(draws[3]), differ ? "differ" : "DO NOT DIFFER",
                static_cast<int>(noisy.trace_count()));
}

} // namespace

int main() {
    std::printf("%-58s %-30s traces at run time (0: all shapes are static, the compiler has made the plan)\n",
                "example", "outputs");
    variables();
    branches();
    random_numbers();
    return results.is_good() ? 0 : 1;
}
