// SPDX-License-Identifier: MIT
// Loops whose steps are elementwise work on a few numbers, which stay in registers: the same bits as the interpreter's,
// of every dtype, of arrays that fill registers, that are one element more, and that are too long for them.
#include "tensor_compare.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <tuple>

namespace {

using calque::dyn;
using calque::spec;
using calque::with_shape;
using tests::check_fused;
using tests::equal_bits;
using tests::noise;
using xt::xtensor;

/// Carries two values that change places, stacks what is new, what was carried, and what comes in; captures `w`.
inline constexpr auto filter = [](auto a, auto b, auto w, auto xs) {
    return calque::scan(
        [&](auto carried, auto x) {
            auto const [u, v] = carried;
            auto const next = v * w + x - u;
            return std::tuple{std::tuple{next, u}, std::tuple{next * next, u, x, u < next}};
        },
        std::tuple{a, b}, xs);
};
/// Scalars beside an array, of other dtypes.
inline constexpr auto mixed = [](auto x) {
    auto const [i, scale, y, goes_on] = calque::while_loop(
        [](auto n, auto, auto, auto on) { return on && n < 9; },
        [](auto n, auto s, auto a, auto) {
            return std::tuple{n + 1, s * 0.75, a * cast<float>(s) + exp(-a * a), n * n < 40};
        },
        0, 2.0, x, true);
    return std::tuple{i, scale, y, goes_on};
};
inline constexpr auto never = [](auto x) {
    return calque::while_loop([](auto n, auto) { return n > 0; },
                              [](auto n, auto a) { return std::tuple{n - 1, a + 1}; }, calque::zeros_like(x), x);
};
inline constexpr auto loss = [](auto a, auto xs) {
    auto const [last, ys] = calque::scan(
        [&](auto carried, auto x) {
            auto const next = carried * a + tanh(x - carried);
            return std::tuple{next, next * x};
        },
        calque::zeros_like(a), xs);
    return calque::sum(ys * ys) + calque::sum(last);
};
inline constexpr auto loss_and_gradient = calque::value_and_grad(loss);
inline constexpr auto gradient_by_all = calque::grad<0, 1>(loss);
inline constexpr auto divisions = [](auto a, auto b) {
    return calque::fori_loop(0, 7, [&](auto i, auto x) { return x / (b + 3) + sqrt(abs(x)) - x * i; }, a);
};

template <class T, std::size_t N>
using row = xt::xtensor_fixed<T, xt::xshape<N>>;

template <class T, std::size_t N>
void check_rows() {
    CAPTURE(N);
    row<T, N> const a = noise<T, 1>({N}, 1), b = noise<T, 1>({N}, 2), w = noise<T, 1>({N}, 3);
    for (std::size_t const steps : {0u, 1u, 2u, 5u}) {
        CAPTURE(steps);
        auto const xs = noise<T, 2>({steps, N}, 4);
        check_fused(filter, equal_bits, a, b, w, with_shape<dyn, static_cast<calque::extent_t>(N)>(xs));
        xtensor<T, 2> const columns = noise<T, 2>({N, steps}, 5);
        check_fused(filter, equal_bits, a, b, w,
                    with_shape<dyn, static_cast<calque::extent_t>(N)>(xt::transpose(columns)));
    }
    if constexpr (std::floating_point<T>) {
        check_fused(divisions, equal_bits, a, b);
    }
}

template <class T>
void check_numbers() {
    for (std::size_t const steps : {0u, 1u, 2u, 33u}) {
        CAPTURE(steps);
        auto const xs = noise<T, 1>({steps}, 1);
        check_fused(filter, equal_bits, T(1), T(2), T(3), xs);
        auto const apart = noise<T, 2>({steps, 3}, 2);
        check_fused(filter, equal_bits, T(1), T(2), T(3), xt::view(apart, xt::all(), 1));
    }
}

template <class F, class... Specs>
constexpr bool stays_in_registers(F const& f) {
    return calque::trace<Specs...>(f).schedule().find("keeps what it carries in registers") != std::string::npos;
}

} // namespace

TEST_CASE_TEMPLATE("numbers", T, float, double, std::int8_t, std::uint16_t, std::int32_t, std::int64_t, std::uint64_t) {
    check_numbers<T>();
}

TEST_CASE_TEMPLATE("rows of known extents", T, float, double, std::uint8_t, std::int32_t, std::int64_t) {
    check_rows<T, 1>();
    check_rows<T, 2>();
    check_rows<T, 16>();
    check_rows<T, 17>();
    check_rows<T, 64>();
    check_rows<T, 65>();
}

TEST_CASE("scalars of several dtypes beside an array, and loops that never run") {
    check_fused(mixed, equal_bits, 0.5f);
    check_fused(mixed, equal_bits, row<float, 3>{0.5f, -1.f, 2.f});
    check_fused(mixed, equal_bits, noise<float, 1>({20}, 1));
    check_fused(never, equal_bits, 3.f);
    check_fused(never, equal_bits, std::int64_t{-3});
}

TEST_CASE("derivatives: what was carried is kept, and steps go backwards") {
    for (std::size_t const steps : {0u, 1u, 2u, 40u}) {
        CAPTURE(steps);
        check_fused(loss_and_gradient, tests::closeness{16, 100}, 0.7f, noise<float, 1>({steps}, 1));
        check_fused(gradient_by_all, tests::closeness{16, 100}, 0.3, noise<double, 1>({steps}, 2));
    }
    float const a = 0.7f, h = 1.f / 128;
    auto const xs = noise<float, 1>({40}, 1);
    auto const f = calque::function(loss);
    auto const [value, slope] = calque::function(loss_and_gradient)(a, xs);
    CHECK(value == doctest::Approx(f(a, xs)).epsilon(1e-5));
    CHECK(slope == doctest::Approx((f(a + h, xs) - f(a - h, xs)) / (2 * h)).epsilon(1e-2));
}

TEST_CASE("a schedule says which loops these are") {
    using numbers = spec<float, dyn>;
    CHECK(stays_in_registers<decltype(filter), float, float, float, numbers>(filter));
    CHECK(stays_in_registers<decltype(loss_and_gradient), float, numbers>(loss_and_gradient));
    CHECK(stays_in_registers<decltype(never), float>(never));
    using pair = spec<float, 2>;
    CHECK(stays_in_registers<decltype(filter), pair, pair, pair, spec<float, dyn, 2>>(filter));
    using many = spec<float, 1000>;
    CHECK(!stays_in_registers<decltype(filter), many, many, many, spec<float, dyn, 1000>>(filter));
    using unknown = spec<float, dyn>;
    CHECK(!stays_in_registers<decltype(filter), unknown, unknown, unknown, spec<float, dyn, dyn>>(filter));
}
