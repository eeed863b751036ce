// SPDX-License-Identifier: MIT
// Where one way to run a kernel becomes better than another: every such number of the kernels, and what set it.
// (What fusion repeats instead of storing is in passes/fuse.hpp, with the rest of its cost model.)
//
// Measured: the time of another value over that of this one, least of eight runs of each by turns, float, on a core of
// an AMD EPYC (Zen 5, AVX-512, L2 of 1 MiB), g++ 12 -O3.
#pragma once

#include <calque/kernels/cpu/block_order.hpp>

#include <climits>
#include <cstddef>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace thresholds {

inline constexpr std::ptrdiff_t kibibytes = 1024;

// ---- fused groups: costs are instructions a pack, of operations' structs

/// A later phase of a row computes a value again up to this cost, and loads it from a scratch row above. Measured:
/// always again, softmax of 1000 columns takes 1.22 to 1.28; always from scratch, layer norm takes 1.05 to 1.08.
inline constexpr int cheap_to_recompute = 12;

/// A phase runs 4 groups in lockstep up to these costs: little work waits for memory, a reduction for the 4 cycles of
/// its addition. Measured, always 2: a*b+c-0.5a and layer norm take 1.06 to 1.10, softmax 1.09 to 1.11; with 32
/// registers, 2 above 8, polynomials of three arrays that cost 10 to 14: 1.1 to 1.4 in L1, 1.0 behind it.
///
/// Above, too, where there are 32 registers and each group takes one: functions wait for themselves. Measured with 2,
/// 45 programs of one to three functions: log(exp(x)), softplus 1.4, pow 1.2 (clang 19 1.45), tanh, log and sigmoid
/// 1.15 to 1.2, with gradients 1.1 to 1.2, in the geometric mean 1.13, tanh(a*b+c)*sigmoid(a)-0.5c 1.0 (1.18).
/// Elements of 8 bytes, of which 2 groups are 4 registers, have 2.
inline constexpr int light_phase = 8;
inline constexpr int light_phase_of_32_registers = 16;
inline constexpr int light_reducing_phase = 24;
/// With 16 registers 4 groups spill, which costs less than waiting in one walk without operands that have one element a
/// row, and from a cost on in each of several, up to another one where the compiler mixes groups. Measured with 2,
/// vectors and matrices, an AMD Zen 3 (AVX2, SSE2), 16 programs: softplus 1.33 (1.28), exp(a)*erf(b)-exp(c)*erf(a) 1.26
/// (1.1), sigmoid(a)*tanh(b)+sigmoid(c)*a 1.12 (1.08), tanh(a*b+c)*sigmoid(a)-0.5c 1.13 (1.17), log, erf, sin,
/// a*sigmoid(a) 1.05 to 1.1 (1.03 to 1.16), exp and tanh 1.0 to 1.05 (1.1), two exp with three arrays 0.96; clang 19,
/// AVX2, up to that cost 1.05 to 1.25, above 0.89 to 1.05. Sums of log(exp(x) + 1) 1.35. With 4 at any cost, exp(x -
/// mean) y over 20 to 100 columns 1.05 to 1.2; with a column, tanh(x) sigmoid(x) - k 1.0 to 1.4.
inline constexpr int least_cost_of_spilling_groups = 24;
inline constexpr int most_cost_of_spilling_groups = compiler_mixes_groups ? 40 : INT_MAX;
/// With 16 registers, of values that take two of them, 2 groups from a cost of 2 up to this one. Measured with 4, AVX2,
/// doubles: a*b+c-0.5a 1.35 to 1.5, where(a > b, a, c) 1.25 to 1.4, a + b 1.0, int64 as double 1.65, sums of
/// polynomials 2.1, maxima of |a - b| a 1.5, variance 1.05 to 1.3, layer norm 1.0 to 1.2; clang 19 1.0, 1.0 to 1.1,
/// 1.0, -, 1.3, 1.15. With 2 at any cost, sums of exp(x) take 1.05 to 1.08, of tanh(x) 0.9, clang 19 1.06.
inline constexpr int most_cost_of_crowded_phase = 12;
inline constexpr int light_counting_phase = 60; // random words: two groups are one long chain of multiplications

/// Up to this cost, with 32 registers at any, a phase keeps a register for what it loads and uses several times; as an
/// operand of instructions it would be two lines each time. Measured without, arrays at 16 bytes past a line,
/// polynomials of three matrices: 1.3 to 2.6, AVX2 1.3 to 1.4; layer norm of doubles with gain, AVX2, 1.15 to 1.25;
/// tanh(a*b+c)*sigmoid(a)-0.5c 1.06, but exp(-x*x)*(y*y-x)+x*y*z-exp(z)*z 0.96. At any with AVX2: sum(tanh(a*b+c)*a)
/// with its gradient 1.08.
inline constexpr int most_cost_of_kept_loads = 24;

/// Reductions of fewer whole blocks of groups run group by group: the groups of a block would have to be folded for
/// each row. Measured with 1, over 64 to 97 columns: maxima 1.35 to 1.5, sums 1.0 to 1.1; with blocks always, sums of
/// 20 to 47 columns 1.2 to 1.5, maxima 1.5 to 1.9.
inline constexpr int least_blocks_folded = 2;

/// A light reduction over so many elements, more than L2 holds, asks for memory so far ahead. Measured without: 1.1 to
/// 1.2 for the sum and 1.2 to 1.3 for the maximum of 1 and 10 million, 1.0 to 1.1 for sums of rows and softmax; with
/// it, a sum of 100,000 takes 1.1, and one of 300,000 1.0. Sums of 10 million take 1.15 with 2 KiB ahead, 1.06 with 4,
/// 0.97 with 12, which takes 1.05 for 1 million.
/// Over short rows it does sooner. Measured with it, sums of rows of 65 to 999 columns: 0.95 of floats and 1.2 of
/// doubles for 100 KiB to 800 KiB, which L2 holds, 0.85 to 0.97 for 1.3 to 3.2 MiB. Where lines that are crossed take
/// longer, behind L1 if rows are too short to be reduced in lines, else as of one row: an Intel Xeon (L2 of 2 MiB),
/// with it sums of 130 and 160 columns 0.8 and 0.86, maxima 0.9, products 0.86; of 200 columns 1.0, 0.82 and 1.1 beside
/// lines, of 300 1.15, 1.0 and 1.17, of 512 1.3, 1.25 and 1.15.
inline constexpr std::ptrdiff_t prefetched_elements = 512 * 1024;
inline constexpr std::ptrdiff_t prefetched_elements_of_rows = 128 * 1024;
inline constexpr std::ptrdiff_t most_columns_prefetched_early = 512;
inline constexpr std::ptrdiff_t prefetched_elements_across_lines = 12 * 1024;
inline constexpr std::ptrdiff_t prefetched_elements_in_lines = 448 * 1024;
inline constexpr std::ptrdiff_t prefetched_bytes = 8 * kibibytes;

/// Light elementwise work on more than L1 has asks so far ahead for where it will store, unless that is what it reads,
/// and for what it reads across lines, on processors of Intel (simd::waits_for_lines_that_are_stored). Measured with,
/// an Intel Xeon (Ice Lake, L2 of 1.25 MiB), AVX-512, in L2 and behind it: x + 1 0.72 to 1.0 and 0.85 to 0.98, x + y
/// 0.82 to 0.88 and 0.92 to 0.98, a*b+c-0.5a 0.85 to 0.9 and 0.97 to 1.0, a*b+c*d 0.93 to 1.0 and 1.0, two results 0.7
/// to 0.9 and 0.88 to 0.97; x + row 0.82 to 0.88 and 0.9 to 0.97, x + column 0.71 to 0.8 and 0.79 to 0.9, layer norm
/// 0.84 to 0.94 and 0.9 to 0.97, softmax 0.9 to 0.98 and 0.92 to 0.96; in double the same; divisions, roots and
/// tanh 1.0. 512 bytes and 2 KiB ahead take the same, 4 KiB up to 1.1. For what is loaded in whole lines, too:
/// a*b+c-0.5a 1.17, a*b+c*d 1.2; of x + row for where it stores only: 0.97 to 1.2.
///
/// A transposition that is not in L1 asks for the next line of each row that it writes. Measured with, 100 to 2000 rows
/// and columns: AVX-512 0.6 to 0.95, in double 0.65 to 0.95, AVX2 0.57 to 1.0, SSE 0.7 to 1.07.
inline constexpr std::ptrdiff_t bytes_asked_ahead = 1 * kibibytes;
/// With AVX2 of up to so many arrays: x + y 0.6 to 0.7 and 0.95, two results 0.6, x + row 0.7 and 0.9, layer norm 0.82
/// and 0.9, softmax 0.88; a*b+c-0.5a 0.95 to 1.05, of 48 KB 1.1 to 1.4, a*b+c*d 1.0 to 1.15, x + column 1.05 to 1.2.
/// With SSE of any number: x + y 0.52 and 0.9, a*b+c-0.5a 0.64, a*b+c*d 0.7, all aligned 1.03 to 1.06; x + column 1.0
/// to 1.5.
inline constexpr int most_arrays_asked_ahead_of_16_registers = 2;

/// Without AVX-512, rows of several walks over as many elements in all: while a later walk computes or stores, it asks
/// for what the first one reads so many elements ahead, in rows of so many columns. Measured without, an AMD Zen 3, 600
/// to 4000 columns, 3 and 10 million elements: softmax and its logarithm 1.15 to 1.3, log-sum-exp 1.35 to 1.6, layer
/// norm 1.0 to 1.35, x - mean and x / sum 1.0 to 1.25, of a million 1.1 to 1.3 where functions are computed, else 0.85
/// to 1.1; 64 to 300 columns 0.8 to 1.2; 3 * 1024 elements ahead 1.0 to 1.3 of this. Variances, whose later walk only
/// reads, 0.95.
inline constexpr std::ptrdiff_t elements_prefetched_ahead = 8 * 1024;
inline constexpr std::ptrdiff_t least_columns_prefetched_ahead = 512;
inline constexpr std::ptrdiff_t least_elements_prefetched_by_cheap_walks = 2 * 1024 * 1024;

/// Without AVX-512, a reduction of one row over as many elements reads so many parts of it side by side instead: a
/// processor looks ahead in each. Measured without, an AMD Zen 3 (L3 of 32 MiB), 3 and 10 million: sums, maxima and
/// variances of floats and doubles 1.3 to 1.7, x * y 1.05 to 1.25, exp 1.25 to 1.4, log-sum-exp 1.4; 1 million 1.0 to
/// 1.15. Ahead of one part memory is asked for in vain: 1.0 to 1.15. Two parts take 1.2 of four, eight 0.9 to 1.1. What
/// is stored as well takes up to 1.5 in parts, unless it is stored past the caches, line by line: without parts 2x+1, a
/// root, max(x, 0) of 10 and 20 million take 1.25 to 1.45, x + y and a*b+c-0.5a 1.0 to 1.15, functions 1.0.
inline constexpr std::ptrdiff_t parts_side_by_side = 4;

/// With AVX-512 light work on one row of so many columns begins to store at the beginning of a cache line, and up to so
/// many loads several arrays that begin elsewhere in whole lines. Measured without, a*b+c-0.5a of arrays at 16 bytes
/// past a line: 1.4 for 300, 1.65 for 1000, 1.1 for 6000; at three different places 1.2, 1.5 and 1.08; aligned 1.0. In
/// lines at 8000 and more, where memory behind L1 takes the time, 1.0 to 1.07, but on an Intel Xeon (L2 of 2 MiB) 0.75
/// to 0.8 for 7000 to 100,000, and 1.0 behind L2; below 256 0.95 to 1.2. Arrays at one place in their lines, on that
/// Xeon, stored anywhere: 1.4 for 7000 to 30,000, 1.2 for 100,000, 1.0 behind L2; more work, as
/// tanh(a*b+c)*sigmoid(a)-0.5c, 1.07. One array alone need not be loaded so: x + 1 takes 0.73 then, of an array
/// elsewhere in its line than the result. On that Xeon one array of several is loaded as it lies where L1 has all: of
/// two units one permutes, and both load. Measured all in lines, 1000 floats at different places: a + b 1.0, max(a, b)
/// 1.3, a*b+c-0.5a 1.12, (a+b)(a-b)+1 1.1, max(a, b) c 1.2, a*b+c*d 1.2; two as they lie 1.0 to 1.2; behind L1 0.95.
inline constexpr std::ptrdiff_t least_columns_in_lines = 256;
inline constexpr std::ptrdiff_t most_columns_in_lines = 128 * 1024;

