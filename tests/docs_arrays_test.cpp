// SPDX-License-Identifier: MIT
// The programs of docs/arrays.md, and the expressions of docs/side_by_side.md: each of them stands here, in a test that
// holds it to what the page says. The last tests find those that do not.
#define EIGEN_DONT_VECTORIZE // g++ 12 warns of its own intrinsics where Eigen uses them
#include <calque/calque.hpp>
#include <calque/dlpack.hpp>
#include <calque/interop/npy.hpp>
#if __has_include(<Eigen/Core>)
#include <calque/eigen.hpp>
#endif

#include "documents.hpp"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

class image { // somebody's: rows of pixels, each row padded
public:
    image(int height, int width) { reset(height, width); }
    void reset(int height, int width) {
        height_ = height, width_ = width, pitch_ = (width + 15) / 16 * 16;
        pixels_.assign(static_cast<std::size_t>(height * pitch_), 0.f);
    }
    int height() const { return height_; }
    int width() const { return width_; }
    int pitch() const { return pitch_; }
    float* pixels() { return pixels_.data(); }
    float const* pixels() const { return pixels_.data(); }

private:
    int height_ = 0, width_ = 0, pitch_ = 0;
    std::vector<float> pixels_;
};

template <>
struct calque::array_adaptor<image> {
    using value_type = float;
    using spec = calque::spec<float, calque::dyn, calque::dyn>;
    static constexpr int rank = 2;

    static float const* data(image const& x) { return x.pixels(); }
    static calque::extent_t extent(image const& x, int axis) { return axis == 0 ? x.height() : x.width(); }
    static std::int64_t stride(image const& x, int axis) { return axis == 0 ? x.pitch() : 1; }

    static constexpr bool resizable = true; // from here on for outputs
    static float* data(image& x) { return x.pixels(); }
    static void resize(image& x, calque::shape const& wanted) {
        x.reset(static_cast<int>(wanted[0]), static_cast<int>(wanted[1]));
    }
};

