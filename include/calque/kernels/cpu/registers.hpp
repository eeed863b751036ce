// SPDX-License-Identifier: MIT
// Registers as types: how many lanes, how they are loaded, stored, sliced. simd.hpp adds the arithmetic.
#pragma once

#include <calque/core/compatibility.hpp>
#include <calque/kernels/cpu/unroll.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace calque {
inline namespace v0 {
namespace simd {

/// Whether `fma` rounds once; and the vector registers there are, which bound a tile of accumulators.
#if defined(__AVX512F__)
inline constexpr bool has_fused_multiply = true;
inline constexpr int register_count = 32;
#elif defined(__x86_64__) || defined(__i386__)
#if defined(__FMA__)
inline constexpr bool has_fused_multiply = true;
#else
inline constexpr bool has_fused_multiply = false;
#endif
inline constexpr int register_count = 16;
#else
inline constexpr bool has_fused_multiply = true;
inline constexpr int register_count = 32;
#endif

/// Whether `stream` stores past the caches.
#if defined(__SSE2__)
inline constexpr bool has_streams = true;
#else
inline constexpr bool has_streams = false;
#endif

/// Whether an instruction or three do what `lookup` does for two registers of `T`.
#if defined(__AVX512F__)
template <class T>
inline constexpr bool has_lookup_of_pairs = sizeof(T) >= 4;
#elif defined(__AVX2__)
template <class T>
inline constexpr bool has_lookup_of_pairs = sizeof(T) == 4;
#else
template <class T>
inline constexpr bool has_lookup_of_pairs = false;
#endif

namespace detail {

// A member typedef: g++ applies a dependent vector_size only there.
template <class T, int N>
struct vector {
    typedef T type __attribute__((vector_size(static_cast<std::size_t>(N) * sizeof(T))));
};

} // namespace detail

/// `N` lanes of `T` as a vector type of the compiler; `N` is a power of two.
template <class T, int N>
using vec = typename detail::vector<T, N>::type;

/// The elements of a *group*: the float lanes of a register. 16 with AVX-512, 8 with AVX, 4 with SSE2 and NEON.
inline constexpr int width = static_cast<int>(sizeof(compatibility::register_of<float>) / sizeof(float));

/// The lanes of a register of `T`: at most a group, so a group of doubles takes two registers, and one of int8 a
/// quarter of one.
template <class T>
inline constexpr int lanes = sizeof(T) <= sizeof(float) ? width : width / 2;

namespace detail {

template <class T>
struct register_type {
    using type = vec<T, lanes<T>>;
};
template <>
struct register_type<float> {
    using type = compatibility::register_of<float>;
};
template <>
struct register_type<double> {
    using type = compatibility::register_of<double>;
};

// The same registers as they lie in memory: aligned like an element, and free to alias it.
template <class T>
struct register_in_memory {
    typedef T type
        __attribute__((vector_size(static_cast<std::size_t>(lanes<T>) * sizeof(T)), aligned(alignof(T)), may_alias));
};

} // namespace detail

/// A register of `T`. Floating types have xsimd's register, integers a vector type of the compiler.
///
/// xsimd's integer batches are not used: 8.1 has no division and no 8- or 16-bit multiplication.
template <class T>
using reg = typename detail::register_type<T>::type;

/// The element type of a register, and its number of lanes.
template <class R>
using element_of = std::remove_cvref_t<decltype(R{}[0])>;
template <class R>
inline constexpr int lanes_of = static_cast<int>(sizeof(R) / sizeof(element_of<R>));

/// The signed integer as wide as `T`, and the unsigned one.
template <class T>
using signed_of = std::conditional_t<
    sizeof(T) == 1, std::int8_t,
    std::conditional_t<sizeof(T) == 2, std::int16_t, std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>>;
template <class T>
using unsigned_of = std::make_unsigned_t<signed_of<T>>;

/// The bits of `x` as another type of the same size.
template <class To, class From>
CALQUE_INLINE To bits_as(From x) {
    return __builtin_bit_cast(To, x);
}

template <class T>
CALQUE_INLINE reg<T> load(T const* p) {
    return bits_as<reg<T>>(*reinterpret_cast<typename detail::register_in_memory<T>::type const*>(p));
}

template <class T>
CALQUE_INLINE void store(T* p, std::type_identity_t<reg<T>> r) {
    using memory = typename detail::register_in_memory<T>::type;
    *reinterpret_cast<memory*>(p) = bits_as<memory>(r);
}

/// Some registers. (Of `std::array` g++ warns that the attributes of their type are lost.)
template <class T, int Count>
struct register_array {
    reg<T> of[Count];

    CALQUE_INLINE reg<T>& operator[](int i) { return of[i]; }
    CALQUE_INLINE reg<T> const& operator[](int i) const { return of[i]; }
};

/// `x` in every lane.
template <class T>
CALQUE_INLINE reg<T> splat(T x) {
    return [&]<int... I>(std::integer_sequence<int, I...>)
               CALQUE_INLINE_LAMBDA { return reg<T>{((void)I, x)...}; }(std::make_integer_sequence<int, lanes<T>>{});
}

/// Lanes `K * N` to `K * N + N - 1` of a vector.
template <int K, int N, class R>
CALQUE_INLINE auto slice(R x) {
    return indices<N>([&](auto... i) CALQUE_INLINE_LAMBDA { return __builtin_shufflevector(x, x, (K * N + i)...); });
}

/// The lanes of `a`, then those of `b`.
template <class R>
CALQUE_INLINE auto concatenate(R a, R b) {
    return indices<2 * lanes_of<R>>([&](auto... i)
                                        CALQUE_INLINE_LAMBDA { return __builtin_shufflevector(a, b, i.value...); });
}

/// The lanes `Lane` of `a` and `b`, one behind the other.
template <int... Lane, class R>
CALQUE_INLINE R shuffle(R a, R b) {
    // g++ 12 takes some orders of 8 doubles for others (0, 0, 5, 5, 4, 5, 6, 7 for 0, 0, 3, 3, ...), of integers none.
    if constexpr (std::is_same_v<element_of<R>, double> && lanes_of<R> == 8) {
        using integers = vec<std::int64_t, 8>;
        return bits_as<R>(__builtin_shufflevector(bits_as<integers>(a), bits_as<integers>(b), Lane...));
    } else {
        return __builtin_shufflevector(a, b, Lane...);
    }
}

namespace detail {

template <class Order, class Indices>
struct shuffler;
template <class Order, int... I>
struct shuffler<Order, std::integer_sequence<int, I...>> {
    template <class R>
    CALQUE_INLINE R operator()(R a, R b) const {
        return shuffle<Order::lane(I)...>(a, b);
    }
};

} // namespace detail

/// The lanes `Order::lane(i)` of `a` and `b`, one behind the other. (Of many lanes cheaper to compile than a lambda for
/// their numbers.)
template <class Order, class R>
CALQUE_INLINE R shuffle_by(R a, R b) {
    return detail::shuffler<Order, std::make_integer_sequence<int, lanes_of<R>>>{}(a, b);
}

/// A comparison, as a template argument. All are IEEE: of a NaN only `not_equal` is true.
enum class comparison { equal, not_equal, less, less_equal, greater, greater_equal };

/// The bits of the lanes below `n`; `n` may be below 0 and above the number of lanes.
template <int Lanes>
CALQUE_INLINE unsigned first_lanes(int n) {
    int const some = n < 0 ? 0 : n;
    return (1u << (some < Lanes ? some : Lanes)) - 1; // no branch: two conditional moves
}

} // namespace simd
} // namespace v0
} // namespace calque