/// Of many rows each begins so from so many columns on, with AVX2, too; of doubles with AVX-512 behind L2 only, with
/// AVX2 before it. Measured without, an AMD Zen 5, over 10 to 100 rows of floats: x+w, x*w+y 1.0 to 1.25 over 777, 0.95
/// to 1.25 over 1000, 1.05 to 1.1 over 4096; 1000x1000 1.03, in double 1.2; below 300 columns 0.75 to 1.0, doubles in
/// L2 0.85 to 1.15. AVX2: 1.2 to 1.3 over 513, 1.15 to 1.25 over 777, 0.9 to 1.5 over 1000, in double 1.1 to 1.25 over
/// 513 and 777, 1.0 over 1000; below 400 columns 0.93 to 1.15; SSE 0.9 to 1.0.
inline constexpr std::ptrdiff_t least_columns_of_aligned_rows = 512;
/// The same with AVX-512 where lines that are crossed take longer (simd::waits_for_lines_that_are_crossed): blocks and
/// what they leave then, not register by register. Measured register by register from anywhere on an Intel Xeon, in 40,
/// 250 and 1000 KB: x+k, k a column, 1.05 to 1.15 over 65 to 500 columns, in double 1.6 to 1.85; max(x*w+b, 0) 1.1 to
/// 1.25 over 127 to 333 (joined rows); doubles over 600 to 2000, by blocks from anywhere, x+w 1.1 to 1.35, x+k 1.0 to
/// 1.13; 20 and 90 rows of 65 to 300 in L1 1.05 to 1.4, in double 1.05 to 2. Over 24 to 60 0.7 to 1.0, in double over
/// 17 to 33 0.7 to 1.35.
inline constexpr std::ptrdiff_t least_columns_of_rows_at_lines = 64;
inline constexpr std::ptrdiff_t least_columns_of_wide_rows_at_lines = 40; // of elements of 8 bytes
/// Of light elementwise work over many rows of fewer columns than this, AVX-512 runs register by register where blocks
/// of four groups would leave some. Measured with blocks, in 10, 40 and 240 KB of floats, 20, 80 and 480 of doubles:
/// x*k, k a column, max(x*w+k, 0), x*k+y over 48 to 511 columns 1.0 to 1.3 (1.45 over 127), where(x>k, x*x, x-k) 1.0
/// to 1.4, two results 1.0 to 1.2, clang 19 1.0 to 1.25; 1.0 behind L2; polynomials of 12 instructions 0.9 to 1.0, in
/// double 1.0 to 1.2. Over multiples of 64 columns 0.9 to 1.05. With AVX2 blocks take 0.7 to 1.0.
inline constexpr std::ptrdiff_t least_columns_of_blocks_and_rest = 512;

/// Each of many rows of so many bytes begins so where lines that are crossed take longer
/// (simd::waits_for_lines_that_are_crossed), of so many arrays, and none of these is loaded as it lies. Measured with,
/// an Intel Xeon (Ice Lake): max(x*w+b, 0) of 2049 and 3000 columns 0.71 to 0.88, of 600 0.86 to 0.94, of 1000 0.87 to
/// 1.04, behind L2 of 1000 1.03 to 1.1, of 5000 0.95 to 1.0; a*b+w-0.5a of 2049 and 3000 0.87 to 0.99, of 1000 0.94 to
/// 1.05; of two arrays, x + row, 1.02 to 1.28.
inline constexpr int least_arrays_of_rows_in_lines = 3;
inline constexpr std::ptrdiff_t least_bytes_of_rows_in_lines = 6 * kibibytes;

/// Of work with more arithmetic than loads, arrays of so many bytes together; less is in L1, where it waits for the
/// ports that permutations take, too, as it does anywhere with more than twice as much. Measured on an AMD Zen 5, in
/// lines: five operations on three arrays 1.3 for 500, 1.4 for 1000, 1.2 to 1.5 for 1400, 0.95 to 1.2 for 2000, 0.85 to
/// 1.0 for 3000, 1.0 from 4000 on; where(a > 0, a, 0.1 a) b + |c| 1.1, 1.1, 1.0 to 1.2, 0.7 to 0.87, 0.7 to 0.8; four
/// operations on two arrays 1.2 to 1.5 up to 2000, 1.0 to 1.4 for 3000 and 4000, nine on three 0.9 to 1.15.
inline constexpr std::ptrdiff_t least_bytes_of_permuted_arithmetic = 28 * kibibytes;
/// The same where most of it takes three registers, as permutations do: what multiplies and adds, or keeps NaN.
/// Measured in lines, four and five multiply-adds on three arrays of 28 to 44 KiB 1.1 to 1.55, of more 0.85 to 1.0;
/// min(max(x, z), y) + x 1.0 to 1.45 and 0.75 to 0.95; x x y y z z and (x - z) + (y - x) (z + y) 0.8 to 1.0 of both.
inline constexpr std::ptrdiff_t least_bytes_of_permuted_multiply_adds = 46 * kibibytes;

/// Without loads in whole lines (AVX2, SSE) light work on one row of so many columns begins to store where a register
/// is aligned. Measured with it on an AMD Zen 3, arrays at 16 bytes past a line, a*b+c-0.5a and x + 1: 0.9 to 1.0 for
/// 100, 0.76 and 0.65 for 300, 0.72 and 0.53 for 1000, 0.9 and 0.53 for 3000; at three different places 0.9 for 300 to
/// 3000. Below, its 3 ns are more than it gains: 1.35 for x + 1 of 64.
inline constexpr std::ptrdiff_t least_columns_aligned = 128;

/// Light reductions of one row of so many bytes load from the beginning of a cache line on, and other arrays in whole
/// lines, as elementwise work does, if so many registers have them and so many bytes all of what is read; of fewer
/// bytes if all arrays lie together, at one place in their lines. Measured without, AVX-512, arrays at several places:
/// sums of 300 floats 0.96, of 500 1.15, of 1000 1.45, of 3000 to 6000 1.75, of doubles 1.17, 1.3, 1.6 and 1.8; of x *
/// y, (x - y)^2, |x - y| and x * y * z 1.0 to 1.05 of 300, 1.25 to 1.3 of 500, 1.4 to 1.55 of 1000, 1.5 to 1.75 of
/// 3000, of doubles (two arrays) 1.2, 1.4, 1.65, 1.7. Other arrays in lines behind L1: 1.0, of doubles 1.2 to 1.5.
/// Maxima: 1.0 to 1.05 of 300, 1.1 of 1000 floats, 1.15 of 1000 doubles, of |x - y| 1.1 of 500, 1.17 of 1000, 1.2 of
/// 2000. Where the first array begins in a line, the others across lines: x * y of 1000 and 3000 floats 1.25 and 1.33,
/// of doubles 1.4 and 1.5; in lines where all are at one place: |x - y| 1.15.
///
/// On an Intel Xeon (L2 of 2 MiB): sums of 400 floats 1.15, of 1000 1.45, of 3000 1.55, of 20,000 to 200,000 1.8
/// to 1.9, of 400,000 1.5, 1.0 behind L2, of 300, 500 and 1000 doubles 1.15, 1.4 and 1.75; maxima of 300, 500, 1000 and
/// 3000 floats 0.85, 0.92, 1.02 and 1.17, of doubles 0.88, 1.0, 1.16 and 1.4; of arrays that lie together x * y 1.2 of
/// 200, 1.3 of 300, 1.45 of 500, |x - y| 1.1, 1.15 and 1.2.
inline constexpr std::ptrdiff_t least_bytes_reduced_in_lines = 2 * kibibytes;
inline constexpr std::ptrdiff_t least_bytes_of_extremes_in_lines = 4 * kibibytes;
inline constexpr std::ptrdiff_t least_bytes_reduced_in_lines_together = 1 * kibibytes;
inline constexpr int most_registers_of_reduced_lines = 12;
inline constexpr std::ptrdiff_t most_bytes_of_reduced_lines = 48 * kibibytes;
/// Each of many rows, where lines that are crossed take longer (simd::waits_for_lines_that_are_crossed), from so many
/// bytes on if all of them are behind L1, for maxima from so many; what L1 has, or an earlier phase read, from so many on,
/// unless it lies together. Measured on an Intel Xeon without, AVX-512: over 200 KB of floats sums of rows 1.1 of 180
/// columns, 1.25 of 200, 1.4 of 300, 1.65 of 500, 1.9 of 1000 and more, maxima 0.9, 1.0, 1.15, 1.65 and 1.9, but up to
/// 300 0.83 to 1.0 of memory that is asked for ahead, sums of products 1.3 to 1.5, if these lie together 1.5; deviations
/// in two phases 0.9, 0.95, 1.15, 1.2 and 1.35; over 24 KB sums 0.5 of 200, 0.85 of 300, 0.95 of 400, 1.15 of 1000, 1.35
/// of 4000, maxima 0.7, 0.8, 0.8, 1.0 and 1.15; products that lie together 1.1 of 200, 1.2 of 260, 1.4 of 300, |x - y|
/// 0.95, 0.9 and 1.1, of others 0.65 to 0.95. On an AMD Zen 5 0.7 to 1.1.
inline constexpr std::ptrdiff_t least_bytes_of_rows_reduced_in_lines = 768;
inline constexpr std::ptrdiff_t least_bytes_of_extremes_of_rows_in_lines = 1280;
inline constexpr std::ptrdiff_t least_bytes_of_rows_reduced_in_lines_in_l1 = 4 * kibibytes;
inline constexpr std::ptrdiff_t most_bytes_in_l1 = 40 * kibibytes;
/// Without AVX-512, where all of a reduction's totals change lanes by way of memory. Measured without, AVX2: sums of
/// 6000 doubles and of their products 1.4.
inline constexpr std::ptrdiff_t least_bytes_reduced_in_lines_by_memory = 24 * kibibytes;

/// Kernels of more steps are generated once, with masks, not a second time without: that halves their compile time, and
/// they wait for arithmetic.
inline constexpr int steps_with_unmasked_loop = 48;

/// Elementwise kernels of so few steps are generated a second time, for one row: x * y + z of 2x2 matrices takes 13.0
/// ns instead of 15.9. A second kernel of 16 steps, with tanh, exp, log and sqrt, takes 0.1 s to compile.
inline constexpr int steps_with_kernel_of_one_row = 16;

/// Kernels of so few steps are generated once more for operands of which only the call knows that they have one element
/// a row; others get a copy that has them all. Measured, always copies: x * c + d with columns c and d takes 2.3 to 3.9
/// over 1000 and more columns, 1.5 over 128. Without these kernels tanh(a*b+c)*sigmoid(a)-0.5c takes 0.992 of the
/// instructions to compile, (x + y) * 0.5 1.014: who has them does not need the code of copies.
inline constexpr int steps_with_kernel_of_broadcasts = steps_with_unmasked_loop;

/// Kernels of so few steps that reduce several axes are generated once more for rows in pieces. A program of square(x -
/// y) or square(tanh(x + b) - y) takes 1.0 to 1.03 of what it takes to compile without.
inline constexpr int steps_with_kernel_of_pieces = steps_with_unmasked_loop;

/// Light work runs pieces of so many columns several at a time, and as they lie from a register on, with AVX-512
/// sooner. Measured one by one, or copied up to 30 columns, an AMD Zen 3, 256 pieces: sums over 8, 16, 24, 31, 33, 47,
/// 65, 127 columns 2, 2.9, 3.4, 4.5, 2.2, 2.1, 1.6, 1.7, maxima 1.7, 2.5, 2.5, 3.1, 1.9, 1.7, 1.6, 1.5, sums of x
/// y 2.7, 2.6, 1.8, 1.7, 1.5, 1.4, 1.2, 1.0 (257 0.75); in double 2.7, 2.7, 1.3, 1.3, 0.95, 0.95, 0.9, 0.95. With
/// AVX-512, an Intel Xeon, over 5, 9, 16, 31, 33, 48, 65, 128 columns: sums 1.5, 1.9, 2.3, 2.6, 2.7, 1.45, 1.45, 1.3,
/// sums of x y 1.35, 2.1, 2.7, 1.7, 1.7, 1.15, 1.0, 1.15, variances 0.75, 0.95, 1.4, 1.9, 2.3, 1.35, 1.65, 0.95 (in
/// double over 9 1.55); in double sums 1.25, 2.8, 4.2, 1.75, 1.8, 1.15, 1.05, 1.25 (200 columns 1.0).
inline constexpr std::ptrdiff_t most_columns_of_pieces_in_lockstep = 128;
inline constexpr std::ptrdiff_t most_columns_of_wide_pieces_in_lockstep = 32; // of elements of 8 bytes, without AVX-512
inline constexpr std::ptrdiff_t least_columns_of_masked_pieces = 5;           // with AVX-512
inline constexpr std::ptrdiff_t least_columns_of_masked_pieces_in_walks = 9;

/// Others are reduced piece by piece if what would be copied of a piece, in words of 4 bytes and without so many columns,
/// are more words than a piece costs: so many, and for each instruction of a group of lanes some, for idle lanes and as
/// the pieces' ends wait for each other. Measured always in pieces, an AMD Zen 3, 64 pieces, floats (doubles), of what
/// copies take: sum of squares over 8, 16, 31, 32, 33, 64 columns 1.6, 1.4, 1.4, 0.5, 0.8, 0.5 (1.2, 0.6, 0.9, 0.5, 0.7,
/// 0.4), of five views 1.1, 0.7, 0.8, 0.6, 0.6, 0.5 (0.7, 0.6, 0.6, 0.5, 0.5, 0.4), of x minus a row 1.0, 1.0, 1.5, 0.7,
/// 1.0, 0.6, of tanh(x) 1.5, 1.2, 1.6, 1.1, 1.4, 1.2 (1.4, 0.9, 1.35, 1.4, 1.4, 1.1).
inline constexpr std::ptrdiff_t words_of_a_piece = 23;
inline constexpr std::ptrdiff_t words_of_an_instruction = 3;
inline constexpr std::ptrdiff_t columns_of_a_piece = 6;

