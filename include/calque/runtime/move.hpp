// SPDX-License-Identifier: MIT
// The operations that move elements, on placed arrays.
#pragma once

#include <calque/graph/ops/movement.hpp>
#include <calque/graph/ops/random.hpp>
#include <calque/kernels/cpu/interleave.hpp>
#include <calque/kernels/cpu/movement.hpp>
#include <calque/kernels/cpu/pack_arithmetic.hpp>
#include <calque/kernels/cpu/recurrence.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace calque {
inline namespace v0 {
namespace runtime {

/// An array in memory.
struct moved_value {
    std::byte* data;
    shape extents;
    strides steps; // in elements
};

/// 0, 1, 2, ... (all extents but one are 1).
template <class T>
void fill_iota(moved_value const& to) {
    T* const out = reinterpret_cast<T*>(to.data);
    extent_t const n = to.extents.size();
    extent_t i = 0;
    if constexpr (std::is_arithmetic_v<T>) {
        extent_t exact = n; // from 2^digits on, the first of a pack of floating numbers may be rounded
        if constexpr (std::is_floating_point_v<T>) {
            exact = std::min(n, extent_t{1} << std::numeric_limits<T>::digits);
        }
        for (; i + simd::width <= exact; i += simd::width) {
            simd::pack<T, 1>::iota(static_cast<T>(i)).store(out + i);
        }
    }
    for (; i < n; ++i) {
        out[i] = static_cast<T>(i);
    }
}

/// The order of each row that its random words make, from `axis` on. Rows are the last axis.
inline void shuffle_rows(moved_value const& to, moved_value const& words, int axis = 0) {
    auto* const order = reinterpret_cast<std::int64_t*>(to.data);
    auto const* const word = reinterpret_cast<std::uint64_t const*>(words.data);
    if (axis + 1 == to.extents.rank) {
        graph::ops::shuffled_indices::shuffle(word, words.steps[axis], to.extents[axis], order);
        return;
    }
    for (extent_t i = 0; i < to.extents[axis]; ++i) {
        auto const bytes = static_cast<std::ptrdiff_t>(sizeof(std::uint64_t));
        shuffle_rows({to.data + i * to.steps[axis] * bytes, to.extents, to.steps},
                     {words.data + i * words.steps[axis] * bytes, words.extents, words.steps}, axis + 1);
    }
}

/// Copies `from` into `to` from `start` along an axis, unless it is there; returns its extent there.
inline extent_t copy_part(moved_value const& to, moved_value const& from, int axis, extent_t start,
                          std::size_t element_bytes) {
    if (from.extents.size() == 0) { // which may be nowhere, with no offset
        return from.extents[axis];
    }
    std::byte* const place = to.data + start * to.steps[axis] * static_cast<std::ptrdiff_t>(element_bytes);
    if (place != from.data) {
        kernels::copy_strided(from.extents, {place, to.steps}, {from.data, from.steps}, element_bytes);
    }
    return from.extents[axis];
}

/// Concatenates along the last axis what has one element there, without gaps. False if the parts are not such, or in
/// their places.
template <class T, std::size_t K>
bool copy_in_turn(moved_value const& to, std::array<moved_value, K> const& parts, int axis) {
    using word = simd::unsigned_of<T>;
    bool suit = axis == to.extents.rank - 1 && is_contiguous(to.extents, to.steps);
    std::array<word const*, K> from{};
    for (std::size_t k = 0; k < K; ++k) {
        suit &= parts[k].extents[axis] == 1 && is_contiguous(parts[k].extents, parts[k].steps);
        suit = suit && parts[k].extents.size() != 0 &&
               parts[k].data != to.data + static_cast<std::ptrdiff_t>(k * sizeof(T)); // nor is it there
        from[k] = reinterpret_cast<word const*>(parts[k].data);
    }
    if (suit) {
        kernels::interleave_arrays(from, parts[0].extents.size(), reinterpret_cast<word*>(to.data));
    }
    return suit;
}

/// Element i along an axis is element i - shift of `from`, around the end: two copies.
inline void copy_rolled(moved_value const& to, moved_value const& from, int axis, std::int64_t shift,
                        std::size_t element_bytes) {
    extent_t const n = from.extents[axis];
    if (from.extents.size() == 0) {
        return;
    }
    extent_t const first = (shift % n + n) % n; // of `to`, that is the first of `from`
    moved_value part = from;
    part.extents[axis] = n - first;
    copy_part(to, part, axis, first, element_bytes);
    part.data += (n - first) * from.steps[axis] * static_cast<std::ptrdiff_t>(element_bytes);
    part.extents[axis] = first;
    copy_part(to, part, axis, 0, element_bytes);
}

/// Writes zeros to a contiguous array; none, which may be nowhere, is right.
inline void clear(moved_value const& to, std::size_t element_bytes) {
    if (to.extents.size() != 0) {
        std::memset(to.data, 0, static_cast<std::size_t>(to.extents.size()) * element_bytes);
    }
}

/// A few zeros, most times: no call then.
template <class T>
CALQUE_INLINE void clear_run(T* to, extent_t n) {
    if (n > simd::width) {
        std::memset(to, 0, static_cast<std::size_t>(n) * sizeof(T));
    } else if (n > 0) {
        simd::pack<T, 1>(T()).store(to, static_cast<int>(n));
    }
}

/// Zeros around the box of extents `box` that begins at index `begin`: in what `data` has of an array whose rows are
/// runs, along `axis` and those behind it, which lies in the box along those before, or does not.
template <class T>
void clear_around(moved_value const& of, T* data, shape const& begin, shape const& box, int axis = 0,
                  bool is_inside = true) {
    extent_t const n = of.extents[axis];
    extent_t const first = is_inside ? begin[axis] : n; // of the box
    extent_t const end = is_inside ? first + box[axis] : n;
    if (axis + 1 == of.extents.rank) {
        clear_run(data, first);
        clear_run(data + end, n - end);
        return;
    }
    for (extent_t i = 0; i < n; ++i, data += of.steps[axis]) {
        clear_around(of, data, begin, box, axis + 1, i >= first && i < end);
    }
}

/// The ranges of a slice, an entry an axis.
struct slice_ranges {
    shape const& starts;
    shape const& stops;
    shape const& every;
};

/// Where a slice lies in an array.
struct slice_place {
    std::byte* data;
    strides steps;
    shape begin;
    bool is_box = true; // of neighbours

    slice_place(moved_value const& array, slice_ranges const& ranges, std::size_t element_bytes) : data(array.data) {
        for (int axis = 0; axis < array.extents.rank; ++axis) {
            auto const range =
                graph::ops::clipped_range::clip(ranges.starts[axis], ranges.stops[axis], array.extents[axis]);
            begin.push_back(range.start);
            data += range.start * array.steps[axis] * static_cast<std::ptrdiff_t>(element_bytes);
            steps[axis] = array.steps[axis] * ranges.every[axis];
            is_box &= ranges.every[axis] == 1;
        }
    }
};

/// Zeros, and `from` where such a slice reads them; it may be there already.
template <class T>
void place_slice(moved_value const& to, moved_value const& from, slice_ranges const& ranges) {
    if (to.extents.size() == 0) { // which may be nowhere, with no offset
        return;
    }
    slice_place const place(to, ranges, sizeof(T));
    if (place.is_box && from.extents.size() != 0) {
        clear_around(to, reinterpret_cast<T*>(to.data), place.begin, from.extents);
    } else {
        clear(to, sizeof(T));
    }
    if (place.data != from.data) {
        kernels::copy_strided(from.extents, {place.data, place.steps}, {from.data, from.steps}, sizeof(T));
    }
}

/// Copies a run, to neighbours: a few elements, most times.
template <class T>
CALQUE_INLINE void copy_run(T* to, T const* from, extent_t n, std::ptrdiff_t step) {
    if (step != 1) {
        for (extent_t i = 0; i < n; ++i) {
            to[i] = from[i * step];
        }
    } else if (n > simd::width) {
        std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    } else if (n > 1) {
        simd::pack<T, 1>::load(from, static_cast<int>(n)).store(to, static_cast<int>(n));
    } else if (n == 1) {
        *to = *from;
    }
}

/// Copies what an array has around the box of extents `box` that begins at index `begin` to a contiguous one, along
/// `axis` and those behind it.
template <class T>
void copy_around(moved_value const& to, T* out, moved_value const& from, T const* in, shape const& begin,
                 shape const& box, bool are_runs, int axis = 0) {
    std::ptrdiff_t const step = to.steps[axis], from_step = from.steps[axis];
    extent_t const end = begin[axis] + box[axis];
    auto const copy = [&](extent_t first, extent_t behind) {
        if (axis + 1 == to.extents.rank || are_runs) {
            copy_run(out + first * step, in + first * from_step, (behind - first) * step, are_runs ? 1 : from_step);
        } else if (first != behind) {
            shape extents;
            strides to_steps, from_steps;
            for (int k = axis; k < to.extents.rank; ++k) {
                to_steps[extents.rank] = to.steps[k];
                from_steps[extents.rank] = from.steps[k];
                extents.push_back(k == axis ? behind - first : to.extents[k]);
            }
            kernels::copy_strided(extents, {reinterpret_cast<std::byte*>(out + first * step), to_steps},
                                  {reinterpret_cast<std::byte const*>(in + first * from_step), from_steps}, sizeof(T));
        }
    };
    copy(0, begin[axis]);
    copy(end, to.extents[axis]);
    int const last = to.extents.rank - 1;
    extent_t const before = begin[last], behind = before + box[last], columns = to.extents[last];
    std::ptrdiff_t const column_step = from.steps[last];
    for (extent_t i = begin[axis]; i < end && axis < last; ++i) {
        T* const row = out + i * step;
        T const* const from_row = in + i * from_step;
        if (axis + 1 == last) {
            copy_run(row, from_row, before, column_step);
            copy_run(row + behind, from_row + behind * column_step, columns - behind, column_step);
        } else {
            copy_around(to, row, from, from_row, begin, box, are_runs, axis + 1);
        }
    }
}

/// `array`, and `part` where such a slice reads it: to a contiguous one. Each may be there already.
template <class T>
void set_slice(moved_value const& to, moved_value const& part, moved_value const& array, slice_ranges const& ranges) {
    if (to.extents.size() == 0) { // which may be nowhere, with no offset
        return;
    }
    slice_place const place(to, ranges, sizeof(T));
    bool const is_empty = part.extents.size() == 0;
    bool const is_there = !is_empty && part.data == place.data;
    if (is_there) {
        copy_around(to, reinterpret_cast<T*>(to.data), array, reinterpret_cast<T const*>(array.data), place.begin,
                    part.extents, is_contiguous(array.extents, array.steps));
    } else if (to.data != array.data) {
        kernels::copy_strided(to.extents, {to.data, to.steps}, {array.data, array.steps}, sizeof(T));
    }
    if (!is_there && !is_empty) {
        kernels::copy_strided(part.extents, {place.data, place.steps}, {part.data, part.steps}, sizeof(T));
    }
}

namespace detail {

/// Axes [first, end) of an array.
struct some_axes {
    shape extents;
    strides steps;

    some_axes(moved_value const& v, int first, int end) {
        for (int axis = first; axis < end; ++axis) {
            steps[extents.rank] = v.steps[axis];
            extents.push_back(v.extents[axis]);
        }
    }
};

/// Takes single elements: those of `from` that stand `step` apart, at `indices`, one after the other into `to`, for
/// each place of the outer axes.
template <class Element, class I>
void take_single(std::byte* to, std::byte const* from, some_axes const& outer, std::ptrdiff_t step, extent_t n,
                 moved_value const& indices) {
    auto* const out = reinterpret_cast<Element*>(to);
    auto const* const in = reinterpret_cast<Element const*>(from);
    auto const* const index_data = reinterpret_cast<I const*>(indices.data);
    extent_t const count = indices.extents.size();
    if (outer.extents.rank == 1 && count < outer.extents[0]) { // the longer loop inside
        kernels::for_each_index(indices.extents, indices.steps, index_data, [&](extent_t position, extent_t index) {
            Element const* const column = in + kernels::existing_index(index, n) * step;
            for (extent_t i = 0; i < outer.extents[0]; ++i) {
                out[i * count + position] = column[i * outer.steps[0]];
            }
        });
        return;
    }
    kernels::for_each_offset(outer.extents, outer.steps, [&](extent_t number, std::ptrdiff_t offset) {
        Element* const row = out + number * count;
        kernels::for_each_index(indices.extents, indices.steps, index_data, [&](extent_t position, extent_t index) {
            row[position] = in[offset + kernels::existing_index(index, n) * step];
        });
    });
}

} // namespace detail

/// The elements of `from` at `indices` along an axis, which `to` has the axes of the indices in place of. `to` is
/// contiguous.
template <class I>
void take_elements(moved_value const& to, moved_value const& from, moved_value const& indices, int axis,
                   std::size_t bytes) {
    extent_t const n = from.extents[axis];
    if (n == 0 || to.extents.size() == 0) {
        clear(to, bytes);
        return;
    }
    detail::some_axes const outer(from, 0, axis);
    detail::some_axes const inner(from, axis + 1, from.extents.rank);
    strides const dense = contiguous_strides(inner.extents);
    bool const is_run = is_contiguous(inner.extents, inner.steps);
    extent_t const run_elements = inner.extents.size();
    std::ptrdiff_t const run_bytes = run_elements * static_cast<std::ptrdiff_t>(bytes);
    std::ptrdiff_t const step = from.steps[axis];
    if (run_elements == 1) {
        switch (bytes) {
        case 1: detail::take_single<std::uint8_t, I>(to.data, from.data, outer, step, n, indices); break;
        case 2: detail::take_single<std::uint16_t, I>(to.data, from.data, outer, step, n, indices); break;
        case 4: detail::take_single<std::uint32_t, I>(to.data, from.data, outer, step, n, indices); break;
        default: detail::take_single<std::uint64_t, I>(to.data, from.data, outer, step, n, indices); break;
        }
        return;
    }
    kernels::for_each_offset(outer.extents, outer.steps, [&](extent_t number, std::ptrdiff_t offset) {
        std::byte* const out = to.data + number * indices.extents.size() * run_bytes;
        kernels::for_each_index(indices.extents, indices.steps, reinterpret_cast<I const*>(indices.data),
                                [&](extent_t position, extent_t index) {
                                    std::ptrdiff_t const at = offset + kernels::existing_index(index, n) * step;
                                    std::byte const* const source = from.data + at * static_cast<std::ptrdiff_t>(bytes);
                                    std::byte* const target = out + position * run_bytes;
                                    if (is_run) {
                                        kernels::copy_bytes(target, source, static_cast<std::size_t>(run_bytes));
                                    } else {
                                        kernels::copy_strided(inner.extents, {target, dense}, {source, inner.steps},
                                                              bytes);
                                    }
                                });
    });
}

/// Zeros, plus `from` where a take with these indices reads them. Equal indices add up, so this runs in order. `to` is
/// contiguous.
template <class T, class I>
void add_taken(moved_value const& to, moved_value const& from, moved_value const& indices, int axis) {
    using sums = kernels::recurrence_kernel<T, false>;
    clear(to, sizeof(T));
    extent_t const n = to.extents[axis];
    if (n == 0 || from.extents.size() == 0) {
        return;
    }
    int const end = axis + indices.extents.rank;
    detail::some_axes const outer(from, 0, axis);
    detail::some_axes const taken(from, axis, end);
    detail::some_axes const inner(from, end, from.extents.rank);
    bool const is_run = is_contiguous(inner.extents, inner.steps);
    extent_t const run = inner.extents.size();
    bool const is_evenly_spaced = taken.extents.rank == 1 || is_contiguous(taken.extents, taken.steps);
    std::ptrdiff_t const step = taken.extents.rank == 1 ? taken.steps[0] : 1;
    kernels::for_each_offset(outer.extents, outer.steps, [&](extent_t number, std::ptrdiff_t offset) {
        T* const out = reinterpret_cast<T*>(to.data) + number * n * run;
        T const* const in = reinterpret_cast<T const*>(from.data) + offset;
        if (run == 1 && is_evenly_spaced) { // no division finds where single elements are
            kernels::for_each_index(indices.extents, indices.steps, reinterpret_cast<I const*>(indices.data),
                                    [&](extent_t position, extent_t index) {
                                        T& target = out[kernels::existing_index(index, n)];
                                        target = sums::next(target, nullptr, 0, in[position * step]);
                                    });
            return;
        }
        kernels::for_each_index(
            indices.extents, indices.steps, reinterpret_cast<I const*>(indices.data),
            [&](extent_t position, extent_t index) {
                T* const target = out + kernels::existing_index(index, n) * run;
                T const* const source = in + kernels::offset_of(taken.extents, taken.steps, position);
                if (is_run) {
                    sums::run_step(target, target, nullptr, source, run);
                    return;
                }
                kernels::for_each_offset(inner.extents, inner.steps, [&](extent_t i, std::ptrdiff_t at) {
                    target[i] = sums::next(target[i], nullptr, 0, source[at]);
                });
            });
    });
}

} // namespace runtime
} // namespace v0
} // namespace calque
