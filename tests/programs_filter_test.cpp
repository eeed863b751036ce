// SPDX-License-Identifier: MIT
// A program as users write it: a particle filter, whose key is one of its arguments, against the same in plain loops.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

namespace random = calque::random;
using vector = xt::xtensor<double, 1>;

inline constexpr auto noise_of_step = [](auto key, auto step, auto particles) {
    return random::normal_like(fold_in(fold_in(key, step), 0), particles);
};
/// The particle that each new one descends from, chosen by weight.
inline constexpr auto ancestors_of_step = [](auto key, auto step, auto logits) {
    auto const table = calque::expand_dims<0>(logits) + calque::expand_dims<1>(calque::zeros_like(logits));
    return random::categorical(fold_in(fold_in(key, step), 1), table);
};

/// Estimates of a state that follows x' = 0.9 x + noise, from observations of it with noise.
inline constexpr auto filter = [](auto key, auto particles, auto observations, auto steps) {
    return std::get<1>(calque::scan(
        [&](auto x, auto observed) {
            auto const [y, step] = observed;
            auto const moved = 0.9 * x + noise_of_step(key, step, x);
            auto const logits = -0.5 * calque::square((y - moved) / 0.5);
            auto const estimate = calque::sum(calque::softmax<0>(logits) * moved);
            return std::tuple{calque::take(moved, ancestors_of_step(key, step, logits)), estimate};
        },
        particles, std::tuple{observations, steps}));
};

} // namespace

TEST_CASE("a particle filter draws the same in a scan as step by step, and tracks the state") {
    auto const run = calque::function(filter);
    auto const draw_noise = calque::function(noise_of_step);
    auto const draw_ancestors = calque::function(ancestors_of_step);
    constexpr std::size_t count = 128;
    vector const observations = {0.5, 1.5, 2., 1., -0.5, -2., -1.5, 0.};
    xt::xtensor<std::int64_t, 1> const steps = {0, 1, 2, 3, 4, 5, 6, 7};
    vector const start = xt::zeros<double>({count});

    for (int const seed : {1, 2, 3}) {
        random::key const key(seed);
        vector const estimates = run(key, start, observations, steps);
        std::vector<double> x(count, 0.);
        for (std::size_t s = 0; s < observations.size(); ++s) {
            auto const step = static_cast<std::int64_t>(s);
            vector const noise = draw_noise(key, step, start);
            vector logits = xt::zeros<double>({count});
            double total = 0, weighted = 0;
            for (std::size_t i = 0; i < count; ++i) {
                x[i] = 0.9 * x[i] + noise(i);
                double const z = (observations(s) - x[i]) / 0.5;
                logits(i) = -0.5 * (z * z);
                total += std::exp(logits(i));
                weighted += std::exp(logits(i)) * x[i];
            }
            CHECK(estimates(s) == doctest::Approx(weighted / total).epsilon(1e-9));
            CHECK(std::abs(estimates(s) - observations(s)) < 1.5);
            auto const ancestors = draw_ancestors(key, step, logits);
            std::vector<double> next(count);
            for (std::size_t i = 0; i < count; ++i) {
                next[i] = x[static_cast<std::size_t>(ancestors(i))];
            }
            x = next;
        }
    }
    CHECK(run.trace_count() == 1); // a new key is a new value
}
