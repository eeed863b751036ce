// SPDX-License-Identifier: MIT
// Arrays with other elements in a part: made where the whole one is, or around it, against the interpreter; one after
// the other, in loops, over arguments, and of what others read, too.
#include "inner_views.hpp"
#include "tensor_compare.hpp"

#include <cstdint>
#include <string>
#include <tuple>

namespace {

using calque::all;
using calque::extent_t;
using calque::range;
using calque::view;
using calque::graph::to_the_end;
using tests::check_fused;
using tests::closeness;
using tests::equal_bits;
using tests::inner;
using tests::laplacian;
using tests::noise;
using xt::xtensor;

inline constexpr auto step = [](auto u) { return u.at(range(1, -1), range(1, -1)).set(inner(u) + laplacian(u)); };
inline constexpr auto borders = [](auto u) { // each in the place of the one before
    auto const v = 2 * u + 1;
    return v.at(0).set(0).at(-1).set(1).at(all(), 0).set(view(u, all(), 1)).at(all(), -1).set(3);
};
inline constexpr auto of_argument = [](auto u, auto row) {
    return std::tuple{u.at(1).set(row * 2), u.at(all(), range(0, to_the_end, 2)).set(0),
                      u.at(range(0, 1)).set(view(u, range(1, 2)))};
};
inline constexpr auto read_by_others = [](auto u) { // the array, the part, and the result
    auto const v = exp(u);
    auto const part = inner(v) * 2;
    auto const set = v.at(range(1, -1), range(1, -1)).set(part);
    return std::tuple{set, part, v, calque::sum<0>(set), set * v, calque::sum(part)};
};
inline constexpr auto twice_placed = [](auto u) {
    auto const part = inner(u) + 1;
    return std::tuple{u.at(range(1, -1), range(1, -1)).set(part),
                      (2 * u).at(range(0, -2), range(2, to_the_end)).set(part),
                      u.at(range(1, -1), range(1, -1)).add(part)};
};
inline constexpr auto step_with_borders = [](auto u) {
    return u.at(range(1, -1), range(1, -1)).set(inner(u) + laplacian(u) / 8).at(0).set(0).at(all(), -1).set(1);
};
inline constexpr auto steps = [](auto u) {
    return calque::fori_loop(0, 4, [](auto, auto v) { return step_with_borders(v); }, u);
};
inline constexpr auto of_sums = [](auto u) {
    auto const part = calque::softmax<-1>(inner(u));
    return std::tuple{u.at(range(1, -1), range(1, -1)).set(part), calque::matmul(u, transpose(u)).at(0).set(7),
                      calque::cumsum<0>(u).at(0).set(1)};
};
inline constexpr auto energy = [](auto u) {
    return calque::sum(square(step_with_borders(u))) + calque::sum(exp(u.at(1).set(view(u, 0))));
};
inline constexpr auto of_vectors = [](auto x) {
    auto const inside = view(x, range(1, -1));
    auto const next = inside + (view(x, range(0, -2)) + view(x, range(2, to_the_end)) - 2 * inside) / 4;
    return std::tuple{x.at(range(1, -1)).set(next), (x + x).at(-1).set(0)};
};
inline constexpr auto of_cubes = [](auto u) {
    auto const part = view(u, range(1, -1), range(2, -1), range(1, -3));
    return std::tuple{u.at(range(1, -1), range(2, -1), range(1, -3)).set(part * part), (u * u).at(all(), 1).set(0),
                      u.at(0, all(), -1).set(4)};
};

inline constexpr auto concatenations = [](auto x, auto y) {
    auto const shared = x - y;
    return std::tuple{calque::concatenate<0>(2 * x, exp(y), x), calque::concatenate<1>(x + 1, y * y, x - 1),
                      calque::concatenate<1>(shared, shared, x), calque::concatenate<0>(shared * 3, y),
                      calque::sum(shared)};
};
inline constexpr auto nested = [](auto x, auto y) {
    auto const rows = calque::concatenate<0>(x * 2, y * 3).at(0).set(5);
    auto const padded = calque::pad(x * y + 1, 7, calque::padding{1, 2}, calque::padding{3, 0});
    return std::tuple{rows, padded, calque::concatenate<1>(x + y, calque::concatenate<1>(y + 1, x - y)),
                      calque::stack<0>(x + 1, y + 1), calque::sum(calque::concatenate<1>(exp(x), exp(y)))};
};
inline constexpr auto joined_vectors = [](auto x, auto y) {
    return std::tuple{calque::concatenate<0>(2 * x, x + y), calque::concatenate<0>(x, y * y, calque::cumsum<0>(x) + 1)};
};

} // namespace

TEST_CASE("matrices") {
    for (std::size_t const m : {3u, 4u, 9u, 40u}) {
        for (std::size_t const n : {3u, 4u, 18u, 35u, 66u, 130u, 300u}) {
            CAPTURE(m);
            CAPTURE(n);
            auto const u = noise<float, 2>({m, n}, 1);
            check_fused(step, equal_bits, u);
            check_fused(step, equal_bits, xt::transpose(noise<float, 2>({n, m}, 2)));
            check_fused(borders, equal_bits, u);
            check_fused(of_argument, equal_bits, u, noise<float, 1>({n}, 4));
            check_fused(read_by_others, closeness{64, 64}, u);
            check_fused(twice_placed, equal_bits, u);
            check_fused(step_with_borders, equal_bits, u);
            check_fused(of_sums, closeness{64, 64}, u);
        }
    }
}

