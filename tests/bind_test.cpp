// SPDX-License-Identifier: MIT
#include <calque/interop/result.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace calque {
inline namespace v0 {

template <class T>
class expr {}; // only named here: what a traced function would return
template <class T>
class weak_expr {};

} // namespace v0
} // namespace calque

namespace {

using calque::array_ref;
using calque::dyn;
using calque::expr;
using calque::extent_t;
using calque::host;
using calque::host_result_t;
using calque::leaf;
using calque::shape;
using calque::spec;
using calque::traced;
using calque::tree_leaves_t;
using calque::type_list;

template <class M>
struct dense {
    leaf<M, float, 3, dyn> w;
    leaf<M, float, 2> b;
};
template <class M>
struct network {
    std::array<dense<M>, 2> layers;
    leaf<M, double> rate;
};
struct config {
    float scale;
    xt::xtensor<float, 1> taps;
};

std::string here() {
    return "argument 0";
}

/// The message of the shape_error that binding to `Leaves` throws; empty if it throws none.
template <class Leaves, class Argument>
std::string message_of_binding(Argument const& argument) {
    try {
        calque::bind_argument<Leaves>(argument, here, [](auto, auto const&) {});
    } catch (calque::shape_error const& e) {
        return e.what();
    }
    return "";
}

// What a caller gets.
template <class Result, class... Specs>
using host_t = host_result_t<Result, type_list<Specs...>>;
static_assert(std::is_same_v<host_t<expr<float>, spec<float>>, float>);
static_assert(std::is_same_v<host_t<expr<float>, spec<float, dyn, 3>>, xt::xtensor<float, 2>>);
static_assert(std::is_same_v<host_t<expr<float>, spec<float, 2>>, xt::xtensor_fixed<float, xt::xshape<2>>>);
static_assert(std::is_same_v<host_t<expr<double>, spec<double, 32, 17>>, xt::xtensor<double, 2>>);
static_assert(std::is_same_v<host_t<std::tuple<expr<float>, std::pair<expr<bool>, dense<traced>>>, spec<float, dyn>,
                                    spec<bool>, spec<float, 3, dyn>, spec<float, 2>>,
                             std::tuple<xt::xtensor<float, 1>, std::pair<bool, dense<host>>>>);
static_assert(std::is_same_v<host_t<std::array<expr<float>, 2>, spec<float>, spec<float>>, std::array<float, 2>>);
static_assert(std::is_same_v<host_t<calque::traced_struct<config>, spec<float>, spec<float, dyn>>, config>);
static_assert(std::is_void_v<host_t<void>>);
static_assert(calque::are_compatible<spec<float, dyn, 3>, spec<float, 2, calque::dim("n")>>());
static_assert(!calque::are_compatible<spec<float, dyn, 3>, spec<float, 2, 4>>());
static_assert(!calque::are_compatible<spec<float, dyn>, spec<double, dyn>>());

constexpr extent_t no_extents[1] = {0};

} // namespace

TEST_CASE("a contiguous array is bound without its strides being read") {
    xt::xtensor<float, 2> const x({2, 3});
    auto const ref = calque::bind_leaf<spec<float, dyn, dyn>>(x, here);
    static_assert(std::is_same_v<decltype(ref), array_ref<float const, 2, true> const>);
    CHECK(ref.data == x.data());
    CHECK(ref.extents[0] == 2);
    CHECK(ref.extents[1] == 3);
    CHECK(ref.stride(0) == 3);
    CHECK(ref.stride(1) == 1);
}

TEST_CASE("a view is bound with its strides") {
    xt::xtensor<float, 2> const x({4, 5});
    auto const view = xt::view(x, xt::range(1, 4, 2), xt::range(0, 3));
    auto const ref = calque::bind_leaf<spec<float, dyn, 3>>(view, here);
    static_assert(!decltype(ref)::contiguous);
    CHECK(ref.data == x.data() + 5);
    CHECK(ref.extents[0] == 2);
    CHECK(ref.stride(0) == 10);
    CHECK(ref.stride(1) == 1);
}

TEST_CASE("numbers are bound in their own type") {
    double const rate = 0.5;
    auto const ref = calque::bind_leaf<double>(rate, here);
    static_assert(std::is_same_v<decltype(ref), array_ref<double const, 0, true> const>);
    CHECK(ref.data == &rate);
    xt::xtensor<float, 0> const scalar(2.f);
    CHECK(*calque::bind_leaf<spec<float>>(scalar, here).data == 2.f);
}

TEST_CASE("all leaves of a tree are bound, in order") {
    network<host> net;
    net.layers[0].w.resize({3, 7});
    net.layers[1].w.resize({3, 8});
    net.rate = 0.25;
    std::vector<extent_t> columns;
    int leaves = 0;
    calque::bind_argument<tree_leaves_t<network<host>>>(net, here, [&](auto index, auto ref) {
        CHECK(index == static_cast<std::size_t>(leaves++));
        if constexpr (ref.rank == 2) {
            columns.push_back(ref.extents[1]);
        } else if constexpr (ref.rank == 0) {
            CHECK(*ref.data == 0.25);
        }
    });
    CHECK(leaves == 5);
    CHECK(columns == std::vector<extent_t>{7, 8});
}

TEST_CASE("a wrong extent is named by path, axis and both shapes") {
    network<host> net;
    net.layers[0].w.resize({3, 7});
    net.layers[1].w.resize({4, 7});
    CHECK(message_of_binding<tree_leaves_t<network<host>>>(net) ==
          "calque: argument 0.layers[1].w has the shape [4,7], but [3,dyn] is declared: extent 0 is 4, not 3");

    std::vector<float> const v(5);
    CHECK(message_of_binding<type_list<spec<float, dyn>>>(v).empty());
    CHECK(message_of_binding<type_list<spec<float, calque::dim("n")>>>(v).empty());
    CHECK(message_of_binding<type_list<spec<float, 4>>>(v) ==
          "calque: argument 0 has the shape [5], but [4] is declared: extent 0 is 5, not 4");
}

