// SPDX-License-Identifier: MIT
// Row programs: reductions along rows, and what consumes them, against the interpreter.
#include "tensor_compare.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
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

inline constexpr auto sums = [](auto x) {
    return std::tuple{calque::sum<-1>(x), calque::sum<-1>(abs(x), keepdims), calque::sum(x),
                      calque::sum<-1>(x * x + 1)};
};
inline constexpr auto soft = [](auto x) {
    return std::tuple{calque::softmax<-1>(x), calque::log_softmax<-1>(x), calque::logsumexp<-1>(x), calque::softmax(x)};
};
inline constexpr auto normalized = [](auto x, auto gain, auto bias) {
    auto const centred = x - calque::mean<-1>(x, keepdims);
    auto const variance = calque::mean<-1>(square(centred), keepdims);
    return std::tuple{centred * rsqrt(variance + 1e-5f) * gain + bias, variance};
};
inline constexpr auto cross_entropy = [](auto z, auto labels) {
    auto const of_label = calque::sum<-1>(z * calque::one_hot(labels, z));
    return calque::mean(calque::logsumexp<-1>(z) - of_label);
};
/// Two walks of little work.
inline constexpr auto scaled = [](auto x, auto y) {
    auto const least = calque::min<-1>(x, keepdims);
    return std::tuple{(x - least) / (calque::max<-1>(x, keepdims) - least + 1),
                      y / calque::sum<-1>(x * x + 1, keepdims)};
};
/// Values of three phases, all needed in the last: some are recomputed, some kept.
inline constexpr auto kept = [](auto x) {
    auto const a = tanh(x) * exp(-abs(x));
    auto const b = a / calque::sum<-1>(a * a, keepdims);
    auto const c = b - calque::max<-1>(b, keepdims);
    return std::tuple{a + b * c, calque::sum<-1>(c), b};
};
inline constexpr auto of_rows = [](auto x, auto row_factor) {
    auto const total = calque::sum<-1>(x) * row_factor;
    return std::tuple{sqrt(abs(total)) + row_factor, total > 0.f, exp(-abs(total)) - row_factor};
};
/// More reductions in a row than a kernel walks through.
inline constexpr auto long_chain = [](auto x) {
    for (int i = 0; i < 12; ++i) {
        x = calque::softmax<-1>(x * 3.f);
    }
    return x;
};

constexpr std::size_t column_counts[] = {1, 2, 10, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 100, 1000};

} // namespace

TEST_CASE("sums are within 4 eps of the sum of absolute values") {
    for (std::size_t const n : column_counts) {
        CAPTURE(n);
        for (std::size_t const m : {1u, 3u, 40u}) {
            matrix const x = noise<float, 2>({m, n}, 1);
            // Bounded by the largest row sum; for the total, which is the largest result, by itself.
            double const row = xt::amax(xt::sum(xt::abs(x), {1}))();
            check_fused([](auto y) { return std::tuple{calque::sum<-1>(y), calque::sum<-1>(abs(y), keepdims)}; },
                        closeness{4, row}, x);
            check_fused(sums, closeness{4, xt::sum(xt::abs(xtensor<double, 2>(x * x + 1.f)))()}, x);
        }
    }
    check_fused(sums, equal_bits, noise<float, 2>({3, 0}, 1));
    check_fused(sums, equal_bits, noise<float, 2>({0, 3}, 1));
    check_fused(sums, equal_bits, noise<std::int32_t, 2>({5, 70}, 1));
    check_fused(sums, closeness{4, 1000}, noise<double, 2>({5, 70}, 1));
}

TEST_CASE("more than the caches hold: memory is asked for ahead of the loads") {
    constexpr std::size_t rows = 1025, columns = 513; // with a rest of a block, and one of a register
    static_assert(rows * columns > calque::kernels::thresholds::prefetched_elements);
    auto const x = noise<std::int32_t, 2>({rows, columns}, 1);
    auto const y = noise<std::int32_t, 1>({rows * columns}, 2);
    check_fused([](auto v) { return calque::sum<-1>(v); }, equal_bits, x);
    check_fused([](auto v) { return std::tuple{sum(v), max(v)}; }, equal_bits, y);
    check_fused([](auto v) { return calque::max(v); }, equal_bits, noise<float, 1>({rows * columns}, 3));
    auto const z = noise<float, 2>({rows, columns}, 4);
    check_fused([](auto v) { return calque::softmax<-1>(v); }, closeness{16, 1}, z);
    check_fused([](auto v) { return v - calque::max<-1>(v, keepdims); }, equal_bits, z);
    check_fused([](auto v) { return v - calque::max<-1>(v, keepdims); }, equal_bits, xt::view(z, xt::range(0, rows, 2)));
}

