// SPDX-License-Identifier: MIT
// `vmap` as users call it: axes, trees, what it returns, how it nests; what the kernels compute against a C++ loop over
// the function itself. (The batch rule of each operation: vectorize_test.cpp.)
#include <calque/calque.hpp>
#include <calque/vmap.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>

namespace {

using calque::dim;
using calque::dyn;
using calque::grad;
using calque::output_t;
using calque::spec;
using calque::unmapped;
using calque::vmap;

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using cube = xt::xtensor<double, 3>;

// ---- what it returns

inline constexpr auto dot = [](auto x, auto y) { return sum(x * y); };
inline constexpr auto norm = [](auto x) { return std::tuple{sum(x * x), x * 2, 1.f}; };

static_assert(std::is_same_v<output_t<decltype(vmap(dot)), spec<float, 4, 3>, spec<float, 4, 3>>, spec<float, 4>>);
static_assert(
    std::is_same_v<output_t<decltype(vmap<1, 0>(dot)), spec<float, 3, 4>, spec<float, dyn, 3>>, spec<float, 4>>);
static_assert(std::is_same_v<output_t<decltype(vmap<-1, unmapped>(dot)), spec<float, 3, dim("n")>, spec<float, 3>>,
                             spec<float, dim("n")>>);
static_assert(std::is_same_v<output_t<decltype(vmap(norm)), spec<double, dyn, 3>>,
                             std::tuple<spec<double, dyn>, spec<double, dyn, 3>, spec<float, dyn>>>);
static_assert(std::is_empty_v<decltype(vmap<0, unmapped>(vmap(dot)))>);

// An extent that one argument knows is that of all.
static_assert(std::is_same_v<output_t<decltype(vmap(dot)), spec<float, dyn, 3>, spec<float, 7, dyn>>, spec<float, 7>>);
static_assert(std::is_same_v<output_t<decltype(vmap([](auto x, auto) { return x; })), spec<float, dyn>, spec<float, 7>>,
                             spec<float, 7>>);

// ---- values

std::uint64_t state = 1;
double noise() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(static_cast<std::int32_t>(state >> 32)) / 2147483648.0;
}
template <class Array, class... Extents>
Array random(Extents... extents) {
    Array array(std::array<std::size_t, sizeof...(Extents)>{static_cast<std::size_t>(extents)...});
    for (double& x : array) {
        x = noise();
    }
    return array;
}

template <class Array>
void check_close(Array const& given, Array const& expected) {
    REQUIRE(given.shape() == expected.shape());
    for (std::size_t i = 0; i < given.size(); ++i) {
        CHECK(given.flat(i) == doctest::Approx(expected.flat(i)).epsilon(1e-13));
    }
}

matrix row_of(cube const& x, std::size_t i) {
    return xt::view(x, i);
}
vector row_of(matrix const& x, std::size_t i) {
    return xt::view(x, i);
}

inline constexpr auto model = [](auto x, auto w, auto b) {
    auto const h = tanh(matmul(x, w) + b);
    return calque::softmax<-1>(h) * sum(h * h) + calque::zeros_like(h);
};

TEST_CASE("a network of one row, mapped over rows") {
    auto const one = calque::function(model);
    auto const all = calque::function(vmap<0, unmapped, unmapped>(model));
    matrix const w = random<matrix>(5, 3);
    vector const b = random<vector>(3);
    for (std::size_t const batch : {0u, 1u, 3u, 17u}) {
        matrix const x = random<matrix>(batch, 5);
        matrix expected({batch, 3});
        for (std::size_t i = 0; i < batch; ++i) {
            xt::view(expected, i) = one(row_of(x, i), w, b);
        }
        check_close(matrix(all(x, w, b)), expected);
    }
}

TEST_CASE("other axes, and every argument mapped") {
    auto const one = calque::function(model);
    auto const all = calque::function(vmap<1, 0, -1>(model));
    for (std::size_t const batch : {1u, 4u}) {
        matrix const x = random<matrix>(5, batch), b = random<matrix>(3, batch);
        cube const w = random<cube>(batch, 5, 3);
        matrix expected({batch, 3});
        for (std::size_t i = 0; i < batch; ++i) {
            xt::view(expected, i) =
                one(vector(xt::view(x, xt::all(), i)), row_of(w, i), vector(xt::view(b, xt::all(), i)));
        }
        check_close(matrix(all(x, w, b)), expected);
    }
}

