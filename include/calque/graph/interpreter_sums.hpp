// SPDX-License-Identifier: MIT
// The interpreter's sums, folds and products: plain loops that accumulate in a wider type, so that kernels are compared
// with something more exact than themselves.
#pragma once

#include <calque/graph/interpreter_movement.hpp>

#include <type_traits>
#include <vector>

namespace calque {
inline namespace v0 {
namespace graph {
namespace detail {

/// What elements of `T` are summed in. Integers wrap around, which unsigned ones may.
template <class T>
using wide_t = std::conditional_t<std::is_integral_v<T>, std::uint64_t,
                                  std::conditional_t<std::is_same_v<T, float>, double, long double>>;

/// Sums of elements of `T`, one for each element of a result.
template <class T>
class wide_sums {
public:
    explicit wide_sums(tensor& result) : result_(result), sums_(static_cast<std::size_t>(result.size())) {}

    wide_t<T>& operator[](extent_t i) { return sums_[static_cast<std::size_t>(i)]; }

    void round() {
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            result_.as<T>()[i] = static_cast<T>(sums_[i]);
        }
    }

private:
    tensor& result_;
    std::vector<wide_t<T>> sums_;
};

/// Sums x into the shape of y, whose extents are those of x or 1.
template <class T>
void run_sum(tensor const& x, tensor& y) {
    wide_sums<T> sums(y);
    placement const to = broadcast_placement(y.extents, x.extents);
    T const* element = x.as<T>();
    extent_t const step = to.along_row(x.extents);
    for_each_row(x.extents, [&](shape const& index, extent_t n) {
        wide_t<T>* const first = &sums[to(index)];
        if (step == 0) { // not in memory, where each addition would wait for the one before to be stored
            wide_t<T> total = *first;
            for (extent_t i = 0; i < n; ++i) {
                total += static_cast<wide_t<T>>(*element++);
            }
            *first = total;
        } else {
            for (extent_t i = 0; i < n; ++i) {
                first[i * step] += static_cast<wide_t<T>>(*element++);
            }
        }
    });
    sums.round();
}

/// Folds x into the shape of y with the operation's own functor.
template <class Engine, class Op, class T>
void run_fold(tensor const& x, tensor& y) {
    for (extent_t i = 0; i < y.size(); ++i) {
        y.as<T>()[i] = Op::template identity<T>;
    }
    placement const to = broadcast_placement(y.extents, x.extents);
    T const* element = x.as<T>();
    extent_t const step = to.along_row(x.extents);
    for_each_row(x.extents, [&](shape const& index, extent_t n) {
        T* const first = y.as<T>() + to(index);
        extent_t const row = step == 0 ? n : 1; // elements that one total takes, one after the other
        for (extent_t i = 0; i < n; i += row) {
            T* const at = first + i * step;
            auto total = Engine::load_one(static_cast<T const*>(at));
            for (extent_t k = 0; k < row; ++k) {
                total = Op::combine(total, Engine::load_one(element++));
            }
            Engine::store_one(total, at);
        }
    });
}

/// Products of matrices: of one each, or of those of two batches.
template <class T>
void run_matmul(tensor const& a, tensor const& b, tensor& y) {
    wide_sums<T> sums(y);
    int const rows = a.extents.rank - 2;
    extent_t const batch = rows == 0 ? 1 : a.extents[0];
    extent_t const m = a.extents[rows], k = a.extents[rows + 1], n = b.extents[rows + 1];
    for (extent_t i = 0; i < batch * m; ++i) {
        for (extent_t l = 0; l < k; ++l) {
            for (extent_t j = 0; j < n; ++j) {
                sums[i * n + j] += static_cast<wide_t<T>>(a.as<T>()[i * k + l]) * //
                                   static_cast<wide_t<T>>(b.as<T>()[(i / m * k + l) * n + j]);
            }
        }
    }
    sums.round();
}

template <class T>
void run_take_adjoint(tensor const& x, tensor const& indices, int axis, tensor& y) {
    wide_sums<T> sums(y);
    for_each_taken(y.extents, indices, axis,
                   [&](extent_t to, extent_t from) { sums[to] += static_cast<wide_t<T>>(x.as<T>()[from]); });
    sums.round();
}

} // namespace detail
} // namespace graph
} // namespace v0
} // namespace calque