/// What reads and writes so many bytes stores its results past the caches, which would read each line of them first and
/// could not keep them for whoever reads them next. Measured on an AMD Zen 5 (L3 of 32 MiB) without, 1.0 to 1.4 from
/// here on, a*b+c-0.5a of 10 million 1.25, tanh 1.2, two results 1.35, layer norm of 10000x1000 1.3; with a sum of the
/// result behind it 1.0 of 61 MiB, 1.1 of 122, but 0.93 to 0.95 of 46 and 0.5 to 0.9 of less.
inline constexpr std::ptrdiff_t least_bytes_past_caches = 64 * 1024 * kibibytes;
/// Where stores wait for their lines (simd::waits_for_lines_that_are_stored) from so many on. Measured with, an Intel
/// Xeon (Ice Lake, a share of 48 MiB of L3), of the time without, 28 to 60 MB: x + 1 0.54 to 0.65, x + y 0.62 to 0.75,
/// a*b+c-0.5a 0.76 to 0.81, x + row 0.67 to 0.8, max(x*w+b, 0) 0.65 to 0.8, layer norm 0.7 to 0.84, softmax 0.9 to 1.0;
/// with a sum of the result behind it 0.96 to 1.09 of 28 MB, 0.84 to 0.98 of 36, 0.8 to 0.9 of 52; of 20 MB 0.53, 0.64
/// and 0.72, with the sum 1.09.
inline constexpr std::ptrdiff_t least_bytes_past_caches_that_wait = 24 * 1024 * kibibytes;
/// Without AVX-512, where one row is stored in parts, from so many on. Measured without, an AMD Zen 3 (L3 of 32 MiB, of
/// which others take a share), 24 to 48 MB: 2x+1 1.8 to 2.1, x + y 1.0 to 1.6, of 18 MB 1.7 and 1.4; with a sum of the
/// result behind it 1.2 to 1.4 and 1.0 to 1.25, of 18 MB 0.85 to 1.05; three 2x+1 one after the other 1.7 to 1.9; rows
/// with what they have once, layer norm 0.95 to 1.3.
inline constexpr std::ptrdiff_t least_bytes_past_caches_of_16_registers = 24 * 1024 * kibibytes;
/// Rows of fewer columns do not: each begins and ends in lines that are stored in parts. Measured without, rows times a
/// column, tanh of them: 1.2 over 256 columns, 1.1 and 0.9 over 128; softmax and layer norm below 512 0.75 to 1.1.
inline constexpr std::ptrdiff_t least_columns_past_caches = 256;
inline constexpr std::ptrdiff_t least_reduced_columns_past_caches = 512;
/// Nor does what costs more for each array that it reads or writes, a line of each at a time, or has several walks and
/// is costly. Measured without, register by register: exp and tanh of one array 1.2, tanh(a*b+c)*sigmoid(a)-0.5c (12 an
/// array) 1.25, log (13) 0.85, sigmoid(a)*tanh(b)+sigmoid(c)*a (18) 1.1, tanh(a)*sigmoid(a) (22) 0.9, softmax 0.85 to
/// 1.3; in double exp 1.3, tanh (9) 1.05, sin (10) 0.8, tanh(a*b+c)*sigmoid(a)-0.5c 1.05; with AVX2 exp (8) 0.92.
inline constexpr int most_cost_of_an_array_past_caches = 12;
inline constexpr int most_cost_of_wide_array_past_caches = 9; // of elements of 8 bytes
/// The lines in which rows begin are asked for so many rows ahead. Measured without: 130 ns a row more; 1, 4 and 8 are
/// alike.
inline constexpr std::ptrdiff_t rows_ahead_past_caches = 2;
/// Groups of so few steps have a kernel for that, unless the compiler knows that there are fewer elements.
inline constexpr int steps_with_kernel_past_caches = 16;
inline constexpr std::ptrdiff_t least_elements_past_caches = 1024 * 1024;

/// Rows of so many columns are read as they lie, if these stand a few elements apart, instead of copied. Measured, every
/// second column of 16 and 1000 rows, float and double: 4 columns take 0.3 to 0.9 of the time of copies, more 0.3 to
/// 1.08.
inline constexpr std::ptrdiff_t least_spaced_columns = 4;
/// A row that so many rows read, as those of all pairs of points do, is copied all the same, once; so it is if only a
/// call knows how many. Measured, 17 / 100 / 1000 points of 3 floats beside 2: 1.5 / 1.7 / 0.83; beside 4 1.6 / 1.5 /
/// 0.57, 6 1.15 / 0.96 / 0.48, 8 1.0 / 1.1 / 0.45.
inline constexpr std::ptrdiff_t least_rows_of_a_copy = 6;

/// Groups of more steps call vector functions of this cost, others have the code of each in their loop. Measured with
/// calls that g++ 12 made by itself: tanh(a*b+c)*sigmoid(a)-0.5c takes 1.32, softmax 64x1000 1.22; with copies of 30
/// tanh, 243 nodes take 1.1 times as long to compile.
inline constexpr int steps_with_inlined_functions = steps_with_unmasked_loop;
inline constexpr int cost_of_a_function = 12;

/// Up to so much other work for each root and division roots need not wait for the divider (registers_roots.hpp): of
/// four floats two go by it, of doubles one, beside divisions none; beside more work four and two. Measured on an Intel
/// Xeon, of the time by the divider alone: sqrt(a a + b b) 0.62, in double 0.42; a / (sqrt(v) + e) 0.58 and 0.42;
/// sqrt(|a|) with 4 / 8 / 10 / 12 / 15 multiply-adds behind it 0.70 / 0.88 / 0.97 / 1.05 / 1.14 with half of the roots
/// by the divider, in double with a quarter of them 0.48 / 0.61 / 0.68 / 0.76 / 0.85, with half of them 0.50 / 0.52 /
/// 0.56 / 0.62 / 0.71.
inline constexpr int cost_beside_a_division = 12;
inline constexpr int cost_beside_a_wide_division = 8; // of doubles

/// Up to so much other work for each division, half of the quotients are made without the divider
/// (registers_quotients.hpp), none beside roots. Measured on an Intel Xeon, of the time by the divider alone, 1000
/// floats / doubles: x / y 0.64 / 0.52, with 2 / 4 / 6 / 8 / 10 / 12 / 15 multiply-adds behind it 0.72 / 0.81 / 0.93 /
/// 1.03 / 1.09 / 1.2 / 1.27, in double 0.54 / 0.59 / 0.66 / 0.74 / 0.80 / 0.89 / 1.0; exp(x) / y 1.2, in double, too.
/// With a quarter by the divider x / y takes 0.91, with none 1.05, in double 0.53 and 0.66.
inline constexpr int cost_beside_a_quotient = 8;
inline constexpr int cost_beside_a_wide_quotient = 14; // of doubles

/// Elementwise work on so many rows of at most so many columns runs on as many rows at once as have about so many
/// columns and end where a register does, or fewer, if what all of them read would take more than so many bytes then.
/// Measured row by row, x*w+b and x+w over 1000 rows: 6 to 7 over 2 columns, 4.5 to 5 over 3, 2.6 to 2.9 over 8, 1.2 to
/// 1.5 over 16, 1.9 to 2.4 over 17, 1.0 to 1.4 over 63 to 80, 1.1 over 128; in double 1.7 to 2 over 17 and 33; of
/// tanh(x*w) 7, 1.7 and 2.6 over 3, 16 and 17. Over 64 rows light work takes 0.7 to 1.1 row by row, in double 1.1 to
/// 1.6, over 24 rows 0.55 to 0.9. Over 256 rows (x-m)*s and (x-m)*s*g+b: 1.1 to 1.9 over 129 to 257 columns, 1.05 to
/// 1.35 over 400, 1.0 to 1.15 over 500, 1.0 over 777 and more; with AVX2 1.05 to 1.5. With 16 KiB and all rows or none,
/// in double over 33 to 63 odd numbers of columns 1.7 to 2, over 65 to 127 1.3 to 2; floats over these 1.2 to 2; with
/// 32 KiB in double over 97 and 127 1.4 and 1.8. Of rows that do not end where a register does then, each is by itself:
/// as many as there is memory for took 1.2 to 1.4 over 193, 255, 257 and 333 columns, 1.0 to 1.1 in double. Results of
/// so many elements are stored at lines by light work, before which up to a register runs by itself. Measured without,
/// max(x*w+b, 0) over 33 to 257 columns that are no multiple of 16, 256 and 1000 rows: 1.1 to 1.57, over others 1.0 to
/// 1.07; x+w 1.02 to 1.16; with AVX2 1.0 to 1.3. With that, over 96 rows of up to 100 columns row by row takes 1.0 to
/// 3, in double over 48 0.9 to 1.6.
inline constexpr std::ptrdiff_t least_light_rows_joined = 96;
inline constexpr std::ptrdiff_t least_light_wide_rows_joined = 48; // of elements of 8 bytes
inline constexpr std::ptrdiff_t least_rows_joined = 32;
inline constexpr std::ptrdiff_t most_columns_joined = 512;
inline constexpr std::ptrdiff_t columns_of_joined_rows = 256;
inline constexpr std::ptrdiff_t bytes_of_repeated_rows = 24 * kibibytes;
inline constexpr std::ptrdiff_t least_elements_of_aligned_joined_rows = 1024;

/// The same where something has one element a row: from so many rows for each column on, since each call makes the
/// table of which row a column is in. Measured row by row, as multiples of this, over 1000 rows: (x-w)*k with a column
/// k 4 to 10 over 3 columns, 1.8 to 2.7 over 10 and 17, 1.1 to 1.3 over 33, 0.95 to 1.1 over 65; in double 2 to 3.5,
/// 1.5 to 2, 1.2 to 1.6, 1.1 to 1.5; x*k the same less 0.1 to 0.3; 0.9 over 100. With AVX2 4 to 6, 1.8 to 2.9, 1.1,
/// 0.9; in double 2 to 3.5, 1.2 to 2, 1.1 to 1.7, 0.9 to 1.3. Over 150 rows 0.75 to 1.2 over 33 columns. (Written to
/// memory for each column, with overlapping stores, such elements gained up to 15 columns and lost 1.1 to 1.6 from 17
/// on.) Costly work from fewer rows on: tanh(x * k) and exp(x - k) of three to six rows a column take row by row 1.0 to
/// 1.8, in double 0.9 to 1.5, over up to 65 columns, 0.85 to 1.0 over 70 and 79. Since light rows run register by
/// register, x*k, max(x*w+k, 0) and x*k+y take row by row 0.78 to 1.0 over 56 to 79 columns but 65 (1.0 to 1.15), 0.88
/// to 1.1 over 40, 1.0 to 1.2 over 49, 1.15 to 1.45 over 24 and 25.
struct rows_of_a_column {
    std::ptrdiff_t of_light_work;
    std::ptrdiff_t of_light_wide_work; // on elements of 8 bytes
    std::ptrdiff_t of_costly_work;
};
inline constexpr rows_of_a_column rows_of_a_column_with_places{6, 6, 3};
inline constexpr std::ptrdiff_t most_columns_with_places = 55;
inline constexpr std::ptrdiff_t most_columns_with_places_of_costly_work = 66;
inline constexpr std::ptrdiff_t most_columns_with_places_of_16_registers = 48;
inline constexpr std::ptrdiff_t bytes_of_row_places = 8 * kibibytes;
/// Measured with the above, an AMD Zen 3, 100 and 140 rows over 17 to 47 columns: x + k 1.4 to 3, x*k + y 1.05 to 2,
/// tanh(x * k) of 48 to 100 rows 1.15 to 1.9, in double 1.1 to 1.5; in double with 3 x + k 0.65 to 1.0, but x*k + y up to
/// 1.3 over 33 to 47.
inline constexpr rows_of_a_column rows_of_a_column_of_16_registers{3, 6, 2};
/// Costly rows run several at a time elsewhere, without AVX-512. Measured with places, an AMD Zen 3, over 33 columns:
/// exp(x - k) 1.15, tanh(x * k) 1.05, in double 1.1 to 1.2.
inline constexpr std::ptrdiff_t most_columns_with_places_of_costly_work_of_16_registers = 32;
/// Light rows that fill registers have places up to so many groups of columns, with AVX-512 all up to one, without it
/// costly ones none (over 8 columns exp(x - k) and tanh(x * k) took 1.3 to 1.55 with places); of elements of 8 bytes up
/// to half of that. Measured with one, an AMD Zen 3, 100 to 1000 rows: x + k and x*k + y 1.6 to 3 over 16 columns, 1.25
/// to 2.6 over 24, doubles over 8 1.6 to 2; with more 0.85 to 1.15 over 32, doubles 1.0 to 1.1 over 16; tanh(x * k) 0.9
/// to 1.15 over 16 and 24.
inline constexpr std::ptrdiff_t whole_groups_with_places_of_16_registers = 3;

/// Groups of so few steps have a kernel for that: tanh(a*b+c)*sigmoid(a)-0.5c of matrices takes 1.04 times the
/// instructions to compile with it.
inline constexpr int steps_with_places = 16;

