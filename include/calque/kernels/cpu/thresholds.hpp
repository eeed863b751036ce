// SPDX-License-Identifier: MIT
// Where one way to run a kernel becomes better than another: every such number of the kernels, and what set it.
// (What fusion repeats instead of storing is in passes/fuse.hpp, with the rest of its cost model.)
#pragma once

#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace thresholds {

inline constexpr std::ptrdiff_t kibibytes = 1024;

// ---- fused groups: costs are instructions a pack, of operations' structs

/// A later phase of a row computes a value again up to this cost, and loads it from a scratch row above. Measured on
/// softmax and layer norm: a scratch row of a value as cheap as a subtraction costs 10 %; one `exp` costs 20.
inline constexpr int cheap_to_recompute = 12;

/// A phase runs 4 groups in lockstep up to these costs, 2 above. Measured: few instructions wait for memory, and a
/// reduction for the 4 cycles of its addition; 4 groups of a `tanh` need more registers than there are.
inline constexpr int light_phase = 8;
inline constexpr int light_reducing_phase = 24;
inline constexpr int light_counting_phase = 60; // random words: two groups are one long chain of multiplications

/// Kernels of more steps are generated once, with masks, not a second time without: that halves their compile time, and
/// they wait for arithmetic.
inline constexpr int steps_with_unmasked_loop = 48;

/// Rows folded in registers before they are added to the totals of a column reduction, and groups of columns beside
/// each other. Measured on 1000 x 1000: 8 rows load and store the totals an eighth as often, and 16 gain nothing more.
inline constexpr std::ptrdiff_t rows_at_once = 8;
inline constexpr int groups_at_once = 4;

/// Steps in one unrolled body. Longer ones compile slower, and clang ends at 256 nested expressions.
inline constexpr int unrolled_steps = 64;

// ---- products

/// Multiply-adds of products that are done before the costs of their variants could be compared (16 x 16 x 16: 50 ns).
inline constexpr std::ptrdiff_t tiny_product = 4096;

/// Above this size of the operand that tiles stream through, its strided rows cost more, in conflicts of TLB and cache,
/// than packing does. Measured with L2 caches of 1 and 2 MiB; packing halves the speed of products of 10 rows.
inline constexpr std::ptrdiff_t direct_bytes = 1024 * kibibytes;

/// The part of A that stays in L2 while the strips of B pass by, in an unpacked product.
inline constexpr std::ptrdiff_t rows_in_l2_bytes = 512 * kibibytes;

/// The inner extent of packed blocks: a panel of B is 48 KiB then with AVX-512. Measured: 256 to 384 are alike.
inline constexpr std::ptrdiff_t packed_depth = 384;
/// A packed block of A: a quarter of a small L2.
inline constexpr std::ptrdiff_t packed_block_bytes = 256 * kibibytes;
/// Up to this size all of B along K stays packed while the blocks of A pass by.
inline constexpr std::ptrdiff_t packed_kept_bytes = 32 * 1024 * kibibytes;
/// Tiles beside each other in a packed block of B.
inline constexpr std::ptrdiff_t packed_tiles = 32;

/// Rows of a tile: sums, a row of B and a broadcast fill the registers. With 32 registers, 14 rows of one register come
/// within 3 % of 28; with 16, 6 rows of one would leave two units with a latency of four idle for a quarter of the
/// time.
inline constexpr int tile_rows_of_32_registers = 14;
inline constexpr int tile_rows_of_16_registers = 6;
inline constexpr int narrow_tile_rows_of_16_registers = 12;

/// A matrix above this size is combined so many rows at a time, so that the prefetchers see long runs.
inline constexpr std::ptrdiff_t combined_in_l2_bytes = 256 * kibibytes;
inline constexpr std::ptrdiff_t combined_rows_at_once = 32;

} // namespace thresholds
} // namespace kernels
} // namespace v0
} // namespace calque
