// SPDX-License-Identifier: MIT
// Derivatives of every operation and composition, first and second, reverse and forward, against central differences in
// double; and at the points where they are a convention (ties, corners), against that convention.
#include <calque/graph/compositions.hpp>
#include <calque/graph/contraction.hpp>
#include <calque/graph/running.hpp>
#include <calque/passes/push_forward.hpp>

#include "run_graph.hpp"

#include <cstdint>
#include <limits>

namespace {

using namespace calque::graph;
using calque::dtype;
using calque::dyn;
using calque::extent_t;
using calque::shape;
using tests::extents;
using tests::graph_function;
using tests::make;
using tests::noise;

using values = std::vector<value> const&;

value scalar_sum(value x) {
    return squeeze(sum(x, all_axes(x)), all_axes(x));
}

/// A scalar in which each element of `y` has a weight of its own.
value weighted_sum(value y) {
    value weight = literal(y, 0.7);
    for (int axis = 0; axis < y.rank(); ++axis) {
        weight = weight + sin(iota_like(y, axis, y.type()) * (1.3 + axis));
    }
    return scalar_sum(y * weight);
}

/// Element 0 is the sum of all others' derivatives: `f` differentiated by all its floating arguments, added up.
value weighted_gradients(value y, values a) {
    std::vector<value> wrt;
    for (value const& x : a) {
        if (is_floating(x.type())) {
            wrt.push_back(x);
        }
    }
    std::vector<value> gradients(wrt.size());
    calque::passes::differentiate(y, wrt.data(), static_cast<int>(wrt.size()), gradients.data());
    value total = literal(y, 0);
    for (value const& g : gradients) {
        total = total + weighted_sum(g);
    }
    return total;
}

/// d f / d arguments[k], where `f` is a scalar.
tensor gradient(std::vector<tensor> const& arguments, extents known, graph_function const& f, std::size_t k) {
    return tests::run(arguments, known, [&](values a) {
        value result;
        calque::passes::differentiate(f(a), &a[k], 1, &result);
        return result;
    });
}

void compare_with_differences(std::vector<tensor> const& arguments, extents known, graph_function const& f,
                              double tolerance) {
    auto const evaluate = [&](std::vector<tensor> const& at) { return *tests::run(at, known, f).as<double>(); };
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        if (arguments[k].type != dtype::float64) {
            continue;
        }
        tensor const g = gradient(arguments, known, f, k);
        REQUIRE(g.extents == arguments[k].extents);
        std::vector<tensor> moved = arguments;
        for (extent_t i = 0; i < g.size(); ++i) {
            double& x = moved[k].as<double>()[i];
            double const middle = x;
            double const step = 1e-5;
            x = middle + step;
            double const above = evaluate(moved);
            x = middle - step;
            double const below = evaluate(moved);
            x = middle;
            double const expected = (above - below) / (2 * step);
            double const error = std::abs(g.as<double>()[i] - expected);
            CAPTURE(k);
            CAPTURE(i);
            CAPTURE(expected);
            CAPTURE(g.as<double>()[i]);
            CHECK(error <= tolerance * (1 + std::abs(expected)));
        }
    }
}

/// A direction in which to move an argument; integers stay where they are.
tensor direction(tensor const& argument, unsigned seed) {
    return argument.type == dtype::float64 ? noise<double>(argument.extents, seed)
                                           : tensor(argument.type, argument.extents);
}

