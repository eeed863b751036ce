// SPDX-License-Identifier: MIT
// The first example of README.md, which shows this program and what it prints; tests/readme_test.cpp compares them.
#include <calque/calque.hpp>

#include <cstdint>
#include <cstdio>
#include <tuple>

inline constexpr auto loss = [](auto w, auto x, auto labels) { // softmax regression: the cross-entropy of the labels
    return -calque::mean(calque::sum<-1>(calque::one_hot(labels, 3) * calque::log_softmax<-1>(calque::matmul(x, w))));
};

inline constexpr auto descend = [](auto w, auto x, auto labels, auto rate) {
    auto [value, gradient] = calque::value_and_grad(loss)(w, x, labels);
    return std::tuple{w - rate * gradient, value};
};

int main() {
    xt::xtensor<float, 2> x = {{1, 0, 0}, {1, 1, 0}, {1, 3, 0}, {1, 3, 1}, {1, 0, 3}, {1, 1, 3}};
    xt::xtensor<std::int32_t, 1> labels = {0, 0, 1, 1, 2, 2};
    xt::xtensor_fixed<float, xt::xshape<3, 3>> w = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    float value = 0;

    auto step = calque::function(descend); // forward, gradient and update are one graph, and one call
    for (int i = 0; i <= 300; ++i) {
        step.into(std::tie(w, value), w, x, labels, 0.5); // in place: w is an argument and a result
        if (i % 100 == 0) {
            std::printf("step %3d: loss %.4f\n", i, static_cast<double>(value));
        }
    }
    std::printf("%s: %d trace\n", step.signatures()[0].c_str(), static_cast<int>(step.trace_count()));
    return 0;
}
