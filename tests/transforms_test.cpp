// SPDX-License-Identifier: MIT
// `jvp`, `vjp`, `jacobian`, `hessian` and `custom_vjp`: what they return, what they compute, and that they nest with
// each other, with `grad` and with `vmap`. (Forward derivatives of each operation: gradient_test.cpp.)
#include <calque/calque.hpp>
#include <calque/custom_vjp.hpp>
#include <calque/jacobian.hpp>
#include <calque/jvp.hpp>
#include <calque/passes/optimize.hpp>
#include <calque/vjp.hpp>
#include <calque/vmap.hpp>

#include "run_graph.hpp"

#include <cmath>
#include <tuple>

namespace {

using calque::custom_vjp;
using calque::dyn;
using calque::grad;
using calque::hessian;
using calque::jacobian;
using calque::jacobian_mode;
using calque::jvp;
using calque::output_t;
using calque::spec;
using calque::unmapped;
using calque::vjp;
using calque::vmap;
using tests::make;
using tests::noise;
using tests::tensor;

/// `fn(arguments...)`, traced for `Specs` and interpreted: all results.
template <class... Specs, class F>
std::vector<tensor> run_all(F const& /*fn*/, std::vector<tensor> const& arguments) {
    using graph = decltype(calque::trace<Specs...>(std::declval<F>()));
    std::vector<tensor> results(static_cast<std::size_t>(graph::view().output_count));
    tests::interpreter::run(graph::view(), arguments.data(), results.data());
    calque::graph::builder optimized;
    calque::passes::optimize(graph::view(), optimized);
    std::vector<tensor> again(results.size());
    tests::interpreter::run(optimized.view(), arguments.data(), again.data());
    for (std::size_t i = 0; i < results.size(); ++i) {
        CHECK(tests::difference(again[i], results[i], {1e-12, 1e-13}) == "");
    }
    return results;
}
template <class... Specs, class F>
tensor run(F const& fn, std::vector<tensor> const& arguments, std::size_t output = 0) {
    return run_all<Specs...>(fn, arguments)[output];
}
template <class F>
double at(F const& fn, double x) {
    return *run<spec<double>>(fn, {make<double>({}, {x})}).template as<double>();
}

void check_close(tensor const& given, tensor const& expected, double tolerance = 1e-12) {
    CHECK(tests::difference(given, expected, {tolerance, tolerance}) == "");
}

using scalar = spec<double>;
using vector = spec<double, 4>;
using dynamic = spec<double, dyn>;
using matrix = spec<double, 4, 3>;

inline constexpr auto layer = [](auto x, auto w) { return tanh(matmul(x, w)); };
inline constexpr auto energy = [](auto x) { return sum(exp(x * 0.5) * x * x) + calque::logsumexp(x); };
inline constexpr auto pairs = [](auto x) {
    return sum(expand_dims<0>(x) * expand_dims<1>(x) * x); // (sum x) (sum x^2)
};

// ---- what they return

static_assert(std::is_same_v<output_t<decltype(jvp(energy)), vector, vector>, std::tuple<spec<double>, spec<double>>>);
static_assert(std::is_same_v<output_t<decltype(jvp(layer)), std::tuple<vector, matrix>, std::tuple<vector, matrix>>,
                             std::tuple<spec<double, 3>, spec<double, 3>>>);
static_assert(std::is_same_v<output_t<decltype(jvp<1>(layer)), std::tuple<dynamic, matrix>, matrix>,
                             std::tuple<spec<double, 3>, spec<double, 3>>>);
static_assert(std::is_same_v<output_t<decltype(vjp(layer)), std::tuple<vector, matrix>, spec<double, 3>>,
                             std::tuple<spec<double, 3>, std::tuple<vector, matrix>>>);
static_assert(std::is_same_v<output_t<decltype(jacobian<1>(layer)), vector, matrix>, spec<double, 3, 4, 3>>);
static_assert(std::is_same_v<output_t<decltype(jacobian(layer)), dynamic, matrix>, spec<double, 3, 4>>);
static_assert(std::is_same_v<output_t<decltype(jacobian(energy)), dynamic>, dynamic>);
static_assert(std::is_same_v<output_t<decltype(hessian(energy)), vector>, spec<double, 4, 4>>);
static_assert(std::is_same_v<output_t<decltype(hessian(energy)), spec<float, dyn, 2>>, spec<float, dyn, 2, dyn, 2>>);
static_assert(std::is_empty_v<decltype(jvp(grad(energy)))> && std::is_empty_v<decltype(vmap(hessian(energy)))> &&
              std::is_empty_v<decltype(custom_vjp(energy, layer))>);

// ---- forward

TEST_CASE("a tangent beside a value") {
    auto const both = run_all<scalar, scalar>(jvp([](auto x) { return x * x * x; }),
                                              {make<double>({}, {2}), make<double>({}, {0.5})});
    CHECK(*both[0].as<double>() == 8);
    CHECK(*both[1].as<double>() == 6);

    tensor const x = noise<double>({4}, 1), w = noise<double>({4, 3}, 2), dx = noise<double>({4}, 3),
                 dw = noise<double>({4, 3}, 4);
    using arguments = std::tuple<vector, matrix>;
    tensor const whole = run<arguments, arguments>(jvp(layer), {x, w, dx, dw}, 1);
    tensor const by_x = run<arguments, vector>(jvp<0>(layer), {x, w, dx}, 1);
    tensor const by_w = run<std::tuple<dynamic, matrix>, std::tuple<matrix>>(jvp<1>(layer), {x, w, dw}, 1);
    tensor sum = by_x;
    for (int i = 0; i < 3; ++i) {
        sum.as<double>()[i] += by_w.as<double>()[i];
    }
    check_close(whole, sum);
}

TEST_CASE("no trace is left of what forward mode is derived with") {
    constexpr auto g = calque::trace<vector, vector>(jvp([](auto x) { return exp(x) * x; }));
    calque::graph::builder optimized;
    calque::passes::optimize(g.view(), optimized);
    CHECK(calque::graph::to_text(optimized.view()) ==
          "%0 = argument 0 double[4]\n%1 = argument 1 double[4]\n%2 = exp(%0) double[4]\n"
          "%3 = multiply(%2, %0) double[4]\n%4 = multiply(%1, %2) double[4]\n%5 = fma(%4, %0, %4) double[4]\n"
          "return %3, %5\n");
}

TEST_CASE("tangents of trees, numbers, integers, and of what does not depend on an argument") {
    auto constexpr f = [](auto pair, auto scale) {
        auto [x, y] = pair;
        return std::tuple{x * scale, calque::argmax<0>(y), y * 0 + 2, 3.};
    };
    using pair = std::tuple<vector, vector>;
    tensor const x = noise<double>({4}, 1), y = noise<double>({4}, 2), dx = noise<double>({4}, 3),
                 dy = noise<double>({4}, 4);
    tensor const scale = make<double>({}, {2}), ds = make<double>({}, {3});
    auto const results = run_all<std::tuple<pair, double>, std::tuple<pair, double>>(jvp(f), {x, y, scale, dx, dy, ds});
    REQUIRE(results.size() == 8);
    tensor expected = dx;
    for (int i = 0; i < 4; ++i) {
        expected.as<double>()[i] = dx.as<double>()[i] * 2 + x.as<double>()[i] * 3;
    }
    check_close(results[4], expected);
    CHECK(*results[5].as<std::int64_t>() == 0);
    check_close(results[6], make<double>({4}, {0, 0, 0, 0}));
    CHECK(*results[7].as<double>() == 0);
}

TEST_CASE("a Hessian times a vector") {
    auto constexpr product = [](auto x, auto v) { return std::get<1>(jvp(grad(energy))(x, v)); };
    tensor const x = noise<double>({4}, 1), v = noise<double>({4}, 2);
    tensor const h = run<vector>(hessian(energy), {x});
    tensor expected(calque::dtype::float64, {4});
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            expected.as<double>()[i] += h.as<double>()[4 * i + j] * v.as<double>()[j];
        }
    }
    check_close(run<vector, vector>(product, {x, v}), expected);
    check_close(run<dynamic, dynamic>(product, {x, v}), expected);
    // Reverse over forward is the same.
    auto constexpr reversed = grad([](auto x0, auto v0) { return std::get<1>(jvp(energy)(x0, v0)); });
    check_close(run<vector, vector>(reversed, {x, v}), expected);
}

