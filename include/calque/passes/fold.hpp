// SPDX-License-Identifier: MIT
// Constant folding: an operation on constants, computed by the operation's own functor.
#pragma once

#include <calque/graph/value.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

using namespace graph; // passes speak of nodes, values and operations

/// Whether arithmetic on `x` stays far from overflow and underflow, which constant evaluation refuses to compute.
template <class T>
constexpr bool is_moderate(T x) {
    if constexpr (std::is_floating_point_v<T>) {
        T const bound = sizeof(T) == 4 ? T(1e15) : T(1e100);
        T const magnitude = x < 0 ? -x : x;
        return x == T(0) || (magnitude < bound && magnitude > T(1) / bound);
    } else {
        return true;
    }
}

/// The bits of an integer of dtype `type`, from those of a wider one.
constexpr std::uint64_t narrowed(dtype type, std::uint64_t bits) {
    std::size_t const unused = 64 - 8 * size_of(type);
    return bits << unused >> unused;
}

/// An integer of a signed dtype, from its bits.
constexpr std::int64_t signed_value(dtype type, std::uint64_t bits) {
    std::size_t const unused = 64 - 8 * size_of(type);
    return static_cast<std::int64_t>(bits << unused) >> unused;
}

/// Folds `Op` if `code` names it; false if it does not or cannot. Integers of all widths are computed in 64 bits, and
/// wrap around.
template <class Op, class T>
constexpr bool fold_one(op_code code, dtype type, T x, T y, std::uint64_t& result) {
    if (code != code_of<Op>) {
        return false;
    }
    if constexpr (std::is_same_v<Op, ops::divide>) {
        if (std::is_integral_v<T> || y == T(0)) {
            return false;
        }
    }
    if constexpr (std::is_base_of_v<predicate<2>, Op>) {
        result = to_bits<bool>(Op::apply(x, y));
    } else {
        using W = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
        std::uint64_t bits = 0;
        if constexpr (Op::arity == 1) {
            bits = to_bits<W>(Op::apply(static_cast<W>(x)));
        } else if constexpr (!std::is_same_v<Op, ops::divide> || !std::is_integral_v<T>) {
            bits = to_bits<W>(Op::apply(static_cast<W>(x), static_cast<W>(y)));
        }
        result = std::is_integral_v<T> ? narrowed(type, bits) : bits;
    }
    return true;
}

/// `T`: a type that has all numbers of dtype `type`. Four types for eleven dtypes: each of them instantiates all
/// operations.
template <class T, class... Ops>
constexpr bool fold_any(op_list<Ops...>, op_code code, dtype type, T x, T y, std::uint64_t& result) {
    return is_moderate(x) && is_moderate(y) && (fold_one<Ops>(code, type, x, y, result) || ...);
}

/// Calls `fn` with the value of a constant, in one of the four types that have the numbers of all dtypes.
template <class Fn>
constexpr bool with_wide_value(dtype type, std::uint64_t bits, Fn&& fn) {
    switch (type) {
    case dtype::float32: return fn(from_bits<float>(bits));
    case dtype::float64: return fn(from_bits<double>(bits));
    case dtype::int8:
    case dtype::int16:
    case dtype::int32:
    case dtype::int64: return fn(signed_value(type, bits));
    default: return fn(bits);
    }
}

using foldable_ops = op_list<ops::add, ops::subtract, ops::multiply, ops::divide, ops::negative, ops::square,
                             ops::equal, ops::not_equal, ops::less, ops::less_equal, ops::greater, ops::greater_equal>;

} // namespace detail

/// The bits of an operation on constants of dtype `type`; false if only the kernels may compute it.
///
/// Elementary functions are left to them: their bits must be the kernels' own. (`Bits`: 64 of them. A template, as all
/// passes of a program are.)
template <class Bits>
constexpr bool fold(graph::op_code code, dtype type, Bits a, Bits b, Bits& result) {
    constexpr detail::foldable_ops ops{};
    switch (type) {
    case dtype::bool_:
    case dtype::float16:
    case dtype::bfloat16: return false;
    case dtype::float32:
        return detail::fold_any(ops, code, type, graph::from_bits<float>(a), graph::from_bits<float>(b), result);
    case dtype::float64:
        return detail::fold_any(ops, code, type, graph::from_bits<double>(a), graph::from_bits<double>(b), result);
    case dtype::int8:
    case dtype::int16:
    case dtype::int32:
    case dtype::int64:
        return detail::fold_any(ops, code, type, detail::signed_value(type, a), detail::signed_value(type, b), result);
    default: return detail::fold_any(ops, code, type, a, b, result);
    }
}

/// The bits of a constant converted to another dtype; false if the value does not fit.
template <class Bits>
constexpr bool fold_cast(dtype from, dtype to, Bits bits, Bits& result) {
    if (is_half_float(from)) { // to float
        float const x = from == dtype::float16 ? float(graph::from_bits<half>(bits)) : graph::from_bits<bfloat16>(bits);
        result = graph::constant_bits(to, x);
        return true;
    }
    if (is_half_float(to)) { // from float
        result = graph::constant_bits(to, graph::from_bits<float>(bits));
        return true;
    }
    return detail::with_wide_value(from, bits, [&](auto x) {
        using T = decltype(x);
        if (to == dtype::bool_) {
            result = x != T(0);
            return true;
        }
        if (std::is_floating_point_v<T> &&
            !(detail::is_moderate(x) && (is_floating(to) || (x > T(-100) && x < T(100))))) {
            return false;
        }
        switch (to) {
        case dtype::float32: result = graph::to_bits<float>(static_cast<float>(x)); break;
        case dtype::float64: result = graph::to_bits<double>(static_cast<double>(x)); break;
        default: result = detail::narrowed(to, static_cast<std::uint64_t>(static_cast<std::int64_t>(x)));
        }
        return true;
    });
}

} // namespace passes
} // namespace v0
} // namespace calque
