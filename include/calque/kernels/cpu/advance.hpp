// SPDX-License-Identifier: MIT
// Pointers that go from row to row.
#pragma once

#include <calque/core/config.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {

/// A pointer moved on, to a place that the compiler knows nothing of. Of pointers that it knows to be related g++ keeps
/// the distances, of more rows than there are registers; clang adds them up one after another, or multiplies for each
/// row anew.
template <class T>
CALQUE_INLINE T* advanced(T* p, std::ptrdiff_t n) {
    p += n;
    asm("" : "+r"(p));
    return p;
}

template <class T>
CALQUE_INLINE void advance(T*& p, std::ptrdiff_t n) {
    p = advanced(p, n);
}

} // namespace kernels
} // namespace v0
} // namespace calque
