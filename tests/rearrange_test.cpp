// SPDX-License-Identifier: MIT
// Packs whose lanes are those of another one, in any order, of one register or of many.
#include <calque/kernels/cpu/rearrange.hpp>

#include <doctest/doctest.h>

#include <cstdint>

namespace {

/// `Count` places among `Size` elements, `Step` apart, around the end; every `Unknown`-th may be anything.
template <int Count, int Size, int Step, int Unknown>
struct steps_around {
    static constexpr int count = Count;
    static constexpr int at(int i) { return i % Unknown == Unknown - 1 ? -1 : i * Step % Size; }
};

/// Each of `Count` elements `Step` apart twice: `simd::shuffle` says what g++ 12 makes of 0, 0, 5, 5.
template <int Count, int Step>
struct twice {
    static constexpr int count = 2 * Count;
    static constexpr int at(int i) { return i / 2 * Step; }
};

/// The elements in reverse order.
template <int Count>
struct reversed {
    static constexpr int count = Count;
    static constexpr int at(int i) { return Count - 1 - i; }
};

template <class Places, class T, int Groups, int U>
void check() {
    using from = calque::simd::pack<T, U>;
    using to = calque::simd::pack<T, Groups>;
    T source[from::size], base[to::size], result[to::size], merged[to::size];
    for (int i = 0; i < from::size; ++i) {
        source[i] = static_cast<T>(i + 1);
    }
    for (int i = 0; i < to::size; ++i) {
        base[i] = static_cast<T>(-i - 1);
    }
    to const moved = calque::kernels::rearranged<Places, Groups>(from::load(source));
    moved.store(result);
    calque::kernels::either<Places>(to::load(base), moved).store(merged);
    for (int i = 0; i < Places::count; ++i) {
        CAPTURE(i);
        if (int const place = Places::at(i); place >= 0) {
            CHECK(result[i] == source[place]);
            CHECK(merged[i] == source[place]);
        } else {
            CHECK(merged[i] == base[i]);
        }
    }
    for (int i = Places::count; i < to::size; ++i) {
        CHECK(merged[i] == base[i]);
    }
}

template <class T, int Groups, int U>
void check_all() {
    constexpr int size = U * calque::simd::width, count = Groups * calque::simd::width;
    check<steps_around<count, size, 1, 1000>, T, Groups, U>();
    check<steps_around<count, size, 3, 1000>, T, Groups, U>();
    check<steps_around<count, size, 5, 3>, T, Groups, U>();
    check<steps_around<count - 1, size - 1, 7, 1000>, T, Groups, U>();
    check<steps_around<count / 2 + 1, size - 1, 2, 4>, T, Groups, U>();
    check<steps_around<count, size, 0, 1000>, T, Groups, U>();
    check<steps_around<count, size, calque::simd::width, 5>, T, Groups, U>();
    check<twice<2, calque::simd::width - 1>, T, Groups, U>();
    check<twice<2, calque::simd::width / 2 - 1>, T, Groups, U>();
    check<twice<2, calque::simd::width / 4 + 1>, T, Groups, U>();
    if constexpr (Groups == U) {
        check<reversed<count>, T, Groups, U>();
        check<reversed<count - 1>, T, Groups, U>();
    }
}

} // namespace

TEST_CASE_TEMPLATE("lanes in any order", T, float, double, std::int32_t, std::uint32_t, std::int64_t) {
    check_all<T, 1, 1>();
    check_all<T, 1, 2>();
    check_all<T, 2, 1>();
    check_all<T, 2, 2>();
    check_all<T, 3, 4>();
    check_all<T, 4, 3>();
}