/// Checks how `f` changes as all floating arguments move at once.
void compare_forward_with_differences(std::vector<tensor> const& arguments, extents known, graph_function const& f,
                                      double tolerance) {
    std::vector<tensor> directions;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        directions.push_back(direction(arguments[k], static_cast<unsigned>(k)));
    }
    auto const at = [&](double step) {
        std::vector<tensor> moved = arguments;
        for (std::size_t k = 0; k < arguments.size(); ++k) {
            for (extent_t i = 0; arguments[k].type == dtype::float64 && i < moved[k].size(); ++i) {
                moved[k].as<double>()[i] += step * directions[k].as<double>()[i];
            }
        }
        return tests::run(moved, known, f);
    };
    std::vector<tensor> both = arguments;
    both.insert(both.end(), directions.begin(), directions.end());
    tensor const tangent = tests::run(both, known, [&](values a) {
        std::vector<value> wrt, along, all(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(arguments.size()));
        for (std::size_t k = 0; k < arguments.size(); ++k) {
            if (is_floating(a[k].type())) {
                all[k] = apply<ops::fresh>(0, a[k]);
                wrt.push_back(all[k]);
                along.push_back(a[arguments.size() + k]);
            }
        }
        value const y = f(all);
        value result;
        calque::passes::push_forward(wrt.data(), along.data(), static_cast<int>(wrt.size()), &y, 1, &result);
        return result;
    });
    double const step = 1e-5;
    tensor const above = at(step), below = at(-step);
    REQUIRE(tangent.extents == above.extents);
    for (extent_t i = 0; i < tangent.size(); ++i) {
        double const expected = (above.as<double>()[i] - below.as<double>()[i]) / (2 * step);
        CAPTURE(i);
        CAPTURE(expected);
        CAPTURE(tangent.as<double>()[i]);
        CHECK(std::abs(tangent.as<double>()[i] - expected) <= tolerance * (1 + std::abs(expected)));
    }
}

/// Checks the first and the second derivatives of `f` by all floating arguments, the second also forward over reverse.
void check(std::vector<tensor> const& arguments, graph_function const& f) {
    for (extents const known : {extents::are_static, extents::are_dynamic}) {
        graph_function const loss = [&](values a) { return weighted_sum(f(a)); };
        compare_with_differences(arguments, known, loss, 1e-7);
        compare_with_differences(arguments, known, [&](values a) { return weighted_gradients(loss(a), a); }, 1e-6);
        compare_forward_with_differences(arguments, known, f, 1e-7);
        compare_forward_with_differences(
            arguments, known, [&](values a) { return weighted_gradients(loss(a), a); }, 1e-6);
    }
}

/// Noise around a point that keeps away from where a function has a corner or a pole.
tensor near(double middle, shape const& s, unsigned seed) {
    tensor t = noise<double>(s, seed);
    for (extent_t i = 0; i < t.size(); ++i) {
        t.as<double>()[i] = middle + t.as<double>()[i] * 0.4;
    }
    return t;
}

template <class Op>
void check_unary(std::initializer_list<double> points) {
    INFO(Op::name);
    for (double const point : points) {
        check({near(point, {3}, 1)}, [](values a) { return apply<Op>(0, a[0]); });
    }
}

template <class Op>
void check_binary(double x, double y) {
    INFO(Op::name);
    check({near(x, {2, 3}, 1), near(y, {2, 3}, 2)}, [](values a) { return apply<Op>(0, a[0], a[1]); });
    check({near(x, {3}, 3), near(y, {2, 1}, 4)}, [](values a) { return apply<Op>(0, a[0], a[1]); });
    check({near(x, {}, 5), near(y, {2}, 6)}, [](values a) { return apply<Op>(0, a[0], a[1]); });
    check({near(x, {2}, 7)}, [](values a) { return apply<Op>(0, a[0], a[0]); });
}

/// Whether d sum(f) / d x has these elements.
void check_convention(tensor const& x, graph_function const& f, std::vector<double> const& expected) {
    for (extents const known : {extents::are_static, extents::are_dynamic}) {
        tensor const g = gradient({x}, known, [&](values a) { return scalar_sum(f(a)); }, 0);
        CHECK(tests::difference(g, make(x.extents, expected), {1e-15}) == "");
    }
}

} // namespace

