// SPDX-License-Identifier: MIT
// Light kernels load whole cache lines: arrays that begin anywhere in one, of exactly the memory that they need.
#include "tensor_compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <tuple>
#include <utility>

namespace {

using tests::noise;
using xt::xtensor;

inline constexpr auto light = [](auto x, auto y, auto z) { return x - y + z; };
inline constexpr auto light_mixed = [](auto x, auto i, auto d) {
    return std::tuple{x + calque::cast<float>(i), calque::cast<double>(x) - d};
};
inline constexpr auto arithmetic = [](auto x, auto y, auto z) { return (((x * y + 0.5f) * x + y) * x + z) * x; };
inline constexpr auto more_arithmetic = [](auto x, auto y, auto z) {
    return ((((x * y + z) * x + y) * z - x) * y + z) * x - y;
};
inline constexpr auto chosen = [](auto m, auto x, auto h) {
    return std::tuple{where(m, 2 * x, calque::cast<float>(h)), where(m, h, calque::cast<calque::half>(x)), x > 0};
};
inline constexpr auto heavy = [](auto x, auto y) { return tanh(x) * exp(y) - sigmoid(x); };
inline constexpr auto sums = [](auto x, auto y) {
    return std::tuple{calque::sum(x * y), calque::max(x), calque::mean(y), calque::sum(calque::cast<double>(x))};
};
inline constexpr auto sum_of_double = [](auto x) { return calque::sum(x); };
inline constexpr auto products = [](auto x, auto y) {
    return std::tuple{calque::sum(x * y), calque::mean(square(y - x))};
};
inline constexpr auto sum_of_products = [](auto x, auto y) { return calque::sum(x * y); };
inline constexpr auto three = [](auto x, auto y, auto z) { return calque::sum(x * y * z); };
inline constexpr auto sum_of_mixed = [](auto x, auto y) {
    return calque::sum(calque::cast<double>(x) * calque::cast<double>(y));
};
inline constexpr auto spread = [](auto x) { return calque::mean(square(x - calque::mean(x))); };
inline constexpr auto farthest = [](auto x, auto y) { return calque::max(abs(x - y)); };
inline constexpr auto extremes = [](auto i) { return std::tuple{calque::min(i), calque::sum(i)}; };
inline constexpr auto next = [](auto x) { return x + 1; };
inline constexpr auto column_sums = [](auto x) { return std::tuple{calque::sum<0>(x), calque::sum<0>(x * x)}; };
inline constexpr auto column_extremes = [](auto x) { return std::tuple{calque::max<0>(x), calque::min<0>(x)}; };
inline constexpr auto column_products = [](auto x, auto y) { return calque::sum<0>(x * y); };
inline constexpr auto column_deviations = [](auto x, auto w, auto u, auto k) {
    return std::tuple{calque::sum<0>((x - w) * (x - w)), calque::max<0>(x * w), calque::sum<0>((x * u + w) * (k + k))};
};
inline constexpr auto column_maxima = [](auto x) { return calque::max<0>(x); };
inline constexpr auto column_distances = [](auto x, auto w) { return calque::sum<0>(abs(x - w)); };
inline constexpr auto column_moments = [](auto x, auto y) {
    return std::tuple{calque::sum<0>(x), calque::sum<0>(x * y)};
};
inline constexpr auto row_sums = [](auto x, auto y) {
    return std::tuple{calque::sum<1>(x * y), calque::max<1>(x), calque::mean<1>(y)};
};
inline constexpr auto row_products = [](auto x, auto y) { return calque::sum<1>(x * y); };
inline constexpr auto row_deviations = [](auto x) {
    return calque::mean<1>(square(x - calque::mean<1>(x, calque::keepdims)));
};
inline constexpr auto plus_row = [](auto x, auto w) { return x + w; };
inline constexpr auto scaled = [](auto x, auto w, auto b) { return maximum(x * w + b, 0); };
inline constexpr auto combined = [](auto x, auto y, auto w) { return x * y + w - x; };
inline constexpr auto positive = [](auto x, auto w, auto k) { return maximum(x * w + k, 0); };

/// `n` elements in memory of exactly their size, a place `offset` elements from where a cache line begins.
template <class T>
class placed {
public:
    placed(std::size_t n, std::size_t offset, unsigned seed)
        : memory_(static_cast<std::byte*>(::operator new((n + offset) * sizeof(T), std::align_val_t{64}))),
          elements_(reinterpret_cast<T*>(memory_) + offset, n) {
        auto const values = noise<T, 1>({n}, seed);
        std::uninitialized_copy(values.begin(), values.end(), elements_.begin());
    }
    placed(placed const&) = delete;
    placed& operator=(placed const&) = delete;
    ~placed() { ::operator delete(memory_, std::align_val_t{64}); }