/// A row program of one walk runs with lanes along the rows below one group of columns for each of its reductions; of 8
/// bytes and with AVX-512, or of two arrays, up to half a group. Measured of 100 and 1000 rows, sums, maxima and means
/// of squares, always so below 3 groups: 1.1 to 1.5 over 20 to 28 columns, 1.4 to 2.7 over 32 to 47 (as long as each
/// row read its strides again); doubles, 20 to 1000 rows over 9 to 15 columns 1.05 to 1.6; lanes along the columns from
/// 6 columns on: 1.2 to 1.9, doubles over 5 to 7 with AVX2 1.1 to 1.6. Sums of x y over 9 to 15 columns, a lane a row:
/// 1.25 to 1.6, with AVX2 over 3 to 7 1.3 to 2, doubles 1.3. Two sums of one array, up to one group: 2.0 over 16, 1.15
/// over 31, in double 1.7 over 9, 1.0 over 17. Of a costly walk a register that is not filled is most of what a row
/// takes: each instruction makes up for so many columns of one moved array (see below), up to so many columns. Measured
/// up to one group, 64 and 1000 rows: sums of exp 1.9 over 17 columns, 1.3 over 33, 1.1 over 49; of tanh 2.0, 1.4 and
/// 1.2; of log(exp(x) + 1) - x * y 2.1, 1.6 and 1.4; in double 1.8, 1.35 and 1.15, and 1.9 over 9; 1.9, 1.4, 1.2 and
/// 2.0; 2.4, 1.8, 1.6 and 2.5. With AVX2 1.4, 1.2 and 1.1, 1.5, 1.2 and 1.1, 1.7, 1.3 and 1.2, and over 9 columns 2.0
/// to 2.2. Two lanes that the last register leaves idle cost a column more. Measured without, sums of exp 1.3 over 49
/// columns, 1.15 over 65, 1.05 over 97; of tanh 1.25, 1.15 and 1.1 over 65, 81 and 97; of log(exp(x) + 1) - x * y 1.2
/// over 69 and 81; AVX2 1.05 to 1.15.
struct costly_walk {
    int columns_of_an_instruction;
    int idle_lanes_of_a_column;
    std::ptrdiff_t longest_rows;
};
inline constexpr costly_walk costly_walk_of_columns{6, 2, 128};
/// Where pairs of columns run in lockstep. Lanes along the columns take of the time of a lane a row, 512 rows on an AMD
/// Zen 5: sums of exp 1.17, 1.05 and 1.0 over 48, 64 and 80 columns, 1.15, 1.06 and 0.97 over 65, 81 and 113; of tanh
/// 1.2, 1.06, 1.03 and 0.77 over 48, 80, 112 and 128, 1.28, 1.1 and 0.87 over 65, 113 and 129; of log(exp(x) + 1) 1.17,
/// 1.23, 1.15, 1.19 and 0.96 over 129, 145, 160, 176 and 192.
inline constexpr costly_walk costly_walk_of_pairs{9, 4, 192};
/// One of several walks does so below as many columns as cost what a row costs once, where each column costs these
/// hundredths of one more for each array that is kept for a later walk, twice that for one that is transposed into
/// tiles or back, and saves half as much for each that is one row, which lanes along the columns load again for every
/// row. Wide: elements of 8 bytes, whose tiles fill L1 sooner. Costly: with a walk of so much work that a processor
/// does not look ahead to the next row; there what lanes of the last register do for nothing counts, too. Measured, 96
/// and 512 rows with g++ 12, lanes along the columns take as long as along the rows over: softmax 73 columns, its
/// logarithm 117, log-sum-exp 201, softmax - y 57, layer norm 53, with gain and bias 69, plus y 37, variance 73, rows
/// over their norms 29; in double 53, 93, 153, 37, 57, 73, 37, 61, 21 (AMD Zen 5). On an Intel Xeon, whose exp takes
/// longer and what a row has once less, softmax 28 columns without idle lanes and 52 with 15 of them, its logarithm 60
/// and 75, softmax - y 24 and 41, layer norm 50, rows over their norms 30; in double softmax 28 and 46, its logarithm
/// 47 and 60, softmax - y 25 and 32, layer norm more than 50. Costly rows have what is halfway. Since pairs of their
/// columns run in lockstep (floats, 32 registers), on the AMD Zen 5 softmax 49 columns without idle lanes, 73 with 8
/// and 84 with 15, its logarithm 112, 125 and 125, log-sum-exp 210, softmax - y 32, 54 and 57, cross-entropy 130 to
/// 145, softmax(x * w + b) 75, 100 and 110: twice as much for an idle lane, and nearer to this processor's than
/// halfway.
inline constexpr int costly_phase = 16;
struct moved_array_percent {
    int of_rows; // that take turns; of others:
    int of_rows_without_turns;
    int of_wide_rows;
    int of_costly_rows;
    int of_wide_costly_rows;
};
inline constexpr moved_array_percent percent_of_moved_arrays{17, 12, 17, 10, 16};
/// Where lines that are crossed take longer (simd::waits_for_lines_that_are_crossed) lanes along the columns gained
/// more by what begins at lines, and an array that is one row saves a lane a row nothing. Measured with the above, an
/// Intel Xeon, 256 rows: layer norm 1.2 over 40 columns and 1.3 over 48, with gain and bias 1.15 over 40, 1.35 over
/// 48, 1.65 over 64, softmax 1.05 over 56, 1.15 over 72, 1.2 over 81, its logarithm 1.1 over 80, 1.3 over 97, 1.4 over
/// 113, softmax - y 1.1 over 49, 1.4 over 65, variance 1.1 over 72, 1.2 over 80; in double layer norm 1.6 over 40, 1.9
/// over 48, with gain and bias 1.45, 1.9, 2.3 over 64, softmax 1.15 over 40 and 49, its logarithm 1.15 over 56.
inline constexpr moved_array_percent percent_of_moved_arrays_across_lines{25, 12, 17, 13, 19};
/// With AVX2 37, 64, 146, 32, 37, 34, 21, 61 and 14; in double 37, 98, 194, 21, 48, 98, 37, 69 and 11: 1.005. Since
/// several walks of little work have a loop of their own for short rows, and tiles overlap, layer norm 44, with gain
/// and bias 63, plus y 24, variance 33, rows over their norms 9, over their sums 8, (x - min) / (max - min) 9; in double
/// 42, 62, 24, 38, 9, less than 8, and 11; clang 19: variance 65. (Arrays count as so many at least, for variance 50.)
inline constexpr moved_array_percent percent_of_moved_arrays_of_16_registers{18, 48, 48, 16, 16};
inline constexpr int least_moved_arrays_of_16_registers = 3;
/// Rows of several walks whose arrays have more bytes have a lane each below these hundredths of so many columns: tiles
/// read and write many lines at once, which do not come in order from behind L2. Measured on an Intel Xeon (L2 of 2
/// MiB), lanes along the rows over lanes along the columns, 512 and 4096 rows: softmax 1.4 and 1.5 over 64 columns, 1.0
/// and 1.2 over 65, its logarithm 1.1 and 1.25 over 64, 1.2 and 1.4 over 96, layer norm 0.95 and 1.1 over 48; doubles
/// 1.1 and 1.25 over 49, 0.7 and 1.2 of layer norm over 48. (With AVX2, which waits for arithmetic, no difference.)
inline constexpr std::ptrdiff_t bytes_of_short_rows_in_l2 = 1024 * kibibytes;
inline constexpr int percent_of_short_rows_behind_l2 = 80;
/// But never from so many columns on, where tiles leave L1.
inline constexpr std::ptrdiff_t longest_rows = 144;
inline constexpr std::ptrdiff_t longest_costly_rows = 320;
/// The groups of columns that are a whole block of light work, without a tail.
inline constexpr int groups_of_a_whole_block = 4;

/// Rows that take turns with each phase of a row program whose lanes run along the columns, as long as their arrays and
/// scratch take no more bytes, with twice those of results. Measured one by one, 64 and 500 rows of 100 / 256 / 1000
/// columns: softmax 1.23, 1.1 and 1.07, its logarithm 1.4, 1.25 and 1.15, log-sum-exp 1.4, 1.25 and 1.2, layer norm
/// 1.35, 1.05 and 1.2, with gain and bias 1.65, 1.05 and 1.0; in double 1.02 to 1.1. With 4 rows 1.02 to 1.1, with 2
/// 1.1 to 1.25. Of twice the bytes 1.05, layer norm 1000x1024, in L3, 1.2; of half of them softmax over 1000 columns
/// 1.13. Rows over their norms, whose second walk is light and no reduction, take 1.0 to 1.25 in turn.
inline constexpr std::ptrdiff_t rows_in_turn = 8;
inline constexpr std::ptrdiff_t bytes_of_rows_in_turn = 40 * kibibytes;

/// Groups of rows that lanes along the rows compute in lockstep: what a row computes once is a chain of some hundred
/// cycles, which another group's hides. Measured with one, 4096 rows of 10: 1.23 for softmax, 1.40 for layer norm and
/// for cross-entropy with its gradient, 1.31 for a sum; of 64: 0.97 to 1.06. Up to one group of rows: 1.25 to 1.5.
inline constexpr int groups_of_short_rows = 2;

/// Walks that cost so much run two columns of them in lockstep, where there are 32 registers and each group takes one.
/// Measured with one, an AMD Zen 5, 512 rows of 10 to 113 columns: sums of log(exp(x) + 1) 1.3 to 1.35, of tanh 1.07
/// to 1.25, of exp 1.0 to 1.08, log-sum-exp 1.05, softmax 1.0 to 1.05; over 3 columns 0.96 to 1.1. Less work, layer
/// norm and sums of x * y, 0.9 to 1.05.
/// With 16 registers from `least_cost_of_spilling_groups` and this number of columns on. Measured without, an AMD Zen 3
/// (AVX2), 1000 rows of 10 to 80 columns: sums of softplus 1.15 to 1.27, of log, sigmoid and erf 1.03 to 1.14, of sin
/// and tanh(x) sigmoid(x) 1.0 to 1.05; over 7 columns 0.86 to 0.97, over 3 0.75 to 0.85; of exp, which costs less, 0.95.
inline constexpr int least_cost_of_paired_columns = 8;
inline constexpr std::ptrdiff_t least_columns_of_spilling_pairs = 10;

/// Tiles of so many columns and more are divided by the reciprocals of what rows have once. Measured by the divider, an
/// Intel Xeon, x / sum(x), (x - mean) / sqrt(var + eps) and exp(x - max) over its sum, floats / doubles: of 4
/// columns 1.0 to 1.15 / 1.2 to 1.55, of 10 1.25 / 1.5 to 1.8, of 20 1.25 to 1.35 / 1.0 to 1.6; of 2 and 3 columns 0.8
/// to 0.9 / 0.65 to 0.85, where the choice costs 1.0 to 1.1.
inline constexpr std::ptrdiff_t least_columns_of_reciprocals = 4;

/// Up to so many columns rows that follow each other are taken apart into such tiles, and put together, by permutations
/// of whole registers, of registers of 16 lanes an even number up to so many: unless the columns are as many as lanes.
/// Measured in tiles, an AMD Zen 5, 1000 rows of 2 / 3 / 4 / 6 / 8 / 10 floats: softmax 1.75, 1.45, 1.3, 1.2, 1.1 and
/// 1.17, rows over their norms 2.0, 1.7, 1.4, 1.3, 1.1 and 1.25, norms 1.8, 1.45, 1.3, 1.1, 1.1 and 1.33 (7, 9, 11 and
/// 12 columns 1.1, 1.0, 0.7 and 1.15; with clang 19 0.95, 1.0, 0.75 and 1.0); with AVX2, of 2 / 3 / 4 / 6 / 7 / 9: 1.9,
/// 1.45, 1.45, 1.25, 1.15 and 1.05; 2.7, 2.2, 1.7, 1.4, 1.2 and 1.0; 1.9, 1.7, 1.4, 1.25, 1.1 and 1.0. Doubles alike.
inline constexpr int most_columns_by_permutations = 6;
inline constexpr int most_even_columns_by_permutations = 10;

/// So many of these take turns with each phase, as long as their tiles take no more bytes. Measured one by one, 512 and
/// 4096 rows of 4 / 10 / 16 columns: softmax 1.2, 1.1 and 1.06, its logarithm 1.33, 1.2 and 1.15, log-sum-exp 1.3, 1.2
/// and 1.18, layer norm 1.2, 1.1 and 1.1; of 32 and more columns 1.0. With 2 at once 1.0 to 1.1 over up to 8 columns.
/// Light work on elements of 8 bytes takes 1.0 to 1.15 in turn.
inline constexpr std::ptrdiff_t blocks_of_short_rows_in_turn = 4;
inline constexpr std::ptrdiff_t bytes_of_tiles_in_turn = 16 * kibibytes;

/// What rows cost one way and the other, in columns of registers of 16 lanes (see `row_traits`): for lanes along the
/// columns each row's reductions, what it computes once, in instructions a column, and what it saves if its columns
/// fill a block; for a lane a row each group of rows, and two groups in lockstep in hundredths of one. Measured: sums
/// of rows, softmax, layer norm and cross-entropy with its gradient, 1 to 32 rows of 4 to 127 columns, each way. What
/// these figures choose takes 1.014 times the least time on average, 1.054 without a kernel for one group. (A group of
/// one walk takes as long as two in lockstep: with its kernel, 20 rows of sums, maxima and means of squares took 1.1 to
/// 1.5.)
inline constexpr int columns_of_a_fold = 12;
inline constexpr int columns_of_a_fold_of_costly_rows = 18;
/// A search folds nothing, but where it ends is not foreseen. Measured with the columns of a fold, argmax of 500 and
/// 4096 rows of 52 to 68 columns: 1.05 to 1.2, of doubles of 44 to 64 1.1 to 1.4; without any, 28 to 48 columns 1.0 to
/// 1.5. Where no array goes through tiles, as between points, with this one 1.15 to 1.25 over 100 to 128 columns.
inline constexpr int columns_of_a_search = 5;
inline constexpr std::ptrdiff_t instructions_of_a_column = 4;
inline constexpr std::ptrdiff_t columns_saved_by_a_block = 40;
inline constexpr std::ptrdiff_t percent_of_once_in_turn = 60; // of rows that take turns, but for light work on 8 bytes
inline constexpr std::ptrdiff_t columns_of_a_kernel = 70;     // a second kernel for what remains
inline constexpr std::ptrdiff_t columns_of_a_group_of_rows = 5;
inline constexpr std::ptrdiff_t percent_of_a_block_of_rows = 150;
/// Two groups of rows of one light walk wait for their tiles: so many columns, and so many for each array that is
/// moved, each of which takes so many hundredths of a column, and so many more. Measured, an AMD Zen 5, 16 to 56 rows
/// of 2 to 13 columns, sums of squares, of products and of squared differences, maxima. (With 24 and one for each
/// column: 48 rows of 3 columns 1.4, 16 to 48 rows of 5 columns 1.2, sums of products of 20 rows of 5 and 24 rows of
/// 8 1.3.)
inline constexpr std::ptrdiff_t columns_of_light_rows = 2;
inline constexpr std::ptrdiff_t columns_of_a_light_array = 11;
inline constexpr std::ptrdiff_t percent_of_light_rows = 90;
inline constexpr std::ptrdiff_t percent_of_a_light_array = 210;

