// SPDX-License-Identifier: MIT
// Functions whose bodies are random, but the same for a seed in every build: kernels are compared on them with the
// interpreter.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/graph/value.hpp>

#include <cstdint>
#include <tuple>

namespace tests {

/// What a random function consists of, and so how closely its results can be compared.
enum class mix {
    elementwise, // arithmetic, functions, comparisons, selection, casts, broadcasts: equal bit by bit
    maxima,      // and maxima and minima over axes, and transposes: the same
    smooth,      // sums and means too, but nothing that makes much of a small difference: equal up to rounding
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

    constexpr value constant() { return literal(full_, (below(33) - 16) / 8.0); }

    constexpr value step() {
        int const what = below(16);
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
        return kind_ == mix::maxima && what == 13 ? choice() : reduction();
    }

    constexpr value bounded(value x) {
        using namespace calque::graph;
        return below(2) == 0 ? unary<ops::tanh>(x) : unary<ops::sigmoid>(x);
    }

    constexpr value function(value x) {
        using namespace calque::graph;
        if (kind_ == mix::smooth) {
            switch (below(6)) {
            case 0: return unary<ops::abs>(x);
            case 1: return unary<ops::relu>(x);
            case 2: return unary<ops::sin>(x);
            case 3: return unary<ops::erf>(x);
            case 4: return exp(-unary<ops::abs>(x));
            default: return unary<ops::log1p>(unary<ops::abs>(x));
            }
        }
        switch (below(16)) {
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
        if (kind_ == mix::smooth) {
            switch (below(5)) {
            case 0: return x + y;
            case 1: return x - y;
            case 2: return bounded(x) * bounded(y);
            case 3: return binary<ops::minimum>(x, y);
            default: return binary<ops::maximum>(x, y);
            }
        }
        switch (below(8)) {
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

    /// Over some axes, which keep extent 1. Maxima are of positive numbers: of zeros, the sign would be any.
    constexpr value reduction() {
        using namespace calque::graph;
        value x = broadcast_like(pick(), full_);
        axis_set const axes = 1u + static_cast<unsigned>(below(static_cast<int>(all_axes(x))));
        if (kind_ == mix::maxima) {
            x = unary<ops::sigmoid>(x) + 0.25;
            return below(2) == 0 ? reduce_max(x, axes) : reduce_min(x, axes);
        }
        switch (below(4)) {
        case 0: return reduce_max(x, axes);
        case 1: return reduce_min(x, axes);
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

} // namespace tests