TEST_CASE("what with_rank and with_shape claim is checked") {
    xt::xarray<float> const x = xt::xtensor<float, 2>({2, 3});
    auto const ranked = calque::with_rank<2>(x);
    CHECK(message_of_binding<tree_leaves_t<decltype(ranked)>>(ranked).empty());
    auto const wrong_rank = calque::with_rank<3>(x);
    CHECK(message_of_binding<tree_leaves_t<decltype(wrong_rank)>>(wrong_rank) ==
          "calque: argument 0 has the shape [2,3], but [dyn,dyn,dyn] is declared: the rank is 2, not 3");
    auto const wrong_extent = calque::with_shape<calque::dim("batch"), 4>(x);
    CHECK(message_of_binding<tree_leaves_t<decltype(wrong_extent)>>(wrong_extent) ==
          "calque: argument 0 has the shape [2,3], but [batch,4] is declared: extent 1 is 3, not 4");
}

TEST_CASE("outputs are resized, or throw") {
    extent_t const extents[] = {2, 3};
    xt::xtensor<float, 2> x;
    auto const ref = calque::bind_output<spec<float, dyn, dyn>>(x, extents);
    static_assert(std::is_same_v<decltype(ref), array_ref<float, 2, true> const>);
    CHECK(ref.data == x.data());
    CHECK(calque::shape_of(x) == shape{2, 3});

    xt::xtensor<float, 2> whole({4, 6});
    auto block = xt::view(whole, xt::range(1, 3), xt::range(3, 6));
    auto const into_block = calque::bind_output<spec<float, dyn, 3>>(block, extents);
    CHECK(into_block.data == whole.data() + 9);
    CHECK(into_block.stride(0) == 6);
    auto wrong = xt::view(whole, xt::range(1, 3));
    CHECK_THROWS_AS((calque::bind_output<spec<float, dyn, dyn>>(wrong, extents)), calque::shape_error);

    std::vector<float> buffer(2);
    std::span<float> const span = buffer;
    CHECK(calque::bind_output<spec<float, dyn>>(span, extents).data == buffer.data());

    xt::xarray<float> unranked;
    auto ranked = calque::with_rank<2>(unranked);
    auto const into_unranked = calque::bind_output<spec<float, dyn, dyn>>(ranked, extents);
    CHECK(into_unranked.data == unranked.data());
    CHECK(unranked.dimension() == 2);
    auto claims = calque::with_shape<dyn, 4>(unranked);
    CHECK_THROWS_AS((calque::bind_output<spec<float, dyn, dyn>>(claims, extents)), calque::shape_error);

    float number = 0.f;
    CHECK(calque::bind_output<spec<float>>(number, no_extents).data == &number);
}

TEST_CASE("results are made with their shapes") {
    using result = std::tuple<expr<float>, std::array<expr<double>, 2>, dense<traced>, expr<std::int32_t>>;
    using outputs = type_list<spec<float, dyn>, spec<double>, spec<double>, spec<float, 3, dyn>, spec<float, dyn>,
                              spec<std::int32_t, 2>>;
    extent_t const extents[6][2] = {{5}, {}, {}, {3, 4}, {2}, {2}};
    auto const extents_of = [&](std::size_t index) { return extents[index]; };

    auto made = calque::make_result<result, outputs>(extents_of);
    CHECK(calque::shape_of(std::get<0>(made)) == shape{5});
    CHECK(calque::shape_of(std::get<2>(made).w) == shape{3, 4});
    float const* const memory = std::get<0>(made).data();
    calque::bind_outputs<result, outputs>(made, extents_of, [&](auto index, auto ref) {
        if constexpr (index == 0) {
            CHECK(ref.data == memory);
        }
        *ref.data = static_cast<std::remove_reference_t<decltype(*ref.data)>>(index);
    });
    CHECK(std::get<1>(made)[1] == 2.);
    CHECK(std::get<2>(made).b(0) == 4.f);
    CHECK(std::get<3>(made)(0) == 5);

    // A struct whose leaf has a fixed size takes a dynamic extent only if it is that size.
    extent_t const wrong[6][2] = {{5}, {}, {}, {3, 4}, {3}, {2}};
    auto const wrong_extents_of = [&](std::size_t index) { return wrong[index]; };
    CHECK_THROWS_AS((calque::make_result<result, outputs>(wrong_extents_of)), calque::shape_error);
}

TEST_CASE("results go into references, whatever holds them") {
    using result = std::tuple<expr<float>, std::pair<expr<double>, dense<traced>>>;
    using outputs = type_list<spec<float, dyn>, spec<double>, spec<float, 3, dyn>, spec<float, 2>>;
    extent_t const extents[4][2] = {{5}, {}, {3, 1}, {2}};
    std::vector<float> first;
    double second = 0.;
    dense<host> layer;
    int leaves = 0;
    calque::bind_outputs<result, outputs>(
        std::tuple<std::vector<float>&, std::pair<double&, dense<host>&>>(first, {second, layer}),
        [&](std::size_t index) { return extents[index]; },
        [&](auto index, auto ref) {
            CHECK(index == static_cast<std::size_t>(leaves++));
            *ref.data = 7;
        });
    CHECK(leaves == 4);
    CHECK(first.size() == 5);
    CHECK(first[0] == 7.f);
    CHECK(second == 7.);
    CHECK(layer.w(0, 0) == 7.f);
}