/// Rows folded in registers before they are added to the totals of a column reduction, and groups of columns beside
/// each other. Measured with 8 rows: 1.03 for 1000 x 1000, 1.12 to 1.19 for 64 x 128 and 33 x 333, 1.10 for 4000 x 4000
/// (0.91 to 1.06 for 100 x 10000); with 32 rows 1.05 to 1.3 for 4000 x 4000.
inline constexpr std::ptrdiff_t rows_at_once = 16;
inline constexpr int groups_at_once = 4;
/// With 16 registers, of values that take two of them, if there is more work than for a sum of x * y. Measured with 4,
/// AVX2, doubles: sums of (x - row)^2 1.1 to 1.4, of (x - row) y 1.0 to 1.1, over 17 columns 2.0, over 32 0.8, of
/// exp(x) 1.05 to 1.1, variance 1.0 to 1.2. With 2, sums of x and x * y over 32 columns take 1.2 and 1.3.
inline constexpr int groups_of_crowded_folds_at_once = 2;

/// So many rows and more are halved, for panels of so many columns, whose totals stay in L1. Of 50,000 rows that were
/// not halved sums had errors of 53 eps of the sum of absolute values, and have 1 to 2 now; of 383 they have 1.
inline constexpr std::ptrdiff_t rows_halved = 384;
inline constexpr std::ptrdiff_t columns_of_a_panel = 512;
/// Where several reductions walk along streams without AVX-512: a panel has all of rows that stand apart. Measured with
/// 512, 1000 columns: 1.3 to 2.7.
inline constexpr std::ptrdiff_t columns_of_a_far_panel = 1024;

/// Rows that are a multiple of so many bytes apart, but for some more or less, are in one set of L1 or in those beside
/// it. So many rows crowd it: what walks down them, by parts of rows, finds the rest of their lines no more. Measured
/// of walks, an AMD Zen 3 (8 lines in a set), 16 to 200 rows of floats, as multiples of what a few rows beside each
/// other take: sums, maxima and sums of squares of 1023 and 1025 columns 2 to 3, 1022 and 1028 2, 1020 and 1032 1.15
/// to 1.5, 1010 1.05 to 1.3, 2049 and 4097 2.2 to 3; sums of products 2 to 3; means and squares, minima and maxima in
/// one walk 1.3 to 1.9; a vector times a matrix, doubles too, 1.3 to 1.7. 10 rows 1.15 to 1.3, 12 rows 1.5 to 2, 8
/// rows 1.0 (of two matrices 2). With 12 lines in a set, as most processors with AVX-512 have, it takes more rows: not
/// measured.
inline constexpr std::ptrdiff_t bytes_between_rows_in_one_set = 4 * kibibytes;
inline constexpr std::ptrdiff_t bytes_past_one_set = 64;
inline constexpr std::ptrdiff_t least_rows_that_crowd_a_set = 15;
inline constexpr std::ptrdiff_t least_rows_that_crowd_a_set_of_16_registers = 10;

/// Light column reductions of matrices of so many columns, and of more elements than a reduction asks memory ahead for,
/// walk along so many rows at once, of all matrices together, by panels of so many bytes of totals, and halve so many
/// rows. Measured without: 1.05 for 1000x1000 and 500x2000, 1.14 for 4000x4000; by panels of 2 KiB it takes 1.07. With
/// 8 rows at once 1.07 to 1.1, but 0.9 for 4000x4000. With AVX-512, of matrices alone, they do from so many bytes on,
/// and where rows crowd a set of L1, so many columns of them in any case (64 rows of a view, 1023 to 1025 apart, an AMD
/// Zen 3: by pieces 64 to 250 columns 1.3 to 2.5, 48 columns 0.85 to 1.6, 33 0.8). Measured without, an AMD Zen 5, 8 to
/// 1000 rows of 256 to 4096 columns: sums, maxima and means of squares 1.1 on average (0.7, where it has 0.02 ns an
/// element at times instead of 0.03, to 1.5), of two matrices 1.1 to 1.15 (0.8 to 2.2), of three 1.2 (0.7 to 3); 1024
/// and 4096 columns 1.2 to 2, with AVX2, too; but of |x - row| 0.7 to 0.9, with AVX2 0.9, and from L1 0.8. Without
/// AVX-512 streams are rows that stand apart, if a panel has all of a row: each is read on into the next row, so that a
/// processor looks ahead in as many places all the time; and streams are more and of fewer columns then. Measured as
/// with AVX-512, an AMD Zen 3, sums, maxima and sums of squares of 3 to 30 million: 64 to 500 columns 1.7 to 2.9, 1000
/// and 1500 1.3 to 1.6, in double 1.1 to 1.25; 48 columns 1.1 to 1.8, 32 0.9 to 1.3; 1 million 1.0 to 1.4, in
/// double 1.1 to 2.5. With four streams 1.0 to 1.1. Where lines that are crossed take longer
/// (simd::waits_for_lines_that_are_crossed) streams are read in whole lines, unless all begin with one, and there are
/// streams of fewer columns, beside rows that all have, too. Measured across lines, an Intel Xeon (L2 of 2 MiB), in L2:
/// sums, maxima, means of squares, sums of products of 256 to 10,000 columns 1.35 to 1.7, of 129 to 200 columns 1.0
/// to 1.3, in double alike; of |x - row|^2 1.2 to 1.6; behind L2 1.0 to 1.05. Where all rows begin with lines, streams
/// of so few columns and beside such rows take 0.9 to 1.05 of pieces, 12 rows 1.13.
inline constexpr int streams_at_once = 4;
inline constexpr int streams_at_once_of_16_registers = 8;
inline constexpr std::ptrdiff_t least_columns_of_streams = 256;
inline constexpr std::ptrdiff_t least_columns_of_crowded_streams = 64;
inline constexpr std::ptrdiff_t least_columns_of_streams_in_lines = 128;
inline constexpr std::ptrdiff_t least_columns_of_streams_apart = 48;
inline constexpr std::ptrdiff_t bytes_of_a_panel_of_streams = 8 * kibibytes;
inline constexpr std::ptrdiff_t rows_of_streams_halved = 192;
inline constexpr std::ptrdiff_t least_bytes_of_streams = 64 * kibibytes;
/// Of so many bytes in all and in each row, and of fewer rows than this, panels are longer, so that streams last; not
/// as long of rows that are halved, since each half has totals on the stack. Measured with 8 KiB, an AMD Zen 5 (L3 of
/// 32 MiB), sums, maxima and sums of (x - row)^2, 8 to 1000 rows of 3000 to 500,000 columns: 1.05 to 1.4 of 16 to 72
/// MB, clang 19 1.05 to 1.5; 0.8 to 0.95 of less than 10 MB; 12.5 to 14 MB 0.9 to 1.25; rows of 10 to 16 KB 0.9 to 1.0.
inline constexpr std::ptrdiff_t least_bytes_of_long_panels = 12 * 1024 * kibibytes;
inline constexpr std::ptrdiff_t least_bytes_of_long_streams = 24 * kibibytes;
inline constexpr std::ptrdiff_t most_rows_of_long_panels = 1536;
inline constexpr std::ptrdiff_t bytes_of_a_longest_panel = 64 * kibibytes;
inline constexpr std::ptrdiff_t bytes_of_a_long_panel = 32 * kibibytes;
/// Light work of several reductions, on several matrices, walks along so many rows as well, with so many groups beside
/// each other. Measured without, an AMD Zen 5: sums of x and x y, maxima of x and sums of x y, 256x512 1.35, 300x256
/// and 100x400 1.0 to 1.2, 64x1000 1.0 to 1.1, 1000x1000 0.85 to 1.3, 4000x1000 1.0 to 1.15; with one group 1.0 to 1.1;
/// of one matrix up to 0.8.
/// Without AVX-512 of one matrix, too, that no cache near by holds, and of rows that stand apart as those of one
/// reduction do. Measured without, an AMD Zen 3: sums of x and x^2, minima and maxima, sums of x and x y, in float and
/// double, 3 and 10 million elements of 100 to 1000 columns 1.3 to 4, 1500 and 3000 1.1 to 5, 48 1.0 to 2; 1 million
/// 1.0 to 3.4.
inline constexpr int groups_of_streams_of_several_folds = 2;
/// Sums that together take no more instructions are read in whole lines where streams of one reduction are. Measured
/// across lines, an Intel Xeon, in L2: sums of x and x^2 1.1 to 1.4, of x and x y 1.35 to 1.5, of x - row and its
/// square 1.0 to 1.2; with more work 0.8 to 1.05, maxima 0.9 to 1.05; in L1 0.8.
inline constexpr int cost_of_sums_in_lines = 5;
/// Several reductions run in one walk over rows of so many groups, or over so few rows. Measured of sums and maxima or
/// sums of squares, an AMD Zen 5: one by one, 20 rows of 3 to 63 columns 1.2 to 1.5, 64 columns and more 1.1 to 2; in
/// one walk, 200 rows of 5 to 48 columns 1.0 to 1.7, 1000 rows of 1 to 10 columns 2.2 to 4.8, of 13 to 48 0.7 to 1.15.
inline constexpr int groups_of_several_folds = 4;
inline constexpr std::ptrdiff_t most_narrow_rows_of_several_folds = 24;

/// Column reductions of at most so many instructions a register have a walk for each number of groups that is left
/// behind the last block; others join rows instead. Measured, one group at a time, as others walk: 1.05 to 1.5 for
/// sums, maxima and means of squares of 17 to 63 columns. With 16, which makes exp light, sums of exp(x) over 17
/// columns took 1.2 to 2, over 33 1.1 to 1.5, over 65 up to 1.3. The walks of a sum take 0.06 s to compile.
inline constexpr int cost_of_a_light_fold = 13;

/// With AVX-512 light folds walk down all rows beside so many groups; those that take no more instructions than a sum
/// or whose totals need not be folded in pieces, because they are exact, beside more. Measured with 4 each, over 65 to
/// 128 columns: sums of 300 and 1000 rows 1.1 to 1.7, of 40 rows 1.0; maxima 1.4 to 1.65, of 12 to 64 rows 1.0 to 1.35;
/// sums of x*y of 65 to 96 columns 1.1 to 1.4, of up to 64 rows 1.0; these with 8, of 97 to 128 columns, 0.9 to 1.35.
inline constexpr int cost_of_a_sum = 3;
inline constexpr int groups_in_registers = 6;
inline constexpr int most_groups_in_registers = 8;
/// Groups more are left to a second walk. Measured without: sums of 129 to 160 columns 1.1 to 1.5, maxima 1.1 to 1.45;
/// with 4, sums of 161 to 192 columns 1.15 to 1.25.
inline constexpr int groups_left_to_a_walk = 2;

/// Maxima of so many groups are folded over all rows at once. Measured in pieces of 16 rows, AVX-512: 1.05 to 1.1 of 2
/// to 4 groups, 0.75 of one; AVX2: 1.05 of 4, 0.65 to 0.8 of 2 and 3.
inline constexpr int groups_of_one_piece = 2;
inline constexpr int groups_of_one_piece_of_16_registers = 4;

/// Light column reductions of matrices without gaps (and of rows that all of their rows share, which are repeated, to
/// so many groups together), of so many rows and elements or more and of so few columns and bytes that L1 has them, are
/// folded as one row of aligned registers where that takes fewer loads; in so many rounds at most, since rounding
/// errors grow with them: of 383 they were more than 4 eps. Measured row by row, arrays at 16 bytes past a line,
/// AVX-512: sums over 64 rows 1.1 to 1.6 (1.0 over 31, 32 and 63 columns), over 256 rows 1.4 to 2.2, of doubles over
/// 128 rows 1.2 to 1.45; maxima 0.9 to 1.3 and 1.15 to 1.75; sums of x * y 1.15 to 1.6 and 1.2 to 2.0; of arrays at a
/// line over 32, 48, 64 and 128 columns, which are folded so too, 0.85 to 1.0. AVX2: sums over 64 rows 0.95 to 1.3,
/// over 256 rows 1.05 to 1.65; SSE 1.0 to 2.2. Always so: maxima over 64 rows of 31 and 63 columns 0.65. With 64 KiB
/// 0.8 over 63 columns, 1.1 over 64. Sums of (x - row)^2 over 256 rows 1.1 to 1.9, of (x - row) * row 1.2 to 2.4,
/// variance 1.0 to 1.25.
/// Where lines that are crossed take longer (simd::waits_for_lines_that_are_crossed) rows gain that L2 has. Measured
/// row by row, an Intel Xeon, arrays at 16 bytes past a line, sums over 256 / 512 / 1000 rows of 33, 64, 65, 129, 150,
/// 192, 257, 399 columns 1.0 / 3.0 / 3.3, 1.95 / 2.6 / 2.65, 2.4 / 2.65 / 2.5, 2.1 / 2.5 / 2.45, 2.35 / 2.45
/// / 2.65, 1.85 / 1.55 / 2.05, 1.45 / 1.3 / 1.4, 1.35 / 1.55, maxima alike; of x * y at lines 1.0 of whole lines,
/// else 1.5 to 2.5.
inline constexpr std::ptrdiff_t least_rows_of_flat_folds = 32;
inline constexpr std::ptrdiff_t least_elements_of_flat_folds = 640;
struct flat_folds {
    std::ptrdiff_t columns;
    std::ptrdiff_t wide_columns; // of totals of 8 bytes
    std::ptrdiff_t bytes;
};
inline constexpr flat_folds most_flat_folds{144, 144, 40 * kibibytes};
inline constexpr flat_folds most_flat_folds_across_lines{400, 200, 1000 * kibibytes};
inline constexpr std::ptrdiff_t most_rounds_of_flat_folds = 96;
inline constexpr std::ptrdiff_t most_repeated_groups_of_flat_folds = 128;

