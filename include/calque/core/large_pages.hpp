// SPDX-License-Identifier: MIT
// Large pages behind the large arrays that calque allocates: a page fault for 2 MiB, not for every 4 KiB of them.
#pragma once

#include <calque/core/config.hpp>

#include <cstddef>

#ifdef __linux__
#include <cstdint>
#include <sys/mman.h>
#endif

namespace calque {
inline namespace v0 {
namespace detail {

/// From how many bytes on it is worth a system call: two large pages of x86-64, of which one lies whole in the array.
/// Measured without, an AMD Zen 3, a*b+c-0.5a of floats: a result of 40 MB in memory that the process does not have yet
/// 2.8 to 3.4; results of 12 MB that were there 1.0 to 1.1.
inline constexpr std::size_t least_bytes_of_large_pages = std::size_t{4} << 20;

/// Advice, which a system may ignore; what is in memory already stays as it is.
CALQUE_COLD inline void advise_large_pages([[maybe_unused]] void const* first, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    constexpr std::uintptr_t small_page = 64 * 1024; // the largest of any processor: no system call asks which it is
    auto const begin = reinterpret_cast<std::uintptr_t>(first);
    std::uintptr_t const whole = (begin + small_page - 1) / small_page * small_page;
    ::madvise(reinterpret_cast<void*>(whole), bytes - (whole - begin), MADV_HUGEPAGE);
#endif
}

/// To be called before the memory is written first.
CALQUE_INLINE void prefer_large_pages(void const* first, std::size_t bytes) {
    if (bytes >= least_bytes_of_large_pages) [[unlikely]] {
        advise_large_pages(first, bytes);
    }
}

} // namespace detail
} // namespace v0
} // namespace calque
