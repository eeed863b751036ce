// SPDX-License-Identifier: MIT
// Arrays that lie by columns, as their types say, give what arrays by rows give, and no kernel copies them.
#include <calque/calque.hpp>
#include <calque/core/compatibility_xtensor_expressions.hpp>
#include <calque/eager.hpp>
#include <calque/grad.hpp>
#include <calque/random.hpp>
#include <calque/variable.hpp>

#include <doctest/doctest.h>

#include <tuple>

namespace {

using calque::dyn;
using calque::keepdims;
using calque::spec;

template <class T, std::size_t Rank>
using by_rows = xt::xtensor<T, Rank, xt::layout_type::row_major>;
template <class T, std::size_t Rank>
using by_columns = xt::xtensor<T, Rank, xt::layout_type::column_major>;

static_assert(calque::is_column_major_v<by_columns<float, 2>> && !calque::is_column_major_v<by_rows<float, 2>>);
static_assert(!calque::is_column_major_v<by_columns<float, 1>>, "a vector lies either way");
static_assert(calque::is_column_major_v<decltype(calque::with_shape<dyn, 3>(std::declval<by_columns<float, 2>&>()))>);

template <class T, std::size_t Rank>
by_rows<T, Rank> random(std::array<std::size_t, Rank> const& extents) {
    by_rows<T, Rank> x(extents);
    unsigned state = 12345;
    for (T& element : x) {
        state = state * 1664525u + 1013904223u;
        element = static_cast<T>(static_cast<int>(state >> 24) - 128) / T(64);
    }
    return x;
}

template <class A, class B>
bool are_near(A const& a, B const& b) {
    bool near = a.size() == b.size();
    auto i = a.template begin<xt::layout_type::row_major>();
    auto j = b.template begin<xt::layout_type::row_major>();
    for (; near && i != a.template end<xt::layout_type::row_major>(); ++i, ++j) {
        near = std::abs(*i - *j) <= 1e-4 * (1 + std::abs(*j));
    }
    return near;
}

/// The results of `f` over `x`, by rows and by columns, written by rows and by columns; whether it copies no argument.
template <std::size_t Rank, class F, std::size_t OfArgument>
void check(F const& body, by_rows<float, OfArgument> const& x, bool copies = false) {
    INFO("rank " << OfArgument << ", " << x.size() << " elements");
    auto const f = calque::function(body);
    by_columns<float, OfArgument> const turned = x;
    by_rows<float, Rank> expected;
    f.into(expected, x);
    by_rows<float, Rank> rows;
    f.into(rows, turned);
    CHECK(rows.shape() == expected.shape());
    CHECK(are_near(rows, expected));
    by_columns<float, Rank> columns;
    f.into(columns, turned);
    CHECK(columns.shape() == expected.shape());
    CHECK(are_near(columns, expected));
    if (x.size() > 1) {
        CHECK((f.plan(turned).text().find("copy") != std::string::npos) == copies);
    }
}

/// Every function over the matrices of some extents.
void check_matrices(std::size_t m, std::size_t n) {
    auto const x = random<float, 2>({m, n});
    check<1>([](auto a) { return calque::sum<0>(a); }, x);
    check<1>([](auto a) { return calque::sum<1>(a * a); }, x);
    check<2>([](auto a) { return calque::sum<1>(a, keepdims); }, x);
    check<2>([](auto a) { return calque::exp(a) / calque::sum<0>(calque::exp(a)); }, x);
    check<2>([](auto a) { return calque::tanh(a) * 2 + a; }, x);
    check<2>([](auto a) { return calque::transpose(a) + 1; }, x);
    check<2>([](auto a) { return calque::sum<0>(calque::transpose(a), keepdims) * 2; }, x);
    check<2>([](auto a) { return calque::cumsum<0>(a); }, x);
    check<2>([](auto a) { return calque::matmul(calque::transpose(a), a); }, x);
    if (m != 0 && n != 0) {
        check<1>([](auto a) { return calque::max<0>(a); }, x);
        check<1>([](auto a) { return calque::var<1>(a); }, x);
        check<1>([](auto a) { return calque::cast<float>(calque::argmax<0>(a)); }, x);
        check<1>([](auto a) { return calque::cast<float>(calque::argmin<1>(a)); }, x);
        check<2>([](auto a) { return calque::softmax<0>(a); }, x);
        check<2>([](auto a) { return calque::softmax<1>(a); }, x);
        check<2>([](auto a) { return (a - calque::mean<1>(a, keepdims)) / (calque::std<1>(a, keepdims) + 1); }, x);
        check<2>([](auto a) { return calque::grad([](auto b) { return calque::sum(calque::max<1>(b) * 2); })(a); }, x);
        check<2>([](auto a) { return calque::grad([](auto b) { return calque::sum(calque::logsumexp<0>(b)); })(a); },
                 x);
    }
}

} // namespace

