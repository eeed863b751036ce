// SPDX-License-Identifier: MIT
// Branches and loops under `vmap`: against a C++ loop that runs the function on one example after the other, with
// gradients of each example and of all, nested, and where examples decide differently.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <tuple>

namespace {

using calque::cond;
using calque::fori_loop;
using calque::grad;
using calque::scan;
using calque::switch_case;
using calque::unmapped;
using calque::vmap;
using calque::while_loop;

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;

/// Rows that are no pattern, of which some decide one way and some the other.
matrix make_rows(std::size_t count) {
    matrix x(std::array<std::size_t, 2>{count, 3});
    std::uint64_t state = 1;
    for (double& element : x) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        element = static_cast<double>(static_cast<std::int32_t>(state >> 32)) / 2147483648.0;
    }
    return x;
}

void check_close(vector const& given, vector const& expected) {
    REQUIRE(given.size() == expected.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
        CHECK(given(i) == doctest::Approx(expected(i)).epsilon(1e-12));
    }
}

vector row_of(matrix const& x, std::size_t i) {
    return xt::view(x, i);
}

vector const weights = {0.5, -1.25, 2};

/// Checks `fn(row, w)`, which returns an array of 3, on batches of no, one and several rows.
template <class F>
void check(F const& fn) {
    auto const one = calque::function(fn);
    auto const all = calque::function(vmap<0, unmapped>(fn));
    for (std::size_t const count : {0, 1, 5}) {
        matrix const x = make_rows(count);
        matrix const y = all(x, weights);
        REQUIRE(y.shape(0) == count);
        for (std::size_t i = 0; i < count; ++i) {
            check_close(row_of(y, i), one(row_of(x, i), weights));
        }
    }
}

template <class F>
struct loss_of {
    constexpr auto operator()(auto x, auto w) const {
        auto const y = F{}(x, w);
        return sum(y * y);
    }
};

template <class F>
struct loss_of_all {
    constexpr auto operator()(auto x, auto w) const { return sum(vmap<0, unmapped>(loss_of<F>{})(x, w)); }
};

/// The same, and its gradients: of each example, and of what all share.
template <class F>
void check_with_gradients(F const& fn) {
    check(fn);
    check(grad(loss_of<F>{}));
    matrix const x = make_rows(5);
    auto const [by_rows, by_weights] = calque::function(grad<0, 1>(loss_of_all<F>{}))(x, weights);
    auto const one = calque::function(grad<0, 1>(loss_of<F>{}));
    vector total = {0, 0, 0};
    for (std::size_t i = 0; i < 5; ++i) {
        auto const [by_row, by_shared] = one(row_of(x, i), weights);
        check_close(row_of(by_rows, i), by_row);
        total += by_shared;
    }
    check_close(by_weights, total);
}

// ---- branches

TEST_CASE("each example takes its own branch") {
    check_with_gradients([](auto x, auto w) {
        return cond(sum(x) > 0.2, [&] { return x * w; }, [&] { return exp(x) - w * w; });
    });
    check_with_gradients([](auto x, auto w) { // several results, of which one is the same for all
        auto const [a, b] = cond(view(x, 0) < view(w, 0), [&] { return std::tuple{sin(x), w * 2.0}; },
                                 [&] { return std::tuple{w * sum(x), w * 2.0}; });
        return a * b;
    });
}

TEST_CASE("all examples take one branch, which remains one") {
    auto constexpr fn = [](auto x, auto w) {
        auto const [a, b] =
            cond(sum(w) > 1.0, [&] { return std::tuple{x * w, w + 1.0}; }, [&] { return std::tuple{x - w, w}; });
        return a + b;
    };
    check_with_gradients(fn);
    CHECK(calque::function(vmap<0, unmapped>(fn)).plan(make_rows(2), weights).text().find("region") !=
          std::string::npos);
}

TEST_CASE("one of several branches, the nearest if there is none") {
    auto constexpr by_sign = [](auto x, auto w) {
        auto const index = cast<std::int64_t>(view(x, 0) * 4.0); // -3 to 3
        return switch_case(index, [&] { return x * w; }, [&] { return w; }, [&] { return x * x; });
    };
    check_with_gradients(by_sign);
    check([](auto x, auto w) {
        auto const index = cast<std::uint8_t>(abs(view(x, 1)) * 4.0);
        return switch_case(index, [&] { return x * w; }, [&] { return w; }, [&] { return x * x; });
    });
}

// ---- loops

TEST_CASE("scans of batches") {
    auto constexpr decay = [](auto x, auto w) {
        auto const [last, steps] = scan(
            [&](auto carried, auto item) {
                auto const next = carried * 0.5 + item * sum(w * x);
                return std::tuple{next, next * item};
            },
            0.25, x);
        return steps * last;
    };
    check_with_gradients(decay); // what is carried starts the same for all, and differs from the first step on
    check_with_gradients([](auto x, auto w) { // over items that are the same for all
        auto const [last, steps] =
            scan([&](auto carried, auto item) { return std::tuple{carried + x * item, item * item}; }, x, w);
        return last * steps;
    });
    check_with_gradients([](auto x, auto w) { // a part of the carried values is
        auto const [last, steps] = scan(
            [&](auto carried, auto item) {
                auto const [a, b] = carried;
                return std::tuple{std::tuple{a * b + item, b + 1.0}, b};
            },
            std::tuple{0.5, 1.0}, x);
        return steps * std::get<0>(last) * w + std::get<1>(last);
    });
}