TEST_CASE("elementwise operations") {
    check_unary<ops::negative>({0.3});
    check_unary<ops::abs>({0.7, -0.7});
    check_unary<ops::square>({0.3});
    check_unary<ops::sqrt>({1.2});
    check_unary<ops::rsqrt>({1.2});
    check_unary<ops::exp>({0.1, 2});
    check_unary<ops::expm1>({0, 1});
    check_unary<ops::log>({0.8, 3});
    check_unary<ops::log1p>({0, 2});
    check_unary<ops::tanh>({0, 1.5});
    check_unary<ops::sigmoid>({0, -2});
    check_unary<ops::relu>({0.6, -0.6});
    check_unary<ops::sin>({0, 2});
    check_unary<ops::cos>({0, 2});
    check_unary<ops::erf>({0, 1});
    check_unary<ops::erfc>({0, 1});
    check_unary<ops::cbrt>({1, -2});
    check_unary<ops::exp2>({0, 2});
    check_unary<ops::log2>({0.8, 3});
    check_unary<ops::softplus>({0, -2, 3});
    check_unary<ops::tan>({0, 2.5});
    check_unary<ops::asin>({0, -0.5});
    check_unary<ops::acos>({0, 0.5});
    check_unary<ops::atan>({0, -2});
    check_unary<ops::sinh>({0, 1});
    check_unary<ops::cosh>({0, 1});
    check_unary<ops::asinh>({0, -2});
    check_unary<ops::acosh>({2});
    check_unary<ops::atanh>({0, 0.5});
    check_binary<ops::atan2>(-1, -2);
    check_binary<ops::fmod>(7.5, 2.3);
    check_binary<ops::add>(0, 0);
    check_binary<ops::subtract>(0, 1);
    check_binary<ops::multiply>(0.5, -1);
    check_binary<ops::divide>(0.5, -1);
    check_binary<ops::pow>(1.5, 2);
}

TEST_CASE("minimum, maximum and where, away from ties") {
    tensor const a = make<double>({2, 2}, {1.5, -2, 3, 0.5}), b = make<double>({2}, {0.25, 0.75});
    check({a, b}, [](values v) { return apply<ops::minimum>(0, v[0] * v[1], v[1]); });
    check({a, b}, [](values v) { return apply<ops::maximum>(0, v[0] * v[1], v[1]); });
    check({a, b}, [](values v) { return where(v[0] > v[1], square(v[0]), v[0] * v[1]); });
    check({a, make<double>({}, {2})}, [](values v) { return where(v[0] > 0, v[1] * v[1], v[0]); });
}

TEST_CASE("broadcasts and reductions") {
    tensor const row = near(1, {1, 3}, 1), grid = near(1, {2, 3}, 2), cube = near(1, {2, 3, 2}, 3);
    check({row}, [](values a) { return square(broadcast_to(a[0], {4, 2, 3})); });
    check({row, grid}, [](values a) { return square(broadcast_like(a[0], a[1])) * a[1]; });
    check({row, grid}, [](values a) { return apply<ops::sum_to>(0, square(a[1]), a[0]) * a[0]; });
    check({cube}, [](values a) { return square(apply<ops::fresh>(0, a[0])); });
    check({cube}, [](values a) {
        return square(apply<ops::assert_shape>(static_cast<std::uint64_t>(a[0].owner->intern({2, dyn, 2})), a[0]));
    });
    for (axis_set axes = 1; axes < 8; ++axes) {
        check({cube}, [&](values a) { return square(sum(a[0] * a[0], axes)); });
        check({cube}, [&](values a) { return square(mean(a[0] * a[0], axes)); });
        check({cube}, [&](values a) { return square(reduce_max(a[0], axes)); });
        check({cube}, [&](values a) { return a[0] * reduce_min(a[0], axes); });
        check({cube}, [&](values a) { return square(squeeze(sum(a[0] * a[0], axes), axes)); });
    }
}

TEST_CASE("softmax and its kin") {
    tensor const x = noise<double>({3, 4}, 1);
    for (axis_set const axes : {1u, 2u, 3u}) {
        check({x}, [&](values a) { return softmax(a[0], axes); });
        check({x}, [&](values a) { return log_softmax(a[0], axes); });
        check({x}, [&](values a) { return logsumexp(a[0], axes); });
    }
}

TEST_CASE("products") {
    tensor const a = noise<double>({2, 3}, 1), b = noise<double>({3, 4}, 2), v = noise<double>({3}, 3);
    check({a, b}, [](values x) { return matmul(x[0], x[1]); });
    check({v, b}, [](values x) { return matmul(x[0], x[1]); });
    check({a, v}, [](values x) { return matmul(x[0], x[1]); });
    check({v, noise<double>({3}, 4)}, [](values x) { return matmul(x[0], x[1]); });
    check({a}, [](values x) { return matmul(x[0], transpose(x[0])); });
    check({noise<double>({2, 3, 4}, 5), noise<double>({2, 4, 2}, 6)},
          [](values x) { return apply<ops::batch_matmul>(0, x[0], x[1]); });
}

