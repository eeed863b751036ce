// SPDX-License-Identifier: MIT
// Random programs with branches and loops in each other: kernels against the interpreter, bit by bit.
#include "agrees_with_interpreter.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <tuple>

namespace {

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;

/// Random numbers that are the same in every build.
class dice {
public:
    constexpr explicit dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

    constexpr int throw_one(int sides) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u; // Knuth's generator
        return static_cast<int>(state_ >> 33) % sides;
    }

private:
    std::uint64_t state_;
};

/// Random operations on `x` and what it meets; with depth left, now and then a branch or a loop of them. Only what is
/// computed in one order by every executor: no sums.
template <int Depth>
struct random_body {
    template <class X>
    static constexpr X run(dice& d, X x, X const& other, X const& rows) {
        int const count = 2 + d.throw_one(3);
        for (int i = 0; i < count; ++i) {
            x = step(d, x, other, rows);
        }
        return x;
    }

private:
    template <class X>
    static constexpr X step(dice& d, X const& x, X const& other, X const& rows) {
        switch (d.throw_one(Depth == 0 ? 6 : 11)) {
        case 0: return x * 0.5 + other;
        case 1: return tanh(x - other * 0.25);
        case 2: return where(x < other, x * other, x - 1);
        case 3: return maximum(x, -other) * 0.75;
        case 4: return x - calque::max(x) * 0.125;
        case 5: return abs(x) * 0.5 - calque::min(other);
        default: return region(d, x, other, rows);
        }
    }

    template <class X>
    static constexpr X region(dice& d, X const& x, X const& other, X const& rows) {
        if constexpr (Depth == 0) {
            return x;
        } else {
            using inner = random_body<Depth - 1>;
            switch (d.throw_one(4)) {
            case 0:
                return calque::cond(
                    calque::max(x) > calque::max(other), [&] { return inner::run(d, x, other, rows); },
                    [&] { return inner::run(d, other, x, rows); });
            case 1: {
                auto const [last, n] = calque::while_loop(
                    [&](auto y, auto k) { return (k < 4) && (calque::max(y) < 3.); },
                    [&](auto y, auto k) { return std::tuple{tanh(inner::run(d, y, other, rows)) + 0.5 * k, k + 1}; }, x,
                    0);
                return last * calque::cast<double>(n);
            }
            case 2:
                return calque::fori_loop(
                    0, 3, [&](auto i, auto y) { return tanh(inner::run(d, y, other, rows)) * i; }, x);
            default: {
                auto const [last, tops] = calque::scan(
                    [&](auto y, auto row) {
                        auto const next = tanh(inner::run(d, y, other, rows)) + row;
                        return std::tuple{next, calque::max(next)};
                    },
                    x, rows);
                return last + calque::min(tops);
            }
            }
        }
    }
};

template <int Seed>
inline constexpr auto random_program = [](auto x, auto other, auto rows) {
    dice d(Seed);
    return random_body<2>::run(d, x, other, rows);
};

matrix noise(std::size_t rows, std::size_t columns, int seed) {
    matrix all = xt::zeros<double>({rows, columns});
    dice d(static_cast<std::uint64_t>(seed));
    for (double& x : all) {
        x = d.throw_one(4001) / 1000. - 2;
    }
    return all;
}

template <int Seed>
void check_program() {
    CAPTURE(Seed);
    for (std::size_t const n : {1u, 5u, 8u, 33u}) {
        vector const x = xt::view(noise(1, n, Seed), 0);
        vector const other = xt::view(noise(1, n, Seed + 1), 0);
        CHECK(tests::agrees_with_interpreter(random_program<Seed>, x, other, noise(3, n, Seed + 2)));
    }
}

template <class Op, int... Seed>
constexpr int count_nodes(std::integer_sequence<int, Seed...>) {
    int count = 0;
    auto const add = [&count](calque::graph::graph_view const& g) {
        for (int id = 0; id < g.node_count; ++id) {
            count += g.is<Op>(id) ? 1 : 0;
        }
    };
    (add(calque::trace<vector, vector, matrix>(random_program<Seed>).view()), ...);
    return count;
}

template <int... Seed>
void check_programs(std::integer_sequence<int, Seed...>) {
    (check_program<Seed>(), ...);
}

} // namespace

TEST_CASE("random programs with nested regions") {
    constexpr std::make_integer_sequence<int, 7> seeds;
    static_assert(count_nodes<calque::graph::ops::branch>(seeds) >= 3);
    static_assert(count_nodes<calque::graph::ops::while_loop>(seeds) >= 3);
    static_assert(count_nodes<calque::graph::ops::scan>(seeds) >= 3);
    check_programs(seeds);
}
