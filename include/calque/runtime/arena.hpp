// SPDX-License-Identifier: MIT
// Scratch memory of a thread: the intermediate arrays of the plan that is running.
#pragma once

#include <calque/core/config.hpp>
#include <calque/core/large_pages.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <utility>

namespace calque {
inline namespace v0 {

/// A stack of bytes that belongs to a thread, not to a function: what one call has used, the next one finds warm.
///
/// It grows when it must and shrinks only by `release()`. A call inside a call gets a piece of its own, and growing
/// never moves what an outer call uses. Calls that have been nested as deep and with as many bytes before allocate
/// nothing.
class arena {
    /// A block from the heap; its bytes follow the header.
    struct chunk {
        chunk* next;
        std::size_t capacity;
    };

public:
    /// All pieces start at a multiple of this: a cache line, and the widest SIMD register.
    static constexpr std::size_t alignment = 64;

    static arena& of_this_thread() { return this_thread_; }

    arena(arena const&) = delete;
    arena& operator=(arena const&) = delete;

    /// At least `bytes` bytes with undefined contents, valid until this thread's next `require`, `frame` or `release`.
    std::byte* require(std::size_t bytes) {
        if (top_ == nullptr || bytes > top_->capacity - used_) [[unlikely]] {
            grow(bytes);
        }
        return reinterpret_cast<std::byte*>(top_) + alignment + used_;
    }

    /// A piece of this thread's arena, for as long as the frame lives. Frames end in the reverse order of their
    /// beginning, as local variables do.
    class frame {
    public:
        explicit frame(std::size_t bytes)
            : arena_(of_this_thread()), top_(arena_.top_), used_(arena_.used_), data_(arena_.require(bytes)) {
            arena_.used_ += rounded(bytes);
            ++arena_.depth_;
        }

        ~frame() {
            if (--arena_.depth_ == 0) {
                arena_.rewind();
            } else {
                arena_.top_ = top_;
                arena_.used_ = used_;
            }
        }

        frame(frame const&) = delete;
        frame& operator=(frame const&) = delete;

        std::byte* data() const { return data_; }

    private:
        arena& arena_;
        chunk* const top_;
        std::size_t const used_;
        std::byte* const data_;
    };

    /// Gives back to the heap what no frame uses.
    void release() {
        if (depth_ == 0) {
            free_all();
            wanted_ = 0;
        } else {
            free_chain(std::exchange(top_->next, nullptr));
        }
    }

    /// Bytes taken from the heap.
    std::size_t capacity() const {
        std::size_t sum = 0;
        for (chunk const* c = first_; c != nullptr; c = c->next) {
            sum += c->capacity;
        }
        return sum;
    }

private:
    /// Frees the arena when its thread ends. Apart from it, so that the arena itself needs no destructor: it then
    /// works, empty, in the destructors of other thread-local objects, and is reached without a check whether it is
    /// there.
    struct owner {
        ~owner() { this_thread_.release(); }
    };

    constexpr arena() = default;

    static constexpr std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

    /// Makes `top_` a chunk that has room for `bytes`. Half as much again as before, so that extents that creep up do
    /// not allocate each time.
    CALQUE_COLD void grow(std::size_t bytes) {
        if (bytes > std::numeric_limits<std::size_t>::max() / 2) {
            throw std::bad_alloc();
        }
        if (depth_ == 0) {
            free_all();
            first_ = top_ = allocate(bytes <= wanted_ ? wanted_ : std::max(bytes, wanted_ + wanted_ / 2));
        } else {
            if (top_->next == nullptr || top_->next->capacity < bytes) {
                free_chain(std::exchange(top_->next, nullptr));
                top_->next = allocate(std::max(bytes, top_->capacity + top_->capacity / 2));
            }
            top_ = top_->next;
            used_ = 0;
        }
        wanted_ = std::max(wanted_, capacity());
    }

    /// After the last frame. If there had to be several chunks, the next call gets a single one that is large enough.
    void rewind() {
        used_ = 0;
        top_ = first_;
        if (first_->next != nullptr) [[unlikely]] {
            free_all();
        }
    }

    void free_all() {
        free_chain(std::exchange(first_, nullptr));
        top_ = nullptr;
        used_ = 0;
    }

    static chunk* allocate(std::size_t bytes) {
        static thread_local owner this_thread_owner;
        static_cast<void>(this_thread_owner);
        std::size_t const capacity = rounded(std::max(bytes, minimum));
        void* const memory = ::operator new(alignment + capacity, std::align_val_t(alignment));
        detail::prefer_large_pages(memory, alignment + capacity);
        return ::new (memory) chunk{nullptr, capacity};
    }

    static void free_chain(chunk* c) {
        while (c != nullptr) {
            ::operator delete(std::exchange(c, c->next), std::align_val_t(alignment));
        }
    }

    static constexpr std::size_t minimum = 4096 - alignment;

    static constinit thread_local arena this_thread_;

    chunk* first_ = nullptr;
    chunk* top_ = nullptr;   // the chunk that the next piece comes from; those after it are free
    std::size_t used_ = 0;   // bytes of `top_`
    std::size_t depth_ = 0;  // frames
    std::size_t wanted_ = 0; // the most bytes there have been at once: the size of the next first chunk
};

inline constinit thread_local arena arena::this_thread_{};

} // namespace v0
} // namespace calque
