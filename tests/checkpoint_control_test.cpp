// SPDX-License-Identifier: MIT
// `checkpoint` and `custom_vjp` of functions with branches and loops: the gradients that the functions have without
// them, and central differences. Most are traced at run time and interpreted.
#include <calque/calque.hpp>

#include "run_graph.hpp"

#include <tuple>
#include <utility>
#include <vector>

namespace {

using calque::checkpoint;
using calque::expr;
using calque::grad;
using tests::extents;
using tests::tensor;

/// `f(x, w)`, traced and interpreted.
template <class F>
tensor run(F const& f, tensor const& x, tensor const& w, extents known) {
    return tests::run({x, w}, known, [&](std::vector<calque::graph::value> const& a) {
        return f(expr<double>(a[0], nullptr), expr<double>(a[1], nullptr)).value();
    });
}

/// Checks the gradients of `f`, a scalar, by both arguments.
template <class F, class Plain>
void check_gradients(F const& f, Plain const& plain, tensor const& x, tensor const& w) {
    for (extents const known : {extents::are_static, extents::are_dynamic}) {
        CHECK(tests::difference(run(f, x, w, known), run(plain, x, w, known)) == "");
        tensor const by_x = run(grad<0>(f), x, w, known);
        tensor const by_w = run(grad<1>(f), x, w, known);
        CHECK(tests::difference(by_x, run(grad<0>(plain), x, w, known), {1e-12, 1e-14}) == "");
        CHECK(tests::difference(by_w, run(grad<1>(plain), x, w, known), {1e-12, 1e-14}) == "");
        for (int const argument : {0, 1}) {
            tensor const& analytic = argument == 0 ? by_x : by_w;
            for (calque::extent_t i = 0; i < analytic.size(); ++i) {
                double slope = 0;
                for (double const step : {1e-5, -1e-5}) {
                    tensor moved[] = {x, w};
                    moved[argument].as<double>()[i] += step;
                    tensor const y = run(f, moved[0], moved[1], known);
                    slope += *y.as<double>() / (2 * step);
                }
                CAPTURE(argument);
                CAPTURE(i);
                CHECK(analytic.as<double>()[i] == doctest::Approx(slope).epsilon(1e-6).scale(1));
            }
        }
    }
}

/// The same of the function with and without a checkpoint, where the cotangent depends on the value.
template <class F>
void check_checkpoint(F const& f, tensor const& x, tensor const& w) {
    check_gradients([&](auto a, auto b) { return sum(sin(checkpoint(f)(a, b)) * a); },
                    [&](auto a, auto b) { return sum(sin(f(a, b)) * a); }, x, w);
}

double const x_elements[] = {0.3, -0.7, 1.1, 0.2};
tensor const some_x = tensor::copy_of({4}, x_elements);
double const minus_x_elements[] = {-0.3, -0.7, -1.1, -0.2};
tensor const minus_x = tensor::copy_of({4}, minus_x_elements);
double const w_elements[] = {0.9, 0.4, -0.5, 1.3};
tensor const some_w = tensor::copy_of({4}, w_elements);

inline constexpr auto folded = [](auto a, auto b) {
    auto const scale = tanh(sum(b)); // captured by the steps
    auto const [last, all] = calque::scan(
        [=](auto carried, auto item) {
            auto const next = tanh(carried * item + b);
            return std::pair{next * scale, sum(next * carried)};
        },
        a * scale, b);
    return last + all;
};
inline constexpr auto chosen = [](auto a, auto b) {
    auto const product = a * b;
    return calque::cond(sum(a) > 0., [=] { return product * sin(a); }, [=] { return b; });
};

} // namespace

TEST_CASE("a checkpoint of a scan") {
    check_checkpoint(folded, some_x, some_w);
}

TEST_CASE("a checkpoint of a branch: the one that runs, and one that returns what it captures") {
    check_checkpoint(chosen, some_x, some_w);
    check_checkpoint(chosen, minus_x, some_w);
}

TEST_CASE("a checkpoint of a branch in a loop in a branch, which reads values of all of them") {
    auto const f = [](auto a, auto b) {
        auto const c = exp(b);
        return calque::cond(
            sum(b) > 0.,
            [=] {
                auto const d = sin(a);
                return calque::fori_loop(
                    0, 3,
                    [=](auto i, auto y) {
                        auto const e = y * d;
                        return calque::cond(sum(y) > 1., [=] { return e * b; }, [=] { return y + c * e * i; });
                    },
                    a);
            },
            [=] { return a; });
    };
    check_checkpoint(f, some_x, some_w);
}

