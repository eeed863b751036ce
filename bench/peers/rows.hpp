// SPDX-License-Identifier: MIT
// The rows of the comparison with other libraries: their names, sizes and data are the same for all. Each library has a
// program, which times its idiomatic best form of the rows that it has; scripts/bench runs them by turns.
#pragma once

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rows {

/// Numbers in [-3, 3), the same for every library.
inline std::vector<float> numbers_in_order(std::size_t n, unsigned seed) {
    std::vector<float> x(n);
    std::uint32_t state = 2654435761u * (seed + 1);
    for (float& element : x) {
        state = state * 1664525u + 1013904223u;
        element = static_cast<float>(state >> 8) * (6.f / 16777216.f) - 3.f;
    }
    return x;
}

/// Times `run()`. `items`: the elements (of products: the floating-point operations) of one run.
template <class Run>
void add(std::string const& name, std::size_t items, Run run) {
    benchmark::RegisterBenchmark(name.c_str(), [run, items](benchmark::State& state) mutable {
        for (auto _ : state) {
            run();
            benchmark::ClobberMemory();
        }
        state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(items));
    });
}

/// The classes of the rows of a batch.
inline std::vector<std::int32_t> labels_of(std::size_t batch, std::size_t classes) {
    std::vector<std::int32_t> labels(batch);
    for (std::size_t i = 0; i < batch; ++i) {
        labels[i] = static_cast<std::int32_t>(i * 7 % classes);
    }
    return labels;
}

struct extents {
    std::size_t rows;
    std::size_t columns;
    std::size_t size() const { return rows * columns; }
};

inline std::string name_of(std::string const& row, std::size_t n) {
    return row + "/" + std::to_string(n);
}
inline std::string name_of(std::string const& row, extents n) {
    return row + "/" + std::to_string(n.rows) + "x" + std::to_string(n.columns);
}

inline constexpr std::array<std::size_t, 3> chain_sizes{1000, 100000, 10000000};
inline constexpr std::array<std::size_t, 1> function_sizes{100000};
inline constexpr std::array<std::size_t, 2> sum_sizes{100000, 10000000};
inline constexpr std::array<extents, 4> softmax_sizes{extents{64, 1000}, {1000, 1000}, {4096, 64}, {4096, 10}};
inline constexpr std::array<extents, 2> cross_entropy_sizes{extents{1000, 1000}, {4096, 10}};
inline constexpr std::array<extents, 1> square{extents{1000, 1000}};
/// All pairs of points of three coordinates.
inline constexpr std::array<extents, 1> pairs{extents{1000, 1000}};
inline constexpr std::array<std::size_t, 9> product_sizes{4, 8, 16, 32, 64, 128, 256, 512, 1024};
inline constexpr std::array<std::size_t, 2> gradient_sizes{1000, 1000000};

inline int run(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

} // namespace rows
