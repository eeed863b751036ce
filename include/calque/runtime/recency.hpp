// SPDX-License-Identifier: MIT
// Which entry of a cache has gone unused for longest.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace calque {
inline namespace v0 {
namespace detail {

/// Entries by the time of their last use, `used`, which readers set without telling this queue.
///
/// A binary heap that is out of date: it is ordered by the times it knew when an entry was filed. As times only grow,
/// an entry at the front whose time is still the known one is the oldest; any other is filed again. So a use costs a
/// store when it happens, and at most one re-filing when something has to go.
template <class Entry>
class recency_queue {
public:
    std::size_t size() const { return heap_.size(); }

    /// Makes room, so that the next `push` cannot throw.
    void reserve_one() {
        if (heap_.size() == heap_.capacity()) {
            heap_.reserve(heap_.empty() ? 16 : 2 * heap_.size());
        }
    }

    void push(Entry* e) {
        heap_.push_back({e->used.load(std::memory_order_relaxed), e});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    /// Removes and returns the entry whose last use is the longest ago; there must be one.
    Entry* pop_oldest() {
        for (;;) {
            std::pop_heap(heap_.begin(), heap_.end(), later);
            std::uint64_t const used = heap_.back().entry->used.load(std::memory_order_relaxed);
            if (used <= heap_.back().time) {
                Entry* const oldest = heap_.back().entry;
                heap_.pop_back();
                return oldest;
            }
            heap_.back().time = used;
            std::push_heap(heap_.begin(), heap_.end(), later);
        }
    }

    void clear() { heap_.clear(); }

    /// Calls `fn(entry)` for each, in no particular order.
    template <class Fn>
    void for_each(Fn&& fn) const {
        for (filed const& f : heap_) {
            fn(f.entry);
        }
    }

private:
    struct filed {
        std::uint64_t time;
        Entry* entry;
    };

    static bool later(filed const& a, filed const& b) { return a.time > b.time; }

    std::vector<filed> heap_;
};

} // namespace detail
} // namespace v0
} // namespace calque
