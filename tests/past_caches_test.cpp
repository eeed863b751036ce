// SPDX-License-Identifier: MIT
// Arrays that no cache holds, whose results are stored past the caches: against the same function of parts of them,
// which are stored as ever.
#include <calque/calque.hpp>
#include <doctest/doctest.h>
#include <xtensor/xadapt.hpp>
#include <xtensor/xtensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

namespace {

using calque::expand_dims;
using calque::keepdims;
using calque::mean;

/// So many numbers that lie `offset` elements behind the beginning of a line.
template <class T>
struct numbers {
    numbers(std::size_t size, std::size_t offset, std::uint32_t seed = 1) : memory(size + offset + 32), first(offset) {
        while (reinterpret_cast<std::uintptr_t>(&memory[first]) % 64 != offset * sizeof(T) % 64) {
            ++first;
        }
        for (std::size_t i = 0; i < size; ++i) {
            seed = seed * 1664525U + 1013904223U;
            memory[first + i] = static_cast<T>(static_cast<std::int32_t>(seed >> 8) - (1 << 23)) / T(1 << 16);
        }
    }

    auto as(std::size_t rows, std::size_t columns) {
        return xt::adapt(&memory[first], rows * columns, xt::no_ownership(), std::array{rows, columns});
    }
    auto as_vector(std::size_t size) { return xt::adapt(&memory[first], size, xt::no_ownership(), std::array{size}); }
    T* data() { return &memory[first]; }

