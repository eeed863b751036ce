// SPDX-License-Identifier: MIT
// Arrays whose axes have labels, and the order in which a product of several of them is taken.
#pragma once

#include <calque/graph/value.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// A set of labels: bits. There are 52, the letters.
using label_set = std::uint64_t;

/// An array with a label for each axis.
struct labelled {
    value x;
    int labels[max_rank]{};

    constexpr label_set set() const {
        label_set all = 0;
        for (int axis = 0; axis < x.rank(); ++axis) {
            all |= label_set{1} << labels[axis];
        }
        return all;
    }
    constexpr int axis_of(int label) const {
        int axis = 0;
        while (labels[axis] != label) {
            ++axis;
        }
        return axis;
    }
};

namespace detail {

constexpr bool has_label(label_set set, int label) {
    return (set >> label & 1u) != 0;
}

/// In which order a product of several arrays is taken.
class contraction_order {
public:
    constexpr contraction_order(labelled const* terms, int count, label_set output) : output_(output) {
        for (double& extent : extents_) {
            extent = 1;
        }
        for (int k = 0; k < count; ++k) {
            for (int axis = 0; axis < terms[k].x.rank(); ++axis) {
                extent_t const extent = terms[k].x.shape()[axis];
                extents_[terms[k].labels[axis]] = static_cast<double>(extent);
                is_known_ = is_known_ && is_static(extent);
            }
        }
    }

    struct pair {
        int first = 0, second = 1;
        double cost = 0;
    };

    /// The two terms to multiply next: the first two, if some extent is not known; else those of the order with the
    /// least multiplications. Of more than 6 terms that would be too many orders: the cheapest pair.
    constexpr pair next(label_set const* terms, int count) const {
        return is_known_ ? cheapest(terms, count, count > 6 ? 1 : count) : pair{};
    }

private:
    constexpr pair cheapest(label_set const* terms, int count, int depth) const {
        pair best;
        bool is_first = true;
        for (int i = 0; i < count; ++i) {
            for (int j = i + 1; j < count; ++j) {
                label_set kept = output_;
                sequence<label_set> left;
                for (int k = 0; k < count; ++k) {
                    if (k != i && k != j) {
                        left.push_back(terms[k]);
                        kept |= terms[k];
                    }
                }
                double cost = multiplications(terms[i] | terms[j]);
                left.push_back((terms[i] | terms[j]) & kept);
                if (depth > 1 && count > 2) {
                    cost += cheapest(left.data(), left.size(), depth - 1).cost;
                }
                if (is_first || cost < best.cost) {
                    best = {i, j, cost};
                    is_first = false;
                }
            }
        }
        return best;
    }
    constexpr double multiplications(label_set labels) const {
        double n = 1;
        for (int label = 0; label < 52; ++label) {
            n *= has_label(labels, label) ? extents_[label] : 1;
        }
        return n;
    }

    label_set output_;
    double extents_[52]{};
    bool is_known_ = true;
};

} // namespace detail

} // namespace graph
} // namespace v0
} // namespace calque
