// SPDX-License-Identifier: MIT
// How every operation on handles is made: agree on a dtype, bring the operands into one graph, add the node.
#pragma once

#include <calque/trace/expr.hpp>

namespace calque {
inline namespace v0 {

// The requirements that messages name, with their types.
template <class T, class U>
inline constexpr bool same_dtype = std::is_same_v<T, U>;
template <class Array, class Number>
inline constexpr bool takes_number = floating<Array> || !floating<Number>;
template <class Op, element T>
inline constexpr bool takes_dtype = contains(Op::accepts, dtype_of<computed_t<T>>);

namespace detail {

template <class X>
struct element_of {
    using type = typename canonical<X>::type;
};
template <handle X>
struct element_of<X> {
    using type = typename X::value_type;
};
template <>
struct element_of<axis_extent> {
    using type = extent_t;
};
template <class X>
using element_of_t = typename element_of<X>::type;

template <class T>
struct dtype_tag {
    using type = T;
};

/// The dtype of an operation's arrays; numbers and weak scalars take it, whichever side they stand on.
template <class Op, class First, class... Rest>
consteval auto common_element(dtype_tag<First>, dtype_tag<Rest>...) {
    if constexpr (sizeof...(Rest) == 0) {
        return dtype_tag<element_of_t<First>>{};
    } else {
        using T = typename decltype(common_element<Op>(dtype_tag<Rest>{}...))::type;
        using U = element_of_t<First>;
        constexpr bool rest_is_array = (is_expr<Rest> || ...);
        if constexpr (is_expr<First> && rest_is_array) {
            static_assert(same_dtype<U, T>,
                          "calque: the arrays have different dtypes: write calque::cast<...>(x) on one of them");
            return dtype_tag<U>{};
        } else if constexpr (is_expr<First> || rest_is_array) {
            using Array = std::conditional_t<is_expr<First>, U, T>;
            using Number = std::conditional_t<is_expr<First>, T, U>;
            static_assert(
                takes_number<Array, Number>,
                "calque: an integer array meets a floating number: write calque::cast<float>(x), or an integer");
            return dtype_tag<Array>{};
        } else {
            using common = std::common_type_t<computed_t<T>, computed_t<U>>;
            return dtype_tag<std::conditional_t<std::is_same_v<T, U>, T, typename canonical<common>::type>>{};
        }
    }
}

template <class Op, class... X>
using common_element_t = typename decltype(common_element<Op>(dtype_tag<X>{}...))::type;

/// The handle for a result of dtype `T`: weak if no operand was an array.
template <class T, class... X>
using result_t = std::conditional_t<(is_expr<X> || ...) || std::is_same_v<T, bool>, expr<T>, weak_expr<T>>;

/// The one graph in which operands meet: that of the trace, if one of them belongs to it.
class meeting {
public:
    template <class... X>
    constexpr explicit meeting(X const&... operands) {
        (consider(operands), ...);
    }

    constexpr graph::builder& owner() const { return *owner_; }

    /// An operand as a value of this graph, with dtype `T`.
    template <class T, class X>
    constexpr graph::value import(X const& x) const {
        if constexpr (handle<X>) {
            graph::value const v = import(x);
            if constexpr (std::is_same_v<typename X::value_type, T>) {
                return v;
            } else {
                return graph::cast(v, dtype_of<T>);
            }
        } else if constexpr (std::same_as<X, axis_extent>) {
            return graph::element_count(import(x.array()), graph::axis_set{1} << x.axis(), dtype_of<T>);
        } else {
            return {owner_, owner_->constant(dtype_of<T>, graph::to_bits<T>(static_cast<T>(x)))};
        }
    }

    template <class X>
        requires(handle<X> || std::same_as<X, handle_base>)
    constexpr graph::value import(X const& x) const {
        graph::value const v = x.value();
        if (v.owner == owner_) {
            return v;
        }
        x.shared()->move_to(*owner_, shared_);
        return x.value();
    }

    template <class Handle>
    constexpr Handle wrap(graph::value v) const {
        return Handle(v, shared_);
    }

private:
    template <class X>
    constexpr void consider(X const& x) {
        if constexpr (handle<X> || std::same_as<X, handle_base>) {
            if (owner_ == nullptr || (shared_ != nullptr && x.shared() == nullptr)) {
                owner_ = x.value().owner;
                shared_ = x.shared();
            }
        } else if constexpr (std::same_as<X, axis_extent>) {
            consider(x.array());
        }
    }

    graph::builder* owner_ = nullptr;
    shared_builder* shared_ = nullptr;
};

template <class Op, class T>
constexpr void check_dtype() {
    if constexpr (contains(Op::accepts, dtype::float32)) {
        static_assert(takes_dtype<Op, T>,
                      "calque: the operation does not take this dtype: write calque::cast<float>(x)");
    } else if constexpr (contains(Op::accepts, dtype::int32)) {
        static_assert(takes_dtype<Op, T>, "calque: the operation takes integers: write calque::cast<std::int32_t>(x)");
    } else {
        static_assert(takes_dtype<Op, T>, "calque: the operation takes bool: write what is to hold, as in x != 0");
    }
}

/// An elementwise operation on handles and numbers.
template <class Op, class... X>
constexpr auto apply_elementwise(X const&... x) {
    using T = common_element_t<Op, X...>;
    check_dtype<Op, T>();
    constexpr dtype input = dtype_of<T>;
    constexpr dtype output = Op::infer_type(&input, 0);
    meeting const at(x...);
    return at.wrap<result_t<type_of<output>, X...>>(graph::apply<Op>(0, at.import <T>(x)...));
}

/// A handle of the same kind (weak or not) as `X` with dtype `T`.
template <class X, class T>
using like_t = result_t<T, X>;

/// What `compute` makes of `x`, whose dtype it has. Numbers of two bytes are float meanwhile: the result is rounded
/// once.
template <handle X>
constexpr X in_float(X const& x, auto compute) {
    using T = typename X::value_type;
    if constexpr (half_float<T>) {
        auto const y = compute(like_t<X, float>(graph::cast(x.value(), dtype::float32), x.shared()));
        return X(graph::cast(y.value(), dtype_of<T>), y.shared());
    } else {
        return compute(x);
    }
}

} // namespace detail
} // namespace v0
} // namespace calque
