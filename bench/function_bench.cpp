// SPDX-License-Identifier: MIT
// Traced functions: what a call costs over its kernel, what a trace costs, and the kernels themselves.
#include <calque/calque.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>

namespace {

inline constexpr auto plus_one = [](auto x) { return x + 1.f; };
inline constexpr auto cheap_chain = [](auto a, auto b, auto c) { return a * b + c - 0.5f * a; };
inline constexpr auto costly_chain = [](auto a, auto b, auto c) { return tanh(a * b + c) * sigmoid(a) - 0.5f * c; };
inline constexpr auto softmax_rows = [](auto x) { return calque::softmax<-1>(x); };
inline constexpr auto sum_rows = [](auto x) { return calque::sum<-1>(x); };
inline constexpr auto sum_columns = [](auto x) { return calque::sum<0>(x); };
inline constexpr auto norms = [](auto x) { return sqrt(calque::sum<-1>(x * x)); };
inline constexpr auto sum_exp_rows = [](auto x) { return calque::sum<-1>(exp(x)); };
inline constexpr auto standardized_columns = [](auto x) {
    auto const centred = x - calque::mean<0>(x, calque::keepdims);
    return centred / (sqrt(calque::mean<0>(square(centred), calque::keepdims)) + 1e-6f);
};
inline constexpr auto dense = [](auto x, auto w, auto b) { return relu(matmul(x, w) + b); };

xt::xtensor<float, 1> numbers(std::size_t n, float phase) {
    xt::xtensor<float, 1> x(std::array<std::size_t, 1>{n});
    for (std::size_t i = 0; i < n; ++i) {
        x(i) = 0.1f * static_cast<float>(i % 61) - 3.f + phase;
    }
    return x;
}

xt::xtensor<float, 2> matrix(std::size_t rows, std::size_t columns) {
    xt::xtensor<float, 2> x(std::array<std::size_t, 2>{rows, columns});
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = 0.1f * static_cast<float>(i % 61) - 3.f;
    }
    return x;
}

void per_element(benchmark::State& state, std::size_t elements) {
    state.counters["ns/element"] =
        benchmark::Counter(1e-9 * static_cast<double>(elements),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// x + 1 on float[4] through `into`: the cost of a hit.
void cached_call(benchmark::State& state) {
    auto const f = calque::function(plus_one);
    auto const x = numbers(4, 0.f);
    auto y = x;
    for (auto _ : state) {
        f.into(y, x);
        benchmark::ClobberMemory();
    }
}
BENCHMARK(cached_call);

/// The same with a new length each time, on a cache that keeps one plan: the cost of a trace.
void trace_of_a_new_shape(benchmark::State& state) {
    auto const f = calque::function(plus_one, calque::function_options{.capacity = 1});
    xt::xtensor<float, 1> const lengths[] = {numbers(4, 0.f), numbers(5, 0.f)};
    std::size_t i = 0;
    for (auto _ : state) {
        f.prepare(lengths[i++ % 2]);
    }
}
BENCHMARK(trace_of_a_new_shape);

template <class F>
void chain(benchmark::State& state, F fn) {
    auto const n = static_cast<std::size_t>(state.range(0));
    auto const f = calque::function(fn);
    auto const a = numbers(n, 0.f), b = numbers(n, 0.5f), c = numbers(n, 1.f);
    auto y = a;
    for (auto _ : state) {
        f.into(y, a, b, c);
        benchmark::ClobberMemory();
    }
    per_element(state, n);
}
BENCHMARK_CAPTURE(chain, cheap, cheap_chain)->Arg(1000)->Arg(100000)->Arg(10000000);
BENCHMARK_CAPTURE(chain, tanh_sigmoid, costly_chain)->Arg(1000)->Arg(100000)->Arg(10000000);

template <class F, class Output>
void over_matrix(benchmark::State& state, F fn, Output output) {
    auto const rows = static_cast<std::size_t>(state.range(0));
    auto const columns = static_cast<std::size_t>(state.range(1));
    auto const f = calque::function(fn);
    auto const x = matrix(rows, columns);
    for (auto _ : state) {
        f.into(output, x);
        benchmark::ClobberMemory();
    }
    per_element(state, rows * columns);
}
BENCHMARK_CAPTURE(over_matrix, softmax, softmax_rows, xt::xtensor<float, 2>())
    ->Args({64, 1000})
    ->Args({1000, 1000})
    ->Args({4096, 64})
    ->Args({4096, 10});
BENCHMARK_CAPTURE(over_matrix, row_sums, sum_rows, xt::xtensor<float, 1>())->Args({1000, 1000});
BENCHMARK_CAPTURE(over_matrix, column_sums, sum_columns, xt::xtensor<float, 1>())->Args({1000, 1000});
BENCHMARK_CAPTURE(over_matrix, norms, norms, xt::xtensor<float, 1>())->Args({1000, 3});
BENCHMARK_CAPTURE(over_matrix, row_sums_of_exp, sum_exp_rows, xt::xtensor<float, 1>())
    ->Args({1000, 15})
    ->Args({1000, 17})
    ->Args({1000, 33});
BENCHMARK_CAPTURE(over_matrix, standardized_columns, standardized_columns, xt::xtensor<float, 2>())
    ->Args({200, 10})
    ->Args({200, 1000});

/// relu(x w + b) with the bias and relu on the product's tiles.
void dense_layer(benchmark::State& state) {
    auto const batch = static_cast<std::size_t>(state.range(0));
    auto const f = calque::function(dense);
    auto const x = matrix(batch, 784), w = matrix(784, 128);
    auto const b = numbers(128, 0.f);
    auto y = f(x, w, b);
    for (auto _ : state) {
        f.into(y, x, w, b);
        benchmark::ClobberMemory();
    }
    state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * 784 * 128 * static_cast<double>(batch),
                                                   benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(dense_layer)->Arg(10)->Arg(64)->Arg(256);

} // namespace
