// SPDX-License-Identifier: MIT
// `check` and `assert_finite`: what a call throws, and that nothing has been written then.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <vector>

namespace {

using array = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// What a call throws.
template <class Call>
std::optional<calque::check_error> violation_of(Call const& call) {
    try {
        call();
    } catch (calque::check_error const& e) {
        return e;
    }
    return std::nullopt;
}

inline constexpr auto root = [](auto x) {
    calque::check(x >= 0.f, "x must not be negative");
    return calque::sqrt(x);
};
inline constexpr auto norm = [](auto x) {
    calque::check(sum(x) < 10.f, "too large");
    return sum(root(x));
};

} // namespace

TEST_CASE("a check that holds changes nothing, one that does not says where") {
    auto const f = calque::function(root, {.name = "root"});
    CHECK(f(array{0.f, 4.f, 9.f}) == array{0.f, 2.f, 3.f});
    CHECK(f(array{}) == array{});
    auto const e = violation_of([&] { (void)f(array{1.f, 4.f, -1.f, -2.f}); });
    REQUIRE(e.has_value());
    CHECK(std::string(e->what()) == "calque: root: check: x must not be negative: first at [2] of [4]");
    CHECK(e->message() == "x must not be negative");
    CHECK(e->index() == std::vector<std::int64_t>{2});
    CHECK(violation_of([&] { (void)f(array{not_a_number}); }).has_value());

    auto const scalar = calque::function(root, {.name = "root"});
    CHECK(scalar(4.f) == 2.f);
    auto const of_scalar = violation_of([&] { (void)scalar(-4.f); });
    REQUIRE(of_scalar.has_value());
    CHECK(std::string(of_scalar->what()) == "calque: root: check: x must not be negative");
    CHECK(of_scalar->index().empty());
}

TEST_CASE("the place of an element in a matrix, whatever its strides, and with static shapes") {
    auto const f = calque::function(root);
    matrix x = xt::ones<float>({37, 53});
    CHECK_FALSE(violation_of([&] { (void)f(x); }).has_value());
    x(20, 52) = x(21, 0) = x(36, 52) = -1;
    auto const e = violation_of([&] { (void)f(x); });
    REQUIRE(e.has_value());
    CHECK(e->index() == std::vector<std::int64_t>{20, 52});
    auto const of_view = violation_of([&] { (void)f(xt::view(x, xt::range(21, 37), xt::range(1, 53))); });
    REQUIRE(of_view.has_value());
    CHECK(of_view->index() == std::vector<std::int64_t>{15, 51});

    xt::xtensor_fixed<float, xt::xshape<2, 3>> fixed = {{1.f, 2.f, 3.f}, {4.f, -5.f, 6.f}};
    auto const of_fixed = violation_of([&] { (void)f(fixed); });
    REQUIRE(of_fixed.has_value());
    CHECK(of_fixed->index() == std::vector<std::int64_t>{1, 1});
    CHECK(f.trace_count() == 2); // the matrix and its view
}

TEST_CASE("a call that throws leaves outputs and variables as they were") {
    auto const f = calque::function([](auto total, auto x) {
        total.assign_add(x);
        calque::check(total < 10.f, "the total is below 10");
        return total * 2.f;
    });
    calque::variable<float, calque::dyn> total(array{1.f, 2.f});
    array out = {-1.f, -1.f};
    f.into(out, total, array{1.f, 1.f});
    CHECK(out == array{4.f, 6.f});
    CHECK(violation_of([&] { f.into(out, total, array{1.f, 7.f}); }).has_value());
    CHECK(out == array{4.f, 6.f});
    CHECK(total.value() == array{2.f, 3.f});
    f.into(out, total, array{1.f, 1.f});
    CHECK(total.value() == array{3.f, 4.f});

    auto const in_place = calque::function(root);
    array x = {4.f, -4.f};
    CHECK(violation_of([&] { in_place.into(x, x); }).has_value());
    CHECK(x == array{4.f, -4.f});
}

TEST_CASE("of several checks the first in the program is thrown") {
    auto const f = calque::function([](auto x, auto y) {
        calque::check(x > 0.f, "x is positive");
        calque::check(y > 0.f, "y is positive");
        calque::check(x > 0.f, "x is positive, again");
        return x + y;
    });
    CHECK(violation_of([&] { (void)f(array{1.f}, array{0.f}); })->message() == "y is positive");
    CHECK(violation_of([&] { (void)f(array{0.f}, array{0.f}); })->message() == "x is positive");
    CHECK(f(array{1.f}, array{2.f}) == array{3.f});
    CHECK(f.trace_count() == 1);
}

