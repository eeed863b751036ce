// SPDX-License-Identifier: MIT
// Reductions of the elements where a mask is true. What it hides has no influence, on gradients neither, NaN or not.
#pragma once

#include <calque/trace/creation.hpp>
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>

#include <limits>

namespace calque {
inline namespace v0 {
namespace detail {

template <handle X, handle Mask>
constexpr void require_mask() {
    static_assert(std::is_same_v<typename Mask::value_type, bool>,
                  "calque: a mask is an array of bool: a comparison, row_mask<length>(batch)");
}

/// `x` where the mask is true, else `instead`. The mask broadcasts to `x`.
template <handle X, handle Mask>
constexpr X hide(X const& x, Mask const& mask, typename X::value_type instead) {
    require_mask<X, Mask>();
    return where(mask, x, full_like(x, instead));
}

} // namespace detail

/// The sum over some axes of the elements where `mask`, which broadcasts to `x`, is true; 0 of none.
template <int... Axes, handle X, handle Mask>
constexpr auto masked_sum(X const& x, Mask const& mask) {
    return sum<Axes...>(detail::hide(x, mask, typename X::value_type(0)));
}

/// How many elements of the shape of `x` the mask leaves along some axes, in the dtype of `x`.
template <int... Axes, handle X, handle Mask>
constexpr auto masked_count(X const& x, Mask const& mask) {
    return sum<Axes...>(detail::hide(ones_like(x), mask, typename X::value_type(0)));
}

/// The mean over some axes of the elements where `mask` is true; NaN of none. Floating dtypes only.
template <int... Axes, handle X, handle Mask>
constexpr auto masked_mean(X const& x, Mask const& mask) {
    static_assert(floating<typename X::value_type>,
                  "calque: masked_mean takes float or double: write calque::cast<float>(x)");
    return detail::in_float(
        x, [&mask](auto const& v) { return masked_sum<Axes...>(v, mask) / masked_count<Axes...>(v, mask); });
}

/// The largest element where `mask` is true; -infinity, or the lowest integer, of none.
template <int... Axes, handle X, handle Mask>
constexpr auto masked_max(X const& x, Mask const& mask) {
    return max<Axes...>(detail::hide(x, mask, graph::ops::reduce_max::identity<typename X::value_type>));
}

/// The smallest element where `mask` is true; infinity, or the largest integer, of none.
template <int... Axes, handle X, handle Mask>
constexpr auto masked_min(X const& x, Mask const& mask) {
    return min<Axes...>(detail::hide(x, mask, graph::ops::reduce_min::identity<typename X::value_type>));
}

/// softmax over some axes among the elements where `mask` is true; 0 elsewhere, and where it is true for none.
template <int... Axes, handle X, handle Mask>
constexpr auto masked_softmax(X const& x, Mask const& mask) {
    using T = typename X::value_type;
    detail::check_dtype<graph::ops::exp, T>();
    auto const kept = detail::hide(x, mask, std::numeric_limits<T>::lowest());
    auto const weight = detail::hide(exp(kept - stop_gradient(max<Axes...>(kept, keepdims))), mask, T(0));
    auto const total = sum<Axes...>(weight, keepdims);
    return weight * (T(1) / where(total == T(0), ones_like(total), total));
}

} // namespace v0
} // namespace calque
