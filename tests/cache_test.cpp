// SPDX-License-Identifier: MIT
#include <calque/runtime/cache.hpp>
#include <calque/runtime/key.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <list>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

std::atomic<std::size_t> allocations{0};

} // namespace

// The program counts what it takes from the heap: a hit must take nothing. Weak, because clang's sanitizers bring their
// own; the count then stays 0.
[[gnu::weak]] void* operator new(std::size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* p = std::malloc(bytes)) {
        return p;
    }
    throw std::bad_alloc();
}
[[gnu::weak]] void operator delete(void* p) noexcept {
    std::free(p);
}
[[gnu::weak]] void operator delete(void* p, std::size_t) noexcept {
    std::free(p);
}

namespace {

using calque::cache_key;
using calque::cache_limits;
using calque::plan_cache;
using extent_key = cache_key<1>;

// Keys.

static_assert(cache_key<2>{{3, 4}} == cache_key<2>{{3, 4}});
static_assert(cache_key<2>{{3, 4}} != cache_key<2>{{4, 3}});
static_assert(cache_key<3>{{3, 4, 5}} != cache_key<3>{{3, 4, -5}});
static_assert(cache_key<0>{{1}} == cache_key<0>{{2}}, "the word of an empty key means nothing");
static_assert(cache_key<0>{{1}}.hash() == cache_key<0>{{2}}.hash());

TEST_CASE("the hashes of all small shapes differ, and so do their low bits") {
    std::set<std::uint64_t> hashes;
    std::vector<int> bucket(1024);
    for (std::int64_t i = 0; i != 32; ++i) {
        for (std::int64_t j = 0; j != 32; ++j) {
            for (std::int64_t k = 0; k != 32; ++k) {
                std::uint64_t const h = cache_key<3>{{i, j, k}}.hash();
                hashes.insert(h);
                ++bucket[h % bucket.size()];
            }
        }
    }
    CHECK(hashes.size() == 32 * 32 * 32);
    // 32 are expected in each bucket; with random hashes, 80 in one of 1024 has a probability below 1e-9.
    CHECK(*std::max_element(bucket.begin(), bucket.end()) < 80);
}

TEST_CASE("a key hashes at run time as at compile time") {
    constexpr std::uint64_t expected = cache_key<4>{{1, -2, 784, 0}}.hash();
    cache_key<4> key{{1, -2, 784, 0}};
    CHECK(key.hash() == expected);
    key.words[3] = 1;
    CHECK(key.hash() != expected);
    CHECK(key != cache_key<4>{{1, -2, 784, 0}});
}

// One thread.

/// Knows how many of its kind are alive.
struct counted_plan {
    explicit counted_plan(std::int64_t v) : value(v) { ++alive; }
    counted_plan(counted_plan const&) = delete;
    ~counted_plan() { --alive; }

