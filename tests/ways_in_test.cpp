// SPDX-License-Identifier: MIT
// Arrays that are not xtensor's, in and out: raw pointers, fixed arrays of arrays, views like std::mdspan.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include "message_of.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using tests::message_of;

using calque::array_adaptor;
using calque::array_argument;
using calque::array_output;
using calque::array_spec_t;
using calque::array_view;
using calque::dyn;
using calque::shape;
using calque::spec;

template <class A, class S>
constexpr bool guarantees = std::is_same_v<array_spec_t<A>, S>;

/// What C++23's std::mdspan looks like, with one extent that the type knows, in columns.
template <class T>
struct columns_of_three {
    using element_type = T;
    T* elements;
    int columns;

    static constexpr std::size_t rank() { return 2; }
    static constexpr std::size_t static_extent(std::size_t axis) {
        return axis == 0 ? 3 : static_cast<std::size_t>(-1);
    }
    constexpr int extent(std::size_t axis) const { return axis == 0 ? 3 : columns; }
    constexpr int stride(std::size_t axis) const { return axis == 0 ? 1 : 3; }
    constexpr T* data_handle() const { return elements; }
};

static_assert(guarantees<columns_of_three<float const>, spec<float, 3, dyn>>);
static_assert(array_output<columns_of_three<float>> && !array_output<columns_of_three<float const>>);
static_assert(!array_argument<columns_of_three<std::string>>);

static_assert(guarantees<std::array<std::array<float, 3>, 2>, spec<float, 2, 3>>);
static_assert(guarantees<std::array<std::array<std::array<int, 4>, 3>, 2>, spec<int, 2, 3, 4>>);
static_assert(guarantees<double[2][3][4], spec<double, 2, 3, 4>>);
static_assert(guarantees<std::array<float[2], 3>, spec<float, 3, 2>>);
static_assert(guarantees<std::array<float, 0>, spec<float, 0>>);
static_assert(!array_argument<std::array<std::vector<float>, 2>>, "a tuple of vectors");
static_assert(!array_argument<std::array<std::string, 2>>);

using view_of_two = decltype(array_view(std::declval<float*>(), {2, 3}));
static_assert(guarantees<view_of_two, spec<float, dyn, dyn>> && calque::is_always_contiguous_v<view_of_two>);
static_assert(std::is_same_v<decltype(array_view(std::declval<float const*>(), {2u, 3ul}, {1, -2})),
                             array_view<float const, 2, false>>);
static_assert(!calque::is_always_contiguous_v<array_view<float, 2, false>>);
static_assert(array_output<view_of_two> && !array_output<array_view<float const, 2>>);
static_assert(!calque::is_resizable_v<view_of_two>);
static_assert(std::is_same_v<decltype(array_view(std::declval<int*>(), {1, 2, 3, 4, 5, 6, 7, 8})), array_view<int, 8>>);
static_assert(std::is_same_v<decltype(array_view(std::declval<int*>(), {7})), array_view<int, 1>>);
static_assert(
    std::is_same_v<decltype(array_view(std::declval<int*>(), std::array<std::size_t, 2>{})), array_view<int, 2>>);

inline constexpr auto rows = [](auto x) { return calque::sum<-1>(x * x) + 1; };
inline constexpr auto twice = [](auto x) { return x + x; };

} // namespace

TEST_CASE("pointers, row-major and strided") {
    std::vector<float> const numbers = {1, 2, 3, 4, 5, 6};
    std::size_t const columns = 3;
    auto const f = calque::function(rows, calque::signature<spec<float, dyn, dyn>>{}); // one program for all types
    xt::xtensor<float, 1> y = f(array_view(numbers.data(), {2, columns}));
    CHECK(y == xt::xtensor<float, 1>{15, 78});

    y = f(array_view(numbers.data(), {2, 3}, {1, 2})); // by columns: 1 3 5, 2 4 6
    CHECK(y == xt::xtensor<float, 1>{36, 57});
    y = f(array_view(numbers.data() + 5, {3, 2}, {-2, -1})); // from the end: 6 5, 4 3, 2 1
    CHECK(y == xt::xtensor<float, 1>{62, 26, 6});
    y = f(array_view(numbers.data(), std::array{2, 3}, std::array{0, 1})); // one row, twice
    CHECK(y == xt::xtensor<float, 1>{15, 15});
    y = f(array_view(numbers.data() + 3, {2, 3}, {0, 0})); // one number, in all places
    CHECK(y == xt::xtensor<float, 1>{49, 49});

    float out[2]{};
    f.into(array_view(out, {2}), array_view(numbers.data(), {2, 3}));
    CHECK(out[0] == 15.f);
    CHECK(out[1] == 78.f);
    CHECK(f.trace_count() == 1); // for all of them

    std::string const message =
        message_of<calque::error>([&] { f.into(array_view(out, {1}), array_view(numbers.data(), {2, 3})); });
    CHECK(message.find("[1] cannot become [2]") != std::string::npos);

    // The compiler learns the extents where they are said.
    auto const shaped = calque::with_shape<2, 3>(array_view(numbers.data(), {2, 3}));
    static_assert(guarantees<decltype(shaped), spec<float, 2, 3>>);
    CHECK(f(shaped)(1) == 78.f);
    CHECK_THROWS_AS((void)f(calque::with_shape<2, 4>(array_view(numbers.data(), {2, 3}))), calque::error);
}

