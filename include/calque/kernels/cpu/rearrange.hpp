// SPDX-License-Identifier: MIT
// Packs whose lanes are those of another one in an order that the compiler knows: views of arrays in registers.
#pragma once

#include <calque/kernels/cpu/pack.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

namespace detail {

/// Where the lanes of register `I` of a result come from. `Places::at(i)`: the element of the source that element `i`
/// of the result is, of `Places::count`; below 0, it may be anything, as may what lanes behind the last element have.
template <class Places, int I, int Lanes>
struct register_places {
    int of[Lanes];

    constexpr register_places() {
        for (int lane = 0; lane < Lanes; ++lane) {
            of[lane] = I * Lanes + lane < Places::count ? Places::at(I * Lanes + lane) : -1;
        }
    }

    /// The first register of the source behind register `source` that some lane comes from; -1: there is none.
    constexpr int source_behind(int source) const {
        int next = -1;
        for (int const place : of) {
            bool const is_behind = place >= 0 && place / Lanes > source;
            next = is_behind && (next < 0 || place / Lanes < next) ? place / Lanes : next;
        }
        return next;
    }

    /// Whether all lanes are where they are in register `source`.
    constexpr bool is_whole(int source) const {
        bool is = true;
        for (int lane = 0; lane < Lanes; ++lane) {
            is = is && (of[lane] < 0 || of[lane] == source * Lanes + lane);
        }
        return is;
    }

    /// Which lane of registers `source` and `other`, one behind the other, a lane is. One that may be anything, or is
    /// found later, stays where it is.
    constexpr int lane_of_two(int lane, int source, int other) const {
        int const in = of[lane] < 0 ? -1 : of[lane] / Lanes;
        return in >= 0 && in == source ? of[lane] % Lanes : in >= 0 && in == other ? Lanes + of[lane] % Lanes : lane;
    }
};

/// Register `I` of a rearranged pack.
template <class Places, int I, class T>
struct rearranged_register {
    static constexpr int lanes = simd::lanes<T>;
    static constexpr register_places<Places, I, lanes> places{};

    template <int U>
    static CALQUE_INLINE simd::reg<T> from(simd::pack<T, U> const& x) {
        constexpr int first = places.source_behind(-1);
        if constexpr (first < 0) {
            return x.r[0];
        } else if constexpr (constexpr int second = places.source_behind(first); second >= 0) {
            return add<second>(x, simd::indices<lanes>([&](auto... lane) CALQUE_INLINE_LAMBDA {
                                   return simd::shuffle<places.lane_of_two(lane, first, second)...>(x.r[first],
                                                                                                    x.r[second]);
                               }));
        } else if constexpr (places.is_whole(first)) {
            return x.r[first];
        } else {
            return simd::indices<lanes>([&](auto... lane) CALQUE_INLINE_LAMBDA {
                return simd::shuffle<places.lane_of_two(lane, first, -1)...>(x.r[first], x.r[first]);
            });
        }
    }

private:
    /// What `found` has of the registers up to `Last`, and what the others have.
    template <int Last, int U>
    static CALQUE_INLINE simd::reg<T> add(simd::pack<T, U> const& x, simd::reg<T> found) {
        if constexpr (constexpr int next = places.source_behind(Last); next < 0) {
            return found;
        } else {
            return add<next>(x, simd::indices<lanes>([&](auto... lane) CALQUE_INLINE_LAMBDA {
                                 return simd::shuffle<places.lane_of_two(lane, -1, next)...>(found, x.r[next]);
                             }));
        }
    }
};

/// Which lanes of two registers are the first one's, where `Places::at(i)` is below 0, or the second one's.
template <class Places, int I, int Lanes>
constexpr int lane_of_either(int lane) {
    int const i = I * Lanes + lane;
    return i < Places::count && Places::at(i) >= 0 ? Lanes + lane : lane;
}

} // namespace detail

/// `Groups` groups whose element `i` is element `Places::at(i)` of `x`, for `i` below `Places::count`.
template <class Places, int Groups, class T, int U>
CALQUE_INLINE simd::pack<T, Groups> rearranged(simd::pack<T, U> const& x) {
    return simd::pack<T, Groups>::generate(
        [&](auto i) CALQUE_INLINE_LAMBDA { return detail::rearranged_register<Places, i, T>::from(x); });
}

/// The elements of `x` for which `Places` has a place, and those of `base` for which it has none.
template <class Places, class T, int Groups>
CALQUE_INLINE simd::pack<T, Groups> either(simd::pack<T, Groups> const& base, simd::pack<T, Groups> const& x) {
    return simd::pack<T, Groups>::generate([&](auto i) CALQUE_INLINE_LAMBDA {
        return simd::indices<simd::lanes<T>>([&](auto... lane) CALQUE_INLINE_LAMBDA {
            return simd::shuffle<detail::lane_of_either<Places, i, simd::lanes<T>>(lane)...>(base.r[i], x.r[i]);
        });
    });
}

} // namespace kernels
} // namespace v0
} // namespace calque