    std::span<T> view() const { return elements_; }
    auto rows(std::size_t columns) const {
        std::array<std::size_t, 2> const shape{elements_.size() / columns, columns};
        return xt::adapt(elements_.data(), elements_.size(), xt::no_ownership(), shape);
    }
    xtensor<T, 1> copy() const {
        xtensor<T, 1> x = xtensor<T, 1>::from_shape({elements_.size()});
        std::copy(elements_.begin(), elements_.end(), x.begin());
        return x;
    }

private:
    std::byte* memory_;
    std::span<T> elements_;
};

/// Checks that a program returns the same bits wherever its arrays of `n` elements `T...` begin in their lines.
template <class... T, class F>
void check_places(F const& program, std::size_t n) {
    auto const f = calque::function(program);
    auto const arrays_at = [&](std::size_t k) {
        return [&]<unsigned... I>(std::integer_sequence<unsigned, I...>) {
            unsigned const first = k < 16 ? 1 : 0; // from 16 on the first array begins in a line, whatever `k`
            return std::tuple{std::make_unique<placed<T>>(n, k * (2 * I + first) % (64 / sizeof(T)), I)...};
        }(std::make_integer_sequence<unsigned, sizeof...(T)>{});
    };
    std::apply(
        [&](auto const&... x) {
            tests::check_fused(program, tests::closeness{8, 4. * static_cast<double>(n)}, x->copy()...);
        },
        arrays_at(0));
    auto const call = [&](auto const&... x) { return f(x->view()...); };
    auto const expected = std::apply(call, arrays_at(0));
    for (std::size_t k = 1; k < 32; ++k) {
        CAPTURE(n);
        CAPTURE(k);
        CHECK(std::apply(call, arrays_at(k)) == expected);
    }
}

} // namespace

TEST_CASE("arrays that begin anywhere in a cache line") {
    auto const f = calque::function(light);
    auto const mixed_f = calque::function(light_mixed);
    auto const g = calque::function(next);
    for (std::size_t const n : {255u, 256u, 257u, 330u, 1000u, 7001u}) {
        for (std::size_t k = 0; k < 16; ++k) {
            CAPTURE(n);
            CAPTURE(k);
            placed<float> const x(n, k, 1), y(n, (3 * k + 1) % 16, 2), z(n, 5, 3), out(n, (7 * k) % 16, 4);
            placed<std::int32_t> const i(n, (k + 8) % 16, 5);
            placed<double> const d(n, k % 8, 6), wide(n, (k + 3) % 8, 7);
            f.into(out.view(), x.view(), y.view(), z.view());
            CHECK(out.copy() == xtensor<float, 1>(x.copy() - y.copy() + z.copy()));
            auto results = std::tuple{out.view(), wide.view()};
            mixed_f.into(results, x.view(), i.view(), d.view());
            CHECK(out.copy() == xtensor<float, 1>(x.copy() + xt::cast<float>(i.copy())));
            CHECK(wide.copy() == xtensor<double, 1>(xt::cast<double>(x.copy()) - d.copy()));
            xtensor<float, 1> const before = z.copy();
            g.into(z.view(), z.view());
            CHECK(z.copy() == xtensor<float, 1>(before + 1.f));
            xtensor<float, 1> const expected = x.copy() - y.copy() + z.copy();
            f.into(y.view(), x.view(), y.view(), z.view());
            CHECK(y.copy() == expected);
        }
    }
}