TEST_CASE_TEMPLATE("vectors and cubes", T, double, std::uint8_t) {
    for (std::size_t const n : {3u, 4u, 5u, 17u, 64u, 1000u}) {
        CAPTURE(n);
        check_fused(of_vectors, equal_bits, noise<T, 1>({n}, 1));
    }
    for (std::size_t const n : {5u, 20u, 70u}) {
        CAPTURE(n);
        check_fused(of_cubes, equal_bits, noise<T, 3>({6, 7, n}, 2));
    }
}

TEST_CASE("parts one behind the other") {
    for (std::size_t const m : {0u, 1u, 3u, 9u, 40u}) {
        for (std::size_t const n : {1u, 2u, 7u, 18u, 35u, 66u, 130u}) {
            CAPTURE(m);
            CAPTURE(n);
            auto const x = noise<float, 2>({m, n}, 1), y = noise<float, 2>({m, n}, 2);
            check_fused(concatenations, closeness{64, 64}, x, y);
            check_fused(concatenations, closeness{64, 64}, xt::transpose(noise<float, 2>({n, m}, 3)), y);
            check_fused(joined_vectors, equal_bits, noise<double, 1>({m * n}, 1), noise<double, 1>({m * n}, 2));
            if (m != 0) {
                check_fused(nested, closeness{64, 64}, x, y);
                check_fused(calque::vmap(joined_vectors), closeness{64, 64}, x, y);
            }
        }
    }
    auto const f = calque::function([](auto a, auto b) { return calque::concatenate<0>(a + b, a - b); });
    auto all = noise<float, 1>({20}, 1);
    auto const first = calque::array_view(all.data(), {10}, {extent_t{1}});
    auto const second = calque::array_view(all.data() + 10, {10}, {extent_t{1}});
    xtensor<float, 1> const expected = f(first, second);
    f.into(all, first, second); // what it writes first is read after
    CHECK(all == expected);
    CHECK(f.plan(all, all).text().find("concatenate (in place)") != std::string::npos);
}

TEST_CASE("loops, gradients and batches") {
    for (std::size_t const n : {3u, 20u, 70u}) {
        CAPTURE(n);
        auto const u = noise<double, 2>({n, n + 1}, 1);
        check_fused(steps, equal_bits, u);
        check_fused(calque::grad(energy), closeness{64, 64}, u);
        check_fused(calque::vmap(of_vectors), equal_bits, u);
    }
}

TEST_CASE("results that take the place of arguments") {
    for (std::size_t const n : {3u, 8u, 100u}) {
        CAPTURE(n);
        auto const before = noise<float, 2>({n, n}, 1);
        auto const check = [&](auto const& f) {
            auto const fn = calque::function(f, {.max_warnings = 0});
            xtensor<float, 2> const expected = fn(before);
            auto u = before;
            fn.into(u, u);
            CHECK(u == expected);
        };
        check(step);
        check(borders);
        check(step_with_borders);
        check([](auto x) { return exp(x).at(range(1, -1), range(1, -1)).set(inner(x) + laplacian(x)); });
        check([](auto x) { return (x * 2).at(0).set(view(x, 1)); });
        auto const both = [](auto x, auto y) { return y.at(range(1, -1), range(1, -1)).set(inner(x) + laplacian(x)); };
        auto const fn = calque::function(both, {.max_warnings = 0});
        auto const other = noise<float, 2>({n, n}, 2);
        xtensor<float, 2> const expected = fn(before, other);
        auto u = before, v = other;
        fn.into(u, u, other);
        fn.into(v, before, v);
        CHECK(u == expected);
        CHECK(v == expected);
    }
}

TEST_CASE("outputs with gaps, and extents that the compiler knows") {
    auto const u = noise<float, 2>({12, 70}, 1);
    check_fused(step, equal_bits, calque::with_shape<12, 70>(u));
    check_fused(steps, equal_bits, calque::with_shape<12, 70>(u));
    for (auto const& run : {calque::function(step, {.max_warnings = 0})}) {
        xtensor<float, 2> const expected = run(u);
        auto apart = noise<float, 2>({12, 75}, 3);
        auto const before = apart;
        run.into(calque::array_view(apart.data() + 2, {12, 70}, {extent_t{75}, extent_t{1}}), u);
        for (std::size_t i = 0; i < 12; ++i) {
            for (std::size_t j = 0; j < 75; ++j) {
                CHECK(apart(i, j) == (j >= 2 && j < 72 ? expected(i, j - 2) : before(i, j)));
            }
        }
    }
}

TEST_CASE("nothing is copied but what is around a part, or the part") {
    auto const plan = [](auto const& f) { return calque::function(f).plan(noise<float, 2>({40, 60}, 1)).text(); };
    for (std::string const& text : {plan(step), plan(borders), plan(step_with_borders)}) {
        CAPTURE(text);
        CHECK(text.find("set_slice (in place)") != std::string::npos);
        CHECK(text.find("copy") == std::string::npos);
    }
    CHECK(plan(step).find("arena 0 bytes") != std::string::npos);
}
