// SPDX-License-Identifier: MIT
// The order of a row's elements: what the interpreter and the kernels sort with.
#pragma once

#include <calque/core/dtype.hpp>
#include <calque/graph/ops/sorting.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace calque {
inline namespace v0 {
namespace graph {
namespace detail {

template <std::size_t Bytes>
using sort_key = std::conditional_t<
    Bytes == 8, std::uint64_t,
    std::conditional_t<Bytes == 4, std::uint32_t, std::conditional_t<Bytes == 2, std::uint16_t, std::uint8_t>>>;

/// An integer that is less where an element precedes another, and equal where neither does.
template <class T>
auto sort_key_of(T x, bool is_descending) {
    using key = sort_key<sizeof(T)>;
    constexpr key sign = key(key(1) << (std::numeric_limits<key>::digits - 1));
    key k = std::bit_cast<key>(x);
    if constexpr (is_floating(dtype_of<T>)) {
        k = key(k << 1) == 0 ? sign : (k & sign) != 0 ? key(~k) : key(k | sign); // one key for both zeros
        k = x != x ? std::numeric_limits<key>::max() : k;
    } else if constexpr (std::is_signed_v<T>) {
        k = key(k ^ sign);
    }
    return is_descending ? key(~k) : k;
}

template <class Key, class Place>
struct keyed_place {
    Key key;
    Place place;

    friend bool operator<(keyed_place a, keyed_place b) { return a.key != b.key ? a.key < b.key : a.place < b.place; }
};

/// Sorts entries by their keys, a byte after the other from the last one on; equal keys keep their order. `spare`:
/// memory for as many. Returns where they are then.
template <class Entry>
Entry* sort_by_bytes(Entry* entries, Entry* spare, std::size_t n) {
    constexpr int bytes = sizeof(Entry::key);
    auto const byte = [](Entry const& e, int b) { return static_cast<std::size_t>(e.key >> 8 * b & 255u); };
    std::array<std::array<std::size_t, 256>, bytes> places{};
    for (std::size_t i = 0; i < n; ++i) {
        for (int b = 0; b < bytes; ++b) {
            ++places[static_cast<std::size_t>(b)][byte(entries[i], b)];
        }
    }
    for (int b = 0; b < bytes; ++b) {
        auto& next = places[static_cast<std::size_t>(b)];
        if (next[byte(entries[0], b)] == n) {
            continue; // all have this one
        }
        std::size_t before = 0;
        for (std::size_t& place : next) {
            before += std::exchange(place, before);
        }
        for (std::size_t i = 0; i < n; ++i) {
            spare[next[byte(entries[i], b)]++] = entries[i];
        }
        std::swap(entries, spare);
    }
    return entries;
}

/// The order of all elements of a row.
template <class Place, class T>
void order_whole_row(T const* elements, std::ptrdiff_t step, std::size_t n, bool is_descending, std::int64_t* order) {
    using entry = keyed_place<sort_key<sizeof(T)>, Place>;
    constexpr std::size_t few = 64; // that a comparison sort takes no longer for
    entry near[few];
    std::unique_ptr<entry[]> const far(n > few ? new entry[2 * n] : nullptr);
    entry* entries = n > few ? far.get() : near;
    for (std::size_t i = 0; i < n; ++i) {
        entries[i] = {sort_key_of(elements[static_cast<std::ptrdiff_t>(i) * step], is_descending),
                      static_cast<Place>(i)};
    }
    if (n > few) {
        entries = sort_by_bytes(entries, entries + n, n);
    } else {
        std::sort(entries, entries + n);
    }
    for (std::size_t i = 0; i < n; ++i) {
        order[i] = static_cast<std::int64_t>(entries[i].place);
    }
}

} // namespace detail

/// Writes which of `n` elements that lie `step` apart are the first `count` in order.
template <class T>
void order_row(T const* elements, std::ptrdiff_t step, std::int64_t n, bool is_descending, std::int64_t count,
               std::int64_t* order) {
    if (count == n) {
        auto const elements_of_row = static_cast<std::size_t>(n);
        if (n <= std::numeric_limits<std::uint32_t>::max()) {
            detail::order_whole_row<std::uint32_t>(elements, step, elements_of_row, is_descending, order);
        } else {
            detail::order_whole_row<std::uint64_t>(elements, step, elements_of_row, is_descending, order);
        }
        return;
    }
    // Elements of one value are told apart by their places, which makes the order total.
    auto const is_before = [=](std::int64_t i, std::int64_t j) {
        T const a = elements[i * step];
        T const b = elements[j * step];
        return ops::sort_order::precedes(a, b, is_descending) ||
               (i < j && !ops::sort_order::precedes(b, a, is_descending));
    };
    for (std::int64_t i = 0; i < count; ++i) {
        order[i] = i;
    }
    std::make_heap(order, order + count, is_before); // the last of the first ones in front
    for (std::int64_t i = count; count != 0 && i < n; ++i) {
        if (is_before(i, order[0])) {
            std::pop_heap(order, order + count, is_before);
            order[count - 1] = i;
            std::push_heap(order, order + count, is_before);
        }
    }
    std::sort_heap(order, order + count, is_before);
}

} // namespace graph
} // namespace v0
} // namespace calque
