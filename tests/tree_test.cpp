// SPDX-License-Identifier: MIT
#include <calque/core/compatibility_xtensor_expressions.hpp>
#include <calque/interop/tree_map.hpp>

#include <doctest/doctest.h>

#include <complex>
#include <string>

// A stand-in for the tracer's handles: like these without a default constructor, and with a number to tell them apart.
namespace calque {
inline namespace v0 {

template <class T>
class expr {
public:
    constexpr explicit expr(int i) : id(i) {}
    constexpr expr operator+(int i) const { return expr(id + i); }
    int id;
};

template <class T>
class weak_expr {
public:
    constexpr explicit weak_expr(int i) : id(i) {}
    int id;
};

} // namespace v0
} // namespace calque

namespace {

using calque::dyn;
using calque::expr;
using calque::host;
using calque::leaf;
using calque::spec;
using calque::specs;
using calque::traced;
using calque::traced_struct;
using calque::traced_t;
using calque::tree_kind;
using calque::tree_kind_v;
using calque::tree_leaves_t;
using calque::type_list;
using calque::weak_expr;

template <class M>
struct dense {
    leaf<M, float, dyn, dyn> w;
    leaf<M, float, dyn> b;
};
template <class M>
struct network {
    dense<M> first;
    std::array<dense<M>, 2> layers;
    std::tuple<leaf<M, double, 4>, leaf<M, std::int32_t>> head;
    std::array<leaf<M, float>, 3> rates;
};
template <class M, class T>
struct generic {
    leaf<M, T, 784, 10> w;
};
struct model {
    template <class M>
    struct params {
        leaf<M, float, dyn> w;
    };
};

struct config {
    float scale;
    int power;
    bool on;
};
struct nested {
    config c;
    dense<host> layer;
    float taps[3];
    xt::xtensor<double, 1> history;
};
struct with_constructor {
    explicit with_constructor(int) {}
    int i = 0;
};
struct nothing {};

// Leaves in their forms.
static_assert(std::is_same_v<leaf<host, float>, float>);
static_assert(std::is_same_v<leaf<host, float, 4, 4>, xt::xtensor_fixed<float, xt::xshape<4, 4>>>);
static_assert(std::is_same_v<leaf<host, float, 1024>, xt::xtensor_fixed<float, xt::xshape<1024>>>);
static_assert(std::is_same_v<leaf<host, float, 1025>, xt::xtensor<float, 1>>);
static_assert(std::is_same_v<leaf<host, float, dyn, 3>, xt::xtensor<float, 2>>);
static_assert(std::is_same_v<leaf<host, float, 0>, xt::xtensor<float, 1>>);
static_assert(std::is_same_v<leaf<traced, float, 4>, expr<float>>);

// Kinds.
static_assert(tree_kind_v<spec<float, dyn>> == tree_kind::spec);
static_assert(tree_kind_v<float> == tree_kind::number && tree_kind_v<long long> == tree_kind::number);
static_assert(tree_kind_v<bool> == tree_kind::boolean);
static_assert(tree_kind_v<long double> == tree_kind::unsupported);
static_assert(tree_kind_v<xt::xtensor<float, 1>> == tree_kind::array);
static_assert(tree_kind_v<std::array<float, 2>> == tree_kind::array);
static_assert(tree_kind_v<std::array<dense<host>, 2>> == tree_kind::tuple);
static_assert(tree_kind_v<dense<host>> == tree_kind::family && tree_kind_v<dense<traced>> == tree_kind::family);
static_assert(tree_kind_v<config> == tree_kind::aggregate);
static_assert(tree_kind_v<nothing> == tree_kind::empty);
static_assert(tree_kind_v<with_constructor> == tree_kind::unsupported);
static_assert(tree_kind_v<std::string> == tree_kind::unsupported);
static_assert(tree_kind_v<xt::xarray<float>> == tree_kind::unsupported);
static_assert(tree_kind_v<float*> == tree_kind::unsupported);

// Forms.
static_assert(std::is_same_v<calque::rebind_tree_t<network<host>, traced>, network<traced>>);
static_assert(std::is_same_v<calque::rebind_tree_t<generic<host, double>, specs>, generic<specs, double>>);
static_assert(std::is_same_v<calque::rebind_tree_t<model::params<host>, traced>, model::params<traced>>);
static_assert(std::is_same_v<calque::rebind_tree_t<std::tuple<dense<host>, std::array<dense<host>, 2>>, traced>,
                             std::tuple<dense<traced>, std::array<dense<traced>, 2>>>);

// Leaves of arguments.
using dense_leaves = type_list<spec<float, dyn, dyn>, spec<float, dyn>>;
static_assert(std::is_same_v<tree_leaves_t<xt::xtensor<float, 2> const&>, type_list<spec<float, dyn, dyn>>>);
static_assert(std::is_same_v<tree_leaves_t<spec<float, 3>>, type_list<spec<float, 3>>>);
static_assert(std::is_same_v<tree_leaves_t<double>, type_list<double>>);
static_assert(std::is_same_v<tree_leaves_t<long long>, type_list<std::int64_t>>);
static_assert(std::is_same_v<tree_leaves_t<bool>, type_list<spec<bool>>>);
static_assert(std::is_same_v<tree_leaves_t<dense<host>>, dense_leaves>);
static_assert(std::is_same_v<tree_leaves_t<dense<specs>>, dense_leaves>);
static_assert(calque::tree_size_v<dense<traced>> == 2);
static_assert(std::is_same_v<tree_leaves_t<generic<host, float>>, type_list<spec<float, 784, 10>>>);
static_assert(std::is_same_v<tree_leaves_t<network<host>>,
                             type_list<spec<float, dyn, dyn>, spec<float, dyn>, spec<float, dyn, dyn>, spec<float, dyn>,
                                       spec<float, dyn, dyn>, spec<float, dyn>, spec<double, 4>, spec<std::int32_t>,
                                       spec<float>, spec<float>, spec<float>>>);
static_assert(std::is_same_v<tree_leaves_t<config>, type_list<float, int, spec<bool>>>);
static_assert(std::is_same_v<tree_leaves_t<std::pair<config, nothing>>, type_list<float, int, spec<bool>>>);
static_assert(std::is_same_v<tree_leaves_t<nested>, type_list<float, int, spec<bool>, spec<float, dyn, dyn>,
                                                              spec<float, dyn>, spec<float, 3>, spec<double, dyn>>>);

// What a traced function sees.
static_assert(std::is_same_v<traced_t<xt::xtensor<float, 2> const&>, expr<float>>);
static_assert(std::is_same_v<traced_t<float>, weak_expr<float>> && std::is_same_v<traced_t<bool>, expr<bool>>);
static_assert(std::is_same_v<traced_t<network<host>>, network<traced>>);
static_assert(std::is_same_v<traced_t<spec<double, dyn>>, expr<double>>);
static_assert(std::is_same_v<traced_t<config>, traced_struct<config>>);
static_assert(std::is_same_v<traced_t<std::tuple<config const&, std::array<dense<host>, 2>, std::array<float, 2>>>,
                             std::tuple<traced_struct<config>, std::array<dense<traced>, 2>, expr<float>>>);
static_assert(std::is_same_v<traced_t<dense<host>[2]>, std::array<dense<traced>, 2>>);
static_assert(std::is_same_v<traced_t<nothing>, nothing>);

/// Hands out handles 0, 1, 2, ... and adds up the ranks of the leaves that they stand for.
struct handle_source {
    int count = 0;
    int ranks = 0;

