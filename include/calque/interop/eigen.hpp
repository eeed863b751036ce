// SPDX-License-Identifier: MIT
// Eigen's matrices, arrays, vectors, maps, references, blocks and transposes as arguments and outputs, where they lie.
#pragma once

#include <calque/interop/array_adaptor.hpp>

#include <Eigen/Core>

namespace calque {
inline namespace v0 {

namespace detail {

template <class Derived>
void require_eigen_dense(Eigen::DenseBase<Derived> const&); // `head()` of a vector derives from another object's base

/// A dense object of Eigen with elements in memory: a container, or what `Map`, `Ref`, `block()`, `row()`,
/// `transpose()` and the like make of memory. Sums, products and other expressions have none: `.eval()` them.
template <class A>
concept eigen_dense = requires(A const& a) {
    typename A::Scalar;
    requires element<typename A::Scalar>;
    require_eigen_dense(a);
    requires(A::Flags & Eigen::DirectAccessBit) != 0;
    { a.data() } -> std::convertible_to<typename A::Scalar const*>;
};

/// Containers. Those with an extent that the type does not fix are resized.
template <class A>
concept eigen_container = eigen_dense<A> && std::derived_from<A, Eigen::PlainObjectBase<A>>;

template <class A>
inline constexpr bool is_dense_map_v = eigen_container<A>;
template <class Plain, int Options>
inline constexpr bool is_dense_map_v<Eigen::Map<Plain, Options, Eigen::Stride<0, 0>>> = true;
template <class Of>
inline constexpr bool is_dense_map_v<Eigen::Transpose<Of>> = is_dense_map_v<std::remove_const_t<Of>>;

/// What the compiler knows of an extent of Eigen's.
constexpr extent_t extent_of_eigen(int at_compile_time) {
    return at_compile_time == Eigen::Dynamic ? dyn : static_cast<extent_t>(at_compile_time);
}

/// The extents that a type of Eigen's fixes. What is a vector by its type, a row or a column, has one axis.
template <class A, bool IsVector = A::RowsAtCompileTime == 1 || A::ColsAtCompileTime == 1>
struct eigen_spec {
    using type = spec<typename A::Scalar, extent_of_eigen(A::RowsAtCompileTime), extent_of_eigen(A::ColsAtCompileTime)>;
};
template <class A>
struct eigen_spec<A, true> {
    using type = spec<typename A::Scalar, extent_of_eigen(A::SizeAtCompileTime)>;
};

/// Whether `wanted` rows and columns fit into a container: its fixed extents are these, its greatest ones not less.
template <class A>
constexpr bool eigen_may_become(Eigen::Index rows, Eigen::Index columns) {
    auto const fits = [](Eigen::Index extent, int fixed, int greatest) {
        return fixed != Eigen::Dynamic ? extent == fixed : greatest == Eigen::Dynamic || extent <= greatest;
    };
    return fits(rows, A::RowsAtCompileTime, A::MaxRowsAtCompileTime) &&
           fits(columns, A::ColsAtCompileTime, A::MaxColsAtCompileTime);
}

} // namespace detail

/// `Eigen::MatrixXf` is `spec<float, dyn, dyn>`, `Eigen::Matrix<float, 4, Eigen::Dynamic>` `spec<float, 4, dyn>`,
/// `Eigen::VectorXf` and `Eigen::RowVectorXf` `spec<float, dyn>`. Storage by columns is strides, not a copy.
template <detail::eigen_dense A>
struct array_adaptor<A> {
    using value_type = typename A::Scalar;
    using spec = typename detail::eigen_spec<A>::type;
    static constexpr int rank = spec::rank;
    static constexpr bool contiguous =
        rank == 1 ? int{A::InnerStrideAtCompileTime} == 1 : detail::is_dense_map_v<A> && A::IsRowMajor;
    static constexpr bool column_major = rank == 2 && !A::IsRowMajor && int{A::InnerStrideAtCompileTime} == 1;
    static constexpr bool resizable = detail::eigen_container<A> && !spec::is_static;

    static auto data(A const& a) { return a.data(); }
    static auto data(A& a) { return a.data(); }
    static extent_t extent(A const& a, int axis) {
        if constexpr (rank == 1) {
            return a.size();
        } else {
            return axis == 0 ? a.rows() : a.cols();
        }
    }
    static std::int64_t stride(A const& a, int axis) {
        if constexpr (rank == 1) {
            return a.innerStride();
        } else {
            return axis == 0 ? a.rowStride() : a.colStride();
        }
    }

    static void resize(A& a, shape const& wanted) {
        if constexpr (resizable) {
            Eigen::Index const rows = A::RowsAtCompileTime == 1 ? 1 : wanted[0];
            Eigen::Index const columns = rank == 2 ? wanted[1] : A::RowsAtCompileTime == 1 ? wanted[0] : 1;
            if (detail::eigen_may_become<A>(rows, columns)) {
                a.resize(rows, columns);
                return;
            }
        }
        if (!(shape_of(a) == wanted)) {
            throw_not_resizable(shape_of(a), wanted);
        }
    }
};

} // namespace v0
} // namespace calque
