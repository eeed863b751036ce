// SPDX-License-Identifier: MIT
// The type `pack`, and how packs are made from values and memory and go back there.
#pragma once

#include <calque/kernels/cpu/simd.hpp>

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace simd {

namespace detail {

// Whether some of the first n elements stand at `first` or behind: a register of which none do is not loaded or stored
// at all. (Its mask would be empty, but an empty access to a page that is not there is slow, and compilers warn of it.)
CALQUE_INLINE bool is_reached(int first, int n) {
    return first == 0 || n > first;
}

/// Makes a pack of its registers. (An object, as `unroll` is.)
template <class Pack, class Indices>
struct pack_generator;
template <class Pack, int... I>
struct pack_generator<Pack, std::integer_sequence<int, I...>> {
    template <class F>
    CALQUE_INLINE Pack operator()(F&& f) const {
        Pack p;
        ((p.r[I] = f(std::integral_constant<int, I>{})), ...);
        return p;
    }
};

} // namespace detail

/// Asks for the cache lines of `Count` elements that lie `ahead` bytes behind `p`; there need not be any. `ToStore`: as
/// they will be stored to.
template <int Count, bool ToStore = false, class T>
CALQUE_INLINE void prefetch(T const* p, std::ptrdiff_t ahead) {
    constexpr int line = 64;
    unroll<(Count * static_cast<int>(sizeof(T)) + line - 1) / line>([&](int i) CALQUE_INLINE_LAMBDA {
        __builtin_prefetch(reinterpret_cast<char const*>(p) + ahead + i * line, ToStore ? 1 : 0);
    });
}

/// `U` groups of elements of `T`, in registers.
template <class T, int U>
struct pack {
    using value_type = T;
    static constexpr int groups = U;
    static constexpr int size = U * width;
    static constexpr int registers = size / lanes<T>;

    reg<T> r[registers];

    pack() = default;

    // Copied register by register: g++ 12 copies a struct of vectors through the stack, in halves that stall the loads.
    CALQUE_INLINE pack(pack const& other) {
        unroll<registers>([&](int i) CALQUE_INLINE_LAMBDA { r[i] = other.r[i]; });
    }
    CALQUE_INLINE pack& operator=(pack const& other) {
        unroll<registers>([&](int i) CALQUE_INLINE_LAMBDA { r[i] = other.r[i]; });
        return *this;
    }

    /// `x` in every lane.
    CALQUE_INLINE explicit pack(T x) {
        reg<T> const everywhere = splat(x);
        unroll<registers>([&](int i) CALQUE_INLINE_LAMBDA { r[i] = everywhere; });
    }

    /// `generate(f)` is the pack whose register `i` is `f(i)`. An `f` that takes an `int` is one function to compile,
    /// one that takes a constant, `auto`, is one for each register.
    static constexpr detail::pack_generator<pack, std::make_integer_sequence<int, registers>> generate{};

    CALQUE_INLINE static pack load(T const* p) {
        return generate([&](int i) CALQUE_INLINE_LAMBDA { return simd::load(p + i * lanes<T>); });
    }

    /// The first `n` elements (0 <= n <= size), the other lanes zero. Memory past them is not touched. `Whole`: so many
    /// groups are whole, and not all.
    template <int Whole = 0>
    CALQUE_INLINE static pack load(T const* p, int n) {
        return generate([&](auto i) CALQUE_INLINE_LAMBDA {
            constexpr int first = i * lanes<T>;
            if constexpr (first < Whole * width) {
                return simd::load(p + first);
            } else {
                constexpr int in_part = first - Whole * width;
                return detail::is_reached(in_part, n - Whole * width) ? simd::load_n(p + first, n - first) : reg<T>{};
            }
        });
    }

    /// Elements `stride` apart, in elements; it may be 0 or negative.
    CALQUE_INLINE static pack load_strided(T const* p, std::ptrdiff_t stride) {
        return generate([&](auto i) CALQUE_INLINE_LAMBDA {
            return indices<lanes<T>>([&](auto... j)
                                         CALQUE_INLINE_LAMBDA { return reg<T>{p[(i * lanes<T> + j) * stride]...}; });
        });
    }

    CALQUE_INLINE static pack load_strided(T const* p, std::ptrdiff_t stride, int n) {
        if (stride == 1) {
            return load(p, n);
        }
        T element[size] = {};
        for (int i = 0; i < n; ++i) {
            element[i] = p[i * stride];
        }
        return load(element);
    }

    CALQUE_INLINE void store(T* p) const {
        unroll<registers>([&](int i) CALQUE_INLINE_LAMBDA { simd::store(p + i * lanes<T>, r[i]); });
    }

    /// Stores the first `n` elements (0 <= n <= size).
    CALQUE_INLINE void store(T* p, int n) const {
        unroll<registers>([&](int i) CALQUE_INLINE_LAMBDA {
            if (detail::is_reached(i * lanes<T>, n)) {
                simd::store_n(p + i * lanes<T>, r[i], n - i * lanes<T>);
            }
        });
    }

    CALQUE_INLINE void store_strided(T* p, std::ptrdiff_t stride) const {
        unroll<registers>([&](auto i) CALQUE_INLINE_LAMBDA {
            unroll<lanes<T>>([&](auto j) CALQUE_INLINE_LAMBDA { p[(i * lanes<T> + j) * stride] = r[i][j.value]; });
        });
    }

    CALQUE_INLINE void store_strided(T* p, std::ptrdiff_t stride, int n) const {
        if (stride == 1) {
            store(p, n);
            return;
        }
        T element[size];
        store(element);
        for (int i = 0; i < n; ++i) {
            p[i * stride] = element[i];
        }
    }

    /// Stores past the caches, for outputs that nothing reads soon. `p` is aligned to a register (64 bytes always do).
    CALQUE_INLINE void stream(T* p) const {
        unroll<registers>([&](int i) CALQUE_INLINE_LAMBDA { simd::stream(p + i * lanes<T>, r[i]); });
    }

    /// first, first + 1, first + 2, ...; integers wrap around.
    CALQUE_INLINE static pack iota(T first) {
        return generate([&](auto i) CALQUE_INLINE_LAMBDA {
            return indices<lanes<T>>([&](auto... j) CALQUE_INLINE_LAMBDA {
                if constexpr (std::integral<T>) {
                    using Wrapping = vec<unsigned_of<T>, lanes<T>>;
                    auto const steps = Wrapping{static_cast<unsigned_of<T>>(i * lanes<T> + j)...};
                    return bits_as<reg<T>>(splat(static_cast<unsigned_of<T>>(first)) + steps);
                } else {
                    return splat(first) + reg<T>{static_cast<T>(i * lanes<T> + j)...};
                }
            });
        });
    }
};

/// `U` groups of bools, which fit every dtype whatever dtype made them.
///
/// In memory a bool is a byte, 0 or 1. Bits beyond a group's width are zero.
template <int U>
struct pack<bool, U> {
    using value_type = bool;
    static constexpr int groups = U;
    static constexpr int size = U * width;
    static constexpr int registers = U;
    static constexpr unsigned all_lanes = (1u << width) - 1;

    group_mask r[U];

    pack() = default;

    CALQUE_INLINE explicit pack(bool x) {
        unroll<U>([&](int i) CALQUE_INLINE_LAMBDA { r[i] = group_mask(x ? all_lanes : 0u); });
    }

    /// The pack whose group `i` is `f(i)`, or has its bits; bits beyond the width are dropped.
    template <class F>
    CALQUE_INLINE static pack generate(F&& f) {
        return [&]<int... I>(std::integer_sequence<int, I...>) CALQUE_INLINE_LAMBDA {
            pack p;
            ((p.r[I] = group_mask(f(std::integral_constant<int, I>{}))), ...);
            return p;
        }(std::make_integer_sequence<int, registers>{});
    }

    CALQUE_INLINE static pack load(bool const* p) {
        return generate([&](int i) CALQUE_INLINE_LAMBDA { return load_bools(p + i * width); });
    }
    template <int Whole = 0>
    CALQUE_INLINE static pack load(bool const* p, int n) {
        return generate([&](auto i) CALQUE_INLINE_LAMBDA {
            if constexpr (i < Whole) {
                return load_bools(p + i * width);
            } else {
                return detail::is_reached((i - Whole) * width, n - Whole * width)
                           ? load_bools_n(p + i * width, n - i * width)
                           : 0u;
            }
        });
    }
    CALQUE_INLINE static pack load_strided(bool const* p, std::ptrdiff_t stride) {
        return load_strided(p, stride, size);
    }
    CALQUE_INLINE static pack load_strided(bool const* p, std::ptrdiff_t stride, int n) {
        bool element[size] = {};
        for (int i = 0; i < n; ++i) {
            element[i] = p[i * stride];
        }
        return load(element);
    }
    CALQUE_INLINE void store(bool* p) const {
        unroll<U>([&](int i) CALQUE_INLINE_LAMBDA { store_bools(p + i * width, r[i].bits); });
    }
    CALQUE_INLINE void store(bool* p, int n) const {
        unroll<U>([&](int i) CALQUE_INLINE_LAMBDA {
            if (detail::is_reached(i * width, n)) {
                store_bools_n(p + i * width, r[i].bits, n - i * width);
            }
        });
    }
    CALQUE_INLINE void store_strided(bool* p, std::ptrdiff_t stride) const { store_strided(p, stride, size); }
    CALQUE_INLINE void store_strided(bool* p, std::ptrdiff_t stride, int n) const {
        bool element[size];
        store(element);
        for (int i = 0; i < n; ++i) {
            p[i * stride] = element[i];
        }
    }
    CALQUE_INLINE void stream(bool* p) const { store(p); }
};

/// The element of the first lane.
template <class T, int U>
CALQUE_INLINE T first_element(pack<T, U> const& x) {
    if constexpr (std::same_as<T, bool>) {
        return (x.r[0].bits & 1) != 0;
    } else {
        return bits_as<T>(x.r[0][0]); // numbers of two bytes are registers of their bits
    }
}

} // namespace simd
} // namespace v0
} // namespace calque