namespace {

static_assert(calque::array_argument<image> && calque::array_output<image&> && !calque::array_output<image const&>);

TEST_CASE("pointers") {
    auto twice = calque::function([](auto x) { return x + x; });

    std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
    std::vector<float> result(6);
    std::size_t rows = 2, columns = 3;
    twice.into(calque::array_view(result.data(), {rows, columns}),             // row-major
               calque::array_view(numbers.data(), {rows, columns}, {1, rows})); // by columns: strides, in elements
    CHECK(result == std::vector<float>{2, 6, 10, 4, 8, 12});
}

#if __has_include(<Eigen/Core>)
TEST_CASE("Eigen") {
    auto layer = calque::function([](auto x, auto w, auto b) { return calque::tanh(calque::matmul(x, w) + b); });

    Eigen::MatrixXf x = Eigen::MatrixXf::Constant(5, 4, 0.5f);
    Eigen::Matrix<float, 4, 3> w = Eigen::Matrix<float, 4, 3>::Identity(); // static extents
    Eigen::RowVector3f b(1, 2, 3);
    Eigen::MatrixXf y;
    layer.into(y, x, w, b); // y is resized to 5 x 3
    REQUIRE(y.rows() == 5);
    REQUIRE(y.cols() == 3);
    CHECK(y(4, 0) == doctest::Approx(std::tanh(1.5f)));
    CHECK(y(0, 2) == doctest::Approx(std::tanh(3.5f)));
}
#endif

TEST_CASE("half and bfloat16") {
    xt::xtensor<calque::half, 1> h = {calque::half(0.5), calque::half(2)};
    auto squares = calque::function([](auto x) { return x * x; });
    xt::xtensor<calque::half, 1> s = squares(h);
    float quarter = s(0);
    CHECK(quarter == 0.25f);
}

TEST_CASE("DLPack") {
    xt::xtensor<float, 2> y = {{1, 2, 3}, {4, 5, 6}};
    auto* tensor = calque::to_dlpack(std::move(y)); // keeps y's elements; whoever gets it calls its deleter

    calque::any_array a = calque::from_dlpack(tensor); // takes it over: the last copy of `a` deletes it
    auto sum = calque::function([](auto x) { return calque::sum(x); }).dispatch<calque::dtypes<float>, calque::ranks<2>>();
    float s = float(sum(a));
    CHECK(s == 21);
}

TEST_CASE("files") {
    calque::save_npy("weights.npy", xt::xtensor<double, 2>{{1, 2}, {3, 4}});
    calque::any_array w = calque::load_npy("weights.npy"); // dtype and rank are the file's
    auto m = w.as<xt::xtensor<double, 2>>();               // dtype_error or shape_error if they are others
    CHECK(m(1, 0) == 3);
    std::remove("weights.npy");
}

TEST_CASE("an array class of your own") {
    auto blend = calque::function([](auto a, auto b) { return 0.5f * (a + b); });

    image a(2, 3), b(2, 3), mixed(0, 0);
    a.pixels()[a.pitch()] = 4.f; // row 1, column 0
    blend.into(mixed, a, b);
    CHECK(mixed.height() == 2);
    CHECK(mixed.width() == 3);
    CHECK(mixed.pixels()[mixed.pitch()] == 2.f);
    CHECK(mixed.pixels()[0] == 0.f);
}

TEST_CASE("every program of the page is here") {
    CHECK(documents::blocks_that_are_missing("docs/arrays.md", "tests/docs_arrays_test.cpp") == "");
}

// ---- docs/side_by_side.md

/// The expressions of the page's last column, on matrices `a` and `b`, a vector `v` and labels: that they are traced is
/// the test.
inline constexpr auto expressions = [](auto a, auto b, auto v, auto labels) {
    using namespace calque;
    return std::tuple{
        calque::zeros<float>(2, 3),
        calque::arange<float>(10),
        a.extent(0) == 2 ? a * b : a,
        a * b + 1,
        a / v,
        exp(a), tanh(a), sqrt(abs(a)),
        pow(a, 2),
        maximum(a, 0),
        where(a > 0, a, b),
        cast<double>(a),
        matmul(a, transpose(b)),
        matmul(a, v),
        sum(a),
        sum<0>(a),
        mean<-1>(a),
        max<-1>(a, keepdims),
        argmax<-1>(a),
        softmax<-1>(a),
        logsumexp<-1>(a),
        a - expand_dims<-1>(mean<-1>(a)),
        transpose(a),
        reshape(a, 3, 2),
        view(a, all(), 1),
        view(a, range(0, 2), range(1, 3)),
        concatenate<0>(a, b),
        take<0>(a, labels),
        one_hot(labels, 3),
        grad([](auto x) { return sum(x * x); })(a)};
};

static_assert(calque::trace<calque::spec<float, 2, 3>, calque::spec<float, 2, 3>, calque::spec<float, 3>,
                            calque::spec<std::int32_t, 4>>(expressions)
                  .size() > 40);

TEST_CASE("the expressions of the side-by-side page are traced") {
    std::string const source = documents::read("tests/docs_arrays_test.cpp");
    std::string const traced = source.substr(source.find("inline constexpr auto expressions"));
    int rows = 0;
    for (std::string const& line : documents::lines(documents::read("docs/side_by_side.md"))) {
        std::size_t const column = line.rfind(" | ");
        if (!line.starts_with("| ") || column == std::string::npos || line.find('`', column) == std::string::npos) {
            continue;
        }
        std::string const cell = line.substr(column);
        std::size_t const start = cell.find('`') + 1;
        std::string const expression = cell.substr(start, cell.find('`', start) - start);
        INFO(expression);
        CHECK(traced.find(expression) != std::string::npos);
        ++rows;
    }
    CHECK(rows >= 25);
}

} // namespace
