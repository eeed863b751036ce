// SPDX-License-Identifier: MIT
// Statistics of random numbers, each with the probability that numbers as they should be give one so extreme. A test
// holds a million numbers to them, bench/random_statistics.cpp a hundred million.
#pragma once

#include <calque/calque.hpp>
#include <calque/random.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace statistics {

namespace random = calque::random;

/// A statistic and its p-value, two-sided: as small for what fits too well.
struct finding {
    std::string name;
    double value;
    double p;
};

/// Of a standard normal variable.
inline finding normal_finding(std::string const& name, double z) {
    return {name, z, std::erfc(std::abs(z) / std::sqrt(2.))};
}

/// Of chi-square with many degrees of freedom: its cube root is nearly normal (E. B. Wilson, M. M. Hilferty, 1931).
inline finding chi_square_finding(std::string const& name, double chi_square, double freedom) {
    double const spread = 2 / (9 * freedom);
    return normal_finding(name, (std::cbrt(chi_square / freedom) - (1 - spread)) / std::sqrt(spread));
}

/// Chi-square of counts that have these probabilities.
inline finding chi_square_of(std::string const& name, std::vector<double> const& counts,
                             std::vector<double> const& probabilities) {
    double n = 0, total = 0;
    for (double const count : counts) {
        n += count;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
        double const expected = n * probabilities[i];
        total += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    return chi_square_finding(name, total, static_cast<double>(counts.size()) - 1);
}
inline finding chi_square_of(std::string const& name, std::vector<double> const& counts) {
    return chi_square_of(name, counts, std::vector<double>(counts.size(), 1 / static_cast<double>(counts.size())));
}

/// Of Kolmogorov's distribution, from D sqrt(n).
inline finding kolmogorov_finding(std::string const& name, double d) {
    double p = d < 0.2 ? 1 : 0; // below, the series needs more terms, and it is 1 - 1e-12
    for (int k = 1; k <= 100 && d >= 0.2; ++k) {
        p += 2 * (k % 2 == 1 ? 1 : -1) * std::exp(-2 * k * k * d * d);
    }
    return {name, d, 2 * std::min(p, 1 - p)};
}

/// Counts of what should be uniform in [0, 1].
class uniformity {
public:
    void add(double t) {
        ++counts_[std::min(static_cast<std::size_t>(t * static_cast<double>(bins)), bins - 1)];
        ++n_;
    }

    /// Over 1024 equal parts.
    finding chi_square(std::string const& name) const {
        std::vector<double> coarse(1024);
        for (std::size_t i = 0; i < bins; ++i) {
            coarse[i / (bins / coarse.size())] += counts_[i];
        }
        return chi_square_of(name, coarse);
    }

    /// The largest distance of the distribution functions, looked at in 2^20 places.
    finding kolmogorov(std::string const& name) const {
        double below = 0, largest = 0;
        for (std::size_t i = 0; i < bins; ++i) {
            below += counts_[i];
            largest = std::max(largest, std::abs(below / n_ - static_cast<double>(i + 1) / static_cast<double>(bins)));
        }
        return kolmogorov_finding(name, largest * std::sqrt(n_));
    }

private:
    static constexpr std::size_t bins = std::size_t{1} << 20;

    std::vector<double> counts_ = std::vector<double>(bins);
    double n_ = 0;
};

/// What a distribution should have: its distribution function, and the mean and standard deviation of the powers 1 to 4
/// of its numbers less its mean.
struct moments {
    double centre;
    double mean[4], deviation[4];
};

/// Numbers of a continuous distribution: moments, chi-square, Kolmogorov and Smirnov, and neighbours.
template <class T, class F>
void examine_numbers(std::vector<finding>& to, std::string const& name, xt::xtensor<T, 1> const& x, moments const& m,
                     F const& distribution_function) {
    double const n = static_cast<double>(x.size());
    double sums[4]{}, last = 0, products = 0;
    uniformity spread;
    std::vector<double> pairs(64 * 64);
    std::size_t last_bin = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const d = static_cast<double>(x(i)) - m.centre;
        double power = 1;
        for (double& sum : sums) {
            sum += power *= d;
        }
        products += i % 2 == 1 ? d * last : 0;
        last = d;
        double const t = distribution_function(static_cast<double>(x(i)));
        spread.add(t);
        std::size_t const bin = std::min<std::size_t>(static_cast<std::size_t>(t * 64), 63);
        pairs[64 * last_bin + bin] += i % 2 == 1 ? 1 : 0;
        last_bin = bin;
    }
    for (int k = 0; k < 4; ++k) {
        to.push_back(normal_finding(name + ": moment " + std::to_string(k + 1),
                                    (sums[k] / n - m.mean[k]) / m.deviation[k] * std::sqrt(n)));
    }
    to.push_back(
        normal_finding(name + ": products of neighbours", products / m.mean[1] / std::sqrt(std::floor(n / 2))));
    to.push_back(spread.chi_square(name + ": chi-square, 1024 parts"));
    to.push_back(chi_square_of(name + ": chi-square of pairs, 64 x 64 parts", pairs));
    to.push_back(spread.kolmogorov(name + ": Kolmogorov-Smirnov"));
}

