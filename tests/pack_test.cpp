// SPDX-License-Identifier: MIT
// Packs in memory, their comparisons and reductions, against plain loops: all dtypes, tails and special values.
#include "pack_testing.hpp"

#include <memory>

#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace pack_testing;

/// An array that ends where the readable memory ends: whatever touches more than that crashes the test.
template <class T>
class guarded {
public:
    explicit guarded(std::size_t n) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
        memory_ =
            static_cast<char*>(mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(mprotect(memory_ + page_, page_, PROT_NONE) == 0);
        first_ = reinterpret_cast<T*>(memory_ + page_ - n * sizeof(T));
    }
    guarded(guarded const&) = delete;
    guarded& operator=(guarded const&) = delete;
    ~guarded() { munmap(memory_, 2 * page_); }
    T* data() { return first_; }

private:
    std::size_t page_;
    char* memory_;
    T* first_;
};

template <class T, int U>
void check_memory() {
    using P = pack<T, U>;
    elements<T, U> const from(1);
    for (int n = 0; n <= P::size; ++n) {
        guarded<T> memory(static_cast<std::size_t>(n));
        std::copy_n(from.value.begin(), n, memory.data());
        elements<T, U> const loaded(P::load(memory.data(), n));
        elements<T, U> const strided(P::load_strided(memory.data(), 1, n));
        bool ok = true;
        for (int i = 0; i < P::size; ++i) {
            T const expected = i < n ? from[i] : T(0);
            ok = ok && identical(loaded[i], expected) && identical(strided[i], expected);
        }
        std::fill_n(memory.data(), n, T(0));
        from.loaded().store(memory.data(), n);
        ok = ok && std::memcmp(memory.data(), from.value.data(), static_cast<std::size_t>(n) * sizeof(T)) == 0;
        elements<T, U> target;
        from.loaded().store(target.value.data(), n); // leaves what is behind n
        for (int i = n; i < P::size; ++i) {
            ok = ok && identical(target[i], T(0));
        }
        elements<T, U> const kept(keep_first(from.loaded(), P(T(1)), n));
        for (int i = 0; i < P::size; ++i) {
            ok = ok && identical(kept[i], i < n ? from[i] : T(1));
        }
        CHECK(ok);
    }
    elements<T, U> streamed;
    from.loaded().stream(streamed.value.data());
    CHECK(std::memcmp(streamed.value.data(), from.value.data(), sizeof streamed.value) == 0);

    for (int const stride : {0, 1, 3, -2}) {
        auto const many = samples<T>(static_cast<std::size_t>(4 * P::size), 2);
        std::unique_ptr<T[]> const memory(new T[many.size()]);
        std::copy(many.begin(), many.end(), memory.get());
        int const first = stride < 0 ? 2 * P::size : 0;
        elements<T, U> const loaded(P::load_strided(memory.get() + first, stride));
        bool ok = true;
        for (int i = 0; i < P::size; ++i) {
            ok = ok && identical<T>(loaded[i], many[static_cast<std::size_t>(first + i * stride)]);
        }
        if (stride != 0) {
            int const n = P::size - 1;
            std::fill_n(memory.get(), many.size(), T(0));
            from.loaded().store_strided(memory.get() + first, stride, n);
            ok = ok && identical(memory[static_cast<std::size_t>(first + n * stride)], T(0));
            from.loaded().store_strided(memory.get() + first, stride);
            for (int i = 0; i < P::size; ++i) {
                ok = ok && identical(memory[static_cast<std::size_t>(first + i * stride)], from[i]);
            }
        }
        CHECK(ok);
    }
}

template <class T, int U>
void check_comparisons() {
    using P = pack<T, U>;
    CHECK(agrees<T, U>([](P a, P b) { return a == b; }, [](T a, T b) { return a == b; }));
    CHECK(agrees<T, U>([](P a, P b) { return a != b; }, [](T a, T b) { return a != b; }));
    CHECK(agrees<T, U>([](P a, P b) { return a < b; }, [](T a, T b) { return a < b; }));
    CHECK(agrees<T, U>([](P a, P b) { return a <= b; }, [](T a, T b) { return a <= b; }));
    CHECK(agrees<T, U>([](P a, P b) { return a > b; }, [](T a, T b) { return a > b; }));
    CHECK(agrees<T, U>([](P a, P b) { return a >= b; }, [](T a, T b) { return a >= b; }));
    CHECK(agrees<T, U>([](P a, P b) { return select(a < b, a, b); }, [](T a, T b) { return a < b ? a : b; }));
    CHECK(agrees<T, U>([](P a, P b) { return select((a == a) & !(a < b), a, b); },
                       [](T a, T b) { return a == a && !(a < b) ? a : b; }));
    if constexpr (!std::is_same_v<T, bool>) {
        CHECK(agrees<T, U>([](P a, P b) { return simd::select_if<simd::comparison::less_equal>(a, b, b, a); },
                           [](T a, T b) { return a <= b ? b : a; }));
    }
    elements<T, U> const a(3), b(4);
    auto const less = a.loaded() < b.loaded();
    int expected = 0;
    for (int i = 0; i < P::size; ++i) {
        expected += a[i] < b[i] ? 1 : 0;
    }
    CHECK(count(less) == expected);
    CHECK(any(less) == (expected != 0));
    CHECK(!all(less));
    CHECK(all(less | !less));
    CHECK(!any(less & !less));
    CHECK(all(less ^ !less));
}

