// SPDX-License-Identifier: MIT
// Variables: program order, trees of them, in place or through a temporary, errors that change nothing.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

using vector = xt::xtensor<float, 1>;
using state = calque::variable<float, calque::dyn>;

inline constexpr auto reads_between_writes = [](auto v, auto x) {
    auto const before = v.read();
    v.assign_add(x);
    auto const between = v * 10.f;
    v.assign_sub(1.f);
    return std::tuple{before, between, v};
};
inline constexpr auto swap = [](auto a, auto b) {
    auto const was = a.read();
    a.assign(b);
    b.assign(was);
};
inline constexpr auto reversed_sum = [](auto v) { // each element needs others of the old value
    v.assign(v - sum(v));
};
inline constexpr auto fill = [](auto v, auto x) { v.assign(x); };

template <class M>
struct dense {
    calque::leaf<M, float, calque::dyn, 2> w;
    calque::leaf<M, float, 2> b;
};
inline constexpr auto loss = [](auto layer, auto x) { return sum(square(calque::matmul(x, layer.w) + layer.b)); };
inline constexpr auto descend = [](auto layer, auto x, auto rate) {
    auto const [value, gradient] = calque::value_and_grad(loss)(layer, x);
    layer.w.assign_sub(rate * gradient.w);
    layer.b.assign_sub(rate * gradient.b);
    return value;
};
template <class M>
struct momentum {
    dense<M> layer, velocity;
};
inline constexpr auto descend_with_momentum = [](auto s, auto x, auto rate) {
    auto const gradient = calque::grad(loss)(s.layer, x);
    auto const velocity = calque::tree_map([](auto v, auto g) { return 0.5f * v + g; }, s.velocity, gradient);
    calque::assign(s, momentum<calque::traced>{
                          calque::tree_map([&](auto p, auto v) { return p - rate * v; }, s.layer, velocity), velocity});
    return calque::tree_map([](auto v) { return v; }, s);
};
inline constexpr auto restart = [](auto layer, auto other) { calque::assign(layer, other); };

} // namespace

TEST_CASE("assignments are in program order, and what reads later sees them") {
    auto const f = calque::function(reads_between_writes);
    state v(vector{1.f, 2.f});
    auto const [before, between, after] = f(v, vector{3.f, 4.f});
    CHECK(before == vector{1.f, 2.f});
    CHECK(between == vector{40.f, 60.f});
    CHECK(after == vector{3.f, 5.f});
    CHECK(v.value() == vector{3.f, 5.f});
    f(v, vector{0.f, 0.f});
    CHECK(v.value() == vector{2.f, 4.f});
    CHECK(f.trace_count() == 1);
    CHECK(f.hit_count() == 1);
}

TEST_CASE("variables exchange their values") {
    auto const f = calque::function(swap);
    state a(vector{1.f, 2.f}), b(vector{3.f, 4.f});
    float const* const memory = a.value().data();
    f(a, b);
    CHECK(a.value() == vector{3.f, 4.f});
    CHECK(b.value() == vector{1.f, 2.f});
    CHECK(a.value().data() == memory); // in place
}

TEST_CASE("a value that is needed while it is replaced goes through a temporary") {
    auto const f = calque::function(reversed_sum);
    state v(vector{1.f, 2.f, 3.f});
    f(v);
    CHECK(v.value() == vector{-5.f, -4.f, -3.f});
}

TEST_CASE("a scalar fills a variable; an array of another shape is an error that changes nothing") {
    auto const f = calque::function(fill);
    state v(vector{1.f, 2.f, 3.f});
    f(v, 7.f);
    CHECK(v.value() == vector{7.f, 7.f, 7.f});
    std::string message;
    try {
        f(v, vector{1.f, 2.f});
    } catch (calque::shape_error const& e) {
        message = e.what();
    }
    CHECK(message.find("assign: the value does not have the shape of the variable: float[2] and float[3]") !=
          std::string::npos);
    CHECK(v.value() == vector{7.f, 7.f, 7.f});
    f(v, vector{4.f, 5.f, 6.f});
    CHECK(v.value() == vector{4.f, 5.f, 6.f});
}

