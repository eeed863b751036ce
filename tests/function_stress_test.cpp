// SPDX-License-Identifier: MIT
// Whole functions called by many threads at once. Meant to be run under the thread and address sanitizers too.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using calque::function_options;
using calque::shape_policy;
using vector = xt::xtensor<float, 1>;

inline constexpr auto total = [](auto x) { return calque::sum(x); };
inline constexpr auto twice = [](auto x) { return x * 2; };

constexpr int thread_count = 8;
constexpr std::size_t shape_count = 1000;

/// Runs `fn(index)` on so many threads at once.
template <class Fn>
void on_threads(int count, Fn fn) {
    std::vector<std::thread> threads;
    for (int i = 0; i != count; ++i) {
        threads.emplace_back(fn, i);
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

std::vector<vector> all_shapes() {
    std::vector<vector> all;
    for (std::size_t n = 0; n != shape_count; ++n) {
        all.push_back(xt::ones<float>({n + 1}));
    }
    return all;
}

/// Four calls in five are of eight popular shapes.
std::size_t pick(std::minstd_rand& random) {
    auto const dice = random();
    return static_cast<std::size_t>(dice % 5 != 0 ? dice / 5 % 8 : random() % shape_count);
}

} // namespace

TEST_CASE("a million calls of a thousand shapes on eight threads, sixteen plans kept") {
    constexpr int calls = 1'000'000 / thread_count;
    std::vector<vector> const shapes = all_shapes();
    auto const f = calque::function(total, function_options{.name = "stress", .capacity = 16, .warn_after = 0});
    std::atomic<int> wrong{0};
    on_threads(thread_count, [&](int index) {
        std::minstd_rand random(static_cast<unsigned>(index) + 1);
        float result = 0;
        for (int i = 0; i != calls; ++i) {
            std::size_t const n = pick(random);
            f.into(result, shapes[n]);
            wrong += result == static_cast<float>(n + 1) ? 0 : 1;
        }
    });
    CHECK(wrong == 0);
    CHECK(f.trace_count() + f.hit_count() == static_cast<std::uint64_t>(calls) * thread_count);
    CHECK(f.hit_count() > f.trace_count());
    CHECK(f.eviction_count() == f.trace_count() - f.cache_size());
    CHECK(f.cache_size() == 16);
}

TEST_CASE("policies, explanations, reports, warnings and clears at once") {
    constexpr int calls = 4000;
    std::vector<vector> const shapes = all_shapes();
    std::atomic<int> heard{0};
    calque::warning_sink const before = calque::set_warning_sink([&](std::string_view) { ++heard; });
    for (shape_policy const policy :
         {shape_policy::exact, shape_policy::relax, shape_policy::dynamic, shape_policy::bucket}) {
        std::atomic<std::uint64_t> events{0};
        auto const f =
            calque::function(twice, function_options{.name = "policies",
                                                     .shapes = policy,
                                                     .capacity = 16,
                                                     .on_retrace = [&](calque::retrace_event const&) { ++events; }});
        std::atomic<int> wrong{0};
        on_threads(thread_count, [&](int index) {
            std::minstd_rand random(static_cast<unsigned>(index) + 1);
            vector result = vector::from_shape({1});
            for (int i = 0; i != calls; ++i) {
                std::size_t const n = pick(random);
                f.into(result, shapes[n]);
                wrong += result.size() == n + 1 && result(n) == 2.f ? 0 : 1;
                if (i % 100 == index) {
                    wrong += f.explain(shapes[n]).reason.empty() || f.signatures().empty() ? 1 : 0;
                    wrong += calque::report().functions().empty() ? 1 : 0;
                }
            }
        });
        CHECK(wrong == 0);
        CHECK(f.trace_count() + f.hit_count() == static_cast<std::uint64_t>(calls) * thread_count);
        CHECK(events >= f.trace_count()); // a thread may be told of a trace that another was faster with
        std::uint64_t const most = policy == shape_policy::exact    ? calls * thread_count
                                   : policy == shape_policy::bucket ? 11
                                   : policy == shape_policy::relax  ? 2
                                                                    : 1;
        CHECK(f.trace_count() <= most);
    }
    calque::set_warning_sink(before);
    CHECK(heard > 0);
}

TEST_CASE("max_traces holds between threads") {
    std::vector<vector> const shapes = all_shapes();
    auto const f = calque::function(total, function_options{.max_traces = 20, .warn_after = 0});
    std::atomic<int> refused{0};
    on_threads(thread_count, [&](int index) {
        for (std::size_t i = 0; i != 100; ++i) {
            try {
                f(shapes[(i * 7 + static_cast<std::size_t>(index)) % shape_count]);
            } catch (calque::retrace_error const&) {
                ++refused;
            }
        }
    });
    CHECK(f.trace_count() <= 20);
    CHECK(refused > 0);
}

TEST_CASE("functions end while the threads that called them go on and end") {
    std::vector<vector> const shapes = all_shapes();
    std::atomic<int> wrong{0};
    for (int round = 0; round != 50; ++round) {
        auto const shared = calque::function(total, function_options{.name = "shared", .warn_after = 0});
        on_threads(thread_count, [&, copy = shared](int index) {
            auto own = std::make_unique<calque::traced_function<std::remove_const_t<decltype(total)>>>(
                function_options{.name = "own", .capacity = 2, .warn_after = 0});
            for (std::size_t i = 0; i != 30; ++i) {
                std::size_t const n = (i + static_cast<std::size_t>(index)) % 5;
                wrong += (*own)(shapes[n]) == static_cast<float>(n + 1) ? 0 : 1;
                wrong += copy(shapes[n]) == static_cast<float>(n + 1) ? 0 : 1;
            }
            own.reset();
            wrong += copy(shapes[0]) == 1.f ? 0 : 1;
        });
        wrong += shared.trace_count() == 5 ? 0 : 1;
    }
    CHECK(wrong == 0);
}
