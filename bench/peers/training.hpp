// SPDX-License-Identifier: MIT
// The networks of the training rows, the same for every library: one dense layer of 5 inputs, and 784-128-relu-10, each
// with 10 classes, the mean of the cross-entropy as its loss, and Adam. (The frameworks': frameworks.py.)
#pragma once

#include "rows.hpp"

#include <immintrin.h>

namespace training {

inline constexpr int classes = 10;
inline constexpr int dense_inputs = 5;
inline constexpr int pixels = 784, hidden = 128;

inline constexpr std::array<std::size_t, 1> dense_batches{10};
inline constexpr std::array<std::size_t, 4> network_batches{10, 30, 64, 256};

// Adam's constants (D. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", 2015).
inline constexpr float beta1 = 0.9f, beta2 = 0.999f, rate = 1e-3f, epsilon = 1e-8f;

inline std::string name_of(char const* layers, std::size_t batch) {
    return std::string("train step ") + layers + " of " + std::to_string(batch) + " rows";
}

/// Denormals are zeros from here on, as the frameworks have it: steps on one batch over and over reach them, and they
/// slow every library.
inline void flush_denormals() {
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
}

/// Weights or inputs in [-scale, scale).
inline std::vector<float> numbers(std::size_t n, unsigned seed, float scale) {
    std::vector<float> x = rows::numbers_in_order(n, seed);
    for (float& element : x) {
        element *= scale / 3.f;
    }
    return x;
}

} // namespace training
