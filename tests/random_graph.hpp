// SPDX-License-Identifier: MIT
// Functions whose bodies are random, but the same for a seed in every build: kernels are compared on them with the
// interpreter.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/grad.hpp>
#include <calque/graph/arranging.hpp>
#include <calque/graph/compositions.hpp>
#include <calque/graph/matmul_broadcast.hpp>
#include <calque/graph/running.hpp>
#include <calque/graph/value.hpp>
#include <calque/trace/reductions.hpp>

#include <cstdint>
#include <tuple>

namespace tests {

/// What a random function consists of, and so how closely its results can be compared.
enum class mix {
    elementwise, // arithmetic, functions, comparisons, selection, casts, broadcasts: equal bit by bit
    maxima,      // and maxima and minima over axes, and transposes: the same
    places,      // tame functions, and elements that change places, orders, parts that are replaced, running sums of
                 // integers: the same
    smooth,      // sums, means and products too, but nothing that makes much of a small difference: up to rounding
};

/// Builds random nodes on values that all broadcast to the shape of `full`.
class random_walk {
public:
    constexpr random_walk(std::uint64_t seed, mix kind, calque::graph::value full)
        : state_(seed * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u), kind_(kind), full_(full) {}

    constexpr void add(calque::graph::value v) {
        for (int i = 0; i < pool_.size(); ++i) {
            if (pool_[i].id == v.id) {
                return;
            }
        }
        pool_.push_back(v);
        uses_.push_back(0);
    }

    /// Adds nodes until the graph has `nodes` of them, less those that `result` needs.
    constexpr void run(int nodes) {
        while (full_.owner->node_count() + 2 * unused() < nodes) {
            add(step());
        }
    }

    /// A value that depends on all others and has the full shape.
    constexpr calque::graph::value result() {
        calque::graph::value total = full_;
        for (int i = 0; i < pool_.size(); ++i) {
            if (uses_[i] == 0 && pool_[i].id != full_.id) {
                total = total + pool_[i] * 0.75;
            }
        }
        return total;
    }

    constexpr calque::graph::value pick() {
        // Mostly recent ones: deep graphs; now and then any: values that are kept for long.
        int const recent = pool_.size() < 6 ? pool_.size() : 6;
        int const i = below(4) == 0 ? below(pool_.size()) : pool_.size() - 1 - below(recent);
        ++uses_[i];
        return pool_[i];
    }

private:
    using value = calque::graph::value;

    constexpr int below(int n) {
        state_ ^= state_ << 13; // G. Marsaglia, "Xorshift RNGs", 2003
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<int>(state_ >> 33) % n;
    }

    constexpr int unused() const {
        int count = 0;
        for (int const u : uses_) {
            count += u == 0 ? 1 : 0;
        }
        return count;
    }

    template <class Op>
    constexpr value unary(value x) {
        return calque::graph::apply<Op>(0, x);
    }
    template <class Op>
    constexpr value binary(value x, value y) {
        return calque::graph::apply<Op>(0, x, y);
    }

    /// Whether functions are to keep numbers small and differences between them, too: gradients then say something.
    constexpr bool is_tame() const { return kind_ == mix::places || kind_ == mix::smooth; }

    constexpr value constant() { return literal(full_, (below(33) - 16) / 8.0); }

    constexpr value step() {
        int const what = below(16);
        if (kind_ == mix::places && what >= 8) {
            return what == 8 ? choice() : placed(broadcast_like(pick(), full_));
        }
        if (kind_ == mix::smooth && what >= 13) {
            return what == 13 ? product(broadcast_like(pick(), full_), broadcast_like(pick(), full_)) : reduction();
        }
        if (what < 4) {
            return function(pick());
        }
        if (what < 9) {
            return arithmetic(pick(), below(5) == 0 ? constant() : pick());
        }
        if (what < 11) {
            return bounded(pick());
        }
        if (what == 11) {
            return cast(unary<calque::graph::ops::sin>(cast(pick(), calque::dtype::float64)), full_.type());
        }
        if (kind_ == mix::elementwise) {
            return what == 12 ? broadcast_like(pick(), full_) : choice();
        }
        if (what == 12) {
            return transposed();
        }
        return what == 13 ? choice() : reduction();
    }

    constexpr value bounded(value x) {
        using namespace calque::graph;
        return below(2) == 0 ? unary<ops::tanh>(x) : unary<ops::sigmoid>(x);
    }

