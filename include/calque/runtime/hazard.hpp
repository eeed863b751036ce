// SPDX-License-Identifier: MIT
// What the threads that use a cache show to each other: hazard pointers (what must not be freed yet) and tallies of
// hits.
//
// A hit may not write anything that another thread writes. So each thread has a record of its own; whoever wants to
// free something reads all records, and whoever asks for the number of hits adds them up. Records are linked for ever
// and reused: there are never more of them than there were threads at once.
#pragma once

#include <calque/core/config.hpp>
#include <calque/core/counted_ptr.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace calque {
inline namespace v0 {
namespace detail {

/// Something that readers use without a lock, so that it is freed only when no thread points to it.
struct reclaimable {
    reclaimable() = default;
    reclaimable(reclaimable const&) = delete;
    reclaimable& operator=(reclaimable const&) = delete;
    virtual ~reclaimable() = default;

    reclaimable* next = nullptr;                // in a list of what is to be freed
    mutable std::atomic<std::uint32_t> pins{0}; // uses that outlast the hazard pointer
};

/// A pointer that a thread reads through, for the others to see.
///
/// A reader stores the pointer here and then makes sure that it can still be found; a writer makes it impossible to
/// find and then looks here. All four are sequentially consistent, so at least one of the two sees the other.
using hazard_pointer = std::atomic<reclaimable const*>;

class thread_record;

/// The hits of one cache that no thread counts any more. It outlives the cache for as long as a thread counts for it.
struct hit_total : counted {
    std::uint64_t settled = 0; // guarded by the mutex of the records
    bool used = false;         // the same

    /// The only record that has ever counted for this cache; null if there are several.
    std::atomic<thread_record const*> sole_user{nullptr};
};

/// What a thread shows about its use of one cache. Only that thread writes it, so that counting a hit is a plain load
/// and store; `owner` changes under the mutex of the records.
struct cache_seat {
    counted_ptr<hit_total> owner;
    std::atomic<std::uint64_t> hits{0};
    hazard_pointer plan{nullptr};  // the last that the thread found
    hazard_pointer table{nullptr}; // the last that it searched

    void settle() {
        if (owner.get() != nullptr) {
            owner->settled += hits.load(std::memory_order_relaxed);
            hits.store(0, std::memory_order_relaxed);
        }
    }
};

/// So many caches of one type can take turns on a thread without a lock.
inline constexpr std::size_t seats_per_thread = 8;

/// The beginning of every thread-local line: what a thread's exit has to reset.
struct thread_line {
    std::uint64_t version = 0; // the cache and its state that the line belongs to; 0 is none
    thread_record* record = nullptr;
};

class thread_records;

/// One thread's record for one type of cache. The alignment keeps the threads' counters apart.
class alignas(128) thread_record {
public:
    /// The thread's seat at a cache; the common case is one comparison.
    cache_seat& seat_at(counted_ptr<hit_total> const& cache, std::size_t number) {
        cache_seat& seat = seats_[number];
        if (seat.owner.get() != cache.get()) [[unlikely]] {
            claim(seat, cache);
        }
        return seat;
    }

private:
    friend class thread_records;
    friend struct thread_exit;

    explicit thread_record(thread_records& list) : list_(list) {}

    inline CALQUE_COLD void claim(cache_seat& seat, counted_ptr<hit_total> const& cache);
    inline void release();

    thread_records& list_;
    thread_record* next_ = nullptr; // in the list of all records
    thread_record* next_of_thread_ = nullptr;
    thread_line* line_ = nullptr;
    std::atomic<bool> taken_{true};
    std::array<cache_seat, seats_per_thread> seats_;
};

/// All records for one type of cache.
///
/// A constant-initialised static that needs no destructor: caches are used by threads that outlive `main`, and by the
/// destructors of other statics.
class thread_records {
public:
    constexpr thread_records() = default;

    /// Takes a record for this thread; `line` is reset when the thread ends.
    inline CALQUE_COLD thread_record& enter(thread_line& line);

    /// Whether a thread may be using `p`, which belongs to a cache with this number of seat and can no longer be found.
    bool protects(reclaimable const* p, std::size_t number) const {
        for (thread_record const* r = first_.load(); r != nullptr; r = r->next_) {
            cache_seat const& seat = r->seats_[number];
            if (seat.plan.load() == p || seat.table.load() == p) {
                return true;
            }
        }
        return p->pins.load() != 0; // read last: a pin is made while the hazard pointer holds
    }

    std::uint64_t hits(hit_total const& cache, std::size_t number) const {
        std::lock_guard lock(mutex_);
        std::uint64_t sum = cache.settled;
        for (thread_record const* r = first_.load(); r != nullptr; r = r->next_) {
            cache_seat const& seat = r->seats_[number];
            if (seat.owner.get() == &cache) {
                sum += seat.hits.load(std::memory_order_relaxed);
            }
        }
        return sum;
    }

    /// A number that no state of any cache of this type has had; never 0.
    std::uint64_t next_version() { return versions_.fetch_add(1, std::memory_order_relaxed) + 1; }

    /// The number of a new cache's seats: neighbours do not share one.
    std::size_t next_seat() { return seats_.fetch_add(1, std::memory_order_relaxed) % seats_per_thread; }

private:
    friend class thread_record;

    std::atomic<thread_record*> first_{nullptr};
    std::atomic<std::uint64_t> versions_{0};
    std::atomic<std::size_t> seats_{0};
    mutable std::mutex mutex_; // who counts for whom
};

void thread_record::claim(cache_seat& seat, counted_ptr<hit_total> const& cache) {
    counted_ptr<hit_total> previous; // freed after the lock
    std::lock_guard lock(list_.mutex_);
    seat.settle();
    previous = std::exchange(seat.owner, cache);
    if (!std::exchange(cache->used, true)) {
        cache->sole_user.store(this, std::memory_order_relaxed);
    } else if (cache->sole_user.load(std::memory_order_relaxed) != this) {
        cache->sole_user.store(nullptr, std::memory_order_relaxed);
    }
}

void thread_record::release() {
    {
        std::lock_guard lock(list_.mutex_);
        for (cache_seat& seat : seats_) {
            seat.settle();
            seat.owner = {};
        }
    }
    *line_ = {};
    for (cache_seat& seat : seats_) {
        seat.plan.store(nullptr, std::memory_order_release);
        seat.table.store(nullptr, std::memory_order_release);
    }
    taken_.store(false, std::memory_order_release);
}

/// Gives a thread's records back when the thread ends.
struct thread_exit {
    thread_record* records = nullptr;

    ~thread_exit() {
        ended() = true;
        while (records != nullptr) {
            std::exchange(records, records->next_of_thread_)->release();
        }
    }

    static thread_exit& of_this_thread() {
        static thread_local thread_exit it; // in a function: a program without calls has no code for it
        return it;
    }

    /// From now on nobody gives records back: the destructor of another thread-local object, or of a static one after
    /// `main`, that calls a function keeps its record for ever. That costs some hundred bytes and is correct.
    static bool& ended() {
        static constinit thread_local bool value = false;
        return value;
    }
};

thread_record& thread_records::enter(thread_line& line) {
    thread_record* record = first_.load(std::memory_order_acquire);
    while (record != nullptr && (record->taken_.load(std::memory_order_relaxed) ||
                                 record->taken_.exchange(true, std::memory_order_acquire))) {
        record = record->next_;
    }
    if (record == nullptr) {
        record = new thread_record(*this);
        record->next_ = first_.load(std::memory_order_relaxed);
        while (!first_.compare_exchange_weak(record->next_, record)) {
        }
    }
    record->line_ = &line;
    line.record = record;
    if (!thread_exit::ended()) {
        record->next_of_thread_ = std::exchange(thread_exit::of_this_thread().records, record);
    }
    return *record;
}

/// A chain of things that nobody can reach any more; its end frees them.
class garbage {
public:
    garbage() = default;
    garbage(garbage const&) = delete;
    garbage& operator=(garbage const&) = delete;
    ~garbage() {
        while (first_ != nullptr) {
            delete std::exchange(first_, first_->next);
        }
    }

    void add(reclaimable* p) { p->next = std::exchange(first_, p); }

    /// Gives up what was added last.
    void take_back() { first_ = first_->next; }

private:
    reclaimable* first_ = nullptr;
};

/// What can no longer be found, but may still be in use.
class retired_list {
public:
    retired_list() = default;
    retired_list(retired_list const&) = delete;
    retired_list& operator=(retired_list const&) = delete;
    ~retired_list() {
        while (first_ != nullptr) {
            delete std::exchange(first_, first_->next);
        }
    }

    void add(reclaimable* p) {
        p->next = std::exchange(first_, p);
        ++size_;
    }

    /// Whether a sweep is worth its time: it looks at every thread for each thing that is here.
    ///
    /// A few survivors are looked at whenever something comes in, so that plans are freed at once. Many, which take
    /// many sleeping threads, only when as much has come in: a miss then costs time in proportion to the number of
    /// threads, not to its square.
    bool is_due() const { return size_ > survivors_ + (survivors_ > 16 ? survivors_ : 0); }

    /// Moves what no thread uses to `unused`.
    CALQUE_NOINLINE void sweep(thread_records const& records, std::size_t seat_number, garbage& unused) {
        reclaimable* p = std::exchange(first_, nullptr);
        size_ = 0;
        while (p != nullptr) {
            reclaimable* const current = std::exchange(p, p->next);
            if (records.protects(current, seat_number)) {
                add(current);
            } else {
                unused.add(current);
            }
        }
        survivors_ = size_;
    }

private:
    reclaimable* first_ = nullptr;
    std::size_t size_ = 0;
    std::size_t survivors_ = 0; // of the last sweep
};

} // namespace detail
} // namespace v0
} // namespace calque
