// SPDX-License-Identifier: MIT
#include <calque/core/compatibility_xtensor_expressions.hpp>

#if __has_include(<xtensor/xnoalias.hpp>)
#include <xtensor/xnoalias.hpp>
#include <xtensor/xsort.hpp>
#else
#include <xtensor/core/xnoalias.hpp>
#include <xtensor/misc/xsort.hpp>
#endif

#include "xtensor_data.hpp"

#include <algorithm>

namespace {

using rows::matrix;
using rows::numbers;
using rows::vector;

void add_chains() {
    for (std::size_t const n : rows::chain_sizes) {
        vector const a = numbers(n, 0), b = numbers(n, 1), c = numbers(n, 2);
        rows::add(rows::name_of("a*b+c-0.5a", n), n,
                  [=, out = a]() mutable { xt::noalias(out) = a * b + c - 0.5f * a; });
        rows::add(rows::name_of("tanh(a*b+c)*sigmoid(a)-0.5c", n), n, [=, out = a]() mutable {
            xt::noalias(out) = xt::tanh(a * b + c) * (1.f / (1.f + xt::exp(-a))) - 0.5f * c;
        });
    }
    for (std::size_t const n : rows::function_sizes) {
        vector const x = numbers(n, 0);
        rows::add(rows::name_of("exp", n), n, [=, out = x]() mutable { xt::noalias(out) = xt::exp(x); });
        rows::add(rows::name_of("tanh", n), n, [=, out = x]() mutable { xt::noalias(out) = xt::tanh(x); });
    }
}

void add_reductions() {
    for (std::size_t const n : rows::sum_sizes) {
        rows::add(rows::name_of("sum", n), n,
                  [x = numbers(n, 0)] { benchmark::DoNotOptimize(xt::sum(x, xt::evaluation_strategy::immediate)()); });
    }
    for (rows::extents const n : rows::square) {
        matrix const x = numbers(n, 0);
        rows::add(rows::name_of("row sums", n), n.size(), [=, out = numbers(n.rows, 0)]() mutable {
            out = xt::sum(x, {1}, xt::evaluation_strategy::immediate);
        });
        rows::add(rows::name_of("argmax of rows", n), n.size(),
                  [=, out = xt::xtensor<std::size_t, 1>::from_shape({n.rows})]() mutable { out = xt::argmax(x, 1); });
        rows::add(rows::name_of("column sums", n), n.size(), [=, out = numbers(n.columns, 0)]() mutable {
            out = xt::sum(x, {0}, xt::evaluation_strategy::immediate);
        });
    }
}

void add_rows() {
    for (rows::extents const n : rows::softmax_sizes) {
        rows::add(rows::name_of("softmax", n), n.size(), [x = numbers(n, 0), out = numbers(n, 1)]() mutable {
            auto const largest = xt::amax(x, {1}, xt::keep_dims | xt::evaluation_strategy::immediate);
            xt::noalias(out) = xt::exp(x - largest);
            out /= xt::eval(xt::sum(out, {1}, xt::keep_dims | xt::evaluation_strategy::immediate));
        });
    }
    for (rows::extents const n : rows::square) {
        matrix const x = numbers(n, 0), y = numbers(n, 1);
        vector const row = numbers(n.columns, 1);
        matrix const column = numbers(rows::extents{n.rows, 1}, 1);
        rows::add(rows::name_of("matrix + row", n), n.size(), [=, out = x]() mutable { xt::noalias(out) = x + row; });
        rows::add(rows::name_of("matrix + column", n), n.size(),
                  [=, out = x]() mutable { xt::noalias(out) = x + column; });
        rows::add(rows::name_of("a + transpose(b)", n), n.size(),
                  [=, out = x]() mutable { xt::noalias(out) = x + xt::transpose(y); });
    }
}

} // namespace

int main(int argc, char** argv) {
    add_chains();
    add_reductions();
    add_rows();
    return rows::run(argc, argv);
}
