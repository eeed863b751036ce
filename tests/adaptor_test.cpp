// SPDX-License-Identifier: MIT
#include <calque/core/compatibility_xtensor_expressions.hpp>
#include <calque/interop/span.hpp>
#include <calque/interop/with_shape.hpp>
#include <calque/interop/xtensor.hpp>

#include <doctest/doctest.h>

#include <complex>
#include <string>

namespace {

using calque::array_adaptor;
using calque::array_argument;
using calque::array_output;
using calque::array_spec_t;
using calque::dyn;
using calque::extent_t;
using calque::shape;
using calque::spec;

template <class A, class S>
constexpr bool guarantees = std::is_same_v<array_spec_t<A>, S>;

static_assert(guarantees<xt::xtensor<float, 2>, spec<float, dyn, dyn>>);
static_assert(guarantees<xt::xtensor<double, 0>, spec<double>>);
static_assert(guarantees<xt::xtensor<float, 2, xt::layout_type::column_major> const&, spec<float, dyn, dyn>>);
static_assert(guarantees<xt::xtensor_fixed<bool, xt::xshape<2, 3>>, spec<bool, 2, 3>>);
static_assert(guarantees<std::vector<std::int32_t>, spec<std::int32_t, dyn>>);
static_assert(guarantees<std::span<float const>, spec<float, dyn>>);
static_assert(guarantees<std::span<double, 3>, spec<double, 3>>);
static_assert(guarantees<std::array<float, 4>, spec<float, 4>>);
static_assert(guarantees<float[5], spec<float, 5>>);
static_assert(guarantees<float[2][3], spec<float, 2, 3>>);

static_assert(!array_argument<xt::xarray<float>>);
static_assert(!array_argument<std::vector<bool>>);
static_assert(!array_argument<std::vector<std::string>>);
static_assert(!array_argument<xt::xtensor<std::complex<float>, 1>>);
static_assert(!array_argument<float>);
static_assert(calque::is_array_of_run_time_rank_v<xt::xarray<float>>);
static_assert(!calque::is_array_of_run_time_rank_v<xt::xtensor<float, 1>>);

using sum_of_tensors = decltype(std::declval<xt::xtensor<float, 1>&>() + std::declval<xt::xtensor<float, 1>&>());
static_assert(!array_argument<sum_of_tensors> && calque::is_unevaluated_expression_v<sum_of_tensors>);
static_assert(!calque::is_unevaluated_expression_v<xt::xtensor<float, 1>>);

static_assert(array_output<xt::xtensor<float, 2>&> && !array_output<xt::xtensor<float, 2> const&>);
static_assert(array_output<std::span<float>> && array_output<std::span<float> const&>);
static_assert(!array_output<std::span<float const>>);
static_assert(array_output<std::vector<float>&> && !array_output<std::vector<float> const&>);
static_assert(array_output<float (&)[3]> && !array_output<float const (&)[3]>);

static_assert(calque::is_always_contiguous_v<xt::xtensor<float, 2>>);
static_assert(calque::is_always_contiguous_v<xt::xtensor_fixed<float, xt::xshape<2, 3>>>);
static_assert(!calque::is_always_contiguous_v<xt::xtensor<float, 2, xt::layout_type::column_major>>);
static_assert(!calque::is_always_contiguous_v<xt::xtensor<float, 2, xt::layout_type::dynamic>>);

/// The element at `indices`, found as a kernel finds it.
template <class A, class... I>
auto element_at(A&& array, I... indices) {
    using adaptor = array_adaptor<std::remove_cvref_t<A>>;
    static_assert(sizeof...(I) == adaptor::rank);
    std::int64_t offset = 0;
    int axis = 0;
    ((offset += static_cast<std::int64_t>(indices) * adaptor::stride(array, axis++)), ...);
    return adaptor::data(array)[offset];
}

template <class A>
std::string message_of_resize(A&& array, shape const& wanted) {
    try {
        array_adaptor<std::remove_cvref_t<A>>::resize(array, wanted);
    } catch (calque::shape_error const& e) {
        return e.what();
    }
    return "";
}

bool names_both(std::string const& message, char const* first, char const* second) {
    return message.find(first) != std::string::npos && message.find(second) != std::string::npos;
}

/// The numbers 0, 1, 2, ... in `rows` x `columns`.
xt::xtensor<float, 2> numbers(std::size_t rows, std::size_t columns) {
    xt::xtensor<float, 2> x({rows, columns});
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = static_cast<float>(i);
    }
    return x;
}

} // namespace

