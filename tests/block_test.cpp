// SPDX-License-Identifier: MIT
// Blocks: the same values and gradients as without them, and one set of kernels for all that are alike.
#include "agrees_with_interpreter.hpp"

#include <doctest/doctest.h>

#include <array>
#include <tuple>

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

inline constexpr auto layer = [](auto x, auto w, auto b) { return x + relu(matmul(x, w) + b); };
inline constexpr auto block = calque::block(layer);

/// `Count` layers, some of which see arrays of another extent along axis 0.
template <int Count, auto const& Layer>
inline constexpr auto net = [](auto x, auto w, auto b) {
    for (int i = 0; i < Count; ++i) {
        x = Layer(x, w, b * static_cast<float>(i + 1));
    }
    return sum<-1>(x);
};
inline constexpr auto with_blocks = net<4, block>;
inline constexpr auto without = net<4, layer>;

inline constexpr auto of_two_sizes = [](auto x, auto y, auto w, auto b) {
    return std::tuple{block(block(x, w, b), w, b), block(block(y, w, b), w, b)};
};
inline constexpr auto of_two_sizes_inlined = [](auto x, auto y, auto w, auto b) {
    return std::tuple{layer(layer(x, w, b), w, b), layer(layer(y, w, b), w, b)};
};

inline constexpr auto two_values = calque::block([](auto x, auto y) { return std::tuple{x + y, x * y}; });
inline constexpr auto crossed = [](auto x, auto y) {
    auto const [a, b] = two_values(x, y);
    auto const [c, d] = two_values(b, a);
    return std::tuple{c, d, std::get<0>(two_values(d, d))};
};

inline constexpr auto count_call = calque::block([](auto calls, auto x) {
    calls.assign_add(1.f);
    return x * calls;
});
inline constexpr auto counts = [](auto calls, auto x) { return count_call(calls, count_call(calls, x)); };

inline constexpr auto scaled = calque::block([](auto x, auto factor) { return x * factor; });
inline constexpr auto with_number = [](auto x) { return scaled(scaled(x, 2), 3.f) + scaled(x, 2); };

inline constexpr auto recurrent = [](auto x, auto w, auto b) {
    return calque::fori_loop(0, 3, [&](auto, auto h) { return block(block(h, w, b), w, b); }, x);
};
inline constexpr auto recurrent_inlined = [](auto x, auto w, auto b) {
    return calque::fori_loop(0, 3, [&](auto, auto h) { return layer(layer(h, w, b), w, b); }, x);
};

matrix weights() {
    return {{0.5f, -0.25f, 0.125f}, {-0.5f, 0.75f, 0.25f}, {0.25f, 0.5f, -0.125f}};
}
vector bias() {
    return {0.5f, -0.25f, 1.f};
}
matrix input(std::size_t rows) {
    matrix x = matrix::from_shape({rows, 3});
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = static_cast<float>(i % 7) * 0.25f - 0.5f;
    }
    return x;
}

} // namespace

TEST_CASE("a block computes what its function computes") {
    for (std::size_t const rows : {1u, 2u, 5u, 33u}) {
        CHECK(calque::function(with_blocks)(input(rows), weights(), bias()) ==
              calque::function(without)(input(rows), weights(), bias()));
    }
    CHECK(tests::agrees_with_interpreter(with_blocks, input(5), weights(), bias()));
    CHECK(calque::function(with_number)(vector{1.f, 2.f}) == vector{8.f, 16.f});
}

TEST_CASE("blocks that are alike share their kernels") {
    using x = calque::spec<float, calque::dyn, 3>;
    using w = calque::spec<float, 3, 3>;
    using b = calque::spec<float, 3>;
    static constexpr auto two = net<2, block>;
    static constexpr auto twelve = net<12, block>;
    CHECK(calque::max_kernels_v<decltype(twelve), x, w, b> == calque::max_kernels_v<decltype(two), x, w, b>);
    static constexpr auto inlined = net<12, layer>;
    CHECK(calque::max_kernels_v<decltype(inlined), x, w, b> > 12);
}

TEST_CASE("shared kernels run over the extents of each block") {
    auto const f = calque::function(of_two_sizes);
    auto const expected = calque::function(of_two_sizes_inlined);
    for (std::size_t const rows : {1u, 4u, 17u}) {
        CHECK(f(input(rows), input(9), weights(), bias()) == expected(input(rows), input(9), weights(), bias()));
    }
    CHECK(tests::agrees_with_interpreter(of_two_sizes, input(4), input(9), weights(), bias()));
}

TEST_CASE("blocks that read their values in another order are told apart") {
    vector const x{1.f, 2.f, 3.f};
    vector const y{4.f, 5.f, 6.f};
    auto const [c, d, e] = calque::function(crossed)(x, y);
    CHECK(c == vector{9.f, 17.f, 27.f});
    CHECK(d == vector{20.f, 70.f, 162.f});
    CHECK(e == vector{40.f, 140.f, 324.f});
}

TEST_CASE("a block may assign to variables") {
    calque::variable<float> calls(0.f);
    vector const x{1.f, 2.f};
    CHECK(calque::function(counts)(calls, x) == vector{2.f, 4.f});
    CHECK(calls.value() == 2.f);
}

TEST_CASE("gradients go through blocks") {
    static constexpr auto loss = [](auto x, auto w, auto b) { return sum(with_blocks(x, w, b)); };
    static constexpr auto loss_inlined = [](auto x, auto w, auto b) { return sum(without(x, w, b)); };
    auto const got = calque::function(calque::value_and_grad<0, 1, 2>(loss))(input(5), weights(), bias());
    auto const expected = calque::function(calque::value_and_grad<0, 1, 2>(loss_inlined))(input(5), weights(), bias());
    CHECK(std::get<0>(got) == doctest::Approx(std::get<0>(expected)));
    auto const& by = std::get<1>(got);
    auto const& wanted = std::get<1>(expected);
    CHECK(xt::allclose(std::get<0>(by), std::get<0>(wanted), 1e-5, 1e-6));
    CHECK(xt::allclose(std::get<1>(by), std::get<1>(wanted), 1e-5, 1e-6));
    CHECK(xt::allclose(std::get<2>(by), std::get<2>(wanted), 1e-5, 1e-6));
}

TEST_CASE("blocks in loops, and mapped over a batch") {
    CHECK(calque::function(recurrent)(input(4), weights(), bias()) ==
          calque::function(recurrent_inlined)(input(4), weights(), bias()));
    static constexpr auto mapped = [](auto x, auto w, auto b) {
        return calque::vmap<0, calque::unmapped, calque::unmapped>(with_blocks)(x, w, b);
    };
    xt::xtensor<float, 3> batch = xt::xtensor<float, 3>::from_shape({3, 5, 3});
    for (std::size_t i = 0; i < batch.size(); ++i) {
        batch.data()[i] = input(5).data()[i % 15] * static_cast<float>(1 + i / 15);
    }
    matrix const all = calque::function(mapped)(batch, weights(), bias());
    for (std::size_t i = 0; i < 3; ++i) {
        matrix const one = xt::view(batch, i);
        CHECK(xt::allclose(xt::view(all, i), calque::function(without)(one, weights(), bias()), 1e-5, 1e-6));
    }
}
