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

/// The type in which integers wrap around instead of overflowing.
template <class T>
using wrapping = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::uint64_t, T>;

template <class Op, class T>
constexpr std::uint64_t fold_with(T a, T b) {
    using W = wrapping<T>;
    if constexpr (Op::arity == 1) {
        return to_bits<T>(static_cast<T>(Op::apply(static_cast<W>(a))));
    } else if constexpr (std::is_base_of_v<predicate<2>, Op>) {
        return to_bits<bool>(Op::apply(a, b));
    } else {
        return to_bits<T>(static_cast<T>(Op::apply(static_cast<W>(a), static_cast<W>(b))));
    }
}

/// Folds `Op` if `code` names it; false if it does not or cannot.
template <class Op>
constexpr bool fold_one(op_code code, dtype type, std::uint64_t a, std::uint64_t b, std::uint64_t& result) {
    if (code != code_of<Op>) {
        return false;
    }
    return with_type_of(type, [&]<class T>() {
        if constexpr (contains(Op::accepts, dtype_of<T>) && !std::is_same_v<T, bool>) {
            T const x = from_bits<T>(a);
            T const y = from_bits<T>(b);
            bool const divides = std::is_same_v<Op, ops::divide>;
            if (!is_moderate(x) || !is_moderate(y) || (divides && (y == T(0) || std::is_integral_v<T>))) {
                return false;
            }
            result = fold_with<Op, T>(x, y);
            return true;
        } else {
            return false;
        }
    });
}

template <class... Ops>
constexpr bool fold_any(op_list<Ops...>, op_code code, dtype type, std::uint64_t a, std::uint64_t b,
                        std::uint64_t& result) {
    return (fold_one<Ops>(code, type, a, b, result) || ...);
}

using foldable_ops = op_list<ops::add, ops::subtract, ops::multiply, ops::divide, ops::negative, ops::square, ops::equal,
                             ops::not_equal, ops::less, ops::less_equal, ops::greater, ops::greater_equal>;

} // namespace detail

/// The bits of an operation on constants of dtype `type`; false if only the kernels may compute it.
///
/// Elementary functions are left to them: their bits must be the kernels' own.
constexpr bool fold(graph::op_code code, dtype type, std::uint64_t a, std::uint64_t b, std::uint64_t& result) {
    return detail::fold_any(detail::foldable_ops{}, code, type, a, b, result);
}

/// The bits of a constant converted to another dtype; false if the value does not fit.
constexpr bool fold_cast(dtype from, dtype to, std::uint64_t bits, std::uint64_t& result) {
    return with_type_of(from, [&]<class T>() {
        T const x = graph::from_bits<T>(bits);
        return with_type_of(to, [&]<class U>() {
            if constexpr (std::is_floating_point_v<T> && !std::is_same_v<U, bool>) {
                if (!detail::is_moderate(x) || (std::is_integral_v<U> && !(x > T(-100) && x < T(100)))) {
                    return false;
                }
            }
            result = graph::to_bits<U>(static_cast<U>(x));
            return true;
        });
    });
}

} // namespace passes
} // namespace v0
} // namespace calque
