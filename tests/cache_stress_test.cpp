// SPDX-License-Identifier: MIT
// Threads against each other. Meant to be run under the thread and address sanitizers too; sized for them.
#include <calque/runtime/cache.hpp>
#include <calque/runtime/key.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using calque::cache_limits;
using calque::plan_cache;
using extent_key = calque::cache_key<1>;

/// A plan that spoils itself when it ends, so that a use after that shows without a sanitizer as well.
struct fragile_plan {
    explicit fragile_plan(std::int64_t e) : extent(e), check(~e) { alive.fetch_add(1, std::memory_order_relaxed); }
    fragile_plan(fragile_plan const&) = delete;
    ~fragile_plan() {
        extent = 0;
        check = 0;
        alive.fetch_sub(1, std::memory_order_relaxed);
    }

    bool is_of(std::int64_t e) const { return extent == e && check == ~e; }

    std::int64_t volatile extent;
    std::int64_t volatile check;
    static inline std::atomic<int> alive{0};
};

template <class Tag>
using fragile_cache = plan_cache<Tag, extent_key, fragile_plan>;

template <class Cache>
fragile_plan const& find(Cache& cache, std::int64_t extent) {
    return cache.find_or_make(extent_key{{extent}}, [&] { return fragile_plan(extent); });
}

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

constexpr int thread_count = 8;

