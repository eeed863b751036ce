// SPDX-License-Identifier: MIT
// Reductions over a set of axes, which keep extent 1 in the graph; `squeeze` drops them where the user wants that.
#pragma once

#include <calque/graph/math.hpp>
#include <calque/graph/op.hpp>

#include <limits>

namespace calque {
inline namespace v0 {
namespace graph::ops {

/// The sum; 0 over an empty axis. (Integers and bool are cast to int64 before.)
struct sum : reduction {
    static constexpr std::string_view name = "sum";
    static constexpr dtype_set accepts = dtype_set::numbers;

    template <class T>
    static constexpr T identity = T(0);
    template <class V>
    CALQUE_INLINE static constexpr V combine(V x, V y) {
        return x + y;
    }
    static constexpr shape infer(inference& in) { return infer_reduction(in, true); }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return graph::broadcast_like(dy, x); }
};

/// The largest element; NaN if there is one. Equal largest elements share the gradient.
struct reduce_max : reduction {
    static constexpr std::string_view name = "max";
    static constexpr dtype_set accepts = dtype_set::numbers;
    static constexpr int cost = 3;
    static constexpr bool rounds = false;

    template <class T>
    static constexpr T identity =
        std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    template <class V>
    CALQUE_INLINE static V combine(V x, V y) {
        return math::maximum(x, y);
    }
    static constexpr shape infer(inference& in) { return infer_reduction(in, false); }
    static constexpr auto vjp(auto dy, auto x, auto y) {
        auto const hits = graph::cast(x == y, x.type());
        return hits * (dy / graph::sum(hits, y.attribute()));
    }
};

/// The smallest element; NaN if there is one. Equal smallest elements share the gradient.
struct reduce_min : reduction {
    static constexpr std::string_view name = "min";
    static constexpr dtype_set accepts = dtype_set::numbers;
    static constexpr int cost = 3;
    static constexpr bool rounds = false;

    template <class T>
    static constexpr T identity =
        std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    template <class V>
    CALQUE_INLINE static V combine(V x, V y) {
        return math::minimum(x, y);
    }
    static constexpr shape infer(inference& in) { return infer_reduction(in, false); }
    static constexpr auto vjp(auto dy, auto x, auto y) { return reduce_max::vjp(dy, x, y); }
};

/// The product; 1 over an empty axis. (Integers and bool are cast to int64 before.)
struct reduce_product : reduction {
    static constexpr std::string_view name = "prod";
    static constexpr dtype_set accepts = dtype_set::numbers;

    template <class T>
    static constexpr T identity = T(1);
    template <class V>
    CALQUE_INLINE static constexpr V combine(V x, V y) {
        return x * y;
    }
    static constexpr shape infer(inference& in) { return infer_reduction(in, true); }
    static constexpr auto vjp(auto dy, auto x, auto y) { return graph::product_gradient(dy, x, y.attribute()); }
};

/// The smallest of some indices; over an empty axis, the largest integer.
struct first_index : reduction {
    static constexpr std::string_view name = "first_index";
    static constexpr dtype_set accepts = dtype_set::integers;

    template <class T>
    static constexpr T identity = std::numeric_limits<T>::max();
    template <class V>
    CALQUE_INLINE static V combine(V x, V y) {
        return math::minimum(x, y);
    }
    static constexpr shape infer(inference& in) { return infer_reduction(in, true); }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
