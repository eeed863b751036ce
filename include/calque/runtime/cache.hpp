// SPDX-License-Identifier: MIT
// The cache behind a call: from a key to its plan. It knows nothing of graphs.
//
// Three levels, from hot to cold:
//  1. A thread-local line holds the plan that the thread used last. A hit compares two things, the cache's version and
//     the key, and counts. It writes nothing that another thread reads often, and no lock, fence or allocation is near.
//  2. A hash table, read without a lock; a hazard pointer protects the plan that was found. Every miss of any thread
//     gives the cache a new version, so each thread comes by here once and says that its plan is in use.
//  3. A miss makes the plan outside the lock and publishes it under the lock, which only misses take.
#pragma once

#include <calque/core/config.hpp>
#include <calque/runtime/cache_entry.hpp>
#include <calque/runtime/hazard.hpp>
#include <calque/runtime/in_flight.hpp>
#include <calque/runtime/recency.hpp>
#include <calque/runtime/slot_table.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace calque {
inline namespace v0 {

/// How much a cache keeps. The plan that was least recently used goes first.
struct cache_limits {
    std::size_t capacity = 256;     ///< plans; 0 is unbounded
    std::size_t capacity_bytes = 0; ///< the sum of `plan.bytes()`, where plans have it; 0 is unbounded
};

/// Plans by key.
///
/// `Tag`: a type for each traced function type and its specs; the thread-local line belongs to it. `Key`: trivially
/// copyable, with `==` and `hash()`. All members may be called by several threads at once; only the destructor needs
/// that nobody is inside a call any more.
template <class Tag, class Key, class Plan>
class plan_cache {
    using keyed_entry = detail::keyed_entry<Key>;
    using entry = detail::cache_entry<Key, Plan>;
    using line = detail::cache_line<Key, Plan>;
    using table = detail::slot_table<keyed_entry>;

public:
    explicit plan_cache(cache_limits limits)
        : version_(records_.next_version()), table_(new table(0)), limits_(limits) {}

    plan_cache(plan_cache const&) = delete;
    plan_cache& operator=(plan_cache const&) = delete;

    ~plan_cache() {
        by_age_.for_each([](keyed_entry* e) { delete e; });
        delete table_.load(std::memory_order_relaxed);
    }

    /// The plan of `key`; `make()` returns it if there is none.
    ///
    /// Threads that miss on one key at once make one plan; the others wait. What `make()` throws reaches its caller,
    /// nothing is kept, and a thread that waited tries for itself. `make()` may call traced functions, this one too.
    ///
    /// The reference is valid until this thread's next find through a cache of the same type, even if the plan is
    /// evicted meanwhile; `keep()` makes that longer.
    template <class Make>
    CALQUE_INLINE Plan const& find_or_make(Key const& key, Make&& make) {
        line& here = line_;
        if (here.version == version_.load(std::memory_order_acquire) && here.key == key) [[likely]] {
            count_hit(*here.seat);
            return *here.plan;
        }
        return find_elsewhere(key, make);
    }

    /// Keeps the plan that this thread's last find returned. For a plan whose run may call the same function again on
    /// the same thread: a task scheduler does that when it steals work while it waits.
    [[nodiscard]] plan_lease keep() const { return plan_lease(*line_.entry); }

    /// Calls `fn(plan)` if there is a plan of `key`, and says so. Makes nothing, counts nothing, and is no use of the
    /// plan. `fn` runs under the lock that misses take: it must not call this function.
    template <class Fn>
    bool peek(Key const& key, Fn&& fn) const {
        std::lock_guard lock(mutex_);
        keyed_entry const* e = locked_table().find(key, key.hash());
        if (e == nullptr) {
            return false;
        }
        fn(plan_of(*e));
        return true;
    }

    bool contains(Key const& key) const {
        return peek(key, [](Plan const&) {});
    }

    /// Calls `fn(key, plan)` for each plan, in no particular order, under the lock that misses take.
    template <class Fn>
    void for_each(Fn&& fn) const {
        std::lock_guard lock(mutex_);
        by_age_.for_each([&](keyed_entry const* e) { fn(e->key, plan_of(*e)); });
    }

    /// Plans that were made and kept. Every find that returned is a trace or a hit.
    std::uint64_t trace_count() const { return traces_.load(std::memory_order_relaxed); }

    /// Exact when no other thread is inside a call.
    std::uint64_t hit_count() const { return records_.hits(*total_, seat_number_); }

    std::uint64_t eviction_count() const { return evictions_.load(std::memory_order_relaxed); }
    std::size_t size() const { return size_.load(std::memory_order_relaxed); }

    /// Drops all plans; the counts stay. A plan that is being made meanwhile is kept when it is ready.
    CALQUE_COLD void clear() {
        detail::garbage unused; // freed after the lock is
        std::lock_guard lock(mutex_);
        locked_table().erase_all();
        by_age_.for_each([&](keyed_entry* e) { retired_.add(e); });
        by_age_.clear();
        bytes_ = 0;
        size_.store(0, std::memory_order_relaxed);
        change_version();
        retired_.sweep(records_, seat_number_, unused);
    }

private:
    static Plan const& plan_of(keyed_entry const& e) { return static_cast<entry const&>(e).plan; }

    static void count_hit(detail::cache_seat& seat) {
        seat.hits.store(seat.hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    /// The levels below the line.
    template <class Make>
    CALQUE_NOINLINE Plan const& find_elsewhere(Key const& key, Make& make) {
        std::uint64_t const hash = key.hash();
        if (Plan const* plan = find_in_table(key, hash)) [[likely]] {
            return *plan;
        }
        return find_by_making(key, hash, make);
    }

    /// The second level.
    Plan const* find_in_table(Key const& key, std::uint64_t hash) {
        line& here = line_;
        detail::thread_record& me = here.record != nullptr ? *here.record : records_.enter(here);
        here.version = 0; // the hazard pointer is about to leave the plan of the line
        detail::cache_seat& seat = me.seat_at(total_, seat_number_);
        // Read first: if it changes meanwhile, the line is out of date at once, and that is right.
        std::uint64_t const version = version_.load(std::memory_order_acquire);
        for (table const* t = table_.load();;) {
            if (seat.table.load(std::memory_order_relaxed) != t) {
                seat.table.store(t);
            }
            if (table const* now = table_.load(); now != t) {
                t = now;
                continue;
            }
            if (keyed_entry* e = t->find(key, hash, seat.plan)) {
                use(*e, me);
                count_hit(seat);
                return &point_line_at(*e, seat, version);
            }
            table const* const now = table_.load();
            if (now == t) {
                return nullptr;
            }
            t = now;
        }
    }

    /// The third level.
    template <class Make>
    CALQUE_NOINLINE Plan const& find_by_making(Key const& key, std::uint64_t hash, Make& make) {
        detail::garbage unused; // freed after the lock is
        std::unique_lock lock(mutex_);
        for (;;) {
            if (keyed_entry* e = locked_table().find(key, hash)) {
                return hit_under_lock(*e);
            }
            if (!in_flight_.must_wait_for(key)) {
                break;
            }
            in_flight_.wait(lock);
        }
        typename detail::in_flight_list<Key>::scope in_flight(in_flight_, lock, key);
        std::uint64_t const traces_before = trace_count();
        lock.unlock();
        entry& fresh = *new entry(key, hash, make);
        unused.add(&fresh); // until it is published
        lock.lock();
        if (trace_count() != traces_before) {
            if (keyed_entry* e = locked_table().find(key, hash)) { // made by a call inside `make`, or beside one
                return hit_under_lock(*e);
            }
        }
        make_room_for(fresh);
        unused.take_back();
        publish(fresh);
        detail::cache_seat& seat = line_.record->seat_at(total_, seat_number_);
        seat.plan.store(&fresh); // no longer the plan of the line, which may just have been evicted
        if (retired_.is_due()) {
            retired_.sweep(records_, seat_number_, unused);
        }
        return point_line_at(fresh, seat, version_.load(std::memory_order_relaxed));
    }

    // From here on: under the lock, but for `use` and `point_line_at`.

    CALQUE_NOINLINE Plan const& hit_under_lock(keyed_entry& e) {
        detail::thread_record& me = *line_.record;
        detail::cache_seat& seat = me.seat_at(total_, seat_number_);
        seat.plan.store(&e); // nothing is freed without the lock, so the entry needs no second look
        use(e, me);
        count_hit(seat);
        return point_line_at(e, seat, version_.load(std::memory_order_relaxed));
    }

    /// Allocates, so that publishing cannot throw.
    CALQUE_NOINLINE void make_room_for(keyed_entry const& fresh) {
        while (by_age_.size() != 0 && is_full_with(fresh.bytes)) {
            keyed_entry* const oldest = by_age_.pop_oldest();
            locked_table().erase(oldest);
            bytes_ -= oldest->bytes;
            retired_.add(oldest);
            evictions_.store(evictions_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        }
        by_age_.reserve_one();
        if (!locked_table().has_room()) {
            replace_table();
        }
    }

    CALQUE_NOINLINE void publish(keyed_entry& fresh) {
        last_miss_ = std::max(last_miss_, clock_.load(std::memory_order_relaxed)) + 1;
        clock_.store(last_miss_ + 1, std::memory_order_relaxed); // a hit from now on is later than this
        fresh.used.store(last_miss_, std::memory_order_relaxed);
        locked_table().insert(&fresh);
        by_age_.push(&fresh);
        bytes_ += fresh.bytes;
        size_.store(by_age_.size(), std::memory_order_relaxed);
        traces_.store(traces_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        change_version();
    }

    bool is_full_with(std::size_t more_bytes) const {
        return (limits_.capacity != 0 && by_age_.size() >= limits_.capacity) ||
               (limits_.capacity_bytes != 0 && bytes_ + more_bytes > limits_.capacity_bytes);
    }

    CALQUE_COLD void replace_table() {
        table* const larger = new table(by_age_.size() + 1);
        by_age_.for_each([&](keyed_entry* e) { larger->insert(e); });
        table* const old = table_.exchange(larger);
        old->erase_all(); // who still reads it must not find what is evicted from the new one
        retired_.add(old);
    }

    table& locked_table() const { return *table_.load(std::memory_order_relaxed); }

    /// After what readers find has changed: whoever sees the new version sees the change.
    void change_version() { version_.store(records_.next_version(), std::memory_order_release); }

    /// Notes that an entry is in use.
    ///
    /// While one thread has the cache to itself, every change from one plan to another ticks the clock, and the order
    /// of uses is exact. Between several threads the clock ticks at misses only, so that hits do not fight over it:
    /// uses between the same two misses count as simultaneous.
    void use(keyed_entry& e, detail::thread_record const& me) {
        std::uint64_t now = clock_.load(std::memory_order_relaxed);
        if (total_->sole_user.load(std::memory_order_relaxed) == &me) {
            clock_.store(++now, std::memory_order_relaxed);
        }
        if (e.used.load(std::memory_order_relaxed) != now) {
            e.used.store(now, std::memory_order_relaxed);
        }
    }

    static Plan const& point_line_at(keyed_entry const& e, detail::cache_seat& seat, std::uint64_t version) {
        line& here = line_;
        here.version = version;
        here.key = e.key;
        here.plan = &plan_of(e);
        here.seat = &seat;
        here.entry = &e;
        return *here.plan;
    }

    static constinit inline thread_local line line_{};
    static constinit inline detail::thread_records records_{};

    // What hits read.
    std::atomic<std::uint64_t> version_;
    std::atomic<table*> table_;
    counted_ptr<detail::hit_total> const total_{new detail::hit_total};
    std::size_t const seat_number_ = records_.next_seat();
    std::atomic<std::uint64_t> clock_{0};

    // What misses change, under the lock.
    alignas(64) mutable std::mutex mutex_;
    cache_limits const limits_;
    detail::in_flight_list<Key> in_flight_;
    detail::recency_queue<keyed_entry> by_age_; // owns the entries
    detail::retired_list retired_;
    std::size_t bytes_ = 0;
    std::uint64_t last_miss_ = 0; // the clock never falls behind it, whatever a racing `use` stores
    std::atomic<std::uint64_t> traces_{0};
    std::atomic<std::uint64_t> evictions_{0};
    std::atomic<std::size_t> size_{0};
};

} // namespace v0
} // namespace calque