TEST_CASE("trees of variables, and gradients by them") {
    dense<calque::variables> layer{
        calque::variable<float, calque::dyn, 2>(xt::xtensor<float, 2>{{1.f, 2.f}, {3.f, 4.f}}),
        calque::variable<float, 2>(vector{0.f, 0.f})};
    xt::xtensor<float, 2> const x{{1.f, 0.f}, {0.f, 1.f}, {1.f, 1.f}};
    auto const f = calque::function(descend);
    float value = f(layer, x, 0.01f);
    CHECK(value == doctest::Approx(1 + 4 + 9 + 16 + 16 + 36));
    CHECK(layer.b.value()(0) == doctest::Approx(-0.01 * 2 * (1 + 3 + 4)));
    for (int i = 0; i < 1000; ++i) {
        value = f(layer, x, 0.05f);
    }
    CHECK(value < 1e-3f);
    CHECK(f.trace_count() == 1);

    dense<calque::host> other;
    other.w = xt::ones<float>({2, 2});
    other.b = xt::ones<float>({2});
    calque::function(restart)(layer, other);
    CHECK(layer.w.value()(1, 1) == 1.f);
    CHECK(layer.b.value()(1) == 1.f);
}

TEST_CASE("what tree_map makes of variables are values") {
    momentum<calque::variables> state;
    state.layer.w.assign(xt::xtensor<float, 2>{{1.f, 2.f}, {3.f, 4.f}});
    state.velocity.w.assign(xt::xtensor<float, 2>{{0.f, 0.f}, {2.f, 2.f}});
    xt::xtensor<float, 2> const x{{1.f, 0.f}, {0.f, 1.f}};
    auto const [layer, velocity] = calque::function(descend_with_momentum)(state, x, 0.25f);
    CHECK(state.velocity.w.value() == xt::xtensor<float, 2>{{2.f, 4.f}, {7.f, 9.f}});
    CHECK(state.layer.w.value() == xt::xtensor<float, 2>{{0.5f, 1.f}, {1.25f, 1.75f}});
    CHECK(layer.w == state.layer.w.value());
    CHECK(velocity.b == state.velocity.b.value());
}

TEST_CASE("the host assigns, other extents too, and not those that are not declared") {
    state v(vector{1.f});
    v.assign(vector{1.f, 2.f});
    CHECK(v.value().size() == 2);
    calque::variable<float, calque::dyn, 2> rows(xt::xtensor<float, 2>{{1.f, 2.f}});
    CHECK_THROWS_AS(rows.assign(xt::xtensor<float, 2>{{1.f}}), calque::shape_error);
    CHECK(rows.value()(0, 1) == 2.f);
    calque::variable<double> scalar(2.);
    calque::function([](auto s) { s.assign_add(1.); })(scalar);
    CHECK(scalar.value() == 3.);
}

TEST_CASE("the host assigns to a variable of fixed size only what has its extents") {
    calque::variable<float, 3> v(vector{1.f, 2.f, 3.f});
    CHECK_THROWS_AS(v.assign(vector{4.f, 5.f}), calque::shape_error);
    CHECK_THROWS_AS(v.assign(vector{4.f, 5.f, 6.f, 7.f}), calque::shape_error);
    CHECK_THROWS_AS(v.assign(xt::ones<float>({1})), calque::shape_error);
    CHECK_THROWS_AS(v.assign(xt::xtensor<float, 2>{{4.f, 5.f}, {6.f, 7.f}}), calque::shape_error);
    CHECK((v.value() == xt::xtensor_fixed<float, xt::xshape<3>>{1.f, 2.f, 3.f}));
    v.assign(2 * xt::ones<float>({3}));
    CHECK(v.value()(2) == 2.f);
}
