// SPDX-License-Identifier: MIT
// Kernels of y[k] = a[k] y[k - 1] + b[k], and of running sums, whose factors are 1: along rows, and from row to row.
#pragma once

#include <calque/kernels/cpu/advance.hpp>
#include <calque/kernels/cpu/pack_arithmetic.hpp>
#include <calque/kernels/cpu/rolled.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace calque {
inline namespace v0 {
namespace kernels {

/// An array of a recurrence: its first element, and the distances to the next step and to the next row, in elements.
template <class T>
struct recurrence_side {
    T* first;
    std::ptrdiff_t step, row;
};

template <class T, bool HasFactors>
struct recurrence_kernel {
    /// `rows` rows of `n` steps each. Each step waits for the one before it, so that some rows take turns.
    static void run_rows(recurrence_side<T> to, recurrence_side<T const> a, recurrence_side<T const> b,
                         std::ptrdiff_t rows, std::ptrdiff_t n) {
        if (n == 0) {
            return;
        }
        constexpr int at_once = std::is_integral_v<T> ? 2 : 4; // integers lie beside the addresses, and wait for less
        std::ptrdiff_t i = 0;
        for (; i + at_once <= rows; i += at_once) {
            run_some_rows<at_once>(row_of(to, i), row_of(a, i), row_of(b, i), n);
        }
        for (; i < rows; ++i) {
            run_some_rows<1>(row_of(to, i), row_of(a, i), row_of(b, i), n);
        }
    }

    /// One step of `n` rows, whose elements lie one after the other. Without factors `a` may be null.
    static void run_step(T* to, T const* before, T const* a, T const* b, std::ptrdiff_t n) {
        std::ptrdiff_t i = 0;
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
            using pack = simd::pack<T, 1>;
            CALQUE_ROLLED
            for (; i + pack::size <= n; i += pack::size) {
                pack y = pack::load(before + i);
                if constexpr (HasFactors) {
                    y = pack::load(a + i) * y;
                }
                (y + pack::load(b + i)).store(to + i);
            }
        }
        for (; i < n; ++i) {
            to[i] = next(before[i], a, i, b[i]);
        }
    }

    /// What comes after `before`. Only if there are factors is `a` read, of which it is number `i`.
    static T next(T before, T const* a, std::ptrdiff_t i, T b) {
        using number = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>; // which may wrap around
        if constexpr (HasFactors) {
            return static_cast<T>(static_cast<number>(a[i]) * static_cast<number>(before) + static_cast<number>(b));
        } else {
            return static_cast<T>(static_cast<number>(before) + static_cast<number>(b));
        }
    }

private:
    template <class U>
    static recurrence_side<U> row_of(recurrence_side<U> side, std::ptrdiff_t i) {
        return {side.first + i * side.row, side.step, side.row};
    }

    template <int Rows>
    static void run_some_rows(recurrence_side<T> to, recurrence_side<T const> a, recurrence_side<T const> b,
                              std::ptrdiff_t n) {
        T last[Rows];
        T* out[Rows];
        T const* factor[Rows];
        T const* in[Rows];
        for (int r = 0; r < Rows; ++r) {
            out[r] = to.first + r * to.row;
            factor[r] = a.first + r * a.row;
            in[r] = b.first + r * b.row;
            last[r] = *in[r];
            *out[r] = last[r];
        }
        CALQUE_ROLLED
        for (std::ptrdiff_t i = 1; i < n; ++i) {
#pragma GCC unroll 4
            for (int r = 0; r < Rows; ++r) {
                advance(out[r], to.step);
                advance(in[r], b.step);
                if constexpr (HasFactors) {
                    advance(factor[r], a.step);
                }
                last[r] = next(last[r], factor[r], 0, *in[r]);
                *out[r] = last[r];
            }
        }
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