TEST_CASE("a checkpoint of a while_loop that needs no derivative") {
    auto const f = [](auto a, auto b) {
        auto const doubled = calque::while_loop([](auto y, auto) { return y < 10.; },
                                                [](auto y, auto count) { return std::tuple{y * 2, count + 1}; },
                                                calque::stop_gradient(sum(a * a)), std::int32_t{0});
        return a * b * calque::cast<double>(std::get<1>(doubled));
    };
    check_checkpoint(f, some_x, some_w);
}

TEST_CASE("a checkpoint in the steps of a scan, of a function with a branch") {
    auto const steps = [](auto f) {
        return [=](auto a, auto b) {
            return sum(calque::fori_loop(0, 3, [=](auto, auto y) { return f(y, b) + a; }, a));
        };
    };
    check_gradients(steps(checkpoint(chosen)), steps(chosen), some_x, some_w);
}

TEST_CASE("custom_vjp with a derivative that has loops and branches on the cotangent") {
    auto const weighted = [](auto a, auto b) { return a * b * b * b; };
    auto const own = calque::custom_vjp(weighted, [](auto a, auto b, auto u) {
        auto const thirds = [=] {
            auto const add = [=](auto total, auto count) { return std::tuple{total + u * b * b * b / 3, count + 1}; };
            return std::get<0>(calque::while_loop([](auto, auto count) { return count < 3; }, add, zeros_like(a),
                                                  std::int32_t{0}));
        };
        auto const by_a = calque::cond(sum(b) > 0., thirds, [=] { return zeros_like(a); }); // only the loop reads u
        auto const tripled = calque::scan([](auto count, auto item) { return std::pair{count + 1, 3 * item}; }, 0., u);
        auto const by_product = std::get<1>(tripled) * b;
        auto const by_b =
            calque::cond(sum(u) > 0., [=] { return by_product * (a * b); }, [=] { return by_product * b * a; });
        return std::tuple{by_a, by_b};
    });
    check_gradients([&](auto a, auto b) { return sum(sin(own(a, b)) * b); },
                    [&](auto a, auto b) { return sum(sin(weighted(a, b)) * b); }, some_x, some_w);
}

// ---- compiled

namespace {

using matrix = xt::xtensor<double, 2>;

inline constexpr auto decay = [](auto x) {
    return calque::fori_loop(0, 10, [=](auto, auto y) { return y - 0.1 * sin(y * x); }, x);
};
template <auto const& Part>
inline constexpr auto decays = [](auto x) { return sum(Part(Part(Part(x)))); };
inline constexpr auto checkpointed_decay = checkpoint(decay);

template <auto const& F>
inline constexpr auto loss = [](auto row, auto w) { return sum(calque::square(F(row, w))); };
template <auto const& F>
inline constexpr auto of_each = calque::vmap<0, calque::unmapped>(grad<0, 1>(loss<F>));
inline constexpr auto checkpointed_choice = checkpoint(chosen);

} // namespace

TEST_CASE("kernels: loops, in less memory") {
    auto const plain = calque::function(calque::value_and_grad(decays<decay>));
    auto const less = calque::function(calque::value_and_grad(decays<checkpointed_decay>));
    xt::xtensor<double, 1> const x = xt::linspace<double>(-1, 1, 1000);
    auto const [y, dy] = plain(x);
    auto const [z, dz] = less(x);
    CHECK(z == doctest::Approx(y));
    CHECK(xt::allclose(dz, dy, 1e-12));
    CHECK(less.plan(x).bytes() < plain.plan(x).bytes() * 2 / 3);
}

TEST_CASE("kernels: the gradient of each example, by the branch that it takes") {
    matrix const rows = {{0.3, -0.7, 1.1, 0.2}, {-0.3, -0.7, -1.1, -0.2}, {0, 1, -0.5, 0}};
    xt::xtensor<double, 1> const w = {0.9, 0.4, -0.5, 1.3};
    auto const [dx, dw] = calque::function(of_each<checkpointed_choice>)(rows, w);
    auto const [ex, ew] = calque::function(of_each<chosen>)(rows, w);
    CHECK(xt::allclose(dx, ex, 1e-12));
    CHECK(xt::allclose(dw, ew, 1e-12));
}
