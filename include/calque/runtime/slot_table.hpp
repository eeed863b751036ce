// SPDX-License-Identifier: MIT
// An open-addressed hash table of pointers: one writer at a time, any number of readers, who take no lock.
//
// Entries come and go in place, so that a miss costs the same whether a cache keeps ten plans or ten thousand. An entry
// never moves within a table: a reader that does not find a key that was there all the time is looking at a table that
// has been replaced.
#pragma once

#include <calque/runtime/hazard.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace calque {
inline namespace v0 {
namespace detail {

/// `Entry` is `reclaimable` and has `hash` and `key`.
template <class Entry>
class slot_table final : public reclaimable {
public:
    /// A table for `entries` entries: at most half full with them, so that some can come and go before it is full.
    explicit slot_table(std::size_t entries) {
        std::size_t size = 8;
        while (size < 2 * entries) {
            size *= 2;
        }
        mask_ = size - 1;
        slots_ = new slot[size];
    }

    ~slot_table() override { delete[] slots_; }

    /// A reader's look-up: the entry of `key`, protected by `hazard`, or null.
    ///
    /// Null may be wrong if a writer is at work or has replaced this table. An entry is right in any case: it was in
    /// the table after the hazard pointer was up.
    template <class Key>
    Entry* find(Key const& key, std::uint64_t hash, std::atomic<reclaimable const*>& hazard) const {
        std::uint64_t const tag = tag_of(hash);
        for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
            slot const& s = slots_[i];
            std::uint64_t const seen = s.tag.load(std::memory_order_acquire);
            if (seen == tag) {
                Entry* const e = s.entry.load(std::memory_order_acquire);
                if (e == nullptr) {
                    continue; // it is being removed
                }
                if (hazard.load(std::memory_order_relaxed) != e) {
                    hazard.store(e);
                }
                if (s.entry.load() == e && e->key == key) {
                    return e;
                }
            } else if (seen == empty) {
                return nullptr;
            }
        }
    }

    // The rest is the writer's.

    template <class Key>
    CALQUE_NOINLINE Entry* find(Key const& key, std::uint64_t hash) const {
        std::uint64_t const tag = tag_of(hash);
        for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
            slot const& s = slots_[i];
            std::uint64_t const seen = s.tag.load(std::memory_order_relaxed);
            if (seen == tag) {
                Entry* const e = s.entry.load(std::memory_order_relaxed);
                if (e->key == key) {
                    return e;
                }
            } else if (seen == empty) {
                return nullptr;
            }
        }
    }

    /// Whether another entry leaves a quarter of the slots empty: they end the search for what is not there.
    bool has_room() const { return 4 * (filled_ + 1) <= 3 * (mask_ + 1); }

    /// Adds an entry whose key is not in the table; there must be room.
    void insert(Entry* e) {
        std::size_t i = e->hash & mask_;
        while (slots_[i].entry.load(std::memory_order_relaxed) != nullptr) {
            i = (i + 1) & mask_;
        }
        if (slots_[i].tag.load(std::memory_order_relaxed) == empty) {
            ++filled_;
        }
        slots_[i].entry.store(e, std::memory_order_release);
        slots_[i].tag.store(tag_of(e->hash), std::memory_order_release);
    }

    void erase(Entry* e) {
        std::size_t i = e->hash & mask_;
        while (slots_[i].entry.load(std::memory_order_relaxed) != e) {
            i = (i + 1) & mask_;
        }
        slots_[i].entry.store(nullptr);
        slots_[i].tag.store(erased, std::memory_order_release);
        // An erased slot keeps a search going. Before an empty one there is nothing to go to.
        if (slots_[(i + 1) & mask_].tag.load(std::memory_order_relaxed) == empty) {
            while (slots_[i].tag.load(std::memory_order_relaxed) == erased) {
                slots_[i].tag.store(empty, std::memory_order_release);
                --filled_;
                i = (i - 1) & mask_;
            }
        }
    }

    /// Removes all entries: a reader that is still here finds nothing any more.
    void erase_all() {
        for (std::size_t i = 0; i <= mask_; ++i) {
            slots_[i].entry.store(nullptr);
            slots_[i].tag.store(empty, std::memory_order_release);
        }
        filled_ = 0;
    }

private:
    static constexpr std::uint64_t empty = 0;
    static constexpr std::uint64_t erased = 1;

    struct slot {
        std::atomic<std::uint64_t> tag{empty};
        std::atomic<Entry*> entry{nullptr};
    };

    /// The hash as it stands in a slot: two values have another meaning there.
    static constexpr std::uint64_t tag_of(std::uint64_t hash) { return hash | 2; }

    std::size_t mask_ = 0;
    std::size_t filled_ = 0; // slots that are not empty
    slot* slots_ = nullptr;
};

} // namespace detail
} // namespace v0
} // namespace calque
