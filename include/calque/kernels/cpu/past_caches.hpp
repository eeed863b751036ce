// SPDX-License-Identifier: MIT
// Whether a kernel over rows can store its results past the caches: what can be told of its group, and of a call.
#pragma once

#include <calque/kernels/cpu/pack_lines.hpp>
#include <calque/kernels/cpu/row_program.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// How much all that a call reads and writes has to be.
inline constexpr std::ptrdiff_t least_bytes_past_caches =
    simd::register_count != 32              ? thresholds::least_bytes_past_caches_of_16_registers
    : simd::waits_for_lines_that_are_stored ? thresholds::least_bytes_past_caches_that_wait
                                            : thresholds::least_bytes_past_caches;

/// Whether a phase can store past the caches: it stores nothing but results, which have registers of one size.
template <class Group, int Phase>
inline constexpr bool stores_past_caches = [] {
    constexpr auto const& plan = row_program<Group>::plan;
    constexpr auto const& stored = row_program<Group>::template stores<Phase>;
    bool can = !plan.reduces[Phase] && stored.size != 0;
    for (int k = 0; k < stored.size; ++k) {
        std::size_t const bytes = size_of(Group::steps()[stored.at[k]].type);
        can &= plan.stored_in[stored.at[k]] == Phase && plan.scratch[stored.at[k]] < 0 && bytes >= sizeof(float) &&
               bytes == size_of(Group::steps()[stored.at[0]].type);
    }
    return can;
}();

/// Whether all phases together wait for memory, if that is behind the caches.
template <class Group>
constexpr bool waits_for_memory() {
    constexpr auto const& plan = row_program<Group>::plan;
    constexpr int registers_of_a_line = static_cast<int>(simd::line_bytes / (simd::width * sizeof(float)));
    constexpr int most = has_wide_values(Group::steps(), Group::step_count)
                             ? thresholds::most_cost_of_wide_array_past_caches
                             : thresholds::most_cost_of_an_array_past_caches;
    int cost = 0;
    int arrays = 0;
    for (int i = 0; i < Group::step_count; ++i) {
        graph::step const& s = Group::steps()[i];
        if (s.varies_along_columns) {
            cost += s.leaf >= 0 ? 0 : cost_of_step(Group::steps(), i);
            arrays += (s.leaf >= 0 ? 1 : 0) + (s.result >= 0 ? 1 : 0);
        }
    }
    return cost * registers_of_a_line <= most * arrays && (plan.count == 1 || cost < thresholds::costly_phase);
}

/// Whether a kernel that stores past the caches gains from it.
template <class Group>
constexpr bool gains_past_caches() {
    return simd::has_streams && Group::step_count <= thresholds::steps_with_kernel_past_caches &&
           waits_for_memory<Group>() && []<int... Phase>(std::integer_sequence<int, Phase...>) {
               return (stores_past_caches<Group, Phase> || ...);
           }(typename row_program<Group>::phases{});
}

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
