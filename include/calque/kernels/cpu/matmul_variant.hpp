// SPDX-License-Identifier: MIT
// Matrix products: what goes in and out, and the choice of a way to compute one, from sizes and strides alone.
#pragma once

#include <calque/kernels/cpu/cache_sets.hpp>
#include <calque/kernels/cpu/matmul_micro.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace calque {
inline namespace v0 {
namespace kernels {

/// The strides of a matrix, in elements: of one step down and of one step to the right.
struct matrix_strides {
    std::ptrdiff_t row = 0;
    std::ptrdiff_t column = 1;
};

/// A matrix in memory: element (i, j) at data[i * row_stride + j * column_stride].
template <class T>
struct matrix_ref {
    T const* data;
    std::ptrdiff_t row_stride;
    std::ptrdiff_t column_stride;

    constexpr T const* at(std::ptrdiff_t i, std::ptrdiff_t j) const {
        return data + i * row_stride + j * column_stride;
    }
    constexpr matrix_strides strides() const { return {row_stride, column_stride}; }
    constexpr matrix_ref transposed() const { return {data, column_stride, row_stride}; }
};

/// Whether a product of these extents is one tile, if it is not copied.
template <class T>
constexpr bool is_one_tile(std::ptrdiff_t m, std::ptrdiff_t n) {
    return n <= 2 * simd::lanes<T> && m <= matmul_tile_rows(n > simd::lanes<T> ? 2 : 1);
}

/// A product of `n` columns and `k` steps that is one tile, of matrices whose rows of B are contiguous.
template <class T>
constexpr matmul_tile<T> one_tile(std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> const& a, matrix_ref<T> const& b,
                                  T* c, std::ptrdiff_t c_stride) {
    return {.depth = k,
            .a = a.data,
            .a_row_stride = a.row_stride,
            .a_step = a.column_stride,
            .b = b.data,
            .b_step = b.row_stride,
            .last_lanes = static_cast<int>(n > simd::lanes<T> ? n - simd::lanes<T> : n),
            .to = c,
            .to_stride = c_stride};
}

/// Receives finished tiles of a product while they are in L1, each element once.
///
/// A tile holds rows [i, i + rows) and columns [j, j + columns) of the result: element (i + r, j + c) is
/// tile[r * tile_stride + c].
template <class T>
struct tile_sink {
    void (*consume)(void const* context, T const* tile, std::ptrdiff_t tile_stride, std::ptrdiff_t i, std::ptrdiff_t j,
                    std::ptrdiff_t rows, std::ptrdiff_t columns) = nullptr;
    void const* context = nullptr;
};

/// The ways to compute a product of an M x K and a K x N matrix.
enum class matmul_variant : std::uint8_t {
    nothing,       // M or N is 0
    zeros,         // K is 0
    dots,          // a vector and a matrix whose sums run along contiguous elements: a dot product for each element
    combined_rows, // a vector and a matrix whose sums run across contiguous rows: a linear combination of the rows
    joined_rows,   // a small matrix behind many rows: the lanes of a register have several of them
    direct,        // tiles read B where it lies, or from a row-major copy
    transposed,    // the same for the transposed product B^T A^T: lanes run along M
    packed,        // blocks of A and B copied into panels that fit the caches
    loops,         // integers
    panels,        // direct, with 16 registers: the columns of B of a tile are copied together before tiles read them
    known_tile,    // of extents that the compiler knows, and that are one tile
    in_registers,  // the same, operands and result in two registers each
    lane_a_row,    // many rows of a few elements, and a small matrix of extents that the compiler knows
    small_squares, // of a batch: square matrices of up to four rows
};

constexpr std::string_view name_of(matmul_variant variant) {
    constexpr std::string_view names[] = {"nothing",  "zeros",        "dots",         "combined rows", "joined rows",
                                          "direct",   "transposed",   "packed",       "loops",         "panels",
                                          "one tile", "in registers", "a lane a row", "small squares"};
    return names[static_cast<std::size_t>(variant)];
}

/// A dtype with SIMD products.
template <class T>
concept simd_product = std::same_as<T, float> || std::same_as<T, double>;

namespace detail {

/// The smallest equal parts, none above `limit`, that cover `extent`: 64 rows are 5 x 13, not 4 x 14 and 8.
constexpr std::ptrdiff_t balanced(std::ptrdiff_t extent, std::ptrdiff_t limit) {
    if (extent <= limit) {
        return extent; // small products feel the divisions
    }
    std::ptrdiff_t const parts = (extent + limit - 1) / limit;
    return (extent + parts - 1) / parts;
}

constexpr std::ptrdiff_t round_up(std::ptrdiff_t n, std::ptrdiff_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

/// The columns of the widest tile.
template <class T>
inline constexpr std::ptrdiff_t tile_columns = matmul_tile_vectors * simd::lanes<T>;

/// The blocks of the packed product.
template <class T>
struct packed_blocks {
    std::ptrdiff_t depth;     // of a block, along K
    std::ptrdiff_t tile_rows; // of a panel of A
    std::ptrdiff_t rows;      // of a block of A
    std::ptrdiff_t columns;   // of a block of B
    bool keeps_b;             // all blocks of B along K stay packed while the blocks of A pass by
    bool copies_a;            // into panels; else tiles read A where it lies

    constexpr packed_blocks(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_strides a)
        : depth(balanced(k, thresholds::packed_depth)), tile_rows(balanced(m, matmul_tile_rows(matmul_tile_vectors))),
          rows(std::min(
              round_up(m, tile_rows),
              std::max(thresholds::packed_block_bytes / (depth * static_cast<std::ptrdiff_t>(sizeof(T))) / tile_rows, //
                       std::ptrdiff_t(1)) *
                  tile_rows)),
          columns(std::min(round_up(n, tile_columns<T>), thresholds::packed_tiles * tile_columns<T>)),
          keeps_b(k * columns * static_cast<std::ptrdiff_t>(sizeof(T)) <= thresholds::packed_kept_bytes),
          copies_a(a.column != 1 || are_in_few_sets_of_l1(a.row)) {}

    constexpr std::ptrdiff_t size_of_b(std::ptrdiff_t k) const { return (keeps_b ? k : depth) * columns; }
    constexpr std::ptrdiff_t size_of_a() const { return copies_a ? round_up(depth * rows, 64) : 0; }
    constexpr std::ptrdiff_t size_of_sums(std::ptrdiff_t k) const { return k > depth ? rows * columns : 0; }

private:
    /// Whether the rows of a tile, `stride` elements apart, put each other out of L1 before they are read to the end of
    /// a cache line.
    static constexpr bool are_in_few_sets_of_l1(std::ptrdiff_t stride) {
        return matmul_tile_rows(matmul_tile_vectors) > thresholds::most_rows_in_one_set &&
               are_in_one_set(stride * static_cast<std::ptrdiff_t>(sizeof(T)), 0);
    }
};

/// The blocks of the product by panels.
template <class T>
struct panel_blocks {
    std::ptrdiff_t depth; // of a panel of B, along K
    std::ptrdiff_t rows;  // of a block of A

    constexpr panel_blocks(std::ptrdiff_t m, std::ptrdiff_t k)
        : depth(balanced(k, thresholds::panel_depth)),
          rows(balanced(m, std::max(thresholds::panel_rows_bytes / static_cast<std::ptrdiff_t>(sizeof(T)) / depth,
                                    std::ptrdiff_t(64)))) {}

    constexpr std::ptrdiff_t size_of_b() const { return round_up(depth * tile_columns<T>, 64); }
    /// Of the copy of a block of A, with a line more than it needs: rows at powers of two are in the same sets of L1.
    constexpr std::ptrdiff_t stride_of_a() const { return round_up(depth, 16) + 16; }
    constexpr std::ptrdiff_t size_of_a(matrix_strides a) const { return a.row == 1 ? rows * stride_of_a() : 0; }
    constexpr std::ptrdiff_t size_of_sums(std::ptrdiff_t n, std::ptrdiff_t k) const { return k > depth ? rows * n : 0; }
};

/// Whether products by panels are generated: 32 registers hold tiles as wide as runs of B should be.
template <class T>
inline constexpr bool has_panels = simd_product<T> && simd::register_count == 16;

/// Whether the `k` rows of B are in so few sets of L1 that a tile reads them from L2. Of products with a small extent,
/// or little work, only if few are left.
template <class T>
constexpr bool are_in_few_sets(std::ptrdiff_t stride, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k) {
    std::ptrdiff_t const apart = power_of_two_between_rows<T>(stride, k);
    std::ptrdiff_t const least_extent = std::min({m, n, k});
    std::ptrdiff_t const work = m * n * k;
    if (apart >= thresholds::bytes_between_rows_in_one_set &&
        least_extent >= thresholds::least_extent_of_panels_of_one_set &&
        work >= thresholds::least_work_of_panels_of_one_set) {
        return true;
    }
    bool const are_few = apart >= thresholds::bytes_between_rows_in_few_sets &&
                         least_extent >= thresholds::least_extent_of_panels_of_few_sets;
    bool const are_many_in_them = apart >= thresholds::bytes_between_many_rows_in_few_sets &&
                                  apart * k >= thresholds::least_bytes_of_many_rows_in_few_sets &&
                                  least_extent >= thresholds::least_extent_of_panels;
    return (are_few || are_many_in_them) && work >= thresholds::least_work_of_panels_of_few_sets;
}

/// Whether a product gains more from panels than they cost to copy.
template <class T>
constexpr bool gains_from_panels(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_strides a,
                                 matrix_strides b) {
    constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
    constexpr std::ptrdiff_t least = thresholds::least_bytes_of_panels / size;
    constexpr std::ptrdiff_t most = thresholds::most_bytes_of_panels / size;
    if (b.column == 1 && n * k <= most && are_in_few_sets<T>(b.row, m, n, k)) {
        return true;
    }
    if (std::min({m, n, k}) < thresholds::least_extent_of_panels) {
        return false;
    }
    bool const is_large =
        m * n * k >= thresholds::least_work_of_panels && (a.row == 1 ? std::max(m, n) : n) * k >= least;
    return a.row == 1 ? is_large : n * k <= most && (is_large || b.column != 1);
}

/// Whether it costs less to pack `rows` of A and a B of `columns`, with rows that are `stride` elements apart, than to
/// read B where it lies.
template <class T>
constexpr bool gains_from_packing(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t k,
                                  std::ptrdiff_t stride) {
    constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
    if (columns * k * size < thresholds::least_bytes_of_packing || std::min(rows, columns) <= 2 * tile_columns<T>) {
        return false;
    }
    // Addresses that are multiples of a power of two are in few sets of a cache: what k rows leave room for.
    bool const is_in_few_sets = k * power_of_two_between_rows<T>(stride, k) > thresholds::most_bytes_of_few_sets;
    return simd::register_count == 16 || is_in_few_sets || rows >= thresholds::least_rows_of_packing;
}

/// What the tiles of an m x n x k product cost, in multiply-adds of a register. A tile that keeps fewer than eight sums
/// leaves two units with a latency of four idle.
template <class T>
constexpr double cost_of_tiles(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k) {
    auto const strips = [&](std::ptrdiff_t count, int vectors) {
        std::ptrdiff_t const limit = matmul_tile_rows(vectors);
        std::ptrdiff_t const tiles = (m + limit - 1) / limit;
        std::ptrdiff_t const sums = (m + tiles - 1) / tiles * vectors;
        return static_cast<double>(count * tiles * (std::max<std::ptrdiff_t>(sums, 8) * k + 24));
    };
    std::ptrdiff_t const wide = n / tile_columns<T>, rest = n % tile_columns<T>;
    return strips(wide, 2) + (rest == 0 ? 0.0 : strips(1, rest > simd::lanes<T> ? 2 : 1));
}

/// What it costs to turn the tiles of a result, in the same unit.
template <class T>
constexpr double cost_of_turning(std::ptrdiff_t rows, std::ptrdiff_t columns) {
    return static_cast<double>(rows * columns) * (static_cast<double>(sizeof(T)) / 8.0);
}

/// What it costs to transpose a matrix into a copy.
template <class T>
constexpr double cost_of_copy(std::ptrdiff_t rows, std::ptrdiff_t columns) {
    return thresholds::turned_tiles_of_a_copy * cost_of_turning<T>(rows, columns);
}

/// Whether rows of `k` elements times a matrix of `n` columns can be joined: what each register of the result reads is
/// in two registers.
template <class T>
constexpr bool joins_rows(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_strides a) {
    constexpr std::ptrdiff_t most = thresholds::most_columns_of_joined_products;
    constexpr std::ptrdiff_t lanes = simd::lanes<T>;
    if (!simd::has_lookup_of_pairs<T> || m < thresholds::least_rows_of_joined_products || n > most ||
        k > thresholds::most_depth_of_joined_products || a.column != 1 || a.row != k) {
        return false;
    }
    bool does = true;
    for (std::ptrdiff_t first = 0; first < n * lanes; first += lanes) {
        does &= ((first + lanes - 1) / n - first / n + 1) * k <= 2 * lanes;
    }
    return does;
}

} // namespace detail

/// The variant for a product of an M x K matrix with strides `a` and a K x N matrix with strides `b`.
template <class T>
constexpr matmul_variant choose_matmul(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_strides a,
                                       matrix_strides b) {
    if (m == 0 || n == 0) {
        return matmul_variant::nothing;
    }
    if (k == 0) {
        return matmul_variant::zeros;
    }
    if constexpr (!simd_product<T>) {
        return matmul_variant::loops;
    } else {
        if (n == 1) {
            return a.column != 1 && a.row == 1 && m != 1 ? matmul_variant::combined_rows : matmul_variant::dots;
        }
        if (m == 1) {
            return b.column == 1 ? matmul_variant::combined_rows : matmul_variant::dots;
        }
        if (detail::joins_rows<T>(m, n, k, a)) {
            return matmul_variant::joined_rows;
        }
        if (b.column == 1 && m * n * k <= thresholds::tiny_product) {
            return matmul_variant::direct;
        }
        double const direct = detail::cost_of_tiles<T>(m, n, k) + (b.column == 1 ? 0.0 : detail::cost_of_copy<T>(k, n));
        double const transposed = detail::cost_of_tiles<T>(n, m, k) + detail::cost_of_turning<T>(m, n) +
                                  (a.row == 1 ? 0.0 : detail::cost_of_copy<T>(m, k));
        bool const is_transposed = transposed < direct;
        if constexpr (detail::has_panels<T>) {
            if (detail::gains_from_panels<T>(m, n, k, a, b)) {
                return matmul_variant::panels;
            }
        }
        // Tiles stream through B, or through A of the transposed product, where it lies or from a row-major copy.
        bool const packs = detail::gains_from_packing<T>(m, n, k, b.column == 1 ? b.row : n) ||
                           (is_transposed && detail::gains_from_packing<T>(n, m, k, a.row == 1 ? a.column : m));
        if (packs) {
            return matmul_variant::packed;
        }
        return is_transposed ? matmul_variant::transposed : matmul_variant::direct;
    }
}

/// The bytes of workspace that a product of such matrices needs; the workspace is aligned to 64 bytes.
template <class T>
constexpr std::size_t matmul_workspace(matmul_variant variant, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k,
                                       matrix_strides a, matrix_strides b) {
    std::ptrdiff_t elements = 0;
    switch (variant) {
    case matmul_variant::dots:
        if (n == 1) {
            elements = (a.column == 1 ? 0 : m * k) + (b.row == 1 ? 0 : k);
        } else {
            elements = (b.row == 1 ? 0 : n * k) + (a.column == 1 ? 0 : k);
        }
        break;
    case matmul_variant::direct: elements = b.column == 1 ? 0 : k * n; break;
    case matmul_variant::transposed: elements = a.row == 1 ? 0 : k * m; break;
    case matmul_variant::packed: {
        if constexpr (simd_product<T>) {
            detail::packed_blocks<T> const blocks(m, n, k, a);
            elements = blocks.size_of_b(k) + blocks.size_of_a() + blocks.size_of_sums(k);
        }
        break;
    }
    case matmul_variant::panels: {
        if constexpr (detail::has_panels<T>) {
            detail::panel_blocks<T> const blocks(m, k);
            elements = blocks.size_of_b() + blocks.size_of_a(a) + blocks.size_of_sums(n, k);
        }
        break;
    }
    default: break;
    }
    return static_cast<std::size_t>(elements) * sizeof(T);
}

template <class T>
constexpr std::size_t matmul_workspace(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_strides a,
                                       matrix_strides b) {
    return matmul_workspace<T>(choose_matmul<T>(m, n, k, a, b), m, n, k, a, b);
}

} // namespace kernels
} // namespace v0
} // namespace calque
