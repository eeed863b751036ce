// SPDX-License-Identifier: MIT
// `Eigen::Tensor`, `TensorFixedSize` and `TensorMap` as arguments and outputs.
//
// They are known by their members, so that this header does not include Eigen's unsupported module: who has tensors
// does.
#pragma once

#include <calque/interop/array_adaptor.hpp>

namespace calque {
inline namespace v0 {

namespace detail {

/// A tensor of Eigen's with elements in memory.
template <class A>
concept eigen_tensor = requires(A const& a) {
    typename A::Scalar;
    requires element<typename A::Scalar>;
    typename A::Dimensions;
    typename A::Index;
    { A::NumIndices } -> std::convertible_to<int>;
    requires A::NumIndices <= max_rank;
    A::Layout;
    { a.dimensions() } -> std::convertible_to<typename A::Dimensions const&>;
    { a.data() } -> std::convertible_to<typename A::Scalar const*>;
};

/// The extents that a tensor's list of dimensions fixes: those of `Eigen::Sizes<2, 3>`.
template <class T, int Rank, class Dimensions>
struct tensor_spec : dynamic_spec<T, std::make_index_sequence<static_cast<std::size_t>(Rank)>> {};
template <class T, int Rank, template <std::ptrdiff_t...> class Sizes, std::ptrdiff_t... Extents>
struct tensor_spec<T, Rank, Sizes<Extents...>> {
    using type = spec<T, static_cast<extent_t>(Extents)...>;
};

} // namespace detail

/// Storage by columns, which is Eigen's default, is strides, not a copy. `Eigen::Tensor` is resized.
template <detail::eigen_tensor A>
struct array_adaptor<A> {
    using value_type = typename A::Scalar;
    using spec = typename detail::tensor_spec<value_type, A::NumIndices, typename A::Dimensions>::type;
    static constexpr int rank = spec::rank;
    static constexpr bool contiguous = rank < 2 || static_cast<int>(A::Layout) == 1; // 1: Eigen::RowMajor
    static constexpr bool column_major = !contiguous;
    static constexpr bool resizable =
        !spec::is_static && requires(A& a, typename A::Dimensions const& d) { a.resize(d); };

    static auto data(A const& a) { return a.data(); }
    static auto data(A& a) { return a.data(); }
    static extent_t extent(A const& a, int axis) {
        if constexpr (spec::is_static) {
            return spec::shape[axis];
        } else {
            return static_cast<extent_t>(a.dimensions()[static_cast<std::size_t>(axis)]);
        }
    }
    static std::int64_t stride(A const& a, int axis) {
        std::int64_t step = 1;
        for (int i = contiguous ? axis + 1 : 0; i < (contiguous ? rank : axis); ++i) {
            step *= extent(a, i);
        }
        return step;
    }

    static void resize(A& a, shape const& wanted) {
        if constexpr (resizable) {
            typename A::Dimensions extents;
            for (int axis = 0; axis < rank; ++axis) {
                extents[static_cast<std::size_t>(axis)] = static_cast<typename A::Index>(wanted[axis]);
            }
            a.resize(extents);
        } else if (!(shape_of(a) == wanted)) {
            throw_not_resizable(shape_of(a), wanted);
        }
    }
};

} // namespace v0
} // namespace calque
