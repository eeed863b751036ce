// SPDX-License-Identifier: MIT
// Row programs over few columns, whose lanes run along the rows, against the interpreter: about the sizes at which
// groups of rows, blocks of columns and the variants themselves end.
#include "tensor_compare.hpp"

#include <calque/grad.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

namespace {

using calque::keepdims;
using calque::with_shape;
using tests::check_fused;
using tests::closeness;
using tests::equal_bits;
using tests::noise;
using xt::xtensor;

using matrix = xtensor<float, 2>;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

inline constexpr auto soft = [](auto x) {
    return std::tuple{calque::softmax<-1>(x), calque::log_softmax<-1>(x), calque::logsumexp<-1>(x)};
};
inline constexpr auto costly_sums = [](auto x) { return calque::sum<-1>(exp(x)); };
/// Operands that vary along rows, along columns, along neither; results of each kind; values that are kept.
inline constexpr auto mixed = [](auto x, auto row, auto column, auto scalar) {
    auto const a = tanh(x * row + column) * exp(-abs(x * scalar));
    auto const b = a / (calque::sum<-1>(a * a, keepdims) + 1.f);
    auto const c = b - calque::max<-1>(b + row, keepdims) * column;
    return std::tuple{a + b * c, calque::sum<-1>(c), b, c > calque::min<-1>(c, keepdims),
                      row + calque::max<-1>(x, keepdims)};
};
/// Without rounding, so that the order of additions does not matter: bits are compared.
inline constexpr auto exact = [](auto x, auto row) {
    auto const top = calque::max<-1>(x, keepdims);
    auto const total = calque::sum<-1>(x, keepdims);
    auto const kept = where(x == top, row, x);
    return std::tuple{x - top, kept, total, calque::min<-1>(kept), calque::argmax<-1>(x), calque::any<-1>(x == row)};
};
inline constexpr auto masked = [](auto x, auto mask) {
    auto const shown = where(mask, x, -infinity);
    auto const p = exp(shown - calque::max<-1>(shown, keepdims));
    return std::tuple{where(mask, p / calque::sum<-1>(p, keepdims), 0.f), calque::all<-1>(mask)};
};
inline constexpr auto cross_entropy = [](auto z, auto labels) {
    auto const of_label = calque::sum<-1>(z * calque::one_hot(labels, z));
    return calque::mean(calque::logsumexp<-1>(z) - of_label);
};

constexpr std::size_t row_counts[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 65};

/// The words that a plan says of a kernel whose lanes run along the rows.
template <class F, class... Args>
bool has_lanes_along_rows(F const& f, Args const&... args) {
    return calque::function(f).plan(args...).text().find("(a lane a row)") != std::string::npos;
}

} // namespace

TEST_CASE("a plan says which way lanes run") {
    auto const sums = [](auto x) { return calque::sum<-1>(x); };
    CHECK(has_lanes_along_rows(soft, noise<float, 2>({4096, 10}, 1)));
    CHECK(!has_lanes_along_rows(soft, noise<float, 2>({1, 10}, 1)));
    CHECK(!has_lanes_along_rows(soft, noise<float, 2>({4096, 1000}, 1)));
    CHECK(has_lanes_along_rows(sums, noise<float, 2>({4096, 5}, 1)));
    CHECK(!has_lanes_along_rows(sums, noise<float, 2>({4096, 100}, 1)));
    // Of costly walks, the fewer arrays go through tiles, the longer.
    auto const wide = noise<float, 2>({4096, 150}, 1);
    CHECK(has_lanes_along_rows([](auto x) { return calque::logsumexp<-1>(x); }, noise<float, 2>({4096, 39}, 1)));
    CHECK(!has_lanes_along_rows([](auto x) { return calque::softmax<-1>(x); }, wide));
    CHECK(!has_lanes_along_rows([](auto x) { return calque::var<-1>(x); }, wide));
    CHECK(has_lanes_along_rows(costly_sums, noise<float, 2>({4096, 39}, 1)));
    CHECK(!has_lanes_along_rows(costly_sums, wide));
    // Rows that all share cost lanes along the rows nothing.
    auto const affine = [](auto x, auto gain, auto bias) {
        auto const centred = x - calque::mean<-1>(x, keepdims);
        return centred * calque::rsqrt(calque::mean<-1>(centred * centred, keepdims) + 1e-5f) * gain + bias;
    };
    auto const gain = noise<float, 1>({15}, 2);
    auto const middling = noise<float, 2>({4096, 32}, 1);
    CHECK(has_lanes_along_rows(affine, noise<float, 2>({4096, 15}, 1), gain, gain));
    CHECK(!has_lanes_along_rows(affine, middling, middling, middling));
    CHECK(has_lanes_along_rows(soft, with_shape<calque::dyn, 3>(noise<float, 2>({1, 3}, 1))));
    CHECK(has_lanes_along_rows(soft, xt::xtensor_fixed<float, xt::xshape<32, 5>>(noise<float, 2>({32, 5}, 1))));
    CHECK(!has_lanes_along_rows(soft, xt::xtensor_fixed<float, xt::xshape<1, 5>>(noise<float, 2>({1, 5}, 1))));
}