TEST_CASE("views and movements") {
    tensor const x = noise<double>({2, 3, 4}, 1), y = noise<double>({2, 2, 4}, 2);
    check({x}, [](values a) { return square(reshape(a[0], {6, dyn})); });
    check({x, noise<double>({6, 4}, 3)}, [](values a) { return reshape_like(a[0], a[1]) * a[1]; });
    check({x}, [](values a) { return square(apply<ops::merge_axes>(1, a[0])); });
    check({x, y}, [](values a) { return square(apply<ops::same_batch>(0, a[0], a[1])); });
    check({x}, [](values a) { return square(transpose(a[0], 0x102)); });
    check({x}, [](values a) { return square(transpose(a[0], 0x021)); });
    check({x}, [](values a) { return square(expand_dims(a[0], 0b01001)); });
    check({x}, [](values a) { return square(squeeze(expand_dims(a[0], 0b01001), 0b01001)); });
    auto const lists = [](value v) {
        builder& b = *v.owner;
        return slice_lists{b.intern({0, -2, 1}), b.intern({1, to_the_end, 4}), b.intern({1, 1, 2})}.pack();
    };
    check({x}, [&](values a) { return square(slice(a[0], lists(a[0]))); });
    check({noise<double>({1, 2, 2}, 4), x},
          [&](values a) { return slice_adjoint(square(a[0]), a[1], lists(a[0])) * a[1]; });
    check({x, y}, [](values a) { return square(concatenate(a.data(), 2, 1)); });
    check({x}, [](values a) {
        value const twice[] = {a[0], square(a[0]), a[0]};
        return square(concatenate(twice, 3, 2));
    });
    tensor const indices = make<std::int32_t>({2, 2}, {2, 0, -1, 2});
    check({x, indices}, [](values a) { return square(take(a[0], a[1], 1)); });
    check({noise<double>({2, 2, 2, 4}, 5), indices, x},
          [](values a) { return square(take_adjoint(a[0], a[1], a[2], 1)) * a[2]; });
}

TEST_CASE("products of elements, with zeros among them") {
    tensor const x = noise<double>({2, 3, 2}, 1);
    tensor zeros = x; // one zero, two, and none in a line
    for (extent_t const i : {0, 3, 4, 5}) {
        zeros.as<double>()[i] = 0;
    }
    for (tensor const& at : {x, zeros}) {
        for (axis_set axes = 1; axes < 8; ++axes) {
            check({at}, [&](values a) { return reduce_product(a[0], axes) * a[0]; });
        }
        for (int axis = 0; axis < 3; ++axis) {
            check({at}, [&](values a) { return cumulative_product(a[0], axis); });
            check({at}, [&](values a) { return cumulative_sum(square(a[0]), axis); });
        }
    }
    for (bool const is_reversed : {false, true}) {
        for (bool const is_lagged : {false, true}) {
            std::uint64_t const order = ops::running_order{1, is_reversed, is_lagged}.pack();
            check({x, noise<double>({2, 3, 2}, 2)}, [&](values a) { return recurrence(a[0], square(a[1]), order); });
            check({make<double>({1, 1}, {2}), make<double>({1, 1}, {3})},
                  [&](values a) { return recurrence(a[0], square(a[1]), order); });
        }
    }
}

TEST_CASE("spread") {
    tensor const x = noise<double>({3, 4}, 1);
    for (axis_set const axes : {1u, 2u, 3u}) {
        check({x}, [&](values a) { return variance(a[0], axes); });
        check({x}, [&](values a) { return apply<ops::sqrt>(0, variance(a[0], axes)); });
    }
}

