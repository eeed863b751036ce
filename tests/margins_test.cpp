// SPDX-License-Identifier: MIT
// What is placed into zeros, the adjoint of a slice: a kernel writes it amid them, where others read it as a view.
#include "inner_views.hpp"
#include "tensor_compare.hpp"

#include <array>
#include <string>
#include <tuple>

namespace {

using calque::all;
using calque::range;
using calque::graph::to_the_end;
using tests::check_fused;
using tests::closeness;
using tests::equal_bits;
using tests::inner;
using tests::laplacian;
using tests::noise;
using xt::xtensor;

inline constexpr auto gradient_of_energy = [](auto u) {
    auto const energy = [](auto v) { return calque::sum(square(laplacian(v))); };
    return calque::grad(energy)(u);
};
inline constexpr auto gradient_of_differences = [](auto x) {
    auto const energy = [](auto v) {
        return calque::sum(square(view(v, range(1, to_the_end)) - view(v, range(0, -1)))) +
               calque::sum(exp(view(v, range(3, to_the_end)) * view(v, range(0, -3))));
    };
    return calque::grad(energy)(x);
};
inline constexpr auto step = [](auto u) { return u.at(range(1, -1), range(1, -1)).set(inner(u) + laplacian(u)); };
inline constexpr auto added = [](auto u, auto v) { return u.at(range(2, -1), range(0, -3)).add(v * 2 + 1) * u; };
/// The part is also a result, every second row is not placed as a whole, and one is used in two ways.
inline constexpr auto also_results = [](auto u, auto v) {
    auto const part = v * v;
    auto const other = v + 1;
    return std::tuple{u.at(range(2, -1), range(0, -3)).add(part), part,
                      u.at(range(2, -1), range(0, -3)).add(other) + calque::sum(other), calque::sum<0>(other)};
};
inline constexpr auto every_second_row = [](auto u) {
    return u.at(range(0, to_the_end, 2), all()).add(2 * view(u, range(0, to_the_end, 2), all()));
};
inline constexpr auto of_cubes = [](auto u) {
    auto const part = view(u, range(1, -1), range(2, -1), range(1, -3));
    return u.at(range(1, -1), range(2, -1), range(1, -3)).add(part * part) +
           u.at(range(0, -2), range(1, -2), range(4, to_the_end)).set(part * part);
};
inline constexpr auto rows_of_sums = [](auto u) {
    auto const part = inner(u);
    return u.at(range(1, -1), range(1, -1)).add(calque::softmax<-1>(part));
};

} // namespace

TEST_CASE("sums of parts in zeros") {
    for (std::size_t const rows : {3u, 5u, 40u}) {
        for (std::size_t const n : {3u, 4u, 18u, 35u, 66u, 130u, 300u}) {
            CAPTURE(rows);
            CAPTURE(n);
            auto const u = noise<float, 2>({rows, n}, 1);
            check_fused(gradient_of_energy, closeness{64, 64}, u);
            check_fused(step, equal_bits, u);
            check_fused(rows_of_sums, closeness{16, 1}, u);
            auto const v = noise<float, 2>({rows - 3, n - 3}, 2);
            check_fused(added, equal_bits, u, v);
            check_fused(also_results, closeness{32, 1000}, u, v);
            check_fused(every_second_row, equal_bits, u);
        }
    }
}

TEST_CASE_TEMPLATE("of vectors and cubes, whose parts meet in places of their own", T, double, float) {
    for (std::size_t const n : {4u, 5u, 17u, 64u, 65u, 1000u, 5000u}) {
        CAPTURE(n);
        check_fused(gradient_of_differences, closeness{64, 64}, noise<T, 1>({n}, 1));
    }
    for (std::size_t const n : {5u, 20u, 70u}) {
        CAPTURE(n);
        check_fused(of_cubes, equal_bits, noise<T, 3>({6, 7, n}, 2));
    }
}

TEST_CASE("integers, bools and extents that the compiler knows") {
    auto const f = [](auto u) { return u.at(range(1, -1), range(2, -2)).add(view(u, range(1, -1), range(2, -2)) * 2); };
    check_fused(f, equal_bits, noise<std::int32_t, 2>({9, 50}, 1));
    check_fused(f, equal_bits, noise<std::uint8_t, 2>({9, 150}, 1));
    auto const x = noise<float, 2>({12, 70}, 1);
    check_fused(f, equal_bits, calque::with_shape<12, 70>(x));
    check_fused(
        [](auto u) { return (u > 0.f).at(range(1, -1), range(2, -2)).set(inner(view(u, all(), range(1, -1))) > 0.5f); },
        equal_bits, x);
}

TEST_CASE("what lies amid zeros is not copied there") {
    auto const u = noise<float, 2>({20, 200}, 1);
    std::string const plan = calque::function(gradient_of_energy).plan(u).text();
    CAPTURE(plan);
    CHECK(plan.find("copy") == std::string::npos);
    CHECK(plan.find("slice_adjoint (in place)") != std::string::npos);
}

TEST_CASE("again and again, with other sizes between") {
    auto run = calque::function(gradient_of_differences);
    for (int times = 0; times < 3; ++times) {
        for (std::size_t const n : {5u, 1000u, 40u, 333u}) {
            auto const x = noise<double, 1>({n}, static_cast<unsigned>(n));
            xtensor<double, 1> const g = run(x);
            double largest = 0;
            for (std::size_t i = 0; i < n; ++i) {
                double expected = 0;
                if (i > 0) {
                    expected += 2 * (x(i) - x(i - 1));
                }
                if (i + 1 < n) {
                    expected -= 2 * (x(i + 1) - x(i));
                }
                if (i >= 3) {
                    expected += x(i - 3) * std::exp(x(i) * x(i - 3));
                }
                if (i + 3 < n) {
                    expected += x(i + 3) * std::exp(x(i) * x(i + 3));
                }
                largest = std::max(largest, std::abs(g(i) - expected));
            }
            CHECK(largest < 1e-10);
        }
    }
}