TEST_CASE("softmax and its kin") {
    for (std::size_t n = 1; n <= 65; ++n) {
        CAPTURE(n);
        for (std::size_t const m : row_counts) {
            CAPTURE(m);
            check_fused(soft, closeness{16, 4}, matrix(noise<float, 2>({m, n}, 1) * 8.f));
        }
    }
    check_fused(soft, closeness{16, 4}, noise<float, 2>({4096, 10}, 1));
    for (std::size_t const n : {1u, 5u, 10u, 16u, 24u}) { // blocks of rows that take turns
        CAPTURE(n);
        for (std::size_t const m : {63u, 64u, 97u, 127u, 128u, 129u, 300u}) {
            CAPTURE(m);
            check_fused(soft, closeness{16, 4}, matrix(noise<float, 2>({m, n}, 1) * 8.f));
            check_fused(soft, closeness{16, 4}, noise<double, 2>({m, n}, 1));
        }
    }
    for (std::size_t const n : {100u, 127u, 128u, 150u, 319u, 321u}) {
        check_fused(soft, closeness{16, 4}, noise<float, 2>({40, n}, 1));
    }
    for (std::size_t const n : {1u, 10u, 33u, 49u, 50u, 63u, 64u, 95u, 96u}) {
        CAPTURE(n);
        for (std::size_t const m : {1u, 17u, 40u}) {
            check_fused(soft, closeness{16, 4}, noise<double, 2>({m, n}, 1));
        }
    }
}

TEST_CASE("one walk along a row") {
    auto const sums = [](auto x, auto row) {
        return std::tuple{calque::sum<-1>(tanh(x) * row), calque::max<-1>(exp(x)), calque::sum<-1>(x)};
    };
    auto const light = [](auto x) { return std::tuple{calque::sum<-1>(x), calque::sum<-1>(x * x)}; };
    for (std::size_t const n :
         {1u, 9u, 16u, 17u, 31u, 32u, 33u, 47u, 63u, 64u, 65u, 100u, 127u, 128u, 129u, 150u, 191u}) {
        CAPTURE(n);
        for (std::size_t const m : row_counts) {
            CAPTURE(m);
            auto const x = noise<float, 2>({m, n}, 1);
            check_fused(costly_sums, closeness{16, 4}, x);
            check_fused(sums, closeness{64, 8}, x, noise<float, 1>({n}, 2));
            check_fused(light, closeness{64, 8}, x);
        }
        check_fused(costly_sums, closeness{16, 4}, noise<double, 2>({40, n}, 1));
        check_fused(light, closeness{64, 8}, noise<double, 2>({40, n}, 1));
    }
}

TEST_CASE("all pairs of points: rows that repeat for an axis around") {
    auto const distances = [](auto x, auto y) {
        auto const d = calque::expand_dims<1>(x) - calque::expand_dims<0>(y);
        auto const squared = calque::sum<-1>(d * d, keepdims);
        return std::tuple{squared, d / (squared + 1)};
    };
    for (std::size_t const n : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 16u}) {
        CAPTURE(n);
        for (std::size_t const m : {1u, 16u, 17u, 33u, 64u}) {
            CAPTURE(m);
            check_fused(distances, closeness{16, 4}, noise<float, 2>({3, n}, 1), noise<float, 2>({m, n}, 2));
            check_fused(distances, closeness{16, 4}, noise<double, 2>({3, n}, 1), noise<double, 2>({m, n}, 2));
        }
    }
}

TEST_CASE("extents that the compiler knows") {
    for (std::size_t const m : {1u, 17u, 40u}) {
        CAPTURE(m);
        check_fused(soft, closeness{16, 4}, with_shape<calque::dyn, 7>(noise<float, 2>({m, 7}, 1)));
        check_fused(soft, closeness{16, 4}, with_shape<calque::dyn, 40>(noise<float, 2>({m, 40}, 1)));
    }
    check_fused(soft, closeness{16, 4}, xt::xtensor_fixed<float, xt::xshape<32, 5>>(noise<float, 2>({32, 5}, 1)));
    check_fused(soft, closeness{16, 4}, xt::xtensor_fixed<float, xt::xshape<50, 5>>(noise<float, 2>({50, 5}, 1)));
    check_fused(soft, closeness{16, 4}, xt::xtensor_fixed<float, xt::xshape<35, 9>>(noise<float, 2>({35, 9}, 1)));
    // Loops around kernels for as many rows as all of them have.
    auto const planes = [](std::size_t m) {
        return xt::view(noise<float, 3>({3, 40, 9}, 1), xt::all(), xt::range(1, 1 + m), xt::all());
    };
    check_fused(soft, closeness{16, 4}, with_shape<3, 32, 9>(planes(32)));
    check_fused(soft, closeness{16, 4}, with_shape<3, 17, 9>(planes(17)));
    check_fused(soft, closeness{16, 4}, with_shape<3, 5, 9>(planes(5)));
    check_fused(soft, closeness{16, 4}, with_shape<3, 2, 9>(planes(2)));
}

