// SPDX-License-Identifier: MIT
// Ragged batches as users have them: what functions compute of rows, against loops over the rows; gradients; empty
// rows, empty batches and NaN; what a call refuses; what does not retrace. (The operations: gradient_test.cpp,
// vectorize_test.cpp.)
#include <calque/calque.hpp>
#include <calque/ragged.hpp>

#include "tensor_compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace {

using calque::ragged;
using tests::check_fused;
using tests::closeness;
using tests::equal_bits;
using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;

using rows_of_numbers = std::vector<std::vector<double>>;

double const infinity = std::numeric_limits<double>::infinity();

/// Rows of these lengths, of elements that are no pattern.
rows_of_numbers make_rows(std::vector<std::size_t> const& lengths, unsigned seed) {
    rows_of_numbers rows;
    for (std::size_t const length : lengths) {
        rows.emplace_back(length);
        tests::fill_with_noise(rows.back().data(), length, ++seed);
    }
    return rows;
}

/// Batches to try: with empty rows in the midst and at both ends, one row, no elements, no rows, long rows.
std::vector<rows_of_numbers> all_batches() {
    return {make_rows({2, 0, 3, 1}, 1), make_rows({0, 4, 0, 0}, 2), make_rows({5}, 3),
            make_rows({0, 0}, 4),       make_rows({}, 5),           make_rows({100, 1, 33}, 6)};
}

template <class Fn>
void check_rows(vector const& given, rows_of_numbers const& rows, Fn of_row) {
    REQUIRE(given.size() == rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
        CAPTURE(r);
        double const expected = of_row(rows[r]);
        if (std::isnan(expected)) {
            CHECK(std::isnan(given(r)));
        } else {
            CHECK((given(r) == expected || given(r) == doctest::Approx(expected).epsilon(1e-13))); // infinity is
        }
    }
}

double sum_of(std::vector<double> const& row) {
    return std::accumulate(row.begin(), row.end(), 0.);
}
double mean_of(std::vector<double> const& row) {
    return sum_of(row) / static_cast<double>(row.size());
}

// ---- folds of rows

inline constexpr auto folds = [](auto batch) {
    return std::tuple{row_sum(batch), row_mean(batch), row_max(batch), row_min(batch)};
};

TEST_CASE("sums, means, maxima and minima of rows") {
    auto const fn = calque::function(folds);
    for (rows_of_numbers const& rows : all_batches()) {
        auto const [sums, means, largest, smallest] = fn(calque::make_ragged(rows));
        check_rows(sums, rows, sum_of);
        check_rows(means, rows, mean_of);
        check_rows(largest, rows,
                   [](auto const& row) { return row.empty() ? -infinity : *std::ranges::max_element(row); });
        check_rows(smallest, rows,
                   [](auto const& row) { return row.empty() ? infinity : *std::ranges::min_element(row); });
    }
    CHECK(fn.trace_count() == 6);                        // one for each number of rows and of elements
    fn(calque::make_ragged(make_rows({0, 6, 0, 0}, 7))); // 4 rows of 6 elements, as the first
    CHECK(fn.trace_count() == 6);
}

TEST_CASE("NaN stays in its row") {
    auto rows = make_rows({40, 2, 3}, 1);
    rows[0][20] = rows[2][0] = std::numeric_limits<double>::quiet_NaN();
    auto const [sums, means, largest, smallest] = calque::function(folds)(calque::make_ragged(rows));
    for (vector const& result : {sums, means, largest, smallest}) {
        CHECK(std::isnan(result(0)));
        CHECK_FALSE(std::isnan(result(1)));
        CHECK(std::isnan(result(2)));
    }
}