TEST_CASE("one long row is read in parts side by side, whatever is left behind them") {
    constexpr std::size_t least = calque::kernels::thresholds::prefetched_elements;
    for (std::size_t const n : {least - 1, least, least + 1, least + 127, least + 129, 2 * least + 1000}) {
        CAPTURE(n);
        auto const x = noise<std::int32_t, 1>({n}, 1), y = noise<std::int32_t, 1>({n}, 2);
        check_fused([](auto v, auto w) { return std::tuple{sum(v * w), max(v - w)}; }, equal_bits, x, y);
        check_fused([](auto v) { return calque::max(tanh(v)); }, closeness{2, 1}, noise<float, 1>({n}, 3));
        check_fused([](auto v) { return calque::min(v); }, equal_bits, noise<double, 1>({n}, 4));
    }
}

TEST_CASE("sums of strided rows") {
    matrix const x = noise<float, 2>({70, 40}, 1);
    closeness const close{4, 300};
    check_fused(sums, close, xt::transpose(x));
    check_fused(sums, close, xt::view(x, xt::range(0, 70, 3), xt::all()));
    check_fused(sums, close, xt::view(x, xt::all(), xt::range(1, 40, 2)));
    check_fused(sums, close, xt::xtensor_fixed<float, xt::xshape<7, 33>>(noise<float, 2>({7, 33}, 2)));
}

TEST_CASE("softmax and its kin") {
    for (std::size_t const n : column_counts) {
        CAPTURE(n);
        for (std::size_t const m : {1u, 17u}) {
            // log(softmax) cancels: its error is that of the sum of exponentials and of the largest difference.
            check_fused(soft, closeness{16, 4}, matrix(noise<float, 2>({m, n}, 1) * 8.f));
        }
    }
    check_fused(soft, closeness{16, 4}, noise<double, 2>({4, 33}, 1));
    check_fused(soft, closeness{16, 4}, xt::transpose(noise<float, 2>({33, 6}, 1)));
    CHECK_THROWS_AS(calque::function(soft)(noise<float, 2>({0, 5}, 1)), calque::shape_error);
}

TEST_CASE("softmax of infinities") {
    matrix const x = {
        {-infinity, 0.f, 1.f}, {infinity, 0.f, 1.f}, {not_a_number, 0.f, 1.f}, {-infinity, -infinity, -infinity}};
    check_fused(soft, closeness{8, 1}, x);
    auto const [p, log_p, total, all] = calque::function(soft)(x);
    CHECK(p(0, 0) == 0.f);
    CHECK(log_p(0, 0) == -infinity);
    CHECK(total(1) == infinity);
    CHECK(std::isnan(total(2)));
    CHECK(total(3) == -infinity);
    CHECK(std::isnan(p(2, 1)));
    CHECK(std::isnan(all(0, 1)));
}

TEST_CASE("layer norm") {
    for (std::size_t const n : column_counts) {
        CAPTURE(n);
        xtensor<float, 1> const gain = noise<float, 1>({n}, 2), bias = noise<float, 1>({n}, 3);
        matrix const x = noise<float, 2>({9, n}, 1);
        // A variance near 0 magnifies the rounding of the mean.
        check_fused(normalized, closeness{n < 4 ? 3000. : 40., 4}, x, gain, bias);
        check_fused(normalized, closeness{n < 4 ? 3000. : 40., 4}, with_shape<calque::dim("b"), calque::dim("n")>(x),
                    with_shape<calque::dim("n")>(gain), with_shape<calque::dim("n")>(bias));
    }
}

TEST_CASE("cross-entropy and its gradient") {
    for (std::size_t const m : {1u, 5u, 64u}) {
        matrix const z = noise<float, 2>({m, 10}, 1) * 4.f;
        xtensor<std::int32_t, 1> const labels = xt::abs(noise<std::int32_t, 1>({m}, 2));
        check_fused(calque::value_and_grad(cross_entropy), closeness{16, 4}, with_shape<calque::dim("batch"), 10>(z),
                    with_shape<calque::dim("batch")>(labels));
        check_fused(calque::value_and_grad(cross_entropy), closeness{16, 4}, with_shape<calque::dyn, 10>(z), labels);
    }
}

TEST_CASE("rows take turns, as many as L1 holds") {
    for (std::size_t const n : {200u, 511u, 1030u, 2100u, 5000u}) {
        CAPTURE(n);
        for (std::size_t const m : {1u, 2u, 7u, 8u, 9u, 17u}) {
            CAPTURE(m);
            matrix const x = noise<float, 2>({m, n}, 1);
            check_fused(soft, closeness{16, 4}, matrix(x * 8.f));
            check_fused(kept, closeness{16, 4. * static_cast<double>(n)}, x);
            check_fused(normalized, closeness{16, 4}, x, noise<float, 1>({n}, 2), noise<float, 1>({n}, 3));
            check_fused(soft, closeness{16, 4}, noise<double, 2>({m, n}, 1));
        }
    }
    matrix x = noise<float, 2>({19, 300}, 1);
    auto const softmax = [](auto y) { return calque::softmax<-1>(y); };
    matrix const expected = calque::function(softmax)(x);
    calque::function(softmax).into(x, x);
    CHECK(x == expected);
}