TEST_CASE("reductions, row programs and broadcasts") {
    constexpr std::size_t extents[][2] = {{0, 3}, {3, 0},   {1, 1},   {1, 7},  {7, 1},
                                          {5, 3}, {31, 32}, {33, 31}, {3, 70}, {200, 10}};
    for (auto const& e : extents) {
        CAPTURE(e[0]);
        CAPTURE(e[1]);
        check_matrices(e[0], e[1]);
    }
}

TEST_CASE("more axes") {
    for (std::size_t const k : {std::size_t{1}, std::size_t{3}, std::size_t{17}}) {
        auto const x = random<float, 3>({4, k, 5});
        check<2>([](auto a) { return calque::sum<0>(a); }, x);
        check<2>([](auto a) { return calque::sum<1>(a); }, x);
        check<2>([](auto a) { return calque::max<-1>(a); }, x);
        check<1>([](auto a) { return calque::mean<0, 2>(a); }, x);
        check<3>([](auto a) { return calque::softmax<1>(a); }, x);
        check<3>([](auto a) { return calque::transpose<2, 0, 1>(a) * 2; }, x);
    }
}

TEST_CASE("a full reduction is a number, in any order") {
    auto const f =
        calque::function([](auto x) { return std::tuple{calque::sum(x), calque::max(x), calque::all(x > -3)}; });
    auto const x = random<double, 3>({7, 5, 33});
    by_columns<double, 3> const turned = x;
    auto const [sum, max, all] = f(x);
    auto const [turned_sum, turned_max, turned_all] = f(turned);
    CHECK(turned_sum == doctest::Approx(sum));
    CHECK(turned_max == max);
    CHECK(turned_all == all);
}

TEST_CASE("arguments by rows, by columns, and vectors meet") {
    auto const f = calque::function([](auto a, auto b, auto row, auto column) {
        auto const y = a * row + b;
        return std::tuple{y, calque::sum<0>(y - column), calque::matmul(a, calque::transpose(b)), a - row};
    });
    auto const a = random<float, 2>({21, 37});
    auto const b = by_rows<float, 2>(random<float, 2>({21, 37}) * 2);
    auto const row = random<float, 1>({37});
    auto const column = random<float, 2>({21, 1});
    auto const expected = f(a, b, row, column);
    auto const check_same = [&](auto const& results) {
        CHECK(are_near(std::get<0>(results), std::get<0>(expected)));
        CHECK(are_near(std::get<1>(results), std::get<1>(expected)));
        CHECK(are_near(std::get<2>(results), std::get<2>(expected)));
        CHECK(are_near(std::get<3>(results), std::get<3>(expected)));
    };
    by_columns<float, 2> const ca = a;
    by_columns<float, 2> const cb = b;
    by_columns<float, 2> const cc = column;
    check_same(f(ca, cb, row, column));
    check_same(f(ca, cb, row, cc));
    check_same(f(ca, b, row, column));
    check_same(f(a, cb, row, cc));
}

TEST_CASE("outputs in the place of arguments") {
    auto const f = calque::function([](auto x, auto y) { return x * 2 + y; });
    auto const softmax = calque::function([](auto x) { return calque::softmax<1>(x); });
    by_columns<float, 2> x = random<float, 2>({33, 21});
    by_columns<float, 2> const y = x + 1;
    by_columns<float, 2> const expected = 2 * x + y;
    float const* const elements = x.data();
    f.into(x, x, y);
    CHECK(x.data() == elements);
    CHECK(x == expected);

    by_columns<float, 2> smooth;
    softmax.into(smooth, x);
    softmax.into(x, x);
    CHECK(x == smooth);

    // The output is the argument, transposed.
    by_rows<float, 2> square = random<float, 2>({19, 19});
    auto const twice = calque::function([](auto a) { return a * 2; });
    by_rows<float, 2> const doubled = 2 * xt::transpose(square);
    auto transposed = calque::array_view(square.data(), {19, 19}, {1, 19});
    by_columns<float, 2> const copy = square;
    twice.into(transposed, copy);
    CHECK(square == doubled);
}

TEST_CASE("parts of arrays by columns, padded ones, and several results") {
    auto const f = calque::function([](auto x) {
        auto const part = calque::view(x, calque::range(2, 9), calque::all());
        return std::tuple{calque::sum<0>(part), calque::flip<0>(x), calque::sum<1>(x, keepdims), x + 1,
                          calque::transpose(x)};
    });
    auto const x = random<float, 2>({13, 11});
    by_columns<float, 2> const turned = x;
    auto const expected = f(x);
    auto const results = f(turned);
    CHECK(are_near(std::get<0>(results), std::get<0>(expected)));
    CHECK(std::get<1>(results) == std::get<1>(expected));
    CHECK(are_near(std::get<2>(results), std::get<2>(expected)));
    CHECK(std::get<3>(results) == std::get<3>(expected));
    CHECK(std::get<4>(results) == std::get<4>(expected));
}

