// SPDX-License-Identifier: MIT
// Schedules whose arrays all fit into registers, against the interpreter.
#include "tensor_compare.hpp"

#include <xtensor/xfixed.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

namespace {

using calque::all;
using calque::dyn;
using calque::range;
using calque::with_shape;
using calque::graph::to_the_end;
using tests::check_fused;
using tests::equal_bits;
using tests::noise;

template <class T, std::size_t... Extents>
using fixed = xt::xtensor_fixed<T, xt::xshape<Extents...>>;

/// Whether a function runs in registers with these arguments.
template <class F, class... Args>
bool is_in_registers(F const& f, Args const&... args) {
    return calque::function(f).plan(args...).text().starts_with("one function, all arrays in registers");
}

inline constexpr auto kalman = [](auto x, auto P, auto F, auto Q, auto H, auto z) {
    auto const predicted = matmul(F, x);
    auto const spread = matmul(matmul(F, P), transpose(F)) + Q;
    auto const cross = matmul(spread, transpose(H));
    auto const S = matmul(H, cross) + calque::eye<double>(2);
    auto const a = view(S, 0, 0), b = view(S, 0, 1), c = view(S, 1, 0), d = view(S, 1, 1);
    auto const inverse = calque::stack<0>(calque::stack<0>(d, -b), calque::stack<0>(-c, a)) / (a * d - b * c);
    auto const gain = matmul(cross, inverse);
    return std::tuple{predicted + matmul(gain, z - matmul(H, predicted)), spread - matmul(gain, matmul(H, spread))};
};
inline constexpr auto folds = [](auto x, auto y) {
    return std::tuple{calque::sum<0>(x),      calque::sum<1>(x),
                      calque::sum<-1>(x),     calque::sum<0, 1>(x),
                      calque::sum<1, 2>(x),   calque::sum(x),
                      calque::max<1>(x),      calque::min<-1>(x),
                      calque::max(x),         calque::prod<0>(x),
                      calque::max<0>(x * y),  x - calque::sum<1>(x, calque::keepdims),
                      x / calque::sum(x * x), calque::sum<2>(x) * 2 + calque::max<2>(y)};
};
inline constexpr auto rows = [](auto x, auto w) {
    return std::tuple{softmax<-1>(x),     calque::logsumexp<-1>(x),
                      softmax<0>(x * w),  calque::mean<0>(x) * w,
                      calque::var<-1>(x), (x - calque::mean<-1>(x, calque::keepdims)) * w};
};
inline constexpr auto views = [](auto x) {
    auto const y = x * 2 + 1;
    auto const turned = transpose(y);
    return std::tuple{turned,
                      turned * 3,
                      reshape(turned, dyn) + 1,
                      flip<1>(x) - y,
                      view(y, all(), range(0, to_the_end, 2)) * 2,
                      view(turned, -1) + view(y, all(), 0),
                      calque::concatenate<0>(x, y, -x),
                      calque::concatenate<1>(y, view(x, all(), range(0, 1)), transpose(turned) * 2),
                      calque::stack<0>(view(x, 0), view(y, -1)),
                      calque::stack<-1>(view(x, 0) + 1, view(y, -1)),
                      expand_dims<0>(y) * expand_dims<1>(x)};
};
inline constexpr auto products = [](auto a, auto b, auto v) {
    return std::tuple{matmul(a, b),
                      matmul(transpose(b), transpose(a)) * 2,
                      matmul(a, v) + 1,
                      matmul(v, b) - calque::sum<0>(b),
                      calque::sum(matmul(a, b) * transpose(matmul(transpose(b), transpose(a)))),
                      matmul(relu(a), exp(b)) - view(v, 0)};
};
inline constexpr auto constants = [](auto x) {
    return std::tuple{x + calque::arange<float>(5),
                      x * calque::linspace<float>(0, 1, 5),
                      calque::eye<float>(3),
                      cast<std::int64_t>(x) + calque::arange<std::int64_t>(5),
                      x * cast<float>(calque::arange<std::int32_t>(5) > 2),
                      calque::full<float>(3.f, 2, 2),
                      calque::mean(x)};
};
inline constexpr auto folds_of_numbers = [](auto x, auto m) {
    auto const everywhere = broadcast_to(x, 3, 4);
    return std::tuple{calque::sum<1>(everywhere),     calque::sum<0>(everywhere * 2),
                      calque::max<1>(everywhere),     calque::prod<0>(everywhere),
                      calque::sum(everywhere),        calque::sum<1>(m) + calque::sum<1>(everywhere),
                      m - calque::sum<0>(everywhere), calque::sum<1>(m * x)};
};
inline constexpr auto mixed = [](auto x, auto i) {
    return std::tuple{cast<double>(x) / 3,
                      x * cast<float>(i),
                      i * i - 1,
                      calque::sum(i),
                      calque::max<0>(i),
                      where(x > 0, x, 2 * x),
                      calque::sum(where(i > 1, x, 0.f)),
                      calque::sum(cast<double>(x) * 2)};
};
inline constexpr auto loss = [](auto w, auto x, auto y) {
    return calque::sum(square(tanh(matmul(w, x)) - y)) + calque::max<0>(calque::sum<1>(w));
};
inline constexpr auto lorenz = [](auto start) {
    auto const slope = [](auto s) {
        auto const x = view(s, 0), y = view(s, 1), z = view(s, 2);
        return calque::stack<0>(10 * (y - x), x * (28 - z) - y, x * y - 2.5 * z);
    };
    auto const step = [=](auto, auto s) {
        auto const k1 = slope(s), k2 = slope(s + 0.005 * k1), k3 = slope(s + 0.005 * k2), k4 = slope(s + 0.01 * k3);
        return s + (0.01 / 6) * (k1 + 2 * k2 + 2 * k3 + k4);
    };
    return calque::fori_loop(0, 40, step, start);
};
inline constexpr auto carried_elements = [](auto number, auto v, auto items, auto m) {
    auto const step = [=](auto carried, auto item) {
        auto const [x, y] = carried;
        auto const next = matmul(m, y) * x + item;
        return std::tuple{std::tuple{view(next, 1), next / (1 + calque::sum(next * next))},
                          transpose(m) * view(next, 0)};
    };
    return calque::scan(step, std::tuple{number, v}, items);
};
inline constexpr auto power_method = [](auto m, auto v) {
    return calque::while_loop([](auto n, auto) { return n < 20; },
                              [=](auto n, auto x) {
                                  auto const y = matmul(m, x);
                                  return std::tuple{n + 1, y / sqrt(calque::sum(y * y))};
                              },
                              std::int32_t{0}, v);
};

} // namespace

