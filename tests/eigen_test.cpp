// SPDX-License-Identifier: MIT
// Eigen's matrices, vectors, maps, blocks and tensors, in and out.
#define EIGEN_DONT_VECTORIZE // g++ 12 warns of its own intrinsics where Eigen uses them; what is expected need not be
                             // fast
#include <calque/calque.hpp>
#include <calque/eigen.hpp>

#include <Eigen/Geometry>
#include <unsupported/Eigen/CXX11/Tensor>

#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <type_traits>

namespace {

using calque::array_argument;
using calque::array_output;
using calque::array_spec_t;
using calque::dyn;
using calque::is_always_contiguous_v;
using calque::is_resizable_v;
using calque::shape;
using calque::spec;

template <class A, class S>
constexpr bool guarantees = std::is_same_v<array_spec_t<A>, S>;

using Eigen::MatrixXf;
using by_rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using of_three_columns = Eigen::Matrix<double, Eigen::Dynamic, 3>;

static_assert(guarantees<MatrixXf, spec<float, dyn, dyn>> && !is_always_contiguous_v<MatrixXf>);
static_assert(guarantees<by_rows, spec<float, dyn, dyn>> && is_always_contiguous_v<by_rows>);
static_assert(guarantees<of_three_columns, spec<double, dyn, 3>> && is_resizable_v<of_three_columns>);
static_assert(guarantees<Eigen::Matrix4d, spec<double, 4, 4>> && !is_resizable_v<Eigen::Matrix4d>);
static_assert(guarantees<Eigen::ArrayXXi, spec<std::int32_t, dyn, dyn>>);
static_assert(guarantees<Eigen::VectorXf, spec<float, dyn>> && is_always_contiguous_v<Eigen::VectorXf>);
static_assert(guarantees<Eigen::RowVector3f, spec<float, 3>> && is_always_contiguous_v<Eigen::RowVector3f>);
static_assert(guarantees<Eigen::Ref<MatrixXf const>, spec<float, dyn, dyn>>);
static_assert(is_always_contiguous_v<Eigen::Transpose<MatrixXf>> && !is_always_contiguous_v<Eigen::Transpose<by_rows>>);
static_assert(is_always_contiguous_v<Eigen::Map<by_rows const>>);
static_assert(!is_always_contiguous_v<Eigen::Map<by_rows, 0, Eigen::OuterStride<>>>);
static_assert(!array_output<Eigen::Map<MatrixXf const>&> && array_output<Eigen::Map<MatrixXf>&>);
static_assert(!array_output<MatrixXf const&> && array_output<MatrixXf&>);
static_assert(!array_argument<decltype(std::declval<MatrixXf>() + std::declval<MatrixXf>())>, "no elements in memory");
static_assert(!array_argument<Eigen::MatrixXcf>);

using tensor = Eigen::Tensor<float, 3>;
static_assert(guarantees<tensor, spec<float, dyn, dyn, dyn>> && is_resizable_v<tensor>);
static_assert(!is_always_contiguous_v<tensor> && is_always_contiguous_v<Eigen::Tensor<float, 3, Eigen::RowMajor>>);
static_assert(guarantees<Eigen::TensorFixedSize<float, Eigen::Sizes<2, 3>>, spec<float, 2, 3>>);
static_assert(guarantees<Eigen::TensorMap<tensor>, spec<float, dyn, dyn, dyn>>);
static_assert(!is_resizable_v<Eigen::TensorMap<tensor>>);

inline constexpr auto mixed = [](auto x, auto w, auto b) {
    auto y = calque::matmul(x, w) + b;
    return std::tuple{y, calque::sum<0>(y), x * x - 1};
};

template <class A>
std::string message_of_resize(A&& array, shape const& wanted) {
    try {
        calque::array_adaptor<std::remove_cvref_t<A>>::resize(array, wanted);
    } catch (calque::shape_error const& e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST_CASE("matrices by columns, vectors and blocks") {
    auto const f = calque::function(mixed, {.shapes = calque::shape_policy::dynamic});
    MatrixXf const x = MatrixXf::Random(5, 4);
    MatrixXf const w = MatrixXf::Random(4, 3);
    Eigen::RowVectorXf const b = Eigen::RowVectorXf::Random(3);
    MatrixXf const expected = (x * w).rowwise() + b;

    MatrixXf y; // resized
    Eigen::VectorXf sums;
    Eigen::ArrayXXf squares;
    f.into(std::tie(y, sums, squares), x, w, b);
    CHECK(y.isApprox(expected));
    CHECK(sums.isApprox(expected.colwise().sum().transpose()));
    CHECK(squares.isApprox(x.array().square() - 1.f));

    // Into parts of a matrix; what is around them stays.
    MatrixXf big = MatrixXf::Zero(9, 8);
    auto block = big.block(1, 2, 5, 3);
    auto row = big.row(8).head(3);
    auto corner = big.topRightCorner(5, 2);
    f.into(std::tie(block, row, squares), x, w, b);
    CHECK(MatrixXf(block).isApprox(expected));
    CHECK(row.isApprox(expected.colwise().sum()));
    CHECK(big.topLeftCorner(1, 8).isZero(0.f));
    CHECK(big(8, 3) == 0.f);
    CHECK(message_of_resize(corner, {5, 3}) != "");
}

TEST_CASE("maps, references, transposes and parts are read where they lie") {
    auto const f = calque::function([](auto x) { return calque::sum<0>(x * x); },
                                    calque::signature<spec<float, dyn, dyn>>{}); // one program for all types
    MatrixXf const x = MatrixXf::Random(5, 4);
    MatrixXf const transposed = x.transpose();
    by_rows const rows = x;
    Eigen::VectorXf const expected = x.colwise().squaredNorm();
    Eigen::VectorXf y;
    f.into(y, Eigen::Map<by_rows const>(rows.data(), 5, 4));
    CHECK(y.isApprox(expected));
    f.into(y, transposed.transpose());
    CHECK(y.isApprox(expected));
    f.into(y, Eigen::Ref<MatrixXf const>(x));
    CHECK(y.isApprox(expected));
    f.into(y, x.block(1, 1, 3, 2));
    CHECK(y.isApprox(x.block(1, 1, 3, 2).colwise().squaredNorm().transpose()));
    float const* const second = x.data() + 1;
    f.into(y, Eigen::Map<MatrixXf const, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>(second, 2, 4, {5, 2}));
    CHECK(y(3) == doctest::Approx(x(1, 3) * x(1, 3) + x(3, 3) * x(3, 3)));
}

TEST_CASE("elementwise over arrays by columns, into themselves and into others") {
    auto const f = calque::function([](auto a, auto b) { return calque::tanh(a) * b + 1; },
                                    calque::signature<spec<float, dyn, dyn>, spec<float, dyn, dyn>>{});
    Eigen::ArrayXXf a = Eigen::ArrayXXf::Random(37, 21);
    Eigen::ArrayXXf const b = Eigen::ArrayXXf::Random(37, 21);
    Eigen::ArrayXXf const expected = a.tanh() * b + 1.f;
    Eigen::ArrayXXf y;
    f.into(y, a, b);
    CHECK(y.isApprox(expected));
    by_rows rows;
    f.into(rows, a, b);
    CHECK(rows.array().isApprox(expected));
    xt::xtensor<float, 2> const result = f(a, b);
    CHECK(result(36, 20) == y(36, 20));
    CHECK(result(3, 7) == y(3, 7));
    f.into(a, a, b);
    CHECK(a.isApprox(expected));
    Eigen::ArrayXXf square = b.topLeftCorner(20, 20);
    auto transposed = square.transpose(); // the output is the first argument, transposed
    f.into(transposed, square, b.topLeftCorner(20, 20));
    CHECK(Eigen::ArrayXXf(square.transpose()).isApprox(b.topLeftCorner(20, 20).tanh() * b.topLeftCorner(20, 20) + 1.f));
}

TEST_CASE("a product of matrices by columns is one by columns") {
    auto const f = calque::function([](auto a, auto b) { return calque::matmul(a, b); },
                                    calque::signature<spec<float, dyn, dyn>, spec<float, dyn, dyn>>{});
    MatrixXf const a = MatrixXf::Random(37, 21);
    MatrixXf const b = MatrixXf::Random(21, 5);
    CHECK(f.plan(a, b).text().find("5 x 37 over 21") != std::string::npos); // B^T A^T
    MatrixXf y;
    f.into(y, a, b);
    CHECK(y.isApprox(a * b));
    by_rows rows;
    f.into(rows, a, b);
    CHECK(rows == y);
    f.into(y, a, b.leftCols(1)); // a column lies by rows as well
    CHECK(y.isApprox(a * b.leftCols(1)));
}

TEST_CASE("coordinates of points that are columns") {
    auto cross = calque::function([](auto p, auto q) {
        auto const x = view(p, 0), y = view(p, 1), z = view(p, 2), u = view(q, 0), v = view(q, 1), w = view(q, 2);
        return std::tuple{y * w - z * v, z * u - x * w, x * v - y * u};
    });
    for (Eigen::Index const n : {1, 3, 4, 5, 15, 16, 17, 33, 100}) {
        CAPTURE(n);
        Eigen::Matrix3Xd const p = Eigen::Matrix3Xd::Random(3, n), q = Eigen::Matrix3Xd::Random(3, n);
        Eigen::ArrayXd x(n), y(n), z(n);
        cross.into(std::tie(x, y, z), p, q);
        bool are_close = true;
        for (Eigen::Index i = 0; i < n; ++i) {
            are_close &= (p.col(i).cross(q.col(i)) - Eigen::Vector3d(x(i), y(i), z(i))).norm() < 1e-12;
        }
        CHECK(are_close);
    }
}

TEST_CASE("fixed sizes are static extents") {
    auto const f = calque::function([](auto x) { return x + x; });
    Eigen::Vector4d const x(1, 2, 3, 4);
    Eigen::Vector4d y;
    f.into(y, x);
    CHECK(y == Eigen::Vector4d(2, 4, 6, 8));
    CHECK(f.trace_count() == 0);
    static_assert(calque::is_static_v<decltype([](auto a) { return a + a; }), Eigen::Matrix3f>);
}

TEST_CASE("tensors") {
    auto const f = calque::function([](auto x) { return calque::sum<-1>(calque::exp(x)); },
                                    calque::signature<spec<float, dyn, dyn, dyn>>{});
    tensor x(2, 3, 4);
    x.setRandom();
    Eigen::Tensor<float, 2> const expected = x.exp().sum(Eigen::array<int, 1>{2});
    Eigen::Tensor<float, 2> y;
    f.into(y, x);
    REQUIRE(y.dimension(0) == 2);
    REQUIRE(y.dimension(1) == 3);
    Eigen::TensorFixedSize<float, Eigen::Sizes<2, 3>> fixed;
    f.into(fixed, Eigen::TensorMap<tensor const>(x.data(), 2, 3, 4));
    for (Eigen::Index i = 0; i < 6; ++i) {
        CHECK(y(i % 2, i / 2) == doctest::Approx(expected(i % 2, i / 2)));
        CHECK(fixed(i % 2, i / 2) == y(i % 2, i / 2));
    }
}

TEST_CASE("what is not resized says so") {
    CHECK(message_of_resize(of_three_columns(1, 3), {4, 3}) == "");
    CHECK(message_of_resize(of_three_columns(1, 3), {4, 2}).find("[1,3] cannot become [4,2]") != std::string::npos);
    CHECK(message_of_resize(Eigen::Matrix<float, Eigen::Dynamic, 1, 0, 5, 1>(2), {5}) == "");
    CHECK(message_of_resize(Eigen::Matrix<float, Eigen::Dynamic, 1, 0, 5, 1>(2), {6}).find("[6]") != std::string::npos);
    CHECK(message_of_resize(Eigen::Matrix3f(), {3, 2}).find("[3,3] cannot become [3,2]") != std::string::npos);
    MatrixXf x = MatrixXf::Zero(4, 4);
    CHECK(message_of_resize(x.block(0, 0, 2, 2), {2, 3}).find("[2,2] cannot become [2,3]") != std::string::npos);
    Eigen::TensorFixedSize<float, Eigen::Sizes<2, 3>> fixed;
    fixed.setZero();
    CHECK(message_of_resize(fixed, {2, 2}).find("[2,3] cannot become [2,2]") != std::string::npos);
}