inline constexpr auto power = [](auto x) { return x * x * x * x; };
inline constexpr auto derivative = [](auto f) {
    return [=](auto x) { return std::get<1>(jvp(f)(x, calque::ones_like(x))); };
};

TEST_CASE("higher derivatives, forward") {
    CHECK(at([](auto x) { return derivative(power)(x); }, 2) == 32);
    CHECK(at([](auto x) { return derivative(derivative(power))(x); }, 2) == 48);
    CHECK(at([](auto x) { return grad(derivative(derivative(power)))(x); }, 2) == 48);
    CHECK(at([](auto x) { return derivative(grad(grad(power)))(x); }, 2) == 48);
    // Tangents are not confused: d/dx x d/dy (x y) at y = x is d/dx x^2.
    auto constexpr nested = [](auto x) {
        return derivative([](auto z) { return z * derivative([=](auto y) { return z * y; })(z); })(x);
    };
    CHECK(at(nested, 3) == 6);
    // A tangent that is a value of the body, and a function of a number.
    CHECK(at([](auto x) { return std::get<1>(jvp([](auto y) { return y * y; })(3., x)); }, 2) == 12);
}

// ---- reverse

TEST_CASE("a cotangent pulled back") {
    tensor const x = noise<double>({4}, 1), w = noise<double>({4, 3}, 2), u = noise<double>({3}, 3);
    using arguments = std::tuple<dynamic, spec<double, dyn, 3>>;
    auto const results = run_all<arguments, spec<double, 3>>(vjp(layer), {x, w, u});
    auto constexpr weighted = [](auto a, auto b, auto c) { return sum(layer(a, b) * c); };
    check_close(results[0], run<vector, matrix>(layer, {x, w}));
    check_close(results[1], run<vector, matrix, spec<double, 3>>(grad<0>(weighted), {x, w, u}));
    check_close(results[2], run<vector, matrix, spec<double, 3>>(grad<1>(weighted), {x, w, u}));
    auto const chosen = run_all<std::tuple<vector, matrix>, spec<double, 3>>(vjp<1>(layer), {x, w, u});
    REQUIRE(chosen.size() == 2);
    check_close(chosen[1], results[2]);
}

