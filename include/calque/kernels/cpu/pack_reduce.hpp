// SPDX-License-Identifier: MIT
// Reductions of a pack to one element, as a tree: groups first, then halves of a register. The order is fixed.
#pragma once

#include <calque/kernels/cpu/loaded_once.hpp>
#include <calque/kernels/cpu/pack_arithmetic.hpp>

#include <bit>
#include <cstdint>
#include <limits>

namespace calque {
inline namespace v0 {
namespace simd {

/// Groups `First` to `First + N - 1` of a pack.
template <int First, int N, class T, int U>
CALQUE_INLINE pack<T, N> groups_of(pack<T, U> const& x) {
    constexpr int registers_per_group = pack<T, 1>::registers;
    return pack<T, N>::generate([&](int i) CALQUE_INLINE_LAMBDA { return x.r[First * registers_per_group + i]; });
}

/// A pack whose groups `f` gives, a constant `k` at a time.
template <class T, int U, class F>
CALQUE_INLINE pack<T, U> generate_groups(F&& f) {
    constexpr int registers_per_group = pack<T, 1>::registers;
    pack<T, U> all;
    unroll<U>([&](auto k) CALQUE_INLINE_LAMBDA {
        pack<T, 1> const group = f(k);
        unroll<registers_per_group>([&](int i)
                                        CALQUE_INLINE_LAMBDA { all.r[k * registers_per_group + i] = group.r[i]; });
    });
    return all;
}

/// Replaces the last group of a pack.
template <class T, int U>
CALQUE_INLINE void put_last_group(pack<T, U>& x, pack<T, 1> const& group) {
    constexpr int registers_per_group = pack<T, 1>::registers;
    unroll<registers_per_group>([&](int i)
                                    CALQUE_INLINE_LAMBDA { x.r[(U - 1) * registers_per_group + i] = group.r[i]; });
}

/// Combines the groups of a pack to `Left`, with an `f` that takes two packs of so many: (0 1) (2 3) first.
template <int Left = 1, class T, int U, class F>
CALQUE_INLINE pack<T, Left> fold_groups(pack<T, U> const& x, F f) {
    if constexpr (U == Left) {
        return x;
    } else {
        return f(fold_groups<Left>(groups_of<0, U / 2>(x), f), fold_groups<Left>(groups_of<U / 2, U - U / 2>(x), f));
    }
}

namespace detail {

// Combines the lanes of a register with `f` on registers of any width: each time the upper half of what is left onto
// the lower. Half a register is one of its own, whose instructions take less time; none is narrower than 16 bytes.
template <int N, class R, class F>
CALQUE_INLINE element_of<R> fold_lanes(R x, F f) {
    if constexpr (N == 1) {
        return x[0];
    } else if constexpr (sizeof(R) > 16) {
        return fold_lanes<N / 2>(f(slice<0, N / 2>(x), slice<1, N / 2>(x)), f);
    } else {
        R const upper = indices<lanes_of<R>>(
            [&](auto... i) CALQUE_INLINE_LAMBDA { return __builtin_shufflevector(x, x, (i ^ (N / 2))...); });
        return fold_lanes<N / 2>(f(x, upper), f);
    }
}

template <class T, int U, class F>
CALQUE_INLINE T reduce(pack<T, U> const& x, F f) {
    auto const group = fold_groups(x, [&](pack<T, 1> a, pack<T, 1> b) CALQUE_INLINE_LAMBDA {
        return pack<T, 1>::generate([&](int i) CALQUE_INLINE_LAMBDA { return f(a.r[i], b.r[i]); });
    });
    if constexpr (pack<T, 1>::registers == 2) {
        return fold_lanes<lanes<T>>(f(group.r[0], group.r[1]), f);
    } else {
        return fold_lanes<lanes<T>>(group.r[0], f);
    }
}

} // namespace detail

/// The sum of all elements; integers wrap around.
template <class T, int U>
CALQUE_INLINE T reduce_add(pack<T, U> const& x) {
    return detail::reduce(x, [](auto a, auto b) CALQUE_INLINE_LAMBDA {
        return bits_as<decltype(a)>(detail::wrapping(a) + detail::wrapping(b));
    });
}

/// The product of all elements; integers wrap around.
template <class T, int U>
CALQUE_INLINE T reduce_mul(pack<T, U> const& x) {
    return detail::reduce(x, [](auto a, auto b) CALQUE_INLINE_LAMBDA {
        return bits_as<decltype(a)>(detail::wrapping(a) * detail::wrapping(b));
    });
}

/// Whether some element is set, by masks of words: one number for all groups, where these are what comparisons leave.
template <int U>
CALQUE_INLINE bool any_of_words(pack<bool, U> const& x)
    requires(register_count != 32)
{
    return mask_bits(indices<U>([&](auto... i) CALQUE_INLINE_LAMBDA { return (x.r[i].words | ...); })) != 0;
}

/// Whether some element, and whether every element is set.
template <int U>
CALQUE_INLINE bool any(pack<bool, U> const& x) {
    return indices<U>([&](auto... i) CALQUE_INLINE_LAMBDA { return (as_number(x.r[i]) | ...) != 0; });
}
template <int U>
CALQUE_INLINE bool all(pack<bool, U> const& x) {
    return indices<U>([&](auto... i)
                          CALQUE_INLINE_LAMBDA { return (as_number(x.r[i]) & ...) == pack<bool, U>::all_lanes; });
}

/// The place of the first element that is set; 64 if none is.
template <int U>
CALQUE_INLINE int first_set(pack<bool, U> const& x) {
    static_assert(U * width <= 64);
    return std::countr_zero(indices<U>([&](auto... i) CALQUE_INLINE_LAMBDA {
        return ((static_cast<std::uint64_t>(as_number(x.r[i])) << i * width) | ...);
    }));
}

namespace detail {

// Folds a pack to one element, its groups with `f`, which keeps NaN, the lanes with `g`, which need not: one look for
// NaN costs less than one with each fold of lanes. (A branch, since selecting waits for what was looked at.)
template <class T, int U, class F, class G>
CALQUE_INLINE T reduce_and_keep_nan(pack<T, U> const& x, F f, G g) {
    auto const group = fold_groups(x, f);
    if constexpr (std::floating_point<T>) {
        if (any(group != group)) [[unlikely]] {
            return std::numeric_limits<T>::quiet_NaN();
        }
    }
    return reduce(group, g);
}

} // namespace detail

/// The greatest and the least element; NaN if there is one.
template <class T, int U>
CALQUE_INLINE T reduce_max(pack<T, U> const& x) {
    return detail::reduce_and_keep_nan(
        x, [](auto a, auto b) CALQUE_INLINE_LAMBDA { return maximum(a, b); },
        [](auto a, auto b) CALQUE_INLINE_LAMBDA { return max_or_second(a, b); });
}
template <class T, int U>
CALQUE_INLINE T reduce_min(pack<T, U> const& x) {
    return detail::reduce_and_keep_nan(
        x, [](auto a, auto b) CALQUE_INLINE_LAMBDA { return minimum(a, b); },
        [](auto a, auto b) CALQUE_INLINE_LAMBDA { return min_or_second(a, b); });
}

namespace detail {

// Folds `x` into totals by pairs of registers if these keep NaN: with `first`, which looks for NaN in both, one, the
// other with `second`; else with `each`.
template <class T, int U, class First, class Second, class Each>
CALQUE_INLINE pack<T, U> fold_pairs(pack<T, U> const& x, pack<T, U> const& totals, [[maybe_unused]] First first,
                                    [[maybe_unused]] Second second, [[maybe_unused]] Each each) {
    if constexpr (std::floating_point<T> && pack<T, U>::registers % 2 == 0) {
        pack<T, U> once = x;
        return pack<T, U>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
            if constexpr (i % 2 == 0) {
                keep_in_register(once.r[i]);
                keep_in_register(once.r[i + 1]);
                return first(once.r[i], totals.r[i], once.r[i + 1]);
            } else {
                return second(once.r[i], totals.r[i]);
            }
        });
    } else {
        return each(x, totals);
    }
}

} // namespace detail

/// The greater ones of `x` and of totals all of whose lanes are folded at last: NaN of two registers goes to one total.
template <class T, int U>
CALQUE_INLINE pack<T, U> max_into(pack<T, U> const& x, pack<T, U> const& totals) {
    return detail::fold_pairs(
        x, totals, [](auto a, auto b, auto c) CALQUE_INLINE_LAMBDA { return max_if_ordered(a, b, c); },
        [](auto a, auto b) CALQUE_INLINE_LAMBDA { return max_or_second(a, b); },
        [](auto const& a, auto const& b) CALQUE_INLINE_LAMBDA { return maximum(a, b); });
}
/// The lesser ones.
template <class T, int U>
CALQUE_INLINE pack<T, U> min_into(pack<T, U> const& x, pack<T, U> const& totals) {
    return detail::fold_pairs(
        x, totals, [](auto a, auto b, auto c) CALQUE_INLINE_LAMBDA { return min_if_ordered(a, b, c); },
        [](auto a, auto b) CALQUE_INLINE_LAMBDA { return min_or_second(a, b); },
        [](auto const& a, auto const& b) CALQUE_INLINE_LAMBDA { return minimum(a, b); });
}

namespace detail {

// Folds two packs into totals: with `first`, which looks for NaN in both, of what keeps NaN.
template <class T, int U, class First, class Second>
CALQUE_INLINE pack<T, U> fold_two(pack<T, U> const& x, pack<T, U> const& y, pack<T, U> const& totals, First first,
                                  Second second) {
    pack<T, U> const a = loaded_once(x), b = loaded_once(y);
    return pack<T, U>::generate(
        [&](int i) CALQUE_INLINE_LAMBDA { return first(a.r[i], second(b.r[i], totals.r[i]), b.r[i]); });
}

} // namespace detail

/// The greatest ones of `x`, `y` and totals, the least ones; NaN where there is one.
template <std::floating_point T, int U>
CALQUE_INLINE pack<T, U> max_of_three(pack<T, U> const& x, pack<T, U> const& y, pack<T, U> const& totals) {
    return detail::fold_two(
        x, y, totals, [](auto a, auto b, auto c) CALQUE_INLINE_LAMBDA { return max_if_ordered(a, b, c); },
        [](auto a, auto b) CALQUE_INLINE_LAMBDA { return max_or_second(a, b); });
}
template <std::floating_point T, int U>
CALQUE_INLINE pack<T, U> min_of_three(pack<T, U> const& x, pack<T, U> const& y, pack<T, U> const& totals) {
    return detail::fold_two(
        x, y, totals, [](auto a, auto b, auto c) CALQUE_INLINE_LAMBDA { return min_if_ordered(a, b, c); },
        [](auto a, auto b) CALQUE_INLINE_LAMBDA { return min_or_second(a, b); });
}

/// Totals all of whose lanes are folded at last, and one more for each element that is set, as masks of words say.
template <int U>
CALQUE_INLINE pack<std::int64_t, U> count_into(pack<bool, U> const& x, pack<std::int64_t, U> const& totals)
    requires(register_count != 32)
{
    auto const less = indices<U>([&](auto... i) CALQUE_INLINE_LAMBDA { return (x.r[i].words + ...); });
    pack<std::int64_t, U> result = totals;
    unroll<2>([&](auto half) CALQUE_INLINE_LAMBDA {
        result.r[half] = result.r[half] - bits_as<reg<std::int64_t>>(widen_mask(slice<half, width / 2>(less)));
    });
    return result;
}

/// How many elements are set.
template <int U>
CALQUE_INLINE int count(pack<bool, U> const& x) {
    return indices<U>([&](auto... i) CALQUE_INLINE_LAMBDA { return (__builtin_popcount(as_number(x.r[i])) + ...); });
}

} // namespace simd
} // namespace v0
} // namespace calque
