// SPDX-License-Identifier: MIT
// Random numbers: pure functions of a key and of a shape. docs/random.md says what they guarantee.
//
//     auto noisy = calque::function([](auto key, auto x) { return x + calque::random::normal_like(key, x); });
//     auto y = noisy(calque::random::key(42), x);
#pragma once

#include <calque/interop/random_key.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace calque {
inline namespace v0 {
namespace random {
namespace detail {

using calque::detail::meeting;

/// A key of a trace; a variable that is one reads as what it is worth.
template <class K>
inline constexpr bool is_traced_key =
    std::same_as<K, basic_key<traced>> || std::same_as<K, basic_key<traced_variables>>;

/// Fails to compile, with a sentence, where `K` is no key of a trace.
template <class K>
constexpr bool require_key() {
    static_assert(!std::same_as<K, key>, "calque: random: inside of a traced function keys are traced: pass the key as "
                                         "an argument, f(calque::random::key(seed), x), and use what the body gets");
    static_assert(is_traced_key<K> || std::same_as<K, key>,
                  "calque: random: the first argument is a key: pass a calque::random::key to the traced function");
    return is_traced_key<K>;
}

template <class T>
constexpr bool require_floating() {
    constexpr bool is_floating = std::same_as<T, float> || std::same_as<T, double> || half_float<T>;
    static_assert(is_floating,
                  "calque: random: this distribution has floating numbers: uniform<float>(key, extents...)");
    return is_floating;
}

/// The dtype that numbers are drawn in. Those of half-float dtypes are float numbers, rounded.
template <class T>
using drawn_as = std::conditional_t<half_float<T>, float, T>;

/// The words that numbers of type `T` are made of.
template <class T>
using word_for = std::conditional_t<sizeof(drawn_as<T>) == 4, std::uint32_t, std::uint64_t>;

/// Random words in the shape of `like`, a value of the same graph.
template <class Word>
constexpr graph::value bits_like(graph::value key, graph::value like) {
    return graph::apply<graph::ops::random_bits>(static_cast<std::uint64_t>(dtype_of<Word>), key, like);
}

/// Random words in a shape that is known.
template <class Word, class K, extent_argument... Extents>
constexpr expr<Word> bits_of_shape(K const& k, Extents... extents) {
    graph::value const v = k.bits.value();
    if (((calque::detail::listed_extent(extents) < 0) || ...)) {
        v.owner->fail(graph::reason::extents_not_known, graph::code_of<graph::ops::random_bits>, &v.id, 1);
    }
    shape const known{std::max<extent_t>(calque::detail::listed_extent(extents), 0)...};
    return expr<Word>(bits_like<Word>(v, graph::broadcast_to(graph::zero_of(v), known)), k.bits.shared());
}

/// Random words in the shape of an array.
template <class Word, class K, handle X>
constexpr expr<Word> bits_of_array(K const& k, X const& x) {
    meeting const at(k.bits, x);
    return at.wrap<expr<Word>>(bits_like<Word>(at.import(k.bits), at.import(x)));
}

/// Numbers of a distribution from words. Uniform ones of few bits are rounded down: never to 1.
template <class Op, class T>
constexpr expr<T> distribute(expr<word_for<T>> const& words) {
    expr<drawn_as<T>> const numbers(graph::apply<Op>(0, words.value()), words.shared());
    if constexpr (!half_float<T>) {
        return numbers;
    } else if constexpr (std::same_as<Op, graph::ops::uniform_of_bits>) {
        constexpr float count = static_cast<float>(1 << std::numeric_limits<T>::digits);
        return cast<T>(floor(numbers * count) * (1 / count));
    } else {
        return cast<T>(numbers);
    }
}

/// A bound of a range: extents are integers, so these are not.
template <class X>
concept bound = handle<X> || std::floating_point<X>;

template <class T, bound Low, bound High>
constexpr expr<T> stretch(expr<T> const& u, Low const& low, High const& high) {
    return u * (high - low) + low;
}

/// -log(-log(u)), whose maximum of several, each moved by a logit, chooses in proportion to the logits' exponentials.
///
/// As -log(-log(1 - u)), so that the large values, which decide, are as fine as floating numbers near 0.
template <class T, class K, handle X>
constexpr expr<T> gumbel_like(K const& k, X const& x) {
    using positive = graph::ops::positive_uniform_of_bits;
    return -log(-log1p(-distribute<positive, T>(bits_of_array<word_for<T>>(k, x))));
}

} // namespace detail

/// The key of a number under a key: of a step, say. `number`: an integer, or a traced scalar of an integer dtype.
template <class K, class Number>
    requires(!std::same_as<K, key>)
constexpr basic_key<traced> fold_in(K const& k, Number const& number) {
    static_assert(operand<Number> && std::integral<calque::detail::element_of_t<Number>>,
                  "calque: random: fold_in takes an integer beside the key");
    if constexpr (detail::require_key<K>()) {
        detail::meeting const at(k.bits, number);
        graph::value const n = at.template import <std::uint64_t>(number);
        return {at.template wrap<expr<std::uint64_t>>(graph::apply<graph::ops::derive_key>(0, at.import(k.bits), n))};
    }
}

/// `N` new keys, which replace the old one. (`auto [a, b] = split(key);`)
template <std::size_t N = 2, class K>
    requires(!std::same_as<K, key>)
constexpr auto split(K const& k) {
    if constexpr (detail::require_key<K>()) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::array<basic_key<traced>, N>{fold_in(k, I)...};
        }(std::make_index_sequence<N>{});
    }
}

