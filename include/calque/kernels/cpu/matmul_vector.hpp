// SPDX-License-Identifier: MIT
// Products of a matrix and a vector, either way round: bound by the bandwidth of reading the matrix once.
#pragma once

#include <calque/kernels/cpu/matmul_pack.hpp>
#include <calque/kernels/cpu/matmul_short_dots.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// The sum of a register's lanes, halves onto halves.
template <class R>
CALQUE_INLINE auto sum_lanes(R x) {
    constexpr int lanes = simd::lanes_of<R>;
    if constexpr (lanes == 2) {
        return x[0] + x[1];
    } else {
        return simd::indices<lanes / 2>([&](auto... i) CALQUE_INLINE_LAMBDA {
            return sum_lanes(__builtin_shufflevector(x, x, decltype(i)::value...) +
                             __builtin_shufflevector(x, x, (decltype(i)::value + lanes / 2)...));
        });
    }
}

/// Of `sources` registers with parts of two halves each, whose parts take turns: which lane of all of them is lane
/// `lane` of the first halves.
constexpr int lane_of_first_halves(int lane, int half, int sources, int lanes) {
    int const part = lane / half;
    return part % sources * lanes + part / sources * 2 * half + lane % half;
}

/// Halves onto halves of what two registers have in `Parts` parts each.
template <int Parts, class R>
CALQUE_INLINE R fold_halves_of_two(R x, R y) {
    constexpr int lanes = simd::lanes_of<R>;
    return simd::indices<lanes>([&](auto... i) CALQUE_INLINE_LAMBDA {
        constexpr int half = simd::lanes_of<R> / Parts / 2;
        return __builtin_shufflevector(x, y, lane_of_first_halves(decltype(i)::value, half, 2, simd::lanes_of<R>)...) +
               __builtin_shufflevector(
                   x, y, (lane_of_first_halves(decltype(i)::value, half, 2, simd::lanes_of<R>) + half)...);
    });
}

/// Halves onto halves of four parts, until each is one lane.
template <class R>
CALQUE_INLINE auto fold_four_parts(R x) {
    constexpr int lanes = simd::lanes_of<R>;
    if constexpr (lanes == 4) {
        return x;
    } else {
        return simd::indices<lanes / 2>([&](auto... i) CALQUE_INLINE_LAMBDA {
            constexpr int half = simd::lanes_of<R> / 4 / 2;
            return fold_four_parts(
                __builtin_shufflevector(x, x, lane_of_first_halves(decltype(i)::value, half, 1, simd::lanes_of<R>)...) +
                __builtin_shufflevector(
                    x, x, (lane_of_first_halves(decltype(i)::value, half, 1, simd::lanes_of<R>) + half)...));
        });
    }
}

/// `sum_lanes` of `Rows` registers: the same bits, of four at once.
template <int Rows, class T>
CALQUE_INLINE void store_sums(simd::reg<T> const (&x)[Rows], T* out) {
    if constexpr (Rows == 4 && simd::lanes<T> >= 4) {
        auto const parts = fold_four_parts(
            fold_halves_of_two<2>(fold_halves_of_two<1>(x[0], x[1]), fold_halves_of_two<1>(x[2], x[3])));
        auto const sums = __builtin_shufflevector(parts, parts, 0, 2, 1, 3);
        std::memcpy(out, &sums, sizeof sums);
    } else {
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
            out[r] = sum_lanes(x[r]);
        }
    }
}

/// The dot products of `Rows` rows with `x`, each of `chains` sums: 2 or 4.
template <int Rows, int chains, class T>
CALQUE_INLINE void dot_rows(std::ptrdiff_t depth, T const* rows, std::ptrdiff_t row_stride, T const* x, T* out) {
    constexpr std::ptrdiff_t lanes = simd::lanes<T>;
    simd::reg<T> sums[Rows][chains];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
        for (int c = 0; c < chains; ++c) {
            sums[r][c] = simd::splat(T(0));
        }
    }
    std::ptrdiff_t k = 0;
    for (; k + chains * lanes <= depth; k += chains * lanes) {
#pragma GCC unroll 4
        for (int c = 0; c < chains; ++c) {
            simd::reg<T> const factor = simd::load(x + k + c * lanes);
#pragma GCC unroll 4
            for (int r = 0; r < Rows; ++r) {
                sums[r][c] = simd::fma(simd::load(rows + r * row_stride + k + c * lanes), factor, sums[r][c]);
            }
        }
    }
    for (; k + lanes <= depth; k += lanes) {
        simd::reg<T> const factor = simd::load(x + k);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
            sums[r][0] = simd::fma(simd::load(rows + r * row_stride + k), factor, sums[r][0]);
        }
    }
    if (k < depth) {
        int const rest = static_cast<int>(depth - k);
        simd::reg<T> const factor = simd::load_n(x + k, rest);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
            sums[r][0] = simd::fma(simd::load_n(rows + r * row_stride + k, rest), factor, sums[r][0]);
        }
    }
    simd::reg<T> totals[Rows];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
        totals[r] = sums[r][0] + sums[r][1];
        if constexpr (chains == 4) {
            totals[r] += sums[r][2] + sums[r][3];
        }
    }
    store_sums<Rows, T>(totals, out);
}

