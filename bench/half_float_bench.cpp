// SPDX-License-Identifier: MIT
// a*b+a on arrays of two bytes an element, computed in float: against float, and with each operation rounded.
#include <calque/calque.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>

namespace {

using calque::bfloat16;
using calque::half;

template <class T>
inline constexpr auto in_float = [](auto x, auto y) {
    auto const a = calque::cast<float>(x), b = calque::cast<float>(y);
    return calque::cast<T>(a * b + a);
};
template <class T>
inline constexpr auto each_rounded = [](auto x, auto y) { return x * y + x; };

template <class T, class F>
void run(benchmark::State& state, F const& fn) {
    xt::xtensor<T, 1> x(std::array{static_cast<std::size_t>(state.range(0))});
    x.fill(T(0.5f));
    xt::xtensor<T, 1> const y = x;
    xt::xtensor<T, 1> z = x;
    auto const f = calque::function(fn);
    for (auto _ : state) {
        f.into(z, x, y);
        benchmark::DoNotOptimize(z.data());
    }
    state.counters["ns/element"] =
        benchmark::Counter(static_cast<double>(state.range(0)) * 1e-9,
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <class T>
void computed_in_float(benchmark::State& state) {
    run<T>(state, in_float<T>);
}
template <class T>
void rounded(benchmark::State& state) {
    run<T>(state, each_rounded<T>);
}
BENCHMARK(computed_in_float<float>)->Arg(1 << 14)->Arg(1 << 24);
BENCHMARK(computed_in_float<half>)->Arg(1 << 14)->Arg(1 << 24);
BENCHMARK(computed_in_float<bfloat16>)->Arg(1 << 14)->Arg(1 << 24);
BENCHMARK(rounded<half>)->Arg(1 << 14)->Arg(1 << 24);
BENCHMARK(rounded<bfloat16>)->Arg(1 << 14)->Arg(1 << 24);

} // namespace