template <class T, int U>
void check_reductions() {
    using P = pack<T, U>;
    elements<T, U> a;
    for (int i = 0; i < P::size; ++i) {
        a[i] = static_cast<T>((i * 37) % 101); // small integers: sums are exact in every dtype, or wrap
    }
    T sum(0), product(1), greatest = a[0], least = a[0];
    elements<T, U> factors;
    for (int i = 0; i < P::size; ++i) {
        factors[i] = static_cast<T>(i % 7 == 0 ? 2 : 1);
        sum = static_cast<T>(sum + a[i]);
        product = static_cast<T>(product * factors[i]);
        greatest = std::max(greatest, a[i]);
        least = std::min(least, a[i]);
    }
    CHECK(reduce_add(a.loaded()) == sum);
    CHECK(reduce_mul(factors.loaded()) == product);
    CHECK(reduce_max(a.loaded()) == greatest);
    CHECK(reduce_min(a.loaded()) == least);
    bool ok = true;
    for (int i = 0; i < P::size; ++i) { // an extreme element, or a NaN, is found in every lane
        elements<T, U> b = a;
        b[i] = std::numeric_limits<T>::max();
        ok = ok && reduce_max(b.loaded()) == std::numeric_limits<T>::max();
        b[i] = std::numeric_limits<T>::lowest();
        ok = ok && reduce_min(b.loaded()) == std::numeric_limits<T>::lowest();
        if constexpr (is_floating<T>) {
            b[i] = std::numeric_limits<T>::quiet_NaN();
            ok = ok && std::isnan(reduce_max(b.loaded())) && std::isnan(reduce_min(b.loaded()));
        }
    }
    CHECK(ok);
    elements<T, 1> const folded(fold_groups(a.loaded(), [](pack<T, 1> x, pack<T, 1> y) { return maximum(x, y); }));
    for (int i = 0; i < pack<T, 1>::size; ++i) {
        T expected = a[i];
        for (int g = 1; g < U; ++g) {
            expected = std::max(expected, a[g * pack<T, 1>::size + i]);
        }
        ok = ok && folded[i] == expected;
    }
    CHECK(ok);
}

template <class T, int U>
void check_rotations() {
    constexpr int size = pack<T, U>::size;
    elements<T, U> const a(4);
    for (int n = 0; n <= pack<T, 1>::size; ++n) {
        elements<T, U> const left(rotate_left(a.loaded(), n)), right(rotate_right(a.loaded(), n));
        bool ok = true;
        for (int i = 0; i < size; ++i) {
            ok = ok && identical<T>(left[i], a[(i + n) % size]) && identical<T>(right[i], a[(i + size - n) % size]);
        }
        CAPTURE(n);
        CHECK(ok);
    }
}

TEST_CASE_TEMPLATE("packs load and store any number of elements, and touch no more", T, bool, std::int8_t, std::int16_t,
                   std::int32_t, std::int64_t, float, double){CALQUE_CHECK_SIZES(check_memory, T)}

TEST_CASE_TEMPLATE("packs compare and select as IEEE 754 and C++ do", T, bool,
                   CALQUE_NUMBERS){CALQUE_CHECK_SIZES(check_comparisons, T)}

TEST_CASE_TEMPLATE("packs reduce to one element", T, CALQUE_NUMBERS){CALQUE_CHECK_SIZES(check_reductions, T)}

TEST_CASE_TEMPLATE("packs rotate by up to a group", T, bool, CALQUE_NUMBERS){CALQUE_CHECK_SIZES(check_rotations, T)}

TEST_CASE("an odd number of groups works as well") {
    check_memory<float, 3>();
    check_rotations<double, 3>();
    check_reductions<double, 3>();
}

} // namespace