/// Random words. dtype: uint32 or uint64. Shape: the extents.
template <class Word = std::uint32_t, class K, extent_argument... Extents>
constexpr auto bits(K const& k, Extents... extents) {
    static_assert(std::same_as<Word, std::uint32_t> || std::same_as<Word, std::uint64_t>,
                  "calque: random: bits are uint32 or uint64: bits<std::uint32_t>(key, extents...)");
    if constexpr (detail::require_key<K>()) {
        return detail::bits_of_shape<Word>(k, extents...);
    }
}

/// Uniform numbers in [0, 1). Shape: the extents, which are integers.
template <element T = float, class K, extent_argument... Extents>
constexpr auto uniform(K const& k, Extents... extents) {
    if constexpr (detail::require_key<K>() && detail::require_floating<T>()) {
        return detail::distribute<graph::ops::uniform_of_bits, T>(
            detail::bits_of_shape<detail::word_for<T>>(k, extents...));
    }
}

/// Uniform numbers from `low` on and below `high`, but for rounding. The bounds are floating numbers or traced values;
/// their shape and the extents broadcast.
template <element T = float, class K, detail::bound Low, detail::bound High, extent_argument... Extents>
constexpr auto uniform(K const& k, Low const& low, High const& high, Extents... extents) {
    if constexpr (detail::require_key<K>() && detail::require_floating<T>()) {
        return detail::stretch(uniform<T>(k, extents...), low, high);
    }
}

/// Uniform numbers in [0, 1), with the shape and dtype of `x`.
template <class K, handle X>
constexpr auto uniform_like(K const& k, X const& x) {
    using T = typename X::value_type;
    if constexpr (detail::require_key<K>() && detail::require_floating<T>()) {
        return detail::distribute<graph::ops::uniform_of_bits, T>(detail::bits_of_array<detail::word_for<T>>(k, x));
    }
}

/// The same from `low` on and below `high`, but for rounding.
template <class K, handle X, operand Low, operand High>
constexpr auto uniform_like(K const& k, X const& x, Low const& low, High const& high) {
    if constexpr (detail::require_key<K>() && detail::require_floating<typename X::value_type>()) {
        return uniform_like(k, x) * (high - low) + low;
    }
}

/// Numbers of the standard normal distribution. Shape: the extents.
template <element T = float, class K, extent_argument... Extents>
constexpr auto normal(K const& k, Extents... extents) {
    if constexpr (detail::require_key<K>() && detail::require_floating<T>()) {
        return detail::distribute<graph::ops::normal_of_bits, T>(
            detail::bits_of_shape<detail::word_for<T>>(k, extents...));
    }
}

