// SPDX-License-Identifier: MIT
// What the tests of packs share: sample values, and the comparison of packs with plain loops.
#pragma once

#define DOCTEST_CONFIG_SUPER_FAST_ASSERTS // these tests are thousands of functions: half the time to compile

#include <calque/kernels/cpu/pack.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace pack_testing {

namespace simd = calque::simd;
using simd::pack;

template <class T>
constexpr bool is_floating = std::is_floating_point_v<T>;

/// Equal, with NaN equal to NaN and 0 different from -0.
template <class T>
bool identical(T a, T b) {
    if constexpr (is_floating<T>) {
        return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
    } else {
        return a == b;
    }
}

/// Special values first, then random bits and random small numbers.
template <class T>
std::vector<T> samples(std::size_t n, unsigned seed) {
    using limits = std::numeric_limits<T>;
    std::vector<T> values;
    if constexpr (std::is_same_v<T, bool>) {
        values = {true, false, false, true, true};
    } else if constexpr (is_floating<T>) {
        values = {T(0),
                  -T(0),
                  T(1),
                  -T(1),
                  T(0.5),
                  T(-0.5),
                  T(1.5),
                  T(-2.5),
                  limits::max(),
                  -limits::max(),
                  limits::min(),
                  limits::denorm_min(),
                  limits::infinity(),
                  -limits::infinity(),
                  limits::quiet_NaN(),
                  T(1) / limits::epsilon()};
    } else {
        values = {T(0), T(1), static_cast<T>(-1), limits::max(), limits::min(), T(2), static_cast<T>(-2), T(7)};
    }
    std::mt19937_64 random(seed);
    while (values.size() < n) {
        std::uint64_t const bits = random();
        if constexpr (std::is_same_v<T, bool>) {
            values.push_back((bits & 1) != 0);
        } else if (values.size() % 2 == 0) {
            T value;
            std::memcpy(&value, &bits, sizeof value);
            values.push_back(value);
        } else {
            values.push_back(static_cast<T>(static_cast<int>(bits % 41) - (std::is_signed_v<T> ? 20 : 0)));
        }
    }
    std::shuffle(values.begin(), values.end(), random);
    values.resize(n);
    return values;
}

// std::vector<bool> has no data(): the tests keep elements in plain arrays.
template <class T, int U>
struct elements {
    static constexpr int size = pack<T, U>::size;
    alignas(64) std::array<T, size> value{};

    elements() = default;
    explicit elements(pack<T, U> const& p) { p.store(value.data()); }
    explicit elements(unsigned seed) {
        auto const from = samples<T>(size, seed);
        std::copy(from.begin(), from.end(), value.begin());
    }
    T& operator[](int i) { return value[static_cast<std::size_t>(i)]; }
    T operator[](int i) const { return value[static_cast<std::size_t>(i)]; }
    pack<T, U> loaded() const { return pack<T, U>::load(value.data()); }
};

/// Tells where two arrays differ. Out of line, as what is the same in all tests must be: they are many.
template <class T>
[[gnu::noinline]] bool all_identical(T const* actual, T const* expected, int n) {
    for (int i = 0; i < n; ++i) {
        if (!identical(actual[i], expected[i])) {
            MESSAGE("element " << i << " is " << +actual[i] << ", not " << +expected[i]);
            return false;
        }
    }
    return true;
}

constexpr int sample_count = 512; // a multiple of every pack's size

template <class T>
struct operands {
    T a[sample_count];
    T b[sample_count];

    operands() {
        auto const first = samples<T>(sample_count, 1), second = samples<T>(sample_count, 2);
        std::copy(first.begin(), first.end(), a);
        std::copy(second.begin(), second.end(), b);
    }
};

template <class T>
[[gnu::noinline]] operands<T> const& all_operands() {
    static operands<T> const once;
    return once;
}

/// Whether `f` on packs gives, in each lane, what `expected` gives for that lane's elements.
template <class T, int U, class F, class G>
bool agrees(F f, G expected) {
    using P = pack<T, U>;
    using R = typename decltype(f(P(), P()))::value_type;
    auto const& [a, b] = all_operands<T>();
    R actual[sample_count], wanted[sample_count];
    for (int i = 0; i + P::size <= sample_count; i += P::size) {
        f(P::load(a + i), P::load(b + i)).store(actual + i);
    }
    for (int i = 0; i < sample_count; ++i) {
        wanted[i] = static_cast<R>(expected(a[i], b[i]));
    }
    return all_identical(actual, wanted, sample_count / P::size * P::size);
}

#define CALQUE_NUMBERS                                                                                                 \
    std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,  \
        float, double

// All dtypes in packs of two groups; in the other sizes those dtypes that lie differently in registers.
template <class T>
constexpr bool in_all_sizes = std::is_same_v<T, bool> || std::is_same_v<T, std::int8_t> || is_floating<T>;

#define CALQUE_CHECK_SIZES(check, T)                                                                                   \
    check<T, 2>();                                                                                                     \
    if constexpr (in_all_sizes<T>) {                                                                                   \
        check<T, 1>();                                                                                                 \
        check<T, 4>();                                                                                                 \
    }

} // namespace pack_testing