TEST_CASE("a million calls of a thousand keys on eight threads, with evictions, clears and other caches in between") {
    constexpr int calls = 1'000'000 / thread_count;
    struct tag;
    fragile_cache<tag> cache({.capacity = 16});
    std::atomic<int> wrong{0};
    on_threads(thread_count, [&](int index) {
        std::minstd_rand random(static_cast<unsigned>(index) + 1);
        std::optional<fragile_cache<tag>> own;
        for (int i = 0; i != calls; ++i) {
            // Four calls in five are of eight popular keys, half of these of one: all three levels are met.
            auto const dice = random();
            bool const is_popular = dice % 5 != 0;
            bool const is_repeated = i / 3 % 2 == 0;
            auto const extent = static_cast<std::int64_t>(!is_popular   ? random() % 1000
                                                          : is_repeated ? 0
                                                                        : dice / 5 % 8);
            if (!find(cache, extent).is_of(extent)) {
                ++wrong;
            }
            if (i % 1000 == 0) {
                own.emplace(cache_limits{.capacity = 2});
            }
            if (i % 50 == 0 && !find(*own, extent).is_of(extent)) {
                ++wrong;
            }
            if (i % 5000 == 4999) {
                cache.clear();
            }
        }
    });
    CHECK(wrong == 0);
    CHECK(cache.trace_count() + cache.hit_count() == static_cast<std::uint64_t>(calls) * thread_count);
    CHECK(cache.hit_count() > cache.trace_count());
    CHECK(cache.eviction_count() > 10'000);
    CHECK(cache.size() <= 16);
    // All threads have ended: what they protected goes with the next plan.
    cache.clear();
    CHECK(fragile_plan::alive == 0);
}

TEST_CASE("threads that miss on one key at once make one plan") {
    constexpr int rounds = 200;
    fragile_cache<struct once_tag> cache({.capacity = 0});
    std::atomic<int> made{0};
    std::atomic<int> wrong{0};
    std::barrier start(thread_count);
    on_threads(thread_count, [&](int) {
        for (std::int64_t round = 0; round != rounds; ++round) {
            start.arrive_and_wait();
            auto const& plan = cache.find_or_make(extent_key{{round}}, [&] {
                ++made;
                std::this_thread::sleep_for(std::chrono::microseconds(200));
                return fragile_plan(round);
            });
            wrong += plan.is_of(round) ? 0 : 1;
        }
    });
    CHECK(wrong == 0);
    CHECK(made == rounds);
    CHECK(cache.trace_count() == rounds);
    CHECK(cache.hit_count() == rounds * (thread_count - 1));
}

TEST_CASE("when a maker throws, its caller gets the exception and a waiting thread tries for itself") {
    constexpr int rounds = 200;
    fragile_cache<struct failing_tag> cache({});
    std::atomic<int> attempts{0};
    std::atomic<int> failures{0};
    std::barrier start(thread_count);
    on_threads(thread_count, [&](int) {
        for (std::int64_t round = 0; round != rounds; ++round) {
            start.arrive_and_wait();
            try {
                cache.find_or_make(extent_key{{round}}, [&]() -> fragile_plan {
                    if (++attempts % 3 != 0) { // two makers in three
                        std::this_thread::sleep_for(std::chrono::microseconds(50));
                        throw std::runtime_error("try again");
                    }
                    return fragile_plan(round);
                });
            } catch (std::runtime_error const&) {
                ++failures;
            }
        }
    });
    CHECK(attempts == 3 * rounds); // the third of each round succeeds
    CHECK(failures == 2 * rounds);
    CHECK(cache.trace_count() == rounds);
    CHECK(cache.hit_count() == rounds * (thread_count - 3));
}

TEST_CASE("a miss holds up neither hits nor misses of other keys") {
    fragile_cache<struct slow_miss_tag> cache({});
    find(cache, 1);
    std::atomic<bool> is_making{false};
    std::atomic<bool> others_done{false};
    std::thread slow([&] {
        cache.find_or_make(extent_key{{2}}, [&] {
            is_making = true;
            is_making.notify_all();
            others_done.wait(false); // for ever, if the others had to wait for us
            return fragile_plan(2);
        });
    });
    is_making.wait(false);
    for (std::int64_t i = 0; i != 100; ++i) {
        CHECK(find(cache, 1).is_of(1));
        CHECK(find(cache, 100 + i).is_of(100 + i));
    }
    others_done = true;
    others_done.notify_all();
    slow.join();
    CHECK(find(cache, 2).is_of(2));
    CHECK(cache.trace_count() == 102);
    CHECK(cache.hit_count() == 101);
}

TEST_CASE("makers that need each other's plans do not wait for each other") {
    fragile_cache<struct crossed_tag> cache({});
    std::barrier both(2);
    std::atomic<int> wrong{0};
    on_threads(2, [&](int index) {
        std::int64_t const mine = index + 1;
        std::int64_t const other = 2 - index;
        auto const& plan = cache.find_or_make(extent_key{{mine}}, [&] {
            both.arrive_and_wait(); // both keys are in flight now
            wrong += find(cache, other).is_of(other) ? 0 : 1;
            return fragile_plan(mine);
        });
        wrong += plan.is_of(mine) ? 0 : 1;
    });
    CHECK(wrong == 0);
    CHECK(cache.size() == 2);
    CHECK(cache.trace_count() + cache.hit_count() == 4);
}

TEST_CASE("threads by the thousand reuse records, and every hit is counted") {
    constexpr int waves = 150;
    constexpr int calls = 20;
    struct tag;
    fragile_cache<tag> cache({.capacity = 4});
    std::atomic<int> wrong{0};
    for (int wave = 0; wave != waves; ++wave) {
        on_threads(thread_count, [&](int index) {
            fragile_cache<tag> own({.capacity = 1}); // destroyed while other threads end
            for (std::int64_t i = 0; i != calls; ++i) {
                std::int64_t const extent = (index + i) / 3 % 8;
                wrong += find(cache, extent).is_of(extent) ? 0 : 1;
                wrong += find(own, extent % 2).is_of(extent % 2) ? 0 : 1;
            }
            wrong += own.trace_count() + own.hit_count() == calls ? 0 : 1;
        });
        if (wave % 10 == 9) {
            std::uint64_t const all = static_cast<std::uint64_t>(wave + 1) * thread_count * calls;
            CHECK(cache.trace_count() + cache.hit_count() == all);
        }
    }
    CHECK(wrong == 0);
    cache.clear();
    CHECK(fragile_plan::alive == 0);
}

TEST_CASE("caches are destroyed while the threads that used them go on and end") {
    struct tag;
    constexpr int rounds = 300;
    std::array<std::unique_ptr<fragile_cache<tag>>, 12> caches; // more than a thread has seats
    std::atomic<int> wrong{0};
    std::barrier step(thread_count, [&]() noexcept { // one thread, while the others stand still
        static int round = 0;
        auto& next = caches[static_cast<std::size_t>(round++) % caches.size()];
        if (next != nullptr && next->trace_count() + next->hit_count() != 12 * thread_count * 4) {
            ++wrong;
        }
        next = std::make_unique<fragile_cache<tag>>(cache_limits{.capacity = 2});
    });
    on_threads(thread_count, [&](int index) {
        for (int round = 0; round != rounds; ++round) {
            step.arrive_and_wait();
            for (auto& cache : caches) {
                for (std::int64_t i = 0; cache != nullptr && i != 4; ++i) {
                    std::int64_t const extent = (index + i / 2 + round) % 3;
                    wrong += find(*cache, extent).is_of(extent) ? 0 : 1;
                }
            }
        }
    });
    CHECK(wrong == 0);
    for (auto& cache : caches) {
        cache.reset();
    }
    CHECK(fragile_plan::alive == 0);
}

TEST_CASE("a plan that is in use outlives eviction, clears and a thousand misses of other threads") {
    fragile_cache<struct in_use_tag> cache({.capacity = 2});
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0};
    on_threads(4, [&](int index) {
        if (index == 0) {
            for (std::int64_t i = 0; i != 4000; ++i) {
                find(cache, 10 + i % 7);
                if (i % 100 == 0) {
                    cache.clear();
                }
            }
            done = true;
            return;
        }
        while (!done) {
            fragile_plan const& plan = find(cache, index);
            std::unique_ptr<calque::plan_lease> lease;
            if (index == 3) { // as if the run of the plan called the function again
                lease = std::make_unique<calque::plan_lease>(cache.keep());
                find(cache, 4);
                find(cache, 5);
            }
            for (int use = 0; use != 50; ++use) {
                wrong += plan.is_of(index) ? 0 : 1;
            }
        }
    });
    CHECK(wrong == 0);
    cache.clear();
    CHECK(fragile_plan::alive == 0);
}

