// SPDX-License-Identifier: MIT
// Copies of runs of bytes, one or many of the same length: short ones would spend their time in calls of memcpy, and in
// L1 those of some KiB are faster in registers than the instruction that glibc repeats.
#pragma once

#include <calque/kernels/cpu/loaded_once.hpp>
#include <calque/kernels/cpu/rolled.hpp>
#include <calque/kernels/cpu/thresholds.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// `Bytes` bytes that lie anywhere.
template <int Bytes>
struct chunk {
    using value = simd::vec<std::uint8_t, Bytes>;
    typedef std::uint8_t in_memory
        __attribute__((vector_size(static_cast<std::size_t>(Bytes) * sizeof(std::uint8_t)), aligned(1), may_alias));

    static CALQUE_INLINE void copy(std::byte* to, std::byte const* from) {
        value bytes = simd::bits_as<value>(*reinterpret_cast<in_memory const*>(from));
        if constexpr (Bytes >= 16) {
            simd::keep_in_register(bytes); // no loop is a call of memcpy again
        }
        *reinterpret_cast<in_memory*>(to) = simd::bits_as<in_memory>(bytes);
    }
};

/// A run of at least a chunk, whose last chunk may overlap the one before it.
template <int Chunk>
CALQUE_INLINE void copy_run_by(std::byte* to, std::byte const* from, std::ptrdiff_t bytes) {
    CALQUE_ROLLED
    for (std::ptrdiff_t i = 0; i + Chunk < bytes; i += Chunk) {
        chunk<Chunk>::copy(to + i, from + i);
    }
    chunk<Chunk>::copy(to + bytes - Chunk, from + bytes - Chunk);
}

template <int Chunk>
CALQUE_NOINLINE void copy_runs_by(std::byte* to, std::ptrdiff_t to_step, std::byte const* from,
                                  std::ptrdiff_t from_step, std::ptrdiff_t runs, std::ptrdiff_t bytes) {
    CALQUE_ROLLED
    for (std::ptrdiff_t r = 0; r < runs; ++r) {
        copy_run_by<Chunk>(to + r * to_step, from + r * from_step, bytes);
    }
}

/// Runs of at most a chunk, from where they lie no closer to one behind the other, each written once or, if `Repeats`,
/// `times` times. Each is copied as a whole chunk, and what that writes too much is written again by the next: all but
/// the last runs. Returns how many were read.
template <int Chunk, bool Repeats = false>
CALQUE_NOINLINE std::ptrdiff_t pack_short_runs(std::byte* to, std::byte const* from, std::ptrdiff_t from_step,
                                               std::ptrdiff_t runs, std::ptrdiff_t bytes, std::ptrdiff_t times = 1) {
    std::ptrdiff_t r = 0;
    for (std::ptrdiff_t rest = runs * bytes; rest >= Chunk; rest -= bytes) { // of the target no less is left
        for (std::ptrdiff_t k = 0; k < (Repeats ? times : 1); ++k) {
            chunk<Chunk>::copy(to, from);
            to += bytes;
        }
        from += from_step;
        ++r;
    }
    return r;
}

/// Whether a run is copied to a little behind a multiple of 4 KiB from where it is.
inline bool is_slow_for_memcpy(std::byte const* to, std::byte const* from) {
    auto const apart = reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
    std::size_t const past = apart % thresholds::bytes_that_memcpy_counts_by;
    return past > 0 && past < thresholds::bytes_past_that_are_slow_for_memcpy;
}

} // namespace detail

/// Copies a run that does not overlap the place it is copied to; none, from or to nowhere, is right.
inline void copy_bytes(std::byte* to, std::byte const* from, std::size_t bytes) {
    constexpr std::ptrdiff_t chunk = sizeof(simd::reg<float>);
    auto const n = static_cast<std::ptrdiff_t>(bytes);
    if (n >= thresholds::least_bytes_in_registers &&
        (n <= thresholds::most_bytes_in_registers || detail::is_slow_for_memcpy(to, from))) {
        detail::chunk<chunk>::copy(to, from);
        auto const into_chunk = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(to) % chunk);
        std::ptrdiff_t const aligned = chunk - into_chunk;
        detail::copy_run_by<chunk>(to + aligned, from + aligned, n - aligned);
    } else if (n != 0) {
        std::memcpy(to, from, bytes);
    }
}