/// y[i] = the dot product of row i of `matrix` (columns contiguous) with the contiguous vector `x`, several rows at a
/// time. How many sums a row has, its length says, not how many rows go with it.
template <int Rows, int Chains, class T>
void multiply_rows_of(std::ptrdiff_t rows, std::ptrdiff_t depth, T const* matrix, std::ptrdiff_t row_stride, T const* x,
                      T* y) {
    std::ptrdiff_t i = 0;
    for (; i + Rows <= rows; i += Rows) {
        dot_rows<Rows, Chains>(depth, matrix + i * row_stride, row_stride, x, y + i);
    }
    for (; i < rows; ++i) {
        dot_rows<1, Chains>(depth, matrix + i * row_stride, row_stride, x, y + i);
    }
}

template <class T>
void multiply_rows(std::ptrdiff_t rows, std::ptrdiff_t depth, T const* matrix, std::ptrdiff_t row_stride, T const* x,
                   T* y) {
    constexpr thresholds::folded_depths const& most =
        simd::register_count == 32 ? thresholds::most_depths_of_32_registers : thresholds::most_depths_of_16_registers;
    constexpr std::ptrdiff_t most_folded = sizeof(T) == sizeof(double) ? most.of_doubles : most.of_floats;
    if constexpr (most_folded > 0) {
        if (depth <= most_folded) {
            multiply_short_rows(rows, depth, matrix, row_stride, x, y);
            return;
        }
    }
    if constexpr (simd::register_count == 32) {
        multiply_rows_of<4, 4>(rows, depth, matrix, row_stride, x, y);
    } else if (depth < thresholds::least_depth_of_four_sums) {
        multiply_rows_of<4, 2>(rows, depth, matrix, row_stride, x, y);
    } else {
        multiply_rows_of<2, 4>(rows, depth, matrix, row_stride, x, y);
    }
}

/// y += the sum of row k of `matrix` times x[k * x_stride], for `Vectors` registers of columns, the last of which has
/// `last_lanes` unless all are whole. A row is read to its end before the next one, as prefetchers expect it: where
/// that leaves multiplications waiting for each other, a few rows at a time have a sum of their own.
template <int Vectors, bool AreWhole, class T>
CALQUE_NOINLINE void combine_strip(std::ptrdiff_t depth, T const* x, std::ptrdiff_t x_stride, T const* matrix,
                                   std::ptrdiff_t row_stride, int last_lanes, T* y) {
    constexpr int chains = Vectors >= 4 ? 1 : Vectors == 3 ? 2 : 4;
    constexpr std::ptrdiff_t lanes = simd::lanes<T>;
    auto const load = [last_lanes](T const* row, int v) CALQUE_INLINE_LAMBDA {
        return v == Vectors - 1 && !AreWhole ? simd::load_n(row + v * lanes, last_lanes) : simd::load(row + v * lanes);
    };
    simd::reg<T> sums[chains][Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
        sums[0][v] = load(y, v);
#pragma GCC unroll 4
        for (int c = 1; c < chains; ++c) {
            sums[c][v] = simd::splat(T(0));
        }
    }
    std::ptrdiff_t k = 0;
    for (; k + chains <= depth; k += chains) {
#pragma GCC unroll 4
        for (int c = 0; c < chains; ++c) {
            simd::reg<T> const factor = simd::splat(x[(k + c) * x_stride]);
#pragma GCC unroll 8
            for (int v = 0; v < Vectors; ++v) {
                sums[c][v] = simd::fma(factor, load(matrix + (k + c) * row_stride, v), sums[c][v]);
            }
        }
    }
    for (; k < depth; ++k) {
        simd::reg<T> const factor = simd::splat(x[k * x_stride]);
#pragma GCC unroll 8
        for (int v = 0; v < Vectors; ++v) {
            sums[0][v] = simd::fma(factor, load(matrix + k * row_stride, v), sums[0][v]);
        }
    }
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
#pragma GCC unroll 4
        for (int c = 1; c < chains; ++c) {
            sums[0][v] = sums[0][v] + sums[c][v];
        }
        if (v == Vectors - 1 && !AreWhole) {
            simd::store_n(y + v * lanes, sums[0][v], last_lanes);
        } else {
            simd::store(y + v * lanes, sums[0][v]);
        }
    }
}

