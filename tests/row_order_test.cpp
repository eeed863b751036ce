// SPDX-License-Identifier: MIT
// Orders of rows, which the interpreter and the kernels share, against a sort by comparisons.
#include <calque/core/half.hpp>
#include <calque/graph/row_order.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace graph = calque::graph;

namespace {

template <class T>
std::vector<T> special_values() {
    using limits = std::numeric_limits<T>;
    std::vector<T> values{T(0), T(1), limits::lowest(), limits::max(), limits::min()};
    if constexpr (calque::is_floating(calque::dtype_of<T>)) {
        T const infinity = limits::infinity(), nan = limits::quiet_NaN(), tiny = limits::denorm_min();
        values.insert(values.end(), {T(-0.f), T(-1), infinity, T(-infinity), nan, T(-nan), tiny, T(-tiny)});
    }
    return values;
}

/// Special values, a few that are equal, and random bits. (A vector of bool has no elements to point at.)
template <class T>
std::unique_ptr<T[]> row(std::size_t n, unsigned seed) {
    using bits = graph::detail::sort_key<sizeof(T)>;
    std::vector<T> const special = special_values<T>();
    std::mt19937_64 random(seed);
    std::unique_ptr<T[]> x(new T[n]);
    for (std::size_t i = 0; i < n; ++i) {
        switch (random() % 3) {
        case 0: x[i] = special[random() % special.size()]; break;
        case 1: x[i] = static_cast<T>(static_cast<float>(random() % 5)); break;
        default:
            if constexpr (std::is_same_v<T, bool>) {
                x[i] = random() % 2 != 0;
            } else {
                x[i] = std::bit_cast<T>(static_cast<bits>(random()));
            }
        }
    }
    return x;
}

/// Equal elements stand in the order of their places.
template <class T>
std::vector<std::int64_t> order_by_comparisons(T const* x, std::ptrdiff_t step, std::size_t n, bool is_descending) {
    std::vector<std::int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    auto const precedes = [=](std::int64_t i, std::int64_t j) {
        return graph::ops::sort_order::precedes(x[i * step], x[j * step], is_descending);
    };
    std::sort(order.begin(), order.end(),
              [&](std::int64_t i, std::int64_t j) { return precedes(i, j) || (i < j && !precedes(j, i)); });
    return order;
}

} // namespace

TEST_CASE_TEMPLATE("orders of rows, whole and in part", T, float, double, calque::half, calque::bfloat16, bool,
                   std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
    for (std::size_t const n : {0u, 1u, 2u, 5u, 63u, 64u, 65u, 100u, 255u, 1000u, 5000u}) {
        CAPTURE(n);
        for (std::ptrdiff_t const step : {1, 3}) {
            auto const x = row<T>(n * static_cast<std::size_t>(step), static_cast<unsigned>(n));
            for (bool const is_descending : {false, true}) {
                CAPTURE(is_descending);
                auto const expected = order_by_comparisons(x.get(), step, n, is_descending);
                for (std::size_t const count : {n, std::size_t{0}, std::size_t{1}, std::size_t{7}, n / 2, n - 1}) {
                    if (count <= n) {
                        CAPTURE(count);
                        std::vector<std::int64_t> order(count, -1);
                        graph::order_row(x.get(), step, static_cast<std::int64_t>(n), is_descending,
                                         static_cast<std::int64_t>(count), order.data());
                        CHECK(std::equal(order.begin(), order.end(), expected.begin()));
                    }
                }
            }
        }
    }
}
