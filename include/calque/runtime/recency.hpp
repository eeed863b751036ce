// SPDX-License-Identifier: MIT
// Which entry of a cache has gone unused for longest.
#pragma once

#include <calque/core/sequence.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace calque {
inline namespace v0 {
namespace detail {

/// Entries by the time of their last use, `used`, which readers set without telling this queue.
///
/// A binary heap that is out of date: it is ordered by the times it knew when an entry was filed. As times only grow,
/// an entry at the front whose time is still the known one is the oldest; any other is filed again. So a use costs a
/// store when it happens, and at most one re-filing when something has to go.
///
/// (Its loops are the standard library's heap, of which g++ makes sixteen functions for each type.)
template <class Entry>
class recency_queue {
public:
    std::size_t size() const { return static_cast<std::size_t>(heap_.size()); }

    /// Makes room, so that the next `push` cannot throw.
    void reserve_one() {
        heap_.push_back({});
        heap_.pop_back();
    }

    void push(Entry* e) {
        heap_.push_back({});
        rise(heap_.size() - 1, {e->used.load(std::memory_order_relaxed), e});
    }

    /// Removes and returns the entry whose last use is the longest ago; there must be one.
    Entry* pop_oldest() {
        for (;;) {
            filed front = heap_[0];
            std::uint64_t const used = front.entry->used.load(std::memory_order_relaxed);
            if (used <= front.time) {
                filed const last = heap_.back();
                heap_.pop_back();
                if (!heap_.empty()) {
                    sink(last);
                }
                return front.entry;
            }
            front.time = used;
            sink(front);
        }
    }

    void clear() { heap_ = {}; }

    /// Calls `fn(entry)` for each, in no particular order.
    template <class Fn>
    void for_each(Fn&& fn) const {
        for (filed const& f : heap_) {
            fn(f.entry);
        }
    }

private:
    struct filed {
        std::uint64_t time = 0;
        Entry* entry = nullptr;
    };

    /// Files `f` at place `i`, which is free, or nearer to the front: before all that are later.
    void rise(int i, filed f) {
        while (i > 0 && heap_[(i - 1) / 2].time > f.time) {
            heap_[i] = heap_[(i - 1) / 2];
            i = (i - 1) / 2;
        }
        heap_[i] = f;
    }

    /// Files `f` instead of the entry at the front.
    CALQUE_NOINLINE void sink(filed f) {
        int i = 0;
        for (int earlier = 1; earlier < heap_.size(); earlier = 2 * i + 1) {
            if (earlier + 1 < heap_.size() && heap_[earlier + 1].time < heap_[earlier].time) {
                ++earlier;
            }
            if (heap_[earlier].time >= f.time) {
                break;
            }
            heap_[i] = heap_[earlier];
            i = earlier;
        }
        heap_[i] = f;
    }

    sequence<filed> heap_;
};

} // namespace detail
} // namespace v0
} // namespace calque
