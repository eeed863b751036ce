// SPDX-License-Identifier: MIT
// Copies of elements that stand evenly spaced: one coordinate of points, one channel of an image, a row backwards.
//
// A few elements apart, or backwards, they come through permutations, a register at a time; else one by one. Several
// coordinates of points are read once.
#pragma once

#include <calque/core/dtype.hpp>
#include <calque/core/shape.hpp>
#include <calque/kernels/cpu/lane_orders.hpp>
#include <calque/kernels/cpu/loaded_once.hpp>
#include <calque/kernels/cpu/overlapping.hpp>
#include <calque/kernels/cpu/pack_memory.hpp>
#include <calque/kernels/cpu/simd.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <algorithm>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Whether kernels load elements of a type that stand a few apart: where loads have masks.
constexpr bool has_spaced_loads(dtype type) {
    bool const has_masks = simd::width == 16 || (simd::width == 8 && size_of(type) >= sizeof(float));
    return has_masks && type != dtype::bool_ && !is_half_float(type);
}

namespace detail {

/// Every second lane of two registers, from the lane `First` on.
template <int First>
struct every_second {
    static constexpr int lane(int to) { return 2 * to + First; }
};

/// The order of every `Step`th element, that stand in the lanes in which they were, from `First` on.
template <int Step, int First, int Lanes>
struct every_in_order {
    static constexpr int lane(int to) { return (Step * to + First) % Lanes; }
};

/// Every `Step`th element of as many registers, from the element `First` on. Of an odd step no two elements stand in
/// one lane, so that they only have to be put in order; of an even one they are every second one of what half the step
/// has.
template <int Step, int First, int Begin = 0, class T, int Count>
CALQUE_INLINE simd::reg<T> every(simd::register_array<T, Count> const& from) {
    constexpr int lanes = simd::lanes<T>;
    if constexpr (Step == 1) {
        return from[Begin];
    } else if constexpr (Step % 2 == 0) {
        constexpr int half = Step / 2;
        return simd::shuffle_by<every_second<First / half>>(every<half, First % half, Begin>(from),
                                                            every<half, First % half, Begin + half>(from));
    } else {
        simd::reg<T> all = from[Begin];
        simd::unroll<Step - 1>([&](auto k) CALQUE_INLINE_LAMBDA {
            all = simd::shuffle_by<every_of_another<Step, (First + (k + 1) * (Step - 1) * lanes) % Step, lanes>>(
                all, from[Begin + k + 1]);
        });
        return simd::shuffle_by<every_in_order<Step, First, lanes>>(all, all);
    }
}

/// `Count` registers, one after the other, of which each is read several times.
template <int Count, class T>
CALQUE_INLINE simd::register_array<T, Count> load_registers(T const* from) {
    simd::register_array<T, Count> all;
    simd::unroll<Count>([&](auto k) CALQUE_INLINE_LAMBDA {
        simd::reg<T> one = simd::load(from + k * simd::lanes<T>);
        simd::keep_in_register(one);
        all[k] = one;
    });
    return all;
}

/// Copies the first `columns` columns, at most `Most`, of rows of `Step` elements, each to a row, `to_step` apart, in
/// one walk: what whole registers make. Returns how many rows of the source.
template <int Step, int Most, class T>
CALQUE_INLINE extent_t take_apart(T* to, std::ptrdiff_t to_step, T const* from, extent_t rows, extent_t columns) {
    constexpr int lanes = simd::lanes<T>;
    bool const are_all = Most == Step && columns == Step; // the last registers end with the last element
    extent_t const end = are_all ? rows : rows - 1;
    if (end < lanes) {
        return 0;
    }
    for_overlapping<lanes>(end, [&](extent_t i) CALQUE_INLINE_LAMBDA {
        auto const all = load_registers<Step>(from + Step * i);
        simd::unroll<Most>([&](auto j) CALQUE_INLINE_LAMBDA {
            if (j < columns) {
                simd::store(to + j * to_step + i, every<Step, j>(all));
            }
        });
    });
    return end;
}

/// Loads registers that have every `Step`th element of a pack (of its first `n` elements if masked), and what stands up
/// to `last` elements behind each: `take(i, all)` gets those of its register `i`. Nothing behind them is touched.
template <int Step, bool Masked, class Pack, class T, class F>
CALQUE_INLINE void load_spaced(T const* p, [[maybe_unused]] int n, int last, F take) {
    constexpr int lanes = simd::lanes<T>;
    simd::unroll<Pack::registers>([&](int i) CALQUE_INLINE_LAMBDA {
        simd::register_array<T, Step> all;
        simd::unroll<Step>([&](auto k) CALQUE_INLINE_LAMBDA {
            T const* const from = p + (i * Step + k) * lanes;
            if constexpr (Masked) {
                int const left = Step * (n - i * lanes - 1) + last + 1 - k * lanes;
                all[k] = simd::load_n(from, std::clamp(left, 0, lanes));
            } else {
                bool const is_whole = k + 1 < Step || last == Step - 1;
                all[k] = is_whole ? simd::load(from) : simd::load_n(from, lanes - (Step - 1) + last);
            }
        });
        take(i, all);
    });
}

/// Copies elements backwards, from the last one at `from`: all of them, if they fill a register. Returns how many.
template <class T>
CALQUE_INLINE extent_t copy_backwards(T* to, T const* from, extent_t n) {
    constexpr int lanes = simd::lanes<T>;
    if (n < lanes) {
        return 0;
    }
    for_overlapping<lanes>(n, [&](extent_t first) CALQUE_INLINE_LAMBDA {
        simd::reg<T> const a = simd::load(from - first - (lanes - 1));
        simd::store(to + first, simd::indices<lanes>([&](auto... lane) CALQUE_INLINE_LAMBDA {
                        return __builtin_shufflevector(a, a, (lanes - 1 - lane.value)...);
                    }));
    });
    return n;
}

/// Whether there are permutations for elements of `bytes` bytes that stand `step` apart. (Of wide ones that stand
/// farther apart one by one is no slower.)
constexpr bool has_permutations(std::ptrdiff_t step, std::size_t bytes) {
    return step == -1 || (step >= 2 && step <= (bytes < sizeof(double) ? 6 : 4));
}

/// Whether several columns of rows of `step` elements are copied in one walk.
constexpr bool are_read_once(std::ptrdiff_t step, extent_t columns) {
    return step >= 2 && step <= thresholds::most_columns_taken_apart && columns >= 2 && columns <= step;
}

/// Copies `columns` columns of rows of `step` elements through permutations, each to a row, and returns how many rows
/// of the source: none if there are no permutations for these.
template <class T>
CALQUE_NOINLINE extent_t copy_by_permutations(T* to, std::ptrdiff_t to_step, T const* from, std::ptrdiff_t step,
                                              extent_t rows, extent_t columns = 1) {
    if (!has_permutations(step, sizeof(T))) {
        return 0;
    }
    if constexpr (has_permutations(6, sizeof(T))) {
        switch (step) {
        case 5: return take_apart<5, 1>(to, to_step, from, rows, columns);
        case 6: return take_apart<6, 1>(to, to_step, from, rows, columns);
        default: break;
        }
    }
    switch (step) {
    case 2: return take_apart<2, 2>(to, to_step, from, rows, columns);
    case 3: return take_apart<3, 3>(to, to_step, from, rows, columns);
    case 4: return take_apart<4, 4>(to, to_step, from, rows, columns);
    default: return copy_backwards(to, from, rows);
    }
}

} // namespace detail

/// Copies `n` elements that stand `from_step` apart to where they are `to_step` apart.
template <class T>
void copy_spaced(T* to, std::ptrdiff_t to_step, T const* from, std::ptrdiff_t from_step, extent_t n) {
    if (to_step == 1 && from_step == 0) {
        T const value = *from;
        for (extent_t i = 0; i < n; ++i) {
            to[i] = value;
        }
        return;
    }
    extent_t i = to_step == 1 ? detail::copy_by_permutations(to, 0, from, from_step, n) : 0;
    for (; i < n; ++i) {
        to[i * to_step] = from[i * from_step];
    }
}

} // namespace kernels
} // namespace v0
} // namespace calque