/// What both ways cost, in loads of aligned registers. Each total is stored, and loaded again to be folded; each row
/// that is repeated costs a call more.
struct flat_costs {
    std::ptrdiff_t percent_of_a_load; // row by row
    std::ptrdiff_t call;
    std::ptrdiff_t total;
};
inline constexpr flat_costs flat_sums{140, 24, 1};
inline constexpr flat_costs flat_extremes{140, 24, 2};
inline constexpr flat_costs flat_sums_of_16_registers{132, 64, 2};
inline constexpr flat_costs flat_extremes_of_16_registers{100, 60, 2};

/// Column reductions of so many rows of so few columns (where there are 16 registers, those of 8 lanes) join rows, as
/// elementwise work does, if they do not fill blocks. Measured row by row, sums over 256 and 1000 rows: 1.8 to 2.3 over
/// 3 columns, 1.2 to 1.5 over 8, 1.05 to 1.15 over 12; over 128 0.8 to 1.05, and 0.6 to 0.8 over 31. Sums of
/// tanh(x): 1.2 to 2.1 over 3 columns, 1.02 to 1.5 over 17, 1.2 to 1.3 over 65, 1.1 over 129; over 32 rows 1.4 over 17,
/// 0.9 to 1.1 from 65 on; over 20 rows 0.7 to 1.1. With AVX2, an AMD Zen 3, 20,000 to 300,000 elements: sums, maxima,
/// sums of squares and of |x - row| over 7 columns 1.2 to 1.75, 8 columns 1.3 to 2, 9 to 12 columns 1.1 to 1.8, sums of
/// products 0.95 to 1.35; over 13 to 25 columns 0.75 to 1.25; doubles over 7 and 8 columns 0.9 to 1.4, over 9 to 12
/// 0.85 to 1.3.
inline constexpr std::ptrdiff_t least_rows_of_light_joined_folds = 160;
inline constexpr std::ptrdiff_t most_columns_of_light_joined_folds = 12;
inline constexpr std::ptrdiff_t most_columns_of_light_joined_folds_of_16_registers = 12;
inline constexpr std::ptrdiff_t most_columns_of_wide_joined_folds_of_16_registers = 8;
inline constexpr std::ptrdiff_t least_rows_of_joined_folds = 32;
inline constexpr std::ptrdiff_t most_columns_of_joined_folds = 144;

/// So many blocks of costly joined rows hold a multiple of most numbers of columns. Measured with one: sums of tanh(x)
/// over 12, 24 and 48 columns 1.2 to 1.3, over 96 1.1, over 16 0.95.
inline constexpr std::ptrdiff_t blocks_of_joined_folds = 4;

/// Operands that are not contiguous are copied for a kernel over rows in parts of so many bytes, and at least so many
/// rows, if all of it is more than that. Measured of a + transpose(b), on an Intel Xeon (L2 of 2 MiB), all at once:
/// 1.6 for 100x100 and 1000x1000, 1.3 for 300x300 and 500x500, 1.7 to 2 for 2000x2000; in parts of 64 KiB, what is more
/// than 256: 1.6, 1.0, 1.3 for 300x300 and 1.0. On an AMD Zen 5 the three colors of 120,000 pixels, which lie in turn:
/// in parts of 4 KiB 1.0 to 1.6, of 8 0.95 to 1.2, of 32 1.0 to 1.1. (Rows that are not transposed need not be many.)
inline constexpr std::ptrdiff_t copied_whole_bytes = 16 * kibibytes;
inline constexpr std::ptrdiff_t copied_part_bytes = 16 * kibibytes;
inline constexpr std::ptrdiff_t copied_part_rows = 16;

/// Transposed operands of elementwise work on matrices of at least so many columns go block by block, of as many rows
/// as a line of the operand has elements and so many columns, if all of it is more than so many bytes (a block is no
/// more). Measured in parts of whole rows, an AMD Zen 5: a + transpose(b) of 64x1000, 300x500 and 1000x1000 floats 1.15
/// to 1.25, of 100x4096 1.35, of doubles 1.1 to 1.35, of 20x100 doubles 1.3 at once. Blocks of 2000x17 took 1.25.
inline constexpr std::ptrdiff_t transposed_whole_bytes = 8 * kibibytes;
inline constexpr std::ptrdiff_t columns_of_a_transposed_block = 128;
inline constexpr std::ptrdiff_t least_columns_of_transposed_blocks = 64;

/// What the rows of a plane share, at most two registers, is copied for each of them where planes have so few elements
/// and are so many: all rows are one matrix then. Measured with a loop around planes, an AMD Zen 3 (AVX2), 10,000
/// floats in planes of 2x2, 3x3, 4x4, 6x6 and 8x8: x + y 6, 4.5, 3.5, 5 and 2.4, tanh(x y) 8, 6, 4.5, 4 and 2.8,
/// softmax(x - y) 10, 5.5, 3.5, 2.3 and 1.5, sums of x y 3, 2.3, 1.2, 1.2 and 0.8; in double x + y 5, 3.7, 2.7, 3
/// and 1.05, softmax 6, 4, 2.6, 1.9 and 1.2, sums 3, 2.3, 1.8, 1.1 and 0.8. Of longer rows 0.6 to 0.9, sums over 16
/// rows of 4 0.8.
inline constexpr std::ptrdiff_t most_elements_of_a_copied_plane = 64;
inline constexpr std::ptrdiff_t most_elements_of_a_copied_plane_of_reductions = 40;
inline constexpr std::ptrdiff_t least_copied_planes = 16;

/// Rows that crowd a set of L1 are transposed by blocks of so many rows and columns, which are first copied; those that
/// are at most so many bytes past a multiple, and those that crowd two sets, too, if they have no more bytes. Measured
/// in tiles down the rows, an AMD Zen 3, 16 to 1000 rows: 1024, 2048 and 4096 floats 1.2 to 3, 512 and 1536 1.4 to 1.6,
/// 1023 and 1025 1.4 to 2.1 (1000 rows 0.8), 1022 1.0 to 1.4 (0.6); doubles 1.1 to 3, 511 and 513 1.0 to 1.4. By
/// blocks rows 12 to 64 bytes past a multiple take 1.1 to 1.6, all others 1.2 to 2. Strips of few columns, which
/// elementwise work reads, go along rows in one set, not beside it, of floats: down them 64 and 250 rows take 2 to 2.5,
/// 1000 rows 1.0 to 1.4; along them 200 and 1000 rows of doubles 0.8 to 1.8.
inline constexpr std::ptrdiff_t extent_of_a_transposed_block = 64;
inline constexpr std::ptrdiff_t bytes_past_one_set_of_blocks = 8;
inline constexpr std::ptrdiff_t most_bytes_of_nearly_crowded_blocks = 2048 * kibibytes;
inline constexpr std::ptrdiff_t most_columns_of_a_transposed_strip = 32;

/// Runs of so many bytes are copied in registers that begin to store where one is aligned, more and fewer by memcpy.
/// Measured, always by memcpy, of arrays at 16 bytes past a line: 1.7 for 4000, 1.6 for 10,000 and 20,000, 1.0 from
/// 40,000 on; without the alignment 1.2, 1.4 and 1.4.
inline constexpr std::ptrdiff_t least_bytes_in_registers = 1024;
inline constexpr std::ptrdiff_t most_bytes_in_registers = 32 * kibibytes;
/// However many, in registers where they are copied to fewer bytes behind a multiple of 4 KiB from where they are:
/// there glibc's memcpy, by `rep movsb`, takes 10 to 20 times as long on an AMD Zen 3, 40,000 to 400,000 bytes.
inline constexpr std::size_t bytes_that_memcpy_counts_by = 4096;
inline constexpr std::size_t bytes_past_that_are_slow_for_memcpy = 64;

/// Of rows of so few elements that do not lie one after the other, some are copied at once: their first elements, then
/// their second ones. Measured row by row, flips of 1000 rows of floats: 2.9 for 2, 1.9 for 4, 1.5 for 6, 1.35 for 8.
inline constexpr std::ptrdiff_t elements_of_a_short_row = 8;
inline constexpr std::ptrdiff_t short_rows_at_once = 512;

/// Schedules whose arrays all have up to so many groups, and that compute so many of these, run as one function. Measured
/// kernel by kernel, an AMD Zen 5: a*b+c-0.5a of 3 and 33 floats 3 and 2.5, m + transpose(m) of 8x8 7 (doubles 3.5),
/// sums of columns of 8x8 4.4 (2.5), of rows 1.1, softmax over 8x8 1.7, products of 6x6 and what follows 1.1 to 4.8;
/// tanh(x) of 33 0.97; with AVX2 and SSE2 1.0 to 7.
inline constexpr int groups_of_a_register_program = 4;
inline constexpr int work_of_a_register_program = 1000;

/// Elementwise work runs rows of up to so many columns as they lie, if they are not joined: `separate_rows`. Measured
/// without, an AMD Zen 3, 256 rows with gaps, of a result without: x*y+x-0.5y over 7, 9, 16,
/// 31 columns 1.6, 1.8, 1.75, 1.45 (33 to 129 0.8 to 1.05), in double 1.05 to 1.25; with a column beside, x+k, 2 over
/// 8 and 16, 1.0 to 1.4 over 33; tanh(x) over 8, 16, 24, 31, 47, 65, 129, 257 columns 2.6, 1.45, 1.9, 1.65, 1.4,
/// 1.2, 1.1, 0.95, in double 1.0 to 1.1. Of 16 to 64 rows without gaps, too few to join: x+k 1.0 to 1.8, x*w+w 1.0 to
/// 1.6; exp(x-k) over 16 to 129 columns 1.1 to 1.4, in double 1.2 to 1.5. With an element a row light work gains
/// longer: x+k over 47 and 63 columns 1.1 to 1.35 without, x*y+x-0.5y 0.75 to 1.05.
/// With AVX-512, an Intel Xeon: clip(x) over 9, 16, 17, 31, 48, 64 columns 1.4, 1.7, 1.05 to 1.6, 1.05 to 1.25, 1.0,
/// 0.9 to 1.0, polynomials 1.4 to 2 (4 to rows with gaps) up to 40, tanh(x) over 16, 17, 31, 48, 65, 129, 256 1.4
/// to 2.3, 1.0, 1.15 to 1.4, 1.2 to 1.6, 1.1, 1.15, 1.0, in double 1.5, 1.0, 1.4, 1.1, 1.0, x*y+x-0.5y 0.85 to 1.05;
/// x+k of 40 rows over 16 to 40 columns 0.75 to 1.0, in double 1.1 to 1.35.
struct separate_rows {
    std::ptrdiff_t light_columns;
    std::ptrdiff_t light_columns_with_elements; // a row
    std::ptrdiff_t wide_columns_with_elements;
    std::ptrdiff_t columns;
};
inline constexpr separate_rows most_separate_rows{32, 63, 63, 144};
inline constexpr separate_rows most_separate_rows_of_32_registers{48, 0, 48, 256};

