// SPDX-License-Identifier: MIT
// A growing array for constant evaluation: plain `new[]`, which every compiler evaluates twice as fast as std::vector.
#pragma once

#include <calque/core/config.hpp>

#include <type_traits>

namespace calque {
inline namespace v0 {

// g++ 12 warns of accesses to arrays of sizes that it imagines (0, or negative ones).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

/// Numbers whose values do not matter, since all are written before they are read: constant evaluation would set them
/// one by one.
struct unset_tag {};
inline constexpr unset_tag unset{};

/// A growing array of default-constructible, movable elements.
template <class T>
class sequence {
public:
    constexpr sequence() = default;
    constexpr explicit sequence(int size) : at(zeros(size)), size_(size), capacity_(size) {}
    constexpr sequence(unset_tag, int size) : at(memory(size)), size_(size), capacity_(size) {}
    constexpr sequence(sequence&& other) noexcept : at(other.at), size_(other.size_), capacity_(other.capacity_) {
        other.at = nullptr;
        other.size_ = other.capacity_ = 0;
    }
    constexpr sequence& operator=(sequence&& other) noexcept {
        T* const elements = at;
        int const capacity = capacity_;
        at = other.at;
        size_ = other.size_;
        capacity_ = other.capacity_;
        other.at = elements;
        other.size_ = 0;
        other.capacity_ = capacity;
        return *this;
    }
    constexpr ~sequence() { delete[] at; }

    /// The elements, until there are more than it has room for. Not behind a function: constant evaluation of an
    /// element takes g++ 6,500 instructions more with a call, and passes look at little else.
    T* at = nullptr;

    constexpr int size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr T* data() { return at; }
    constexpr T const* data() const { return at; }
    constexpr T* begin() { return at; }
    constexpr T* end() { return at + size_; }
    constexpr T const* begin() const { return at; }
    constexpr T const* end() const { return at + size_; }
    constexpr T& operator[](int i) { return at[i]; }
    constexpr T const& operator[](int i) const { return at[i]; }
    constexpr T& front() { return at[0]; }
    constexpr T& back() { return at[size_ - 1]; }

    constexpr void push_back(T const& element) {
        if (size_ == capacity_) {
            reserve(capacity_ == 0 ? 16 : capacity_ * 4);
        }
        at[size_++] = element;
    }

    constexpr void append(T const* elements, int count) {
        if (size_ + count > capacity_) {
            reserve(4 * (size_ + count));
        }
        T* const added = at + size_;
        for (int i = 0; i < count; ++i) {
            added[i] = elements[i];
        }
        size_ += count;
    }

    constexpr void pop_back() { --size_; }
    constexpr void clear() { size_ = 0; }

    /// Makes room for `capacity` elements. (Out of line: who adds an element would have a loop for it, and seldom runs
    /// it.)
    CALQUE_NOINLINE constexpr void reserve(int capacity) {
        if (capacity > capacity_) {
            move_to(memory(capacity), capacity);
        }
    }

    /// Makes `size` elements; new ones are value-initialised.
    constexpr void resize(int size) {
        if (size > capacity_) {
            move_to(zeros(size), size);
        } else {
            for (int i = size_; i < size; ++i) {
                at[i] = T{};
            }
        }
        size_ = size;
    }

private:
    static constexpr T* zeros(int count) { return new T[static_cast<decltype(sizeof(0))>(count)]{}; }

    /// Numbers are left as they are. Classes constant evaluation sets sooner than it calls their default constructors.
    static constexpr T* memory(int count) {
        if constexpr (std::is_trivially_default_constructible_v<T>) {
            return new T[static_cast<decltype(sizeof(0))>(count)];
        } else {
            return zeros(count);
        }
    }

    constexpr void move_to(T* larger, int capacity) {
        for (int i = 0; i < size_; ++i) {
            larger[i] = static_cast<T&&>(at[i]);
        }
        delete[] at;
        at = larger;
        capacity_ = capacity;
    }

    int size_ = 0;
    int capacity_ = 0;
};

/// Where an element is, the last one if there are several; -1: nowhere.
template <class T>
constexpr int find(sequence<T> const& all, T const& element) {
    int i = all.size() - 1;
    while (i >= 0 && !(all[i] == element)) {
        --i;
    }
    return i;
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

} // namespace v0
} // namespace calque
