// SPDX-License-Identifier: MIT
// Operations on arrays that are not elementwise, as users call them and as kernels run them, against plain loops: on
// empty arrays, single elements, and extents around a register's. (Derivatives: gradient_test.cpp. vmap:
// vectorize_test.cpp.)
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace {

using calque::extent_t;
using calque::padding;
using calque::range;

using matrix = xt::xtensor<double, 2>;
using indices = xt::xtensor<std::int64_t, 2>;
using extents = std::array<std::size_t, 2>;

/// Small numbers of both signs, some of them equal, some 0.
matrix numbers(std::size_t rows, std::size_t columns, unsigned seed) {
    matrix x(extents{rows, columns});
    std::uint32_t state = seed + 1;
    for (double& e : x) {
        state = state * 1664525u + 1013904223u;
        e = static_cast<double>(static_cast<int>(state >> 27) - 16) / 8;
    }
    return x;
}

/// Empty, or where `y` is not `expected(i, j)`.
template <class Y, class F>
std::string mismatch(Y const& y, std::size_t rows, std::size_t columns, F expected, double tolerance = 0) {
    if (y.shape(0) != rows || y.shape(1) != columns) {
        return "it has other extents";
    }
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            auto const given = static_cast<double>(y(i, j));
            auto const wanted = static_cast<double>(expected(i, j));
            bool const is_same = given == wanted || (std::isnan(given) && std::isnan(wanted));
            if (!is_same && !(std::abs(given - wanted) <= tolerance * (1 + std::abs(wanted)))) {
                return "element " + std::to_string(i) + ", " + std::to_string(j) + " is " + std::to_string(given) +
                       ", not " + std::to_string(wanted);
            }
        }
    }
    return "";
}

std::size_t around(extent_t i, std::size_t n) {
    auto const size = static_cast<extent_t>(n);
    return static_cast<std::size_t>((i % size + size) % size);
}

/// The places of `n` elements in ascending order, NaN last.
std::vector<std::size_t> order_of(std::size_t n, std::function<double(std::size_t)> const& x) {
    std::vector<std::size_t> order;
    auto const comes_before = [&](std::size_t i, std::size_t j) {
        return x(i) < x(j) || (std::isnan(x(j)) && !std::isnan(x(i)));
    };
    for (std::size_t i = 0; i < n; ++i) { // behind those that it does not precede: equal ones among them
        auto place = order.end();
        while (place != order.begin() && comes_before(i, *(place - 1))) {
            --place;
        }
        order.insert(place, i);
    }
    return order;
}

/// Empty extents, 1, odd ones, and those around the number of elements in a register.
std::vector<extents> const shapes{{0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 7}, {7, 1}, {3, 5}, {31, 33}, {32, 32}, {33, 31}};

calque::function_options const one_trace{.shapes = calque::shape_policy::dynamic};

inline constexpr auto arranged = [](auto x, auto y) {
    auto const [left, right] = calque::split<1, 2>(calque::concatenate<1>(x, y));
    return std::tuple(left - 2 * right, view(calque::stack<1>(x, y), calque::all(), 1), calque::swapaxes<0, -1>(x),
                      calque::squeeze<1>(calque::expand_dims<1>(x)), calque::flip<0>(x), calque::flip(x) * y,
                      calque::roll<0>(x, 1), calque::roll<1>(x, -40), pad(x, 7, padding{2, 1}, padding{0, 3}), tril(x),
                      triu(x, 1), tril(x, -2), x.at(range(1, 3)).set(5), x.at(calque::all(), range(0, -1, 2)).add(2),
                      x.at(range(-1, 99), range(0, 1)).set(9));
};

inline constexpr auto in_order = [](auto x) {
    return std::tuple(calque::cumsum<0>(x), calque::cumsum<-1>(x), calque::cumprod<0>(x), calque::cumprod<1>(x),
                      calque::sort<0>(x), calque::sort(x), calque::argsort<0>(x), calque::argsort(x),
                      calque::cumsum<1>(x > 0));
};

