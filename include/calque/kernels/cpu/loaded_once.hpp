// SPDX-License-Identifier: MIT
// Loads that happen once. g++ 12 forgets that it has a value in a register, and reads memory again as the operand of
// each instruction that uses it: two lines each time, where arrays lie anywhere. And loads in order: clang 19 turns
// those around of which it compares pairs, and an AMD Zen 5 does not foresee lines that are read backwards. And tables
// whose rows are loaded where they are used.
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

/// The same pack, whose registers are loaded by ascending addresses. Measured, maxima of 20,000 to 100,000 floats and
/// doubles in L2 with clang 19: 1.3 to 1.5 otherwise; g++ 12 keeps the order.
template <class T, int U>
CALQUE_INLINE pack<T, U> loaded_in_order(pack<T, U> x) {
#if defined(__clang__) && defined(__AVX512F__)
    if constexpr (!std::same_as<T, bool>) {
        unroll<pack<T, U>::registers>([&](int i) CALQUE_INLINE_LAMBDA { asm volatile("" : "+v"(x.r[i])); });
    }
#endif
    return x;
}

/// The same table, whose rows are read where they are used. clang 19 loads the constants of a loop before it, and where
/// that are more than registers moves them from one to another. Measured, AVX-512: tanh(a*b+c)*sigmoid(a)-0.5c 1.09 to
/// 1.14 otherwise, with sums and gradients of tanh 1.03 to 1.05; g++ 12 reads them as operands of instructions.
template <class Table>
CALQUE_INLINE Table const& read_where_used(Table const& table) {
    Table const* at = &table;
#if defined(__clang__)
    asm volatile("" : "+r"(at));
#endif
    return *at;
}

} // namespace simd
} // namespace v0
} // namespace calque
