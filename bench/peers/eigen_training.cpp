// SPDX-License-Identifier: MIT
// Training steps, their gradients by hand. An item is a step.
#include <Eigen/Dense>

#include "eigen_cross_entropy.hpp"
#include "training.hpp"

#include <cmath>

namespace {

using namespace training;

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using row = Eigen::Matrix<float, 1, Eigen::Dynamic>;
using index = Eigen::Index;

template <class Array>
Array array(index rows, index columns, unsigned seed, float scale) {
    auto const x = numbers(static_cast<std::size_t>(rows * columns), seed, scale);
    return Eigen::Map<Array const>(x.data(), rows, columns);
}

/// A layer's parameters with their gradients and moments.
struct layer {
    matrix w, w_gradient, w_mean, w_variance;
    row b, b_gradient, b_mean, b_variance;

    layer(int inputs, int outputs, unsigned seed)
        : w(array<matrix>(inputs, outputs, seed, 0.05f)), w_gradient(matrix::Zero(inputs, outputs)),
          w_mean(w_gradient), w_variance(w_gradient), b(array<row>(1, outputs, seed + 1, 0.05f)),
          b_gradient(row::Zero(outputs)), b_mean(b_gradient), b_variance(b_gradient) {}

    /// By the moments' corrections.
    void update(float c1, float c2) {
        auto const adam = [&](auto p, auto g, auto m, auto v) {
            m = beta1 * m + (1 - beta1) * g;
            v = beta2 * v + (1 - beta2) * g.square();
            p -= rate * (m / c1) / ((v / c2).sqrt() + epsilon);
        };
        adam(w.array(), w_gradient.array(), w_mean.array(), w_variance.array());
        adam(b.array(), b_gradient.array(), b_mean.array(), b_variance.array());
    }
};

/// Backwards through a layer with the inputs `x`, whose outputs have the derivatives `dz`.
void differentiate(layer& of, matrix const& x, matrix const& dz) {
    of.w_gradient.noalias() = x.transpose() * dz;
    of.b_gradient = dz.colwise().sum();
}

struct corrections {
    int step = 0;
    float c1 = 0, c2 = 0;
    void next() {
        ++step;
        c1 = 1 - std::pow(beta1, static_cast<float>(step));
        c2 = 1 - std::pow(beta2, static_cast<float>(step));
    }
};

void add_dense(std::size_t batch) {
    auto const rows_of_x = static_cast<index>(batch);
    rows::add(name_of("5-10", batch), 1,
              [x = array<matrix>(rows_of_x, dense_inputs, 5, 1.f), labels = rows::labels_of(batch, classes),
               net = layer(dense_inputs, classes, 1), z = matrix(rows_of_x, classes), at = corrections()]() mutable {
                  z.noalias() = x * net.w;
                  z.rowwise() += net.b;
                  auto outputs = z.array();
                  benchmark::DoNotOptimize(rows::differentiate_cross_entropy(outputs, labels, outputs));
                  differentiate(net, x, z);
                  at.next();
                  net.update(at.c1, at.c2);
              });
}

void add_network(std::size_t batch) {
    auto const rows_of_x = static_cast<index>(batch);
    rows::add(name_of("784-128-10", batch), 1,
              [x = array<matrix>(rows_of_x, pixels, 5, 1.f), labels = rows::labels_of(batch, classes),
               first = layer(pixels, hidden, 1), last = layer(hidden, classes, 3),
               h = matrix(rows_of_x, hidden), dh = matrix(rows_of_x, hidden), z = matrix(rows_of_x, classes), at = corrections()]() mutable {
                  h.noalias() = x * first.w;
                  h = (h.rowwise() + first.b).cwiseMax(0.f);
                  z.noalias() = h * last.w;
                  z.rowwise() += last.b;
                  auto outputs = z.array();
                  benchmark::DoNotOptimize(rows::differentiate_cross_entropy(outputs, labels, outputs));
                  differentiate(last, h, z);
                  dh.noalias() = z * last.w.transpose();
                  dh = (h.array() > 0.f).select(dh, 0.f);
                  differentiate(first, x, dh);
                  at.next();
                  first.update(at.c1, at.c2);
                  last.update(at.c1, at.c2);
              });
}

} // namespace

int main(int argc, char** argv) {
    flush_denormals();
    for (std::size_t const batch : dense_batches) {
        add_dense(batch);
    }
    for (std::size_t const batch : network_batches) {
        add_network(batch);
    }
    return rows::run(argc, argv);
}