TEST_CASE("what later walks along a row need again") {
    for (std::size_t const n : column_counts) {
        CAPTURE(n);
        check_fused(kept, closeness{64, 8}, noise<float, 2>({7, n}, 1));
        check_fused(kept, closeness{64, 8}, noise<double, 2>({7, n}, 1));
    }
}

TEST_CASE("walks of little work along rows of a few registers, the last of which is not whole") {
    for (std::size_t n = 1; n < 72; ++n) {
        CAPTURE(n);
        check_fused(scaled, closeness{8, 4}, noise<float, 2>({19, n}, 1), noise<float, 2>({19, n}, 2));
        check_fused(scaled, closeness{8, 4}, noise<double, 2>({3, n}, 1), noise<double, 2>({3, n}, 2));
    }
}

TEST_CASE("one value a row, in and out") {
    for (std::size_t const n : {1u, 16u, 50u}) {
        check_fused(of_rows, closeness{16, 100}, noise<float, 2>({9, n}, 1), noise<float, 1>({9}, 2));
        check_fused(of_rows, closeness{16, 100}, noise<float, 2>({9, n}, 1), noise<float, 1>({1}, 2));
        check_fused(of_rows, closeness{16, 100}, noise<float, 2>({1, n}, 1), noise<float, 1>({9}, 2));
        check_fused(of_rows, closeness{16, 100}, with_shape<calque::dim("m"), calque::dyn>(noise<float, 2>({9, n}, 1)),
                    with_shape<calque::dim("m")>(noise<float, 1>({9}, 2)));
    }
}

TEST_CASE("a chain of many reductions") {
    check_fused(long_chain, closeness{200, 1}, noise<float, 2>({4, 20}, 1));
}

TEST_CASE("reductions of reductions, of which an extent is 1 for all calls") {
    auto const totals = [](auto x) {
        return std::tuple{calque::sum(calque::sum<1>(x)), calque::mean(calque::logsumexp<-1>(x)),
                          calque::sum(exp(calque::mean<0>(x))), calque::max(exp(calque::sum<-1>(x)))};
    };
    for (std::size_t const n : {1u, 3u, 16u, 65u}) {
        check_fused(totals, closeness{4, 100}, with_shape<1, calque::dyn>(noise<float, 2>({1, n}, 1)));
        check_fused(totals, closeness{4, 100}, with_shape<calque::dyn, 1>(noise<double, 2>({n, 1}, 1)));
    }
    xt::xtensor_fixed<float, xt::xshape<1, 5>> const row = noise<float, 2>({1, 5}, 1);
    xt::xtensor_fixed<double, xt::xshape<5, 1>> const column = noise<double, 2>({5, 1}, 1);
    check_fused(totals, closeness{4, 100}, row);
    check_fused(totals, closeness{4, 100}, column);
}

TEST_CASE("what rows have once meets rows of another length") {
    auto const of_others = [](auto x, auto y) { return calque::max<-1>(x, keepdims) + y; };
    auto const of_one = [](auto x, auto y) { return calque::sum<-1>(abs(x), keepdims) * calque::expand_dims<0>(y); };
    auto const twice = [](auto x, auto y) {
        auto const rest = y - calque::mean<-1>(x * x, keepdims);
        return std::tuple{rest * calque::sum<-1>(rest, keepdims), x * calque::max<-1>(y, keepdims)};
    };
    for (std::size_t const n : {1u, 3u, 17u, 130u}) {
        for (std::size_t const other : {1u, 3u, 40u}) {
            auto const x = with_shape<4, calque::dyn>(noise<float, 2>({4, n}, 1));
            auto const y = with_shape<4, calque::dyn>(noise<float, 2>({4, other}, 2));
            check_fused(of_others, equal_bits, x, y);
            check_fused(of_one, closeness{4, 1000}, x, noise<float, 1>({other}, 2));
            check_fused(twice, closeness{64, 1000}, x, y);
        }
    }
}

TEST_CASE("sums of arrays with different lengths meet") {
    auto const total = [](auto x, auto y) { return calque::sum(x) + calque::sum(y); };
    auto const per_row = [](auto x, auto y) {
        return calque::sum<1>(x) * calque::max<1>(y * y) + calque::sum<1>(x * x);
    };
    for (std::size_t const n : {1u, 2u, 17u, 100u}) {
        check_fused(total, closeness{4, 1000}, noise<float, 1>({n}, 1), noise<float, 1>({7}, 2));
        check_fused(per_row, closeness{4, 1000}, noise<float, 2>({5, n}, 1), noise<float, 2>({5, 8}, 2));
    }
}