    constexpr value function(value x) {
        using namespace calque::graph;
        if (is_tame()) {
            switch (below(11)) {
            case 0: return unary<ops::abs>(x);
            case 1: return unary<ops::relu>(x);
            case 2: return unary<ops::sin>(x);
            case 3: return unary<ops::erf>(x);
            case 4: return exp(-unary<ops::abs>(x));
            case 5: return unary<ops::softplus>(x);
            case 6: return unary<ops::atan>(x);
            case 7: return unary<ops::asinh>(x);
            case 8: return unary<ops::erfc>(x);
            case 9: return unary<ops::cbrt>(square(bounded(x)) + 1);
            default: return unary<ops::log1p>(unary<ops::abs>(x));
            }
        }
        switch (below(33)) {
        case 16: return unary<ops::floor>(x);
        case 17: return unary<ops::ceil>(x);
        case 18: return unary<ops::round>(x * 4);
        case 19: return unary<ops::trunc>(x);
        case 20: return unary<ops::sign>(x);
        case 21: return unary<ops::cbrt>(x);
        case 22: return unary<ops::exp2>(x);
        case 23: return unary<ops::log2>(x);
        case 24: return unary<ops::softplus>(x);
        case 25: return unary<ops::erfc>(x);
        case 26: return unary<ops::tan>(x);
        case 27: return below(2) == 0 ? unary<ops::asin>(x) : unary<ops::acos>(x);
        case 28: return unary<ops::atan>(x);
        case 29: return below(2) == 0 ? sinh(x) : cosh(x);
        case 30: return unary<ops::asinh>(x);
        case 31: return unary<ops::acosh>(x);
        case 32: return unary<ops::atanh>(x);
        case 0: return -x;
        case 1: return unary<ops::abs>(x);
        case 2: return square(x);
        case 3: return unary<ops::sqrt>(unary<ops::abs>(x));
        case 4: return unary<ops::rsqrt>(square(x) + 1);
        case 5: return exp(unary<ops::tanh>(x));
        case 6: return unary<ops::expm1>(x);
        case 7: return log(unary<ops::abs>(x));
        case 8: return unary<ops::log1p>(x);
        case 9: return sin(x);
        case 10: return cos(x);
        case 11: return unary<ops::erf>(x);
        case 12: return unary<ops::relu>(x);
        case 13: return pow(unary<ops::abs>(x), literal(x, 1.5));
        case 14: return unary<ops::sqrt>(x);
        default: return exp(x);
        }
    }

    constexpr value arithmetic(value x, value y) {
        using namespace calque::graph;
        if (is_tame()) {
            switch (below(5)) {
            case 0: return x + y;
            case 1: return x - y;
            case 2: return bounded(x) * bounded(y);
            case 3: return binary<ops::minimum>(x, y);
            default: return binary<ops::maximum>(x, y);
            }
        }
        switch (below(10)) {
        case 8: return binary<ops::fmod>(x, y);
        case 9: return binary<ops::atan2>(x, y);
        case 0:
        case 1: return x + y;
        case 2: return x - y;
        case 3:
        case 4: return x * y;
        case 5: return x / y;
        case 6: return binary<ops::minimum>(x, y);
        default: return binary<ops::maximum>(x, y);
        }
    }

    constexpr value condition() {
        value const x = pick();
        value const y = below(2) == 0 ? constant() : pick();
        switch (below(4)) {
        case 0: return x < y;
        case 1: return x >= y;
        case 2: return x == y;
        default: return x != y;
        }
    }

    constexpr value choice() {
        using namespace calque::graph;
        value c = condition();
        if (below(3) == 0) {
            value const other = condition();
            c = below(2) == 0 ? c | other : binary<ops::logical_and>(unary<ops::logical_not>(c), other);
        }
        if (below(4) == 0) {
            return cast(c, full_.type());
        }
        value const x = pick();
        return where(c, x, below(3) == 0 ? constant() : pick());
    }

    /// Something of the transposed full array, and back.
    constexpr value transposed() {
        value x = transpose(broadcast_like(pick(), full_));
        x = below(2) == 0 ? bounded(x) : x + transpose(broadcast_like(pick(), full_));
        return transpose(x);
    }

    /// `x`, of which it is known that it has the full shape again.
    constexpr value as_full(value x) { return assert_shape(x, full_.shape()); }

    constexpr value stacked(value x, value y) {
        value const parts[] = {expand_dims(x, 1), expand_dims(y, 1)};
        return concatenate(parts, 2, 0);
    }

    /// Integers near 0, of both signs.
    constexpr value small_integers(value x) {
        value const known = where(x == x, bounded(x), zero_of(x));
        return cast(known * 5, below(2) == 0 ? calque::dtype::int64 : calque::dtype::int32);
    }

