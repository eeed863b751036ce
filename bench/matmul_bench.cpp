// SPDX-License-Identifier: MIT
// Matrix products in GFLOP/s: square ones, and those of training steps of the digits example and of an MLP 784-128-10.
// With -DCALQUE_BENCH_OPENBLAS=1 (and linked with OpenBLAS) each is followed by OpenBLAS's; set OPENBLAS_NUM_THREADS=1.
#include <calque/kernels/cpu/matmul.hpp>
#include <calque/kernels/cpu/matmul_small.hpp>

#include <benchmark/benchmark.h>

#if defined(CALQUE_BENCH_OPENBLAS) && __has_include(<cblas.h>)
#include <cblas.h>
#define CALQUE_HAS_OPENBLAS 1
#else
#define CALQUE_HAS_OPENBLAS 0
#endif

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <type_traits>

namespace {

using namespace calque::kernels;
using std::ptrdiff_t;

struct release {
    void operator()(void* p) const { ::operator delete(p, std::align_val_t(64)); }
};

template <class T>
using array = std::unique_ptr<T[], release>;

template <class T>
array<T> make_array(ptrdiff_t size) {
    array<T> result(
        static_cast<T*>(::operator new(static_cast<std::size_t>(size) * sizeof(T) + 64, std::align_val_t(64))));
    for (ptrdiff_t i = 0; i < size; ++i) {
        result[static_cast<std::size_t>(i)] = static_cast<T>(i % 17 - 8) / T(8);
    }
    return result;
}

// M x K times K x N; a transposed operand lies in memory as its transpose does.
struct product {
    char const* name;
    ptrdiff_t m, n, k;
    bool a_is_transposed = false, b_is_transposed = false;

    template <class T>
    matrix_ref<T> a(T const* data) const {
        return a_is_transposed ? matrix_ref<T>{data, 1, m} : matrix_ref<T>{data, k, 1};
    }
    template <class T>
    matrix_ref<T> b(T const* data) const {
        return b_is_transposed ? matrix_ref<T>{data, 1, k} : matrix_ref<T>{data, n, 1};
    }
};

constexpr product products[] = {
    {"square 4", 4, 4, 4},
    {"square 8", 8, 8, 8},
    {"square 16", 16, 16, 16},
    {"square 32", 32, 32, 32},
    {"square 64", 64, 64, 64},
    {"square 128", 128, 128, 128},
    {"square 256", 256, 256, 256},
    {"square 512", 512, 512, 512},
    {"square 1024", 1024, 1024, 1024},
    {"MLP layer 1, batch 30", 30, 128, 784},
    {"MLP layer 1, batch 256", 256, 128, 784},
    {"MLP weight gradient 1, batch 30", 784, 128, 30, true},
    {"MLP inputs' gradient, batch 30", 30, 784, 128, false, true},
    {"digits layer 1", 64, 128, 64},
    {"digits layer 2", 64, 10, 128},
    {"digits weight gradient 2", 128, 10, 64, true},
    {"digits weight gradient 1", 64, 128, 64, true},
    {"digits hidden gradient", 64, 128, 10, false, true},
    {"matrix vector", 1000, 1, 1000},
    {"vector matrix", 1, 1000, 1000},
    {"matrix^T vector", 1000, 1, 1000, true},
    {"vector matrix^T", 1, 1000, 1000, false, true},
};

void report(benchmark::State& state, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k) {
    state.counters["FLOP/s"] =
        benchmark::Counter(2.0 * static_cast<double>(m * n * k), benchmark::Counter::kIsIterationInvariantRate);
}

// The epilogue of a layer: a ReLU into the result.
template <class T>
struct relu_context {
    T* c;
    ptrdiff_t stride;

