// SPDX-License-Identifier: MIT
// What a cache keeps for each key, what a thread remembers of it, and how a plan is kept for longer than a call.
#pragma once

#include <calque/core/config.hpp>
#include <calque/runtime/hazard.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace calque {
inline namespace v0 {
namespace detail {

template <class Plan>
std::size_t bytes_of(Plan const& plan) {
    if constexpr (requires { plan.bytes(); }) {
        return static_cast<std::size_t>(plan.bytes());
    } else {
        return 0;
    }
}

/// What is known of an entry whatever its plan is: tables and queues are the same for all plans.
template <class Key>
struct keyed_entry : reclaimable {
    keyed_entry(Key const& k, std::uint64_t its_hash) : key(k), hash(its_hash) {}

    Key const key;
    std::uint64_t const hash;
    std::size_t bytes = 0;
    std::atomic<std::uint64_t> used{0}; // on the cache's clock
};

template <class Key, class Plan>
struct cache_entry final : keyed_entry<Key> {
    /// `make()` returns the plan, which is made in its place.
    template <class Make>
    cache_entry(Key const& k, std::uint64_t its_hash, Make& make) : keyed_entry<Key>(k, its_hash), plan(make()) {
        this->bytes = bytes_of(plan);
    }

    Plan const plan;
};

template <class Key, class Plan>
struct cache_line : thread_line {
    Key key{};
    Plan const* plan = nullptr;
    cache_seat* seat = nullptr;
    reclaimable const* entry = nullptr;
};

} // namespace detail

/// Keeps a plan alive where a thread's next find would give it up. It must not outlive the cache.
class plan_lease {
public:
    explicit plan_lease(detail::reclaimable const& entry) : entry_(&entry) { entry.pins.fetch_add(1); }
    plan_lease(plan_lease&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
    plan_lease& operator=(plan_lease&&) = delete;
    ~plan_lease() {
        if (entry_ != nullptr) {
            entry_->pins.fetch_sub(1);
        }
    }

private:
    detail::reclaimable const* entry_;
};

} // namespace v0
} // namespace calque