inline constexpr auto folded = [](auto x) {
    using calque::keepdims;
    auto const [best, places] = calque::top_k<1>(x);
    return std::tuple(prod<0>(x, keepdims), prod<1>(x, keepdims), var<0>(x, keepdims), calque::std<-1>(x, keepdims),
                      any<0>(x > 1.5, keepdims), all<1>(x, keepdims), any<0, 1>(x == 0, keepdims),
                      argmin<0>(x, keepdims), argmin<1>(x, keepdims), best, places, prod(x > -9, keepdims));
};

inline constexpr auto by_places = [](auto x, auto i, auto rows) {
    return std::tuple(calque::take_along_axis<0>(x, i), calque::gather<1>(x, i), calque::scatter_add<0>(x, rows, x),
                      calque::roll<0>(x, sum(rows)));
};

/// Elements reversed and every second: neither contiguous nor in order.
auto awkward(matrix const& x) {
    return xt::view(x, xt::range(xt::placeholders::_, xt::placeholders::_, -1),
                    xt::range(xt::placeholders::_, xt::placeholders::_, 2));
}

} // namespace

TEST_CASE("elements in other places") {
    auto const f = calque::function(arranged, one_trace);
    for (extents const& s : shapes) {
        std::size_t const r = s[0], c = s[1];
        CAPTURE(r);
        CAPTURE(c);
        matrix const x = numbers(r, c, 1), y = numbers(r, c, 2);
        auto const at = [&](std::size_t i, std::size_t j) { return x(i, j); };
        auto const [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14] = f(x, y);
        CHECK(mismatch(a0, r, c, [&](auto i, auto j) { return x(i, j) - 2 * y(i, j); }) == "");
        CHECK(mismatch(a1, r, c, [&](auto i, auto j) { return y(i, j); }) == "");
        CHECK(mismatch(a2, c, r, [&](auto i, auto j) { return x(j, i); }) == "");
        CHECK(mismatch(a3, r, c, at) == "");
        CHECK(mismatch(a4, r, c, [&](auto i, auto j) { return x(r - 1 - i, j); }) == "");
        CHECK(mismatch(a5, r, c, [&](auto i, auto j) { return x(r - 1 - i, c - 1 - j) * y(i, j); }) == "");
        CHECK(mismatch(a6, r, c, [&](auto i, auto j) { return x(around(static_cast<extent_t>(i) - 1, r), j); }) == "");
        CHECK(mismatch(a7, r, c, [&](auto i, auto j) { return x(i, around(static_cast<extent_t>(j) + 40, c)); }) == "");
        CHECK(mismatch(a8, r + 3, c + 3,
                       [&](auto i, auto j) { return i >= 2 && i < r + 2 && j < c ? x(i - 2, j) : 7; }) == "");
        CHECK(mismatch(a9, r, c, [&](auto i, auto j) { return j <= i ? x(i, j) : 0; }) == "");
        CHECK(mismatch(a10, r, c, [&](auto i, auto j) { return j >= i + 1 ? x(i, j) : 0; }) == "");
        CHECK(mismatch(a11, r, c, [&](auto i, auto j) { return j + 2 <= i ? x(i, j) : 0; }) == "");
        CHECK(mismatch(a12, r, c, [&](auto i, auto j) { return i == 1 || i == 2 ? 5 : x(i, j); }) == "");
        CHECK(mismatch(a13, r, c, [&](auto i, auto j) { return x(i, j) + (j + 1 < c && j % 2 == 0 ? 2 : 0); }) == "");
        CHECK(mismatch(a14, r, c, [&](auto i, auto j) { return i + 1 == r && j == 0 ? 9 : x(i, j); }) == "");
    }
    CHECK(f.trace_count() == 1);
}

