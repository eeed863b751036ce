// SPDX-License-Identifier: MIT
// Random numbers, each an element: the fused kernels against a Philox written by hand for AVX-512, or else in plain
// C++.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // g++ 12 warns inside its own intrinsics (bug 105593)
#endif
#include <calque/calque.hpp>
#include <calque/random.hpp>

#include <benchmark/benchmark.h>

#if CALQUE_AVX512
#include <immintrin.h>
#endif

namespace {

namespace random = calque::random;

#if CALQUE_AVX512

/// Uniform floats, 64 at a time: two chains of eight blocks in each half of a round's latency, stores as they come.
/// `n` is a multiple of 64.
__attribute__((noinline)) void uniform_by_hand(std::uint64_t key, float* to, std::int64_t n) {
    __m512i const multiplier0 = _mm512_set1_epi64(0xD2511F53), multiplier1 = _mm512_set1_epi64(0xCD9E8D57);
    __m512i const low = _mm512_set1_epi64(0xffffffff);
    __m512 const scale = _mm512_set1_ps(0x1p-24f);
    __m512i const order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    __m512i key0[10], key1[10];
    for (int round = 0; round < 10; ++round) {
        key0[round] = _mm512_set1_epi64(static_cast<std::uint32_t>(key) + static_cast<unsigned>(round) * 0x9E3779B9u);
        key1[round] =
            _mm512_set1_epi64(static_cast<std::uint32_t>(key >> 32) + static_cast<unsigned>(round) * 0xBB67AE85u);
    }
    auto const store = [&](float* at, __m512i a, __m512i b, __m512i c, __m512i d) {
        __m512i const front = _mm512_or_si512(_mm512_and_si512(a, low), _mm512_slli_epi64(b, 32));
        __m512i const back = _mm512_or_si512(_mm512_and_si512(c, low), _mm512_slli_epi64(d, 32));
        __m512i const first = _mm512_unpacklo_epi64(front, back), second = _mm512_unpackhi_epi64(front, back);
        _mm512_storeu_ps(at, _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_srli_epi32(first, 8)), scale));
        _mm512_storeu_ps(at + 16, _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_srli_epi32(second, 8)), scale));
    };
    for (std::int64_t i = 0; i < n; i += 64) {
        __m512i a = _mm512_add_epi64(_mm512_set1_epi64(i / 4), order), b = _mm512_srli_epi64(a, 32);
        __m512i e = _mm512_add_epi64(a, _mm512_set1_epi64(8)), f = _mm512_srli_epi64(e, 32);
        __m512i c = _mm512_setzero_si512(), d = c, g = c, h = c;
        for (int round = 0; round < 10; ++round) {
            __m512i const p = _mm512_mul_epu32(a, multiplier0), q = _mm512_mul_epu32(c, multiplier1);
            __m512i const r = _mm512_mul_epu32(e, multiplier0), s = _mm512_mul_epu32(g, multiplier1);
            a = _mm512_ternarylogic_epi64(_mm512_srli_epi64(q, 32), b, key0[round], 0x96);
            c = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p, 32), d, key1[round], 0x96);
            e = _mm512_ternarylogic_epi64(_mm512_srli_epi64(s, 32), f, key0[round], 0x96);
            g = _mm512_ternarylogic_epi64(_mm512_srli_epi64(r, 32), h, key1[round], 0x96);
            b = q, d = p, f = s, h = r;
        }
        store(to + i, a, b, c, d);
        store(to + i + 32, e, f, g, h);
    }
}

#else

/// Uniform floats in plain C++, four at a time. `n` is a multiple of 4.
__attribute__((noinline)) void uniform_by_hand(std::uint64_t key, float* to, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += 4) {
        auto const block =
            calque::philox::random_block(key, static_cast<std::uint64_t>(i) / 4, calque::philox::purpose::elements);
        for (std::int64_t j = 0; j < 4; ++j) {
            to[i + j] = static_cast<float>(block[static_cast<std::size_t>(j)] >> 8) * 0x1p-24f;
        }
    }
}

#endif

template <class T>
xt::xtensor<T, 1> array_of(benchmark::State const& state) {
    return xt::zeros<T>({static_cast<std::size_t>(state.range(0))});
}

void by_hand(benchmark::State& state) {
    auto y = array_of<float>(state);
    for (auto _ : state) {
        uniform_by_hand(42, y.data(), state.range(0));
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

/// A function of a key and an array of float, double or bool.
template <class T, class F>
void fused(benchmark::State& state, F const& body) {
    auto const f = calque::function(body);
    auto const x = array_of<T>(state);
    auto y = f(random::key(42), x);
    for (auto _ : state) {
        f.into(y, random::key(42), x);
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void sizes(benchmark::internal::Benchmark* b) {
    b->Arg(8192)->Arg(100'000'000)->Unit(benchmark::kMicrosecond);
}
BENCHMARK(by_hand)->Apply(sizes);

#define CALQUE_RANDOM_BENCH(name, T, ...)                                                                              \
    void name(benchmark::State& state) {                                                                               \
        fused<T>(state, [](auto key, [[maybe_unused]] auto x) { return __VA_ARGS__; });                                \
    }                                                                                                                  \
    BENCHMARK(name)->Apply(sizes);
CALQUE_RANDOM_BENCH(uniform_float, float, random::uniform_like(key, x))
CALQUE_RANDOM_BENCH(uniform_double, double, random::uniform_like(key, x))
CALQUE_RANDOM_BENCH(normal_float, float, random::normal_like(key, x))
CALQUE_RANDOM_BENCH(normal_double, double, random::normal_like(key, x))
CALQUE_RANDOM_BENCH(bernoulli_float, float, random::bernoulli_like(key, 0.3f, x))
CALQUE_RANDOM_BENCH(dropout_float, float, where(random::bernoulli_like(key, 0.9f, x), x / 0.9f, x * 0))
CALQUE_RANDOM_BENCH(permutation, float, random::permutation_like(key, x))

} // namespace