TEST_CASE("products of matrices of dynamic extents") {
    auto constexpr product = [](auto a, auto b) { return calque::matmul(a, b); };
    auto const one = calque::function(product);
    cube const a = random<cube>(3, 4, 5), b = random<cube>(3, 5, 2);
    cube expected({3, 4, 2});
    for (std::size_t i = 0; i < 3; ++i) {
        xt::view(expected, i) = one(row_of(a, i), row_of(b, i));
    }
    check_close(cube(calque::function(vmap(product))(a, b)), expected);
    for (std::size_t i = 0; i < 3; ++i) {
        xt::view(expected, i) = one(row_of(a, i), row_of(b, 0));
    }
    check_close(cube(calque::function(vmap<0, unmapped>(product))(a, row_of(b, 0))), expected);
    for (std::size_t i = 0; i < 3; ++i) {
        xt::view(expected, i) = one(row_of(a, 0), row_of(b, i));
    }
    check_close(cube(calque::function(vmap<unmapped, 0>(product))(row_of(a, 0), b)), expected);
}

TEST_CASE("products of large matrices, of views and of integers, one pair after the other") {
    auto const all = calque::function(vmap([](auto a, auto b) {
        return std::tuple{matmul(a, b), matmul(calque::transpose(b), calque::transpose(a)) + 1};
    }));
    auto const check = [&]<class T>(T, std::size_t m, std::size_t k, std::size_t n, std::size_t batch) {
        xt::xtensor<T, 3> a({batch, m, k}), b({batch, k, n}), expected = xt::zeros<T>({batch, m, n});
        for (std::size_t i = 0; i < a.size(); ++i) {
            a.flat(i) = static_cast<T>(i * 7 % 23) - 11;
        }
        for (std::size_t i = 0; i < b.size(); ++i) {
            b.flat(i) = static_cast<T>(i * 5 % 19) - 9;
        }
        for (std::size_t i = 0; i < batch * m * k * n; ++i) { // sums of integers: exact in every order
            std::size_t const column = i % n, inner = i / n % k, row = i / n / k % m, e = i / n / k / m;
            expected(e, row, column) += a(e, row, inner) * b(e, inner, column);
        }
        auto const [products, turned] = all(a, b);
        CHECK(products == expected);
        CHECK(turned == xt::xtensor<T, 3>(xt::transpose(expected, {0, 2, 1}) + T(1)));
    };
    check(0.f, 70, 90, 50, 3);
    check(0.f, 3, 5, 2, 4);
    check(0.f, 4, 0, 3, 2);
    check(0.f, 4, 3, 5, 0);
    check(std::int32_t(0), 6, 7, 5, 3);
    xt::xtensor<float, 3> const a = xt::ones<float>({2, 4, 3}), b = xt::ones<float>({2, 3, 5});
    CHECK(all.plan(a, b).text().find("batch_matmul") != std::string::npos);
    CHECK_THROWS_AS(all(a, a), calque::shape_error const&);
}

inline constexpr auto loss = [](auto w, auto x, auto label) {
    auto const scores = tanh(matmul(x, w));
    return -sum(calque::one_hot<double>(label, 4) * calque::log_softmax<-1>(scores));
};

TEST_CASE("gradients of each example") {
    auto const one = calque::function(grad(loss));
    auto const all = calque::function(vmap<unmapped, 0, 0>(grad(loss)));
    matrix const w = random<matrix>(3, 4), x = random<matrix>(6, 3);
    xt::xtensor<std::int32_t, 1> const labels = {0, 3, 1, 1, 2, 0};
    cube expected({6, 3, 4});
    for (std::size_t i = 0; i < 6; ++i) {
        xt::xtensor_fixed<std::int32_t, xt::xshape<>> const label = labels(i);
        xt::view(expected, i) = one(w, row_of(x, i), label);
    }
    check_close(cube(all(w, x, labels)), expected);

    // The gradient of the mean is the mean of the gradients.
    auto const total = calque::function(
        grad([](auto v, auto rows, auto classes) { return mean(vmap<unmapped, 0, 0>(loss)(v, rows, classes)); }));
    check_close(matrix(total(w, x, labels)), matrix(xt::mean(expected, {0})));
}

template <class M>
struct dense {
    calque::leaf<M, double, dyn, dyn> w;
    calque::leaf<M, double, dyn> b;
};
template <class M>
struct ensemble {
    calque::leaf<M, double, dyn, dyn, dyn> w;
    calque::leaf<M, double, dyn, dyn> b;
};

