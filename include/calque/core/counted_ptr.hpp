// SPDX-License-Identifier: MIT
// A pointer that owns an object together with its copies. The object holds the count.
//
// `std::shared_ptr` does more: weak pointers, deleters, a count that is only locked where there are threads. Every
// program that calls a traced function would compile all of it.
#pragma once

#include <calque/core/config.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

namespace calque {
inline namespace v0 {

/// The base of what a `counted_ptr` points to.
class counted {
public:
    counted(counted const&) = delete;
    counted& operator=(counted const&) = delete;

protected:
    counted() = default;
    ~counted() = default;

private:
    template <class T>
    friend class counted_ptr;

    std::atomic<std::size_t> owners_{0};
};

/// Owns a `T`, which derives from `counted`, with all of its copies; the last one deletes it. Copies belong to their
/// threads, as those of `std::shared_ptr` do.
template <class T>
class counted_ptr {
public:
    counted_ptr() = default;
    explicit counted_ptr(T* p) : p_(p) { add_owner(); }
    counted_ptr(counted_ptr const& other) : p_(other.p_) { add_owner(); }
    counted_ptr(counted_ptr&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
    counted_ptr& operator=(counted_ptr other) noexcept {
        other.p_ = std::exchange(p_, other.p_);
        return *this;
    }
    ~counted_ptr() {
        if (p_ != nullptr) {
            remove_owner(p_);
        }
    }

    T* get() const { return p_; }
    T& operator*() const { return *p_; }
    T* operator->() const { return p_; }

private:
    void add_owner() {
        if (p_ != nullptr) {
            p_->owners_.fetch_add(1, std::memory_order_relaxed);
        }
    }

    CALQUE_NOINLINE static void remove_owner(T* p) {
        if (p->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete p;
        }
    }

    T* p_ = nullptr;
};

} // namespace v0
} // namespace calque
