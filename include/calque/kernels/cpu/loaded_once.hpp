// SPDX-License-Identifier: MIT
// Loads that happen once. g++ 12 forgets that it has a value in a register, and reads memory again as the operand of
// each instruction that uses it: two lines each time, where arrays lie anywhere.
#pragma once

#include <calque/kernels/cpu/pack_memory.hpp>

namespace calque {
inline namespace v0 {
namespace simd {

/// Tells the compiler that a register has a value that it cannot find anywhere else.
template <class Register>
CALQUE_INLINE void keep_in_register([[maybe_unused]] Register& r) {
#if defined(__GNUC__) && !defined(__clang__) && (defined(__x86_64__) || defined(__i386__))
    asm("" : "+v"(r));
#endif
}

/// The same pack, in registers.
template <class T, int U>
CALQUE_INLINE pack<T, U> loaded_once(pack<T, U> x) {
    if constexpr (!std::same_as<T, bool> && sizeof(T) >= 4) {
        unroll<pack<T, U>::registers>([&](int i) CALQUE_INLINE_LAMBDA { keep_in_register(x.r[i]); });
    }
    return x;
}

} // namespace simd
} // namespace v0
} // namespace calque