TEST_CASE("cotangents of a tuple; one of integers has no part") {
    auto constexpr f = [](auto x) { return std::tuple{x * x, calque::argmax<0>(x), sum(x)}; };
    using cotangent = std::tuple<vector, spec<std::int64_t>, scalar>;
    auto const results =
        run_all<vector, cotangent>(vjp(f), {make<double>({4}, {1, 2, 3, 4}), make<double>({4}, {1, 1, 0, 1}),
                                            make<std::int64_t>({}, {5}), make<double>({}, {10})});
    check_close(results[3], make<double>({4}, {12, 14, 10, 18}));
}

TEST_CASE("JAX's form: a function of the cotangent") {
    auto constexpr f = [](auto x, auto w) {
        auto pull_back = [&](auto u) { return std::get<1>(vjp(layer)(std::tuple{x, w}, u)); };
        auto [dx, dw] = pull_back(calque::ones<double>(3));
        return std::tuple{dx, dw};
    };
    tensor const x = noise<double>({4}, 1), w = noise<double>({4, 3}, 2);
    check_close(run<vector, matrix>(f, {x, w}, 1),
                run<vector, matrix>(grad<1>([](auto a, auto b) { return sum(layer(a, b)); }), {x, w}));
}

// ---- whole Jacobians

/// d f / d argument `k` by central differences: [extents of the result..., extents of the argument...].
template <class... Specs, class F>
tensor differences(F const& f, std::vector<tensor> arguments, std::size_t k) {
    calque::extent_t const n = arguments[k].size();
    std::vector<tensor> columns;
    for (calque::extent_t i = 0; i < n; ++i) {
        double& x = arguments[k].as<double>()[i];
        double const middle = x;
        x = middle + 1e-6;
        tensor above = run<Specs...>(f, arguments);
        x = middle - 1e-6;
        tensor const below = run<Specs...>(f, arguments);
        x = middle;
        for (calque::extent_t j = 0; j < above.size(); ++j) {
            above.as<double>()[j] = (above.as<double>()[j] - below.as<double>()[j]) / 2e-6;
        }
        columns.push_back(above);
    }
    calque::shape extents = columns[0].extents;
    for (int axis = 0; axis < arguments[k].extents.rank; ++axis) {
        extents.push_back(arguments[k].extents[axis]);
    }
    tensor result(calque::dtype::float64, extents);
    for (calque::extent_t j = 0; j < columns[0].size(); ++j) {
        for (calque::extent_t i = 0; i < n; ++i) {
            result.as<double>()[j * n + i] = columns[static_cast<std::size_t>(i)].as<double>()[j];
        }
    }
    return result;
}

