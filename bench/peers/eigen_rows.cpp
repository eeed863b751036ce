// SPDX-License-Identifier: MIT
// Softmax and its like row by row, which is several times as fast as with whole-array expressions.
#include <Eigen/Dense>

#include "eigen_cross_entropy.hpp"
#include "rows.hpp"

#include <algorithm>
#include <cmath>

namespace {

using vector = Eigen::ArrayXf;
using table = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using index = Eigen::Index;

vector numbers(std::size_t n, unsigned seed) {
    std::vector<float> const x = rows::numbers_in_order(n, seed);
    return Eigen::Map<vector const>(x.data(), static_cast<index>(n));
}
table numbers(rows::extents n, unsigned seed) {
    std::vector<float> const x = rows::numbers_in_order(n.size(), seed);
    return Eigen::Map<table const>(x.data(), static_cast<index>(n.rows), static_cast<index>(n.columns));
}

void add_chains() {
    for (std::size_t const n : rows::chain_sizes) {
        vector const a = numbers(n, 0), b = numbers(n, 1), c = numbers(n, 2);
        rows::add(rows::name_of("a*b+c-0.5a", n), n, [=, out = a]() mutable { out = a * b + c - 0.5f * a; });
        rows::add(rows::name_of("tanh(a*b+c)*sigmoid(a)-0.5c", n), n,
                  [=, out = a]() mutable { out = (a * b + c).tanh() * a.logistic() - 0.5f * c; });
    }
    for (std::size_t const n : rows::function_sizes) {
        vector const x = numbers(n, 0);
        rows::add(rows::name_of("exp", n), n, [=, out = x]() mutable { out = x.exp(); });
        rows::add(rows::name_of("tanh", n), n, [=, out = x]() mutable { out = x.tanh(); });
    }
}

void add_reductions() {
    for (std::size_t const n : rows::sum_sizes) {
        rows::add(rows::name_of("sum", n), n, [x = numbers(n, 0)] { benchmark::DoNotOptimize(x.sum()); });
    }
    for (rows::extents const n : rows::square) {
        table const x = numbers(n, 0);
        rows::add(rows::name_of("row sums", n), n.size(),
                  [=, out = vector(x.rowwise().sum())]() mutable { out = x.rowwise().sum(); });
        rows::add(rows::name_of("column sums", n), n.size(),
                  [=, out = Eigen::Array<float, 1, Eigen::Dynamic>(x.colwise().sum())]() mutable {
                      out = x.colwise().sum();
                  });
        rows::add(rows::name_of("argmax of rows", n), n.size(), [=, out = Eigen::ArrayX<index>(n.rows)]() mutable {
            for (index i = 0; i < x.rows(); ++i) {
                x.row(i).maxCoeff(&out(i));
            }
        });
        rows::add(rows::name_of("log-sum-exp", n), n.size(), [=, out = numbers(n.rows, 0)]() mutable {
            for (index i = 0; i < x.rows(); ++i) {
                float const largest = x.row(i).maxCoeff();
                out(i) = largest + std::log((x.row(i) - largest).exp().sum());
            }
        });
    }
}

void add_rows() {
    for (rows::extents const n : rows::softmax_sizes) {
        rows::add(rows::name_of("softmax", n), n.size(), [x = numbers(n, 0), out = numbers(n, 1)]() mutable {
            for (index i = 0; i < x.rows(); ++i) {
                out.row(i) = (x.row(i) - x.row(i).maxCoeff()).exp();
                out.row(i) *= 1.f / out.row(i).sum();
            }
        });
    }
    for (rows::extents const n : rows::cross_entropy_sizes) {
        rows::add(rows::name_of("cross-entropy and gradient", n), n.size(),
                  [z = numbers(n, 0), gradient = numbers(n, 1), labels = rows::labels_of(n.rows, n.columns)]() mutable {
                      benchmark::DoNotOptimize(rows::differentiate_cross_entropy(z, labels, gradient));
                  });
    }
    for (rows::extents const n : rows::square) {
        table const x = numbers(n, 0), y = numbers(n, 1);
        rows::add(rows::name_of("layer norm", n), n.size(), [=, out = x]() mutable {
            for (index i = 0; i < x.rows(); ++i) {
                out.row(i) = x.row(i) - x.row(i).mean();
                out.row(i) *= 1.f / std::sqrt(out.row(i).square().mean() + 1e-5f);
            }
        });
        Eigen::Array<float, 1, Eigen::Dynamic> const row = numbers(n.columns, 1).transpose();
        vector const column = numbers(n.rows, 1);
        rows::add(rows::name_of("matrix + row", n), n.size(), [=, out = x]() mutable { out = x.rowwise() + row; });
        rows::add(rows::name_of("matrix + column", n), n.size(),
                  [=, out = x]() mutable { out = x.colwise() + column; });
        rows::add(rows::name_of("a + transpose(b)", n), n.size(), [=, out = x]() mutable { out = x + y.transpose(); });
    }
}

void add_pairs() {
    using points = Eigen::ArrayX3f; // each coordinate is a vector
    for (rows::extents const n : rows::pairs) {
        points const x = numbers(rows::extents{n.rows, 3}, 0), y = numbers(rows::extents{n.columns, 3}, 1);
        rows::add(rows::name_of("nearest points", n), n.size(), [=, out = Eigen::ArrayX<index>(n.rows)]() mutable {
            for (index i = 0; i < x.rows(); ++i) {
                ((y.col(0) - x(i, 0)).square() + (y.col(1) - x(i, 1)).square() + (y.col(2) - x(i, 2)).square())
                    .minCoeff(&out(i));
            }
        });
        rows::add(
            rows::name_of("forces between points", n), n.size(),
            [=, out = x, mass = numbers(n.columns, 2), scale = vector(y.rows()), r2 = vector(y.rows())]() mutable {
                for (index i = 0; i < x.rows(); ++i) {
                    r2 = (y.col(0) - x(i, 0)).square() + (y.col(1) - x(i, 1)).square() + (y.col(2) - x(i, 2)).square() +
                         0.25f;
                    scale = mass / (r2 * r2.sqrt());
                    for (index k = 0; k < 3; ++k) {
                        out(i, k) = (scale * (y.col(k) - x(i, k))).sum();
                    }
                }
            });
    }
}

void add_products() {
    auto const add_product = [](std::string const& name, rows::extents a, std::size_t columns) {
        rows::extents const b{a.columns, columns};
        rows::add(
            name, 2 * a.size() * columns,
            [x = matrix(numbers(a, 0).matrix()), y = matrix(numbers(b, 1).matrix()),
             out = matrix(numbers(rows::extents{a.rows, columns}, 2).matrix())]() mutable { out.noalias() = x * y; });
    };
    for (std::size_t const n : rows::product_sizes) {
        add_product(rows::name_of("matmul", n), {n, n}, n);
    }
    add_product("matmul/30x784x128", {30, 784}, 128);
}

} // namespace

int main(int argc, char** argv) {
    add_chains();
    add_reductions();
    add_rows();
    add_pairs();
    add_products();
    return rows::run(argc, argv);
}