TEST_CASE("fori_loop, with bounds of all kinds") {
    check_with_gradients([](auto x, auto w) {
        return fori_loop(1, 4, [&](auto i, auto y) { return y * w + sin(x * i); }, x);
    });
    check([](auto x, auto w) { // as often as all
        return fori_loop(0, cast<std::int64_t>(sum(w) * 3.0), [&](auto i, auto y) { return y * x + i; }, x);
    });
    check([](auto x, auto w) { // as often as each
        return fori_loop(0, cast<std::int64_t>(sum(x) * 4.0), [&](auto i, auto y) { return y * w + i; }, x);
    });
}

TEST_CASE("while_loop runs until all are done, and those that are keep what they have") {
    check([](auto x, auto w) {
        return while_loop([&](auto y) { return sum(y * y) < 50.0; }, [&](auto y) { return y * 1.5 + w * y; }, x);
    });
    check([](auto x, auto) { // how often differs, and is counted
        auto const [last, count] = while_loop([&](auto y, auto) { return max(abs(y)) > 0.1; },
                                              [&](auto y, auto n) { return std::tuple{y * 0.5, n + 1.0}; }, x, 0.0);
        return last + count;
    });
    check([](auto x, auto w) { // all do the same number of steps
        auto const [last, count] =
            while_loop([&](auto, auto n) { return n < sum(w) * 3.0; },
                       [&](auto y, auto n) { return std::tuple{y * x + n, n + 1.0}; }, x, 0.0);
        return last * count;
    });
}

TEST_CASE("a loop in a branch does not run for those that have not taken it") {
    check([](auto x, auto w) { // it would not end for the others
        return cond(sum(x) > 0.0, [&] { return while_loop([](auto y) { return sum(y) < 9.0; },
                                                          [](auto y) { return y * 2.0; }, x); },
                    [&] { return w; });
    });
    check([](auto x, auto w) { // nor in another loop for those that are done
        return while_loop([](auto y) { return sum(y) > 0.0; },
                          [&](auto y) {
                              return while_loop([](auto z) { return sum(z) < 9.0; }, [](auto z) { return z * 2.0; }, y) *
                                         0.0 - w * w;
                          },
                          x);
    });
}

TEST_CASE("branches and loops in each other") {
    check_with_gradients([](auto x, auto w) {
        auto const [last, steps] = scan(
            [&](auto carried, auto item) {
                auto const next = cond(item > 0.0, [&] { return carried + item * w; },
                                       [&] { return fori_loop(0, 2, [&](auto, auto y) { return y * item; }, carried); });
                return std::tuple{next, sum(next)};
            },
            x, x);
        return last * steps;
    });
}

// ---- of batches of batches, forward, and with another axis

inline constexpr auto running = [](auto x) {
    auto const [last, steps] = scan([](auto c, auto v) { return std::tuple{c + v * v, c * v}; }, 0.0, x);
    return steps * last;
};
inline constexpr auto forward = [](auto p, auto t) { return std::get<1>(calque::jvp(running)(p, t)); };

TEST_CASE("nested, by other axes, and forward") {
    auto constexpr step = [](auto x, auto w) {
        return cond(x * w > 0.0, [&] { return while_loop([](auto y) { return y < 4.0; }, [](auto y) { return y * 2.0; },
                                                         abs(x) + 0.1); },
                    [&] { return w - x; });
    };
    vector const a = {1.5, -0.25, 3}, b = {2, -1};
    matrix const table = calque::function(vmap<0, unmapped>(vmap<unmapped, 0>(step)))(a, b);
    matrix const turned = calque::function(vmap<unmapped, 0>(vmap<0, unmapped>(step)))(a, b);
    auto const one = calque::function(step);
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            CHECK(table(i, j) == doctest::Approx(one(a(i), b(j))));
            CHECK(turned(j, i) == doctest::Approx(one(a(i), b(j))));
        }
    }

    matrix const x = make_rows(4), columns = xt::transpose(x);
    matrix const by_column = calque::function(vmap<1>(running))(columns);
    matrix const tangents = make_rows(4) * 0.5 + 0.1;
    matrix const moved = calque::function(vmap(forward))(x, tangents);
    for (std::size_t i = 0; i < 4; ++i) {
        check_close(row_of(by_column, i), calque::function(running)(row_of(x, i)));
        check_close(row_of(moved, i), calque::function(forward)(row_of(x, i), row_of(tangents, i)));
    }
}

TEST_CASE("no value retraces") {
    auto const fn = calque::function(vmap([](auto x) {
        return while_loop([](auto y) { return y < 100.0; }, [](auto y) { return y * 2.0; }, x);
    }));
    fn(vector{1, 2, 3});
    fn(vector{1000, 1e-9, 3});
    CHECK(fn.trace_count() == 1);
}

} // namespace
