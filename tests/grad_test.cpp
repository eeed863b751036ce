// SPDX-License-Identifier: MIT
// `grad` and `value_and_grad`: what they return, how they nest, by what they differentiate. (That the derivative of
// each operation is right: gradient_test.cpp.)
#include <calque/grad.hpp>
#include <calque/trace/creation.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/output.hpp>
#include <calque/trace/products.hpp>
#include <calque/trace/reductions.hpp>
#include <calque/trace/shaping.hpp>

#include "run_graph.hpp"

namespace {

using calque::dyn;
using calque::grad;
using calque::output_t;
using calque::spec;
using calque::value_and_grad;
using tests::make;
using tests::tensor;

// ---- what they return

inline constexpr auto cube = [](auto x) { return sum(x * x * x); };
inline constexpr auto product = [](auto x, auto y) { return sum(x * y); };

static_assert(std::is_same_v<output_t<decltype(grad(cube)), spec<float, 4>>, spec<float, 4>>);
static_assert(std::is_same_v<output_t<decltype(grad(cube)), spec<double, dyn, calque::dim("n")>>,
                             spec<double, dyn, calque::dim("n")>>);
static_assert(
    std::is_same_v<output_t<decltype(value_and_grad(cube)), spec<float, 4>>, std::tuple<spec<float>, spec<float, 4>>>);
static_assert(std::is_same_v<output_t<decltype(grad<1>(product)), spec<float, 4>, spec<float, 1>>, spec<float, 1>>);
static_assert(std::is_same_v<output_t<decltype(grad<1, 0>(product)), spec<float, 4>, spec<float, 1>>,
                             std::tuple<spec<float, 1>, spec<float, 4>>>);
static_assert(std::is_same_v<output_t<decltype(value_and_grad<0, 1>(product)), spec<float, 4>, spec<float>>,
                             std::tuple<spec<float>, std::tuple<spec<float, 4>, spec<float>>>>);
static_assert(std::is_empty_v<decltype(grad(cube))> && std::is_empty_v<decltype(grad<0>(value_and_grad<0>(cube)))>);

// A number that is an argument is differentiated by like a scalar array.
static_assert(std::is_same_v<output_t<decltype(grad<1>(product)), spec<float, 4>, double>, spec<double>>);

template <class M>
struct dense {
    calque::leaf<M, float, dyn, dyn> w;
    calque::leaf<M, float, dyn> b;
};
template <class M>
struct network {
    std::array<dense<M>, 2> layers;
    calque::leaf<M, float> rate;
};
inline constexpr auto loss = [](auto layer, auto x) { return mean(square(matmul(x, layer.w) + layer.b)); };
static_assert(
    std::is_same_v<output_t<decltype(grad(loss)), dense<calque::host>, spec<float, dyn, 3>>, dense<calque::specs>>);
static_assert(std::is_same_v<output_t<decltype(value_and_grad<1, 0>(loss)), dense<calque::host>, spec<float, dyn, 3>>,
                             std::tuple<spec<float>, std::tuple<spec<float, dyn, 3>, dense<calque::specs>>>>);
inline constexpr auto deep = [](auto net) { return sum(net.layers[1].w) * net.rate; };
static_assert(std::is_same_v<output_t<decltype(grad(deep)), network<calque::host>>, network<calque::specs>>);

// A gradient is an operation like any other: 2 multiplications forward, and what the derivative needs.
constexpr auto slope = calque::trace<spec<float>>(grad([](auto x) { return x * x; }));
static_assert(slope.view().is<calque::graph::ops::add>(slope.view().outputs[0]));
// An unused argument has zeros of its own shape; a constant function as well.
constexpr auto unused = calque::trace<spec<float, 4>, spec<float, 2, 3>>(grad<1>([](auto x, auto) { return sum(x); }));
static_assert(unused.view().shape(unused.view().outputs[0]) == calque::shape{2, 3});
static_assert(std::is_same_v<output_t<decltype(value_and_grad([](auto) { return 2.f; })), spec<float, 3>>,
                             std::tuple<spec<float>, spec<float, 3>>>);

// Every operation whose result is floating has a derivative, or is known to need none.
template <class Op>
constexpr bool has_derivative() {
    using calque::graph::value;
    return requires { &Op::template vjp<value, value, value>; } || requires {
        &Op::template vjp<value, value, value, value>;
    } || requires { &Op::template vjp<value, value, value, value, value>; };
}
template <class Op, class... Others>
constexpr bool is_one_of = (std::is_same_v<Op, Others> || ...);
template <class Op>
constexpr bool takes_floating = calque::contains(Op::accepts, calque::dtype::float32);
template <class... Ops>
constexpr bool all_have_derivatives(calque::graph::op_list<Ops...>) {
    namespace ops = calque::graph::ops;
    return ((has_derivative<Ops>() || Ops::kind == calque::graph::op_kind::source ||
             Ops::kind == calque::graph::op_kind::control || // passes/differentiate_control.hpp
             Ops::kind == calque::graph::op_kind::border || !takes_floating<Ops> ||
             is_one_of<Ops, ops::equal, ops::not_equal, ops::less, ops::less_equal, ops::greater, ops::greater_equal> ||
             is_one_of<Ops, ops::sort_order> ||                                          // makes integers
             is_one_of<Ops, ops::floor, ops::ceil, ops::round, ops::trunc, ops::sign> || // steps
             is_one_of<Ops, ops::stop_gradient, ops::cotangent> ||                       // have none, and say so
             is_one_of<Ops, ops::fma, ops::fnma, ops::fms> || // made by a pass, after differentiation
             is_one_of<Ops, ops::concatenate, ops::concatenation_part, ops::custom_derivative,
                       ops::user_function> ||                       // any number of inputs
             is_one_of<Ops, ops::host_function, ops::host_call>) && // constants to derivatives
            ...);
}
static_assert(all_have_derivatives(calque::graph::op_set{}));

// ---- values, by the interpreter

/// `fn(arguments...)`, traced for `Specs`: the first result.
template <class... Specs, class F>
tensor run(F const& /*fn*/, std::vector<tensor> const& arguments, std::size_t output = 0) {
    using graph = decltype(calque::trace<Specs...>(std::declval<F>()));
    std::vector<tensor> results(static_cast<std::size_t>(graph::view().output_count));
    tests::interpreter::run(graph::view(), arguments.data(), results.data());
    return results[output];
}

template <class... Specs, class F>
double run_scalar(F const& fn, double x) {
    return *run<Specs...>(fn, {make<double>({}, {x})}).template as<double>();
}

using scalar = spec<double>;

TEST_CASE("a gradient, and a value beside it") {
    tensor const x = make<float>({3}, {1, 2, 3});
    CHECK(tests::difference(run<spec<float, dyn>>(grad(cube), {x}), make<float>({3}, {3, 12, 27}), {}) == "");
    CHECK(tests::difference(run<spec<float, 3>>(value_and_grad(cube), {x}), make<float>({}, {36}), {}) == "");
    CHECK(tests::difference(run<spec<float, 3>>(value_and_grad(cube), {x}, 1), make<float>({3}, {3, 12, 27}), {}) ==
          "");
}

TEST_CASE("higher derivatives") {
    auto constexpr power = [](auto x) { return x * x * x * x * x; };
    CHECK(run_scalar<scalar>(grad(power), 2) == 80);
    CHECK(run_scalar<scalar>(grad(grad(power)), 2) == 160);
    CHECK(run_scalar<scalar>(grad(grad(grad(power))), 2) == 240);
    CHECK(run_scalar<scalar>(grad(grad(grad(grad(power)))), 2) == 240);
    // The same function within a traced one, where gradients are ordinary values.
    auto constexpr hessian_vector = [](auto x, auto v) {
        return grad([&](auto y) { return sum(grad(cube)(y) * v); })(x);
    };
    tensor const x = make<double>({3}, {1, 2, 3});
    tensor const v = make<double>({3}, {1, 0, -1});
    CHECK(tests::difference(run<spec<double, 3>, spec<double, 3>>(hessian_vector, {x, v}),
                            make<double>({3}, {6, 0, -18}), {}) == "");
}

TEST_CASE("nested gradients are not confused with each other") {
    // d/dx x d/dy (x + y) = 1
    CHECK(run_scalar<scalar>(grad([](auto x) { return x * grad([&](auto y) { return x + y; })(x); }), 3) == 1);
    CHECK(run_scalar<scalar>(grad([](auto x) { return x * grad([&](auto y) { return x + y; })(1.); }), 3) == 1);
    // d/dx x d/dy (x y) at y = x is d/dx x^2
    CHECK(run_scalar<scalar>(grad([](auto x) { return x * grad([&](auto y) { return x * y; })(x); }), 3) == 6);
    // d/dx (d/dy x y^2 at y = x) = d/dx 2 x^2
    CHECK(run_scalar<scalar>(grad([](auto x) { return grad([&](auto y) { return x * y * y; })(x); }), 3) == 12);
    // d/dx (d/dy (d/dz x y z at z = y) at y = x) = d/dx (d/dy x y at y = x) = d/dx x
    CHECK(run_scalar<scalar>(
              grad([](auto x) { return grad([&](auto y) { return grad([&](auto z) { return x * y * z; })(y); })(x); }),
              3) == 1);
}

TEST_CASE("by values that no argument has met yet") {
    // z and w are graphs of their own until the differentiated function brings them together with x.
    auto constexpr inner = [](auto x) {
        auto const z = calque::ones<double>(3) * 2;
        auto const w = calque::arange<double>(3);
        return grad([&](auto y) { return sum(w * (y * y) + x * y); })(z);
    };
    tensor const x = make<double>({3}, {10, 20, 30});
    CHECK(tests::difference(run<spec<double, 3>>(inner, {x}), make<double>({3}, {10, 24, 38}), {}) == "");
    // One that meets nothing.
    auto constexpr apart = [](auto a) { return a + grad(cube)(calque::ones<double>(3)); };
    CHECK(tests::difference(run<spec<double, 3>>(apart, {x}), make<double>({3}, {13, 23, 33}), {}) == "");
    // One that the result does not depend on, and a number.
    auto constexpr independent = [](auto a) { return grad([&](auto) { return sum(a); })(calque::ones<double>(3)); };
    CHECK(tests::difference(run<spec<double, 3>>(independent, {x}), make<double>({3}, {0, 0, 0}), {}) == "");
    auto constexpr at_a_number = [](auto a) { return a * grad([](auto y) { return y * y; })(3.); };
    CHECK(tests::difference(run<spec<double, 3>>(at_a_number, {x}), make<double>({3}, {60, 120, 180}), {}) == "");
}

TEST_CASE("by numbers: the gradient has the number's dtype, whatever it met") {
    tensor const x = make<float>({2}, {3, 4});
    tensor const s = make<double>({}, {2});
    auto constexpr scaled = [](auto a, auto b) { return sum(a * b * b); };
    CHECK(tests::difference(run<spec<float, 2>, double>(grad<1>(scaled), {x, s}), make<double>({}, {28}), {}) == "");
}

TEST_CASE("trees have gradients of their structure") {
    tensor const w = make<float>({3, 2}, {1, 1, 1, 1, 1, 1});
    tensor const b = make<float>({2}, {0, 0});
    tensor const rows = make<float>({4, 3}, std::vector<float>(12, 1.f));
    std::vector<tensor> const arguments = {w, b, rows};
    auto constexpr gradient = value_and_grad(loss);
    using layer = dense<calque::host>;
    CHECK(tests::difference(run<layer, spec<float, dyn, 3>>(gradient, arguments, 0), make<float>({}, {9}), {}) == "");
    CHECK(tests::difference(run<layer, spec<float, dyn, 3>>(gradient, arguments, 1),
                            make<float>({3, 2}, std::vector<float>(6, 3.f)), {}) == "");
    CHECK(tests::difference(run<layer, spec<float, dyn, 3>>(gradient, arguments, 2), make<float>({2}, {3, 3}), {}) ==
          "");
    // In a step of gradient descent, leaf by leaf.
    auto constexpr step = [](auto p, auto x) {
        return calque::tree_map([](auto const& a, auto const& g) { return a - 0.5f * g; }, p, grad(loss)(p, x));
    };
    CHECK(tests::difference(run<layer, spec<float, dyn, 3>>(step, arguments, 1), make<float>({2}, {-1.5f, -1.5f}),
                            {}) == "");
    // A tuple, of which one leaf is not used.
    auto constexpr of_tuple = grad([](auto t) { return sum(std::get<0>(t) * std::get<0>(t)); });
    using pair = std::tuple<spec<float, 2>, spec<float, dyn>>;
    tensor const first = make<float>({2}, {1, 2});
    tensor const second = make<float>({3}, {1, 2, 3});
    CHECK(tests::difference(run<pair>(of_tuple, {first, second}, 0), make<float>({2}, {2, 4}), {}) == "");
    CHECK(tests::difference(run<pair>(of_tuple, {first, second}, 1), make<float>({3}, {0, 0, 0}), {}) == "");
}

TEST_CASE("stop_gradient, inside and outside of what is differentiated") {
    CHECK(run_scalar<scalar>(grad([](auto x) { return x * stop_gradient(x); }), 3) == 3);
    CHECK(run_scalar<scalar>(grad([](auto x) { return stop_gradient(x * x); }), 3) == 0);
    CHECK(run_scalar<scalar>(grad([](auto x) { return stop_gradient(grad([](auto y) { return y * y; })(x)) * x; }),
                             3) == 6);
}

TEST_CASE("a function may assign to its parameters") {
    auto constexpr assigns = [](auto& x) {
        x = x * x;
        return x;
    };
    CHECK(run_scalar<scalar>(grad(assigns), 3) == 6);
}

/// d f / d argument `k`, by central differences.
template <class... Specs, class F>
tensor central_differences(F const& f, std::vector<tensor> arguments, std::size_t k) {
    double const h = 1e-6;
    tensor result(calque::dtype::float64, arguments[k].extents);
    double* const x = arguments[k].as<double>();
    for (calque::extent_t i = 0; i < result.size(); ++i) {
        double const at = x[i];
        x[i] = at + h;
        double const above = *run<Specs...>(f, arguments).template as<double>();
        x[i] = at - h;
        double const below = *run<Specs...>(f, arguments).template as<double>();
        x[i] = at;
        result.as<double>()[i] = (above - below) / (2 * h);
    }
    return result;
}

inline constexpr auto broadcasting = [](auto x, auto y) {
    auto const both = tanh(x * y) + y / (2 + x * x) - x;
    return sum(both * both * both) + mean(y * y);
};
inline constexpr auto curved = [](auto x, auto y) { return sum(grad(broadcasting)(x, y) * y); };

template <class X, class Y, class F>
void check_gradients(F const& f, calque::shape const& shape_of_x, calque::shape const& shape_of_y) {
    std::vector<tensor> const arguments = {tests::noise<double>(shape_of_x, 1), tests::noise<double>(shape_of_y, 2)};
    CAPTURE(calque::to_string(shape_of_y));
    auto const both = grad<0, 1>(f);
    CHECK(tests::difference(run<X, Y>(both, arguments, 0), central_differences<X, Y>(f, arguments, 0), {0, 1e-6}) ==
          "");
    CHECK(tests::difference(run<X, Y>(both, arguments, 1), central_differences<X, Y>(f, arguments, 1), {0, 1e-6}) ==
          "");
}

using matrix = spec<double, 2, 3>;
using dynamic = spec<double, dyn, dyn>;

TEST_CASE("broadcasts of all kinds") {
    check_gradients<matrix, spec<double>>(broadcasting, {2, 3}, {});
    check_gradients<matrix, spec<double, 3>>(broadcasting, {2, 3}, {3});
    check_gradients<matrix, spec<double, 1, 3>>(broadcasting, {2, 3}, {1, 3});
    check_gradients<matrix, spec<double, 2, 1>>(broadcasting, {2, 3}, {2, 1});
    check_gradients<matrix, matrix>(broadcasting, {2, 3}, {2, 3});
    check_gradients<spec<double, 2, 1>, spec<double, 3>>(broadcasting, {2, 1}, {3});
    check_gradients<dynamic, dynamic>(broadcasting, {2, 3}, {2, 3});
    check_gradients<dynamic, dynamic>(broadcasting, {2, 3}, {1, 3});
    check_gradients<dynamic, dynamic>(broadcasting, {2, 1}, {1, 3});
    check_gradients<dynamic, spec<double, dyn>>(broadcasting, {2, 3}, {1});
    check_gradients<spec<double, calque::dim("n"), 3>, dynamic>(broadcasting, {2, 3}, {2, 1});
}

TEST_CASE("broadcasts, twice differentiated") {
    check_gradients<matrix, spec<double, 3>>(curved, {2, 3}, {3});
    check_gradients<dynamic, dynamic>(curved, {2, 3}, {2, 1});
    check_gradients<dynamic, spec<double>>(curved, {2, 3}, {});
}

} // namespace
