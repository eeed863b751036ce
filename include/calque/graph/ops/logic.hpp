// SPDX-License-Identifier: MIT
// Comparisons, logic, selection and conversion, elementwise. Comparisons with NaN are false, but for `!=`.
#pragma once

#include <calque/graph/op.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace graph::ops {

#define CALQUE_COMPARISON(id, symbol)                                                                                  \
    struct id : predicate<2> {                                                                                         \
        static constexpr std::string_view name = #id;                                                                  \
        template <class V>                                                                                             \
        static CALQUE_INLINE constexpr auto apply(V x, V y) {                                                          \
            return x symbol y;                                                                                         \
        }                                                                                                              \
    };
CALQUE_COMPARISON(equal, ==)
CALQUE_COMPARISON(not_equal, !=)
CALQUE_COMPARISON(less, <)
CALQUE_COMPARISON(less_equal, <=)
CALQUE_COMPARISON(greater, >)
CALQUE_COMPARISON(greater_equal, >=)
#undef CALQUE_COMPARISON

struct logical_and : predicate<2> {
    static constexpr std::string_view name = "logical_and";
    static constexpr dtype_set accepts = dtype_set::boolean;

    template <class V>
    static CALQUE_INLINE V apply(V x, V y) {
        return x & y;
    }
};

struct logical_or : predicate<2> {
    static constexpr std::string_view name = "logical_or";
    static constexpr dtype_set accepts = dtype_set::boolean;

    template <class V>
    static CALQUE_INLINE V apply(V x, V y) {
        return x | y;
    }
};

struct logical_not : predicate<1> {
    static constexpr std::string_view name = "logical_not";
    static constexpr dtype_set accepts = dtype_set::boolean;

    template <class V>
    static CALQUE_INLINE V apply(V x) {
        return !x;
    }
};

/// The second input where the first is true, else the third.
struct where : elementwise<3> {
    static constexpr std::string_view name = "where";

    static constexpr dtype infer_type(dtype const* inputs, std::uint64_t) { return inputs[1]; }

    template <class M, class V>
    static CALQUE_INLINE V apply(M condition, V x, V y) {
        return select(condition, x, y);
    }
    static constexpr auto vjp(auto dy, auto condition, auto /*x*/, auto /*y*/, auto /*result*/) {
        return std::array{dy.none(), graph::where(condition, dy, zero_of(dy)),
                          graph::where(condition, zero_of(dy), dy)};
    }
};

/// Conversion to another dtype, as static_cast does it. Attribute: the dtype.
struct cast : elementwise<1> {
    static constexpr std::string_view name = "cast";

    static constexpr dtype infer_type(dtype const*, std::uint64_t attribute) { return static_cast<dtype>(attribute); }

    template <class To, class V>
    static auto apply_to(V x) {
        return convert<To>(x);
    }
    static constexpr auto vjp(auto dy, auto x, auto /*y*/) { return graph::cast(dy, x.type()); }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
