// SPDX-License-Identifier: MIT
// Derivatives of branches and loops, first and second, against central differences in double. The functions are traced
// at run time and interpreted; that kernels agree with the interpreter is the matter of other tests.
#include <calque/grad.hpp>
#include <calque/trace/branches.hpp>
#include <calque/trace/creation.hpp>
#include <calque/trace/loops.hpp>
#include <calque/trace/products.hpp>
#include <calque/trace/reductions.hpp>
#include <calque/trace/shaping.hpp>

#include "run_graph.hpp"

namespace {

using calque::dyn;
using calque::expr;
using calque::shape;
using tests::extents;
using tests::tensor;
using tests::value;
using values = std::vector<value> const&;

/// The scalar `f(x, w)`.
template <class F>
double evaluate(F const& f, tensor const& x, tensor const& w, extents known) {
    tensor const y = tests::run(
        {x, w}, known, [&](values a) { return f(expr<double>(a[0], nullptr), expr<double>(a[1], nullptr)).value(); });
    return *y.as<double>();
}

/// Its gradient by argument `Argument`.
template <int Argument, class F>
tensor gradient(F const& f, tensor const& x, tensor const& w, extents known) {
    return tests::run({x, w}, known, [&](values a) {
        return calque::grad<Argument>(f)(expr<double>(a[0], nullptr), expr<double>(a[1], nullptr)).value();
    });
}

template <int Argument, class F>
void check_gradient(F const& f, tensor const& x, tensor const& w, extents known) {
    tensor const analytic = gradient<Argument>(f, x, w, known);
    tensor const& by = Argument == 0 ? x : w;
    REQUIRE(analytic.extents == by.extents);
    for (calque::extent_t i = 0; i < by.size(); ++i) {
        double const step = 1e-5;
        tensor above = by;
        tensor below = by;
        above.as<double>()[i] += step;
        below.as<double>()[i] -= step;
        double const difference = Argument == 0 ? evaluate(f, above, w, known) - evaluate(f, below, w, known)
                                                : evaluate(f, x, above, known) - evaluate(f, x, below, known);
        CAPTURE(i);
        CHECK(analytic.as<double>()[i] == doctest::Approx(difference / (2 * step)).epsilon(1e-6).scale(1));
    }
}

/// First derivatives by both arguments, and the second: the gradient of a weighted sum of the gradient.
template <class F>
void check_derivatives(F const& f, tensor const& x, tensor const& w) {
    for (extents const known : {extents::are_static, extents::are_dynamic}) {
        check_gradient<0>(f, x, w, known);
        check_gradient<1>(f, x, w, known);
        auto const slope = [&f](auto a, auto b) {
            auto const [da, db] = calque::grad<0, 1>(f)(a, b);
            return sum(da * da) + sum(sin(db));
        };
        check_gradient<0>(slope, x, w, known);
        check_gradient<1>(slope, x, w, known);
    }
}

double const x_elements[] = {0.3, -0.7, 1.1, 0.2};
double const minus_x_elements[] = {-0.3, -0.7, -1.1, -0.2};
double const w_elements[] = {0.9, 0.4, -0.5, 1.3};
tensor const x = tensor::copy_of({4}, x_elements);
tensor const minus_x = tensor::copy_of({4}, minus_x_elements);
tensor const w = tensor::copy_of({4}, w_elements);

} // namespace

TEST_CASE("cond: the derivative is that of the branch that runs") {
    auto const f = [](auto a, auto b) {
        auto const product = a * b;
        return sum(calque::cond(sum(a) > 0., [&] { return product * sin(a); }, [&] { return exp(b) + product; }));
    };
    check_derivatives(f, x, w);
    check_derivatives(f, minus_x, w);
}