/// The same for any number of columns: each strip is a walk down the rows, so that there are few of them.
template <class T>
void combine_strips(std::ptrdiff_t depth, std::ptrdiff_t columns, T const* x, std::ptrdiff_t x_stride, T const* matrix,
                    std::ptrdiff_t row_stride, T* y) {
    constexpr std::ptrdiff_t lanes = simd::lanes<T>;
    std::ptrdiff_t j = 0;
    auto const run = [&]<int Vectors, bool AreWhole>(std::integral_constant<int, Vectors>,
                                                     std::bool_constant<AreWhole>) {
        auto const last = static_cast<int>(columns - j - (Vectors - 1) * lanes);
        combine_strip<Vectors, AreWhole>(depth, x, x_stride, matrix + j, row_stride, last, y + j);
        j += Vectors * lanes;
    };
    while (j + 8 * lanes <= columns) {
        run(std::integral_constant<int, 8>{}, std::true_type{});
    }
    if (j + 4 * lanes <= columns) {
        run(std::integral_constant<int, 4>{}, std::true_type{});
    }
    switch ((columns - j + lanes - 1) / lanes) {
    case 4: run(std::integral_constant<int, 4>{}, std::false_type{}); break;
    case 3: run(std::integral_constant<int, 3>{}, std::false_type{}); break;
    case 2: run(std::integral_constant<int, 2>{}, std::false_type{}); break;
    case 1: run(std::integral_constant<int, 1>{}, std::false_type{}); break;
    default: break;
    }
}

/// y = the sum of row k of `matrix` (columns contiguous) times x[k * x_stride].
///
/// A matrix that is not in L2 is read a few rows at a time, so that the prefetchers see long runs; so are rows that
/// crowd a set of L1.
template <class T>
void combine_rows(std::ptrdiff_t depth, std::ptrdiff_t columns, T const* x, std::ptrdiff_t x_stride, T const* matrix,
                  std::ptrdiff_t row_stride, T* y) {
    constexpr std::ptrdiff_t lanes = simd::lanes<T>;
    constexpr std::ptrdiff_t in_l2 = thresholds::combined_in_l2_bytes / static_cast<std::ptrdiff_t>(sizeof(T));
    bool const is_one_strip = columns <= 4 * lanes || columns == 8 * lanes;
    bool const are_crowded =
        !is_one_strip && crowd_a_set(depth) && are_in_one_set(row_stride * static_cast<std::ptrdiff_t>(sizeof(T)));
    std::ptrdiff_t const rows = are_crowded                ? thresholds::combined_crowded_rows_at_once
                                : depth * columns <= in_l2 ? depth
                                : is_one_strip             ? thresholds::combined_short_rows_at_once
                                                           : thresholds::combined_rows_at_once;
    std::fill_n(y, columns, T(0));
    for (std::ptrdiff_t k = 0; k < depth; k += rows) {
        combine_strips(std::min(rows, depth - k), columns, x + k * x_stride, x_stride, matrix + k * row_stride,
                       row_stride, y);
    }
}

/// The product of a matrix and a vector (M x K times K x 1, or the transpose of 1 x K times K x N).
template <class T>
struct vector_product {
    matmul_variant variant;
    bool is_column; // so is the vector, and the result
    std::ptrdiff_t count, depth;
    matrix_ref<T> matrix; // a row for each element of the result
    T const* x;
    std::ptrdiff_t x_stride;

    vector_product(matmul_variant v, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> const& a,
                   matrix_ref<T> const& b)
        : variant(v), is_column(n == 1), count(is_column ? m : n), depth(k), matrix(is_column ? a : b.transposed()),
          x(is_column ? b.data : a.data), x_stride(is_column ? b.row_stride : a.column_stride) {}

    /// Whether the operands can be read where they lie.
    bool reads_in_place() const {
        return variant == matmul_variant::combined_rows || (matrix.column_stride == 1 && x_stride == 1);
    }

    /// Stores elements [i, i + size) of the result, of operands that can be read where they lie.
    void store(std::ptrdiff_t i, std::ptrdiff_t size, T* y) const {
        if (variant == matmul_variant::dots) {
            multiply_rows(size, depth, matrix.at(i, 0), matrix.row_stride, x, y);
        } else {
            combine_rows(depth, size, x, x_stride, matrix.at(i, 0), matrix.column_stride, y);
        }
    }

    /// Hands over the result, of any operands.
    void run(matmul_result<T> const& result, T* workspace) {
        if (!reads_in_place()) {
            copy_operands(workspace);
        }
        alignas(64) T y[chunk];
        for (std::ptrdiff_t i = 0; i < count; i += chunk) {
            std::ptrdiff_t const size = std::min(chunk, count - i);
            store(i, size, y);
            if (is_column) {
                result.accept(y, 1, i, 0, size, 1);
            } else {
                result.accept(y, size, 0, i, 1, size);
            }
        }
    }

    static constexpr std::ptrdiff_t chunk = 4096 / static_cast<std::ptrdiff_t>(sizeof(T)); // a run of 4 KiB a row

private:
    void copy_operands(T* workspace) {
        if (matrix.column_stride != 1) {
            copy_to_panel(matrix.transposed(), depth, count, workspace, depth);
            matrix = {workspace, depth, 1};
            workspace += count * depth;
        }
        if (x_stride != 1) {
            copy_to_panel(matrix_ref<T>{x, x_stride, 0}, depth, 1, workspace, depth);
            x = workspace;
            x_stride = 1;
        }
    }
};

} // namespace detail
} // namespace kernels
} // namespace v0
} // namespace calque
