// SPDX-License-Identifier: MIT
// Compares a traced function, run by its kernels, with the interpreter on the graph that the kernels were made from.
#pragma once

#include <calque/calque.hpp>
#include <calque/graph/interpreter.hpp>
#include <calque/kernels/cpu/interpreter_engine.hpp>

#include <cstring>
#include <vector>

namespace tests {

template <class T, std::size_t Rank>
calque::graph::tensor tensor_of(xt::xtensor<T, Rank> const& x) {
    return calque::graph::tensor::copy_of(calque::shape_of(x), x.data());
}
template <class T>
    requires calque::arithmetic<T>
calque::graph::tensor tensor_of(T x) {
    return calque::graph::tensor::copy_of(calque::shape{}, &x);
}

/// Whether each leaf of the result has exactly the bits that the interpreter computes.
template <class F, class... Args>
bool agrees_with_interpreter(F const& fn, Args const&... args) {
    using code = typename calque::runtime::program<F, Args...>::code;
    struct graph {
        static constexpr calque::graph::graph_view view() { return code::optimized.view(); }
    };
    std::vector<calque::graph::tensor> const arguments{tensor_of(args)...};
    std::vector<calque::graph::tensor> expected(static_cast<std::size_t>(graph::view().output_count));
    calque::graph::interpreter<calque::kernels::interpreter_engine, calque::graph::used_by<graph>>::run(
        graph::view(), arguments.data(), expected.data());

    auto const result = calque::function(fn)(args...);
    bool agree = true;
    std::size_t next = 0;
    calque::for_each_leaf(result, [&](auto const& leaf) {
        calque::graph::tensor const& want = expected[next++];
        void const* data = &leaf;
        std::size_t bytes = sizeof leaf;
        if constexpr (!calque::arithmetic<std::remove_cvref_t<decltype(leaf)>>) {
            data = leaf.data();
            bytes = leaf.size() * sizeof(*leaf.data());
        }
        agree = agree && bytes == want.data.size() && std::memcmp(data, want.data.data(), bytes) == 0;
    });
    return agree && next == expected.size();
}

} // namespace tests
