// SPDX-License-Identifier: MIT
// Where a fused kernel reads and writes, and how it does.
#pragma once

#include <calque/graph/schedule.hpp>
#include <calque/kernels/cpu/advance.hpp>
#include <calque/kernels/cpu/pack.hpp>
#include <calque/kernels/cpu/spaced_leaves.hpp>
#include <calque/kernels/cpu/unroll_steps.hpp>

#include <cstddef>
#include <cstdint>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Where a fused kernel reads and writes. Strides are in elements, from one row to the next; along columns what varies
/// is contiguous.
template <int Leaves, int Results>
struct fused_arguments {
    void const* leaves[Leaves == 0 ? 1 : Leaves];
    std::ptrdiff_t leaf_row_strides[Leaves == 0 ? 1 : Leaves];
    std::ptrdiff_t indices[Leaves == 0 ? 1 : Leaves]; // of leaves that are no arrays: the first element's place
    void* results[Results == 0 ? 1 : Results];
    std::ptrdiff_t result_row_strides[Results == 0 ? 1 : Results];
    void const* tile = nullptr; // products: the tile that is finished
    std::ptrdiff_t tile_row_stride = 0;
    std::uint64_t broadcast_leaves = 0; // as bits: those with one element a row, though their steps vary along columns
    std::byte* scratch = nullptr;       // `scratch_bytes(columns)` bytes, aligned to 64

    CALQUE_INLINE bool has_one_element(int leaf) const { return (broadcast_leaves >> leaf & 1) != 0; }
};

/// The same where the columns of some leaves may stand a few elements apart.
template <int Leaves, int Results>
struct spaced_arguments : fused_arguments<Leaves, Results> {
    spaced_leaves spaced;

    CALQUE_INLINE bool is_spaced(int leaf) const { return (spaced.leaves >> leaf & 1) != 0; }
};

/// Makes row `i` of a group's space the first.
template <class Group, class Arguments>
CALQUE_INLINE void move_to_row(Arguments& a, std::ptrdiff_t i) {
    unroll_steps<0, Group::step_count>([&](auto step) CALQUE_INLINE_LAMBDA {
        constexpr graph::step s = Group::steps()[step];
        using T = type_of<s.type>;
        if constexpr (s.leaf >= 0 && s.varies_along_rows) {
            a.leaves[s.leaf] = advanced(static_cast<T const*>(a.leaves[s.leaf]), i * a.leaf_row_strides[s.leaf]);
        }
        if constexpr (s.index >= 0 && s.varies_along_rows) {
            a.indices[s.index] += i * a.leaf_row_strides[s.index];
        }
        if constexpr (s.result >= 0) {
            a.results[s.result] = advanced(static_cast<T*>(a.results[s.result]), i * a.result_row_strides[s.result]);
        }
        if constexpr (s.op == graph::code_of<graph::ops::matmul>) {
            a.tile = advanced(static_cast<T const*>(a.tile), i * a.tile_row_stride);
        }
    });
}

/// Makes column `j` the first. (Values that a row has once stay where column 0 has them.)
template <class Group, class Arguments>
CALQUE_INLINE void move_to_column(Arguments& a, std::ptrdiff_t j) {
    unroll_steps<0, Group::step_count>([&](auto step) CALQUE_INLINE_LAMBDA {
        constexpr graph::step s = Group::steps()[step];
        using T = type_of<s.type>;
        if constexpr (s.leaf >= 0 && s.varies_along_columns) {
            a.leaves[s.leaf] = static_cast<T const*>(a.leaves[s.leaf]) + (a.has_one_element(s.leaf) ? 0 : j);
        }
        if constexpr (s.index >= 0 && s.varies_along_columns) {
            a.indices[s.index] += j;
        }
        if constexpr (s.result >= 0 && Group::is_full(s.result)) {
            a.results[s.result] = static_cast<T*>(a.results[s.result]) + j;
        }
    });
}

namespace detail {

/// A pack from memory: all of it, or (`Masked`) its first `n` elements, of which so many groups are `Whole`.
template <bool Masked, int U, int Whole = 0, class T>
CALQUE_INLINE simd::pack<T, U> load(T const* p, int n) {
    if constexpr (Masked) {
        return simd::pack<T, U>::template load<Whole>(p, n);
    } else {
        return simd::pack<T, U>::load(p);
    }
}

template <bool Masked, class T, int U>
CALQUE_INLINE void store(T* p, simd::pack<T, U> const& x, int n) {
    if constexpr (Masked) {
        x.store(p, n);
    } else {
        x.store(p);
    }
}

/// The same of a group of each of several rows.
template <bool Masked, int U, class T>
CALQUE_INLINE simd::pack<T, U> load_rows(T const* p, std::ptrdiff_t stride, int n) {
    return simd::generate_groups<T, U>([&](auto k) CALQUE_INLINE_LAMBDA { return load<Masked, 1>(p + k * stride, n); });
}
template <bool Masked, class T, int U>
CALQUE_INLINE void store_rows(T* p, std::ptrdiff_t stride, simd::pack<T, U> const& x, int n) {
    simd::unroll<U>([&](auto k) CALQUE_INLINE_LAMBDA { store<Masked>(p + k * stride, simd::groups_of<k, 1>(x), n); });
}

/// The element at the beginning of each row, in all lanes of its group.
template <int U, class T>
CALQUE_INLINE simd::pack<T, U> load_element_of_rows(T const* p, std::ptrdiff_t stride) {
    return simd::generate_groups<T, U>([&](auto k) CALQUE_INLINE_LAMBDA { return simd::pack<T, 1>(p[k * stride]); });
}

} // namespace detail
} // namespace kernels
} // namespace v0
} // namespace calque
