// SPDX-License-Identifier: MIT
// A network of two layers for images of digits, and its training step: forward, gradient, Adam, as one function to
// trace. (bench/peers times it, too.)
#pragma once

#include <calque/calque.hpp>

#include <tuple>

namespace digits {

inline constexpr int pixels = 64, hidden = 128, classes = 10;

/// The parameters, and anything else of their structure: gradients, moments.
template <class M>
struct network {
    calque::leaf<M, float, pixels, hidden> w1;
    calque::leaf<M, float, hidden> b1;
    calque::leaf<M, float, hidden, classes> w2;
    calque::leaf<M, float, classes> b2;
};

inline constexpr auto logits = [](auto const& net, auto x) {
    auto h = relu(matmul(x, net.w1) + net.b1);
    return matmul(h, net.w2) + net.b2;
};

inline constexpr auto cross_entropy = [](auto z, auto labels) {
    auto of_label = calque::sum<-1>(z * calque::one_hot(labels, classes));
    return calque::mean(calque::logsumexp<-1>(z) - of_label);
};

inline constexpr auto loss = [](auto const& net, auto x, auto labels) { return cross_entropy(logits(net, x), labels); };

/// The parameters and their moments after one step of Adam (D. Kingma, J. Ba, "Adam: A Method for Stochastic
/// Optimization", 2015).
inline constexpr auto adam = [](auto net, auto mean, auto variance, auto step, auto gradient) {
    auto const beta1 = 0.9f, beta2 = 0.999f, rate = 1e-3f, epsilon = 1e-8f;
    auto new_mean = calque::tree_map([=](auto m, auto g) { return beta1 * m + (1 - beta1) * g; }, mean, gradient);
    auto new_variance =
        calque::tree_map([=](auto v, auto g) { return beta2 * v + (1 - beta2) * square(g); }, variance, gradient);
    auto const c1 = 1 - exp(step * calque::log(beta1));
    auto const c2 = 1 - exp(step * calque::log(beta2));
    auto new_net =
        calque::tree_map([&](auto p, auto m, auto v) { return p - rate * (m / c1) / (sqrt(v / c2) + epsilon); }, net,
                         new_mean, new_variance);
    return std::tuple{new_net, new_mean, new_variance};
};

/// One step on the rows at `batch`.
inline constexpr auto train_step = [](auto net, auto mean, auto variance, auto step, auto images, auto labels,
                                      auto batch) {
    auto x = take(images, batch);
    auto y = take(labels, batch);
    auto [value, gradient] = calque::value_and_grad(loss)(net, x, y);
    auto [new_net, new_mean, new_variance] = adam(net, mean, variance, step, gradient);
    return std::tuple{new_net, new_mean, new_variance, value};
};

inline constexpr auto predict = [](auto net, auto x) { return calque::argmax<-1>(logits(net, x)); };

inline network<calque::host> zeros() {
    network<calque::host> net;
    net.w1 = xt::zeros<float>({pixels, hidden});
    net.b1 = xt::zeros<float>({hidden});
    net.w2 = xt::zeros<float>({hidden, classes});
    net.b2 = xt::zeros<float>({classes});
    return net;
}

} // namespace digits