TEST_CASE("arithmetic on arrays that begin anywhere in a cache line, in L1 and behind it") {
    auto const check = [](auto const& f) {
        for (std::size_t const n : {300u, 1000u, 2500u, 9001u}) {
            for (std::size_t k = 0; k < 16; k += 3) {
                CAPTURE(n);
                CAPTURE(k);
                placed<float> const x(n, k, 1), y(n, (3 * k + 1) % 16, 2), z(n, (5 * k) % 16, 3);
                placed<float> const out(n, (k + 7) % 16, 4);
                xtensor<float, 1> const expected = f(x.copy(), y.copy(), z.copy());
                f.into(out.view(), x.view(), y.view(), z.view());
                CHECK(out.copy() == expected);
                f.into(z.view(), x.view(), y.view(), z.view());
                CHECK(z.copy() == expected);
            }
        }
    };
    check(calque::function(arithmetic));
    check(calque::function(more_arithmetic));
}

TEST_CASE("masks and narrow elements behind L1") {
    auto const f = calque::function(chosen);
    std::size_t const n = 13001;
    for (std::size_t k = 0; k < 64; k += 7) {
        CAPTURE(k);
        placed<bool> const m(n, k, 1);
        placed<float> const x(n, (5 * k) % 16, 2);
        placed<calque::half> const h(n, (3 * k) % 32, 3);
        tests::check_fused(chosen, tests::equal_bits, m.copy(), x.copy(), h.copy());
        auto const [selected, halves, signs] = f(m.copy(), x.copy(), h.copy());
        placed<float> const to(n, (k + 3) % 16, 4);
        placed<calque::half> const narrow(n, k % 32, 5);
        placed<bool> const mask(n, (k + 9) % 64, 6);
        auto to_view = to.view();
        auto narrow_view = narrow.view();
        auto mask_view = mask.view();
        auto outputs = std::tie(to_view, narrow_view, mask_view);
        f.into(outputs, m.view(), x.view(), h.view());
        CHECK(to.copy() == selected);
        CHECK(narrow.copy() == halves);
        CHECK(mask.copy() == signs);
    }
}

TEST_CASE("more work on arrays that begin anywhere in a cache line") {
    auto const f = calque::function(heavy);
    for (std::size_t const n : {255u, 256u, 271u, 272u, 273u, 1000u}) {
        placed<float> const first(n, 0, 1), second(n, 0, 2);
        tests::check_fused(heavy, tests::equal_bits, first.copy(), second.copy());
        auto const expected = f(first.view(), second.view());
        for (std::size_t k = 0; k < 16; ++k) {
            CAPTURE(n);
            CAPTURE(k);
            placed<float> const x(n, k, 1), y(n, (3 * k) % 16, 2), out(n, (7 * k + 1) % 16, 4);
            f.into(out.view(), x.view(), y.view());
            CHECK(out.copy() == expected);
            f.into(x.view(), x.view(), y.view());
            CHECK(x.copy() == expected);
        }
    }
}