TEST_CASE("in order along an axis") {
    auto const f = calque::function(in_order, one_trace);
    double const nan = std::numeric_limits<double>::quiet_NaN();
    for (extents const& s : shapes) {
        std::size_t const r = s[0], c = s[1];
        for (bool const has_nan : {false, true}) {
            CAPTURE(r);
            CAPTURE(c);
            matrix x = numbers(r, c, 3);
            for (std::size_t i = 0; i < r && has_nan; i += 2) {
                for (std::size_t j = i % 3; j < c; j += 5) {
                    x(i, j) = nan;
                }
            }
            auto const [s0, s1, p0, p1, down, across, i0, i1, counts] = f(x);
            auto const fold = [&](std::size_t i, std::size_t j, bool is_down, bool is_product) {
                long double total = is_product ? 1 : 0;
                for (std::size_t k = 0; k <= (is_down ? i : j); ++k) {
                    long double const e = is_down ? x(k, j) : x(i, k);
                    total = is_product ? total * e : total + e;
                }
                return static_cast<double>(total);
            };
            CHECK(mismatch(s0, r, c, [&](auto i, auto j) { return fold(i, j, true, false); }, 1e-14) == "");
            CHECK(mismatch(s1, r, c, [&](auto i, auto j) { return fold(i, j, false, false); }, 1e-14) == "");
            CHECK(mismatch(p0, r, c, [&](auto i, auto j) { return fold(i, j, true, true); }, 1e-14) == "");
            CHECK(mismatch(p1, r, c, [&](auto i, auto j) { return fold(i, j, false, true); }, 1e-14) == "");
            std::vector<std::vector<std::size_t>> by_column(c), by_row(r);
            for (std::size_t j = 0; j < by_column.size(); ++j) {
                by_column[j] = order_of(r, [&](std::size_t i) { return x(i, j); });
            }
            for (std::size_t i = 0; i < by_row.size(); ++i) {
                by_row[i] = order_of(c, [&](std::size_t j) { return x(i, j); });
            }
            CHECK(mismatch(i0, r, c, [&](auto i, auto j) { return by_column[j][i]; }) == "");
            CHECK(mismatch(i1, r, c, [&](auto i, auto j) { return by_row[i][j]; }) == "");
            CHECK(mismatch(down, r, c, [&](auto i, auto j) { return x(by_column[j][i], j); }) == "");
            CHECK(mismatch(across, r, c, [&](auto i, auto j) { return x(i, by_row[i][j]); }) == "");
            CHECK(mismatch(counts, r, c, [&](auto i, auto j) {
                      std::int64_t n = 0;
                      for (std::size_t k = 0; k <= j; ++k) {
                          n += x(i, k) > 0 ? 1 : 0;
                      }
                      return n;
                  }) == "");
        }
    }
    matrix const x = numbers(9, 14, 4);
    matrix const same = awkward(x);
    CHECK(std::get<0>(f(awkward(x))) == std::get<0>(f(same)));
    CHECK(std::get<3>(f(awkward(x))) == std::get<3>(f(same)));
    CHECK(std::get<6>(f(awkward(x))) == std::get<6>(f(same)));
    CHECK(std::get<7>(f(awkward(x))) == std::get<7>(f(same)));
}