template <int Argument, class... Specs, class F>
void check_jacobian(F const& f, std::vector<tensor> const& arguments) {
    tensor const expected = differences<Specs...>(f, arguments, static_cast<std::size_t>(Argument));
    check_close(run<Specs...>(jacobian<Argument>(f), arguments), expected, 1e-8);
    check_close(run<Specs...>(jacobian<Argument, jacobian_mode::forward>(f), arguments), expected, 1e-8);
    check_close(run<Specs...>(jacobian<Argument, jacobian_mode::reverse>(f), arguments), expected, 1e-8);
}

TEST_CASE("Jacobians against differences, forward and in reverse") {
    std::vector<tensor> const arguments = {noise<double>({4}, 1), noise<double>({4, 3}, 2)};
    check_jacobian<0, vector, matrix>(layer, arguments);
    check_jacobian<1, vector, matrix>(layer, arguments);
    check_jacobian<0, dynamic, spec<double, dyn, dyn>>(layer, arguments);
    check_jacobian<1, dynamic, spec<double, dyn, dyn>>(layer, arguments);
    auto constexpr rows = [](auto x) { return calque::softmax<-1>(x) * sum<0>(x); };
    check_jacobian<0, matrix>(rows, {noise<double>({4, 3}, 3)});
    check_jacobian<0, vector>(energy, {noise<double>({4}, 4)});
    check_jacobian<0, scalar>([](auto x) { return exp(x) * calque::arange<double>(3); }, {noise<double>({}, 5)});
    check_jacobian<0, scalar>([](auto x) { return exp(x); }, {noise<double>({}, 6)});
}

TEST_CASE("a Jacobian goes the way that is shorter") {
    // Forward there is a product with the 4 x 4 tangents; in reverse one with the 100 x 100 cotangents.
    constexpr auto g = calque::trace<vector, spec<double, 4, 100>>(jacobian(layer));
    calque::graph::builder optimized;
    calque::passes::optimize(g.view(), optimized);
    std::string const text = calque::graph::to_text(optimized.view());
    CHECK(text.find("double[4,100]") != std::string::npos);
    CHECK(text.find("double[100,100]") == std::string::npos);
}