TEST_CASE("other dtypes, and elements that are arrays") {
    ragged<std::int32_t> const counts{{1, 2, 3}, {0, 0, 2, 3}};
    auto const [sums, largest] = calque::function([](auto batch) {
        return std::tuple{row_sum(batch), row_max(batch)};
    })(counts);
    static_assert(std::is_same_v<std::remove_cv_t<decltype(sums)>, xt::xtensor<std::int64_t, 1>>);
    CHECK(sums == xt::xtensor<std::int64_t, 1>{0, 3, 3});
    CHECK(largest == xt::xtensor<std::int32_t, 1>{std::numeric_limits<std::int32_t>::lowest(), 2, 3});

    ragged<double, 2> const points{{{1, 10}, {2, 20}, {3, 30}}, {0, 2, 2, 3}};
    auto const [totals, means] = calque::function([](auto batch) {
        return std::tuple{row_sum(batch), row_mean(batch)};
    })(points);
    CHECK(totals == matrix{{3, 30}, {0, 0}, {3, 30}});
    CHECK(means(0, 1) == 15);
    CHECK(std::isnan(means(1, 0)));
}

// ---- values of rows at their elements

inline constexpr auto centred = [](auto batch) {
    return with_values(batch, batch.values - broadcast_rows(batch, row_mean(batch)));
};
inline constexpr auto places = [](auto batch) {
    return std::tuple{row_numbers(batch), row_positions(batch), row_lengths(batch), row_starts(batch)};
};

TEST_CASE("a batch goes in, a batch comes out") {
    for (rows_of_numbers const& rows : all_batches()) {
        ragged<double> const batch = calque::make_ragged(rows);
        ragged<double> const result = calque::function(centred)(batch);
        ragged<double> const weights = calque::function([](auto b) { return row_softmax(b); })(batch);
        CHECK(result.splits == batch.splits);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            double total = 0;
            for (double const x : rows[r]) {
                total += std::exp(x);
            }
            for (std::size_t i = 0; i < rows[r].size(); ++i) {
                CHECK(row(result, r)[i] == doctest::Approx(rows[r][i] - mean_of(rows[r])));
                CHECK(row(weights, r)[i] == doctest::Approx(std::exp(rows[r][i]) / total));
            }
        }
    }
}

TEST_CASE("the places of elements") {
    ragged<double> const batch{{1, 2, 3, 4, 5}, {0, 2, 2, 5}};
    auto const [numbers, positions, lengths, starts] = calque::function(places)(batch);
    using integers = xt::xtensor<std::int64_t, 1>;
    CHECK(numbers == integers{0, 0, 2, 2, 2});
    CHECK(positions == integers{0, 1, 0, 1, 2});
    CHECK(lengths == integers{2, 0, 3});
    CHECK(starts == integers{0, 2, 2});

    auto const at = calque::function([](auto b, auto i) { return row_elements(b, i); });
    CHECK(at(batch, std::int64_t{1}) == vector{2, 0, 4});
    CHECK(at(batch, integers{-1, -1, 2}) == vector{2, 0, 5});
    CHECK(at(batch, integers{-3, 0, 3}) == vector{0, 0, 0});
}

// ---- padding

inline constexpr auto there_and_back = [](auto batch, auto like) {
    auto const padded = to_padded_like(batch, like);
    return std::tuple{padded, row_mask_like(batch, like), from_padded(batch, padded)};
};

TEST_CASE("padded rows and back") {
    auto const fn = calque::function(there_and_back);
    for (rows_of_numbers const& rows : all_batches()) {
        for (std::size_t const length : {0u, 2u, 5u}) {
            ragged<double> const batch = calque::make_ragged(rows);
            matrix const like(std::array<std::size_t, 2>{rows.size(), length});
            auto const [padded, mask, back] = fn(batch, like);
            REQUIRE(padded.shape(0) == rows.size());
            REQUIRE(padded.shape(1) == length);
            REQUIRE(mask.shape() == padded.shape());
            for (std::size_t r = 0; r < rows.size(); ++r) {
                for (std::size_t i = 0; i < length; ++i) {
                    CHECK(mask(r, i) == (i < rows[r].size()));
                    CHECK(padded(r, i) == (i < rows[r].size() ? rows[r][i] : 0));
                }
                for (std::size_t i = 0; i < rows[r].size(); ++i) {
                    CHECK(row(back, r)[i] == (i < length ? rows[r][i] : 0)); // what was cut is 0
                }
            }
        }
    }
}

