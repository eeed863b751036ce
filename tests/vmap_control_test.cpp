// SPDX-License-Identifier: MIT
// Branches and loops under `vmap`: against a C++ loop that runs the function on one example after the other, with
// gradients of each example and of all, nested, and where examples decide differently.
#include <calque/calque.hpp>

#include "run_graph.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

namespace {

using calque::cond;
using calque::expr;
using calque::fori_loop;
using calque::grad;
using calque::scan;
using calque::switch_case;
using calque::unmapped;
using calque::vmap;
using calque::while_loop;
using tests::extents;
using tests::tensor;

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;

// ---- by the interpreter: functions are traced when the test runs, so that there can be many

/// What a function of arrays of doubles returns, one array after the other.
template <class F, class... X>
std::vector<tensor> run(F const& fn, extents known, X const&... x) {
    tests::sketch s;
    std::vector<tensor> const arguments{x...};
    auto const argument = [&](tensor const& t) {
        calque::shape declared = t.extents;
        for (int axis = 0; axis < declared.rank && known == extents::are_dynamic; ++axis) {
            declared[axis] = calque::dyn;
        }
        return expr<double>(s.argument(declared, t.type), nullptr);
    };
    std::tuple<std::conditional_t<true, expr<double>, X>...> const handles{argument(x)...};
    auto const y = std::apply([&](auto const&... handle) { return fn(handle...); }, handles);
    calque::for_each_leaf(y, [&](auto const& leaf) { s.add_output(leaf.value().id); });
    REQUIRE(calque::graph::sentence(s.error().why) == "");
    std::vector<tensor> results(static_cast<std::size_t>(s.view().output_count));
    tests::interpreter::run(s.view(), arguments.data(), results.data());
    return results;
}

tensor row_of(tensor const& x, calque::extent_t i) {
    calque::shape extents;
    for (int axis = 1; axis < x.extents.rank; ++axis) {
        extents.push_back(x.extents[axis]);
    }
    return tensor::copy_of(extents, x.as<double>() + i * extents.size());
}

tensor weights() {
    return tests::make<double>({3}, {0.5, -1.25, 2});
}

/// Checks `fn(row, w)` on batches of no, one and several rows, of which some decide one way and some the other.
template <class F>
void check(F const& fn) {
    for (extents const known : {extents::are_static, extents::are_dynamic}) {
        for (calque::extent_t const count : {0, 1, 5}) {
            tensor const x = tests::noise<double>({count, 3}, 1);
            tensor const y = run(vmap<0, unmapped>(fn), known, x, weights())[0];
            REQUIRE(y.extents[0] == count);
            for (calque::extent_t i = 0; i < count; ++i) {
                CHECK(tests::difference(row_of(y, i), run(fn, known, row_of(x, i), weights())[0], {1e-9, 1e-12}) == "");
            }
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
    tensor const x = tests::noise<double>({5, 3}, 1);
    std::vector<tensor> const all = run(grad<0, 1>(loss_of_all<F>{}), extents::are_dynamic, x, weights());
    tensor total = tests::make<double>({3}, {0, 0, 0});
    for (calque::extent_t i = 0; i < 5; ++i) {
        std::vector<tensor> const one = run(grad<0, 1>(loss_of<F>{}), extents::are_dynamic, row_of(x, i), weights());
        CHECK(tests::difference(row_of(all[0], i), one[0], {1e-9, 1e-12}) == "");
        for (int k = 0; k < 3; ++k) {
            total.as<double>()[k] += one[1].as<double>()[k];
        }
    }
    CHECK(tests::difference(all[1], total, {1e-9, 1e-12}) == "");
}

// ---- branches

TEST_CASE("each example takes its own branch") {
    check_with_gradients([](auto x, auto w) {
        return cond(
            sum(x) > 0.2, [&] { return x * w; }, [&] { return exp(x) - w * w; });
    });
    check_with_gradients([](auto x, auto w) { // several results, of which one is the same for all
        auto const [a, b] = cond(
            view(x, 0) < view(w, 0),
            [&] {
                return std::tuple{sin(x), w * 2.0};
            },
            [&] {
                return std::tuple{w * sum(x), w * 2.0};
            });
        return a * b;
    });
}

TEST_CASE("all examples take one branch, which remains one") {
    check_with_gradients([](auto x, auto w) {
        auto const [a, b] = cond(
            sum(w) > 1.0,
            [&] {
                return std::tuple{x * w, w + 1.0};
            },
            [&] {
                return std::tuple{x - w, w};
            });
        return a + b;
    });
}

TEST_CASE("one of several branches, the nearest if there is none") {
    auto constexpr by_sign = [](auto x, auto w) {
        auto const index = cast<std::int64_t>(view(x, 0) * 4.0); // -3 to 3
        return switch_case(
            index, [&] { return x * w; }, [&] { return w; }, [&] { return x * x; });
    };
    check_with_gradients(by_sign);
    check([](auto x, auto w) {
        auto const index = cast<std::uint8_t>(abs(view(x, 1)) * 4.0);
        return switch_case(
            index, [&] { return x * w; }, [&] { return w; }, [&] { return x * x; });
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
        auto const [last, steps] = scan(
            [&](auto carried, auto item) {
                return std::tuple{carried + x * item, item * item};
            },
            x, w);
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
        return fori_loop(
            1, 4, [&](auto i, auto y) { return y * w + sin(x * i); }, x);
    });
    check([](auto x, auto w) { // as often as all
        return fori_loop(
            0, cast<std::int64_t>(sum(w) * 3.0), [&](auto i, auto y) { return y * x + i; }, x);
    });
    check([](auto x, auto w) { // as often as each
        return fori_loop(
            0, cast<std::int64_t>(sum(x) * 4.0), [&](auto i, auto y) { return y * w + i; }, x);
    });
}

TEST_CASE("while_loop runs until all are done, and those that are keep what they have") {
    check([](auto x, auto w) {
        return while_loop([&](auto y) { return sum(y * y) < 50.0; }, [&](auto y) { return y * 1.5 + w * y; }, x);
    });
    check([](auto x, auto) { // how often differs, and is counted
        auto const [last, count] = while_loop([&](auto y, auto) { return max(abs(y)) > 0.1; },
                                              [&](auto y, auto n) {
                                                  return std::tuple{y * 0.5, n + 1.0};
                                              },
                                              x, 0.0);
        return last + count;
    });
    check([](auto x, auto w) { // all do the same number of steps
        auto const [last, count] = while_loop([&](auto, auto n) { return n < sum(w) * 3.0; },
                                              [&](auto y, auto n) {
                                                  return std::tuple{y * x + n, n + 1.0};
                                              },
                                              x, 0.0);
        return last * count;
    });
}

TEST_CASE("a loop in a branch does not run for those that have not taken it") {
    check([](auto x, auto w) { // it would not end for the others
        return cond(
            sum(x) > 0.0,
            [&] { return while_loop([](auto y) { return sum(y) < 9.0; }, [](auto y) { return y * 2.0; }, x); },
            [&] { return w; });
    });
    check([](auto x, auto w) { // nor in another loop for those that are done
        return while_loop(
            [](auto y) { return sum(y) > 0.0; },
            [&](auto y) {
                return while_loop([](auto z) { return sum(z) < 9.0; }, [](auto z) { return z * 2.0; }, y) * 0.0 - w * w;
            },
            x);
    });
}

TEST_CASE("branches and loops in each other") {
    check_with_gradients([](auto x, auto w) {
        auto const [last, steps] = scan(
            [&](auto carried, auto item) {
                auto const next = cond(
                    item > 0.0, [&] { return carried + item * w; },
                    [&] {
                        return fori_loop(
                            0, 2, [&](auto, auto y) { return y * item; }, carried);
                    });
                return std::tuple{next, sum(next)};
            },
            x, x);
        return last * steps;
    });
}

// ---- by kernels

matrix make_rows(std::size_t count) {
    tensor const noise = tests::noise<double>({static_cast<calque::extent_t>(count), 3}, 1);
    matrix x(std::array<std::size_t, 2>{count, 3});
    std::copy(noise.as<double>(), noise.as<double>() + noise.size(), x.data());
    return x;
}

/// Checks `fn(row)` by its kernels.
template <class F>
void check_compiled(F const& fn) {
    auto const one = calque::function(fn);
    auto const all = calque::function(vmap(fn));
    for (std::size_t const count : {0u, 1u, 5u}) {
        matrix const x = make_rows(count);
        matrix const y = all(x);
        REQUIRE(y.shape(0) == count);
        for (std::size_t i = 0; i < count; ++i) {
            vector const expected = one(vector(xt::view(x, i)));
            for (std::size_t j = 0; j < expected.size(); ++j) {
                CHECK(y(i, j) == doctest::Approx(expected(j)).epsilon(1e-12));
            }
        }
    }
}

inline constexpr auto running = [](auto x) {
    auto const [last, steps] = scan(
        [](auto carried, auto item) {
            return std::tuple{cond(
                                  item > 0.0, [&] { return carried + item; }, [&] { return carried * item; }),
                              carried * item};
        },
        0.5, x);
    return steps * last;
};

TEST_CASE("kernels of batches") {
    check_compiled(grad([](auto x) { return sum(running(x)); }));
    check_compiled([](auto x) {
        return while_loop([&](auto y) { return sum(y * y) < 50.0; }, [&](auto y) { return y * 1.5 + exp(y); }, x);
    });
    check_compiled([](auto x) { return std::get<1>(calque::jvp(running)(x, x * 0.5)); }); // forward
}

TEST_CASE("a branch that all take is one, and no value retraces") {
    auto const fn = calque::function(vmap<0, unmapped>([](auto x, auto w) {
        return cond(
            sum(w) > 1.0,
            [&] { return while_loop([](auto y) { return y < 100.0; }, [](auto y) { return y * 2.0; }, x); },
            [&] { return x * sum(w); });
    }));
    vector const many = {1, 2, 0}, none = {0, 0, 0};
    CHECK(fn(vector{1, 100, 3}, many) == vector{128, 100, 192});
    CHECK(fn(vector{-1, 1e-9, 3}, none) == vector{0, 0, 0}); // the loop would not end for -1
    CHECK(fn.trace_count() == 1);
}

// ---- of batches of batches, and with another axis

inline constexpr auto step = [](auto x, auto w) {
    return cond(
        x * w > 0.0,
        [&] { return while_loop([](auto y) { return y < 4.0; }, [](auto y) { return y * 2.0; }, abs(x) + 0.1); },
        [&] { return w - x; });
};

TEST_CASE("nested, and by other axes") {
    tensor const a = tests::make<double>({3}, {1.5, -0.25, 3}), b = tests::make<double>({2}, {2, -1});
    tensor const table = run(vmap<0, unmapped>(vmap<unmapped, 0>(step)), extents::are_dynamic, a, b)[0];
    tensor const turned = run(vmap<unmapped, 0>(vmap<0, unmapped>(step)), extents::are_dynamic, a, b)[0];
    for (calque::extent_t i = 0; i < 3; ++i) {
        for (calque::extent_t j = 0; j < 2; ++j) {
            tensor const one = run(step, extents::are_dynamic, row_of(a, i), row_of(b, j))[0];
            CHECK(table.as<double>()[i * 2 + j] == *one.as<double>());
            CHECK(turned.as<double>()[j * 3 + i] == *one.as<double>());
        }
    }
    tensor const x = tests::noise<double>({3, 4}, 2);
    tensor const columns = run([](auto m) { return transpose(m); }, extents::are_dynamic, x)[0];
    CHECK(tests::difference(run(vmap<1>(running), extents::are_dynamic, x)[0],
                            run(vmap(running), extents::are_dynamic, columns)[0]) == "");
}

} // namespace
