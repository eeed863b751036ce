// SPDX-License-Identifier: MIT
// The matrix product C = A B on a CPU: any strides, any sizes, stored or handed tile by tile to a fused epilogue.
//
// The order of each sum follows from the sizes and strides alone, never from addresses: the same inputs give the same
// bits. No multiplication is skipped because a factor is zero, so infinities and NaNs spread as IEEE 754 says.
#pragma once

#include <calque/core/shape.hpp>
#include <calque/kernels/cpu/matmul_joined.hpp>
#include <calque/kernels/cpu/matmul_loops.hpp>
#include <calque/kernels/cpu/matmul_pack.hpp>
#include <calque/kernels/cpu/matmul_panels.hpp>
#include <calque/kernels/cpu/matmul_result.hpp>
#include <calque/kernels/cpu/matmul_variant.hpp>
#include <calque/kernels/cpu/matmul_vector.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace calque {
inline namespace v0 {
namespace kernels {

namespace detail {

/// The unpacked product: A with any strides, B with contiguous rows.
///
/// Rows go in blocks whose part of A stays in L2 while the strips of B pass by.
template <class T>
void multiply_directly(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> const& a,
                       matrix_ref<T> const& b, tile_writer<T>& writer) {
    constexpr std::ptrdiff_t in_l2 = thresholds::rows_in_l2_bytes / static_cast<std::ptrdiff_t>(sizeof(T));
    std::ptrdiff_t const block_rows = m * k <= in_l2 ? m : balanced(m, std::max(in_l2 / k, std::ptrdiff_t(64)));
    matmul_tile<T> tile{.depth = k,
                        .a_row_stride = a.row_stride,
                        .a_step = a.column_stride,
                        .b_step = b.row_stride,
                        .to_stride = writer.stride()};
    for (std::ptrdiff_t block = 0; block < m; block += block_rows) {
        std::ptrdiff_t const end = std::min(block + block_rows, m);
        for (std::ptrdiff_t j = 0; j < n; j += tile_columns<T>) {
            std::ptrdiff_t const columns = std::min(tile_columns<T>, n - j);
            int const vectors = columns > simd::lanes<T> ? 2 : 1;
            std::ptrdiff_t const tile_rows = balanced(end - block, matmul_tile_rows(vectors));
            tile.b = b.at(0, j);
            tile.last_lanes = static_cast<int>(columns - (vectors - 1) * simd::lanes<T>);
            for (std::ptrdiff_t i = block; i < end; i += tile_rows) {
                std::ptrdiff_t const rows = std::min(tile_rows, end - i);
                tile.a = a.at(i, 0);
                tile.to = writer.place(i, j);
                compute_tile(static_cast<int>(rows), vectors, tile);
                writer.finish(i, j, rows, columns);
            }
        }
    }
}

/// Whether a product that is handed over goes band by band: B is in L1, and so is a band; there are several tiles
/// beside each other, and none is narrow.
template <class T>
constexpr bool suits_bands(std::ptrdiff_t n, std::ptrdiff_t k) {
    constexpr auto bytes = static_cast<std::ptrdiff_t>(sizeof(T));
    return simd::register_count != 32 && n > tile_columns<T> && (n - 1) % tile_columns<T> >= simd::lanes<T> &&
           bytes * k * n <= thresholds::most_bytes_of_b_beside_bands &&
           bytes * matmul_tile_rows(2) * n <= thresholds::most_bytes_of_a_band;
}

/// The same for a sink, which gets all tiles of a few rows together: long rows, and less often.
template <class T>
void multiply_by_bands(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> const& a,
                       matrix_ref<T> const& b, matmul_result<T> const& result) {
    alignas(64) T band[static_cast<std::size_t>(thresholds::most_bytes_of_a_band) / sizeof(T)];
    matmul_tile<T> tile{
        .depth = k, .a_row_stride = a.row_stride, .a_step = a.column_stride, .b_step = b.row_stride, .to_stride = n};
    std::ptrdiff_t const band_rows = balanced(m, matmul_tile_rows(2));
    for (std::ptrdiff_t i = 0; i < m; i += band_rows) {
        std::ptrdiff_t const rows = std::min(band_rows, m - i);
        tile.a = a.at(i, 0);
        for (std::ptrdiff_t j = 0; j < n; j += tile_columns<T>) {
            tile.b = b.at(0, j);
            tile.last_lanes = static_cast<int>(std::min(tile_columns<T>, n - j) - simd::lanes<T>);
            tile.to = band + j;
            compute_tile(static_cast<int>(rows), 2, tile);
        }
        result.accept(band, n, i, 0, rows, n);
    }
}

/// The same for any B, whose rows are copied if they are not contiguous; or for the transposed product, which is one of
/// the transposed operands in the other order.
template <class T>
void multiply_by_strips(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> const& a,
                        matrix_ref<T> const& b, matmul_result<T> const& result, bool is_transposed, T* workspace) {
    if (!is_transposed && !result.is_in_memory() && b.column_stride == 1 && suits_bands<T>(n, k)) {
        multiply_by_bands(m, n, k, a, b, result);
        return;
    }
    tile_writer<T> writer(result, is_transposed);
    if (b.column_stride == 1) {
        multiply_directly(m, n, k, a, b, writer);
    } else {
        copy_to_panel(b.transposed(), n, k, workspace, n);
        multiply_directly(m, n, k, a, matrix_ref<T>{workspace, n, 1}, writer);
    }
}

/// Zeros everywhere: the product over an empty inner extent.
template <class T>
void write_zeros(std::ptrdiff_t m, std::ptrdiff_t n, matmul_result<T> result) {
    constexpr std::ptrdiff_t chunk = 64;
    T const zeros[chunk] = {};
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        for (std::ptrdiff_t j = 0; j < n; j += chunk) {
            result.accept(zeros, chunk, i, j, 1, std::min(chunk, n - j));
        }
    }
}

/// `IsVector`: M or N is 1, as the compiler knows, so that only the products of vectors are compiled.
template <bool IsVector, class T>
void multiply(matmul_variant variant, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> const& a,
              matrix_ref<T> const& b, matmul_result<T> const& result, void* workspace_bytes) {
    [[maybe_unused]] T* const workspace = static_cast<T*>(workspace_bytes);
    if (variant == matmul_variant::nothing) {
        return;
    }
    if (variant == matmul_variant::zeros) {
        write_zeros(m, n, result);
        return;
    }
    if constexpr (!simd_product<T>) {
        multiply_by_loops(m, n, k, a, b, result);
    } else if (IsVector || variant == matmul_variant::dots || variant == matmul_variant::combined_rows) {
        vector_product<T>(variant, m, n, k, a, b).run(result, workspace);
    } else if constexpr (!IsVector) {
        switch (variant) {
        case matmul_variant::joined_rows:
            if constexpr (simd::has_lookup_of_pairs<T>) {
                joined_product<T>(n, k, b).run(m, a.data, result);
            }
            break;
        case matmul_variant::panels:
            if constexpr (has_panels<T>) {
                panel_product<T>(m, n, k, a, b, result, workspace).run();
            }
            break;
        case matmul_variant::packed: packed_product<T>(m, n, k, a, b, result, workspace).run(); break;
        case matmul_variant::transposed:
            multiply_by_strips(n, m, k, b.transposed(), a.transposed(), result, true, workspace);
            break;
        default: multiply_by_strips(m, n, k, a, b, result, false, workspace);
        }
    }
}

} // namespace detail

/// Stores the product of an M x K and a K x N matrix in `c`, row-major with `c_stride` elements from row to row, by a
/// variant that `choose_matmul` chose for these sizes and strides. `M`, `N`: those extents, where the compiler knows
/// them.
///
/// `workspace`: `matmul_workspace<T>(...)` bytes, aligned to 64. `c` and the workspace overlap nothing else.
template <class T, extent_t M = dyn, extent_t N = dyn>
void matmul(matmul_variant variant, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> const& a,
            matrix_ref<T> const& b, T* c, std::ptrdiff_t c_stride, void* workspace) {
    constexpr bool is_vector = M == 1 || N == 1;
    // Worth paths of their own: the general one costs 10 to 20 ns, what a product of 8 x 8 matrices takes.
    if constexpr (simd_product<T> && !is_vector) {
        if (variant == matmul_variant::direct && is_one_tile<T>(m, n) && b.column_stride == 1) {
            compute_tile(static_cast<int>(m), n > simd::lanes<T> ? 2 : 1, one_tile(n, k, a, b, c, c_stride));
            return;
        }
    }
    if constexpr (simd_product<T>) {
        if (variant == matmul_variant::dots || variant == matmul_variant::combined_rows) {
            detail::vector_product<T> const product(variant, m, n, k, a, b);
            if (product.count <= product.chunk && product.reads_in_place() && (m == 1 || c_stride == 1)) {
                product.store(0, product.count, c);
                return;
            }
        }
    }
    detail::multiply<is_vector>(variant, m, n, k, a, b, detail::matmul_result<T>{c, c_stride, {}}, workspace);
}

/// The same, handing each element to `sink` once instead of storing it.
template <class T, extent_t M = dyn, extent_t N = dyn>
void matmul(matmul_variant variant, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> const& a,
            matrix_ref<T> const& b, tile_sink<T> sink, void* workspace) {
    detail::multiply<M == 1 || N == 1>(variant, m, n, k, a, b, detail::matmul_result<T>{nullptr, 0, sink}, workspace);
}

/// The same, choosing the variant.
template <class T>
void matmul(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> const& a, matrix_ref<T> const& b, T* c,
            std::ptrdiff_t c_stride, void* workspace) {
    matmul(choose_matmul<T>(m, n, k, a.strides(), b.strides()), m, n, k, a, b, c, c_stride, workspace);
}

template <class T>
void matmul(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> const& a, matrix_ref<T> const& b,
            tile_sink<T> sink, void* workspace) {
    matmul(choose_matmul<T>(m, n, k, a.strides(), b.strides()), m, n, k, a, b, sink, workspace);
}

} // namespace kernels
} // namespace v0
} // namespace calque