TEST_CASE("trees: a tuple of batches, and a batch of parameters") {
    auto constexpr apply = [](auto pair, auto scale) {
        auto [x, y] = pair;
        return std::tuple{x * y * scale, std::tuple{sum(x) + sum(y)}};
    };
    matrix const x = random<matrix>(3, 4), y = random<matrix>(3, 4);
    auto const [products, sums] = calque::function(vmap<0, unmapped>(apply))(std::tuple{x, y}, 2.);
    check_close(matrix(products), matrix(x * y * 2));
    check_close(vector(std::get<0>(sums)), vector(xt::sum(x + y, {1})));

    auto constexpr layer = [](auto p, auto z) { return matmul(z, p.w) + p.b; };
    auto constexpr layers = [](auto p, auto z) {
        return vmap<0, unmapped>([](auto wb, auto row) { return matmul(row, std::get<0>(wb)) + std::get<1>(wb); })(
            std::tuple{p.w, p.b}, z);
    };
    ensemble<calque::host> const all{random<cube>(3, 4, 2), random<matrix>(3, 2)};
    vector const z = random<vector>(4);
    matrix expected({3, 2});
    for (std::size_t i = 0; i < 3; ++i) {
        xt::view(expected, i) = calque::function(layer)(dense<calque::host>{row_of(all.w, i), row_of(all.b, i)}, z);
    }
    check_close(matrix(calque::function(layers)(all, z)), expected);
}

TEST_CASE("a family of which each leaf has one more axis") {
    auto constexpr norms = [](auto p) { return std::tuple{sum(p.w * p.w), sum(p.b)}; };
    ensemble<calque::host> const p{random<cube>(3, 4, 2), random<matrix>(3, 2)};
    auto const [squares, sums] = calque::function(vmap(norms))(p);
    check_close(vector(squares), vector(xt::sum(p.w * p.w, {1, 2})));
    check_close(vector(sums), vector(xt::sum(p.b, {1})));
    auto constexpr twice = [](auto q) { return calque::tree_map([](auto leaf) { return leaf + leaf; }, q); };
    ensemble<calque::host> const doubled = calque::function(vmap(twice))(p);
    check_close(cube(doubled.w), cube(p.w * 2));
    check_close(matrix(doubled.b), matrix(p.b * 2));
}

TEST_CASE("vmap of vmap: a table of all pairs") {
    auto constexpr table = vmap<0, unmapped>(vmap<unmapped, 0>(dot));
    matrix const x = random<matrix>(3, 5), y = random<matrix>(4, 5);
    matrix expected({3, 4});
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
            expected(i, j) = xt::sum(row_of(x, i) * row_of(y, j))();
        }
    }
    check_close(matrix(calque::function(table)(x, y)), expected);
}

TEST_CASE("in a body: what is captured is the same for all, mapped outside or not") {
    auto constexpr nested = [](auto x, auto y) {
        auto const offset = sum(y);
        return vmap([=](auto row) {
            auto const scale = sum(row);
            return vmap([=](auto z) { return z * scale + offset; })(y);
        })(x);
    };
    matrix const x = random<matrix>(3, 4);
    vector const y = random<vector>(2);
    matrix expected({3, 2});
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            expected(i, j) = y(j) * xt::sum(row_of(x, i))() + xt::sum(y)();
        }
    }
    check_close(matrix(calque::function(nested)(x, y)), expected);
}

TEST_CASE("grad of vmap of grad") {
    // d/dx of sum_i (3 x_i^2) w_i
    auto constexpr slopes = [](auto x, auto w) { return sum(vmap(grad([](auto z) { return z * z * z; }))(x) * w); };
    vector const x = random<vector>(5), w = random<vector>(5);
    check_close(vector(calque::function(grad(slopes))(x, w)), vector(6. * x * w));
    // Each example's second derivative.
    auto constexpr second = vmap(grad(grad([](auto z) { return z * z * z * z; })));
    check_close(vector(calque::function(second)(x)), vector(12. * x * x));
}

TEST_CASE("over values that no argument has met yet") {
    auto constexpr ramps = [](auto x) {
        auto const slopes = calque::arange<double>(3);
        return std::tuple{vmap([=](auto s) { return s * x; })(slopes), vmap([](auto s) { return s + 1; })(slopes)};
    };
    vector const x = random<vector>(4);
    auto const [ramp, apart] = calque::function(ramps)(x);
    matrix expected({3, 4});
    for (std::size_t i = 0; i < 3; ++i) {
        xt::view(expected, i) = x * static_cast<double>(i);
    }
    check_close(matrix(ramp), expected);
    check_close(vector(apart), vector{1, 2, 3});
}

