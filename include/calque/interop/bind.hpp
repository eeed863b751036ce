// SPDX-License-Identifier: MIT
// Binding: from an argument or an output to plain pointers, extents and strides, with the checks that types cannot
// make.
#pragma once

#include <calque/interop/tree_walk.hpp>

namespace calque {
inline namespace v0 {

/// One bound array: what a kernel needs of it. `T` is const for an input.
///
/// Strides are in elements; that of an axis of extent 1 may be anything. If `Contiguous`, every array of the bound type
/// is row-major without gaps, and its strides follow from the extents.
template <class T, int Rank, bool Contiguous>
struct array_ref {
    static constexpr int rank = Rank;
    static constexpr bool contiguous = false;

    T* data;
    extent_t extents[Rank];
    std::int64_t strides[Rank];

    constexpr std::int64_t stride(int axis) const { return strides[axis]; }
};
template <class T, int Rank>
struct array_ref<T, Rank, true> {
    static constexpr int rank = Rank;
    static constexpr bool contiguous = true;

    T* data;
    extent_t extents[Rank];

    constexpr std::int64_t stride(int axis) const {
        std::int64_t step = 1;
        for (int inner = Rank - 1; inner > axis; --inner) {
            step *= extents[inner];
        }
        return step;
    }
};

/// A bound scalar.
template <class T>
struct array_ref<T, 0, true> {
    static constexpr int rank = 0;
    static constexpr bool contiguous = true;

    T* data;
};

/// Whether arrays that both specs describe can exist: equal dtype and rank, and no two different static extents.
template <array_spec A, array_spec B>
constexpr bool are_compatible() {
    if constexpr (A::rank != B::rank || !std::is_same_v<typename A::value_type, typename B::value_type>) {
        return false;
    } else {
        for (int axis = 0; axis < A::rank; ++axis) {
            extent_t const a = A::shape[axis];
            extent_t const b = B::shape[axis];
            if (is_static(a) && is_static(b) && a != b) {
                return false;
            }
        }
        return true;
    }
}

/// Whether a spec says of some axis how long it is. Where it does not, no check of extents is compiled, nor its
/// message.
template <array_spec S>
constexpr bool has_static_extents() {
    bool has = false;
    for (int axis = 0; axis < S::rank; ++axis) {
        has |= is_static(S::shape[axis]);
    }
    return has;
}

namespace detail {

template <class Error = shape_error>
[[noreturn]] CALQUE_COLD void throw_shape_mismatch(std::string const& path, shape const& actual,
                                                   shape const& declared) {
    text message;
    message << "calque: " << path << " has the shape " << actual << ", but " << declared << " is declared: ";
    if (actual.rank != declared.rank) {
        message << "the rank is " << actual.rank << ", not " << declared.rank;
    } else {
        int const axis = first_mismatch(actual, declared);
        message << "extent " << axis << " is " << actual[axis] << ", not " << declared[axis];
    }
    throw Error(message.string());
}

/// The error for arrays that are not as `Where`, which names them, declares.
template <class Where>
struct mismatch_of {
    using type = shape_error;
};
template <class Where>
    requires requires { typename Where::mismatch; }
struct mismatch_of<Where> {
    using type = typename Where::mismatch;
};

/// Names a leaf of an argument. (A class and not a lambda, whose name would hold those of all functions around it.)
template <class Argument, std::size_t Leaf, class Where>
struct leaf_place {
    using mismatch = typename mismatch_of<Where>::type;
    Where const& where;

    std::string operator()() const {
        text place;
        place << where();
        append_leaf_path<Argument>(place, Leaf);
        return place.string();
    }
};

template <class Spec, class A, class Where>
[[noreturn]] CALQUE_COLD void reject(A const& array, Where const& where) {
    using mismatch = typename mismatch_of<Where>::type;
    if constexpr (requires { array_adaptor<A>::actual_shape(array); }) {
        throw_shape_mismatch<mismatch>(where(), array_adaptor<A>::actual_shape(array), Spec::shape);
    } else {
        throw_shape_mismatch<mismatch>(where(), shape_of(array), Spec::shape);
    }
}

template <class A>
constexpr bool has_extents(A const& array, extent_t const* extents) {
    using adaptor = array_adaptor<A>;
    if constexpr (requires { adaptor::matches(array); }) {
        if (!adaptor::matches(array)) {
            return false;
        }
    }
    for (int axis = 0; axis < array_spec_t<A>::rank; ++axis) {
        if (adaptor::extent(array, axis) != extents[axis]) {
            return false;
        }
    }
    return true;
}

template <class A>
CALQUE_COLD void resize_output(A& array, extent_t const* extents) {
    shape wanted;
    for (int axis = 0; axis < array_spec_t<A>::rank; ++axis) {
        wanted.push_back(extents[axis]);
    }
    resize(array, wanted);
}

/// Pointer, extents and strides of an array of which all is known to be right.
template <class Value, class Array>
CALQUE_INLINE constexpr auto refer_to(Array& array) {
    using A = std::remove_const_t<Array>;
    using adaptor = array_adaptor<A>;
    constexpr int rank = array_spec_t<A>::rank;
    if constexpr (rank == 0) {
        return array_ref<Value, 0, true>{adaptor::data(array)};
    } else {
        // Not in a loop: compilers keep what a loop has written in memory, and copy that.
        return [&]<int... Axis>(std::integer_sequence<int, Axis...>) CALQUE_INLINE_LAMBDA {
            if constexpr (is_always_contiguous_v<A>) {
                return array_ref<Value, rank, true>{adaptor::data(array), {adaptor::extent(array, Axis)...}};
            } else {
                return array_ref<Value, rank, false>{
                    adaptor::data(array), {adaptor::extent(array, Axis)...}, {adaptor::stride(array, Axis)...}};
            }
        }(std::make_integer_sequence<int, rank>{});
    }
}

} // namespace detail

/// Binds one leaf of an argument, an array or a number, to `Leaf`: its spec, or its arithmetic type.
///
/// Throws `shape_error`, or `Where::mismatch`, where an array's extents are not the static ones of the spec; the
/// message begins with `where()`, a path such as "argument 0.layers[1].w", which is only made then. (Named extents are
/// compared by the caller, who sees all arguments.) A number is referred to in its own type, whatever the dtype of the
/// leaf.
template <class Leaf, class A, class Where>
CALQUE_INLINE constexpr auto bind_leaf(A const& leaf, Where const& where) {
    if constexpr (arithmetic<A>) {
        if constexpr (array_spec<Leaf>) {
            static_assert(Leaf::rank == 0, "calque: a number is passed where an array is declared");
            static_assert(std::is_same_v<typename detail::canonical<A>::type, typename Leaf::value_type>,
                          "calque: the number's dtype is not the one that is declared for this argument");
        } else {
            static_assert(std::is_same_v<typename detail::canonical<A>::type, Leaf>,
                          "calque: the number's type is not the one that is declared for this argument");
        }
        return array_ref<A const, 0, true>{&leaf};
    } else {
        static_assert(array_spec<Leaf>, "calque: an array is passed where a number is declared");
        using adaptor = array_adaptor<A>;
        using guaranteed = array_spec_t<A>;
        static_assert(std::is_same_v<typename guaranteed::value_type, typename Leaf::value_type>,
                      "calque: the array's dtype is not the one that is declared for this argument");
        static_assert(guaranteed::rank == Leaf::rank, "calque: the array's rank is not the one that is declared");
        static_assert(are_compatible<guaranteed, Leaf>(),
                      "calque: the static extents of the array's type are not the ones that are declared");
        if constexpr (requires { adaptor::matches(leaf); }) {
            if (!adaptor::matches(leaf)) [[unlikely]] {
                detail::reject<guaranteed>(leaf, where);
            }
        }
        if constexpr (has_static_extents<Leaf>()) {
            for (int axis = 0; axis < Leaf::rank; ++axis) {
                if (is_static(Leaf::shape[axis]) && adaptor::extent(leaf, axis) != Leaf::shape[axis]) [[unlikely]] {
                    detail::reject<Leaf>(leaf, where);
                }
            }
        }
        return detail::refer_to<typename Leaf::value_type const>(leaf);
    }
}

/// Binds all leaves of an argument: calls `fn(index, ref)` for each, with a `std::integral_constant` and an
/// `array_ref`.
///
/// `Leaves`: what they are bound to, `tree_leaves_t<Argument>` or the specs of a signature. `where()` names the
/// argument: "argument 0".
template <class Leaves, class Argument, class Where, class Fn>
CALQUE_INLINE constexpr void bind_argument(Argument const& argument, Where const& where, Fn&& fn) {
    static_assert(Leaves::size == tree_size_v<Argument>, "calque: the argument has not the leaves that are declared");
    for_each_indexed_leaf(argument, [&](auto index, auto const& leaf) CALQUE_INLINE_LAMBDA {
        constexpr std::size_t position = decltype(index)::value;
        fn(index, bind_leaf<type_at_t<Leaves, position>>(leaf, detail::leaf_place<Argument, position, Where>{where}));
    });
}

/// Binds an output to a result of `Spec` whose extents are `extents`: resizes it if they differ, or throws
/// `shape_error` if it cannot be resized. A number is referred to as a scalar.
template <array_spec Spec, class A>
CALQUE_INLINE constexpr auto bind_output(A& output, extent_t const* extents) {
    if constexpr (arithmetic<A>) {
        static_assert(Spec::rank == 0, "calque: the result is an array: a number cannot receive it");
        static_assert(std::is_same_v<A, typename Spec::value_type>, "calque: the output's dtype is not the result's");
        return array_ref<A, 0, true>{&output};
    } else {
        static_assert(array_output<A&>, "calque: this output cannot be written to: pass an array that is not const");
        using guaranteed = array_spec_t<A>;
        static_assert(std::is_same_v<typename guaranteed::value_type, typename Spec::value_type>,
                      "calque: the output's dtype is not the result's");
        static_assert(guaranteed::rank == Spec::rank, "calque: the output's rank is not the result's");
        static_assert(are_compatible<guaranteed, Spec>(),
                      "calque: the static extents of the output's type are not the result's");
        if (!detail::has_extents(output, extents)) [[unlikely]] {
            detail::resize_output(output, extents);
        }
        return detail::refer_to<typename Spec::value_type>(output);
    }
}

} // namespace v0
} // namespace calque