    std::int64_t value;
    static inline int alive = 0;
};

template <class Cache>
std::int64_t find(Cache& cache, std::int64_t extent) {
    return cache.find_or_make(extent_key{{extent}}, [&] { return counted_plan(10 * extent); }).value;
}

TEST_CASE("the first call of a key is a trace, the others are hits") {
    {
        plan_cache<struct first_tag, extent_key, counted_plan> cache({});
        CHECK(find(cache, 3) == 30);
        CHECK(find(cache, 3) == 30);
        CHECK(find(cache, 4) == 40);
        CHECK(find(cache, 3) == 30);
        CHECK(find(cache, 4) == 40);
        CHECK(cache.trace_count() == 2);
        CHECK(cache.hit_count() == 3);
        CHECK(cache.size() == 2);
        CHECK(cache.eviction_count() == 0);
        CHECK(counted_plan::alive == 2);
    }
    CHECK(counted_plan::alive == 0);
}

TEST_CASE("extents 0 and 1, negative words and the empty key are ordinary keys") {
    plan_cache<struct ordinary_tag, extent_key, counted_plan> cache({});
    for (std::int64_t extent : {0, 1, -1, 0, 1, -1}) {
        CHECK(find(cache, extent) == 10 * extent);
    }
    CHECK(cache.trace_count() == 3);

    plan_cache<struct empty_tag, cache_key<0>, int> single({});
    CHECK(single.find_or_make({{1}}, [] { return 5; }) == 5);
    CHECK(single.find_or_make({{2}}, [] { return 6; }) == 5);
}

TEST_CASE("a hit allocates nothing") {
    plan_cache<struct allocation_tag, extent_key, counted_plan> cache({});
    plan_cache<struct allocation_tag, extent_key, counted_plan> neighbour({});
    for (std::int64_t extent = 0; extent != 100; ++extent) {
        find(cache, extent);
    }
    find(neighbour, 1);
    std::size_t const before = allocations.load();
    std::int64_t sum = 0;
    for (std::int64_t extent = 0; extent != 100; ++extent) {
        sum += find(cache, extent) + find(cache, extent) + find(neighbour, 1);
    }
    CHECK(allocations.load() == before);
    CHECK(sum == 20 * 4950 + 1000);
}

TEST_CASE("what a maker throws reaches the caller, and nothing is kept") {
    plan_cache<struct throwing_tag, extent_key, counted_plan> cache({});
    find(cache, 1);
    auto const fail = []() -> counted_plan { throw std::runtime_error("no such plan"); };
    CHECK_THROWS_WITH_AS(cache.find_or_make({{2}}, fail), "no such plan", std::runtime_error);
    CHECK(cache.size() == 1);
    CHECK(cache.trace_count() == 1);
    CHECK_FALSE(cache.contains({{2}}));
    CHECK(find(cache, 1) == 10);
    CHECK(find(cache, 2) == 20);
    CHECK(cache.hit_count() == 1);
}

// Least recently used.

TEST_CASE("the least recently used plan goes first, and hits count as use") {
    plan_cache<struct lru_tag, extent_key, counted_plan> cache({.capacity = 3});
    for (std::int64_t extent : {1, 2, 3}) {
        find(cache, extent);
    }
    find(cache, 2); // through the table
    find(cache, 1);
    find(cache, 1); // through the line
    find(cache, 4); // 3 goes
    CHECK_FALSE(cache.contains({{3}}));
    CHECK(cache.contains({{1}}));
    CHECK(cache.contains({{2}}));
    find(cache, 5); // 2 goes
    CHECK_FALSE(cache.contains({{2}}));
    CHECK(cache.size() == 3);
    CHECK(cache.eviction_count() == 2);
    CHECK(counted_plan::alive == 3);
}

/// A key whose hashes nearly all collide, and some of which look like the marks of empty slots.
struct poor_key {
    std::int64_t extent;

