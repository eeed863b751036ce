// SPDX-License-Identifier: MIT
// The programs of docs/ragged.md: each of its blocks stands here, line by line, in a test that holds it to what the
// page says. The last test finds blocks that do not.
#include <calque/calque.hpp>
#include <calque/ragged.hpp>

#include "documents.hpp"

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace {

inline constexpr auto normalised = [](auto batch) {
    auto const centred = with_values(batch, batch.values - broadcast_rows(batch, row_mean(batch)));
    return std::tuple{row_softmax(centred), row_max(batch)};
};

inline constexpr auto messages = [](auto features, auto from, auto to) { // along the edges of a graph
    return segment_sum_like(gather_rows(features, from), to, features);
};

inline constexpr auto pooled = [](auto x, auto lengths) {
    auto const mask = calque::length_mask(x, lengths);
    return calque::masked_sum<-1>(x * calque::masked_softmax<-1>(x, mask), mask);
};

TEST_CASE("a ragged batch in and out, and padded") {
    calque::ragged<float> const batch{{1, 2, 3, 5}, {0, 2, 2, 4}}; // rows {1, 2}, {}, {3, 5}
    auto const [weights, largest] = calque::function(normalised)(batch);
    // weights is a calque::ragged<float> of the same rows; largest is {2, -infinity, 5}

    static_assert(std::is_same_v<std::remove_cv_t<decltype(weights)>, calque::ragged<float>>);
    CHECK(weights.splits == batch.splits);
    CHECK(weights.values(0) == doctest::Approx(1 / (1 + std::exp(1.))));
    CHECK(weights.values(3) == doctest::Approx(1 / (1 + std::exp(-2.))));
    CHECK(largest == xt::xtensor<float, 1>{2, -std::numeric_limits<float>::infinity(), 5});

    auto const step = calque::function(pooled);
    std::vector<float> results(row_count(batch));
    for (auto const& part : calque::bucket_by_length(batch, {2, 8, 32}, 64)) { // 64 rows of at most 2, 8 or 32 elements
        xt::xtensor<float, 1> const y = step(part.values, part.lengths);       // at most three traces
        for (std::size_t i = 0; i < part.rows.size(); ++i) {
            results[part.rows[i]] = y(i);
        }
    }
    CHECK(step.trace_count() == 1);
    CHECK(results[0] == doctest::Approx((1 + 2 * std::exp(1.)) / (1 + std::exp(1.))));
    CHECK(results[1] == 0);
    CHECK(results[2] == doctest::Approx((3 + 5 * std::exp(2.)) / (1 + std::exp(2.))));
}

TEST_CASE("numbered rows") {
    xt::xtensor<float, 2> const features = {{1, 10}, {2, 20}, {3, 30}};
    xt::xtensor<std::int32_t, 1> const from = {0, 1, 1}, to = {2, 2, 0};
    xt::xtensor<float, 2> const received = calque::function(messages)(features, from, to); // {2, 20}, {0, 0}, {3, 30}

    CHECK(received == xt::xtensor<float, 2>{{2, 20}, {0, 0}, {3, 30}});
}

TEST_CASE("every program of docs/ragged.md is in this file") {
    CHECK(documents::blocks_that_are_missing("docs/ragged.md", "tests/docs_ragged_test.cpp") == "");
    CHECK(documents::blocks_that_are_missing("docs/ragged.md", "tests/docs_test.cpp") != ""); // this test can fail
}

} // namespace