TEST_CASE("elements in other places") {
    tensor const x = noise<double>({2, 4, 3}, 1);
    check({x}, [](values a) { return square(flip(a[0], 0b101)); });
    check({x}, [](values a) { return square(split_axis(a[0], 1, 2)); });
    check({x}, [](values a) { return square(roll(a[0], 1, 1)); });
    check({x, make<std::int64_t>({}, {-5})}, [](values a) { return square(roll(a[0], 1, a[1])); });
    check({x}, [](values a) { return square(pad_axis(a[0], 1, 2, 1, literal(a[0], 0.5))); });
    check({x}, [](values a) { return square(where(lower_triangle(a[0], 1), a[0], zero_of(a[0]))); });
    check({x, make<std::int32_t>({1, 2, 3}, {3, 0, -1, 3, 1, 9})},
          [](values a) { return square(take_along_broadcast(a[0], a[1], 1)); });
    auto const lists = [](value v) { return range_of_axis(v, 1, 1, -1, 2); };
    check({x, noise<double>({1, 3}, 2)}, [&](values a) { return square(set_part(a[0], a[1], lists(a[0]), 0)); });
    check({x, noise<double>({3}, 2)}, [&](values a) { return square(add_to_part(a[0], a[1], lists(a[0]), 0)); });
    for (int axis = 0; axis < 3; ++axis) {
        check({x}, [&](values a) { return square(sort(a[0], axis)) * a[0]; });
    }
}

TEST_CASE("products over labelled axes") {
    tensor const a = noise<double>({2, 3, 4}, 1), b = noise<double>({2, 4, 2}, 2), c = noise<double>({4, 2}, 3);
    check({a, b}, [](values v) { return matmul_broadcast(v[0], v[1]); });
    check({a, c}, [](values v) { return matmul_broadcast(v[0], v[1]); });
    check({noise<double>({3, 1, 2, 4}, 4), b}, [](values v) { return matmul_broadcast(v[0], v[1]); });
    check({a, b}, [](values v) { return dot(v[0], v[1]); });
    check({a, b, c}, [](values v) { // bij,bjk,jl->kil: labels 0, 1, ... are b, i, j, k, l
        labelled const terms[] = {{v[0], {0, 1, 2}}, {v[1], {0, 2, 3}}, {v[2], {2, 4}}};
        int const output[] = {3, 1, 4};
        return contract_all(terms, 3, output, 3);
    });
    check({noise<double>({3, 2, 3}, 5)}, [](values v) { // iji->j
        labelled const terms[] = {{square(v[0]), {0, 1, 0}}};
        int const output[] = {1};
        return contract_all(terms, 1, output, 1);
    });
}

TEST_CASE("rows by their numbers") {
    tensor const x = noise<double>({5, 2}, 1), rows = noise<double>({4, 2}, 2);
    tensor const numbers = make<std::int32_t>({5}, {3, 0, -1, 3, 9}); // two of no row, and rows 1 and 2 of nothing
    tensor const table = make<std::uint8_t>({2, 2}, {1, 0, 1, 200});
    check({rows, numbers}, [](values a) { return square(gather_rows(a[0], a[1])); });
    check({rows, table}, [](values a) { return square(gather_rows(a[0], a[1])); });
    check({x, numbers, rows}, [](values a) { return square(segment_sum(a[0], a[1], a[2])) * a[2]; });
    check({noise<double>({2, 2, 3}, 3), table, noise<double>({2, 3}, 4)},
          [](values a) { return square(segment_sum(a[0], a[1], a[2])); });
    tensor const all = make<std::int32_t>({5}, {1, 0, 1, 1, 0}); // no row is empty: infinity has no differences
    for (auto const fold : {&segment_max, &segment_min}) {
        check({x, all, noise<double>({2, 2}, 5)}, [&](values a) { return square(fold(a[0], a[1], a[2])); });
    }
    tensor const splits = make<std::int64_t>({5}, {0, 2, 2, 3, 5});
    check({noise<double>({5}, 6), splits, noise<double>({4}, 7)},
          [](values a) { return square(segment_sum(square(a[0]), row_numbers(a[1], a[0]), a[2])); });
}

TEST_CASE("equal maxima of rows share the gradient") {
    tensor const x = make<double>({4}, {1, 2, 2, 5}), numbers = make<std::int64_t>({4}, {0, 0, 0, 7});
    auto const largest = [](values a) { return scalar_sum(segment_max(a[0], a[1], iota_like(a[1], 0, dtype::int64))); };
    CHECK(tests::difference(gradient({x, numbers}, extents::are_dynamic, largest, 0),
                            make<double>({4}, {0, 0.5, 0.5, 0})) == "");
}

