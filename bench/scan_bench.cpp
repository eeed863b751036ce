// SPDX-License-Identifier: MIT
// What a step of a loop costs over its kernels: scans of many small steps, against the same loop written by hand.
#include <calque/calque.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <tuple>

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

inline constexpr auto decay = [](auto x) {
    return calque::scan([](auto s, auto v) { return std::tuple{s * 0.5f + v, s}; }, 0.f, x);
};
inline constexpr auto decay_rows = [](auto start, auto xs) {
    return calque::scan(
        [](auto s, auto v) {
            auto const next = s * 0.5f + v;
            return std::tuple{next, next};
        },
        start, xs);
};
inline constexpr auto counted = [](auto x) {
    return calque::while_loop([](auto y) { return y < 1000.f; }, [](auto y) { return y + 1.f; }, x);
};
inline constexpr auto branches = [](auto x) {
    return calque::cond(x > 0.f, [&] { return x * 2.f; }, [&] { return x - 1.f; });
};

/// Time a step, in nanoseconds.
void report(benchmark::State& state, std::int64_t steps) {
    state.counters["ns/step"] = benchmark::Counter(
        static_cast<double>(steps) * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void scan_of_scalars(benchmark::State& state) {
    vector const x = xt::ones<float>({state.range(0)});
    auto const f = calque::function(decay);
    float last = 0;
    vector all = x;
    for (auto _ : state) {
        f.into(std::tie(last, all), x);
        benchmark::DoNotOptimize(all.data());
    }
    report(state, state.range(0));
}
BENCHMARK(scan_of_scalars)->Arg(1000);

void scan_of_rows(benchmark::State& state) {
    matrix const xs = xt::ones<float>({std::int64_t{1000}, state.range(0)});
    vector const start = xt::zeros<float>({state.range(0)});
    auto const f = calque::function(decay_rows);
    vector last = start;
    matrix all = xs;
    for (auto _ : state) {
        f.into(std::tie(last, all), start, xs);
        benchmark::DoNotOptimize(all.data());
    }
    report(state, 1000);
}
BENCHMARK(scan_of_rows)->Arg(4)->Arg(64)->Arg(1024);

void scan_of_rows_by_hand(benchmark::State& state) {
    matrix const xs = xt::ones<float>({std::int64_t{1000}, state.range(0)});
    vector last = xt::zeros<float>({state.range(0)});
    matrix all = xs;
    auto const columns = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        float* const s = last.data();
        for (std::size_t i = 0; i < 1000; ++i) {
            float const* const x = xs.data() + i * columns;
            float* const y = all.data() + i * columns;
            for (std::size_t j = 0; j < columns; ++j) {
                y[j] = s[j] = s[j] * 0.5f + x[j];
            }
        }
        benchmark::DoNotOptimize(all.data());
    }
    report(state, 1000);
}
BENCHMARK(scan_of_rows_by_hand)->Arg(4)->Arg(64)->Arg(1024);

void while_of_scalars(benchmark::State& state) {
    auto const f = calque::function(counted);
    float y = 0;
    for (auto _ : state) {
        f.into(y, 0.f);
        benchmark::DoNotOptimize(y);
    }
    report(state, 1000);
}
BENCHMARK(while_of_scalars);

void branch_of_scalars(benchmark::State& state) {
    auto const f = calque::function(branches);
    float y = 0;
    float x = 1;
    for (auto _ : state) {
        f.into(y, x);
        x = -x;
        benchmark::DoNotOptimize(y);
    }
    report(state, 1);
}
BENCHMARK(branch_of_scalars);

} // namespace
