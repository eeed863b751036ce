// SPDX-License-Identifier: MIT
// Training steps: forward, gradient and Adam as one function. An item is a step.
#include "../../examples/digits/network.hpp"
#include "training.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>

namespace {

using namespace training;

template <class M>
struct network {
    calque::leaf<M, float, pixels, hidden> w1;
    calque::leaf<M, float, hidden> b1;
    calque::leaf<M, float, hidden, classes> w2;
    calque::leaf<M, float, classes> b2;
};
template <class M>
struct dense {
    calque::leaf<M, float, dense_inputs, classes> w;
    calque::leaf<M, float, classes> b;
};

inline constexpr auto network_loss = [](auto const& net, auto x, auto labels) {
    auto h = relu(matmul(x, net.w1) + net.b1);
    return digits::cross_entropy(matmul(h, net.w2) + net.b2, labels);
};
inline constexpr auto dense_loss = [](auto const& net, auto x, auto labels) {
    return digits::cross_entropy(matmul(x, net.w) + net.b, labels);
};

template <auto Loss>
inline constexpr auto train_step = [](auto net, auto mean, auto variance, auto step, auto x, auto labels) {
    auto [value, gradient] = calque::value_and_grad(Loss)(net, x, labels);
    auto [new_net, new_mean, new_variance] = digits::adam(net, mean, variance, step, gradient);
    return std::tuple{new_net, new_mean, new_variance, value};
};

template <std::size_t Rank>
xt::xtensor<float, Rank> array(std::array<std::size_t, Rank> const& extents, unsigned seed, float scale) {
    auto result = xt::xtensor<float, Rank>::from_shape(extents);
    auto const x = numbers(result.size(), seed, scale);
    std::copy(x.begin(), x.end(), result.begin());
    return result;
}

network<calque::host> network_of(float scale) {
    network<calque::host> net;
    net.w1 = array<2>({pixels, hidden}, 1, scale);
    net.b1 = array<1>({hidden}, 2, scale);
    net.w2 = array<2>({hidden, classes}, 3, scale);
    net.b2 = array<1>({classes}, 4, scale);
    return net;
}
dense<calque::host> dense_of(float scale) {
    dense<calque::host> net;
    net.w = array<2>({dense_inputs, classes}, 1, scale);
    net.b = array<1>({classes}, 2, scale);
    return net;
}

template <auto Loss, int Inputs, class Net>
void add(std::string const& name, std::size_t batch, Net const& net, Net const& zeros) {
    rows::add(name, 1,
              [step = calque::function(train_step<Loss>), net = net, mean = zeros, variance = zeros,
               labels = rows::labels_of(batch, classes), count = 0.f,
               x = array<2>({batch, Inputs}, 5, 1.f)]() mutable {
                  float value = 0;
                  step.into(std::tie(net, mean, variance, value), net, mean, variance, ++count,
                            calque::with_shape<calque::dim("batch"), Inputs>(x),
                            calque::with_shape<calque::dim("batch")>(std::span<std::int32_t const>(labels)));
              });
}

} // namespace

int main(int argc, char** argv) {
    flush_denormals();
    for (std::size_t const batch : dense_batches) {
        add<dense_loss, dense_inputs>(name_of("5-10", batch), batch, dense_of(0.05f), dense_of(0.f));
    }
    for (std::size_t const batch : network_batches) {
        add<network_loss, pixels>(name_of("784-128-10", batch), batch, network_of(0.05f), network_of(0.f));
    }
    return rows::run(argc, argv);
}