TEST_CASE("folds") {
    auto const f = calque::function(folded, one_trace);
    for (extents const& s : shapes) {
        std::size_t const r = s[0], c = s[1];
        if (r == 0 || c == 0) {
            continue; // an empty axis has no smallest element
        }
        CAPTURE(r);
        CAPTURE(c);
        matrix const x = numbers(r, c, 5);
        auto const [p0, p1, v0, d1, any0, all1, any_at_all, least0, least1, best, places, ones] = f(x);
        auto const product = [&](std::size_t n, auto element) {
            long double total = 1;
            for (std::size_t k = 0; k < n; ++k) {
                total *= element(k);
            }
            return static_cast<double>(total);
        };
        auto const variance = [&](std::size_t n, auto element) {
            long double mean = 0, total = 0;
            for (std::size_t k = 0; k < n; ++k) {
                mean += static_cast<long double>(element(k)) / static_cast<long double>(n);
            }
            for (std::size_t k = 0; k < n; ++k) {
                total += (element(k) - mean) * (element(k) - mean) / static_cast<long double>(n);
            }
            return static_cast<double>(total);
        };
        auto const first_least = [&](std::size_t n, auto element) {
            std::size_t at = 0;
            for (std::size_t k = 1; k < n; ++k) {
                at = element(k) < element(at) ? k : at;
            }
            return at;
        };
        auto const down = [&](std::size_t j) { return [&x, j](std::size_t i) { return x(i, j); }; };
        auto const across = [&](std::size_t i) { return [&x, i](std::size_t j) { return x(i, j); }; };
        CHECK(mismatch(p0, 1, c, [&](auto, auto j) { return product(r, down(j)); }, 1e-13) == "");
        CHECK(mismatch(p1, r, 1, [&](auto i, auto) { return product(c, across(i)); }, 1e-13) == "");
        CHECK(mismatch(v0, 1, c, [&](auto, auto j) { return variance(r, down(j)); }, 1e-13) == "");
        CHECK(mismatch(d1, r, 1, [&](auto i, auto) { return std::sqrt(variance(c, across(i))); }, 1e-13) == "");
        CHECK(mismatch(any0, 1, c, [&](auto, auto j) {
                  bool is_any = false;
                  for (std::size_t i = 0; i < r; ++i) {
                      is_any = is_any || x(i, j) > 1.5;
                  }
                  return is_any;
              }) == "");
        CHECK(mismatch(all1, r, 1, [&](auto i, auto) { return product(c, across(i)) != 0; }) == "");
        CHECK(any_at_all(0, 0) == (std::count(x.begin(), x.end(), 0) != 0));
        CHECK(mismatch(least0, 1, c, [&](auto, auto j) { return first_least(r, down(j)); }) == "");
        CHECK(mismatch(least1, r, 1, [&](auto i, auto) { return first_least(c, across(i)); }) == "");
        auto const first_largest = [&](std::size_t i) {
            return first_least(c, [&](std::size_t j) { return -x(i, j); });
        };
        CHECK(mismatch(places, r, 1, [&](auto i, auto) { return first_largest(i); }) == "");
        CHECK(mismatch(best, r, 1, [&](auto i, auto) { return x(i, first_largest(i)); }) == "");
        CHECK(ones(0, 0) == 1);
    }
    double const nan = std::numeric_limits<double>::quiet_NaN();
    auto const best_three = calque::function([](auto x) { return calque::top_k<3>(x); });
    auto const [values, at] = best_three(xt::xtensor<double, 1>{1, nan, 2, 2, nan, -1});
    CHECK((std::isnan(values(0)) && std::isnan(values(1)) && values(2) == 2));
    CHECK(at == xt::xtensor<std::int64_t, 1>{1, 4, 2});
    auto const empty = calque::function([](auto x) { return std::tuple(prod<0>(x), any<0>(x), all<0>(x), var<0>(x)); });
    auto const [one, none, every, spread] = empty(matrix(extents{0, 2}));
    CHECK(one == xt::xtensor<double, 1>{1, 1});
    CHECK((!none(0) && every(1) && std::isnan(spread(0))));
}

