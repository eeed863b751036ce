// SPDX-License-Identifier: MIT
// Maxima, minima and their positions along rows and columns: the interpreter's bits, and what NaN, infinities and ties
// do to them.
#include "tensor_compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

namespace {

using calque::keepdims;
using tests::check_fused;
using tests::equal_bits;
using tests::noise;

using matrix = xt::xtensor<float, 2>;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

inline constexpr auto extremes = [](auto x) {
    return std::tuple{calque::max<-1>(x), calque::min<-1>(x, keepdims), calque::max(x), calque::min(-x)};
};
inline constexpr auto positions = [](auto x) {
    return std::tuple{calque::argmax<-1>(x), calque::argmax<0>(x), calque::argmax<-1>(-x, keepdims)};
};

/// Bounds on both sides, of every kind: the compiler knows them.
template <class T>
inline constexpr auto bounded = [](auto x) {
    constexpr T none = std::numeric_limits<T>::quiet_NaN();
    return std::tuple{maximum(x, T(0)),   minimum(x, T(0)),   maximum(T(0), x),   minimum(T(0), x),
                      maximum(x, T(-0.)), minimum(x, T(-0.)), maximum(T(-0.), x), minimum(T(-0.), x),
                      maximum(x, T(1)),   minimum(T(1), x),   maximum(x, none),   minimum(none, x),
                      clip(x, T(-1), 2)};
};

inline constexpr auto first_largest = [](auto x) { return calque::argmax<-1>(x); };
inline constexpr auto first_least = [](auto x) { return calque::argmin<-1>(x); };
inline constexpr auto first_of_function = [](auto x) { return calque::argmax<-1>(calque::tanh(x) * x); };
/// More steps than a kernel has a loop without masks for.
inline constexpr auto first_of_many_steps = [](auto x) {
    auto y = x;
    for (int i = 0; i < 24; ++i) {
        y = y * 0.5 + x;
        y = calque::maximum(y, x);
    }
    return calque::argmax<-1>(y);
};
inline constexpr auto some_positive = [](auto x) { return calque::any<-1>(x > 0); };
inline constexpr auto none_positive = [](auto x) { return calque::all<-1>(x <= 0); };

/// A row for each column, which has the largest element there, and again behind it; in the last row all are equal.
template <class T>
xt::xtensor<T, 2> with_largest_at_each(std::size_t columns) {
    xt::xtensor<T, 2> x = xt::zeros<T>({columns + 1, columns});
    for (std::size_t i = 0; i < columns; ++i) {
        x(i, i) = T(1);
        for (std::size_t const again : {i + 1, i + 16, columns - 1}) {
            if (again < columns) {
                x(i, again) = T(1);
            }
        }
    }
    return x;
}

/// Whether `f` of each of the first `count` rows is the row's number, and of the last 0.
template <class T>
void check_found_at_each(auto const& f, xt::xtensor<T, 2> const& x) {
    auto const found = f(x);
    std::size_t const count = x.shape(0) - 1;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
        wrong += found(i) != static_cast<std::int64_t>(i);
    }
    CHECK(wrong == 0);
    CHECK(found(count) == 0);
}

constexpr std::size_t column_counts[] = {1, 2, 15, 16, 17, 31, 33, 64, 100, 1000};

} // namespace

TEST_CASE("maxima and minima: the bits, NaN and infinities") {
    for (std::size_t const n : column_counts) {
        CAPTURE(n);
        matrix x = noise<float, 2>({5, n}, 1);
        check_fused(extremes, equal_bits, x);
        x(1, n / 2) = not_a_number;
        x(2, n - 1) = infinity;
        x(3, 0) = -infinity;
        check_fused(extremes, equal_bits, x);
        auto const [rows, lowest, all, least] = calque::function(extremes)(x);
        CHECK(std::isnan(rows(1)));
        CHECK(rows(2) == infinity);
        CHECK(std::isnan(lowest(1, 0)));
        CHECK(lowest(3, 0) == -infinity);
        CHECK(std::isnan(all));
        CHECK(std::isnan(least));
        check_fused(extremes, equal_bits, noise<std::int32_t, 2>({5, n}, 2));
    }
    check_fused(extremes, equal_bits, matrix(xt::full_like(noise<float, 2>({3, 20}, 1), -infinity)));
}

TEST_CASE_TEMPLATE("NaN anywhere in a row is its maximum and its minimum, also two of them", T, float, double) {
    T const none = std::numeric_limits<T>::quiet_NaN();
    auto const f = calque::function([](auto x) { return std::tuple{calque::max<-1>(x), calque::min<-1>(x)}; });
    for (std::size_t const n : {64u, 130u, 300u}) {
        xt::xtensor<T, 2> const without = noise<T, 2>({2, n}, 1);
        auto const [greatest, least] = f(without);
        for (std::size_t at = 0; at < n; ++at) {
            for (std::size_t const distance : {0u, 8u, 16u, 24u, 64u}) { // in registers that are looked at together
                CAPTURE(n);
                CAPTURE(at);
                CAPTURE(distance);
                xt::xtensor<T, 2> x = without;
                x(0, at) = none;
                x(0, std::min(at + distance, n - 1)) = none;
                auto const [highest, lowest] = f(x);
                CHECK(std::isnan(highest(0)));
                CHECK(std::isnan(lowest(0)));
                CHECK(highest(1) == greatest(1));
                CHECK(lowest(1) == least(1));
            }
        }
    }
}

