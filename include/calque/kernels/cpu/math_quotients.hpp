// SPDX-License-Identifier: MIT
// Quotients, for which the divider need not make each.
#pragma once

#include <calque/kernels/cpu/pack_quotients.hpp>

namespace calque {
inline namespace v0 {
namespace math {

/// Correctly rounded, as are those by one number.
template <int OfFour, class V>
CALQUE_INLINE V divide_in_turns(V x, V y) {
    return simd::divide_in_turns<OfFour>(x, y);
}

template <class V>
CALQUE_INLINE V divide_by_uniform(V x, V divisor) {
    return simd::divide_by_uniform(x, divisor);
}

} // namespace math
} // namespace v0
} // namespace calque