TEST_CASE("what a network is made of") {
    tensor const x = noise<double>({4, 3}, 1), w = noise<double>({3, 5}, 2), b = noise<double>({5}, 3);
    tensor const labels = make<std::int32_t>({4}, {0, 4, 2, 2});
    check({x, w, b, labels}, [](values a) {
        value const h = apply<ops::tanh>(0, matmul(a[0], a[1]) + a[2]);
        return -mean(one_hot(a[3], 5, dtype::float64) * log_softmax(h, 2), 3);
    });
    check({x, b}, [](values a) { // layer normalisation
        value const centred = a[0] - mean(a[0], 2);
        return centred * apply<ops::rsqrt>(0, mean(square(centred), 2) + 1e-3) * sum(a[1], 1);
    });
}

TEST_CASE("conventions at corners and ties") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    tensor const zero = make<double>({2}, {0, -0.0});
    check_convention(zero, [](values a) { return apply<ops::relu>(0, a[0]); }, {0, 0});
    check_convention(zero, [](values a) { return apply<ops::abs>(0, a[0]); }, {0, 0});
    check_convention(make<double>({3}, {1, 2, 3}),
                     [](values a) { return apply<ops::maximum>(0, a[0], literal(a[0], 2)); }, {0, 0.5, 1});
    check_convention(make<double>({3}, {1, 2, 3}),
                     [](values a) { return apply<ops::minimum>(0, a[0], literal(a[0], 2)); }, {1, 0.5, 0});
    tensor const ties = make<double>({2, 3}, {3, 1, 3, 2, 2, 2});
    check_convention(ties, [](values a) { return reduce_max(a[0], 2); }, {0.5, 0, 0.5, 1. / 3, 1. / 3, 1. / 3});
    check_convention(ties, [](values a) { return reduce_min(a[0], 2); }, {0, 1, 0, 1. / 3, 1. / 3, 1. / 3});
    check_convention(make<double>({2}, {0, 2}), [](values a) { return pow(a[0], zero_of(a[0])); }, {0, 0});
    check_convention(make<double>({2}, {0, 1}), [](values a) { return pow(zero_of(a[0]) + 2, a[0]); },
                     {std::log(2.), 2 * std::log(2.)});
    check_convention(make<double>({1}, {3}), [](values a) { return pow(zero_of(a[0]), a[0]); }, {0});
    check_convention(make<double>({2}, {1, 2}), [](values a) { return stop_gradient(a[0]) * a[0]; }, {1, 2});
    check_convention(make<double>({2}, {1, 2}), [](values a) { return stop_gradient(a[0]); }, {0, 0});
    tensor const steps = make<double>({3}, {0, 1.5, -2.5});
    check_convention(steps, [](values a) { return apply<ops::floor>(0, a[0]) * a[0]; }, {0, 1, -3});
    check_convention(steps, [](values a) { return apply<ops::ceil>(0, a[0]) * a[0]; }, {0, 2, -2});
    check_convention(steps, [](values a) { return round(a[0]) * a[0]; }, {0, 2, -2});
    check_convention(steps, [](values a) { return apply<ops::trunc>(0, a[0]) * a[0]; }, {0, 1, -2});
    check_convention(steps, [](values a) { return apply<ops::sign>(0, a[0]) * a[0]; }, {0, 1, -1});
    check_convention(make<double>({2}, {1.5, -2}),
                     [](values a) { return cast(cast(a[0], dtype::int32), dtype::float64); }, {0, 0});
    check_convention(make<double>({2}, {-infinity, -infinity}), [](values a) { return logsumexp(a[0], 1); },
                     {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()});
    check_convention(make<double>({2}, {1, 800}), [](values a) { return logsumexp(a[0], 1); }, {0, 1});
}

TEST_CASE("empty arrays have empty gradients") {
    check_convention(make<double>({0}, {}), [](values a) { return square(a[0]); }, {});
    check_convention(make<double>({3, 0}, {}), [](values a) { return sum(exp(a[0]), 2); }, {});
    check_convention(make<double>({0, 2}, {}), [](values a) { return matmul(transpose(a[0]), a[0]); }, {});
}

TEST_CASE("float arguments through a cast to double keep their dtype") {
    tensor const x = make<float>({2}, {1, 3});
    tensor const g =
        gradient({x}, extents::are_static, [](values a) { return scalar_sum(square(cast(a[0], dtype::float64))); }, 0);
    CHECK(tests::difference(g, make<float>({2}, {2, 6})) == "");
}