TEST_CASE("sums of arrays that begin anywhere have the same bits") {
    auto const f = calque::function(sums);
    auto const of_double = calque::function(sum_of_double);
    auto const of_bytes = calque::function(extremes);
    for (std::size_t const n : {2559u, 2560u, 6143u, 6144u, 6145u, 6207u, 6208u, 10000u, 10305u, 24641u}) {
        placed<float> const x(n, 0, 1), y(n, 0, 2);
        placed<double> const d(n, 0, 3);
        placed<std::int8_t> const i(n, 0, 4);
        auto const expected = f(x.view(), y.view());
        double const expected_of_double = of_double(d.view());
        auto const expected_of_bytes = of_bytes(i.view());
        tests::check_fused(sums, tests::closeness{4, 2. * static_cast<double>(n)}, x.copy(), y.copy());
        tests::check_fused(sum_of_double, tests::closeness{4, static_cast<double>(n)}, d.copy());
        tests::check_fused(extremes, tests::equal_bits, i.copy());
        placed<std::int16_t> const s(n, 0, 5);
        auto const expected_of_shorts = of_bytes(s.view());
        tests::check_fused(extremes, tests::equal_bits, s.copy());
        for (std::size_t k = 1; k < 16; ++k) {
            CAPTURE(n);
            CAPTURE(k);
            placed<float> const here(n, k, 1), there(n, (5 * k) % 16, 2);
            CHECK(f(here.view(), there.view()) == expected);
            placed<double> const wide(n, k % 8, 3);
            CHECK(of_double(wide.view()) == expected_of_double);
            for (std::size_t const offset : {4 * k, 4 * k + 1}) {
                placed<std::int8_t> const bytes(n, offset, 4);
                CHECK(of_bytes(bytes.view()) == expected_of_bytes);
                placed<std::int16_t> const shorts(n, offset / 2, 5);
                CHECK(of_bytes(shorts.view()) == expected_of_shorts);
            }
        }
    }
}

TEST_CASE("sums of several arrays that begin anywhere have the same bits") {
    for (std::size_t const n :
         {127u, 128u, 255u, 256u, 257u, 300u, 511u, 512u, 513u, 575u, 576u, 577u, 1000u, 2561u, 6000u, 6201u, 13001u}) {
        check_places<float, float>(products, n);
        check_places<double, double>(products, n);
        check_places<float, float, float>(three, n);
        check_places<double, double, double>(three, n);
        check_places<float, double>(sum_of_mixed, n);
        check_places<double, float>(sum_of_mixed, n);
        check_places<std::int32_t, std::int32_t>(sum_of_products, n);
        check_places<std::int64_t>(sum_of_double, n);
        check_places<float>(spread, n);
        check_places<double>(spread, n);
        check_places<float, float>(farthest, n);
        check_places<double, double>(farthest, n);
    }
}

TEST_CASE_TEMPLATE("sums of rows that begin anywhere have the same bits", T, float, double) {
    auto const sums_of = calque::function(row_sums);
    auto const products_of = calque::function(row_products);
    auto const deviations_of = calque::function(row_deviations);
    std::array<std::size_t, 2> const shapes[] = {{130, 127}, {130, 128}, {70, 191}, {70, 192}, {9, 255},
                                                 {9, 256},   {70, 319},  {70, 320}, {60, 333}, {13, 1000},
                                                 {5, 1025},  {25, 1025}, {3, 2049}};
    for (auto const& shape : shapes) {
        std::size_t const columns = shape[1], n = shape[0] * columns;
        placed<T> const x(n, 0, 1), y(n, 0, 2);
        CAPTURE(n);
        CAPTURE(columns);
        tests::closeness const close{8, 4. * static_cast<double>(columns)};
        tests::check_fused(row_sums, close, xtensor<T, 2>(x.rows(columns)), xtensor<T, 2>(y.rows(columns)));
        tests::check_fused(row_products, close, xtensor<T, 2>(x.rows(columns)), xtensor<T, 2>(y.rows(columns)));
        tests::check_fused(row_deviations, close, xtensor<T, 2>(x.rows(columns)));
        auto const expected = sums_of(x.rows(columns), y.rows(columns));
        auto const expected_products = products_of(x.rows(columns), y.rows(columns));
        auto const expected_deviations = deviations_of(x.rows(columns));
        for (std::size_t k = 1; k < 64 / sizeof(T); k += 2) {
            CAPTURE(k);
            placed<T> const here(n, k, 1), beside(n, k, 2), there(n, (3 * k) % 16, 2);
            for (auto const* y_here : {&beside, &there}) {
                CHECK(sums_of(here.rows(columns), y_here->rows(columns)) == expected);
                CHECK(products_of(here.rows(columns), y_here->rows(columns)) == expected_products);
            }
            CHECK(deviations_of(here.rows(columns)) == expected_deviations);
        }
    }
}

