// SPDX-License-Identifier: MIT
#include <calque/trace/creation.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/output.hpp>
#include <calque/trace/products.hpp>
#include <calque/trace/reductions.hpp>
#include <calque/trace/shaping.hpp>

#include <doctest/doctest.h>

namespace {

using calque::dim;
using calque::dyn;
using calque::is_static_v;
using calque::output_t;
using calque::spec;
using calque::trace;

template <class Op, class Graph>
constexpr int count(Graph const& g) {
    int n = 0;
    for (int id = 0; id < g.size(); ++id) {
        n += g.view().template is<Op>(id) ? 1 : 0;
    }
    return n;
}

// The graph of a body: its nodes in order, each value once.
inline constexpr auto cube = [](auto x) { return x * x * x; };
constexpr auto cube_graph = trace<spec<float, 4>>(cube);
static_assert(cube_graph.size() == 3);
static_assert(cube_graph.view().outputs[0] == 2);
static_assert(count<calque::graph::ops::multiply>(cube_graph) == 2);
static_assert(cube_graph.view().shape(2) == calque::shape{4});

inline constexpr auto affine = [](auto x, auto w, auto b) { return calque::matmul(x, w) + b; };
inline constexpr auto predict = [](auto x, auto w, auto b) { return calque::softmax<-1>(affine(x, w, b)); };
static_assert(std::is_same_v<output_t<decltype(predict), spec<float, dyn, 784>, spec<float, 784, 10>, spec<float, 10>>,
                             spec<float, dyn, 10>>);
static_assert(
    std::is_same_v<output_t<decltype(predict), spec<float, dim("batch"), 784>, spec<float, 784, 10>, spec<float, 10>>,
                   spec<float, dim("batch"), 10>>);

// Numbers are weak: they take the dtype of the array that they meet. bool is not a number.
inline constexpr auto scale = [](auto x, auto s) { return x * s; };
static_assert(std::is_same_v<output_t<decltype(scale), spec<float, 3>, double>, spec<float, 3>>);
static_assert(std::is_same_v<output_t<decltype(scale), spec<double, 3>, int>, spec<double, 3>>);
static_assert(std::is_same_v<output_t<decltype(scale), float, float>, spec<float>>);
static_assert(std::is_same_v<output_t<decltype([](auto x) { return !x; }), bool>, spec<bool>>);

// Results: arrays, numbers, tuples and trees of them, or nothing.
static_assert(std::is_same_v<output_t<decltype([](auto x) { return std::tuple{x + 1, sum(x), 2.5}; }), spec<float, 4>>,
                             std::tuple<spec<float, 4>, spec<float>, spec<double>>>);
static_assert(std::is_same_v<output_t<decltype([](auto x) { return std::pair{x, x > 0}; }), spec<int, dyn>>,
                             std::pair<spec<int, dyn>, spec<bool, dyn>>>);
static_assert(std::is_same_v<output_t<decltype([](auto x) { return std::array{x, x * x}; }), spec<float, 4>>,
                             std::array<spec<float, 4>, 2>>);
static_assert(std::is_same_v<output_t<decltype([](auto x) { return std::array{x, sum(x)}; }), spec<float, 4>>,
                             std::tuple<spec<float, 4>, spec<float>>>);
static_assert(std::is_void_v<output_t<decltype([](auto) {}), spec<float, 4>>>);
static_assert(trace<spec<float, 4>>([](auto) {}).size() == 1);
static_assert(trace<>([] { return calque::zeros<float>(3); }).size() > 0);
static_assert(trace<>([] { return 1; }).size() == 1);

// Trees of arguments and results.
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
inline constexpr auto apply = [](auto layer, auto x) { return affine(x, layer.w, layer.b); };
static_assert(
    std::is_same_v<output_t<decltype(apply), dense<calque::host>, spec<float, dyn, 784>>, spec<float, dyn, dyn>>);
inline constexpr auto halved = [](auto layer) { return decltype(layer){layer.w * 0.5f, layer.b * 0.5f}; };
static_assert(std::is_same_v<output_t<decltype(halved), dense<calque::host>>, dense<calque::specs>>);
inline constexpr auto last_bias = [](auto net) { return net.layers[1].b * net.rate; };
static_assert(trace<network<calque::host>>(last_bias).size() == 6);
static_assert(trace<network<calque::host>>(last_bias).view().nodes[3].attribute == 3);

struct config {
    float scale;
    int power;
};
inline constexpr auto scaled = [](auto x, auto c) { return x * c[&config::scale]; };
static_assert(std::is_same_v<output_t<decltype(scaled), spec<double, 2>, config>, spec<double, 2>>);
inline constexpr auto same_config = [](auto c) { return c; };
static_assert(std::is_same_v<output_t<decltype(same_config), config>, config>);

// Host types stand for their specs.
using fixed = xt::xtensor_fixed<float, xt::xshape<2, 2>>;
static_assert(std::is_same_v<output_t<decltype(cube), xt::xtensor<float, 2> const&>, spec<float, dyn, dyn>>);
static_assert(std::is_same_v<decltype(trace<fixed>(cube)), decltype(trace<spec<float, 2, 2>>(cube))>);
static_assert(is_static_v<decltype(affine), fixed, fixed, xt::xtensor_fixed<float, xt::xshape<2>>>);
static_assert(!is_static_v<decltype(affine), fixed, fixed, xt::xtensor<float, 1>>);
static_assert(is_static_v<decltype(scale), spec<float, 3>, double>);
static_assert(!is_static_v<decltype(scale), spec<float, dim("n")>, double>);

// Values made from nothing join the graph that they meet, once: however often they are used.
inline constexpr auto offset_twice = [](auto x) {
    auto z = exp(calque::zeros<float>(4));
    return x * z + z;
};
static_assert(count<calque::graph::ops::exp>(trace<spec<float, 4>>(offset_twice)) == 1);
inline constexpr auto detached_meet = [](auto x) {
    auto a = calque::arange<float>(4);
    auto b = calque::ones<float>(4);
    auto c = a + b; // b's graph joins that of a, which joins that of x
    auto before = b * 2;
    auto y = c * x;
    return y + before + b + a;
};
static_assert(std::is_same_v<output_t<decltype(detached_meet), spec<float, 4>>, spec<float, 4>>);
static_assert(count<calque::graph::ops::iota>(trace<spec<float, 4>>(detached_meet)) == 1);

// Control flow of C++ on shapes, recursion, containers and nested functions with captures are ordinary code in a body.
inline constexpr auto ordinary = [](auto x) {
    auto h = x;
    for (calque::extent_t i = 0; i < x.extent(-1); ++i) {
        h = h + tanh(x);
    }
    if (x.rank() == 2) {
        h = h * 2;
    }
    auto const power = [&](auto self, int n) -> decltype(h) { return n == 0 ? h : self(self, n - 1) * x; };
    std::array const parts{h, power(power, 2)};
    return parts[0] + parts[1];
};
static_assert(count<calque::graph::ops::tanh>(trace<spec<float, 4, 3>>(ordinary)) == 1);
static_assert(trace<spec<float, 4, 3>>(ordinary).size() == 1 + 1 + 3 + 2 + 2 + 1);

// Extents that only the call knows: traced integers beside traced values, themselves in lists of extents.
inline constexpr auto own_mean = [](auto x) { return calque::sum<0>(x) / x.extent(0); };
static_assert(count<calque::graph::ops::element_count>(trace<spec<float, dyn, 3>>(own_mean)) == 1);
static_assert(count<calque::graph::ops::element_count>(trace<spec<float, 4, 3>>(own_mean)) == 0);
static_assert(std::is_same_v<output_t<decltype(own_mean), spec<double, dim("rows"), 3>>, spec<double, 3>>);
inline constexpr auto halves = [](auto x) { return calque::reshape(x, x.extent(0), 2, x.extent(-1) / 2); };
static_assert(std::is_same_v<output_t<decltype(halves), spec<float, dyn, 6>>, spec<float, dyn, 2, 3>>);
static_assert(std::is_same_v<output_t<decltype(halves), spec<float, dim("n"), 6>>, spec<float, dim("n"), 2, 3>>);
inline constexpr auto classes = [](auto x, auto labels) { return x * calque::one_hot(labels, x.extent(-1)); };
static_assert(
    std::is_same_v<output_t<decltype(classes), spec<float, dyn, dyn>, spec<int, dyn>>, spec<float, dyn, dyn>>);
inline constexpr auto classes_of_scores = [](auto x, auto labels) { return calque::one_hot(labels, x); };
static_assert(std::is_same_v<output_t<decltype(classes_of_scores), spec<double, dyn, dyn>, spec<int, dyn>>,
                             spec<double, dyn, dyn>>);
static_assert(
    std::is_same_v<output_t<decltype(classes_of_scores), spec<int, dyn, dyn>, spec<int, dyn>>, spec<float, dyn, dyn>>);
inline constexpr auto what_is_known = [](auto x, auto y) {
    return x.extent(0) == dyn && x.extent(1) == 3 && x.extent(1) == x.extent(-1) && y.extent(0) == y.extent(0) ? x
                                                                                                               : x + 1;
};
static_assert(count<calque::graph::ops::add>(trace<spec<float, dyn, 3>, spec<float, dim("n")>>(what_is_known)) == 0);

// Objects with members, known at compile time.
struct layer {
    int units;
    float scale;
    constexpr auto operator()(auto x, auto w) const { return calque::matmul(x, w) * scale; }
};
inline constexpr layer first{10, 0.5f};
static_assert(std::is_same_v<output_t<calque::object_function<first>, spec<float, dyn, 3>, spec<float, 3, 10>>,
                             spec<float, dyn, 10>>);

TEST_CASE("a lambda without captures may be local, and may capture by default") {
    int unused = 3;
    static_cast<void>(unused);
    auto const local = [&](auto x) { return x + 1; };
    constexpr auto g = calque::trace<spec<float, 2>>(local);
    static_assert(g.size() == 3);
    CHECK(g.text() == "%0 = argument 0 float[2]\n%1 = constant 1 float[]\n%2 = add(%0, %1) float[2]\nreturn %2\n");
    CHECK(g.dot().find("digraph") == 0);
}

} // namespace