    /// Elements of `x`, which has the full shape, in other places, and what depends on their order.
    constexpr value placed(value x) {
        using namespace calque::graph;
        int const axis = below(2);
        switch (below(16)) {
        case 0: return flip(x, 1u + static_cast<unsigned>(below(3)));
        case 1: return as_full(roll(x, axis, below(9) - 4));
        case 2: {
            int const first = below(4);
            value const padded = pad_axis(x, axis, 2, 1, constant());
            return as_full(slice(padded, range_of_axis(x, axis, first, first == 3 ? to_the_end : first - 3)));
        }
        case 3: {
            value const both = stacked(x, broadcast_like(pick(), full_));
            value const part = slice_axis(below(2) == 0 ? flip(both, 1) : both, 0, 0, 1);
            return squeeze(part, 1);
        }
        case 4: {
            value const both = unary<ops::sigmoid>(stacked(x, broadcast_like(pick(), full_)));
            return squeeze(reduce_max(both, 1), 1);
        }
        case 5: {
            calque::extent_t const n = x.shape()[1];
            value const parts = split_axis(x, 1, n % 2 == 0 ? 2 : n);
            return merge_axes(flip(parts, 2), 1);
        }
        case 6: return as_full(take(x, squeeze(small_integers(slice_axis(x, 1, 0, 1)), 2), 0));
        case 7: return take_along(x, small_integers(x), axis);
        case 8: return sort(x, axis);
        case 9: return cast(sort_order(x, axis, below(2) == 0), x.type());
        case 10: return where(lower_triangle(x, below(5) - 2), x, below(2) == 0 ? zero_of(x) : pick());
        case 11: {
            std::uint64_t const part = range_of_axis(x, axis, below(3), to_the_end, 1 + below(3));
            value const elements = below(2) == 0 ? constant() : slice(broadcast_like(pick(), full_), part);
            return below(2) == 0 ? set_part(x, elements, part, 0) : add_to_part(x, elements, part, 0);
        }
        case 12: return cast(below(2) == 0 ? argmin(x, axis) : argmax(x, axis), x.type());
        case 13:
            return cast(below(2) == 0 ? any(x > 1, axis_set{1} << axis) : all(x < 1, axis_set{1} << axis), x.type());
        case 14: return cumulative_sum(unary<ops::round>(bounded(x) * 8), axis); // whole numbers: exact in any order
        default: return cumulative_product(unary<ops::sign>(x), axis);
        }
    }

    /// Products of matrices, the inner extent being that of rows or of columns, one or a batch of two.
    constexpr value product(value x, value y) {
        using namespace calque::graph;
        value const a = bounded(x), b = bounded(y);
        value const inner = element_count(x, 2);
        switch (below(3)) {
        case 0: return matmul_broadcast(matmul_broadcast(a, transpose(b)), a) / (inner * element_count(x, 1));
        case 1: return matmul_broadcast(a, matmul_broadcast(transpose(a), b)) / (inner * element_count(x, 1));
        default: {
            value const squares = matmul_broadcast(stacked(a, b), transpose(stacked(b, a), 0x120)) / inner;
            return squeeze(sum(matmul_broadcast(squares, b), 1), 1) / element_count(x, 1);
        }
        }
    }

    /// Over some axes, which keep extent 1. Maxima are of positive numbers: of zeros, the sign would be any.
    constexpr value reduction() {
        using namespace calque::graph;
        value x = broadcast_like(pick(), full_);
        axis_set const axes = 1u + static_cast<unsigned>(below(static_cast<int>(all_axes(x))));
        if (kind_ == mix::maxima) {
            x = unary<ops::sigmoid>(x) + 0.25;
            return below(2) == 0 ? reduce_max(x, axes) : reduce_min(x, axes);
        }
        switch (below(9)) {
        case 0: return reduce_max(x, axes);
        case 1: return reduce_min(x, axes);
        case 2: return variance(bounded(x), axes);
        case 3: return unary<ops::sqrt>(variance(bounded(x), axes) + 0.25);
        case 4: return reduce_product(bounded(x) / 64 + 1, axes);
        case 5: return cumulative_sum(bounded(x), below(2)) / 16;
        case 6: return cumulative_product(bounded(x) / 16 + 1, below(2));
        default: return sum(bounded(x), axes) / element_count(x, axes);
        }
    }

    std::uint64_t state_;
    mix kind_;
    value full_;
    calque::sequence<value> pool_;
    calque::sequence<int> uses_;
};

/// A function to trace: about `Nodes` random nodes on its arguments, which broadcast to the shape of the first.
///
/// It returns two arrays: one that depends on everything, and one from the midst of it.
template <unsigned Seed, int Nodes, mix Kind>
struct random_function {
    template <class First, class... Rest>
    constexpr auto operator()(First const& first, Rest const&... rest) const {
        random_walk walk(Seed, Kind, first.value());
        walk.add(first.value());
        (walk.add(rest.value()), ...);
        walk.run(Nodes);
        calque::graph::value const midst = walk.pick();
        return std::tuple<First, First>(First(walk.result(), nullptr), First(midst, nullptr));
    }
};

/// The first of them, summed.
template <unsigned Seed, int Nodes, mix Kind>
struct random_loss {
    template <class... X>
    constexpr auto operator()(X const&... x) const {
        return calque::sum(std::get<0>(random_function<Seed, Nodes, Kind>{}(x...)));
    }
};

/// The gradients of that by the first and by the last argument, which broadcasts to the shape of the first.
template <unsigned Seed, int Nodes, mix Kind>
struct random_gradient {
    template <class First, class Second, class Third>
    constexpr auto operator()(First const& first, Second const& second, Third const& third) const {
        auto const [by_first, by_third] = calque::grad<0, 2>(random_loss<Seed, Nodes, Kind>{})(first, second, third);
        return std::tuple{by_first, by_third};
    }
};

} // namespace tests