TEST_CASE("lengths that the compiler knows") {
    ragged<float> const batch{{1, 2, 3, 4}, {0, 1, 1, 4}};
    auto const [padded, mask] = calque::function([](auto b) {
        return std::tuple{calque::to_padded<2>(b), calque::row_mask<2>(b)};
    })(batch);
    CHECK(padded == xt::xtensor<float, 2>{{1, 0}, {0, 0}, {2, 3}});
    CHECK(mask == xt::xtensor<bool, 2>{{true, false}, {false, false}, {true, true}});
}

// ---- buckets

inline constexpr auto padded_means = [](auto x, auto lengths) {
    return calque::masked_mean<-1>(x, calque::length_mask(x, lengths));
};

TEST_CASE("rows of similar lengths in few shapes") {
    rows_of_numbers const rows = make_rows({3, 9, 1, 0, 16, 4, 5, 2, 2, 8}, 1);
    auto const fn = calque::function(padded_means);
    std::vector<bool> seen(rows.size());
    auto const parts = calque::bucket_by_length(calque::make_ragged(rows), {4, 16}, 3);
    CHECK(parts.size() == 4); // 6 rows of up to 4 elements, and 4 longer ones
    for (auto const& part : parts) {
        vector const y = fn(part.values, part.lengths);
        REQUIRE(y.size() == 3);
        for (std::size_t i = 0; i < part.rows.size(); ++i) {
            auto const& row = rows[part.rows[i]];
            CHECK(part.values.shape(1) == (row.size() <= 4 ? 4u : 16u));
            CHECK((row.empty() ? std::isnan(y(i)) : y(i) == doctest::Approx(mean_of(row))));
            seen[part.rows[i]] = true;
        }
    }
    CHECK(fn.trace_count() == 2);
    CHECK(parts[1].rows == std::vector<std::size_t>{5, 7, 8});
    CHECK(parts[3].lengths == xt::xtensor<std::int64_t, 1>{8, 0, 0}); // filled up
    CHECK(std::ranges::count(seen, true) == 10);
}

TEST_CASE("buckets that do not fit") {
    ragged<double> const batch = calque::make_ragged(make_rows({3, 17}, 1));
    CHECK_THROWS_WITH_AS(calque::bucket_by_length(batch, {4, 16}, 8),
                         "calque: bucket_by_length: row 1 has 17 elements, and the longest bucket takes 16",
                         calque::shape_error);
    CHECK_THROWS_AS(calque::bucket_by_length(batch, {16, 16, 32}, 8), calque::shape_error);
    CHECK_THROWS_AS(calque::bucket_by_length(batch, {32}, 0), calque::shape_error);
    CHECK(calque::bucket_by_length(calque::make_ragged(rows_of_numbers{}), {4}, 8).empty());
}

// ---- masks

inline constexpr auto masked = [](auto x, auto mask) {
    return std::tuple{calque::masked_sum<-1>(x, mask),     calque::masked_mean<-1>(x, mask),
                      calque::masked_max<-1>(x, mask),     calque::masked_min<-1>(x, mask),
                      calque::masked_softmax<-1>(x, mask), calque::masked_count(x, mask)};
};

TEST_CASE("what a mask hides does not count") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    matrix const x = {{1, nan, 3}, {nan, infinity, 2}, {nan, nan, nan}};
    xt::xtensor<bool, 2> const mask = {{true, false, true}, {false, false, true}, {false, false, false}};
    auto const [sums, means, largest, smallest, weights, count] = calque::function(masked)(x, mask);
    CHECK(sums == vector{4, 2, 0});
    CHECK(means(0) == 2);
    CHECK(std::isnan(means(2)));
    CHECK(largest == vector{3, 2, -infinity});
    CHECK(smallest == vector{1, 2, infinity});
    CHECK(weights(0, 0) == doctest::Approx(1 / (1 + std::exp(2.))));
    CHECK(weights(0, 1) == 0);
    CHECK(weights(1, 2) == 1);
    CHECK(weights(2, 1) == 0);
    CHECK(count == 3);

    auto const slope = calque::function(calque::grad([](auto y, auto m) {
        return sum(calque::masked_softmax<-1>(y, m) * y * y + expand_dims<-1>(calque::masked_sum<-1>(y * y, m)));
    }));
    matrix const finite = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    matrix const g = slope(finite, mask);
    CHECK(g(0, 1) == 0);
    CHECK(g(2, 2) == 0);
    CHECK(g(1, 2) == 2 * 6 + 3 * 2 * 6); // its weight is 1, and its square is in the sum three times
}