/// Rows that are folded together: `folded_rows`. Measured without, an AMD Zen 3, 256 rows of 6, 8, 12,
/// 17, 32, 65, 97, 127 columns: sums 1.5, 2.7, 1.6, 1.55, 1.65, 1.55, 1.3, 1.35, maxima 1.35, 2.2, 1.9, 1.7, 1.7, 1.3,
/// 1.15, 1.1, norms 1.3, 2.1, 1.9, 1.85, 1.7, 1.8, 1.75, 1.65, of x y 1.5, 2.7, 1.4, 1.3, 1.35, 1.2, 1.05, 1.05; over
/// 3 to 5 columns 0.65 to 1.1. Two or three reductions 1.3 to 2.7 from 16 columns on, 0.6 to 1.1 below. exp, tanh, log
/// over 9 to 33 columns 0.65 to 1.2, from 40 on 1.0 to 1.35. In double over 8, 9, 16, 24, 32 columns sums 1.75, 1.25,
/// 1.15, 1.2, 1.25, maxima 2.0, 1.35, 1.5, 1.45, 1.2, over 63 0.9 to 1.0, of |x - y| from 24 on 0.85 to 1.0; two
/// reductions 0.55 to 1.1.
/// Several walks, over 16, 24, 32, 48, 65, 96, 127, 192 columns: x / sum 1.35, 1.2, 1.2, 1.1, 1.2, 1.0, 1.0, 0.95, x
/// over its norm 1.25, 1.35, 1.3, 1.2, 1.35, 1.15, 1.45, 1.15, variances 1.2, 1.55, 1.6, 1.95, 1.65, 1.55, 1.55, 1.35,
/// layer norm 1.2, 1.2, 1.3, 1.25, 1.35, 1.1, 1.3, 1.25; over 5 to 15 columns with a lane a row 0.4 to 1.0; of two
/// arrays and a result 0.85 to 1.1; in double 0.65 to 1.5. Several costly ones over 40, 48, 64, 96, 127, 192 columns:
/// softmax 1.05, 1.3, 1.3, 1.15, 1.1, 1.1, its logarithm 1.0, 1.05, 1.45, 1.35, 1.25, 1.2, its gradient 1.45, 1.4,
/// 1.35, 1.15, 1.2, 1.05, log-sum-exp 0.95 to 1.15; with a lane a row, over up to 33 columns, 0.6 to 1.0.
/// Four rows that no cache near by has are too far apart for what reads ahead. 20,000 rows: reductions of 40 to 64
/// columns 1.0 to 1.25, of 96 0.65 to 1.05, of 127 0.35 to 0.6; double over 17 to 32 columns 0.7 to 1.1, over 48 0.5
/// to 0.95; several walks over 16 to 40 columns 0.9 to 2.2, over 64 0.65 to 1.1. softmax of 4096 rows of 64, 96, 127,
/// 192 columns 1.25, 1.2, 1.0, 0.75.
/// With AVX-512, an Intel Xeon, 256 rows: over 9, 16, 33, 64, 97, 128 columns sums 1.4, 2.9, 2.0, 2.1, 1.1, 1.8, maxima
/// 1.15, 2.9, 2.8, 2.5, 1.7, 2.4, over 3 to 8 0.3 to 1.2; of rows that cross lines from 129 on 0.7 to 1.3, of 160 and
/// 256 2.0 and 1.5. Maxima less minima over 17, 24, 31 to 256 columns 0.8, 1.1, 1.2 to 2.7, with sums 0.75, 0.75, 1.1
/// to 2.2, exp over 24, 31, 33, 48, 65, 97, 256 0.9, 1.05, 0.95, 1.35, 1.15, 1.45, 1.1, tanh 0.9, 1.15,
/// 0.9, 1.3, 1.05, 1.15, 1.0. x / sum over 9, 10, 11, 16, 33, 64, 97, 128, 256 1.05, 0.75, 1.1, 1.5, 1.6, 1.7,
/// 0.85, 1.35, 1.15, layer norm over 17, 24, 31, 64, 129, 193, 256 0.75, 1.0, 2.1, 1.9, 1.25, 1.0, 1.25, walks of two
/// arrays and a result over 9, 16, 33, 63, 65, 97 1.45, 2.1, 1.2, 1.0, 0.9, 0.7. softmax over 31, 33, 40, 48, 65, 97,
/// 128, 192, 193, 255 1.05, 0.85, 1.0, 1.9, 1.05, 1.35, 1.35, 1.3, 1.0, 1.0, its
/// gradient 1.05, 1.0, 1.05, 1.8, 1.25, 1.0, 1.15, 1.15, 0.85, 0.8. In double sums over 9, 16, 33, 63, 97,
/// 129 1.35, 1.65, 1.1, 1.15, 1.1, 0.75, tanh 0.5 to 1.05, layer norm over 31, 64, 129, 256 1.95, 1.5, 1.15, 1.05,
/// softmax over 24, 32, 64, 97, 160 0.9, 1.3, 1.2, 1.1, 1.05. 20,000 rows of 48, 65, 97, 128 columns:
/// sums 1.05, 1.05, 1.0, 1.0, layer norm 1.2, 1.2, 1.1, 0.85, x / sum 0.95 (of 24 1.1), 0.85, 0.85, 0.85,
/// softmax 1.4, 1.15, 0.95, 0.85.
/// Integers over 9, 16, 33, 64, 97, 128: sums 1.3, 1.35, 1.15, 1.1, 1.1, 1.2, maxima of int32 1.6, 3.5, 2.5, 2.6, 1.4,
/// 1.9, argmax of floats over 17, 31, 33, 48, 65, 129, 256, 512 0.75, 1.2, 1.0, 2.2, 1.45, 1.2, 1.1, 0.9, of doubles
/// 0.55 to 1.0.
struct row_folds {
    std::ptrdiff_t least_columns;
    std::ptrdiff_t least_long_columns; // of those that would not have a lane each
    std::ptrdiff_t most_columns;
    std::ptrdiff_t most_near_columns; // where all rows have no more than `near_bytes`
    std::ptrdiff_t most_whole_columns; // the same of rows that fill registers
    std::ptrdiff_t near_bytes;
};
struct folds_of_type {
    row_folds one;           // reduction in one walk
    row_folds several;       // of little work, too
    row_folds costly;        // in one walk
    row_folds walks;         // of one reduction, which move few arrays
    row_folds several_walks; // of several
    row_folds moving_walks;
    row_folds costly_walks;
};
struct folds_of_rows {
    folds_of_type floats;
    folds_of_type doubles;
};
inline constexpr folds_of_rows folds_of_16_registers{{{6, 6, 64, 128, 128, 512 * kibibytes},
                                                      {16, 16, 64, 128, 128, 512 * kibibytes},
                                                      {40, 40, 64, 128, 128, 512 * kibibytes},
                                                      {16, 7, 40, 192, 192, 3072 * kibibytes},
                                                      {16, 7, 40, 192, 192, 3072 * kibibytes},
                                                      {},
                                                      {40, 24, 64, 192, 192, 3072 * kibibytes}},
                                                     {{8, 8, 32, 48, 48, 512 * kibibytes}, {}, {}, {}, {}, {}, {}}};
inline constexpr folds_of_rows folds_of_32_registers{{{9, 9, 97, 128, 384, 1024 * kibibytes},
                                                      {28, 16, 97, 384, 384, 1024 * kibibytes},
                                                      {40, 31, 97, 256, 256, 1024 * kibibytes},
                                                      {11, 11, 24, 96, 384, 1024 * kibibytes},
                                                      {28, 14, 80, 160, 320, 1024 * kibibytes},
                                                      {11, 11, 12, 64, 96, 1024 * kibibytes},
                                                      {48, 31, 80, 128, 192, 1024 * kibibytes}},
                                                     {{9, 9, 48, 128, 160, 1024 * kibibytes},
                                                      {28, 16, 65, 256, 256, 1024 * kibibytes},
                                                      {},
                                                      {15, 15, 24, 96, 256, 1024 * kibibytes},
                                                      {28, 14, 65, 160, 256, 1024 * kibibytes},
                                                      {8, 8, 12, 15, 15, 1024 * kibibytes},
                                                      {40, 24, 48, 97, 128, 1024 * kibibytes}}};
inline constexpr int most_moved_by_folded_walks = 4; // of little work

/// Operands of up to so many columns whose rows do not lie one behind the other are copied for elementwise work, if
/// copies cost less than each row does by itself: all are one row then, or are joined, if there are so many rows. What a
/// row costs, beside what idle lanes of its last group compute, is in instructions for a group, and a third of the work;
/// so are copies, of each word of 4 bytes and in all. Divisions hide the loop, and what each row has once is joined at
/// the cost of some columns. Measured row by row, an AMD Zen 5, slices of 256 rows of floats (doubles): tanh(x) over 5,
/// 9, 15, 17, 33 columns 2.8, 1.9, 1.25, 1.7, 1.35 (1.9, 1.6, 1.1, 1.35, 1.0), tanh(x) sigmoid(x) over 17, 33, 49, 65
/// 2, 1.5, 1.35, 1.2, 2 x + 1 over 5 and 9 2.1, 1.7 (2, 1); of 32 rows 1.5, 1.2, 1.0, 1.5, 1.3, and 1.0 of 2 x + 1.
inline constexpr std::ptrdiff_t most_columns_of_copied_rows = 144;
inline constexpr std::ptrdiff_t least_rows_copied_to_join = 128;
inline constexpr std::ptrdiff_t instructions_of_a_row = 9;
inline constexpr std::ptrdiff_t groups_of_the_end_of_a_row = 3;
inline constexpr std::ptrdiff_t percent_of_a_copied_word = 65;
inline constexpr std::ptrdiff_t columns_of_an_element_a_row = 3;
inline constexpr std::ptrdiff_t instructions_of_copies = 300;

/// The same of rows that run as they lie: beside idle lanes there is nothing but the masks of rows that do not fill a
/// register. Measured as they lie, an AMD Zen 3, of what copies take, 256 rows: tanh(x) over 9, 10, 12, 17, 25, 33
/// columns 1.5, 1.4, 1.0, 1.1, 1.0, 0.95, in double over 9, 12, 17 1.0, 1.2, 1.15; of a result with gaps,
/// too, 1.1, 1.0, 0.85, 0.95, 0.85, 0.75. x+w over 5 and 7 columns 2.0 and 1.6, x*y+x-0.5y 1.8 and 1.2. With AVX-512,
/// an Intel Xeon, masks cost no more than an instruction a register and its wait: x*w+w over 5 to 8 columns 1.7, in
/// double 1.9, 1.65, 1.1, 0.75, x*y+x-0.5y over 5, 7, 9, 12 1.25, 1.0, 0.8, 0.75, in double 0.6, 0.6, 0.4, 0.6, clip(x)
/// over 5, 8, 9 1.05, 1.1, 0.9, in double over 6, 8, 9 1.4, 1.4, 0.55; to rows with gaps 0.3 to 0.65.
inline constexpr std::ptrdiff_t instructions_of_a_masked_row = 20;
inline constexpr std::ptrdiff_t instructions_of_a_masked_register = 5; // with AVX-512
inline constexpr std::ptrdiff_t percent_of_a_word_of_separate_rows = 55;

/// Arrays of so many elements are written in turn at multiples of a register, to which some elements are written twice.
/// Measured of three floats, an AMD Zen 5, from 64 elements on: 64 1.03, 128 1.0, 200 1.0 to 1.1, 300 0.75, 1000 0.65.
inline constexpr std::ptrdiff_t least_elements_in_turn_at_lines = 256;

/// Matrices of so few columns, of together so many bytes, are transposed column by column if there are permutations for
/// these. Measured in tiles, an AMD Zen 5: 1000 rows of 2, 3, 4, 5 and 6 floats 4, 2.3, 1.4, 1.05 and 0.8, with AVX2
/// 3.4, 1.7, 1.06, 0.75 and 0.55; of 2, 3 and 4 doubles 3, 1.8 and 1.2 (30,000 rows 1.0), with AVX2 1.8, 1.1 and 0.9.
/// Up to 4 columns next to each other are taken apart in one walk whatever their bytes: 0.3 to 0.75 of the time since.
inline constexpr std::ptrdiff_t most_columns_taken_apart = 4;
inline constexpr std::ptrdiff_t most_bytes_taken_apart = 24;

/// So many arrays of single elements are concatenated by permutations. Measured one after the other: two of 1000 floats
/// 10, three 7.4, 100,000 3.9 and 3.8; of doubles 5.8, 3.9, 1.9 and 1.9. Transposed in tiles, 2, 3 and 4 rows of 1000
/// floats: 6, 4.4 and 2.7; of doubles 4.6, 3.1 and 1.9.
inline constexpr int most_interleaved_arrays = 4;

/// What a loop carries stays in registers if arrays are no more than so many groups of elements; if there are only 16
/// registers, and more than so many steps in its body, no more than one. Measured in memory, an AMD Zen 5, 1000 steps of
/// x + 0.01 (1 - x x): 3.2 for 1 float, 2.5 for 32 and 64, with AVX2 2.2; of a Runge-Kutta method of 28 steps 1.5 for 1 to
/// 16, 1.3 for 64 floats, 0.9 for 128, with AVX2 1.4 for 4, 1.0 for 16, 0.7 for 64.
inline constexpr int groups_of_a_loop = 4;
inline constexpr int steps_of_a_loop_of_16_registers = 8;

/// Steps in one unrolled body: longer ones compile slower.
inline constexpr int unrolled_steps = 64;

// ---- products

/// Multiply-adds of products that are done before the costs of their variants could be compared (16 x 16 x 16: 100 ns).
inline constexpr std::ptrdiff_t tiny_product = 4096;

/// Products of so many rows without gaps with a matrix of so few columns and rows join rows. Measured by tiles, 1000
/// rows: 4.6 for 3x3, 2.4 for 2x3, 2 to 2.5 for 3x4 and 4x4, in double 1.5, 1.8 and 1.1 to 1.2; 128 rows 1.1 to 1.9, in
/// double 0.9 to 1.5, 64 rows 0.7 to 0.9. With 8 columns 0.75 to 1.2.
inline constexpr std::ptrdiff_t least_rows_of_joined_products = 128;
inline constexpr std::ptrdiff_t most_columns_of_joined_products = 4;
inline constexpr int most_depth_of_joined_products = 4;

/// A tile of so many sums asks for the row of B so many steps ahead, which no processor looks for by itself where rows
/// are pages apart. Measured without, Intel Xeon, AVX-512: direct 1.1 for 128 to 512 and 64 x 512 by 512 x 512, 1.2 for
/// 1000; packed 1.04; 1.0 for 64. With AVX2 1.07 for 512, 1.0 to 1.05 for doubles. 4, 6, 12 and 16 steps do the same.
inline constexpr int least_sums_that_ask_ahead = 12;
inline constexpr std::ptrdiff_t rows_of_b_ahead = 8;