    std::vector<T> memory;
    std::size_t first;
};

template <class T>
bool are_equal(T const* a, T const* b, std::size_t size) {
    return std::memcmp(a, b, size * sizeof(T)) == 0;
}

inline constexpr auto chain = [](auto a, auto b) { return a * b + 0.25 * a - 1; };
inline constexpr auto function_of_one = [](auto a) { return calque::tanh(a); };
inline constexpr auto two = [](auto a, auto b) { return std::tuple{a + b, a * b}; };
inline constexpr auto add_row = [](auto a, auto row) { return a + row; };
inline constexpr auto scale_rows = [](auto a, auto scale) { return a * expand_dims<1>(scale); };
inline constexpr auto layer_norm = [](auto x) {
    auto const d = x - mean<1>(x, keepdims);
    return d * calque::rsqrt(mean<1>(d * d, keepdims) + 1e-5);
};

/// Whether the plan of a call says that results are stored past the caches.
bool passes_caches(auto const& f, auto const&... x) {
    return f.plan(x...).text().find("stored past the caches") != std::string::npos;
}

/// Runs `f` on all rows and on parts of them, and compares.
template <class T, class F>
void check_rows(F const& f, std::size_t rows, std::size_t columns, std::size_t offset) {
    CAPTURE(rows);
    CAPTURE(columns);
    CAPTURE(offset);
    numbers<T> x(rows * columns, 4);
    numbers<T> result(rows * columns, offset, 2);
    numbers<T> expected(rows * columns, 0, 3);
    auto all = result.as(rows, columns);
    f.into(all, x.as(rows, columns));
    CHECK(passes_caches(f, x.as(rows, columns)));
    std::size_t const part = rows / 7 + 1;
    for (std::size_t i = 0; i < rows; i += part) {
        std::size_t const n = std::min(part, rows - i);
        auto const its = xt::adapt(x.data() + i * columns, n * columns, xt::no_ownership(), std::array{n, columns});
        auto to = xt::adapt(expected.data() + i * columns, n * columns, xt::no_ownership(), std::array{n, columns});
        CHECK(!passes_caches(f, its));
        f.into(to, its);
    }
    CHECK(are_equal(result.data(), expected.data(), rows * columns));
}

TEST_CASE("a long vector gets what its parts get, wherever results lie") {
    auto const f = calque::function(chain);
    std::size_t const size = 6'000'011;
    std::size_t const part = 1'000'003;
    numbers<float> a(size, 4);
    numbers<float> b(size, 7, 5);
    numbers<float> expected(size, 0);
    CHECK(passes_caches(f, a.as_vector(size), b.as_vector(size)));
    for (std::size_t i = 0; i < size; i += part) {
        std::size_t const n = std::min(part, size - i);
        auto const its_a = xt::adapt(a.data() + i, n, xt::no_ownership(), std::array{n});
        auto const its_b = xt::adapt(b.data() + i, n, xt::no_ownership(), std::array{n});
        auto to = xt::adapt(expected.data() + i, n, xt::no_ownership(), std::array{n});
        CHECK(!passes_caches(f, its_a, its_b));
        f.into(to, its_a, its_b);
    }
    for (std::size_t const offset : {0u, 1u, 4u, 15u}) {
        CAPTURE(offset);
        numbers<float> result(size + 1, offset, 9);
        float const behind = result.data()[size];
        auto to = result.as_vector(size);
        f.into(to, a.as_vector(size), b.as_vector(size));
        CHECK(are_equal(result.data(), expected.data(), size));
        CHECK(result.data()[size] == behind);
    }
    // In the place of an argument, which is stored as ever.
    auto in_place = a.as_vector(size);
    f.into(in_place, a.as_vector(size), b.as_vector(size));
    CHECK(are_equal(a.data(), expected.data(), size));
}

TEST_CASE("several results, at one place in their lines or not") {
    auto const f = calque::function(two);
    std::size_t const size = 5'000'003;
    numbers<float> a(size, 0);
    numbers<float> b(size, 3, 5);
    std::vector<float> sums(size);
    std::vector<float> products(size);
    for (std::size_t i = 0; i < size; ++i) {
        sums[i] = a.data()[i] + b.data()[i];
        products[i] = a.data()[i] * b.data()[i];
    }
    CHECK(passes_caches(f, a.as_vector(size), b.as_vector(size)));
    for (std::size_t const offset : {3u, 5u}) {
        numbers<float> first(size, 3);
        numbers<float> second(size, offset);
        auto to_first = first.as_vector(size);
        auto to_second = second.as_vector(size);
        auto to = std::tie(to_first, to_second);
        f.into(to, a.as_vector(size), b.as_vector(size));
        CHECK(are_equal(first.data(), sums.data(), size));
        CHECK(are_equal(second.data(), products.data(), size));
    }
}

TEST_CASE("parts of a long vector and what they leave, whatever its size") {
    auto const f = calque::function([](auto a) { return a * 3 + 1; });
    for (std::size_t const left : {0u, 1u, 15u, 63u, 64u, 65u, 128u}) {
        for (std::size_t const offset : {0u, 3u, 12u}) {
            CAPTURE(left);
            CAPTURE(offset);
            std::size_t const size = 4'194'304 + left;
            numbers<double> x(size, 1);
            numbers<double> result(size + 1, offset);
            double const behind = result.data()[size];
            auto to = result.as_vector(size);
            CHECK(passes_caches(f, x.as_vector(size)));
            f.into(to, x.as_vector(size));
            bool are_right = true;
            for (std::size_t i = 0; i < size; ++i) {
                are_right = are_right && result.data()[i] == std::fma(x.data()[i], 3., 1.);
            }
            CHECK(are_right);
            CHECK(result.data()[size] == behind);
        }
    }
}

TEST_CASE("functions, doubles and integers") {
    std::size_t const size = 9'000'001;
    numbers<float> x(size, 4);
    numbers<float> result(size, 4);
    auto const f = calque::function(function_of_one);
    auto to = result.as_vector(size);
    CHECK(passes_caches(f, x.as_vector(size)) == (calque::simd::width == 16)); // else its work is not light for a line
    f.into(to, x.as_vector(size));
    bool are_right = true;
    for (std::size_t i = 0; i < size; i += 1000) {
        std::array<float, 1000> part{};
        std::size_t const n = std::min(part.size(), size - i);
        auto its = xt::adapt(part.data(), n, xt::no_ownership(), std::array{n});
        f.into(its, xt::adapt(x.data() + i, n, xt::no_ownership(), std::array{n}));
        are_right = are_right && are_equal(result.data() + i, part.data(), n);
    }
    CHECK(are_right);
    auto const g = calque::function([](auto a) { return a * 3 + 1; });
    std::vector<std::int32_t> integers(size);
    for (std::size_t i = 0; i < size; ++i) {
        integers[i] = static_cast<std::int32_t>(i);
    }
    CHECK(passes_caches(g, xt::adapt(integers, std::array{size})));
    xt::xtensor<std::int32_t, 1> tripled = g(xt::adapt(integers, std::array{size}));
    bool are_tripled = true;
    for (std::size_t i = 0; i < size; ++i) {
        are_tripled = are_tripled && tripled[i] == static_cast<std::int32_t>(i) * 3 + 1;
    }
    CHECK(are_tripled);
}

TEST_CASE("rows, of any number of columns") {
    auto const norm = calque::function(layer_norm);
    for (std::size_t const offset : {0u, 4u}) {
        check_rows<float>(norm, 9001, 1003, offset);
        check_rows<double>(norm, 5000, 1024, offset);
    }
    check_rows<float>(norm, 17'000, 513, 1);
    auto const scaled = calque::function([](auto x) { return x * 3 + 1; });
    check_rows<float>(scaled, 9001, 1003, 3);
}

TEST_CASE("rows with something that all of them have, or each has once") {
    auto const f = calque::function(add_row, {.max_warnings = 0});
    auto const g = calque::function(scale_rows, {.max_warnings = 0});
    for (std::size_t const columns : {3u, 100u, 256u, 300u, 511u, 1003u}) {
        CAPTURE(columns);
        std::size_t const rows = 9'000'000 / columns;
        numbers<float> x(rows * columns, 4);
        numbers<float> row(columns, 0, 5);
        numbers<float> scale(rows, 0, 6);
        numbers<float> sums(rows * columns, 4);
        numbers<float> products(rows * columns, 2);
        auto to_sums = sums.as(rows, columns);
        auto to_products = products.as(rows, columns);
        CHECK(passes_caches(f, x.as(rows, columns), row.as_vector(columns)));
        CHECK(passes_caches(g, x.as(rows, columns), scale.as_vector(rows)) == (columns >= 256));
        f.into(to_sums, x.as(rows, columns), row.as_vector(columns));
        g.into(to_products, x.as(rows, columns), scale.as_vector(rows));
        bool are_sums = true;
        bool are_products = true;
        for (std::size_t i = 0; i < rows * columns; ++i) {
            are_sums = are_sums && sums.data()[i] == x.data()[i] + row.data()[i % columns];
            are_products = are_products && products.data()[i] == x.data()[i] * scale.data()[i / columns];
        }
        CHECK(are_sums);
        CHECK(are_products);
    }
}

} // namespace