/// Numbers of the standard normal distribution, with the shape and dtype of `x`.
template <class K, handle X>
constexpr auto normal_like(K const& k, X const& x) {
    using T = typename X::value_type;
    if constexpr (detail::require_key<K>() && detail::require_floating<T>()) {
        return detail::distribute<graph::ops::normal_of_bits, T>(detail::bits_of_array<detail::word_for<T>>(k, x));
    }
}

namespace detail {

/// The dtype in which a probability is compared.
template <class P>
using probability_t = std::conditional_t<calque::detail::is_expr<P>, calque::detail::element_of_t<P>, float>;

/// An array in the dtype in which it is compared with what is drawn.
template <operand X>
constexpr auto as_drawn(X const& x) {
    if constexpr (calque::detail::is_expr<X> && half_float<calque::detail::element_of_t<X>>) {
        return cast<float>(x);
    } else {
        return x;
    }
}

} // namespace detail

/// True with probability `p`, a number or an array of them. Shape: that of `p` and of the extents, broadcast.
template <class K, operand P, extent_argument... Extents>
constexpr auto bernoulli(K const& k, P const& p, Extents... extents) {
    using T = detail::drawn_as<detail::probability_t<P>>;
    if constexpr (detail::require_key<K>() && detail::require_floating<T>()) {
        if constexpr (handle<P> && sizeof...(Extents) == 0) {
            return detail::distribute<graph::ops::uniform_of_bits, T>(
                       detail::bits_of_array<detail::word_for<T>>(k, p)) < detail::as_drawn(p);
        } else {
            return uniform<T>(k, extents...) < detail::as_drawn(p);
        }
    }
}

/// True with probability `p`, in the shape of `x`.
template <class K, operand P, handle X>
constexpr auto bernoulli_like(K const& k, P const& p, X const& x) {
    using T = detail::drawn_as<detail::probability_t<P>>;
    if constexpr (detail::require_key<K>() && detail::require_floating<T>()) {
        return detail::distribute<graph::ops::uniform_of_bits, T>(detail::bits_of_array<detail::word_for<T>>(k, x)) <
               detail::as_drawn(p);
    }
}

/// An index along the last axis, chosen with a probability in proportion to exp(logits). dtype: int64.
///
/// Shape: that of the logits without the last axis. A logit of -infinity is never chosen. (Gumbel's trick.)
template <class K, handle X>
constexpr auto categorical(K const& k, X const& logits) {
    using T = typename X::value_type;
    if constexpr (detail::require_key<K>() && detail::require_floating<T>()) {
        return argmax<-1>(detail::as_drawn(logits) + detail::gumbel_like<detail::drawn_as<T>>(k, logits));
    }
}

namespace detail {

constexpr expr<std::int64_t> shuffle(expr<std::uint64_t> const& words) {
    return expr<std::int64_t>(graph::apply<graph::ops::shuffled_indices>(0, words.value()), words.shared());
}

} // namespace detail

/// The numbers 0 to n - 1 in a random order. dtype: int64; n is known to the compiler.
template <class K>
constexpr auto permutation(K const& k, extent_argument auto n) {
    if constexpr (detail::require_key<K>()) {
        return detail::shuffle(detail::bits_of_shape<std::uint64_t>(k, n));
    }
}

/// The indices along the first axis of `x` in a random order: `take<0>(x, permutation_like(key, x))` shuffles it.
template <class K, handle X>
constexpr auto permutation_like(K const& k, X const& x) {
    if constexpr (detail::require_key<K>()) {
        graph::value const v = x.value();
        if (v.rank() == 0) {
            v.owner->fail(graph::reason::rank_too_low, graph::code_of<graph::ops::shuffled_indices>, &v.id, 1);
        }
        expr<std::int64_t> const like(graph::indices_along(v, 0, dtype::int64), x.shared());
        return detail::shuffle(detail::bits_of_array<std::uint64_t>(k, like));
    }
}

} // namespace random
} // namespace v0
} // namespace calque