TEST_CASE_TEMPLATE("NaN anywhere in a row that begins anywhere", T, float, double) {
    auto const f = calque::function(row_sums);
    std::size_t const rows = 40, columns = 523;
    placed<T> const x(rows * columns, 3, 1), y(rows * columns, 6, 2);
    auto const greatest = std::get<1>(f(x.rows(columns), y.rows(columns)));
    bool are_right = true;
    for (std::size_t i = 0; i < columns; ++i) { // another row each time
        std::size_t const row = i % rows;
        T& element = x.view()[row * columns + i];
        T const before = std::exchange(element, std::numeric_limits<T>::quiet_NaN());
        auto const [sums_now, greatest_now, means_now] = f(x.rows(columns), y.rows(columns));
        for (std::size_t r = 0; r < rows; ++r) {
            are_right &= std::isnan(sums_now(r)) == (r == row) && !std::isnan(means_now(r));
            are_right &= r == row ? std::isnan(greatest_now(r)) : greatest_now(r) == greatest(r);
        }
        element = before;
    }
    CHECK(are_right);
}

TEST_CASE_TEMPLATE("rows are stored anywhere, and nothing beside them", T, float, double) {
    auto const plus = calque::function(plus_row);
    auto const positive_of = calque::function(positive);
    for (std::size_t const rows : {12u, 50u, 97u}) {
        for (std::size_t const columns : {17u, 31u, 33u, 39u, 40u, 41u, 63u, 64u, 65u, 100u, 255u, 257u, 513u}) {
            std::size_t const n = rows * columns;
            tests::check_fused(positive, tests::equal_bits, tests::noise<T, 2>({rows, columns}, 1),
                               tests::noise<T, 1>({columns}, 2), tests::noise<T, 2>({rows, 1}, 3));
            for (std::size_t k = 0; k < 64 / sizeof(T); k += 3) {
                CAPTURE(rows);
                CAPTURE(columns);
                CAPTURE(k);
                placed<T> const x(n, (5 * k) % 16, 1), w(columns, 3, 2), factors(rows, 1, 3);
                placed<T> const memory(n + 64, k, 4);
                auto out = xt::adapt(memory.view().data() + 32, n, xt::no_ownership(), std::array{rows, columns});
                auto const is_untouched = [&] {
                    xtensor<T, 1> const now = memory.copy(), before = placed<T>(n + 64, k, 4).copy();
                    return std::equal(now.begin(), now.begin() + 32, before.begin()) &&
                           std::equal(now.end() - 32, now.end(), before.end() - 32);
                };
                xtensor<T, 2> const matrix = x.rows(columns), column = factors.rows(1);
                plus.into(out, x.rows(columns), w.view());
                CHECK(out == xtensor<T, 2>(matrix + w.copy()));
                plus.into(out, x.rows(columns), calque::with_shape<calque::dyn, 1>(factors.rows(1)));
                CHECK(out == xtensor<T, 2>(matrix + column));
                CHECK(is_untouched());
                positive_of.into(out, x.rows(columns), w.view(), calque::with_shape<calque::dyn, 1>(factors.rows(1)));
                CHECK(out == positive_of(matrix, w.copy(), column));
                CHECK(is_untouched());
            }
        }
    }
}

