// SPDX-License-Identifier: MIT
// What a call costs beside its kernel: hits on arrays of a few elements, with a loop by hand beside them, and new
// extents under a plan that serves them.
#include <calque/calque.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <tuple>
#include <vector>

namespace {

inline constexpr auto plus_one = [](auto x) { return x + 1.f; };
inline constexpr auto multiply_add = [](auto x, auto y, auto z) { return x * y + z; };
inline constexpr auto product = [](auto x, auto y) { return matmul(x, y); };
inline constexpr auto sum_and_difference = [](auto x, auto y) { return std::tuple(x + y, x - y); };
inline constexpr auto chain = [](auto a, auto b, auto c) { return tanh(a * b + c) * sigmoid(a) - 0.5f * c; };
inline constexpr auto layer_norm = [](auto x, auto gain, auto bias) {
    auto const centred = x - calque::mean<1>(x, calque::keepdims);
    auto const variance = calque::mean<1>(square(centred), calque::keepdims);
    return centred * rsqrt(variance + 1e-5f) * gain + bias;
};
inline constexpr auto classifier = [](auto x, auto w, auto b) { return softmax(matmul(x, w) + b); };

xt::xtensor<float, 1> vector(std::size_t n) {
    return xt::ones<float>({n});
}
xt::xtensor<float, 2> matrix(std::size_t rows, std::size_t columns) {
    return xt::ones<float>({rows, columns});
}

/// The kernel of the next ones, for as many elements as only the run knows.
void multiply_add_by_hand(benchmark::State& state) {
    auto const x = vector(4), y = x, z = x;
    auto out = x;
    for (auto _ : state) {
        std::size_t n = out.size();
        benchmark::DoNotOptimize(n);
        for (std::size_t i = 0; i < n; ++i) {
            out.data()[i] = x.data()[i] * y.data()[i] + z.data()[i];
        }
        benchmark::ClobberMemory();
    }
}
BENCHMARK(multiply_add_by_hand);

template <class F, class Output, class... Args>
void hit(benchmark::State& state, F const& fn, Output out, Args const&... args) {
    auto const f = calque::function(fn);
    for (auto _ : state) {
        f.into(out, args...);
        benchmark::ClobberMemory();
    }
}
BENCHMARK_CAPTURE(hit, plus_one_of_4, plus_one, vector(4), vector(4));
BENCHMARK_CAPTURE(hit, multiply_add_of_4, multiply_add, vector(4), vector(4), vector(4), vector(4));
BENCHMARK_CAPTURE(hit, multiply_add_of_2x2, multiply_add, matrix(2, 2), matrix(2, 2), matrix(2, 2), matrix(2, 2));
BENCHMARK_CAPTURE(hit, two_results_of_4, sum_and_difference, std::tuple(vector(4), vector(4)), vector(4), vector(4));
BENCHMARK_CAPTURE(hit, dot_of_4, product, 0.f, vector(4), vector(4));
BENCHMARK_CAPTURE(hit, matrix_4x4_times_vector, product, vector(4), matrix(4, 4), vector(4));
BENCHMARK_CAPTURE(hit, matrix_10x10_times_vector, product, vector(10), matrix(10, 10), vector(10));
BENCHMARK_CAPTURE(hit, known_matrix_3x3_times_vector, product, vector(3), calque::with_shape<3, 3>(matrix(3, 3)),
                  calque::with_shape<3>(vector(3)));

/// 64 extents that are new to a trace under `dynamic` that serves them. `make(n)` returns the arguments.
template <class F, class Make>
void new_extent(benchmark::State& state, F const& fn, Make const& make) {
    constexpr std::size_t count = 64;
    auto const f = calque::function(fn, {.shapes = calque::shape_policy::dynamic});
    auto const prepare = [&f](auto const&... args) { f.prepare(args...); };
    std::vector<decltype(make(0))> calls;
    for (std::size_t i = 0; i <= count; ++i) {
        calls.push_back(make(i + 3));
    }
    for (auto _ : state) {
        f.clear();
        std::apply(prepare, calls[0]); // traces
        auto const start = std::chrono::steady_clock::now();
        for (std::size_t i = 1; i <= count; ++i) {
            std::apply(prepare, calls[i]);
        }
        std::chrono::duration<double> const time = std::chrono::steady_clock::now() - start;
        state.SetIterationTime(time.count());
    }
    state.counters["ns/extent"] =
        benchmark::Counter(1e-9 * count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    if (f.shape_count() != count * f.trace_count()) {
        state.SkipWithError("a new extent has traced");
    }
}
BENCHMARK_CAPTURE(new_extent, chain, chain, [](std::size_t n) {
    return std::tuple(vector(n), vector(n), vector(n));
})->UseManualTime();
BENCHMARK_CAPTURE(new_extent, layer_norm, layer_norm, [](std::size_t n) {
    return std::tuple(matrix(2, n), vector(n), vector(n));
})->UseManualTime();
BENCHMARK_CAPTURE(new_extent, softmax_of_product, classifier, [](std::size_t n) {
    return std::tuple(matrix(2, n), matrix(n, 4), vector(4));
})->UseManualTime();

} // namespace