TEST_CASE("infinities and NaN stay in their rows") {
    matrix x = noise<float, 2>({35, 5}, 1);
    x(0, 0) = infinity;
    x(15, 4) = -infinity;
    x(16, 2) = not_a_number;
    xt::view(x, 17, xt::all()) = -infinity;
    xt::view(x, 34, xt::all()) = infinity;
    check_fused(soft, closeness{16, 4}, x);
    auto const [p, log_p, total] = calque::function(soft)(x);
    REQUIRE(has_lanes_along_rows(soft, x));
    CHECK(total(0) == infinity);
    CHECK(p(15, 4) == 0.f);
    CHECK(std::isnan(p(16, 0)));
    CHECK(total(17) == -infinity);
    CHECK(std::isfinite(total(18)));
    CHECK(log_p(15, 4) == -infinity);
}

TEST_CASE("operands that broadcast, several results") {
    xtensor<float, 1> const scalar = {0.75f};
    for (std::size_t const n : {1u, 2u, 7u, 16u, 31u, 65u}) {
        CAPTURE(n);
        for (std::size_t const m : row_counts) {
            CAPTURE(m);
            auto const x = noise<float, 2>({m, n}, 1), column = noise<float, 2>({m, 1}, 2);
            auto const row = noise<float, 1>({n}, 3);
            check_fused(mixed, closeness{64, 8}, x, row, column, 0.75f);
            check_fused(mixed, closeness{64, 8}, x, row, with_shape<calque::dyn, 1>(column), 0.75f);
        }
    }
    for (std::size_t const m : {16u, 37u}) {
        auto const column = noise<double, 2>({m, 1}, 2);
        check_fused(mixed, closeness{64, 8}, noise<double, 2>({m, 9}, 1), noise<double, 1>({9}, 3),
                    with_shape<calque::dyn, 1>(column), 0.75);
    }
}

TEST_CASE("integers and masks") {
    auto const check_type = []<class T>(T) {
        for (std::size_t const n : {1u, 2u, 5u, 16u, 33u}) {
            for (std::size_t const m : row_counts) {
                CAPTURE(m);
                CAPTURE(n);
                check_fused(exact, equal_bits, noise<T, 2>({m, n}, 1), noise<T, 1>({n}, 2));
            }
        }
    };
    check_type(std::int8_t{});
    check_type(std::int64_t{});
    for (std::size_t const n : {1u, 10u, 19u}) {
        for (std::size_t const m : row_counts) {
            CAPTURE(m);
            CAPTURE(n);
            check_fused(masked, closeness{16, 1}, noise<float, 2>({m, n}, 1), noise<bool, 2>({m, n}, 2));
        }
    }
}

TEST_CASE("rows that are strided, transposed, or in the place of the result") {
    matrix const x = noise<float, 2>({70, 40}, 1);
    check_fused(soft, closeness{16, 4}, xt::transpose(noise<float, 2>({9, 70}, 1)));
    check_fused(soft, closeness{16, 4}, xt::view(x, xt::range(0, 70, 3), xt::range(3, 14)));
    check_fused(soft, closeness{16, 4}, xt::view(x, xt::all(), xt::range(1, 40, 2)));
    check_fused(soft, closeness{16, 4},
                xt::view(noise<float, 3>({5, 40, 12}, 1), xt::all(), xt::range(2, 35), xt::all()));

    auto const f = calque::function([](auto y) { return calque::softmax<-1>(y); });
    for (std::size_t const m : {16u, 33u, 48u, 52u}) {
        matrix in_place = noise<float, 2>({m, 10}, 1);
        matrix const elsewhere = f(in_place);
        f.into(in_place, in_place);
        CHECK(in_place == elsewhere);
    }
}

TEST_CASE("cross-entropy and its gradient are one kernel over the rows") {
    auto const loss = calque::value_and_grad(cross_entropy);
    for (std::size_t const m : {1u, 16u, 33u, 4096u}) {
        CAPTURE(m);
        matrix const z = noise<float, 2>({m, 10}, 1) * 4.f;
        xtensor<std::int32_t, 1> const labels = xt::abs(noise<std::int32_t, 1>({m}, 2));
        check_fused(loss, closeness{16, 4}, z, labels);
        check_fused(loss, closeness{16, 4}, with_shape<calque::dyn, 10>(z), labels);
        for (std::string const& plan : {calque::function(loss).plan(z, labels).text(),
                                        calque::function(loss).plan(with_shape<calque::dyn, 10>(z), labels).text()}) {
            CHECK(plan.find("x 10") == plan.rfind("x 10"));
        }
    }
}