/// Copies runs of `bytes` bytes, whose beginnings lie `to_step` and `from_step` bytes apart.
inline void copy_runs(std::byte* to, std::ptrdiff_t to_step, std::byte const* from, std::ptrdiff_t from_step,
                      std::ptrdiff_t runs, std::ptrdiff_t bytes) {
    constexpr std::ptrdiff_t widest = sizeof(simd::reg<float>);
    constexpr std::ptrdiff_t half = widest > 16 ? widest / 2 : widest;
    if (to_step == bytes && from_step >= bytes && bytes > 4 && bytes <= widest) {
        std::ptrdiff_t const packed = bytes <= 8    ? detail::pack_short_runs<8>(to, from, from_step, runs, bytes)
                                      : bytes <= 16 ? detail::pack_short_runs<16>(to, from, from_step, runs, bytes)
                                      : bytes <= half
                                          ? detail::pack_short_runs<half>(to, from, from_step, runs, bytes)
                                          : detail::pack_short_runs<widest>(to, from, from_step, runs, bytes);
        to += packed * to_step;
        from += packed * from_step;
        runs -= packed;
    }
    if (bytes >= thresholds::least_bytes_in_registers) {
        for (std::ptrdiff_t r = 0; r < runs; ++r) {
            copy_bytes(to + r * to_step, from + r * from_step, static_cast<std::size_t>(bytes));
        }
    } else if (bytes >= widest) {
        detail::copy_runs_by<widest>(to, to_step, from, from_step, runs, bytes);
    } else if (bytes >= half) {
        detail::copy_runs_by<half>(to, to_step, from, from_step, runs, bytes);
    } else if (bytes >= 16) {
        detail::copy_runs_by<16>(to, to_step, from, from_step, runs, bytes);
    } else if (bytes >= 8) {
        detail::copy_runs_by<8>(to, to_step, from, from_step, runs, bytes);
    } else if (bytes >= 4) {
        detail::copy_runs_by<4>(to, to_step, from, from_step, runs, bytes);
    } else {
        detail::copy_runs_by<1>(to, to_step, from, from_step, runs, bytes);
    }
}

/// Runs that are repeated fill two registers at most.
inline constexpr std::ptrdiff_t most_bytes_of_repeated_runs = 2 * sizeof(simd::reg<float>);

/// Copies such runs of `bytes` bytes, each `times` times to places without gaps; from where they lie no closer to one
/// behind the other.
inline void repeat_runs(std::byte* to, std::byte const* from, std::ptrdiff_t from_step, std::ptrdiff_t runs,
                        std::ptrdiff_t bytes, std::ptrdiff_t times) {
    constexpr std::ptrdiff_t widest = sizeof(simd::reg<float>);
    if (bytes > widest) {
        for (std::ptrdiff_t r = 0; r < runs; ++r) {
            for (std::ptrdiff_t k = 0; k < times; ++k) {
                detail::copy_run_by<widest>(to + (r * times + k) * bytes, from + r * from_step, bytes);
            }
        }
        return;
    }
    std::ptrdiff_t const read = bytes <= 4   ? detail::pack_short_runs<4, true>(to, from, from_step, runs, bytes, times)
                                : bytes <= 8 ? detail::pack_short_runs<8, true>(to, from, from_step, runs, bytes, times)
                                : bytes <= 16
                                    ? detail::pack_short_runs<16, true>(to, from, from_step, runs, bytes, times)
                                    : detail::pack_short_runs<widest, true>(to, from, from_step, runs, bytes, times);
    for (std::ptrdiff_t r = read; r < runs; ++r) {
        copy_runs(to + r * times * bytes, bytes, from + r * from_step, 0, times, bytes);
    }
}

} // namespace kernels
} // namespace v0
} // namespace calque