TEST_CASE("results that are the same for all examples") {
    auto const f = calque::function(
        vmap<0, unmapped>([](auto x, auto y) { return std::tuple{sum(y), 2., calque::zeros_like(x), x.rank()}; }));
    matrix const x = random<matrix>(3, 4);
    auto const [sums, twos, zeros, ranks] = f(x, vector{1, 2});
    check_close(vector(sums), vector{3, 3, 3});
    check_close(vector(twos), vector{2, 2, 2});
    check_close(matrix(zeros), matrix(xt::zeros<double>({3, 4})));
    CHECK(ranks == xt::xtensor<int, 1>{1, 1, 1});
}

TEST_CASE("a function may assign to its parameters") {
    auto constexpr assigns = [](auto& x) {
        x = x * x;
        return x + 1;
    };
    check_close(vector(calque::function(vmap(assigns))(vector{1, 2, 3})), vector{2, 5, 10});
}

TEST_CASE("views, movements and indices of dynamic extents, compiled") {
    auto constexpr moves = [](auto x, auto at) {
        auto const y = tanh(x);
        return std::tuple{calque::take<0>(y, at),
                          calque::take<1>(x, at),
                          calque::reshape(y, dyn) * 2,
                          calque::view(y, calque::range(0, -1), calque::range(1, 9, 2)),
                          calque::concatenate<0>(y, x, calque::zeros_like(x) + 1),
                          calque::transpose(y) - calque::transpose(x),
                          calque::cast<double>(calque::argmax<1>(x)),
                          calque::softmax<0>(x) + sum<0>(y) * calque::mean(x),
                          matmul(calque::transpose(x), y)};
    };
    auto const one = calque::function(moves);
    auto const check = [&](auto const& all, auto const& example, std::size_t batch) {
        for (std::size_t i = 0; i < batch; ++i) {
            [&]<std::size_t... K>(std::index_sequence<K...>) {
                auto const expected = example(i);
                (check_close(std::decay_t<decltype(std::get<K>(expected))>(xt::view(std::get<K>(all), i)),
                             std::get<K>(expected)),
                 ...);
            }(std::make_index_sequence<9>{});
        }
    };
    for (std::size_t const batch : {1u, 3u}) {
        cube const x = random<cube>(batch, 4, 5);
        xt::xtensor<std::int32_t, 2> at({batch, 3});
        for (std::size_t i = 0; i < at.size(); ++i) {
            at.flat(i) = static_cast<std::int32_t>(i * 7 % 11) - 5; // some from the end, some beyond
        }
        xt::xtensor<std::int32_t, 1> const first = xt::view(at, 0);
        auto const at_of = [&](std::size_t i) { return xt::xtensor<std::int32_t, 1>(xt::view(at, i)); };
        check(calque::function(vmap(moves))(x, at), [&](std::size_t i) { return one(row_of(x, i), at_of(i)); }, batch);
        check(
            calque::function(vmap<0, unmapped>(moves))(x, first),
            [&](std::size_t i) { return one(row_of(x, i), first); }, batch);
        check(
            calque::function(vmap<unmapped, 0>(moves))(row_of(x, 0), at),
            [&](std::size_t i) { return one(row_of(x, 0), at_of(i)); }, batch);
    }
}

TEST_CASE("batches of different sizes are an error of the call") {
    auto const f = calque::function(vmap(dot), {.name = "dots"});
    matrix const x = random<matrix>(3, 4);
    std::string message;
    try {
        f(x, random<matrix>(1, 4));
    } catch (calque::shape_error const& e) {
        message = e.what();
    }
    CHECK(message.find("dots") != std::string::npos);
    CHECK(message.find("the mapped axes have different extents: double[1,4] and double[3,4]") != std::string::npos);
    check_close(vector(f(x, x)), vector(xt::sum(x * x, {1})));
}

TEST_CASE("static shapes make a static program") {
    using fixed = xt::xtensor_fixed<float, xt::xshape<2, 3>>;
    static_assert(calque::is_static_v<decltype(vmap(dot)), fixed, fixed>);
    fixed const x = {{1, 2, 3}, {4, 5, 6}};
    auto const y = calque::function(vmap(dot))(x, x);
    CHECK(y(0) == 14);
    CHECK(y(1) == 77);
}

} // namespace