// ---- segments

inline constexpr auto segments = [](auto x, auto ids) {
    return std::tuple{calque::segment_sum<3>(x, ids), calque::segment_mean<3>(x, ids), calque::segment_max<3>(x, ids),
                      calque::segment_min<3>(x, ids)};
};
inline constexpr auto segments_like = [](auto x, auto ids, auto like) {
    return std::tuple{segment_sum_like(x, ids, like), segment_mean_like(x, ids, like), gather_rows(like, ids)};
};

TEST_CASE("segments by numbers in any order") {
    vector const x = {1, 2, 3, 4, 5};
    xt::xtensor<int, 1> const ids = {2, 0, 2, 7, -1}; // of which two are numbers of no segment
    auto const [sums, means, largest, smallest] = calque::function(segments)(x, ids);
    CHECK(sums == vector{2, 0, 4});
    CHECK(means(2) == 2);
    CHECK(std::isnan(means(1)));
    CHECK(largest == vector{2, -infinity, 3});
    CHECK(smallest == vector{2, infinity, 1});

    matrix const points = {{1, 2}, {3, 4}, {5, 6}};
    matrix const like = {{7, 8}, {9, 10}};
    xt::xtensor<std::uint8_t, 1> const of = {1, 1, 255};
    auto const [totals, middles, read] = calque::function(segments_like)(points, of, like);
    CHECK(totals == matrix{{0, 0}, {4, 6}});
    CHECK(middles(1, 1) == 3);
    CHECK(read == matrix{{9, 10}, {9, 10}, {0, 0}});
}

/// Of matrices and of numbers; of columns too, whose elements are not neighbours.
inline constexpr auto all_kinds = [](auto x, auto columns, auto y, auto ids) {
    return std::tuple{calque::segment_sum<5>(x, ids),
                      calque::segment_max<5>(x, ids),
                      calque::segment_sum<5>(transpose(columns), ids),
                      calque::segment_sum<5>(y, ids),
                      calque::segment_min<5>(y, ids),
                      gather_rows(transpose(columns), ids),
                      gather_rows(y, ids)};
};

template <class T>
void check_against_interpreter(std::size_t rows, std::size_t width, std::size_t count) {
    xt::xtensor<T, 2> const x = tests::noise<T, 2>({rows, width}, 1), columns = tests::noise<T, 2>({width, rows}, 2);
    xt::xtensor<T, 1> const y = tests::noise<T, 1>({rows}, 3);
    xt::xtensor<std::int32_t, 1> sorted(std::array<std::size_t, 1>{rows});
    xt::xtensor<std::int32_t, 1> const any = tests::noise<std::int32_t, 1>({rows}, 4);
    for (std::size_t i = 0; i < rows; ++i) {
        sorted(i) = static_cast<std::int32_t>(i * count / rows);
    }
    closeness const allowed = std::is_floating_point_v<T> ? closeness{4, 2 * static_cast<double>(rows)} : equal_bits;
    for (auto const& ids : {sorted, any}) {
        check_fused(all_kinds, allowed, x, columns, y, ids);
    }
}

TEST_CASE("kernels compute what the interpreter does") {
    check_against_interpreter<float>(70, 3, 2);
    check_against_interpreter<std::int64_t>(40, 17, 4);
}

// ---- gradients

inline constexpr auto loss = [](auto batch, auto w) {
    auto const scores = with_values(batch, tanh(batch.values * w));
    auto const weights = row_softmax(scores);
    auto const mixed = row_sum(with_values(batch, weights.values * batch.values));
    return sum(mixed * mixed) + sum(row_max(scores)) + sum(calque::to_padded<2>(scores) * 0.5);
};