TEST_CASE("Hessians are symmetric, and the differences of gradients") {
    tensor const x = noise<double>({4}, 1);
    for (tensor const& h : {run<vector>(hessian(energy), {x}), run<dynamic>(hessian(energy), {x})}) {
        check_close(h, differences<vector>(grad(energy), {x}, 0), 1e-8);
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
                CHECK(h.as<double>()[4 * i + j] == doctest::Approx(h.as<double>()[4 * j + i]).epsilon(1e-12));
            }
        }
    }
    check_close(run<vector>(hessian(pairs), {x}), differences<vector>(grad(pairs), {x}, 0), 1e-8);
    auto constexpr of_second = [](auto a, auto b) { return sum(exp(a) * b * b); };
    check_close(run<spec<double, 2, 2>, spec<double, 2, 2>>(hessian<1>(of_second),
                                                            {noise<double>({2, 2}, 2), noise<double>({2, 2}, 3)}),
                differences<spec<double, 2, 2>, spec<double, 2, 2>>(
                    grad<1>(of_second), {noise<double>({2, 2}, 2), noise<double>({2, 2}, 3)}, 1),
                1e-8);
}

TEST_CASE("of each example") {
    tensor const x = noise<double>({3, 4}, 1);
    tensor const all = run<spec<double, dyn, 4>>(vmap(hessian(energy)), {x});
    tensor const slopes = run<spec<double, 3, 4>, vector>(
        vmap<0, unmapped>([](auto row, auto v) { return std::get<1>(jvp(energy)(row, v)); }),
        {x, noise<double>({4}, 2)});
    REQUIRE(all.extents == calque::shape{3, 4, 4});
    for (int i = 0; i < 3; ++i) {
        tensor const one = tensor::copy_of({4}, x.as<double>() + 4 * i);
        tensor const h = run<vector>(hessian(energy), {one});
        check_close(tensor::copy_of({4, 4}, all.as<double>() + 16 * i), h);
        check_close(tensor::copy_of({}, slopes.as<double>() + i),
                    run<vector, vector>(jvp(energy), {one, noise<double>({4}, 2)}, 1));
    }
    // A tangent of a batch is the batch of tangents.
    auto constexpr of_batch = [](auto rows, auto directions) {
        return std::get<1>(jvp(vmap(energy))(rows, directions));
    };
    auto constexpr each = vmap([](auto row, auto direction) { return std::get<1>(jvp(energy)(row, direction)); });
    tensor const d = noise<double>({3, 4}, 5);
    check_close(run<spec<double, 3, 4>, spec<double, 3, 4>>(of_batch, {x, d}),
                run<spec<double, 3, 4>, spec<double, 3, 4>>(each, {x, d}));
}

// ---- derivatives that the author gives

// The derivative of sqrt(x^2 + y^2), twice as steep as it is, so that it shows.
inline constexpr auto length = custom_vjp([](auto x, auto y) { return sqrt(x * x + y * y); },
                                          [](auto x, auto y, auto u) {
                                              auto const r = sqrt(x * x + y * y);
                                              return std::tuple{2 * u * x / r, 2 * u * y / r};
                                          });
inline constexpr auto plain_length = [](auto x, auto y) { return sqrt(x * x + y * y); };
template <auto const& F>
inline constexpr auto loss = [](auto x, auto y) { return sum(F(x, y) * F(x, y) * x); };
template <auto const& F>
inline constexpr auto each = [](auto rows, auto other) { return sum(vmap<0, unmapped>(F)(rows, other) * rows); };

