// SPDX-License-Identifier: MIT
// A walk over elements by whole registers, without a remainder: the last register may overlap the one before it.
#pragma once

#include <calque/kernels/cpu/simd.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// Calls `f(i)` for registers of `Lanes` elements from element `i` on, which cover `n` elements, at least `Lanes`; some
/// twice. `first`: how far the second one is from the first, at most `Lanes`.
template <int Lanes, class F>
CALQUE_INLINE void for_overlapping(std::ptrdiff_t n, F&& f, std::ptrdiff_t first = Lanes) {
    std::ptrdiff_t i = 0;
    while (true) { // one call in the code: `f` is inlined
        f(i);
        if (i == n - Lanes) {
            return;
        }
        i = i + first + Lanes <= n ? i + first : n - Lanes;
        first = Lanes;
    }
}

} // namespace detail
} // namespace kernels
} // namespace v0
} // namespace calque