TEST_CASE("outputs at pointers with strides, and over an argument") {
    std::vector<double> x = {1, 2, 3, 4, 5, 6};
    std::vector<double> y(6);
    auto const f = calque::function(twice);
    f.into(array_view(y.data(), {2, 3}, {1, 2}), array_view(x.data(), {2, 3}));
    CHECK(y == std::vector<double>{2, 8, 4, 10, 6, 12});

    f.into(array_view(x.data() + 5, {6}, {-1}), array_view(x.data(), {6})); // backwards into itself
    CHECK(x == std::vector<double>{12, 10, 8, 6, 4, 2});
}

TEST_CASE("any order of axes: kernels run over memory as it lies, and results do not depend on it") {
    // One elementwise kernel, whose result is viewed too; then kernels that need the rows, or an order that is fixed.
    auto const keeping = calque::function(
        [](auto x, auto y, auto scale) {
            auto z = calque::tanh(x) * y + scale;
            return std::tuple{z, calque::transpose<2, 0, 1>(z), calque::view(z, calque::range(0, 1))};
        },
        calque::signature<spec<float, dyn, dyn, dyn>, spec<float, dyn, dyn, dyn>, float>{});
    auto const losing = calque::function(
        [](auto x, auto y, auto last) {
            return std::tuple{calque::reshape(x - y, 5, 12),
                              calque::sum<-1>(calque::abs(x)) + calque::sum<-1>(y * last)};
        },
        calque::signature<spec<float, dyn, dyn, dyn>, spec<float, dyn, dyn, dyn>, spec<float, dyn>>{});
    std::array const extents = {3, 4, 5};
    std::vector<float> x(60), y(60), last(5);
    for (std::size_t i = 0; i < 60; ++i) {
        x[i] = static_cast<float>(i) / 16.f - 2.f;
        y[i] = static_cast<float>(i * i % 61);
        last[i % 5] = static_cast<float>(i);
    }
    using array3 = xt::xtensor<float, 3>;
    xt::xtensor<float, 3, xt::layout_type::dynamic> z;
    array3 transposed, part;
    xt::xtensor<float, 2> reshaped, sums;
    std::array order = {0, 1, 2}; // of the axes, the outermost first
    do {
        std::array<std::ptrdiff_t, 3> steps{};
        steps[static_cast<std::size_t>(order[2])] = 1;
        steps[static_cast<std::size_t>(order[1])] = extents[static_cast<std::size_t>(order[2])];
        steps[static_cast<std::size_t>(order[0])] = 60 / extents[static_cast<std::size_t>(order[0])];
        auto const view_of_x = array_view(x.data(), extents, steps);
        auto const view_of_y = array_view(y.data(), extents, steps);
        array3 const rows_of_x = xt::adapt(x, extents, steps);
        array3 const rows_of_y = xt::adapt(y, extents, steps);
        array_view<float const, 3, false> const by_rows[] = {{rows_of_x.data(), extents, std::array{20, 5, 1}},
                                                             {rows_of_y.data(), extents, std::array{20, 5, 1}}};

        CHECK(keeping.plan(view_of_x, view_of_y, 0.5f).text().find("copy") == std::string::npos);
        auto const kept = keeping(by_rows[0], by_rows[1], 0.5f);
        z.resize({3, 4, 5}, {steps[0], steps[1], steps[2]});
        keeping.into(std::tie(z, transposed, part), view_of_x, view_of_y, 0.5f);
        CHECK(array3(z) == std::get<0>(kept));
        CHECK(transposed == std::get<1>(kept));
        CHECK(part == std::get<2>(kept));
        CHECK(std::get<0>(keeping(view_of_x, view_of_y, 0.5f)) == std::get<0>(kept));
        CHECK(std::get<0>(keeping(view_of_x, by_rows[1], 0.5f)) == std::get<0>(kept)); // two orders

        auto const lost = losing(by_rows[0], by_rows[1], last);
        losing.into(std::tie(reshaped, sums), view_of_x, view_of_y, last);
        CHECK(reshaped == std::get<0>(lost));
        CHECK(sums == std::get<1>(lost));
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("arrays of arrays") {
    std::array<std::array<double, 3>, 2> const x = {{{1, 2, 3}, {4, 5, 6}}};
    static_assert(calque::is_static_v<decltype(twice), decltype(x)>);
    auto const f = calque::function(twice);
    std::array<std::array<double, 3>, 2> y{};
    f.into(y, x);
    CHECK(y == std::array<std::array<double, 3>, 2>{{{2, 4, 6}, {8, 10, 12}}});

    double c[1][2][2] = {{{1, 2}, {3, 4}}};
    f.into(c, c);
    CHECK(c[0][0][1] == 4);
    CHECK(c[0][1][1] == 8);
    CHECK(array_adaptor<double[1][2][2]>::stride(c, 1) == 2);
    CHECK(message_of<calque::error>([] {
              std::array<std::array<double, 3>, 2> a{};
              array_adaptor<decltype(a)>::resize(a, shape{3, 2});
          }).find("[2,3] cannot become [3,2]") != std::string::npos);
}

TEST_CASE("views like std::mdspan") {
    std::vector<double> numbers = {1, 2, 3, 4, 5, 6};
    std::vector<double> result(6);
    auto const f = calque::function(twice);
    f.into(columns_of_three<double>{result.data(), 2}, columns_of_three<double const>{numbers.data(), 2});
    CHECK(result == std::vector<double>{2, 4, 6, 8, 10, 12});
    CHECK(xt::xtensor<double, 2>(f(columns_of_three<double>{numbers.data(), 2}))(0, 1) == 8);
    CHECK(message_of<calque::error>([&] {
              f.into(columns_of_three<double>{result.data(), 1}, columns_of_three<double>{numbers.data(), 2});
          }).find("[3,1] cannot become [3,2]") != std::string::npos);
}

TEST_CASE("errors of arguments and outputs that do not fit name the function") {
    auto const f = calque::function(twice, {.name = "twice"});
    xt::xarray<double> x = xt::ones<double>({2, 3});
    CHECK(message_of<calque::shape_error>([&] { (void)f(calque::with_shape<dyn, 4>(x)); }) ==
          "calque: twice: argument 0 has the shape [2,3], but [dyn,4] is declared: extent 1 is 3, not 4");
    CHECK(message_of<calque::shape_error>([&] { (void)f(calque::with_rank<3>(x)); }) ==
          "calque: twice: argument 0 has the shape [2,3], but [dyn,dyn,dyn] is declared: the rank is 2, not 3");

    std::vector<double> out(5, 7.);
    std::string const wanted =
        " cannot become [2,3]: views, spans and arrays of fixed size are not resized; pass one of "
        "the right shape, or a container";
    CHECK(message_of<calque::shape_error>([&] { f.into(array_view(out.data(), {1, 5}), calque::with_rank<2>(x)); }) ==
          "calque: twice: an output of shape [1,5]" + wanted);
    CHECK(out == std::vector<double>(5, 7.));
}

TEST_CASE("errors of shapes that only the call knows name what was called") {
    xt::xtensor<double, 2> const x = xt::ones<double>({3, 0});
    auto const row = calque::function([](auto a) { return view(a, 3); }, {.name = "row"});
    CHECK(message_of<calque::shape_error>([&] { (void)row(x); }) ==
          "calque: row: view: the axis has no element of this index: double[3,0]");
    auto const rest =
        calque::function([](auto a) { return calque::squeeze<0>(view(a, calque::range(1, 9))); }, {.name = "rest"});
    CHECK(message_of<calque::shape_error>([&] { (void)rest(x); }) ==
          "calque: rest: squeeze: only an axis of extent 1 can be squeezed: double[2,0]");

    auto const scores = calque::function([](auto a) { return calque::softmax<-1>(a); }, {.name = "scores"});
    std::string const sentence = ", with which softmax and logsumexp begin: it has no value over an empty axis: ";
    CHECK(message_of<calque::shape_error>([&] { (void)scores(x); }) ==
          "calque: scores: max" + sentence + "double[3,0]");
    auto const total = calque::function([](auto a) { return calque::logsumexp<1>(a); }, {.name = "total"});
    CHECK(message_of<calque::shape_error>([&] { (void)total(x); }) == "calque: total: max" + sentence + "double[3,0]");
    auto const largest = calque::function([](auto a) { return calque::max<1>(a); }, {.name = "largest"});
    CHECK(message_of<calque::shape_error>([&] { (void)largest(x); }) ==
          "calque: largest: max: it has no value over an empty axis: double[3,0]");
    auto const place = calque::function([](auto a) { return calque::argmin<1>(a); }, {.name = "place"});
    CHECK(message_of<calque::shape_error>([&] { (void)place(x); }) ==
          "calque: place: min, with which argmin begins: it has no value over an empty axis: double[3,0]");
    auto const best = calque::function([](auto a) { return std::get<0>(calque::top_k<2>(a)); }, {.name = "best"});
    CHECK(message_of<calque::shape_error>([&] { (void)best(x); }) ==
          "calque: best: top_k: the axis has fewer elements: double[3,0]");
    auto const column = calque::function([](auto a) { return sum(view(a, calque::all(), 1)); }, {.name = "column"});
    CHECK(message_of<calque::shape_error>([&] { (void)column(x); }) ==
          "calque: column: view: the axis has no element of this index: double[3,0]");
    auto const put = calque::function([](auto a, auto b) { return a.at(3).set(b); }, {.name = "put"});
    CHECK(message_of<calque::shape_error>([&] { (void)put(x, 7.); }) ==
          "calque: put: at: the axis has no element of this index: double[3,0]");
}

TEST_CASE("of a contracted product and sum the message names the one whose extents differ") {
    xt::xtensor<double, 1> const two = xt::ones<double>({2}), three = xt::ones<double>({3});
    auto const message = [](auto const& body, auto const&... x) {
        return message_of<calque::shape_error>([&] { (void)calque::function(body, {.name = "f"})(x...); });
    };
    auto const plus = [](auto a, auto b, auto c) { return a * b + c; };
    std::string const sentence = ": the extents do not broadcast: double[";
    CHECK(message(plus, two, two, three) == "calque: f: add" + sentence + "2] and double[3]");
    CHECK(message(plus, two, three, three) == "calque: f: multiply" + sentence + "2] and double[3]");
    auto const minus = [](auto a, auto b, auto c) { return a * b - c; };
    CHECK(message(minus, two, two, three) == "calque: f: subtract" + sentence + "2] and double[3]");
    auto const less = [](auto a, auto b, auto c) { return c - a * b; };
    CHECK(message(less, two, two, three) == "calque: f: subtract" + sentence + "3] and double[2]");
}

TEST_CASE("what a call's shapes do not suit is an error, also where it could be left out") {
    xt::xtensor<double, 2> const x = xt::ones<double>({2, 3});
    auto const fails = [&](auto const& body) {
        return message_of<calque::shape_error>([&] { (void)calque::function(body)(x); }) != "nothing thrown";
    };
    CHECK(fails([](auto a) { return calque::expand_dims<1>(calque::squeeze<1>(a)); }));
    CHECK(fails([](auto a) { return reshape(reshape(a, dyn, 4), 2, 3); }));
    CHECK(fails([](auto a) { return a.at(2).add(1); }));
    CHECK(fails([](auto a) { return a.at(calque::all(), -4).set(1); }));
    CHECK(!fails([](auto a) { return a.at(calque::all(), -3).set(1); }));
    CHECK(!fails([](auto a) { return a.at(calque::range(5, 9)).set(1); }));
}

TEST_CASE("errors of parts that only the call finds missing, and of what does not fit them") {
    xt::xtensor<float, 1> const x = xt::ones<float>({5});
    auto const next = calque::function([](auto a) { return view(a, 9) + 1.f; }, {.name = "next"});
    CHECK(message_of<calque::shape_error>([&] { (void)next(x); }) ==
          "calque: next: view: the axis has no element of this index: float[5]");
    auto const set = calque::function([](auto a) { return a.at(9).set(3.f); }, {.name = "set"});
    CHECK(message_of<calque::shape_error>([&] { (void)set(x); }) ==
          "calque: set: at: the axis has no element of this index: float[5]");
    auto const add = calque::function([](auto a, auto b) { return a.at(-6).add(b); }, {.name = "add"});
    CHECK(message_of<calque::shape_error>([&] { (void)add(x, 2.f); }) ==
          "calque: add: at: the axis has no element of this index: float[5]");
    auto const three = calque::function([](auto a) { return a.at(calque::range(2, 4)).set(calque::ones<float>(3)); },
                                        {.name = "three"});
    CHECK(message_of<calque::shape_error>([&] { (void)three(x); }) ==
          "calque: three: at: the extents do not broadcast: float[3] and float[2]");
    auto const put = calque::function([](auto a, auto b) { return a.at(1).add(b); }, {.name = "put"});
    xt::xtensor<float, 2> const matrix = xt::ones<float>({4, 3});
    CHECK(message_of<calque::shape_error>([&] { (void)put(matrix, x); }) ==
          "calque: put: at: the extents do not broadcast: float[5] and float[3]");
    auto const scatter =
        calque::function([](auto a, auto i, auto b) { return scatter_add(a, i, b); }, {.name = "scatter"});
    xt::xtensor<int, 1> const indices{0, 2};
    CHECK(message_of<calque::shape_error>([&] { (void)scatter(x, indices, x); }) ==
          "calque: scatter: scatter_add: the extents do not broadcast: float[5] and float[2]");
}