TEST_CASE_TEMPLATE("long rows of several arrays that begin anywhere", T, float, double) {
    auto const f = calque::function(scaled);
    auto const g = calque::function(combined);
    for (std::size_t const rows : {2u, 7u}) {
        for (std::size_t const columns : {767u, 769u, 1535u, 1537u, 2051u}) {
            std::size_t const n = rows * columns;
            xtensor<T, 2> const a = tests::noise<T, 2>({rows, columns}, 1), b = tests::noise<T, 2>({rows, columns}, 2);
            xtensor<T, 1> const v = tests::noise<T, 1>({columns}, 3), u = tests::noise<T, 1>({columns}, 4);
            tests::check_fused(scaled, tests::equal_bits, a, v, u);
            tests::check_fused(combined, tests::equal_bits, a, b, v);
            for (std::size_t k = 0; k < 64 / sizeof(T); k += 3) {
                CAPTURE(rows);
                CAPTURE(columns);
                CAPTURE(k);
                placed<T> const x(n, (5 * k) % 16, 1), y(n, (3 * k + 1) % 16, 2);
                placed<T> const w(columns, (7 * k) % 16, 3), z(columns, 3, 4);
                placed<T> const out(n, k, 5);
                auto to = out.rows(columns);
                f.into(to, x.rows(columns), w.view(), z.view());
                CHECK(to == f(a, v, u));
                g.into(to, x.rows(columns), y.rows(columns), w.view());
                CHECK(to == g(a, b, v));
                auto in_place = x.rows(columns);
                g.into(in_place, x.rows(columns), y.rows(columns), w.view());
                CHECK(in_place == to);
            }
        }
    }
}

TEST_CASE("NaN anywhere in an array that begins anywhere") {
    auto const f = calque::function(sums);
    std::size_t const n = 6200;
    placed<float> const y(n, 3, 2);
    for (std::size_t const at : {0u, 10u, 15u, 16u, 63u, 64u, 6143u, 6144u, 6199u}) {
        CAPTURE(at);
        placed<float> const x(n, 5, 1);
        float const greatest = std::get<1>(f(x.view(), y.view()));
        CHECK(greatest == *std::max_element(x.view().begin(), x.view().end()));
        x.view()[at] = std::numeric_limits<float>::quiet_NaN();
        CHECK(std::isnan(std::get<1>(f(x.view(), y.view()))));
        CHECK(std::isnan(std::get<0>(f(x.view(), y.view()))));
        CHECK_FALSE(std::isnan(std::get<2>(f(x.view(), y.view()))));
        x.view()[at] = 1e30f;
        CHECK(std::get<1>(f(x.view(), y.view())) == 1e30f);
    }
}

TEST_CASE_TEMPLATE("columns of matrices that begin anywhere have the same bits", T, float, double, std::int32_t,
                   std::int8_t) {
    auto const sums_of = calque::function(column_sums);
    auto const extremes_of = calque::function(column_extremes);
    auto const products_of = calque::function(column_products);
    auto const deviations_of = calque::function(column_deviations);
    for (std::size_t const columns : {1u, 3u, 4u, 10u, 16u, 17u, 24u, 31u, 33u, 40u, 64u, 65u, 100u, 128u}) {
        for (std::size_t const rows : {40u, 64u, 97u, 160u, 301u}) {
            CAPTURE(columns);
            CAPTURE(rows);
            std::size_t const n = rows * columns;
            tests::closeness const close{4, 4. * static_cast<double>(rows)};
            placed<T> const x(n, 0, 1), y(n, 0, 2);
            tests::check_fused(column_sums, close, xtensor<T, 2>(x.rows(columns)));
            tests::check_fused(column_extremes, tests::equal_bits, xtensor<T, 2>(x.rows(columns)));
            tests::check_fused(column_products, close, xtensor<T, 2>(x.rows(columns)), xtensor<T, 2>(y.rows(columns)));
            auto const expected = sums_of(x.rows(columns));
            auto const expected_extremes = extremes_of(x.rows(columns));
            auto const expected_products = products_of(x.rows(columns), y.rows(columns));
            placed<T> const w(columns, 3, 5), u(columns, 0, 6);
            T const scale = 3;
            tests::check_fused(column_deviations, close, xtensor<T, 2>(x.rows(columns)), w.copy(), u.copy(), scale);
            auto const expected_deviations = deviations_of(x.rows(columns), w.view(), u.view(), scale);
            for (std::size_t k = 1; k < 64 / sizeof(T); k += 5) {
                CAPTURE(k);
                placed<T> const here(n, k, 1), there(n, (3 * k) % 16, 2);
                CHECK(sums_of(here.rows(columns)) == expected);
                CHECK(extremes_of(here.rows(columns)) == expected_extremes);
                CHECK(products_of(here.rows(columns), there.rows(columns)) == expected_products);
                CHECK(deviations_of(here.rows(columns), w.view(), u.view(), scale) == expected_deviations);
            }
        }
    }
}