TEST_CASE("counts, sizes, peeks and walks may be taken while others call") {
    fragile_cache<struct observed_tag> cache({.capacity = 8});
    std::atomic<int> callers{3};
    std::atomic<int> wrong{0};
    on_threads(4, [&](int index) {
        if (index != 3) {
            for (std::int64_t i = 0; i != 5000; ++i) {
                std::int64_t const extent = (i * (index + 1)) % 12;
                wrong += find(cache, extent).is_of(extent) ? 0 : 1;
            }
            --callers;
            return;
        }
        std::uint64_t traces = 0;
        while (callers != 0) {
            std::uint64_t const now = cache.trace_count();
            wrong += now >= traces && cache.size() <= 8 && cache.hit_count() <= 15'000 ? 0 : 1;
            traces = now;
            cache.peek({{3}}, [&](fragile_plan const& plan) { wrong += plan.is_of(3) ? 0 : 1; });
            cache.for_each(
                [&](extent_key const& key, fragile_plan const& plan) { wrong += plan.is_of(key.words[0]) ? 0 : 1; });
        }
    });
    CHECK(wrong == 0);
    CHECK(cache.trace_count() + cache.hit_count() == 15'000);
}

TEST_CASE("a plan that only its thread's line uses stays, however many misses others have") {
    fragile_cache<struct hot_tag> cache({.capacity = 4});
    std::barrier turn(2);
    constexpr int rounds = 500;
    int kept = 0; // of the second thread
    on_threads(2, [&](int index) {
        for (std::int64_t round = 0; round != rounds; ++round) {
            if (index == 0) {
                find(cache, -1);
            }
            turn.arrive_and_wait();
            if (index == 1) {
                find(cache, round);
                find(cache, round + rounds);
                kept += cache.contains({{-1}}) ? 1 : 0;
            }
            turn.arrive_and_wait();
        }
    });
    CHECK(kept == rounds);
    CHECK(cache.trace_count() == 1 + 2 * rounds);
    CHECK(cache.hit_count() == rounds - 1);
}

} // namespace
