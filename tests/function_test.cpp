// SPDX-License-Identifier: MIT
// Function objects: what they count and keep, what they share, and that errors leave everything as it was.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include "message_of.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace {

using tests::message_of;

using vector = xt::xtensor<float, 1>;

inline constexpr auto plus_one = [](auto x) { return x + 1; };
inline constexpr auto product = [](auto a, auto b) { return calque::matmul(a, b); };

// Functions of extents that only the call knows.
inline constexpr auto own_mean = [](auto x) { return calque::sum<0>(x) / x.extent(0); };
inline constexpr auto own_mean_gradient = calque::grad([](auto x) { return sum(square(x)) / x.extent(0); });
inline constexpr auto counted = [](auto x) { return where(x > 0, calque::arange<float>(x.extent(0)), x.extent(0)); };
inline constexpr auto likelihood = [](auto z, auto labels) { return sum(z * calque::one_hot(labels, z.extent(-1))); };

struct scaled {
    float factor;
    constexpr auto operator()(auto x) const { return x * factor; }
};
inline constexpr scaled tripled{3.f};

vector numbers(std::size_t n) {
    return xt::arange<float>(static_cast<float>(n));
}

} // namespace

TEST_CASE("a new shape is a trace, an old one a hit") {
    auto const f = calque::function(plus_one);
    CHECK(f(numbers(3))(2) == 3.f);
    CHECK(f(numbers(5))(4) == 5.f);
    CHECK(f(numbers(3))(0) == 1.f);
    CHECK(f.trace_count() == 2);
    CHECK(f.hit_count() == 1);
    CHECK(f.cache_size() == 2);
    CHECK(f.trace_time().count() > 0);

    std::vector<std::string> signatures = f.signatures();
    std::sort(signatures.begin(), signatures.end());
    CHECK(signatures == std::vector<std::string>{"float[3]", "float[5]"});
}

TEST_CASE("dtypes have plans of their own") {
    auto const f = calque::function(plus_one);
    CHECK(f(numbers(3))(1) == 2.f);
    CHECK(f(xt::xtensor<std::int32_t, 1>{1, 2, 3})(1) == 3);
    CHECK(f.trace_count() == 2);
    CHECK(f.hit_count() == 0);
}

TEST_CASE("the least recently used plan goes first") {
    auto const f = calque::function(plus_one, calque::function_options{.capacity = 2});
    f.prepare(numbers(1));
    f.prepare(numbers(2));
    f.prepare(numbers(1)); // used again
    f.prepare(numbers(3)); // 2 goes
    CHECK(f.cache_size() == 2);
    CHECK(f.trace_count() == 3);
    f.prepare(numbers(1));
    CHECK(f.trace_count() == 3);
    f.prepare(numbers(2));
    CHECK(f.trace_count() == 4);
}

TEST_CASE("copies share the cache; clear forgets the plans, not the counts") {
    auto const f = calque::function(plus_one);
    auto const copy = f;
    f.prepare(numbers(4));
    copy.prepare(numbers(4));
    CHECK(copy.trace_count() == 1);
    CHECK(f.hit_count() == 1);
    copy.clear();
    CHECK(f.cache_size() == 0);
    f.prepare(numbers(4));
    CHECK(f.trace_count() == 2);
}

TEST_CASE("static shapes never trace") {
    auto const f = calque::function(plus_one);
    xt::xtensor_fixed<float, xt::xshape<2, 2>> x = {{1.f, 2.f}, {3.f, 4.f}};
    CHECK(f(x)(1, 1) == 5.f);
    CHECK(f.trace_count() == 0);
    CHECK(f.cache_size() == 0);
}

TEST_CASE("an error names function, operation and shapes, and changes nothing") {
    auto const f = calque::function(product, calque::function_options{.name = "product"});
    xt::xtensor<float, 2> const a = xt::ones<float>({2, 3});
    xt::xtensor<float, 2> y = xt::ones<float>({1, 1});
    CHECK(message_of<calque::shape_error>([&] { f.into(y, a, a); }) ==
          "calque: product: matmul: the inner extents differ: float[2,3] and float[2,3]");
    CHECK(y.size() == 1);
    CHECK(y(0, 0) == 1.f);
    CHECK(f.trace_count() == 0);
    CHECK(f.cache_size() == 0);
}

TEST_CASE("a span of the wrong size is refused and stays as it is") {
    auto const f = calque::function(plus_one);
    std::vector<float> memory(4, 7.f);
    CHECK_THROWS_AS(f.into(std::span<float>(memory), numbers(3)), calque::shape_error);
    CHECK(memory == std::vector<float>(4, 7.f));
}

TEST_CASE("an extent that only the call knows is a traced number") {
    xt::xtensor<float, 2> const x{{1, 2, 3}, {5, 6, 8}};
    CHECK(calque::function(own_mean)(x) == vector{3, 4, 5.5f});
    CHECK(calque::function(calque::vmap(own_mean))(x) == vector{2, 19.f / 3});
    CHECK(calque::function(own_mean_gradient)(x) == x);
    CHECK(calque::function(counted)(vector{-1, 1, 1, -2}) == vector{4, 1, 2, 4});
    CHECK(calque::function(likelihood)(x, std::vector<int>{2, 0}) == 8.f);

    auto const any = calque::function(own_mean, calque::function_options{.shapes = calque::shape_policy::dynamic});
    CHECK(any(numbers(5)) == 2.f);
    CHECK(any(numbers(8)) == 3.5f);
    CHECK(any.trace_count() == 1);
}

TEST_CASE("a plan says what runs") {
    auto const f = calque::function(plus_one);
    auto const plan = f.plan(numbers(10));
    CHECK(plan.text() == " 0 elements  1 x 10: add (one run)\narena 0 bytes\n");
    CHECK(plan.bytes() == 0);
}

TEST_CASE("a constexpr object with state is a function too") {
    auto const f = calque::function<tripled>();
    CHECK(f(numbers(3))(2) == 6.f);
}
