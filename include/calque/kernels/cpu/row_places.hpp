// SPDX-License-Identifier: MIT
// Where the columns of joined rows find what each of these rows has once: in the lanes of one register, which has an
// element of each row.
#pragma once

#include <calque/kernels/cpu/fused_arguments.hpp>
#include <calque/kernels/cpu/pack_memory.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <cstddef>
#include <cstdint>

namespace calque {
inline namespace v0 {
namespace simd {

/// Whether one register of elements `T` can be taken apart in any order.
template <class T>
#if CALQUE_AVX512 || defined(__AVX2__)
inline constexpr bool has_elements_at = sizeof(T) >= sizeof(std::int32_t);
#else
inline constexpr bool has_elements_at = false;
#endif

/// Elements of the register `x`: those that `words` says, by words of 32 bits, from element `j` on.
template <class T, int U>
CALQUE_INLINE pack<T, U> elements_at(reg<T> x, std::int32_t const* words, std::ptrdiff_t j) {
    constexpr std::ptrdiff_t words_each = sizeof(T) / sizeof(std::int32_t);
    std::int32_t const* const first = words + j * words_each;
    return pack<T, U>::generate([&](int i) CALQUE_INLINE_LAMBDA {
        auto const index = load(first + i * lanes<std::int32_t>);
        return bits_as<reg<T>>(words_at(bits_as<reg<std::int32_t>>(x), index));
    });
}

} // namespace simd

namespace kernels {

/// For each column of joined rows, in which of them it is.
class row_places {
public:
    /// How many rows can be joined, of which each has an element of so many bytes.
    static constexpr std::ptrdiff_t most_rows(std::ptrdiff_t element_bytes) {
        return static_cast<std::ptrdiff_t>(sizeof(simd::reg<std::int32_t>)) / element_bytes;
    }

    /// Whether elements of so many bytes can be taken from registers.
    static constexpr bool suit(std::ptrdiff_t element_bytes) {
        return element_bytes >= static_cast<std::ptrdiff_t>(sizeof(std::int32_t));
    }

    /// In words of 32 bits, as `simd::elements_at` takes them. False if there is no room for so many.
    bool fill(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t element_bytes) {
        if (rows * columns * element_bytes > thresholds::bytes_of_row_places) {
            return false;
        }
        constexpr std::ptrdiff_t word = sizeof(std::int32_t);
        std::int32_t* to = words_;
        std::int32_t* const end = words_ + rows * columns * element_bytes / word;
        auto const words = static_cast<std::int32_t>(element_bytes / word);
        simd::reg<std::int32_t> of_row = simd::pack<std::int32_t, 1>::iota(0).r[0] & simd::splat(words - 1);
        for (; to != end; to += columns * words) {
            for (std::ptrdiff_t j = 0; j < columns * words; j += simd::lanes<std::int32_t>) {
                simd::store(to + j, of_row);
            }
            of_row += simd::splat(words);
        }
        for (int behind = 0; behind < 2; ++behind) { // a pack of the widest elements may be looked at there
            simd::store(end + behind * simd::lanes<std::int32_t>, simd::splat(std::int32_t{}));
        }
        return true;
    }

    std::int32_t const* words() const { return words_; }

private:
    static constexpr std::ptrdiff_t most_words = thresholds::bytes_of_row_places / sizeof(std::int32_t);

    alignas(64) std::int32_t words_[most_words + 2 * simd::lanes<std::int32_t>];
};

/// The arguments of a kernel for joined rows some of whose leaves have one element for each of these.
template <int Leaves, int Results>
struct joined_arguments : fused_arguments<Leaves, Results> {
    int rows_in_one = 0;
    std::int32_t const* places = nullptr; // `row_places::words()`

    joined_arguments(fused_arguments<Leaves, Results> const& a, std::ptrdiff_t rows, std::int32_t const* words)
        : fused_arguments<Leaves, Results>(a), rows_in_one(static_cast<int>(rows)), places(words) {}
};

} // namespace kernels
} // namespace v0
} // namespace calque