    template <class Leaf, class Handle>
    constexpr auto next() {
        if constexpr (calque::array_spec<Leaf>) {
            ranks += Leaf::rank;
            return expr<typename Leaf::value_type>(count++);
        } else {
            return weak_expr<Leaf>(count++);
        }
    }
};

template <class Tree>
constexpr int sum_of_ids(Tree const& tree) {
    int sum = 0;
    calque::for_each_leaf(tree, [&](auto const& handle) { sum = 10 * sum + handle.id; });
    return sum;
}

// Arguments of traced functions are made in order.
static_assert([] {
    handle_source source;
    dense<traced> const layer = calque::unflatten<dense<host>>(source);
    return layer.w.id == 0 && layer.b.id == 1 && source.ranks == 3;
}());
static_assert([] {
    auto const tree = calque::unflatten<network<host>>(handle_source{});
    return tree.layers[1].w.id == 4 && std::get<1>(tree.head).id == 7 && tree.rates[2].id == 10;
}());
static_assert(sum_of_ids(calque::unflatten<std::tuple<float, std::pair<dense<host>, bool>>>(handle_source{})) == 123);

// A plain struct: by pointer to member, by structured binding, nested.
static_assert([] {
    auto const c = calque::unflatten<config>(handle_source{});
    auto const [scale, power, on] = c;
    static_assert(std::is_same_v<decltype(power), weak_expr<int> const>);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(c[&config::on])>, expr<bool>>);
    return c[&config::power].id == 1 && scale.id == 0 && on.id == 2;
}());
static_assert([] {
    auto const c = calque::unflatten<nested>(handle_source{});
    return c[&nested::c][&config::on].id == 2 && c[&nested::layer].b.id == 4 && c[&nested::taps].id == 5 &&
           c[&nested::history].id == 6;
}());