/// Products of one tile whose extents the compiler knows have code of their own up to this inner extent. Measured
/// without: 2.0 for 3x3 and 4x4 (6.4 ns), 1.4 for 8x8 of doubles, 1.0 to 1.1 from 12x12 on.
inline constexpr std::ptrdiff_t most_depth_of_known_tiles = 16;

/// Rows of at most so many elements, times a matrix of at most as many columns, have a lane each. Measured of 16, 100
/// and 1000 rows of 3 floats and 3 columns, an AMD Zen 5: 0.5, 0.2 and 0.42 of the time of the others, with AVX2 0.35,
/// 0.26 and 0.58, with SSE2 0.57, 0.7 and 0.85; of 4 floats and 4 columns 0.5, 0.3 and 0.7, of 4 doubles 0.7, 0.52 and
/// 0.56. Rows that are whole registers lose with AVX2: 4 doubles 0.7, 1.1 and 1.2.
inline constexpr std::ptrdiff_t most_columns_of_a_lane_a_row = 4;

/// What it costs to transpose an operand into a copy, of what it costs to turn tiles of the result. Which variant these
/// costs choose, of 384 products of 16 to 300 rows, 6 to 300 columns and 16 to 700 steps, takes so much of the better
/// one on average (an Intel Xeon, float and double; A B^T in parentheses): 1.009 and 1.002 (1.019 and 1.011), with AVX2
/// 1.004 and 1.002. As if a copy cost the same: 1.033 and 1.004 (1.023 and 1.016), with AVX2 1.026 and 1.003, and up to
/// 1.6 for 300 rows times 6 to 33 columns.
inline constexpr double turned_tiles_of_a_copy = 2.0;

/// With 16 registers a product for a sink hands over all tiles of a few rows together, if B has so many bytes at most
/// and they have. Measured tile by tile, an AMD Zen 3: max(A B + 1, 0), 784x10x128, 1000x16x256, 512x32x256,
/// 784x64x128 1.2 to 1.4; a step of Adam by gradients of 784 x 128 from 10 rows 1.4, from 30 1.2, from 64 1.1. Plain
/// products in that order 0.8 to 1.3.
inline constexpr std::ptrdiff_t most_bytes_of_b_beside_bands = 40 * kibibytes;
inline constexpr std::ptrdiff_t most_bytes_of_a_band = 8 * kibibytes;

/// Products are packed if the operand that tiles stream through has so many bytes and, where there are 32 registers,
/// the other one so many rows, or if the rows of B compete for few sets of L2: the largest power of two in their stride
/// times the inner extent is more than the limit. Measured on an Intel Xeon (L2 of 2 MiB), AVX-512, arrays at 16 bytes,
/// packed over direct: rows 66 0.75 to 0.9, 128 0.9 to 0.97, 192 0.95 to 1.1, 256 1.0 to 1.07, 512 1.07 to 1.12
/// (512x512 to 1000x1000; aligned 0.7 to 1.07); doubles 0.8, 0.9, 1.0, 1.0, 1.05. In few sets: 1024x1024 1.6 to 2, 256
/// and 512 x 2048 1.3 to 1.9, doubles of 512x512 1.3 to 1.9; not yet 512x512 (1 MiB: 0.82 of 66 rows). AVX2 gains from
/// any. Packing halves the speed of products of 10 rows.
inline constexpr std::ptrdiff_t least_bytes_of_packing = 1024 * kibibytes;
inline constexpr std::ptrdiff_t least_rows_of_packing = 192;
inline constexpr std::ptrdiff_t most_bytes_of_few_sets = 1024 * kibibytes;

/// The part of A that stays in L2 while the strips of B pass by, in an unpacked product.
inline constexpr std::ptrdiff_t rows_in_l2_bytes = 512 * kibibytes;

/// Where there are 16 registers, products whose extents all are so large go by panels of B if they have so many
/// multiply-adds and B, or an A whose columns are contiguous, has at least so many bytes. B has no more than the limit,
/// unless A is such. A B whose columns are contiguous is copied in any case, whatever the work. Measured without, AVX2
/// on an Intel Xeon (L2 of 2 MiB), floats: 1.17 for 512, 1.0 for 300 and 400, 1.07 for 700 and 720, 1.0 to 1.06 for
/// 800, 1.2 for 64 x 512 by 512 x 512; in double 1.03 for 512, 1.26 for 64 x 500 by 500 x 500. A^T B: 1.2 for 300, 1.02
/// to 1.06 for 1000 to 1500, in double 1.3 for 250, 1.0 for 512 and 1024. A B^T: 1.0 to 1.05 up to 200, in double 1.08
/// for 500. Too small: 0.97 for 200, 0.88 for 64, 0.87 for 48 x 256 by 256 x 256, 0.85 to 0.99 for 64 x 784 by
/// 784 x 128, 0.85 for A^T B of 64. Too large: 0.95 for 1024, 0.94 for 1400, in double 0.9 for 700.
inline constexpr std::ptrdiff_t least_extent_of_panels = 64;
inline constexpr std::ptrdiff_t least_work_of_panels = 12'000'000;
inline constexpr std::ptrdiff_t least_bytes_of_panels = 240 * kibibytes;
inline constexpr std::ptrdiff_t most_bytes_of_panels = 3072 * kibibytes;
/// Sooner, where rows of B are multiples of so many bytes apart, or of fewer if they are many: L1 has few sets for what
/// a tile reads of them, fewer if they cross lines. Measured without, AVX2 on an AMD Zen 3, B at a multiple of 64 bytes
/// and 16 behind one, floats: 32 x 512 by 512 x 512 1.17 and 1.17, 64 x 128 by 128 x 512 1.05 and 1.34, 128 x 128 by
/// 128 x 512 1.1 and 1.44, 32 x 32 by 32 x 1024 1.4 and 1.45, 64 x 1000 by 1000 x 512 1.0 and 1.03, 48 x 48 by 48 x 512
/// 0.83 and 1.1; doubles 64 x 256 by 256 x 256 1.2 and 1.6, 64 x 128 by 128 x 512 1.9 and 2.1. Many rows: 64 x 784 by
/// 784 x 128 0.87 and 1.4 (32 bytes behind a line 1.33), 64 x 512 by 512 x 128 0.92 and 1.2 (1.26), 100 x 600 by
/// 600 x 128 0.91 and 1.36 (1.3), 64 x 256 by 256 x 256 0.9 and 1.06. (Large arrays that `new` gave begin 16 bytes
/// behind a line.) Of fewer rows 1 KiB apart 0.75 to 1.1, 512 bytes 0.8 to 1.25. Rows that are nearly such multiples
/// apart count as such: by no more than so many bytes, and all of them together by no more than one of so many parts.
/// Measured without, 64 x 64 by 64 x n: 1023 1.7, 1025 2.0, 1022 and 1026 1.2 to 1.5, 2047 and 2049 1.7 to 2.0,
/// 513 1.2; 100 x 100 by 100 x n alike, 32 x 32 by 32 x n 1.1 to 1.5. A whose columns are contiguous, n by n by n x
/// 512, 1024 and 2048, floats 1.1 to 2.6, doubles 1.4 to 2.4. Smaller ones of rows in one set: 24 x 24 by 24 x 1024,
/// 2048 and 4096 1.3 to 1.9, doubles 1.4 to 2, 16 x 16 1.2 to 1.8; 12 x 12 0.85 to 1.3.
inline constexpr std::ptrdiff_t bytes_between_rows_in_few_sets = 2 * kibibytes;
inline constexpr std::ptrdiff_t bytes_between_many_rows_in_few_sets = 512;
inline constexpr std::ptrdiff_t least_bytes_of_many_rows_in_few_sets = 256 * kibibytes;
inline constexpr std::ptrdiff_t least_extent_of_panels_of_few_sets = 32;
inline constexpr std::ptrdiff_t least_work_of_panels_of_few_sets = 1'000'000;
inline constexpr std::ptrdiff_t least_extent_of_panels_of_one_set = 16;
inline constexpr std::ptrdiff_t least_work_of_panels_of_one_set = 200'000;
inline constexpr std::ptrdiff_t bytes_past_a_power_of_two = 8;
inline constexpr std::ptrdiff_t parts_of_sets_of_near_rows = 4;

/// The inner extent of such a panel: one of 16 floats or 8 doubles a row is 32 KiB. Measured with 256: 1.01 for 512
/// floats, 1.05 to 1.2 for 1024, whose result is read and written again for each block.
inline constexpr std::ptrdiff_t panel_depth = 512;

/// The rows of A in a block of the inner extent that one panel of B serves. With 512 KiB: 1.02 for 512 floats, 1.07 for
/// doubles, whose panels are copied twice as often.
inline constexpr std::ptrdiff_t panel_rows_bytes = 1024 * kibibytes;

/// The inner extent of packed blocks: a panel of B is 64 KiB then with AVX-512. Each block more reads and writes the
/// result again. Measured for 1000, 1024 and 1400: 384 takes 1.00 to 1.06; 384 without prefetching the result's rows
/// 1.01 to 1.17, on a machine that others used too.
inline constexpr std::ptrdiff_t packed_depth = 512;
/// A packed block of A: a quarter of a small L2.
inline constexpr std::ptrdiff_t packed_block_bytes = 256 * kibibytes;
/// Up to this size all of B along K stays packed while the blocks of A pass by.
inline constexpr std::ptrdiff_t packed_kept_bytes = 32 * 1024 * kibibytes;
/// Packed products read an A of contiguous rows where it lies, unless more rows of a tile than that are in one set of
/// L1. Measured with a copy of A: 1.01 to 1.04 for 256 to 1536, with AVX2 1.02 to 1.08 for 256 to 3072 and for 1024,
/// too (6 rows); AVX-512, in one set, 0.95 to 0.98 for 1024 to 3072 (14 rows).
inline constexpr int most_rows_in_one_set = 12;
/// Tiles beside each other in a packed block of B.
inline constexpr std::ptrdiff_t packed_tiles = 32;

/// Rows of a tile: sums, a row of B and a broadcast fill the registers. With 32 registers, 14 rows of one register come
/// within 3 % of 28, and 16 make 15x15 and 16x16 one tile: 53 ns with 14, 42 with 16. With 16 registers, 6 rows of one
/// would leave two units with a latency of four idle for a quarter of the time.
inline constexpr int tile_rows_of_32_registers = 14;
inline constexpr int narrow_tile_rows_of_32_registers = 16;
inline constexpr int tile_rows_of_16_registers = 6;
inline constexpr int narrow_tile_rows_of_16_registers = 12;

/// Rows of up to so many elements times a vector are folded together, as many as a register has lanes. Measured four by
/// four, an Intel Xeon, 10 / 256 / 4096 rows: floats over 4, 8, 16, 32, 48, 64 columns 1.1 / 1.7 / 1.5, 1.1 / 1.7
/// / 1.5, 1.05 / 1.7 / 1.55, 1.05 / 1.75 / 1.65, 0.9 / 1.5 / 1.25, 0.85 / 1.1 / 1.0, over 17 and 33 1.4 and 1.1 of 256
/// rows, doubles over 4, 8, 16, 32 1.05 / 1.35 / 1.25, 1.1 / 0.9 / 1.1, 1.05 / 1.4 / 1.3, 0.75 / 1.05 / 1.0; with AVX2
/// floats 1.05 / 1.2 / 1.15 up to 12, 1.0 over 16, 0.9 / 1.0 / 1.0 over 32, doubles 0.6 to 0.95.
struct folded_depths {
    std::ptrdiff_t of_floats;
    std::ptrdiff_t of_doubles;
};
inline constexpr folded_depths most_depths_of_32_registers{48, 16};
inline constexpr folded_depths most_depths_of_16_registers{16, 0};

/// With 16 registers, rows times a vector are four rows of two sums each, from this depth on two of four, which a single
/// row needs. Measured, always four of two: 1x5000 1.4, 2x1000 and 3x1000 1.1 to 1.5; never: 1.1 to 2.3 over 10 to 1000
/// rows of 8 to 200 elements, 1.15 for 1000x1000.
inline constexpr std::ptrdiff_t least_depth_of_four_sums = 2048;

/// A matrix above this size is combined so many rows at a time, so that the prefetchers see long runs. Measured, always
/// so: a vector times 2000 x 2000 takes 0.95, times 200 x 200 1.17. If a walk takes whole rows, more of them, which only
/// keeps sums short. Measured, as few: times 2000x32 and 2000x64 1.2, 10000x10 and 10000x16 1.2 to 1.5, 100000x32 1.06.
/// Rows that crowd a set of L1 are combined fewer at a time: 8 take 1.1.
inline constexpr std::ptrdiff_t combined_in_l2_bytes = 256 * kibibytes;
inline constexpr std::ptrdiff_t combined_rows_at_once = 32;
inline constexpr std::ptrdiff_t combined_short_rows_at_once = 1024;
inline constexpr std::ptrdiff_t combined_crowded_rows_at_once = 4;

/// An array that is rolled along an axis behind others is read in ranges of each row, or plane, from so many elements
/// of these on, or else copied.
inline constexpr std::ptrdiff_t least_elements_of_rolled_rows = 48;
/// Elements of rows that run in ranges of their columns, where leaves are rolled along these, before the next rows do:
/// the ends of rows are read while the caches hold what is between them.
inline constexpr std::ptrdiff_t elements_of_rolled_rows = 16384;

} // namespace thresholds
} // namespace kernels
} // namespace v0
} // namespace calque
