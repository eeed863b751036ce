// SPDX-License-Identifier: MIT
// Random numbers: the words of a key, by where they stand, and what distributions make of words. Philox makes them:
// core/philox.hpp. A key is a uint64 scalar. None of these has a derivative.
#pragma once

#include <calque/graph/math.hpp>
#include <calque/graph/op.hpp>

namespace calque {
inline namespace v0 {
namespace graph::ops {

/// Random words: element i, in row-major order, is word i of the key. Attribute: the dtype, uint32 or uint64.
///
/// Inputs: the key, and an array that lends its shape. A word depends on the key and on i alone, so that it is the same
/// wherever the kernels compute it, and an array of more elements begins with the same ones.
struct random_bits : elementwise<2> {
    static constexpr std::string_view name = "random_bits";
    static constexpr dtype_set accepts = dtype_set::word64;
    static constexpr int cost = 40;
    static constexpr bool is_indexed = true;
    static constexpr int first_shape_input = 1;

    static constexpr dtype infer_type(dtype const*, std::uint64_t attribute) { return static_cast<dtype>(attribute); }
    static constexpr shape infer(inference& in) {
        if (in.input(0).rank != 0) {
            in.fail(reason::one_key_needed);
        }
        return in.input(1);
    }

    static constexpr auto batch(auto const& in) {
        return graph::random_bits_each(in.batch(0), in.shape_of_result(), static_cast<dtype>(in.attribute()));
    }

    /// The words from place `first` on, as many as `V` holds.
    template <class V>
    static CALQUE_INLINE V generate(std::uint64_t key, std::uint64_t first) {
        return math::random_bits<V>(key, first);
    }
};

/// The word of 32 bits at a place under a key. What `vmap` makes of `random_bits` where keys differ.
struct random_word32 : elementwise<2> {
    static constexpr std::string_view name = "random_word32";
    static constexpr dtype_set accepts = dtype_set::word64;
    static constexpr int cost = 85;

    static constexpr dtype infer_type(dtype const*, std::uint64_t) { return dtype::uint32; }

    template <class V>
    static auto apply(V key, V place) {
        return math::random_word32(key, place);
    }
};

/// The word of 64 bits at a place under a key.
struct random_word64 : elementwise<2> {
    static constexpr std::string_view name = "random_word64";
    static constexpr dtype_set accepts = dtype_set::word64;
    static constexpr int cost = 85;

    template <class V>
    static V apply(V key, V place) {
        return math::random_word64(key, place);
    }
};

/// The key of a number under another key.
struct derive_key : elementwise<2> {
    static constexpr std::string_view name = "derive_key";
    static constexpr dtype_set accepts = dtype_set::word64;
    static constexpr int cost = 80;

    template <class V>
    static V apply(V key, V number) {
        return math::derive_key(key, number);
    }
};

/// The base of what turns words into numbers: 32 bits become a float, 64 a double.
struct distribution : elementwise<1> {
    static constexpr dtype_set accepts = dtype_set::words;

    static constexpr dtype infer_type(dtype const* inputs, std::uint64_t) {
        return inputs[0] == dtype::uint32 ? dtype::float32 : dtype::float64;
    }
};

/// Uniform in [0, 1): multiples of 2^-24 of the upper bits of a word (double: 2^-53).
struct uniform_of_bits : distribution {
    static constexpr std::string_view name = "uniform_of_bits";
    static constexpr int cost = 3;

    template <class V>
    static auto apply(V bits) {
        return math::uniform_of_bits(bits);
    }
};

/// Uniform in (0, 1], never 0: (n + 1/2) / 2^31, rounded, of the upper 31 bits n (double: 63). Its logarithm is finite.
struct positive_uniform_of_bits : distribution {
    static constexpr std::string_view name = "positive_uniform_of_bits";
    static constexpr int cost = 4;

    template <class V>
    static auto apply(V bits) {
        return math::positive_uniform_of_bits(bits);
    }
};

/// Standard normal numbers, by the inverse of the distribution function.
struct normal_of_bits : distribution {
    static constexpr std::string_view name = "normal_of_bits";
    static constexpr int cost = 80;

    template <class V>
    static auto apply(V bits) {
        return math::normal_of_bits(bits);
    }
};

/// The numbers 0 to n - 1 in the order into which Fisher and Yates's shuffle brings them by n random words.
///
/// Shape: [..., n], of words and of int64 numbers. All orders of a row are equally likely, but for n / 2^64.
struct shuffled_indices : op_defaults {
    static constexpr op_kind kind = op_kind::movement;
    static constexpr std::string_view name = "shuffled_indices";
    static constexpr dtype_set accepts = dtype_set::word64;
    static constexpr int arity = 1;
    static constexpr int cost = 100;

    static constexpr dtype infer_type(dtype const*, std::uint64_t) { return dtype::int64; }
    static constexpr shape infer(inference& in) { return in.input(0); }
    static constexpr auto batch(auto const& in) { return in.again(0); }

    /// Writes the order of a row for words that lie `step` apart. (R. Durstenfeld, CACM 7 (1964); the number below i +
    /// 1 is the upper half of a product: D. Lemire, ACM TOMACS 29 (2019).)
    static void shuffle(std::uint64_t const* words, std::ptrdiff_t step, std::int64_t n, std::int64_t* order) {
        for (std::int64_t i = 0; i < n; ++i) {
            auto const j = static_cast<std::int64_t>(upper_half(words[i * step], static_cast<std::uint64_t>(i) + 1));
            order[i] = i;
            order[i] = order[j];
            order[j] = i;
        }
    }

private:
    __extension__ typedef unsigned __int128 wide;

    static std::uint64_t upper_half(std::uint64_t a, std::uint64_t b) {
        return static_cast<std::uint64_t>(static_cast<wide>(a) * b >> 64);
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
