// SPDX-License-Identifier: MIT
// Trains a small network on real handwritten digits. The whole step - forward, gradient, Adam - is one traced function.
#include "network.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using calque::dim;
using namespace digits;

constexpr std::size_t training_rows = 1500, batch_rows = 64, epochs = 30;

// ---- the data

struct labelled_images {
    xt::xtensor<float, 2> images;
    xt::xtensor<std::int32_t, 1> labels;
};

labelled_images load(std::string const& path) {
    std::ifstream file(path);
    if (!file) {
        std::fprintf(stderr, "digits: cannot open %s (run it from the repository's root, or pass the path)\n",
                     path.c_str());
        std::exit(1);
    }
    std::vector<float> images;
    std::vector<std::int32_t> labels;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string field;
        for (int i = 0; i < pixels; ++i) {
            std::getline(fields, field, ',');
            images.push_back(std::stof(field) / 16.f);
        }
        std::getline(fields, field, ',');
        labels.push_back(std::stoi(field));
    }
    labelled_images d;
    d.images = xt::xtensor<float, 2>(std::array<std::size_t, 2>{labels.size(), pixels});
    d.labels = xt::xtensor<std::int32_t, 1>(std::array<std::size_t, 1>{labels.size()});
    std::copy(images.begin(), images.end(), d.images.begin());
    std::copy(labels.begin(), labels.end(), d.labels.begin());
    return d;
}

/// Rows [first, last) of the data.
labelled_images rows(labelled_images const& d, std::size_t first, std::size_t last) {
    return {xt::view(d.images, xt::range(first, last), xt::all()), xt::view(d.labels, xt::range(first, last))};
}

/// He's initialisation: normal with variance 2 / inputs. (Box-Muller: std::normal_distribution differs between
/// libraries.)
network<calque::host> initialize(std::mt19937& random) {
    auto uniform = [&] { return (static_cast<float>(random() >> 8) + 0.5f) / 16777216.f; };
    auto normal = [&] { return std::sqrt(-2.f * std::log(uniform())) * std::cos(6.2831853f * uniform()); };
    network<calque::host> net = zeros();
    std::generate(net.w1.begin(), net.w1.end(), [&] { return normal() * std::sqrt(2.f / pixels); });
    std::generate(net.w2.begin(), net.w2.end(), [&] { return normal() * std::sqrt(2.f / hidden); });
    return net;
}

/// The same order on every platform, unlike std::shuffle.
void shuffle(std::vector<std::int32_t>& order, std::mt19937& random) {
    for (std::size_t i = order.size() - 1; i > 0; --i) {
        std::swap(order[i], order[random() % (i + 1)]);
    }
}

} // namespace

int main(int argc, char** argv) {
    unsigned const seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 0;
    labelled_images const all = load(argc > 2 ? argv[2] : "examples/digits/data/digits.csv");
    labelled_images const train = rows(all, 0, training_rows);
    labelled_images const test = rows(all, training_rows, all.labels.size());

    std::mt19937 random(seed);
    network<calque::host> net = initialize(random), mean = zeros(), variance = zeros();
    std::vector<std::int32_t> order(training_rows);
    std::iota(order.begin(), order.end(), 0);

    std::vector<double> traces; // microseconds of each
    auto const note = [&traces](calque::retrace_event const& trace) {
        traces.push_back(std::chrono::duration<double, std::micro>(trace.cost).count());
    };
    auto step = calque::function(train_step, {.name = "train_step", .on_retrace = note});
    auto classify = calque::function(predict, {.name = "predict"});
    auto const images = calque::with_shape<dim("rows"), pixels>(train.images);
    auto const labels = calque::with_shape<dim("rows")>(train.labels);
    auto accuracy = [&](labelled_images const& d) {
        auto const found = classify(net, calque::with_shape<dim("batch"), pixels>(d.images));
        std::size_t right = 0;
        for (std::size_t i = 0; i < d.labels.size(); ++i) {
            right += found(i) == d.labels(i) ? 1 : 0;
        }
        return static_cast<double>(right) / static_cast<double>(d.labels.size());
    };

    using clock = std::chrono::steady_clock;
    double seconds = 0;
    std::size_t steps = 0;
    for (std::size_t epoch = 1; epoch <= epochs; ++epoch) {
        shuffle(order, random);
        double sum = 0;
        auto const start = clock::now();
        for (std::size_t first = 0; first < training_rows; first += batch_rows) {
            std::span<std::int32_t const> const batch(order.data() + first,
                                                      std::min(batch_rows, training_rows - first));
            float value = 0;
            step.into(std::tie(net, mean, variance, value), net, mean, variance, static_cast<float>(++steps), images,
                      labels, calque::with_shape<dim("batch")>(batch));
            sum += static_cast<double>(value) * static_cast<double>(batch.size());
        }
        double const took = std::chrono::duration<double>(clock::now() - start).count();
        seconds += took;
        std::printf("epoch %2zu  loss %.4f  accuracy %.4f  %.2f ms\n", epoch, sum / training_rows, accuracy(train),
                    took * 1e3);
    }

    std::span<std::int32_t const> const batch(order.data(), batch_rows);
    auto const plan = step.plan(net, mean, variance, 1.f, images, labels, calque::with_shape<dim("batch")>(batch));
    std::printf("\ntest accuracy %.4f\n", accuracy(test));
    std::printf("%zu steps of %.1f us; %llu traces of", steps, seconds * 1e6 / static_cast<double>(steps),
                static_cast<unsigned long long>(step.trace_count()));
    for (double const microseconds : traces) {
        std::printf(" %.1f", microseconds);
    }
    std::printf(" us\n");
    std::printf("the schedule of a step:\n%s", plan.text().c_str());
}
