// SPDX-License-Identifier: MIT
// Packs of `half` and `bfloat16`: they are loaded, stored, chosen from and converted to float and back, no more.
#pragma once

#include <calque/kernels/cpu/pack_arithmetic.hpp>
#include <calque/kernels/cpu/registers_half.hpp>

namespace calque {
inline namespace v0 {
namespace simd {

/// `U` groups of numbers of two bytes: a pack of their bits.
template <half_float T, int U>
struct pack<T, U> : pack<std::uint16_t, U> {
    using bits = pack<std::uint16_t, U>;
    using value_type = T;

    pack() = default;
    CALQUE_INLINE explicit pack(bits const& x) : bits(x) {}
    CALQUE_INLINE explicit pack(T x) : bits(x.bits()) {}

    template <class F>
    CALQUE_INLINE static pack generate(F&& f) {
        return pack(bits::generate(f));
    }
    CALQUE_INLINE static pack load(T const* p) { return pack(bits::load(words(p))); }
    template <int Whole = 0>
    CALQUE_INLINE static pack load(T const* p, int n) {
        return pack(bits::template load<Whole>(words(p), n));
    }
    CALQUE_INLINE static pack load_strided(T const* p, std::ptrdiff_t stride, int n) {
        return pack(bits::load_strided(words(p), stride, n));
    }
    CALQUE_INLINE void store(T* p) const { bits::store(words(p)); }
    CALQUE_INLINE void store(T* p, int n) const { bits::store(words(p), n); }
    CALQUE_INLINE void store_strided(T* p, std::ptrdiff_t stride, int n) const {
        bits::store_strided(words(p), stride, n);
    }

private:
    // A number of two bytes is its only member.
    CALQUE_INLINE static std::uint16_t const* words(T const* p) { return reinterpret_cast<std::uint16_t const*>(p); }
    CALQUE_INLINE static std::uint16_t* words(T* p) { return reinterpret_cast<std::uint16_t*>(p); }
};

/// Each element as a float, exactly.
template <std::same_as<float> To, half_float From, int U>
CALQUE_INLINE pack<float, U> convert(pack<From, U> const& x) {
    return pack<float, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return widen_lanes<From>(x.r[i]); });
}

/// The number of two bytes nearest to each float, of two the even one.
template <half_float To, int U>
CALQUE_INLINE pack<To, U> convert(pack<float, U> const& x) {
    return pack<To, U>::generate([&](int i) CALQUE_INLINE_LAMBDA { return narrow_lanes<To>(x.r[i]); });
}

} // namespace simd
} // namespace v0
} // namespace calque
