// SPDX-License-Identifier: MIT
// `checkpoint`: the same values and gradients, in less memory.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <tuple>

namespace {

using calque::checkpoint;
using matrix = xt::xtensor<double, 2>;

inline constexpr auto waves = [](auto x) {
    for (int i = 0; i < 3; ++i) {
        x = sin(x) + 0.5 * calque::sum<0>(x, calque::keepdims); // what a sum stands behind is kept for the derivative
    }
    return x;
};
template <bool IsCheckpointed>
inline constexpr auto deep = [](auto x) {
    for (int i = 0; i < 4; ++i) {
        if constexpr (IsCheckpointed) {
            x = checkpoint(waves)(x);
        } else {
            x = waves(x);
        }
    }
    return calque::sum(x * x);
};

inline constexpr auto layer = [](auto p, auto x, auto chosen) {
    auto const [w, scale] = p;
    return tanh(matmul(x, w)) * scale * calque::cast<double>(chosen);
};
inline constexpr auto sum_of_cubes = [](auto x) { return calque::sum(x * x * x); };
template <bool IsCheckpointed>
inline constexpr auto network = [](auto w, auto scale, auto x, auto chosen) {
    auto const p = std::tuple{w, scale};
    if constexpr (IsCheckpointed) {
        return calque::sum(calque::square(checkpoint(layer)(p, checkpoint(layer)(p, x, chosen), chosen)));
    } else {
        return calque::sum(calque::square(layer(p, layer(p, x, chosen), chosen)));
    }
};

matrix some(std::size_t rows, std::size_t columns) {
    matrix x({rows, columns});
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = 0.1 * static_cast<double>(i * 7 % 11) - 0.4;
    }
    return x;
}

} // namespace

TEST_CASE("the gradient of checkpointed parts is the same, and keeps less") {
    auto const plain = calque::function(calque::value_and_grad(deep<false>));
    auto const less = calque::function(calque::value_and_grad(deep<true>));
    matrix const x = some(20, 33);
    auto const [y, dy] = plain(x);
    auto const [z, dz] = less(x);
    CHECK(z == doctest::Approx(y));
    CHECK(xt::allclose(dz, dy, 1e-12));
    CHECK(less.plan(x).bytes() < plain.plan(x).bytes() * 2 / 3);
}

TEST_CASE("trees and integers as arguments") {
    auto const plain = calque::function(calque::grad<0, 1, 2>(network<false>));
    auto const less = calque::function(calque::grad<0, 1, 2>(network<true>));
    xt::xtensor<std::int32_t, 1> const chosen = {1, 0, 1};
    matrix const w = some(3, 3);
    matrix const x = some(5, 3);
    auto const [dw, ds, dx] = plain(w, 0.5, x, chosen);
    auto const [ew, es, ex] = less(w, 0.5, x, chosen);
    CHECK(xt::allclose(dw, ew));
    CHECK(es == doctest::Approx(ds));
    CHECK(xt::allclose(dx, ex));
}

TEST_CASE("integers as the only arguments") {
    auto const slope = calque::function(calque::grad([](auto x, auto which) {
        auto const scales = checkpoint([](auto i) { return calque::cast<double>(i * i); })(which);
        return calque::sum(scales * x);
    }));
    xt::xtensor<std::int32_t, 1> const which = {1, 2, 3};
    CHECK(slope(xt::xtensor<double, 1>{5, 6, 7}, which) == xt::xtensor<double, 1>{1, 4, 9});
}

TEST_CASE("second derivatives, and vmap of the gradient") {
    auto const second = calque::function(calque::grad([](auto x) {
        return calque::sum(
            calque::grad([](auto z) { return calque::sum(checkpoint([](auto v) { return v * v * v; })(z)); })(x));
    }));
    xt::xtensor<double, 1> const x = {1, 2, 3};
    CHECK(second(x) == xt::xtensor<double, 1>{6, 12, 18});
    auto const each = calque::function(calque::vmap(calque::grad([](auto v) { return checkpoint(sum_of_cubes)(v); })));
    CHECK(each(matrix{{1, 2}, {3, 4}}) == matrix{{3, 12}, {27, 48}});
}

namespace {

inline constexpr auto product = [](auto t) { return std::get<0>(t) * std::get<1>(t); };
inline constexpr auto mixed = [](auto x, auto y) { return tanh(x * y + sin(x)); };
template <bool IsCheckpointed>
inline constexpr auto of_equal_arguments = [](auto x) {
    if constexpr (IsCheckpointed) {
        return calque::sum(checkpoint(mixed)(checkpoint(mixed)(x, x), x));
    } else {
        return calque::sum(mixed(mixed(x, x), x));
    }
};

} // namespace

TEST_CASE("a tuple as the only argument") {
    auto const slope =
        calque::function(calque::grad([](auto x) { return calque::sum(checkpoint(product)(std::tuple{x, x * x})); }));
    CHECK(slope(xt::xtensor<double, 1>{1, 2}) == xt::xtensor<double, 1>{3, 12});
}

TEST_CASE("one value as two arguments, with a cotangent that is a constant") {
    // What only has to be there before a part is computed again must not be written over what that part reads.
    xt::xtensor<double, 1> const x = {0.5, -0.7, 1.2, 0.1, 0.9};
    auto const plain = calque::function(calque::grad(of_equal_arguments<false>));
    auto const again = calque::function(calque::grad(of_equal_arguments<true>));
    CHECK(xt::allclose(again(x), plain(x), 1e-12));
}
