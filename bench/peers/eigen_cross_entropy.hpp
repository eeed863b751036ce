// SPDX-License-Identifier: MIT
// The cross-entropy of rows and its gradient with Eigen, row by row.
#pragma once

#include <Eigen/Core>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rows {

/// The mean of the cross-entropies of the rows of an array; its derivatives go to `gradient`, which may be `z`.
template <class Z, class Gradient>
float differentiate_cross_entropy(Z const& z, std::vector<std::int32_t> const& labels, Gradient& gradient) {
    float loss = 0;
    float const share = 1.f / static_cast<float>(z.rows());
    for (Eigen::Index i = 0; i < z.rows(); ++i) {
        auto const in = z.row(i);
        auto out = gradient.row(i);
        std::int32_t const label = labels[static_cast<std::size_t>(i)];
        float const of_label = in(label), largest = in.maxCoeff();
        out = (in - largest).exp();
        float const sum = out.sum();
        out *= share / sum;
        out(label) -= share;
        loss += largest + std::log(sum) - of_label;
    }
    return loss * share;
}

} // namespace rows