TEST_CASE("a step of a Kalman filter") {
    fixed<double, 4> const x = noise<double, 1>({4}, 1);
    fixed<double, 4, 4> const P = noise<double, 2>({4, 4}, 2), F = noise<double, 2>({4, 4}, 3),
                              Q = noise<double, 2>({4, 4}, 4);
    fixed<double, 2, 4> const H = noise<double, 2>({2, 4}, 5);
    fixed<double, 2> const z = noise<double, 1>({2}, 6);
    check_fused(kalman, tests::closeness{1000, 10}, x, P, F, Q, H, z);
    CHECK(is_in_registers(kalman, x, P, F, Q, H, z) == (4 * 4 <= 4 * calque::simd::width));
}

TEST_CASE_TEMPLATE("reductions along any axes", T, float, double) {
    tests::closeness const allowed{16, 16};
    auto const check = [&]<std::size_t A, std::size_t B, std::size_t C>(fixed<T, A, B, C> const&) {
        fixed<T, A, B, C> x = noise<T, 3>({A, B, C}, 1);
        fixed<T, A, B, C> const y = noise<T, 3>({A, B, C}, 2);
        check_fused(folds, allowed, x, y);
        x(A - 1, 0, C - 1) = std::numeric_limits<T>::quiet_NaN();
        check_fused(folds, allowed, x, y);
        x(A - 1, 0, C - 1) = std::numeric_limits<T>::infinity();
        check_fused(folds, allowed, x, y);
        CHECK(is_in_registers(folds, x, y) == (A * B * C <= 4 * calque::simd::width));
    };
    check(fixed<T, 1, 1, 1>{});
    check(fixed<T, 2, 2, 2>{});
    check(fixed<T, 3, 1, 5>{});
    check(fixed<T, 2, 3, 4>{});
    check(fixed<T, 1, 7, 2>{});
    check(fixed<T, 4, 4, 4>{});
    check(fixed<T, 5, 13, 1>{});
}

TEST_CASE_TEMPLATE("rows and columns", T, float, double) {
    tests::closeness const allowed{16, 16};
    auto const check = [&]<std::size_t A, std::size_t B>(fixed<T, A, B> const&) {
        check_fused(rows, allowed, fixed<T, A, B>(noise<T, 2>({A, B}, 1)), fixed<T, B>(noise<T, 1>({B}, 2)));
    };
    check(fixed<T, 1, 1>{});
    check(fixed<T, 1, 3>{});
    check(fixed<T, 4, 1>{});
    check(fixed<T, 3, 3>{});
    check(fixed<T, 2, 9>{});
    check(fixed<T, 7, 5>{});
    check(fixed<T, 8, 8>{});
}