TEST_CASE_TEMPLATE("columns of large matrices that begin anywhere have the same bits", T, float, double, std::int32_t) {
    auto const sums_of = calque::function(column_sums);
    auto const maxima_of = calque::function(column_maxima);
    auto const products_of = calque::function(column_products);
    auto const distances_of = calque::function(column_distances);
    auto const moments_of = calque::function(column_moments);
    std::array<std::size_t, 2> const shapes[] = {{150, 127}, {150, 128}, {150, 129}, {401, 144}, {90, 208}, {70, 257},
                                                 {61, 333},  {23, 1000}, {19, 1024}, {9, 2064},  {5, 8209}};
    for (auto const& shape : shapes) {
        std::size_t const columns = shape[1], n = shape[0] * columns;
        CAPTURE(n);
        CAPTURE(columns);
        tests::closeness const close{8, 4. * static_cast<double>(shape[0])};
        placed<T> const x(n, 0, 1), y(n, 0, 2), w(columns, 3, 5);
        xtensor<T, 2> const a = x.rows(columns), b = y.rows(columns);
        tests::check_fused(column_maxima, tests::equal_bits, a);
        tests::check_fused(column_products, close, a, b);
        tests::check_fused(column_distances, close, a, w.copy());
        tests::check_fused(column_moments, close, a, b);
        auto const expected = sums_of(a);
        auto const expected_maxima = maxima_of(a);
        auto const expected_products = products_of(a, b);
        auto const expected_distances = distances_of(a, w.view());
        auto const expected_moments = moments_of(a, b);
        for (std::size_t k = 0; k < 64 / sizeof(T); k += 3) {
            CAPTURE(k);
            placed<T> const here(n, k, 1), there(n, 5 * k % (64 / sizeof(T)), 2);
            CHECK(sums_of(here.rows(columns)) == expected);
            CHECK(maxima_of(here.rows(columns)) == expected_maxima);
            CHECK(products_of(here.rows(columns), there.rows(columns)) == expected_products);
            CHECK(distances_of(here.rows(columns), w.view()) == expected_distances);
            CHECK(moments_of(here.rows(columns), there.rows(columns)) == expected_moments);
        }
    }
}

TEST_CASE_TEMPLATE("NaN anywhere in a matrix that begins anywhere", T, float, double) {
    auto const f = calque::function(column_extremes);
    auto const maxima_of = calque::function(column_maxima);
    for (std::size_t const columns : {8u, 17u, 33u, 48u, 145u}) {
        for (std::size_t const place : {0u, 1u, 7u}) {
            std::size_t const n = 150 * columns;
            placed<T> const x(n, place, 1);
            auto const [greatest, least] = f(x.rows(columns));
            bool are_right = true;
            for (std::size_t i = 0; i < n; ++i) {
                T const element = std::exchange(x.view()[i], std::numeric_limits<T>::quiet_NaN());
                auto const [greatest_now, least_now] = f(x.rows(columns));
                auto const maxima = maxima_of(x.rows(columns));
                for (std::size_t j = 0; j < columns; ++j) {
                    bool const is_here = j == i % columns;
                    are_right &= is_here ? std::isnan(greatest_now(j)) && std::isnan(least_now(j))
                                         : greatest_now(j) == greatest(j) && least_now(j) == least(j);
                    are_right &= is_here ? std::isnan(maxima(j)) : maxima(j) == greatest(j);
                }
                x.view()[i] = element;
            }
            CAPTURE(columns);
            CAPTURE(place);
            CHECK(are_right);
        }
    }
}
