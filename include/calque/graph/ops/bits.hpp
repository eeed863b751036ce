// SPDX-License-Identifier: MIT
// The bits of integers, elementwise. (logic.hpp has what `&`, `|` and `!` mean of bool.)
#pragma once

#include <calque/graph/op.hpp>

namespace calque {
inline namespace v0 {
namespace graph::ops {

#define CALQUE_BIT_OPERATION(id, set, symbol)                                                                          \
    struct id : elementwise<2> {                                                                                       \
        static constexpr std::string_view name = #id;                                                                  \
        static constexpr dtype_set accepts = dtype_set::set;                                                           \
        template <class V>                                                                                             \
        static CALQUE_INLINE V apply(V x, V y) {                                                                       \
            return x symbol y;                                                                                         \
        }                                                                                                              \
    };
/// Of each two bits, whether both are set.
CALQUE_BIT_OPERATION(bit_and, integers, &)
/// Of each two bits, whether either is set.
CALQUE_BIT_OPERATION(bit_or, integers, |)
/// Of each two bits, or of two bools, whether they differ.
CALQUE_BIT_OPERATION(bit_xor, bits, ^)
/// Bits moved up, zeros after them; the count is taken modulo the width of the dtype.
CALQUE_BIT_OPERATION(shift_left, integers, <<)
/// Bits moved down, after those of the sign; the count is taken modulo the width of the dtype.
CALQUE_BIT_OPERATION(shift_right, integers, >>)
#undef CALQUE_BIT_OPERATION

/// Each bit flipped.
struct bit_not : elementwise<1> {
    static constexpr std::string_view name = "bit_not";
    static constexpr dtype_set accepts = dtype_set::integers;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return ~x;
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
