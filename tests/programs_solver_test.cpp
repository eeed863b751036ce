// SPDX-License-Identifier: MIT
// A program as users write it: an implicit Euler integrator, each step of which is solved by Newton's method in a
// `while_loop`, and its gradient by the implicit function theorem, through a `scan` over the steps.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace {

using vector = xt::xtensor<double, 1>;

// y' = rate (target - y^3), for each element on its own.
inline constexpr auto slope = [](auto y, auto rate, auto target) { return rate * (target - y * y * y); };

/// Solves z = y + h slope(z).
inline constexpr auto solve = [](auto y, auto rate, auto target, auto h) {
    auto const residual = [&](auto z) { return z - y - h * slope(z, rate, target); };
    return calque::while_loop([&](auto z) { return calque::max(abs(residual(z))) > 1e-13; },
                              [&](auto z) { return z - residual(z) / (1 + 3 * h * rate * z * z); }, y);
};

/// The derivative of the solution z: dz (1 + 3 h rate z^2) = dy + h (target - z^3) d rate + h rate d target + ...
inline constexpr auto implicit_step = calque::custom_vjp(solve, [](auto y, auto rate, auto target, auto h, auto u) {
    auto const z = solve(y, rate, target, h);
    auto const v = u / (1 + 3 * h * rate * z * z);
    auto const gap = target - z * z * z;
    return std::tuple{v, calque::sum(v * h * gap), calque::sum(v * h * rate), calque::sum(v * rate * gap)};
});

inline constexpr auto final_energy = [](auto y, auto rate, auto targets, auto h) {
    auto const last = std::get<0>(calque::scan(
        [&](auto state, auto target) {
            auto const next = implicit_step(state, rate, target, h);
            return std::tuple{next, calque::sum(next)};
        },
        y, targets));
    return calque::sum(last * last);
};

double reference(vector y, double rate, vector const& targets, double h) {
    double energy = 0;
    for (double x : y) {
        for (double const target : targets) {
            double z = x;
            for (int i = 0; i < 50; ++i) {
                z -= (z - x - h * rate * (target - z * z * z)) / (1 + 3 * h * rate * z * z);
            }
            x = z;
        }
        energy += x * x;
    }
    return energy;
}

} // namespace

TEST_CASE("implicit Euler steps by Newton's method in a scan, and their gradients") {
    auto const run = calque::function(calque::value_and_grad<0, 1, 2>(final_energy));
    vector const y = {0.2, -0.7, 1.5};
    vector const targets = {1., 0.5, -0.25, 2., 0.1, 0.7, -1.};
    auto const [energy, gradients] = run(y, 0.8, targets, 0.3);
    auto const [by_y, by_rate, by_targets] = gradients;
    CHECK(energy == doctest::Approx(reference(y, 0.8, targets, 0.3)).epsilon(1e-11));

    double const e = 1e-6;
    for (std::size_t i = 0; i < y.size(); ++i) {
        vector above = y, below = y;
        above(i) += e;
        below(i) -= e;
        double const wanted = (reference(above, 0.8, targets, 0.3) - reference(below, 0.8, targets, 0.3)) / (2 * e);
        CHECK(by_y(i) == doctest::Approx(wanted).epsilon(1e-6));
    }
    double const wanted = (reference(y, 0.8 + e, targets, 0.3) - reference(y, 0.8 - e, targets, 0.3)) / (2 * e);
    CHECK(by_rate == doctest::Approx(wanted).epsilon(1e-6));
    for (std::size_t i = 0; i < targets.size(); ++i) {
        vector above = targets, below = targets;
        above(i) += e;
        below(i) -= e;
        double const change = (reference(y, 0.8, above, 0.3) - reference(y, 0.8, below, 0.3)) / (2 * e);
        CHECK(by_targets(i) == doctest::Approx(change).epsilon(1e-6));
    }
}

TEST_CASE("other values never trace again") {
    auto const run = calque::function(final_energy);
    vector const targets = {1., 0.5, -0.25};
    for (double const rate : {0.1, 0.5, 2., 10.}) {
        vector const y = {rate, -rate};
        CHECK(run(y, rate, targets, 0.1) == doctest::Approx(reference(y, rate, targets, 0.1)).epsilon(1e-10));
    }
    CHECK(run.trace_count() == 1);
}