TEST_CASE("a check in a branch is made if the branch runs") {
    auto const f = calque::function([](auto x, auto takes_root) {
        return calque::cond(
            takes_root > 0,
            [&] {
                calque::check(x >= 0.f, "the root of a negative number");
                return calque::sqrt(x);
            },
            [&] { return x; });
    });
    CHECK(f(array{-4.f}, 0) == array{-4.f});
    CHECK(f(array{4.f}, 1) == array{2.f});
    CHECK(violation_of([&] { (void)f(array{4.f, -4.f}, 1); })->index() == std::vector<std::int64_t>{1});
}

TEST_CASE("a check in a loop is made at each step, and the first that fails is thrown") {
    auto const f = calque::function([](auto xs) {
        return calque::scan(
            [](auto sum, auto x) {
                calque::check(x < 5.f, "a step is below 5");
                auto const next = sum + x;
                return std::tuple{next, next};
            },
            calque::zeros_like(calque::view(xs, 0)), xs);
    });
    CHECK(std::get<0>(f(matrix{{1.f, 2.f}, {3.f, 4.f}})) == array{4.f, 6.f});
    auto const e = violation_of([&] { (void)f(matrix{{1.f, 2.f}, {3.f, 5.f}, {5.f, 5.f}}); });
    REQUIRE(e.has_value());
    CHECK(e->index() == std::vector<std::int64_t>{1});

    auto const counting = calque::function([](auto x) {
        calque::check(x < 100.f, "x is below 100");
        auto const sum = calque::fori_loop(0, 4, [&](auto, auto s) { return s + x; }, 0.f);
        calque::check(sum < 10.f, "the sum is below 10");
        return sum;
    });
    CHECK(counting(2.f) == 8.f);
    CHECK(violation_of([&] { (void)counting(4.f); })->message() == "the sum is below 10");
}

TEST_CASE("assert_finite takes trees, of which integers are always finite") {
    auto const f = calque::function([](auto x, auto y, auto n) {
        calque::assert_finite(std::tuple{x, y, n});
        return calque::sum(x) + calque::cast<float>(calque::sum(y)) + calque::cast<float>(calque::sum(n));
    });
    xt::xtensor<double, 1> const y = {3.};
    xt::xtensor<std::int32_t, 1> const n = {4};
    CHECK(f(array{1.f, 2.f}, y, n) == 10.f);
    CHECK(violation_of([&] { (void)f(array{1.f, infinity}, y, n); })->index() == std::vector<std::int64_t>{1});
    CHECK(violation_of([&] { (void)f(array{not_a_number, 1.f}, y, n); })->index() == std::vector<std::int64_t>{0});
    auto const e = violation_of([&] { (void)f(array{}, xt::xtensor<double, 1>{1., -double(infinity)}, n); });
    REQUIRE(e.has_value());
    CHECK(e->message() == "assert_finite: a value is infinite or NaN");
    CHECK(e->index() == std::vector<std::int64_t>{1});
}

TEST_CASE("the gradient of a function with checks makes them too") {
    auto const f = calque::function(calque::value_and_grad([](auto x) {
        calque::check(x > 0.f, "x is positive");
        return calque::sum(calque::log(x));
    }));
    CHECK(std::get<1>(f(array{1.f, 2.f})) == array{1.f, 0.5f});
    CHECK(violation_of([&] { (void)f(array{1.f, 0.f}); }).has_value());
}

TEST_CASE("under vmap each example is checked") {
    auto const rows = calque::function([](auto x) { return calque::vmap(norm)(x); });
    CHECK(rows(matrix{{1.f, 4.f}, {0.f, 9.f}}) == array{3.f, 3.f});
    auto const of_root = violation_of([&] { (void)rows(matrix{{1.f, 4.f}, {1.f, -4.f}, {-1.f, 0.f}}); });
    REQUIRE(of_root.has_value());
    CHECK(of_root->message() == "x must not be negative");
    CHECK(of_root->index() == std::vector<std::int64_t>{0}); // of the two examples that fail, the first place
    auto const of_both = violation_of([&] { (void)rows(matrix{{1.f, -4.f}, {9.f, 4.f}}); });
    REQUIRE(of_both.has_value());
    CHECK(of_both->message() == "too large"); // the first check, though a later example fails it
    auto const nested = calque::function([](auto x) { return calque::vmap(calque::vmap(norm))(x); });
    xt::xtensor<float, 3> cube = xt::ones<float>({2, 3, 4});
    CHECK(nested(cube) == matrix{{4.f, 4.f, 4.f}, {4.f, 4.f, 4.f}});
    cube(1, 2, 3) = -1.f;
    CHECK(violation_of([&] { (void)nested(cube); })->index() == std::vector<std::int64_t>{3});
}
