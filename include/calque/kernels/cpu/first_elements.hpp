// SPDX-License-Identifier: MIT
// Arrays of a few elements, so many that the compiler knows, in registers and back in memory.
#pragma once

#include <calque/core/shape.hpp>
#include <calque/kernels/cpu/simd.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

namespace detail {

/// The least part of a register that holds so many elements: 16 bytes, 32, or all of it. What small arrays have beside
/// them was often stored just before, which a load or store of more lines than it needs would wait for.
template <class T>
constexpr int least_part(extent_t count) {
    constexpr int least = static_cast<int>(16 / sizeof(T));
    return count <= least ? least : count <= 2 * least ? 2 * least : simd::lanes<T>;
}

} // namespace detail

/// The first `Count` elements at `p` in a register; other lanes are not specified.
template <extent_t Count, class T>
CALQUE_INLINE simd::reg<T> load_first(T const* p) {
    constexpr int part = detail::least_part<T>(Count);
    if constexpr (Count >= simd::lanes<T>) {
        return simd::load(p);
    } else if constexpr (Count > 0 && part < simd::lanes<T>) {
        return simd::load_part<part>(p, static_cast<int>(Count));
    } else if constexpr (Count > 0) {
        return simd::load_n(p, static_cast<int>(Count));
    } else {
        return simd::splat(T(0));
    }
}

/// Stores the first `Count` lanes.
template <extent_t Count, class T>
CALQUE_INLINE void store_first(T* p, simd::reg<T> r) {
    constexpr int part = detail::least_part<T>(Count);
    if constexpr (Count >= simd::lanes<T>) {
        simd::store(p, r);
    } else if constexpr (part < simd::lanes<T>) {
        simd::store_part<part, 0>(p, r, static_cast<int>(Count));
    } else {
        simd::store_n(p, r, static_cast<int>(Count));
    }
}

} // namespace kernels
} // namespace v0
} // namespace calque
