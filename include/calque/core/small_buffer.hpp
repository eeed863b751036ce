// SPDX-License-Identifier: MIT
// A buffer of a size that only the run knows, on the stack if it is small: for what each new shape needs for a moment.
#pragma once

#include <calque/core/config.hpp>

#include <cstddef>
#include <type_traits>

namespace calque {
inline namespace v0 {

/// Elements on the stack; if they are more than `Inline`, or in constant evaluation, on the heap. Each is to be written
/// before it is read.
template <class T, int Inline>
class small_buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    constexpr explicit small_buffer(int size) : elements_(nullptr), size_(size) {
        if (!std::is_constant_evaluated() && size <= Inline) {
            elements_ = reinterpret_cast<T*>(inline_);
        } else {
            elements_ = new T[static_cast<std::size_t>(size)]{};
        }
    }
    small_buffer(small_buffer const&) = delete;
    small_buffer& operator=(small_buffer const&) = delete;
    constexpr ~small_buffer() {
        // By address, not by size, of which g++ -O3 may not know any more that it is small.
        if (std::is_constant_evaluated() || static_cast<void const*>(elements_) != inline_) {
            delete[] elements_;
        }
    }

    constexpr int size() const { return size_; }
    constexpr T* data() { return elements_; }
    constexpr T const* begin() const { return elements_; }
    constexpr T const* end() const { return elements_ + size_; }
    constexpr T& operator[](int i) { return elements_[i]; }
    constexpr T const& operator[](int i) const { return elements_[i]; }

private:
    alignas(T) std::byte inline_[Inline * sizeof(T)];
    T* elements_;
    int size_;
};

} // namespace v0
} // namespace calque