TEST_CASE("the author's derivative, and the function's own value") {
    tensor const x = noise<double>({4}, 1), y = noise<double>({4}, 2);
    check_close(run<vector, vector>(length, {x, y}), run<vector, vector>(plain_length, {x, y}));
    auto constexpr g = grad([](auto a, auto b) { return sum(length(a, b)); });
    auto constexpr own = grad([](auto a, auto b) { return sum(plain_length(a, b)) * 2; });
    check_close(run<vector, vector>(g, {x, y}), run<vector, vector>(own, {x, y}));
    check_close(run<dynamic, dynamic>(g, {x, y}), run<vector, vector>(own, {x, y}));
    // It is not there where nobody differentiates, and the length is computed once where somebody does.
    constexpr auto alone = calque::trace<vector, vector>(length);
    calque::graph::builder optimized;
    calque::passes::optimize(alone.view(), optimized);
    CHECK(optimized.node_count() == 5);
    constexpr auto slope =
        calque::trace<vector, vector>(calque::value_and_grad([](auto a, auto b) { return sum(length(a, b)); }));
    calque::graph::builder together;
    calque::passes::optimize(slope.view(), together);
    std::string const text = calque::graph::to_text(together.view());
    CHECK(text.find("sqrt") == text.rfind("sqrt"));
}

/// The same function with the factor 2 where autodiff sees it: a stop_gradient of what should not count.
inline constexpr auto steep_length = [](auto x, auto y) {
    auto const r = plain_length(x, y);
    return 2 * r - calque::stop_gradient(r);
};

TEST_CASE("first derivatives through it, by grad, jvp, vjp, jacobian and vmap") {
    tensor const x = noise<double>({4}, 1), y = noise<double>({4}, 2), t = noise<double>({4}, 3);
    check_close(run<vector, vector>(grad(loss<length>), {x, y}), run<vector, vector>(grad(loss<steep_length>), {x, y}));
    using two = std::tuple<vector, vector>;
    check_close(run<two, two>(jvp(length), {x, y, t, x}, 1), run<two, two>(jvp(steep_length), {x, y, t, x}, 1));
    check_close(run<two, vector>(vjp(length), {x, y, t}, 2), run<two, vector>(vjp(steep_length), {x, y, t}, 2));
    check_close(run<vector, vector>(jacobian<1>(length), {x, y}),
                run<vector, vector>(jacobian<1>(steep_length), {x, y}));
    tensor const rows = noise<double>({3, 4}, 5);
    using batch = spec<double, 3, 4>;
    check_close(run<batch, vector>(grad<0>(each<length>), {rows, y}),
                run<batch, vector>(grad<0>(each<steep_length>), {rows, y}));
    check_close(run<batch, vector>(grad<1>(each<length>), {rows, y}),
                run<batch, vector>(grad<1>(each<steep_length>), {rows, y}));
    check_close(run<batch, vector>(vmap<0, unmapped>(grad(loss<length>)), {rows, y}),
                run<batch, vector>(vmap<0, unmapped>(grad(loss<steep_length>)), {rows, y}));
}

inline constexpr auto cube = custom_vjp([](auto x) { return x * x * x; }, [](auto x, auto u) { return u * x; });

TEST_CASE("second derivatives differentiate the author's") {
    CHECK(at(grad(cube), 5) == 5);
    CHECK(at(grad(grad(cube)), 5) == 1);
    CHECK(at(grad([](auto x) { return cube(cube(x)); }), 2) == 16); // 8 * 2
    auto constexpr curved = custom_vjp([](auto x) { return x; }, [](auto x, auto u) { return u * cube(x); });
    CHECK(at(curved, 3) == 3);
    CHECK(at(grad(curved), 3) == 27);
    CHECK(at(grad(grad(curved)), 3) == 3);
}

