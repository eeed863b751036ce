// SPDX-License-Identifier: MIT
// Ragged batches: rows of any length, as their elements one after the other and the places where rows begin and end.
#pragma once

#include <calque/core/aggregate.hpp>
#include <calque/core/error.hpp>
#include <calque/core/text.hpp>
#include <calque/interop/leaf.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace calque {
inline namespace v0 {
namespace detail {

template <class M, class Spec>
struct leaf_of_spec;
template <class M, class T, extent_t... Extents>
struct leaf_of_spec<M, spec<T, Extents...>> {
    using type = leaf<M, T, Extents...>;
};

} // namespace detail

/// A ragged batch, in the form `M` of a family (interop/leaf.hpp). `Spec`: dtype and extents of all elements.
///
/// Row r has the elements splits[r] up to but without splits[r + 1] along axis 0 of the values; splits begin with 0,
/// never decrease, and end with the number of elements, so that there is one more of them than of rows. Each call
/// checks that.
template <class M, class Spec>
struct basic_ragged {
    typename detail::leaf_of_spec<M, Spec>::type values;
    leaf<M, std::int64_t, dyn> splits;
};

/// A ragged batch outside of traced functions: rows of numbers, or of arrays with the extents `Row`.
///
///     calque::ragged<float> words{{1, 2, 3}, {0, 2, 2, 3}}; // rows {1, 2}, {}, {3}
template <class T, extent_t... Row>
using ragged = basic_ragged<host, spec<T, dyn, Row...>>;

namespace detail {

[[noreturn]] CALQUE_COLD inline void throw_splits(std::int64_t const* splits, std::size_t count, std::size_t elements) {
    text message;
    message << "calque: the splits of a ragged batch ";
    if (count == 0) {
        message << "are empty: those of no rows are {0}";
    } else if (splits[0] != 0) {
        message << "begin with " << splits[0] << ", not 0";
    } else {
        std::size_t const at = static_cast<std::size_t>(std::is_sorted_until(splits, splits + count) - splits);
        if (at != count) {
            message << "decrease: split " << at << " is " << splits[at] << " after " << splits[at - 1];
        } else {
            message << "end with " << splits[count - 1] << ", but there are " << elements << " elements";
        }
    }
    throw shape_error(message.string());
}

} // namespace detail

/// Throws `shape_error` if splits are not those of so many elements.
inline void require_splits(std::int64_t const* splits, std::size_t count, std::size_t elements) {
    bool fit = count != 0 && splits[0] == 0 && splits[count - 1] == static_cast<std::int64_t>(elements);
    for (std::size_t r = 1; r < count; ++r) { // without a way out: it is a few vector instructions
        fit &= splits[r - 1] <= splits[r];
    }
    if (!fit) [[unlikely]] {
        detail::throw_splits(splits, count, elements);
    }
}

/// How trees are walked through a ragged batch that is read, as by the arguments of a call: its splits are checked.
template <class Spec, class Fn>
decltype(auto) with_fields(basic_ragged<host, Spec> const& batch, Fn&& fn) {
    require_splits(batch.splits.data(), batch.splits.size(), batch.values.shape(0));
    return fn(batch.values, batch.splits);
}

/// The number of rows.
template <class Spec>
std::size_t row_count(basic_ragged<host, Spec> const& batch) {
    return batch.splits.size() == 0 ? 0 : batch.splits.size() - 1;
}

/// The elements of row `r`, which is not checked.
template <class T>
std::span<T const> row(ragged<T> const& batch, std::size_t r) {
    auto const first = static_cast<std::size_t>(batch.splits(r));
    return {batch.values.data() + first, static_cast<std::size_t>(batch.splits(r + 1)) - first};
}

/// A ragged batch of these rows.
template <class T>
ragged<T> make_ragged(std::vector<std::vector<T>> const& rows) {
    std::size_t elements = 0;
    for (std::vector<T> const& one : rows) {
        elements += one.size();
    }
    ragged<T> batch{xt::xtensor<T, 1>(std::array<std::size_t, 1>{elements}),
                    xt::xtensor<std::int64_t, 1>(std::array<std::size_t, 1>{rows.size() + 1})};
    std::size_t next = 0;
    batch.splits(0) = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (T const x : rows[r]) {
            batch.values(next++) = x;
        }
        batch.splits(r + 1) = static_cast<std::int64_t>(next);
    }
    return batch;
}

} // namespace v0
} // namespace calque