TEST_CASE("containers of every layout are read where they lie") {
    auto const x = numbers(2, 3);
    CHECK(calque::shape_of(x) == shape{2, 3});
    CHECK(array_adaptor<xt::xtensor<float, 2>>::data(x) == x.data());
    CHECK(element_at(x, 1, 2) == 5.f);

    xt::xtensor<float, 2, xt::layout_type::column_major> const columns = x;
    CHECK(array_adaptor<xt::xtensor<float, 2, xt::layout_type::column_major>>::stride(columns, 1) == 2);
    CHECK(element_at(columns, 1, 2) == 5.f);
    CHECK(element_at(columns, 0, 1) == 1.f);

    xt::xtensor_fixed<float, xt::xshape<2, 2>> const fixed = {{1.f, 2.f}, {3.f, 4.f}};
    CHECK(element_at(fixed, 1, 0) == 3.f);
    xt::xtensor<float, 0> const scalar(7.f);
    CHECK(element_at(scalar) == 7.f);
}

TEST_CASE("views are read where they lie") {
    auto x = numbers(4, 5);
    auto const block = xt::view(x, xt::range(1, 3), xt::range(2, 5));
    static_assert(guarantees<decltype(block), spec<float, dyn, dyn>>);
    CHECK(calque::shape_of(block) == shape{2, 3});
    CHECK(element_at(block, 0, 0) == 7.f);
    CHECK(element_at(block, 1, 2) == 14.f);

    auto const column = xt::view(x, xt::all(), 3);
    static_assert(guarantees<decltype(column), spec<float, dyn>>);
    CHECK(element_at(column, 2) == 13.f);
    CHECK(element_at(xt::row(x, 2), 4) == 14.f);

    auto const backwards = xt::view(x, 0, xt::range(4, xt::placeholders::_, -2));
    CHECK(calque::shape_of(backwards) == shape{3});
    CHECK(element_at(backwards, 1) == 2.f);

    auto const with_axis = xt::view(x, xt::newaxis(), xt::range(2, 4), 1);
    static_assert(guarantees<decltype(with_axis), spec<float, dyn, dyn>>);
    CHECK(element_at(with_axis, 0, 1) == 16.f);

    auto const transposed = xt::transpose(x);
    static_assert(guarantees<decltype(transposed), spec<float, dyn, dyn>>);
    CHECK(calque::shape_of(transposed) == shape{5, 4});
    CHECK(element_at(transposed, 3, 2) == 13.f);

    auto const of_view = xt::view(block, 1, xt::range(1, 3));
    CHECK(element_at(of_view, 1) == 14.f);

    auto const gathered = xt::view(x, xt::keep(0, 3), 1);
    static_assert(!array_argument<decltype(gathered)> &&
                  calque::is_unevaluated_expression_v<std::remove_const_t<decltype(gathered)>>);

    xt::xarray<float> unranked = x;
    auto const strided = xt::strided_view(x, {1, xt::ellipsis()});
    static_assert(calque::is_array_of_run_time_rank_v<std::remove_const_t<decltype(strided)>>);
    CHECK(element_at(calque::with_rank<1>(strided), 2) == 7.f);
    CHECK(element_at(calque::with_rank<1>(xt::view(unranked, 2)), 2) == 12.f);
}

TEST_CASE("adapted buffers are read and written where they lie") {
    std::vector<float> buffer = {0.f, 1.f, 2.f, 3.f, 4.f, 5.f};
    auto adapted = xt::adapt(buffer, std::array<std::size_t, 2>{2, 3});
    static_assert(guarantees<decltype(adapted), spec<float, dyn, dyn>>);
    static_assert(array_output<decltype(adapted)&>);
    CHECK(element_at(adapted, 1, 1) == 4.f);
    CHECK(names_both(message_of_resize(adapted, {3, 2}), "[2,3]", "[3,2]"));
    CHECK(message_of_resize(adapted, {2, 3}).empty());

    float raw[4] = {1.f, 2.f, 3.f, 4.f};
    auto foreign = xt::adapt(&raw[0], 4, xt::no_ownership(), std::array<std::size_t, 2>{2, 2});
    static_assert(guarantees<decltype(foreign), spec<float, dyn, dyn>>);
    array_adaptor<decltype(foreign)>::data(foreign)[3] = 9.f;
    CHECK(raw[3] == 9.f);

    std::vector<float> const constant = buffer;
    auto const readable = xt::adapt(constant, std::array<std::size_t, 1>{6});
    static_assert(array_argument<decltype(readable)> && !array_output<decltype(readable)&>);
    CHECK(element_at(readable, 5) == 5.f);
}

