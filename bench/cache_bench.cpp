// SPDX-License-Identifier: MIT
// What a call pays for its cache: hits through the thread's line, hits in the table, misses, and threads side by side.
#include <calque/runtime/cache.hpp>
#include <calque/runtime/key.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

struct plan {
    std::int64_t size;
};

template <std::size_t N>
using cache = calque::plan_cache<struct bench_tag, calque::cache_key<N>, plan>;

/// The shapes of four arrays. A key takes its words from them one by one, as a call does.
using shapes = std::array<std::array<std::size_t, 2>, 4>;

shapes shapes_of(std::int64_t extent) {
    std::size_t const n = static_cast<std::size_t>(extent);
    return {{{n, n + 1}, {n + 2, n + 3}, {n + 4, n + 5}, {n + 6, n + 7}}};
}

template <std::size_t N>
void find(cache<N>& c, shapes const& arrays) {
    calque::cache_key<N> key;
    for (std::size_t i = 0; i != N; ++i) {
        key.words[i] = static_cast<std::int64_t>(arrays[i / 2][i % 2]);
    }
    benchmark::DoNotOptimize(&c.find_or_make(key, [&] { return plan{key.words[0]}; }));
    benchmark::ClobberMemory();
}

template <std::size_t N>
void hit_in_line(benchmark::State& state) {
    cache<N> c({});
    shapes const arrays = shapes_of(4);
    for (auto _ : state) {
        find(c, arrays);
    }
}
BENCHMARK(hit_in_line<0>);
BENCHMARK(hit_in_line<1>);
BENCHMARK(hit_in_line<2>);
BENCHMARK(hit_in_line<8>);

/// Calls that go around `state.range(0)` shapes.
template <std::size_t N>
void hit_in_table(benchmark::State& state) {
    cache<N> c({});
    std::vector<shapes> arrays;
    for (std::int64_t i = 0; i != state.range(0); ++i) {
        arrays.push_back(shapes_of(i));
    }
    std::size_t i = 0;
    for (auto _ : state) {
        find(c, arrays[i]);
        i = i + 1 == arrays.size() ? 0 : i + 1;
    }
}
BENCHMARK(hit_in_table<1>)->Arg(2)->Arg(9)->Arg(200);
BENCHMARK(hit_in_table<8>)->Arg(2)->Arg(9);

/// Several functions of one type that take turns.
void caches_in_turn(benchmark::State& state) {
    std::vector<std::unique_ptr<cache<1>>> caches;
    for (std::int64_t i = 0; i != state.range(0); ++i) {
        caches.push_back(std::make_unique<cache<1>>(calque::cache_limits{}));
    }
    shapes const arrays = shapes_of(4);
    std::size_t i = 0;
    for (auto _ : state) {
        find(*caches[i], arrays);
        i = i + 1 == caches.size() ? 0 : i + 1;
    }
}
BENCHMARK(caches_in_turn)->Arg(2)->Arg(8)->Arg(16);

/// A new key each time: the cost that the cache adds to a trace, with an eviction each.
void miss(benchmark::State& state) {
    cache<1> c({.capacity = static_cast<std::size_t>(state.range(0))});
    std::int64_t i = 0;
    for (auto _ : state) {
        find(c, shapes_of(i++));
    }
}
BENCHMARK(miss)->Arg(16)->Arg(256);
BENCHMARK(miss)->Arg(0)->Iterations(100'000); // unbounded

void threads_in_line(benchmark::State& state) {
    static cache<1> c({});
    shapes const arrays = shapes_of(4);
    for (auto _ : state) {
        find(c, arrays);
    }
}
BENCHMARK(threads_in_line)->Threads(1)->Threads(2);

void threads_in_table(benchmark::State& state) {
    static cache<1> c({});
    std::int64_t i = 0;
    for (auto _ : state) {
        find(c, shapes_of(i));
        i = i == 8 ? 0 : i + 1;
    }
}
BENCHMARK(threads_in_table)->Threads(1)->Threads(2);

} // namespace
