// SPDX-License-Identifier: MIT
// Folds of several rows, each in a group of a pack, at once: the lanes of a result are rows.
#pragma once

#include <calque/kernels/cpu/pack_reduce.hpp>

#include <bit>
#include <type_traits>

namespace calque {
inline namespace v0 {
namespace simd {

namespace detail {

/// Two registers have `rows` rows each, whose lanes take turns; a result has the rows of both and half the lanes of
/// each. Which lane of the two goes into lane `lane` of those that are folded first, and, `part` = 1, of those that are
/// folded onto them. Nothing leaves a `chunk` of lanes in which rows have several.
constexpr int lane_of_folded_rows(int lane, int part, int rows, int lanes, int chunk) {
    int const whole = rows < chunk ? chunk : lanes;
    int const place = lane % whole;
    int const half = whole / (2 * rows);
    int const of_row = place / (2 * rows) + part * half;
    int const row = place % (2 * rows);
    return lane / whole * whole + of_row * rows + row % rows + row / rows * lanes;
}

/// Folds the rows of each two registers, of which each has `Rows`, into one that has those of both, with an `f` that
/// takes two packs.
template <int Rows, class T, int U, class F>
CALQUE_INLINE auto fold_pairs_of_rows(pack<T, U> const& x, F f) {
    using half = pack<T, U / 2>;
    auto const take = [&](auto part) CALQUE_INLINE_LAMBDA {
        return half::generate([&](auto i) CALQUE_INLINE_LAMBDA {
            return indices<lanes<T>>([&](auto... lane) CALQUE_INLINE_LAMBDA {
                constexpr int chunk = static_cast<int>(16 / sizeof(T));
                return shuffle<lane_of_folded_rows(lane, part, Rows, lanes<T>, chunk)...>(x.r[2 * i], x.r[2 * i + 1]);
            });
        });
    };
    return f(take(std::integral_constant<int, 0>{}), take(std::integral_constant<int, 1>{}));
}

} // namespace detail

/// How many groups of packs of `T` two registers are.
template <class T>
inline constexpr int groups_of_two_registers = 2 / pack<T, 1>::registers;

/// The four groups of a pack, a row each, folded with `f` to two registers, of which each has two rows.
template <class T, class F>
CALQUE_INLINE pack<T, groups_of_two_registers<T>> fold_four_rows(pack<T, 4> const& x, F f) {
    if constexpr (pack<T, 1>::registers == 1) {
        return detail::fold_pairs_of_rows<1>(x, f);
    } else {
        auto const of_groups = [&](int part) CALQUE_INLINE_LAMBDA {
            return pack<T, 2>::generate([&](int i) CALQUE_INLINE_LAMBDA { return x.r[2 * i + part]; });
        };
        return detail::fold_pairs_of_rows<1>(f(of_groups(0), of_groups(1)), f);
    }
}

/// As many rows as a group has lanes, each in its lane, of registers that have `Rows` rows each: by default as
/// `fold_four_rows` leaves them.
template <int Rows = 2, class T, int U, class F>
CALQUE_INLINE pack<T, 1> fold_rows(pack<T, U> const& x, F f) {
    if constexpr (U == 1) {
        static_assert(Rows == lanes<T>);
        return x;
    } else {
        return fold_rows<2 * Rows>(detail::fold_pairs_of_rows<Rows>(x, f), f);
    }
}

/// One row by itself, in the order in which `fold_four_rows` and `fold_rows` fold several.
template <class T, class F>
CALQUE_INLINE T fold_row(pack<T, 1> const& x, F f) {
    constexpr int chunk = static_cast<int>(16 / sizeof(T));
    reg<T> all = x.r[0];
    if constexpr (pack<T, 1>::registers == 2) {
        all = f(all, x.r[1]);
    }
    auto const fold = [&](auto distance) CALQUE_INLINE_LAMBDA {
        indices<lanes<T>>([&](auto... lane) CALQUE_INLINE_LAMBDA {
            all = f(all, shuffle<(lane ^ decltype(distance)::value)...>(all, all));
        });
    };
    unroll<std::bit_width(static_cast<unsigned>(chunk)) - 1>(
        [&](auto k) CALQUE_INLINE_LAMBDA { fold(std::integral_constant<int, (chunk >> (k + 1))>{}); });
    constexpr int chunks = lanes<T> / chunk;
    unroll<std::bit_width(static_cast<unsigned>(chunks)) - 1>(
        [&](auto k) CALQUE_INLINE_LAMBDA { fold(std::integral_constant<int, chunk*(chunks >> (k + 1))>{}); });
    return all[0];
}

} // namespace simd
} // namespace v0
} // namespace calque