/// The first words of the keys of 0 to n - 1: seeds and derived keys must have as little in common as places.
inline finding examine_keys(std::string const& name, std::size_t n, auto const& key_of) {
    uniformity spread;
    for (std::size_t i = 0; i < n; ++i) {
        spread.add(calque::philox::random_word<std::uint32_t>(key_of(i).bits, 0) * 0x1p-32);
    }
    return spread.chi_square(name);
}

/// How often each order of 4, and where the first of 10 goes, over n keys.
inline void examine_permutations(std::vector<finding>& to, std::size_t n) {
    auto const four = calque::function([](auto k) { return random::permutation(k, 4); });
    auto const ten = calque::function([](auto k) { return random::permutation(k, 10); });
    std::vector<double> orders(256), places(10);
    for (std::size_t i = 0; i < n; ++i) {
        auto const order = four(random::key(i));
        orders[static_cast<std::size_t>(order(0) + 4 * order(1) + 16 * order(2) + 64 * order(3))] += 1;
        auto const many = ten(random::key(i));
        places[static_cast<std::size_t>(std::find(many.begin(), many.end(), 0) - many.begin())] += 1;
    }
    orders.erase(std::remove(orders.begin(), orders.end(), 0.), orders.end());
    orders.resize(24); // of which some are 0 if they never came
    to.push_back(chi_square_of("permutation of 4: chi-square of the 24 orders", orders));
    to.push_back(chi_square_of("permutation of 10: chi-square of where 0 goes", places));
}

/// How often each of some categories with logits of -3 to 3 is chosen, over n rows.
inline finding examine_categories(std::size_t n) {
    std::vector<double> probabilities(7), counts(7);
    xt::xtensor<float, 2> logits = xt::zeros<float>({n, std::size_t{7}});
    double total = 0;
    for (std::size_t j = 0; j < 7; ++j) {
        for (std::size_t i = 0; i < n; ++i) {
            logits(i, j) = static_cast<float>(j) - 3;
        }
        total += probabilities[j] = std::exp(static_cast<double>(j) - 3);
    }
    for (double& p : probabilities) {
        p /= total;
    }
    auto const f = calque::function([](auto k, auto x) { return random::categorical(k, x); });
    for (std::int64_t const chosen : f(random::key(101), logits)) {
        counts[static_cast<std::size_t>(chosen)] += 1;
    }
    return chi_square_of("categorical: chi-square of 7 categories, e^-3 to e^3", counts, probabilities);
}

template <class T>
void examine_floating(std::vector<finding>& to, std::string const& dtype, std::size_t n) {
    xt::xtensor<T, 1> const like = xt::zeros<T>({n});
    xt::xtensor<T, 1> x = xt::zeros<T>({n});
    auto const uniform = calque::function([](auto k, auto y) { return random::uniform_like(k, y); });
    uniform.into(x, random::key(42), like);
    moments const of_uniform{
        .centre = 0.5,
        .mean = {0, 1 / 12., 0, 1 / 80.},
        .deviation = {std::sqrt(1 / 12.), std::sqrt(1 / 180.), std::sqrt(1 / 448.), std::sqrt(1 / 2304. - 1 / 6400.)}};
    examine_numbers(to, "uniform " + dtype, x, of_uniform, [](double u) { return u; });
    auto const normal = calque::function([](auto k, auto y) { return random::normal_like(k, y); });
    normal.into(x, random::key(43), like);
    moments const of_normal{
        .centre = 0, .mean = {0, 1, 0, 3}, .deviation = {1, std::sqrt(2.), std::sqrt(15.), std::sqrt(96.)}};
    examine_numbers(to, "normal " + dtype, x, of_normal, [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.)); });
}

/// All findings on n numbers of each distribution.
inline std::vector<finding> examine(std::size_t n) {
    std::vector<finding> found;
    examine_floating<float>(found, "float", n);
    examine_floating<double>(found, "double", n);
    auto const bernoulli = calque::function([](auto k, auto x) { return random::bernoulli_like(k, 0.3f, x); });
    double hits = 0;
    for (bool const hit : bernoulli(random::key(44), xt::xtensor<float, 1>(xt::zeros<float>({n})))) {
        hits += hit;
    }
    double const size = static_cast<double>(n);
    double const p = std::ceil(static_cast<double>(0.3f) * 0x1p24) * 0x1p-24; // of the 2^24 numbers, those below 0.3f
    found.push_back(normal_finding("bernoulli(0.3): hits", (hits - size * p) / std::sqrt(size * p * (1 - p))));
    found.push_back(examine_categories(n / 4));
    examine_permutations(found, n / 10);
    found.push_back(examine_keys("seeds 0, 1, 2, ...: chi-square of their first words", n,
                                 [](std::size_t i) { return random::key(i); }));
    found.push_back(examine_keys("fold_in of 0, 1, 2, ...: chi-square of their first words", n,
                                 [](std::size_t i) { return random::fold_in(random::key(1), i); }));
    return found;
}

} // namespace statistics