    bool operator==(poor_key const&) const = default;
    std::uint64_t hash() const { return static_cast<std::uint64_t>(extent % 3); }
};

template <class Key, class Tag>
void compare_with_a_plain_list(std::size_t capacity, std::int64_t keys) {
    plan_cache<Tag, Key, std::int64_t> cache({.capacity = capacity});
    std::list<std::int64_t> model; // most recent first
    std::uint64_t traces = 0;
    std::minstd_rand random(42);
    for (int i = 0; i != 20'000; ++i) {
        std::int64_t const extent = static_cast<std::int64_t>(random()) % keys;
        auto const found = std::find(model.begin(), model.end(), extent);
        if (found != model.end()) {
            model.erase(found);
        } else {
            ++traces;
            if (model.size() == capacity) {
                model.pop_back();
            }
        }
        model.push_front(extent);
        REQUIRE(cache.find_or_make(Key{extent}, [&] { return extent * extent; }) == extent * extent);
        REQUIRE(cache.trace_count() == traces);
    }
    CHECK(cache.hit_count() == 20'000 - traces);
    CHECK(cache.size() == model.size());
    for (std::int64_t extent : model) {
        CHECK(cache.contains(Key{extent}));
    }
}

TEST_CASE("on one thread the order of eviction is exactly that of a list") {
    compare_with_a_plain_list<poor_key, struct poor_model_tag>(7, 10);
    compare_with_a_plain_list<extent_key, struct model_tag>(1, 3);
    compare_with_a_plain_list<extent_key, struct model_tag>(16, 24);
    compare_with_a_plain_list<extent_key, struct model_tag>(100, 120);
}

TEST_CASE("entries that come and go do not use up a table") {
    using entry = calque::detail::cache_entry<poor_key, std::int64_t>;
    calque::detail::slot_table<entry> table(4);
    auto const make = [] { return std::int64_t{0}; };
    entry resident({0}, poor_key{0}.hash(), make);
    table.insert(&resident);
    for (std::int64_t extent = 1; extent != 100; ++extent) {
        entry guest({extent}, poor_key{extent}.hash(), make);
        REQUIRE(table.has_room());
        table.insert(&guest);
        CHECK(table.find(poor_key{extent}, guest.hash) == &guest);
        table.erase(&guest);
        CHECK(table.find(poor_key{extent}, guest.hash) == nullptr);
        CHECK(table.find(poor_key{0}, resident.hash) == &resident);
    }
}

TEST_CASE("capacity 0 is unbounded") {
    plan_cache<struct unbounded_tag, extent_key, std::int64_t> cache({.capacity = 0});
    for (std::int64_t extent = 0; extent != 5000; ++extent) {
        cache.find_or_make({{extent}}, [&] { return extent; });
    }
    for (std::int64_t extent = 0; extent != 5000; ++extent) {
        REQUIRE(cache.find_or_make({{extent}}, [] { return std::int64_t{-1}; }) == extent);
    }
    CHECK(cache.size() == 5000);
    CHECK(cache.hit_count() == 5000);
}

struct sized_plan {
    std::size_t size;

    std::size_t bytes() const { return size; }
};

TEST_CASE("the bytes of plans are bounded too") {
    plan_cache<struct bytes_tag, extent_key, sized_plan> cache({.capacity = 0, .capacity_bytes = 100});
    auto const find_sized = [&](std::int64_t extent, std::size_t bytes) {
        cache.find_or_make({{extent}}, [&] { return sized_plan{bytes}; });
    };
    find_sized(1, 40);
    find_sized(2, 40);
    find_sized(3, 20);
    CHECK(cache.size() == 3);
    find_sized(1, 40);
    find_sized(4, 1); // 2 is the oldest
    CHECK_FALSE(cache.contains({{2}}));
    CHECK(cache.size() == 3);
    find_sized(5, 500); // larger than the limit: it stays alone, for a cache that keeps nothing would trace each call
    CHECK(cache.size() == 1);
    find_sized(5, 500);
    CHECK(cache.hit_count() == 2);
    find_sized(6, 100);
    CHECK(cache.size() == 1);
    CHECK(cache.contains({{6}}));
}

// Looking without calling.

TEST_CASE("peek makes nothing, counts nothing and is no use of the plan") {
    plan_cache<struct peek_tag, extent_key, counted_plan> cache({.capacity = 2});
    find(cache, 1);
    find(cache, 2);
    std::int64_t seen = 0;
    CHECK(cache.peek({{1}}, [&](counted_plan const& p) { seen = p.value; }));
    CHECK(seen == 10);
    CHECK_FALSE(cache.peek({{9}}, [&](counted_plan const&) { seen = -1; }));
    CHECK(seen == 10);
    CHECK(cache.hit_count() == 0);
    find(cache, 3);
    CHECK_FALSE(cache.contains({{1}}));
}

TEST_CASE("for_each shows every plan with its key") {
    plan_cache<struct each_tag, extent_key, counted_plan> cache({.capacity = 3});
    for (std::int64_t extent : {1, 2, 3, 4}) {
        find(cache, extent);
    }
    std::set<std::int64_t> extents;
    cache.for_each([&](extent_key const& key, counted_plan const& plan) {
        CHECK(plan.value == 10 * key.words[0]);
        extents.insert(key.words[0]);
    });
    CHECK(extents == std::set<std::int64_t>{2, 3, 4});
}

TEST_CASE("clear drops the plans and keeps the counts") {
    plan_cache<struct clear_tag, extent_key, counted_plan> cache({});
    for (std::int64_t extent : {1, 2, 2, 1}) {
        find(cache, extent);
    }
    cache.clear();
    CHECK(cache.size() == 0);
    CHECK(cache.trace_count() == 2);
    CHECK(cache.hit_count() == 2);
    CHECK(cache.eviction_count() == 0);
    CHECK(counted_plan::alive == 1); // the one that this thread may still be using
    find(cache, 1);                  // not from the thread's line
    CHECK(cache.trace_count() == 3);
    cache.clear();
    cache.clear();
    CHECK(counted_plan::alive == 1);
}

// Lifetimes.

TEST_CASE("a plan lives until the thread's next find, though another thread evicts it") {
    plan_cache<struct hazard_tag, extent_key, counted_plan> cache({.capacity = 1});
    auto const make = [] { return counted_plan(1); };
    auto const in_another_thread = [&](std::int64_t extent) {
        std::thread([&, extent] { find(cache, extent); }).join();
    };
    counted_plan const& plan = cache.find_or_make({{1}}, make);
    in_another_thread(2);
    in_another_thread(3);
    CHECK_FALSE(cache.contains({{1}}));
    CHECK(plan.value == 1);
    CHECK(counted_plan::alive == 2);
    find(cache, 4);
    find(cache, 5);
    CHECK(counted_plan::alive == 1);

    SUBCASE("a lease keeps it for longer") {
        std::unique_ptr<calque::plan_lease> lease;
        counted_plan const& kept = cache.find_or_make({{5}}, make);
        lease = std::make_unique<calque::plan_lease>(cache.keep());
        find(cache, 6);
        find(cache, 7);
        find(cache, 8);
        CHECK(kept.value == 50);
        CHECK(counted_plan::alive == 2);
        lease.reset();
        find(cache, 9);
        find(cache, 10);
        find(cache, 11);
        CHECK(counted_plan::alive == 1);
    }
}

TEST_CASE("a cache at the address of a destroyed one starts empty") {
    using cache_type = plan_cache<struct reborn_tag, extent_key, std::int64_t>;
    alignas(cache_type) std::byte storage[sizeof(cache_type)];
    for (std::int64_t life = 0; life != 20; ++life) {
        auto* cache = new (storage) cache_type(cache_limits{});
        CHECK(cache->find_or_make({{1}}, [&] { return life; }) == life);
        CHECK(cache->find_or_make({{1}}, [] { return std::int64_t{-1}; }) == life);
        CHECK(cache->hit_count() == 1);
        cache->~cache_type();
    }
}

TEST_CASE("caches of one type count apart, however many take turns") {
    using cache_type = plan_cache<struct turns_tag, extent_key, std::int64_t>;
    std::vector<std::unique_ptr<cache_type>> caches;
    for (int i = 0; i != 20; ++i) {
        caches.push_back(std::make_unique<cache_type>(cache_limits{}));
    }
    for (std::int64_t round = 0; round != 5; ++round) {
        for (std::size_t i = 0; i != caches.size(); ++i) {
            for (std::size_t call = 0; call <= i; ++call) {
                auto const own = static_cast<std::int64_t>(i);
                REQUIRE(caches[i]->find_or_make({{1}}, [&] { return own; }) == own);
            }
        }
        caches[3].reset(); // its hits are forgotten with it
        caches[3] = std::make_unique<cache_type>(cache_limits{});
    }
    for (std::size_t i = 0; i != caches.size(); ++i) {
        CHECK(caches[i]->hit_count() == (i == 3 ? 0 : 5 * (i + 1) - 1));
    }
}

// Calls inside makers.

TEST_CASE("a maker may call the function that it is made for") {
    using cache_type = plan_cache<struct recursive_tag, extent_key, std::int64_t>;
    for (std::size_t capacity = 0; capacity != 3;
         ++capacity) { // with 1, every plan is evicted before the next one is ready
        cache_type cache({.capacity = capacity});
        std::function<std::int64_t(std::int64_t)> const fibonacci = [&](std::int64_t n) -> std::int64_t {
            return cache.find_or_make({{n}}, [&] { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); });
        };
        CHECK(fibonacci(12) == 144);
        CHECK(fibonacci(12) == 144);
    }
}

TEST_CASE("a maker that calls its own key ends with one plan") {
    plan_cache<struct own_key_tag, extent_key, counted_plan> cache({});
    auto const& plan = cache.find_or_make({{1}}, [&] {
        CHECK(cache.find_or_make({{1}}, [] { return counted_plan(1); }).value == 1);
        return counted_plan(2);
    });
    CHECK(plan.value == 1); // the one that was published first
    CHECK(cache.size() == 1);
    CHECK(cache.trace_count() == 1);
    CHECK(cache.hit_count() == 1);
    CHECK(counted_plan::alive == 1);
}

TEST_CASE("a plan that was found ready after making it in vain is protected as well") {
    plan_cache<struct in_vain_tag, extent_key, counted_plan> cache({});
    auto const& plan = cache.find_or_make({{1}}, [&] {
        find(cache, 1);
        find(cache, 2); // the thread's hazard pointer moves away from the plan of 1
        return counted_plan(-1);
    });
    cache.clear();
    CHECK(counted_plan::alive == 1);
    CHECK(plan.value == 10);
}

TEST_CASE("a maker may call, and destroy, other functions of the same type") {
    using cache_type = plan_cache<struct neighbours_tag, extent_key, counted_plan>;
    cache_type outer({.capacity = 1});
    find(outer, 1);
    auto const& plan = outer.find_or_make({{2}}, [&] {
        cache_type inner({});
        find(inner, 2);
        find(outer, 1);
        return counted_plan(2 + find(inner, 2));
    });
    CHECK(plan.value == 22);
    CHECK(outer.find_or_make({{2}}, [] { return counted_plan(-1); }).value == 22);
    CHECK(outer.hit_count() == 2);
}

TEST_CASE("after a maker has thrown, a call inside it included, the line is right") {
    plan_cache<struct unwound_tag, extent_key, counted_plan> cache({.capacity = 1});
    find(cache, 1);
    CHECK_THROWS_AS(cache.find_or_make({{2}},
                                       [&]() -> counted_plan {
                                           find(cache, 3);
                                           throw std::runtime_error("late");
                                       }),
                    std::runtime_error);
    CHECK(find(cache, 3) == 30);
    CHECK(cache.hit_count() == 1);
    CHECK(find(cache, 1) == 10);
    CHECK(cache.trace_count() == 3);
}

// Threads that come and go.

TEST_CASE("the hits of a thread that has ended count") {
    plan_cache<struct ended_tag, extent_key, std::int64_t> cache({});
    for (int i = 0; i != 100; ++i) {
        std::thread([&] {
            for (int call = 0; call != 7; ++call) {
                cache.find_or_make({{call % 2}}, [] { return std::int64_t{0}; });
            }
        }).join();
    }
    CHECK(cache.trace_count() == 2);
    CHECK(cache.hit_count() == 698);
}

TEST_CASE("a thread takes over the record of one that has ended") {
    static constinit calque::detail::thread_records records;
    static constinit thread_local calque::detail::thread_line line;
    std::set<calque::detail::thread_record*> seen;
    for (int i = 0; i != 10; ++i) {
        std::thread([&] { seen.insert(&records.enter(line)); }).join();
    }
    CHECK(seen.size() == 1);
}

TEST_CASE("a thread may end after the cache, and a cache after the thread's last record") {
    using cache_type = plan_cache<struct outlived_tag, extent_key, counted_plan>;
    auto cache = std::make_unique<cache_type>(cache_limits{});
    std::atomic<int> step{0};
    std::thread survivor([&] {
        find(*cache, 1);
        step.store(1);
        step.notify_all();
        step.wait(1);
    });
    step.wait(0);
    cache.reset();
    CHECK(counted_plan::alive == 0);
    step.store(2);
    step.notify_all();
    survivor.join();
}

/// A key whose comparison lets the world change in the middle of a look-up. All hashes are equal.
struct interrupted_key {
    std::int64_t extent;