TEST_CASE("the standard library's arrays") {
    std::vector<float> const v = {1.f, 2.f, 3.f};
    CHECK(calque::shape_of(v) == shape{3});
    CHECK(element_at(v, 2) == 3.f);
    CHECK(element_at(std::span<float const>(v), 1) == 2.f);
    std::array<double, 2> const a = {4., 5.};
    CHECK(element_at(a, 1) == 5.);
    float const c[2][3] = {{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}};
    CHECK(element_at(c, 1, 0) == 4.f);
    CHECK(array_adaptor<float[2][3]>::extent(c, 1) == 3);
}

TEST_CASE("containers are resized, others say both shapes") {
    xt::xtensor<float, 2> x({2, 3});
    CHECK(message_of_resize(x, {4, 5}).empty());
    CHECK(calque::shape_of(x) == shape{4, 5});
    std::vector<float> v;
    CHECK(message_of_resize(v, {3}).empty());
    CHECK(v.size() == 3);

    xt::xtensor_fixed<float, xt::xshape<2>> fixed;
    CHECK(message_of_resize(fixed, {2}).empty());
    CHECK(names_both(message_of_resize(fixed, {3}), "[2]", "[3]"));
    CHECK(names_both(message_of_resize(std::span<float>(v), {7}), "[3]", "[7]"));
    CHECK(names_both(message_of_resize(xt::view(x, 1), {7}), "[5]", "[7]"));
    std::array<float, 2> a{};
    CHECK(names_both(message_of_resize(a, {1}), "[2]", "[1]"));
    float c[2]{};
    CHECK(names_both(message_of_resize(c, {1}), "[2]", "[1]"));
}

TEST_CASE("with_rank and with_shape") {
    xt::xarray<float> unranked = numbers(2, 3);
    auto ranked = calque::with_rank<2>(unranked);
    static_assert(guarantees<decltype(ranked), spec<float, dyn, dyn>>);
    using adaptor = array_adaptor<decltype(ranked)>;
    CHECK(adaptor::matches(ranked));
    CHECK(adaptor::data(ranked) == unranked.data());
    CHECK(element_at(ranked, 1, 2) == 5.f);
    static_assert(array_output<decltype(ranked)&>);
    adaptor::resize(ranked, {4, 1});
    CHECK(unranked.dimension() == 2);
    CHECK(unranked.shape()[0] == 4);

    xt::xarray<float> const constant = numbers(2, 3);
    auto three_axes = calque::with_rank<3>(constant);
    CHECK(!array_adaptor<decltype(three_axes)>::matches(three_axes));
    CHECK(array_adaptor<decltype(three_axes)>::actual_shape(three_axes) == shape{2, 3});
    static_assert(!array_output<decltype(three_axes)&>);

    constexpr extent_t batch = calque::dim("batch");
    auto shaped = calque::with_shape<batch, 3>(constant);
    static_assert(guarantees<decltype(shaped), spec<float, batch, 3>>);
    CHECK(array_adaptor<decltype(shaped)>::matches(shaped));
    CHECK(calque::shape_of(shaped) == shape{2, 3});
    auto wrong = calque::with_shape<batch, 4>(constant);
    CHECK(!array_adaptor<decltype(wrong)>::matches(wrong));

    // What the type knows stays known; a temporary is kept alive.
    xt::xtensor_fixed<float, xt::xshape<2>> const fixed = {1.f, 2.f};
    static_assert(guarantees<decltype(calque::with_rank<1>(fixed)), spec<float, 2>>);
    auto kept = calque::with_shape<2, dyn>(xt::xarray<float>(numbers(2, 2)));
    CHECK(element_at(kept, 1, 1) == 3.f);
    auto of_vector = calque::with_shape<3>(std::vector<float>{1.f, 2.f, 3.f});
    CHECK(array_adaptor<decltype(of_vector)>::matches(of_vector));
    CHECK(element_at(of_vector, 2) == 3.f);
}
