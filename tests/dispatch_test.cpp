// SPDX-License-Identifier: MIT
// Arrays whose dtype and rank only the run knows: any_array and dispatch.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include "message_of.hpp"

#include <cstdint>
#include <string>

namespace {

using tests::message_of;

using calque::any_array;
using calque::dtype;
using calque::shape;
using matrix = xt::xtensor<float, 2>;
using vector = xt::xtensor<float, 1>;

inline constexpr auto total = [](auto x) { return calque::sum(x); };
inline constexpr auto product = [](auto a, auto b) { return calque::matmul(a, b); };
inline constexpr auto both = [](auto a) { return std::tuple{a + a, calque::sum(a)}; };
inline constexpr auto scaled = [](auto a, auto factor) { return a * factor; };

} // namespace

TEST_CASE("an any_array copies what it is made of, in row-major order") {
    matrix m = {{1, 2, 3}, {4, 5, 6}};
    any_array const a(m);
    any_array const columns(xt::view(m, xt::all(), xt::range(1, 3)));
    any_array const transposed(xt::transpose(m));
    m(0, 0) = 9;
    CHECK(a.type() == dtype::float32);
    CHECK(a.extents() == shape{2, 3});
    CHECK(a.elements<float>()[0] == 1.f);
    CHECK(columns.extents() == shape{2, 2});
    CHECK(columns.elements<float>()[2] == 5.f);
    CHECK(transposed.elements<float>()[1] == 4.f);
    CHECK(a.as<matrix>()(1, 2) == 6.f);
    CHECK(any_array(xt::xarray<double>(xt::ones<double>({2, 1, 2}))).rank() == 3);
    CHECK(any_array(matrix(xt::ones<float>({4, 0}))).elements<float>().empty());
    CHECK(static_cast<int>(any_array(2.5)) == 2);
    CHECK_THROWS_AS(a.elements<double>(), calque::dtype_error);
    CHECK_THROWS_AS(a.as<vector>(), calque::shape_error);
    CHECK_THROWS_AS(static_cast<void>(static_cast<float>(a)), calque::shape_error);
}

TEST_CASE("an any_array can refer to memory that is somebody else's") {
    float const memory[] = {1, 2, 3, 4};
    any_array const a = any_array::refer_to(dtype::float32, {2, 2}, memory);
    CHECK(a.data() == memory);
    auto const f = calque::function(total).dispatch<calque::dtypes<float>, calque::ranks<2>>();
    CHECK(float(f(a)) == 10.f);
}

TEST_CASE("dispatch runs the kernels of the dtype and the rank") {
    auto const f = calque::function(total, calque::function_options{.name = "total"})
                       .dispatch<calque::dtypes<float, double, std::int32_t>, calque::ranks<1, 2>>();
    CHECK(double(f(any_array(matrix(xt::ones<float>({4, 3}))))) == 12.);
    CHECK(double(f(any_array(vector{1, 2}))) == 3.);
    any_array const integers = f(any_array(xt::xtensor<std::int32_t, 1>{1, 2, 3}));
    CHECK(integers.type() == dtype::int64);
    CHECK(int(integers) == 6);
    CHECK(f.trace_count() == 3);
    CHECK(double(f(any_array(vector{3, 4}))) == 7.);
    CHECK(f.hit_count() == 1);

    CHECK(
        message_of<calque::dtype_error>([&] { f(any_array(xt::xtensor<std::int8_t, 1>{1})); }) ==
        "calque: total has no kernel for int8[1]: dispatch has float double int32 with rank 1 2, one dtype in a call");
    CHECK_THROWS_AS(f(any_array(1.f)), calque::dtype_error);
}

TEST_CASE("several arrays have one dtype and ranks of their own; impossible ranks are not instantiated") {
    auto const f = calque::function(product).dispatch<calque::dtypes<float, double>, calque::ranks<1, 2, 3>>();
    any_array const a(matrix{{1, 2}, {3, 4}});
    CHECK(f(a, a).as<matrix>()(1, 1) == 22.f);
    CHECK(f(a, any_array(vector{1, 1})).as<vector>()(1) == 7.f);
    CHECK_THROWS_AS(f(a, any_array(xt::xtensor<double, 1>{1, 1})), calque::dtype_error);
}

TEST_CASE("other arguments pass as they are; a tuple is a tuple of any_arrays") {
    auto const f = calque::function(scaled).dispatch<calque::dtypes<float, double>, calque::ranks<1>>();
    CHECK(f(any_array(vector{1, 2}), 3.0).as<vector>()(1) == 6.f);
    auto const g = calque::function(both).dispatch<calque::dtypes<float, double>, calque::ranks<1>>();
    auto const [doubled, sum] = g(any_array(vector{1, 2}));
    CHECK(doubled.as<vector>()(1) == 4.f);
    CHECK(float(sum) == 3.f);
}
