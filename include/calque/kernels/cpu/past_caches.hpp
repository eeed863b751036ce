// SPDX-License-Identifier: MIT
// Whether the arrays of a call lie so that a kernel over rows can store its results past the caches.
#pragma once

#include <calque/kernels/cpu/fused_arguments.hpp>
#include <calque/kernels/cpu/pack_lines.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// Whether all results of a call lie at one place in their lines, row by row, and none where the kernel reads: what is
/// read is in the caches, from where it had to be moved out.
template <class Group, int Leaves, int Results>
CALQUE_NOINLINE bool suit_stores_past_caches(fused_arguments<Leaves, Results> const& a) {
    bool suit = true;
    int first = -1;
    for (int i = 0; i < Group::step_count; ++i) {
        int const r = Group::steps()[i].result;
        if (r < 0 || !Group::is_full(r)) {
            continue;
        }
        first = first < 0 ? r : first;
        suit &= simd::place_in_line(static_cast<std::byte const*>(a.results[r])) ==
                    simd::place_in_line(static_cast<std::byte const*>(a.results[first])) &&
                a.result_row_strides[r] == a.result_row_strides[first];
        for (int k = 0; k < Group::step_count; ++k) {
            int const leaf = Group::steps()[k].leaf;
            suit &= leaf < 0 || a.leaves[leaf] != a.results[r];
        }
    }
    return suit;
}

} // namespace kernels
} // namespace v0
} // namespace calque