TEST_CASE("by places: from the end if negative, and the nearest that exists") {
    auto const f = calque::function(by_places, one_trace);
    for (extents const& s : shapes) {
        std::size_t const r = s[0], c = s[1];
        if (r == 0 || c == 0) {
            continue;
        }
        CAPTURE(r);
        CAPTURE(c);
        matrix const x = numbers(r, c, 6);
        indices places(extents{r, c});
        xt::xtensor<std::int64_t, 1> rows(std::array<std::size_t, 1>{r});
        for (std::size_t i = 0; i < r; ++i) {
            rows(i) = static_cast<std::int64_t>(i * i % 5) - 1;
            for (std::size_t j = 0; j < c; ++j) {
                places(i, j) = static_cast<std::int64_t>((i * 7 + j * 5) % 40) - 4;
            }
        }
        auto const existing = [](std::int64_t i, std::size_t n) {
            auto const size = static_cast<std::int64_t>(n);
            return static_cast<std::size_t>(std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size - 1));
        };
        matrix sums = x;
        for (std::size_t i = 0; i < r; ++i) {
            for (std::size_t j = 0; j < c; ++j) {
                sums(existing(rows(i), r), j) += x(i, j);
            }
        }
        std::int64_t const shift = std::accumulate(rows.begin(), rows.end(), std::int64_t(0));
        auto const [down, across, added, rolled] = f(x, places, rows);
        CHECK(mismatch(down, r, c, [&](auto i, auto j) { return x(existing(places(i, j), r), j); }) == "");
        CHECK(mismatch(across, r, c, [&](auto i, auto j) { return x(i, existing(places(i, j), c)); }) == "");
        CHECK(mismatch(added, r, c, [&](auto i, auto j) { return sums(i, j); }, 1e-14) == "");
        CHECK(mismatch(rolled, r, c,
                       [&](auto i, auto j) { return x(around(static_cast<extent_t>(i) - shift, r), j); }) == "");
    }
}

TEST_CASE("what is assigned or added stretches, where only the call knows that it has to") {
    auto const f = calque::function([](auto x, auto rows, auto v) {
        return std::tuple(x.at(calque::all(), range(0, 2)).set(v), calque::scatter_add(x, rows, v));
    });
    matrix const x = {{1, 2}, {4, 5}};
    xt::xtensor<std::int32_t, 1> const rows = {1, 1};
    auto const [set, added] = f(x, rows, matrix{{9}, {8}});
    CHECK((set == matrix{{9, 9}, {8, 8}} && added == matrix{{1, 2}, {21, 22}}));
    auto const [replaced, summed] = f(x, rows, matrix{{6, 7}, {8, 9}});
    CHECK((replaced == matrix{{6, 7}, {8, 9}} && summed == matrix{{1, 2}, {18, 21}}));
    CHECK_THROWS_AS(f(x, rows, matrix{{1, 2, 3}}), calque::shape_error);
}

TEST_CASE("arrays stretch to the extents of others, which only the call knows") {
    auto const of_others = [](auto x, auto y) {
        auto const column = calque::max<1>(x, calque::keepdims);
        auto const wide = calque::broadcast_to(column, x.extent(0), y.extent(1));
        auto const high = calque::broadcast_to(calque::min(y), y.extent(0), 3);
        return std::tuple{wide, high, calque::sum<1>(calque::broadcast_to(column, calque::dyn, x.extent(1))),
                          calque::full<double>(2.5, y.extent(1), x.extent(0)), calque::ones<int>(y.extent(0), 1)};
    };
    auto const check = [&](auto x, auto y, std::size_t rows, std::size_t columns, std::size_t others) {
        auto const [wide, high, sums, twos, ones] = calque::function(of_others)(x, y);
        auto const greatest = [&](std::size_t i) { return *std::max_element(&x(i, 0), &x(i, 0) + columns); };
        CHECK(mismatch(wide, rows, 7, [&](std::size_t i, std::size_t) { return greatest(i); }) == "");
        double const least = *std::min_element(y.begin(), y.end());
        CHECK(mismatch(high, others, 3, [&](std::size_t, std::size_t) { return least; }) == "");
        REQUIRE(sums.size() == rows);
        for (std::size_t i = 0; i < rows; ++i) {
            CHECK(sums(i) == greatest(i) * static_cast<double>(columns));
        }
        CHECK(mismatch(twos, 7, rows, [](std::size_t, std::size_t) { return 2.5; }) == "");
        CHECK(mismatch(ones, others, 1, [](std::size_t, std::size_t) { return 1; }) == "");
    };
    for (std::size_t const n : {1u, 2u, 17u, 64u}) {
        check(numbers(n, 5, 1), numbers(3, 7, 2), n, 5, 3);
        check(numbers(4, n, 3), numbers(n, 7, 4), 4, n, n);
        constexpr extent_t rows = calque::dim("rows"), columns = calque::dim("columns");
        auto const by_name = [](auto x, auto y) {
            return calque::sum<1>(calque::broadcast_to(x, y.extent(0), y.extent(1))) + calque::sum<1>(y);
        };
        matrix const x = numbers(n, 1, 5), y = numbers(n, 9, 6);
        auto const sums =
            calque::function(by_name)(calque::with_shape<rows, 1>(x), calque::with_shape<rows, columns>(y));
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(sums(i) == x(i, 0) * 9 + std::accumulate(&y(i, 0), &y(i, 0) + 9, 0.));
        }
    }
    auto const gradient = calque::function(calque::grad(
        [](auto x, auto y) { return calque::sum(calque::broadcast_to(x, y.extent(0), x.extent(0)) * y); }));
    xt::xtensor<double, 1> const v = {1, 2, 3};
    CHECK(gradient(v, xt::xtensor<double, 2>(xt::ones<double>({5, 3}))) == xt::xtensor<double, 1>{5, 5, 5});
}