TEST_CASE("loops and branches see the arrays as they are") {
    auto const f = calque::function([](auto x) {
        auto const y = calque::cond(calque::sum(x) > 0, [&] { return x + 1; }, [&] { return x - 1; });
        return calque::sum<0>(y * x);
    });
    auto const x = random<float, 2>({13, 11});
    by_columns<float, 2> const turned = x;
    CHECK(are_near(f(turned), f(x)));
}

TEST_CASE("beside a loop or a branch a result can be the transpose of what a kernel writes") {
    auto const f = calque::function([](auto x, auto y) {
        auto const z = 1.5f - x;
        auto const w = calque::cond(calque::sum(y) > 0, [&] { return tanh(z); }, [&] { return z; });
        return std::tuple{w, transpose(z)};
    });
    auto const x = random<float, 2>({3, 5});
    by_columns<float, 2> const y = random<float, 2>({5, 3});
    auto const [w, transposed] = f(x, y); // y lies by columns, x and z do not
    CHECK(transposed == xt::eval(1.5f - xt::transpose(x)));
    auto const [from_turned, transposed_of_turned] = f(by_columns<float, 2>(x), y);
    CHECK(transposed_of_turned == transposed);
    CHECK(from_turned == w);
}

TEST_CASE("random numbers do not depend on how an argument lies") {
    auto const f = calque::function([](auto key, auto x) { return x + calque::random::uniform_like(key, x); });
    auto const x = random<float, 2>({6, 5});
    by_columns<float, 2> const turned = x;
    CHECK(f(calque::random::key(3), turned) == f(calque::random::key(3), x));
}

TEST_CASE("op by op, too") {
    auto const f = calque::function([](auto x, auto y) { return calque::sum<0>(x * y, keepdims) + y; });
    auto const x = random<float, 2>({6, 5});
    by_rows<float, 2> const row = random<float, 2>({1, 5}); // a dynamic extent that broadcasts
    by_columns<float, 2> const turned = x;
    by_columns<float, 2> const turned_row = row;
    CHECK(are_near(f(turned, turned_row), f(x, row)));
    by_columns<float, 2> result;
    f.into(result, turned, row);
    CHECK(are_near(result, f(x, row)));
}

TEST_CASE("pointers by columns, and types that do not say so") {
    auto const x = random<float, 2>({9, 14});
    by_columns<float, 2> const turned = x;
    auto const pointer = xt::adapt<xt::layout_type::column_major>(turned.data(), turned.size(), xt::no_ownership(),
                                                                  std::array<std::size_t, 2>{9, 14});
    static_assert(calque::is_column_major_v<decltype(pointer)>);
    auto const view = calque::array_view(turned.data(), {9, 14}, {1, 9});
    static_assert(!calque::is_column_major_v<decltype(view)>);
    auto const f = calque::function([](auto a) { return calque::sum<1>(a); });
    CHECK(are_near(f(pointer), f(x)));
    CHECK(are_near(f(view), f(x)));
    CHECK(f.plan(pointer).text().find("copy") == std::string::npos);
    CHECK(f.plan(view).text().find("copy") != std::string::npos);
}

TEST_CASE("checks, variables, and op by op on demand") {
    auto const f = calque::function([](auto& total, auto x) {
        total.assign_add(calque::sum<0>(x, keepdims) + 0 * total);
        calque::check(calque::all(x < 100), "too large");
        return x * 2;
    });
    by_rows<float, 2> const x = random<float, 2>({9, 14});
    by_columns<float, 2> const turned = x;
    calque::variable<float, dyn, dyn> total(by_rows<float, 2>(xt::ones<float>({1, 14})));
    by_columns<float, 2> y;
    f.into(y, total, turned);
    CHECK(are_near(y, by_rows<float, 2>(x * 2)));
    CHECK(are_near(total.value(), by_rows<float, 2>(1 + xt::sum(x, {0}, xt::keep_dims))));
    by_columns<float, 2> const before = y;
    CHECK_THROWS_AS(f.into(y, total, by_columns<float, 2>(turned + 100)), calque::check_error);
    CHECK(y == before);

    auto const softmax = calque::function([](auto a) { return calque::softmax<0>(a); });
    by_columns<float, 2> const expected = softmax(turned);
    calque::run_eagerly(true);
    softmax.into(y, turned);
    calque::run_eagerly(false);
    CHECK(are_near(y, expected));
}