TEST_CASE_TEMPLATE("bounds that the compiler knows: the bits, NaN and signed zeros", T, float, double) {
    T const none = std::numeric_limits<T>::quiet_NaN(), most = std::numeric_limits<T>::infinity();
    xt::xtensor<T, 1> x = noise<T, 1>({40}, 1) * T(3);
    x(3) = T(-0.);
    x(4) = T(0);
    x(7) = none;
    x(11) = most;
    x(19) = -most;
    x(20) = T(1);
    x(21) = T(-1);
    x(35) = std::numeric_limits<T>::denorm_min();
    x(38) = T(-0.);
    x(39) = none;
    check_fused(bounded<T>, equal_bits, x);
    auto const f = calque::function(bounded<T>);
    CHECK(std::isnan(std::get<0>(f(x))(7)));
    CHECK(!std::signbit(std::get<0>(f(x))(38)));
    CHECK(std::get<12>(f(x))(11) == T(2));
    CHECK(std::get<12>(f(x))(19) == T(-1));
    check_fused([](auto i) { return std::tuple{maximum(i, 1), minimum(-1, i)}; }, equal_bits,
                noise<std::int32_t, 1>({21}, 2));
}

TEST_CASE("argmax: the first of equals, the first NaN") {
    for (std::size_t const n : column_counts) {
        CAPTURE(n);
        matrix x = xt::floor(noise<float, 2>({6, n}, 1) * 2.f);
        check_fused(positions, equal_bits, x);
        x(2, n / 2) = not_a_number;
        x(2, n - 1) = not_a_number;
        xt::view(x, 3, xt::all()) = -infinity;
        check_fused(positions, equal_bits, x);
        auto const [last, first, lowest] = calque::function(positions)(x);
        CHECK(last(2) == static_cast<std::int64_t>(n / 2));
        CHECK(last(3) == 0);
        CHECK(lowest(3, 0) == 0);
        CHECK(first(n / 2) == 2);
        check_fused(positions, equal_bits, noise<std::int8_t, 2>({6, n}, 2));
    }
}

TEST_CASE_TEMPLATE("argmax and argmin: at each column, and again behind it", T, float, double, std::int8_t) {
    auto const largest = calque::function(first_largest, {.max_warnings = 0});
    auto const least = calque::function(first_least, {.max_warnings = 0});
    for (std::size_t n = 1; n < 140; n += n < 40 || n > 120 ? 1 : 7) {
        CAPTURE(n);
        auto const x = with_largest_at_each<T>(n);
        check_found_at_each(largest, x);
        check_found_at_each(least, xt::xtensor<T, 2>(-x));
    }
}

TEST_CASE("argmax: NaN at each column, before and behind what is larger than all") {
    auto const largest = calque::function(first_largest, {.max_warnings = 0});
    for (std::size_t const n : {5u, 16u, 33u, 63u, 64u, 65u, 130u}) {
        CAPTURE(n);
        auto x = with_largest_at_each<float>(n);
        for (std::size_t i = 0; i < n; ++i) {
            x(i, 0) = x(i, n - 1) = infinity;
            x(i, i) = not_a_number;
        }
        check_found_at_each(largest, x);
    }
}

TEST_CASE("argmax of a function, whose values are kept from the walk for the maximum") {
    auto const f = calque::function(first_of_function, {.max_warnings = 0});
    for (std::size_t const n : {17u, 64u, 129u, 200u}) {
        CAPTURE(n);
        check_found_at_each(f, with_largest_at_each<float>(n));
        check_fused(first_of_function, equal_bits, noise<float, 2>({3, n}, 1));
    }
}

TEST_CASE("argmax in a kernel of many steps, which has one loop") {
    for (std::size_t const n : {17u, 64u, 129u, 200u}) {
        CAPTURE(n);
        check_fused(first_of_many_steps, equal_bits, noise<float, 2>({3, n}, 1));
        check_fused(first_of_many_steps, equal_bits, xt::xtensor<float, 2>(-with_largest_at_each<float>(n)));
    }
}

TEST_CASE_TEMPLATE("any and all: at each column, and nowhere", T, float, double) {
    auto const f = calque::function(some_positive, {.max_warnings = 0});
    auto const g = calque::function(none_positive, {.max_warnings = 0});
    for (std::size_t n = 1; n < 140; n += n < 40 || n > 120 ? 1 : 7) {
        CAPTURE(n);
        xt::xtensor<T, 2> const x = with_largest_at_each<T>(n);
        xt::xtensor<bool, 1> const is_some = f(x);
        xt::xtensor<bool, 1> const is_none = g(x);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i <= n; ++i) {
            wrong += is_some(i) != (i < n) || is_none(i) != (i == n);
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("argmax, any and all of vectors, of few elements and of more than caches hold") {
    auto const largest = calque::function(first_largest, {.max_warnings = 0});
    auto const f = calque::function(some_positive, {.max_warnings = 0});
    auto const g = calque::function(none_positive, {.max_warnings = 0});
    for (std::size_t const n : {1u, 2u, 15u, 16u, 17u, 31u, 33u, 64u, 65u, 100u, 127u, 1000u, 30'011u, 3'000'001u}) {
        CAPTURE(n);
        xt::xtensor<float, 1> x = xt::zeros<float>({n});
        CHECK(largest(x) == 0);
        CHECK(!f(x));
        CHECK(g(x));
        for (std::size_t const at : {n - 1, n - n / 10 - 1, n / 2, n / 7, std::size_t{0}}) {
            x(at) = 1.f;
            CHECK(largest(x) == static_cast<std::int64_t>(at));
            CHECK(f(x));
            CHECK(!g(x));
        }
        x(n / 3) = not_a_number;
        CHECK(largest(x) == static_cast<std::int64_t>(n / 3));
    }
}