    static void consume(void const* context, T const* tile, ptrdiff_t tile_stride, ptrdiff_t i, ptrdiff_t j,
                        ptrdiff_t rows, ptrdiff_t columns) {
        auto const& to = *static_cast<relu_context const*>(context);
        for (ptrdiff_t r = 0; r < rows; ++r) {
            for (ptrdiff_t col = 0; col < columns; ++col) {
                T const x = tile[r * tile_stride + col];
                to.c[(i + r) * to.stride + j + col] = x > T(0) ? x : T(0);
            }
        }
    }
};

template <class T>
void run_product(benchmark::State& state, product p, bool has_epilogue) {
    auto const a = make_array<T>(p.m * p.k), b = make_array<T>(p.k * p.n), c = make_array<T>(p.m * p.n);
    auto const a_ref = p.a<T>(a.get()), b_ref = p.b<T>(b.get());
    auto const variant = choose_matmul<T>(p.m, p.n, p.k, a_ref.strides(), b_ref.strides());
    auto const bytes = matmul_workspace<T>(variant, p.m, p.n, p.k, a_ref.strides(), b_ref.strides());
    auto const workspace = make_array<T>(static_cast<ptrdiff_t>(bytes / sizeof(T)));
    relu_context<T> const relu{c.get(), p.n};
    for (auto _ : state) {
        if (has_epilogue) {
            matmul<T>(variant, p.m, p.n, p.k, a_ref, b_ref, tile_sink<T>{&relu_context<T>::consume, &relu},
                      workspace.get());
        } else {
            matmul<T>(variant, p.m, p.n, p.k, a_ref, b_ref, c.get(), p.n, workspace.get());
        }
        benchmark::ClobberMemory();
    }
    state.SetLabel(std::string(name_of(variant)));
    report(state, p.m, p.n, p.k);
}

#if CALQUE_HAS_OPENBLAS
template <class T>
void run_openblas(benchmark::State& state, product p) {
    auto const a = make_array<T>(p.m * p.k), b = make_array<T>(p.k * p.n), c = make_array<T>(p.m * p.n);
    auto const transpose = [](bool is) { return is ? CblasTrans : CblasNoTrans; };
    auto const m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
    int const a_stride = p.a_is_transposed ? m : k, b_stride = p.b_is_transposed ? k : n;
    for (auto _ : state) {
        if constexpr (std::is_same_v<T, float>) {
            cblas_sgemm(CblasRowMajor, transpose(p.a_is_transposed), transpose(p.b_is_transposed), m, n, k, 1.f,
                        a.get(), a_stride, b.get(), b_stride, 0.f, c.get(), n);
        } else {
            cblas_dgemm(CblasRowMajor, transpose(p.a_is_transposed), transpose(p.b_is_transposed), m, n, k, 1.0,
                        a.get(), a_stride, b.get(), b_stride, 0.0, c.get(), n);
        }
        benchmark::ClobberMemory();
    }
    report(state, p.m, p.n, p.k);
}
#endif

template <class T, int N>
void run_static(benchmark::State& state) {
    auto const a = make_array<T>(N * N), b = make_array<T>(N * N), c = make_array<T>(N * N);
    for (auto _ : state) {
        multiply_known_tile<N, N, N>(matrix_ref<T>{a.get(), N, 1}, matrix_ref<T>{b.get(), N, 1}, c.get(), N);
        benchmark::ClobberMemory();
    }
    report(state, N, N, N);
}

template <class T>
void register_all(std::string const& dtype) {
    for (product const& p : products) {
        std::string const name = dtype + "/" + p.name;
        benchmark::RegisterBenchmark(name.c_str(), run_product<T>, p, false);
        benchmark::RegisterBenchmark((name + "/relu").c_str(), run_product<T>, p, true);
#if CALQUE_HAS_OPENBLAS
        benchmark::RegisterBenchmark((name + "/OpenBLAS").c_str(), run_openblas<T>, p);
#endif
    }
    benchmark::RegisterBenchmark((dtype + "/static 4").c_str(), run_static<T, 4>);
    benchmark::RegisterBenchmark((dtype + "/static 8").c_str(), run_static<T, 8>);
}

[[maybe_unused]] bool const is_registered = [] {
    register_all<float>("float");
    register_all<double>("double");
    return true;
}();

} // namespace
