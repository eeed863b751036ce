// SPDX-License-Identifier: MIT
// The interpreter on the packs of the kernels. Lanes do not know each other, so that an elementwise result is the one
// of a fused kernel, bit for bit.
#pragma once

#include <calque/kernels/cpu/math.hpp>
#include <calque/kernels/cpu/pack.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// The values that `graph::interpreter` computes with.
struct interpreter_engine {
    template <class T>
    using vector = simd::pack<T, 1>;

    static constexpr int width = simd::width;

    template <class T>
    static vector<T> load(T const* from) {
        return vector<T>::load(from);
    }
    template <class T>
    static vector<T> load_one(T const* from) {
        return vector<T>::load(from, 1);
    }

    template <class T>
    static void store(vector<T> x, T* to) {
        x.store(to);
    }
    template <class T>
    static void store_one(vector<T> x, T* to) {
        x.store(to, 1);
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