TEST_CASE("arrays known to the compiler") {
    auto const f = calque::function([](auto x) {
        return std::tuple(calque::eye<double>(3), calque::eye<int>(2, 4, 1), calque::linspace<double>(-1, 1, 7),
                          calque::linspace<float>(2, 3, 1), calque::literal(std::array{true, false}),
                          calque::literal(std::array{-1., 0.5, -0., 1e300, 5., 6., 7., 8., 9.}) * x,
                          calque::literal(std::array{std::array{1, -2, 3}, std::array{4, 5, 6}}));
    });
    auto const [unit, off, even, one, truth, weights, table] = f(2.);
    CHECK(mismatch(unit, 3, 3, [](auto i, auto j) { return i == j ? 1 : 0; }) == "");
    CHECK(mismatch(off, 2, 4, [](auto i, auto j) { return j == i + 1 ? 1 : 0; }) == "");
    for (std::size_t i = 0; i < 7; ++i) {
        CHECK(std::abs(even(i) - (static_cast<double>(i) / 3 - 1)) <= 1e-15);
    }
    CHECK((even(6) == 1 && one(0) == 2.f && truth(0) && !truth(1)));
    double const expected[] = {-2, 1, -0., 2e300, 10, 12, 14, 16, 18};
    for (std::size_t i = 0; i < 9; ++i) {
        CHECK(weights(i) == expected[i]);
    }
    CHECK(std::signbit(weights(2)));
    CHECK(mismatch(table, 2, 3,
                   [](auto i, auto j) { return i == 0 && j == 1 ? -2. : static_cast<double>(i * 3 + j + 1); }) == "");
}

TEST_CASE("what only the call knows to be wrong is an error of the call") {
    matrix const x = numbers(3, 5, 1);
    auto const halves = calque::function([](auto a) { return std::get<0>(calque::split<1, 2>(a)); });
    CHECK_THROWS_WITH_AS(halves(x), doctest::Contains("the extent of the axis is no multiple of the number of parts"),
                         calque::shape_error);
    auto const best = calque::function([](auto a) { return std::get<0>(calque::top_k<6>(a)); });
    CHECK_THROWS_AS(best(x), calque::shape_error);
    auto const dropped = calque::function([](auto a) { return calque::squeeze<0>(a); });
    CHECK_THROWS_WITH_AS(dropped(x), doctest::Contains("only an axis of extent 1 can be squeezed"),
                         calque::shape_error);
}