TEST_CASE("what it captures keeps its derivative; integers and trees are arguments") {
    auto constexpr captured = [](auto x) {
        return custom_vjp([=](auto y) { return x * y; }, [=](auto, auto u) { return u * 100; })(x);
    };
    CHECK(at(grad(captured), 3) == 103); // by x, and 100 by y

    auto constexpr pick = custom_vjp([](auto table, auto index) { return take(table, index); },
                                     [](auto table, auto index, auto u) {
                                         return std::tuple{calque::zeros_like(table) + u, calque::zeros_like(index)};
                                     });
    tensor const table = make<double>({3}, {1, 2, 3}), index = make<std::int32_t>({}, {1});
    check_close(run<spec<double, 3>, spec<std::int32_t>>(grad(pick), {table, index}), make<double>({3}, {1, 1, 1}));

    auto constexpr of_tree = custom_vjp([](auto pair) { return sum(std::get<0>(pair) * std::get<1>(pair)); },
                                        [](auto pair, auto u) {
                                            auto [a, b] = pair;
                                            return std::tuple{std::tuple{u * a, u * 3 * b}};
                                        });
    auto const results = run_all<std::tuple<spec<double, 2>, spec<double, 2>>>(
        grad(of_tree), {make<double>({2}, {1, 2}), make<double>({2}, {3, 4})});
    check_close(results[0], make<double>({2}, {1, 2}));
    check_close(results[1], make<double>({2}, {9, 12}));
}

// ---- branches and loops

inline constexpr auto folded = [](auto x, auto w) { // captures w
    return calque::scan([=](auto carried, auto item) { return std::pair{tanh(carried * item + w), carried * w}; },
                        sum(x * w), x);
};
inline constexpr auto chosen = [](auto x, auto w) {
    return calque::cond(sum(x) > 0, [=] { return x * w; }, [=] { return exp(x) * w; });
};

TEST_CASE("tangents through scans and branches") {
    tensor const x = noise<double>({4}, 1), w = make<double>({}, {0.7}), dx = noise<double>({4}, 3),
                 dw = make<double>({}, {-2});
    using arguments = std::tuple<vector, scalar>;
    auto const check = [&](auto const& f, std::size_t count) {
        auto const results = run_all<arguments, arguments>(jvp(f), {x, w, dx, dw});
        for (std::size_t i = 0; i < count; ++i) {
            tensor expected(calque::dtype::float64, results[i].extents);
            for (double const step : {1e-6, -1e-6}) {
                tensor moved = x, scale = w;
                for (int k = 0; k < 4; ++k) {
                    moved.as<double>()[k] += step * dx.as<double>()[k];
                }
                *scale.as<double>() += step * *dw.as<double>();
                tensor const y = run<vector, scalar>(f, {moved, scale}, i);
                for (calque::extent_t k = 0; k < y.size(); ++k) {
                    expected.as<double>()[k] += y.as<double>()[k] / (2 * step);
                }
            }
            check_close(results[count + i], expected, 1e-7);
        }
    };
    check(folded, 2);
    check(chosen, 1);
    check(grad([](auto a, auto b) { return std::get<0>(folded(a, b)); }), 1); // forward over reverse
}

// ---- the kernels

TEST_CASE("compiled, they agree with the interpreter") {
    xt::xtensor<double, 1> const x = {0.1, -0.4, 0.7, 0.2}, v = {1, 2, -1, 0.5};
    auto const h = calque::function(hessian(energy))(x);
    auto const product = std::get<1>(calque::function(jvp(grad(energy)))(x, v));
    for (std::size_t i = 0; i < 4; ++i) {
        double expected = 0;
        for (std::size_t j = 0; j < 4; ++j) {
            CHECK(h(i, j) == doctest::Approx(h(j, i)).epsilon(1e-12));
            expected += h(i, j) * v(j);
        }
        CHECK(product(i) == doctest::Approx(expected).epsilon(1e-12));
    }
    tensor const interpreted = run<dynamic>(hessian(energy), {tensor::copy_of({4}, x.data())});
    for (int i = 0; i < 16; ++i) {
        CHECK(h.flat(static_cast<std::size_t>(i)) == doctest::Approx(interpreted.as<double>()[i]).epsilon(1e-12));
    }
    auto const slope = calque::function(grad(loss<length>))(x, v);
    auto const expected = calque::function(grad(loss<steep_length>))(x, v);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(slope(i) == doctest::Approx(expected(i)).epsilon(1e-12));
    }
}

} // namespace
