// SPDX-License-Identifier: MIT
#include <calque/calque.hpp>

#include "xtensor_data.hpp"

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

namespace {

using rows::matrix;
using rows::numbers;
using rows::vector;

/// `fn(arguments...)`, written to an array that is there.
template <class F, class Out, class... Arguments>
void add(std::string const& name, std::size_t items, F const& fn, Out out, Arguments... arguments) {
    rows::add(name, items, [f = calque::function(fn), out = std::move(out), ... x = std::move(arguments)]() mutable {
        f.into(out, x...);
    });
}

inline constexpr auto cheap_chain = [](auto a, auto b, auto c) { return a * b + c - 0.5f * a; };
inline constexpr auto costly_chain = [](auto a, auto b, auto c) { return tanh(a * b + c) * sigmoid(a) - 0.5f * c; };
inline constexpr auto exponential = [](auto x) { return exp(x); };
inline constexpr auto hyperbolic_tangent = [](auto x) { return tanh(x); };
inline constexpr auto total = [](auto x) { return sum(x); };
inline constexpr auto row_sums = [](auto x) { return calque::sum<-1>(x); };
inline constexpr auto column_sums = [](auto x) { return calque::sum<0>(x); };
inline constexpr auto softmax = [](auto x) { return calque::softmax<-1>(x); };
inline constexpr auto logsumexp = [](auto x) { return calque::logsumexp<-1>(x); };
inline constexpr auto layer_norm = [](auto x) {
    auto const centred = x - calque::mean<-1>(x, calque::keepdims);
    return centred * rsqrt(calque::mean<-1>(square(centred), calque::keepdims) + 1e-5f);
};
inline constexpr auto place_of_largest = [](auto x) { return calque::argmax<-1>(x); };
inline constexpr auto nearest = [](auto x, auto y) {
    auto const d = calque::expand_dims<1>(x) - calque::expand_dims<0>(y);
    return calque::argmin<1>(calque::sum<-1>(d * d));
};
inline constexpr auto forces = [](auto x, auto y, auto mass) {
    auto const d = calque::expand_dims<0>(y) - calque::expand_dims<1>(x);
    auto const r2 = calque::sum<-1>(d * d) + 0.25f;
    return calque::sum<1>(d * calque::expand_dims<2>(mass / (r2 * sqrt(r2))));
};
inline constexpr auto plus = [](auto x, auto y) { return x + y; };
inline constexpr auto plus_transpose = [](auto x, auto y) { return x + transpose(y); };
inline constexpr auto product = [](auto x, auto y) { return matmul(x, y); };
inline constexpr auto value_and_gradient =
    calque::value_and_grad([](auto a, auto b, auto c) { return sum(tanh(a * b + c)); });
inline constexpr auto cross_entropy = calque::value_and_grad([](auto z, auto labels) {
    return calque::mean(calque::logsumexp<-1>(z) - calque::sum<-1>(z * calque::one_hot(labels, z)));
});

auto places(std::size_t n) {
    return xt::xtensor<std::int64_t, 1>::from_shape({n});
}

void add_chains() {
    for (std::size_t const n : rows::chain_sizes) {
        auto const a = numbers(n, 0), b = numbers(n, 1), c = numbers(n, 2);
        add(rows::name_of("a*b+c-0.5a", n), n, cheap_chain, a, a, b, c);
        add(rows::name_of("tanh(a*b+c)*sigmoid(a)-0.5c", n), n, costly_chain, a, a, b, c);
    }
    for (std::size_t const n : rows::function_sizes) {
        add(rows::name_of("exp", n), n, exponential, numbers(n, 0), numbers(n, 0));
        add(rows::name_of("tanh", n), n, hyperbolic_tangent, numbers(n, 0), numbers(n, 0));
    }
}

void add_reductions() {
    for (std::size_t const n : rows::sum_sizes) {
        add(rows::name_of("sum", n), n, total, 0.f, numbers(n, 0));
    }
    for (rows::extents const n : rows::square) {
        add(rows::name_of("row sums", n), n.size(), row_sums, numbers(n.rows, 0), numbers(n, 0));
        add(rows::name_of("column sums", n), n.size(), column_sums, numbers(n.columns, 0), numbers(n, 0));
        add(rows::name_of("log-sum-exp", n), n.size(), logsumexp, numbers(n.rows, 0), numbers(n, 0));
        add(rows::name_of("argmax of rows", n), n.size(), place_of_largest, places(n.rows), numbers(n, 0));
    }
}

void add_rows() {
    for (rows::extents const n : rows::softmax_sizes) {
        add(rows::name_of("softmax", n), n.size(), softmax, numbers(n, 1), numbers(n, 0));
    }
    for (rows::extents const n : rows::square) {
        matrix const x = numbers(n, 0);
        add(rows::name_of("layer norm", n), n.size(), layer_norm, x, x);
        add(rows::name_of("matrix + row", n), n.size(), plus, x, x, numbers(n.columns, 1));
        rows::add(rows::name_of("matrix + column", n), n.size(),
                  [f = calque::function(plus), out = x, x, column = numbers(rows::extents{n.rows, 1}, 1)]() mutable {
                      f.into(out, x, calque::with_shape<calque::dyn, 1>(column)); // known to the compiler: no copy
                  });
        add(rows::name_of("a + transpose(b)", n), n.size(), plus_transpose, x, x, numbers(n, 1));
    }
}

void add_pairs() {
    for (rows::extents const n : rows::pairs) {
        matrix const first = numbers(rows::extents{n.rows, 3}, 0), second = numbers(rows::extents{n.columns, 3}, 1);
        rows::add(rows::name_of("nearest points", n), n.size(),
                  [f = calque::function(nearest), out = places(n.rows), first, second]() mutable {
                      f.into(out, calque::with_shape<calque::dyn, 3>(first),
                             calque::with_shape<calque::dyn, 3>(second));
                  });
        rows::add(rows::name_of("forces between points", n), n.size(),
                  [f = calque::function(forces), out = first, first, second, mass = numbers(n.columns, 2)]() mutable {
                      f.into(out, calque::with_shape<calque::dyn, 3>(first), calque::with_shape<calque::dyn, 3>(second),
                             mass);
                  });
    }
}

void add_products() {
    auto const add_product = [](std::string const& name, rows::extents a, std::size_t columns) {
        rows::extents const b{a.columns, columns};
        add(name, 2 * a.size() * columns, product, numbers(rows::extents{a.rows, columns}, 2), numbers(a, 0),
            numbers(b, 1));
    };
    for (std::size_t const n : rows::product_sizes) {
        add_product(rows::name_of("matmul", n), {n, n}, n);
    }
    add_product("matmul/30x784x128", {30, 784}, 128);
}

void add_gradients() {
    for (rows::extents const n : rows::cross_entropy_sizes) {
        rows::add(rows::name_of("cross-entropy and gradient", n), n.size(),
                  [f = calque::function(cross_entropy), z = numbers(n, 0), labels = rows::labels_of(n.rows, n.columns),
                   value = 0.f, gradient = numbers(n, 1)]() mutable {
                      f.into(std::tie(value, gradient), z, std::span<std::int32_t const>(labels));
                  });
    }
    for (std::size_t const n : rows::gradient_sizes) {
        rows::add(rows::name_of("value+grad of sum(tanh(a*b+c))", n), n,
                  [f = calque::function(value_and_gradient), a = numbers(n, 0), b = numbers(n, 1), c = numbers(n, 2),
                   value = 0.f, gradient = numbers(n, 3)]() mutable { f.into(std::tie(value, gradient), a, b, c); });
    }
}

} // namespace

int main(int argc, char** argv) {
    add_chains();
    add_reductions();
    add_rows();
    add_pairs();
    add_products();
    add_gradients();
    return rows::run(argc, argv);
}
