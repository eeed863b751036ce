// SPDX-License-Identifier: MIT
// Padding on the host: rows of similar lengths in batches of a few shapes, so that a function traces once for each.
#pragma once

#include <calque/interop/ragged.hpp>

#include <functional>

namespace calque {
inline namespace v0 {

/// Some rows of a ragged batch, padded to one length.
template <class T>
struct padded_batch {
    xt::xtensor<T, 2> values;             // [rows, length]: zeros behind the elements of a row
    xt::xtensor<std::int64_t, 1> lengths; // [rows]: of the rows that only fill the batch up, 0
    std::vector<std::size_t> rows;        // which rows these are; fewer than the batch has if it is filled up
};

namespace detail {

[[noreturn]] CALQUE_COLD inline void throw_no_bucket(std::size_t r, std::size_t length, std::size_t longest) {
    text message;
    message << "calque: bucket_by_length: row " << r << " has " << length << " elements, and the longest bucket takes "
            << longest;
    throw shape_error(message.string());
}

template <class T>
padded_batch<T> pad_rows(ragged<T> const& batch, std::span<std::size_t const> rows, std::size_t length,
                         std::size_t size) {
    padded_batch<T> padded{xt::zeros<T>({size, length}), xt::zeros<std::int64_t>({size}), {rows.begin(), rows.end()}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto const elements = row(batch, rows[i]);
        std::copy(elements.begin(), elements.end(), padded.values.data() + i * length);
        padded.lengths(i) = static_cast<std::int64_t>(elements.size());
    }
    return padded;
}

} // namespace detail

/// The rows of a batch in padded batches of `size` rows, each of one of the `lengths`, which increase: the shortest
/// that its rows fit in. Rows keep their order within a length.
///
/// There are as many shapes as lengths, however many rows there are of each: the last batch of a length is filled up
/// with rows of no elements. A row that is longer than all `lengths` is a `shape_error`.
///
///     for (auto const& part : calque::bucket_by_length(batch, {8, 32, 128}, 64)) {
///         step(part.values, part.lengths); // three traces
///     }
template <class T>
std::vector<padded_batch<T>> bucket_by_length(ragged<T> const& batch, std::vector<std::size_t> const& lengths,
                                              std::size_t size) {
    require_splits(batch.splits.data(), batch.splits.size(), batch.values.size());
    if (size == 0 || std::adjacent_find(lengths.begin(), lengths.end(), std::greater_equal<>()) != lengths.end()) {
        throw shape_error("calque: bucket_by_length: it takes lengths that increase, and batches of 1 row or more");
    }
    std::vector<std::vector<std::size_t>> buckets(lengths.size());
    for (std::size_t r = 0; r < row_count(batch); ++r) {
        std::size_t const length = row(batch, r).size();
        auto const fitting = std::lower_bound(lengths.begin(), lengths.end(), length);
        if (fitting == lengths.end()) {
            detail::throw_no_bucket(r, length, lengths.empty() ? 0 : lengths.back());
        }
        buckets[static_cast<std::size_t>(fitting - lengths.begin())].push_back(r);
    }
    std::vector<padded_batch<T>> parts;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        std::span<std::size_t const> left = buckets[b];
        while (!left.empty()) {
            std::size_t const count = std::min(size, left.size());
            parts.push_back(detail::pad_rows(batch, left.first(count), lengths[b], size));
            left = left.subspan(count);
        }
    }
    return parts;
}

} // namespace v0
} // namespace calque