    bool operator==(interrupted_key const& other) const {
        if (std::function<void()> const now = std::exchange(interruption, nullptr)) {
            now();
        }
        return extent == other.extent;
    }
    std::uint64_t hash() const { return 0; }

    static inline thread_local std::function<void()> interruption;
};

TEST_CASE("a reader of a table that has been replaced does not find what has been dropped since") {
    plan_cache<struct interrupted_tag, interrupted_key, counted_plan> cache({.capacity = 0});
    auto const make = [] { return counted_plan(1); };
    for (std::int64_t extent : {1, 2, 3}) {
        cache.find_or_make({extent}, make);
    }
    int alive_then = 0;
    cache.find_or_make({2}, make);
    calque::plan_lease const lease = cache.keep(); // if the reader found it, it would find it whole
    cache.find_or_make({3}, make);
    interrupted_key::interruption = [&] { // the first comparison is with the line
        interrupted_key::interruption = [&] {
            std::thread([&] {
                for (std::int64_t extent = 10; extent != 20; ++extent) {
                    cache.find_or_make({extent}, make); // the table grows
                }
                cache.clear();
                alive_then = counted_plan::alive;
            }).join();
        };
    };
    auto const& plan = cache.find_or_make({2}, [] { return counted_plan(2); });
    CHECK(alive_then == 3); // of 1, at which the reader is, of 2, and of the other thread's line
    CHECK(plan.value == 2);
    CHECK(cache.trace_count() == 14);
}

using late_cache = plan_cache<struct late_tag, extent_key, counted_plan>;

/// Calls from the destructor of a thread-local object that is older than the thread's record.
struct late_caller {
    late_cache* cache = nullptr;

    ~late_caller() {
        if (cache != nullptr) {
            find(*cache, 1);
            find(*cache, 1);
            find(*cache, 2);
        }
    }
};

TEST_CASE("a thread-local destructor may call after the thread has given its record back") {
    late_cache cache({.capacity = 1});
    for (int i = 0; i != 3; ++i) {
        std::thread([&] {
            static thread_local late_caller caller;
            caller.cache = &cache;
            find(cache, 1);
        }).join();
    }
    CHECK(cache.trace_count() + cache.hit_count() == 12);
    CHECK(cache.hit_count() == 6);
}

} // namespace