TEST_CASE_TEMPLATE("views of small arrays, beside and behind each other", T, float, double, std::int32_t,
                   std::int64_t) {
    auto const check = [&]<std::size_t N>(fixed<T, N, N> const&) {
        fixed<T, N, N> const x = noise<T, 2>({N, N}, 1);
        check_fused(views, equal_bits, x);
        check_fused(views, equal_bits, with_shape<N, N>(xt::transpose(x)));
        check_fused(views, equal_bits,
                    with_shape<N, N>(xt::view(noise<T, 2>({N, N + 2}, 2), xt::all(), xt::range(1, N + 1))));
    };
    check(fixed<T, 1, 1>{});
    check(fixed<T, 2, 2>{});
    check(fixed<T, 3, 3>{});
    check(fixed<T, 4, 4>{});
}

TEST_CASE_TEMPLATE("products and what follows them", T, float, double) {
    auto const check = [&]<std::size_t M, std::size_t N>(fixed<T, M, N> const&) {
        fixed<T, M, N> const a = noise<T, 2>({M, N}, 1);
        fixed<T, N, M> const b = noise<T, 2>({N, M}, 2);
        fixed<T, N> const v = noise<T, 1>({N}, 3);
        check_fused(products, tests::closeness{16, 64}, a, b, v);
    };
    check(fixed<T, 1, 1>{});
    check(fixed<T, 1, 4>{});
    check(fixed<T, 3, 3>{});
    check(fixed<T, 2, 5>{});
    check(fixed<T, 6, 6>{});
    check(fixed<T, 8, 7>{});
}

TEST_CASE("constants, dtypes and derivatives") {
    fixed<float, 5> const x = noise<float, 1>({5}, 1);
    check_fused(constants, tests::closeness{4, 4}, x);
    fixed<std::int32_t, 5> const i = {3, -7, 0, 2, 1 << 30};
    check_fused(mixed, tests::closeness{4, 4}, x, i);
    fixed<float, 3, 4> const m = noise<float, 2>({3, 4}, 1);
    check_fused(folds_of_numbers, tests::closeness{16, 16}, 1.5f, m);
    check_fused(folds_of_numbers, tests::closeness{16, 16}, fixed<float, 1, 1>{{-2.5f}}, m);
    fixed<double, 3, 4> const w = noise<double, 2>({3, 4}, 1);
    fixed<double, 4, 2> const in = noise<double, 2>({4, 2}, 2);
    fixed<double, 3, 2> const out = noise<double, 2>({3, 2}, 3);
    check_fused(calque::value_and_grad(loss), tests::closeness{64, 4}, w, in, out);
    CHECK(is_in_registers(calque::value_and_grad(loss), w, in, out));
}

TEST_CASE("loops over a few numbers") {
    fixed<double, 3> const start = {1, 2, 20};
    check_fused(lorenz, tests::closeness{1e6, 40}, start);

    fixed<double, 3, 3> const m = {{0.5, 0.1, -0.3}, {0.2, -0.4, 0.1}, {0.3, 0.2, 0.6}};
    check_fused(power_method, tests::closeness{1e4, 1}, m, start);
    for (std::size_t const steps : {0u, 1u, 2u, 9u}) {
        auto const items = noise<double, 2>({steps, 3}, 4);
        check_fused(carried_elements, tests::closeness{1e4, 1}, 0.75, start, with_shape<dyn, 3>(items), m);
        check_fused(carried_elements, tests::closeness{1e4, 1}, 0.75, start,
                    with_shape<dyn, 3>(xt::view(noise<double, 2>({steps, 7}, 5), xt::all(), xt::range(0, 6, 2))),
                    with_shape<3, 3>(xt::transpose(m)));
    }
    using calque::spec;
    auto const text =
        calque::trace<spec<double>, spec<double, 3>, spec<double, dyn, 3>, spec<double, 3, 3>>(carried_elements)
            .schedule();
    CHECK(text.find("keeps what it carries in registers") != std::string::npos);
}

TEST_CASE("results may take the place of arguments") {
    fixed<float, 3, 3> a = {{1, 2, 3}, {4, 5, 6}, {7, 8, 10}}, b = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    fixed<float, 3, 3> const product = {{3, 1, 2}, {6, 4, 5}, {10, 7, 8}}, sum = {{1, 3, 3}, {4, 5, 7}, {8, 8, 10}};
    auto const f = calque::function([](auto x, auto y) { return std::tuple{matmul(x, y), x + y}; });
    f.into(std::tie(b, a), a, b);
    CHECK(b == product);
    CHECK(a == sum);
}

TEST_CASE("nothing behind an array is read as if it were there, or written") {
    alignas(64) float memory[64];
    std::fill(std::begin(memory), std::end(memory), 7.f);
    float* const to = memory + 8;
    calque::array_view result(to, {3, 3}, {3, 1});
    fixed<float, 3, 3> const a = {{1, 2, 3}, {4, 5, 6}, {7, 8, 10}};
    calque::function([](auto x) { return transpose(x) * 2; }).into(result, a);
    CHECK(to[-1] == 7);
    CHECK(to[1] == 8);
    CHECK(to[8] == 20);
    CHECK(to[9] == 7);
}
