// SPDX-License-Identifier: MIT
// The keys whose plans are being made: a second thread that misses on one of them waits instead of making it again.
#pragma once

#include <calque/core/config.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace calque {
inline namespace v0 {
namespace detail {

/// How many plans this thread is making: more than one if a maker calls traced functions.
///
/// A thread that is making a plan never waits for another thread's: two threads that each need the other's plan would
/// wait for ever. It makes the plan itself, and the one that is published first stays.
inline constinit thread_local int plans_in_the_making = 0;

/// The keys in flight of one cache. All but the making itself happens under the cache's lock.
template <class Key>
class in_flight_list {
public:
    /// A key is in flight for as long as this lives. Its end, however it comes about, wakes who waits.
    class scope {
    public:
        scope(in_flight_list& list, std::unique_lock<std::mutex>& lock, Key const& key)
            : list_(list), lock_(lock), key_(key), next_(list.first_) {
            list.first_ = this;
            ++plans_in_the_making;
        }

        ~scope() {
            --plans_in_the_making;
            if (!lock_.owns_lock()) {
                lock_.lock();
            }
            scope** link = &list_.first_;
            while (*link != this) {
                link = &(*link)->next_;
            }
            *link = next_;
            if (list_.waiting_ != 0) {
                list_.wake();
            }
        }

        scope(scope const&) = delete;
        scope& operator=(scope const&) = delete;

    private:
        friend class in_flight_list;

        in_flight_list& list_;
        std::unique_lock<std::mutex>& lock_;
        Key const& key_;
        scope* next_;
    };

    /// Whether the caller has to wait until another thread has made the plan of `key`, or has failed to.
    bool must_wait_for(Key const& key) const {
        if (plans_in_the_making != 0) {
            return false;
        }
        for (scope const* s = first_; s != nullptr; s = s->next_) {
            if (s->key_ == key) {
                return true;
            }
        }
        return false;
    }

    /// Waits until something has landed. (Cold, as `wake` is: waiting on an atomic is some twenty functions of the
    /// standard library's, which optimize into whoever may wait.)
    CALQUE_COLD void wait(std::unique_lock<std::mutex>& lock) {
        std::uint32_t const seen = landings_.load();
        ++waiting_;
        lock.unlock();
        landings_.wait(seen);
        lock.lock();
        --waiting_;
    }

private:
    CALQUE_COLD void wake() {
        landings_.fetch_add(1);
        landings_.notify_all();
    }

    scope* first_ = nullptr;
    int waiting_ = 0;                        // threads
    std::atomic<std::uint32_t> landings_{0}; // changes under the lock; who waits has seen it under the lock
};

} // namespace detail
} // namespace v0
} // namespace calque