// tree_map in constant evaluation, where a traced function runs.
static_assert([] {
    auto const tree = calque::unflatten<network<host>>(handle_source{});
    auto const next = calque::tree_map([](auto const& a, auto const& b) { return a + b.id; }, tree, tree);
    static_assert(std::is_same_v<decltype(next), network<traced> const>);
    return next.first.b.id == 2 && next.layers[1].w.id == 8 && next.rates[2].id == 20;
}());
static_assert([] {
    std::tuple<expr<float>, dense<traced>> const tree{expr<float>(1), {expr<float>(2), expr<float>(3)}};
    auto const ids = calque::tree_map([](auto const& a) { return a; }, tree);
    static_assert(std::is_same_v<decltype(ids), decltype(tree)>);
    return sum_of_ids(ids) == 123;
}());
static_assert(calque::tree_map([](auto a) { return a + 1; }, expr<float>(4)).id == 5);
static_assert([] {
    auto const c = calque::unflatten<nested>(handle_source{});
    return sum_of_ids(calque::tree_map([](auto const& a) { return a; }, c)) == 123456;
}());

static_assert(calque::tree_map([](auto a, auto b) { return a + b; }, std::pair(1.f, 2), std::tuple(3., 4)).second == 6);
static_assert(calque::tree_map([](float a) { return a * 0.5; }, config{3.f, 4, true}.scale) == 1.5);

template <class Tree>
std::string paths_of(Tree const& tree) {
    std::string all;
    calque::for_each_leaf_with_path(tree, "p", [&](std::string const& path, auto const&) { all += path + " "; });
    return all;
}

} // namespace

TEST_CASE("leaves are visited in order and can be changed") {
    network<host> tree;
    tree.rates = {1.f, 2.f, 3.f};
    int leaves = 0;
    float sum = 0.f;
    calque::for_each_leaf(tree, [&](auto& leaf) {
        ++leaves;
        if constexpr (std::is_same_v<decltype(leaf), float&>) {
            sum += leaf;
            leaf = 0.f;
        }
    });
    CHECK(leaves == 11);
    CHECK(sum == 6.f);
    CHECK(tree.rates[2] == 0.f);
}

TEST_CASE("the index of a leaf finds its spec") {
    dense<host> const layer{xt::xtensor<float, 2>({3, 2}), xt::xtensor<float, 1>({2})};
    int ranks = 0;
    calque::for_each_indexed_leaf(layer, [&](auto index, auto const& leaf) {
        using leaf_spec = calque::type_at_t<dense_leaves, index>;
        static_assert(std::is_same_v<calque::array_spec_t<decltype(leaf)>, leaf_spec>);
        ranks = 10 * ranks + leaf_spec::rank;
    });
    CHECK(ranks == 21);
}

TEST_CASE("a tuple of references is walked as the result that it receives") {
    dense<host> layer{xt::xtensor<float, 2>({3, 2}), xt::xtensor<float, 1>({2})};
    std::array<float, 2> scalars{};
    double last = 0.;
    using result = std::tuple<dense<traced>, std::array<expr<float>, 2>, expr<double>>;
    std::size_t leaves = 0;
    calque::for_each_indexed_leaf<result>(std::tie(layer, scalars, last), [&](auto index, auto& leaf) {
        CHECK(index == leaves++);
        if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(leaf)>>) {
            leaf = static_cast<std::remove_cvref_t<decltype(leaf)>>(index);
        } else {
            leaf(0) = 7.f;
        }
    });
    CHECK(leaves == 5);
    CHECK(layer.b(0) == 7.f);
    CHECK(scalars[1] == 3.f);
    CHECK(last == 4.);
}

TEST_CASE("paths") {
    CHECK(paths_of(network<host>{}) ==
          "p.first.w p.first.b p.layers[0].w p.layers[0].b p.layers[1].w p.layers[1].b p.head[0] p.head[1] p.rates[0] "
          "p.rates[1] p.rates[2] ");
    CHECK(paths_of(std::pair{config{1.f, 2, true}, 3.f}) == "p.first.scale p.first.power p.first.on p.second ");
    CHECK(paths_of(1.f) == "p ");
    CHECK(calque::leaf_path<traced_struct<nested>>(4) == ".layer.b");
    CHECK(calque::leaf_path<nested>(5) == ".taps");
}

TEST_CASE("tree_map on host arrays") {
    dense<host> const layer{xt::ones<float>({3, 2}), xt::zeros<float>({2})};
    auto const halved = calque::tree_map([](auto const& x) { return xt::eval(x * 0.5f); }, layer);
    static_assert(std::is_same_v<decltype(halved), dense<host> const>);
    CHECK(halved.w(2, 1) == 0.5f);
    CHECK(halved.b.shape()[0] == 2);
    auto const sum = calque::tree_map([](auto const& x, auto const& y) { return xt::eval(x + y); }, layer, halved);
    CHECK(sum.w(0, 0) == 1.5f);
    auto const both = calque::tree_map([](auto const& x) { return xt::eval(x + 1.f); }, std::tuple{layer, layer.b});
    CHECK(std::get<1>(both)(1) == 1.f);
    auto const scaled = calque::tree_map([](auto x) { return x; }, config{2.f, 3, true});
    CHECK(scaled.power == 3);
    auto const sizes = calque::tree_map([](auto const& x) { return x.size(); }, std::array{layer.b, layer.b});
    CHECK(sizes[1] == 2);
}