double loss_of(rows_of_numbers const& rows, double w) {
    double total = 0;
    for (std::vector<double> const& row : rows) {
        double weight = 0, mixed = 0, largest = -infinity;
        for (std::size_t i = 0; i < row.size(); ++i) {
            double const score = std::tanh(row[i] * w);
            weight += std::exp(score);
            mixed += std::exp(score) * row[i];
            largest = std::max(largest, score);
            total += i < 2 ? 0.5 * score : 0;
        }
        total += mixed * mixed / weight / weight + largest;
    }
    return total;
}

TEST_CASE("gradients of a batch and of what its rows share") {
    rows_of_numbers const rows = make_rows({2, 1, 4}, 9);
    vector const w = {0.75};
    auto const at = calque::function([](auto batch, auto v) { return loss(batch, sum(v)); });
    CHECK(at(calque::make_ragged(rows), w) == doctest::Approx(loss_of(rows, 0.75)));
    auto const gradient = calque::function(calque::grad<1>([](auto batch, auto v) { return loss(batch, sum(v)); }));
    double const step = 1e-6;
    double const expected = (loss_of(rows, 0.75 + step) - loss_of(rows, 0.75 - step)) / (2 * step);
    CHECK(vector(gradient(calque::make_ragged(rows), w))(0) == doctest::Approx(expected).epsilon(1e-7));

    auto const by_values = calque::function(calque::grad(
        [](auto values, auto splits, auto v) { return loss(calque::make_ragged(values, splits), sum(v)); }));
    ragged<double> const batch = calque::make_ragged(rows);
    vector const by = by_values(batch.values, batch.splits, w);
    std::size_t element = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t i = 0; i < rows[r].size(); ++i) {
            rows_of_numbers above = rows, below = rows;
            above[r][i] += step;
            below[r][i] -= step;
            double const slope = (loss_of(above, 0.75) - loss_of(below, 0.75)) / (2 * step);
            CHECK(by(element++) == doctest::Approx(slope).epsilon(1e-7));
        }
    }
}

// ---- what a call refuses

TEST_CASE("splits that do not fit are errors of the call") {
    auto const fn = calque::function([](auto batch) { return row_sum(batch); });
    auto const message = [&](vector const& values, xt::xtensor<std::int64_t, 1> const& splits) -> std::string {
        try {
            fn(ragged<double>{values, splits});
        } catch (calque::shape_error const& e) {
            return e.what();
        }
        return "";
    };
    vector const values = {1, 2, 3};
    CHECK(message(values, {0, 1, 3}) == "");
    CHECK(message(values, {0, 2, 1, 3}) == "calque: the splits of a ragged batch decrease: split 2 is 1 after 2");
    CHECK(message(values, {1, 3}) == "calque: the splits of a ragged batch begin with 1, not 0");
    CHECK(message(values, {0, 2}) == "calque: the splits of a ragged batch end with 2, but there are 3 elements");
    CHECK(message(values, {0, 4}) == "calque: the splits of a ragged batch end with 4, but there are 3 elements");
    CHECK(message(values, xt::xtensor<std::int64_t, 1>(std::array<std::size_t, 1>{0})) ==
          "calque: the splits of a ragged batch are empty: those of no rows are {0}");
}

TEST_CASE("splits that nobody checks read and write nothing elsewhere") {
    auto const fn = calque::function([](auto values, auto splits) {
        auto const batch = calque::make_ragged(values, splits);
        return std::tuple{row_sum(batch), calque::to_padded<2>(batch), row_numbers(batch)};
    });
    vector const values = {1, 2, 3};
    auto const [sums, padded, numbers] = fn(values, xt::xtensor<std::int64_t, 1>{1, -5, 2, 1000});
    CHECK(sums == vector{0, 2, 3});
    CHECK(numbers == xt::xtensor<std::int64_t, 1>{-1, 1, 2});
    CHECK(padded(2, 0) == 3);
    CHECK(padded(2, 1) == 0);
}

} // namespace