TEST_CASE("cond: a branch that does not use an argument, and one that returns what it captures") {
    auto const f = [](auto a, auto b) {
        auto const [y, z] =
            calque::cond(sum(a) > 0., [&] { return std::tuple{a, b * b}; }, [&] { return std::tuple{b, b}; });
        return sum(y * z);
    };
    check_derivatives(f, x, w);
    check_derivatives(f, minus_x, w);
}

TEST_CASE("switch_case in a cond") {
    auto const f = [](auto a, auto b) {
        auto const index = calque::cast<std::int32_t>(sum(a) * 0.);
        return calque::cond(
            sum(b) > 0.,
            [&] { return calque::switch_case(index + 1, [&] { return sum(a); }, [&] { return sum(a * a * b); }); },
            [&] { return sum(b); });
    };
    check_derivatives(f, x, w);
}

TEST_CASE("fori_loop: what is carried, what is captured") {
    auto const f = [](auto a, auto b) {
        return sum(calque::fori_loop(1, 4, [&](auto i, auto y) { return tanh(y * b) + a * i; }, a));
    };
    check_derivatives(f, x, w);
}

TEST_CASE("what a loop computes and the body computes again after it") {
    auto const f = [](auto a, auto b) {
        auto const y = calque::fori_loop(0, 2, [&](auto, auto carried) { return carried * exp(a) + b; }, a);
        return sum(y * exp(a));
    };
    check_derivatives(f, x, w);
}

TEST_CASE("scan: carried values, items, stacked results, captures") {
    auto const f = [](auto a, auto b) {
        auto const total = sum(b);
        auto const [last, all] = calque::scan(
            [&](auto s, auto v) {
                auto const next = tanh(s * total + v);
                return std::tuple{next, next * v};
            },
            0., a);
        return last + sum(all * b);
    };
    check_derivatives(f, x, w);
}

TEST_CASE("scan over a matrix, carrying an array and an integer") {
    auto const f = [](auto a, auto b) {
        auto const rows = calque::matmul(expand_dims<1>(a), expand_dims<0>(b));
        auto const [last, all] = calque::scan(
            [](auto carried, auto row) {
                auto const [h, count] = carried;
                auto const next = sin(h + row) * calque::cast<double>(count);
                return std::tuple{std::tuple{next, count + 1}, sum(next * row)};
            },
            std::tuple{zeros_like(b), std::int32_t{1}}, rows);
        return sum(std::get<0>(last)) + sum(all * all);
    };
    check_derivatives(f, x, w);
}

TEST_CASE("a branch in a loop in a branch") {
    auto const f = [](auto a, auto b) {
        return calque::cond(
            sum(b) > 0.,
            [&] {
                return sum(calque::fori_loop(
                    0, 3,
                    [&](auto, auto y) {
                        return calque::cond(sum(y) > 1., [&] { return sin(y * b); }, [&] { return y + a * a; });
                    },
                    a));
            },
            [&] { return sum(a); });
    };
    check_derivatives(f, x, w);
}

TEST_CASE("a scan along no elements") {
    auto const f = [](auto a, auto b) {
        auto const [last, all] = calque::scan([&](auto s, auto v) { return std::tuple{s * v, s}; }, sum(b), a);
        return last + sum(all);
    };
    tensor const none(calque::dtype::float64, {0});
    tensor const by_w = gradient<1>(f, none, w, extents::are_dynamic);
    for (int i = 0; i < 4; ++i) {
        CHECK(by_w.as<double>()[i] == 1.);
    }
    CHECK(gradient<0>(f, none, w, extents::are_dynamic).size() == 0);
}

TEST_CASE("while_loop has no reverse derivative, and says so") {
    calque::graph::builder owner;
    expr<double> const a({&owner, owner.argument(calque::dtype::float64, shape{}, 0)}, nullptr);
    auto const f = [](auto y) {
        return calque::while_loop([](auto z) { return z < 10.; }, [](auto z) { return z * z; }, y);
    };
    static_cast<void>(calque::grad(f)(a));
    CHECK(owner.error().why == calque::graph::reason::no_reverse_derivative);
}
