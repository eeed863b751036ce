// SPDX-License-Identifier: MIT
// Products of integers: loops whose inner one is contiguous where the operands allow it. Integer products are rare and
// exact in any order; they get no tiles of their own.
#pragma once

#include <calque/kernels/cpu/matmul_result.hpp>
#include <calque/kernels/cpu/pack_arithmetic.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// Sums wrap around, as they do in NumPy: they are computed without a sign, and in no type narrower than `unsigned`,
/// which promotion would turn into a signed one.
template <class T>
void multiply_by_loops(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix_ref<T> a, matrix_ref<T> b,
                       matmul_result<T> result) {
    using sum_type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    constexpr std::ptrdiff_t chunk = 256;
    sum_type sums[chunk];
    T row[chunk];
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        for (std::ptrdiff_t j = 0; j < n; j += chunk) {
            std::ptrdiff_t const columns = std::min(chunk, n - j);
            if (a.column_stride == 1 && b.row_stride == 1) {
                for (std::ptrdiff_t c = 0; c < columns; ++c) {
                    T const* const x = a.at(i, 0);
                    T const* const y = b.at(0, j + c);
                    sum_type sum = 0;
                    for (std::ptrdiff_t d = 0; d < k; ++d) {
                        sum += static_cast<sum_type>(x[d]) * static_cast<sum_type>(y[d]);
                    }
                    sums[c] = sum;
                }
            } else {
                std::fill_n(sums, columns, sum_type(0));
                for (std::ptrdiff_t d = 0; d < k; ++d) {
                    sum_type const factor = static_cast<sum_type>(*a.at(i, d));
                    T const* const y = b.at(d, j);
                    std::ptrdiff_t c = 0;
                    if constexpr (sizeof(T) == sizeof(sum_type)) {
                        using pack = simd::pack<sum_type, 1>;
                        for (; b.column_stride == 1 && c + pack::size <= columns; c += pack::size) {
                            pack const x = pack::load(reinterpret_cast<sum_type const*>(y + c));
                            (pack::load(sums + c) + pack(factor) * x).store(sums + c);
                        }
                    }
                    for (; c < columns; ++c) {
                        sums[c] += factor * static_cast<sum_type>(y[c * b.column_stride]);
                    }
                }
            }
            std::transform(sums, sums + columns, row, [](sum_type sum) { return static_cast<T>(sum); });
            result.accept(row, columns, i, j, 1, columns);
        }
    }
}

} // namespace detail
} // namespace kernels
} // namespace v0
} // namespace calque
