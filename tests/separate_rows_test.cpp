// SPDX-License-Identifier: MIT
// Elementwise work on short rows: with gaps between them or too few to be joined, in front of a row or a column that
// all share, in place, and with nothing written behind a row.
#include "tensor_compare.hpp"

#include <cstdint>
#include <tuple>

namespace {

using calque::extent_t;
using tests::equal_bits;
using tests::noise;
using xt::xtensor;

inline constexpr auto light = [](auto x, auto y) { return x * y + x - y * 0.5f; };
inline constexpr auto costly = [](auto x, auto y) { return tanh(x * y) + 0.5f * x; };
inline constexpr auto rising = [](auto x) { return exp(x) - 1.f; };
inline constexpr auto several = [](auto x, auto y) { return std::tuple{x + y, sigmoid(x), y * 2.f}; };
inline constexpr auto shifted = [](auto x, auto row) { return x + row; };
inline constexpr auto scaled = [](auto x, auto column) { return exp(x - column); };
inline constexpr auto both = [](auto x, auto row, auto column) { return (x + row) * column; };
inline constexpr auto counted = [](auto x, auto n) { return cast<double>(n) * 2 + cast<double>(x > 0.f); };
inline constexpr auto placed = [](auto x) { return calque::tril(x) * 2.f; };

constexpr std::size_t some_columns[] = {1, 2, 5, 7, 8, 9, 15, 16, 17, 24, 25, 31, 32, 33, 40, 63, 65, 144, 145};
constexpr std::size_t some_rows[] = {1, 2, 3, 4, 5, 7, 40};

/// A matrix within a larger one, whose other elements are `untouched`.
template <class T>
class matrix_with_gaps {
public:
    static constexpr T untouched = T(77);

    matrix_with_gaps(std::size_t rows, std::size_t columns, std::size_t gap)
        : rows_(rows), columns_(columns), memory_(xtensor<T, 2>::from_shape({rows + 1, columns + gap})) {
        memory_.fill(untouched);
    }
    matrix_with_gaps(xtensor<T, 2> const& of, std::size_t gap) : matrix_with_gaps(of.shape(0), of.shape(1), gap) {
        for (std::size_t i = 0; i < rows_; ++i) {
            for (std::size_t j = 0; j < columns_; ++j) {
                memory_(i, j + 1) = of(i, j);
            }
        }
    }

    auto view() {
        return calque::array_view(memory_.data() + 1, {static_cast<extent_t>(rows_), static_cast<extent_t>(columns_)},
                                  {static_cast<extent_t>(memory_.shape(1)), extent_t{1}});
    }

    /// Whether it has these elements, and all around is as it was.
    bool is_exactly(xtensor<T, 2> const& expected) const {
        bool is = true;
        for (std::size_t i = 0; i < memory_.shape(0); ++i) {
            for (std::size_t j = 0; j < memory_.shape(1); ++j) {
                bool const is_inside = i < rows_ && j >= 1 && j < columns_ + 1;
                is = is && tests::is_close(memory_(i, j), is_inside ? expected(i, j - 1) : untouched, equal_bits);
            }
        }
        return is;
    }

private:
    std::size_t rows_, columns_;
    xtensor<T, 2> memory_;
};

/// What the interpreter makes of a function of matrices.
template <class F, class... Args>
auto interpreted(F const& f, Args const&... args) {
    tests::check_fused(f, equal_bits, args...);
    return calque::function(f)(args...);
}

/// Checks one result of floats or doubles, from and to matrices with gaps and without.
template <class T, class F, class... Rest>
void check_with_gaps(F const& f, std::size_t m, std::size_t n, xtensor<float, 2> const& x, Rest const&... rest) {
    CAPTURE(m);
    CAPTURE(n);
    auto const fn = calque::function(f, {.max_warnings = 0});
    xtensor<T, 2> const expected = interpreted(f, x, rest...);
    for (std::size_t const gap : {2u, 5u, 16u}) {
        matrix_with_gaps<float> from(x, gap);
        matrix_with_gaps<T> to(m, n, gap);
        fn.into(to.view(), x, rest...);
        CHECK(to.is_exactly(expected));
        matrix_with_gaps<T> second(m, n, gap);
        fn.into(second.view(), from.view(), rest...);
        CHECK(second.is_exactly(expected));
        xtensor<T, 2> const whole = fn(from.view(), rest...);
        CHECK(whole == expected);
    }
}

} // namespace

TEST_CASE("matrices of any few columns") {
    for (std::size_t const n : some_columns) {
        for (std::size_t const m : some_rows) {
            auto const x = noise<float, 2>({m, n}, 1), y = noise<float, 2>({m, n}, 2);
            check_with_gaps<float>(light, m, n, x, y);
            check_with_gaps<float>(costly, m, n, x, y);
            check_with_gaps<float>(rising, m, n, x);
            check_with_gaps<double>(counted, m, n, x, noise<std::int32_t, 2>({m, n}, 3));
            check_with_gaps<float>(placed, m, n, x);
        }
    }
}

TEST_CASE("a row and a column that all share") {
    for (std::size_t const n : some_columns) {
        for (std::size_t const m : {2u, 5u, 16u, 40u}) {
            auto const x = noise<float, 2>({m, n}, 1), column = noise<float, 2>({m, 1}, 2);
            auto const row = noise<float, 1>({n}, 3);
            check_with_gaps<float>(shifted, m, n, x, row);
            check_with_gaps<float>(scaled, m, n, x, column);
            check_with_gaps<float>(both, m, n, x, row, column);
        }
    }
}

TEST_CASE("a column that the compiler knows") {
    using calque::dyn;
    auto const centered = [](auto x) { return tanh(x - view(x, calque::all(), calque::range(0, 1))); };
    auto const doubled = [](auto x) { return x * 2.f - view(x, calque::all(), calque::range(1, 2)); };
    for (std::size_t const n : {3u, 8u, 17u, 33u, 70u}) {
        for (std::size_t const m : {1u, 3u, 6u, 50u}) {
            auto const x = noise<float, 2>({m, n}, 1);
            check_with_gaps<float>(centered, m, n, x);
            check_with_gaps<float>(doubled, m, n, x);
        }
    }
}

TEST_CASE("several results, each with gaps of its own") {
    auto const fn = calque::function(several, {.max_warnings = 0});
    for (std::size_t const n : some_columns) {
        auto const x = noise<float, 2>({9, n}, 1), y = noise<float, 2>({9, n}, 2);
        auto const [sums, curves, twice] = interpreted(several, x, y);
        matrix_with_gaps<float> a(9, n, 2), b(9, n, 3), c(9, n, 9);
        auto to = std::tuple{a.view(), b.view(), c.view()};
        fn.into(to, matrix_with_gaps<float>(x, 4).view(), y);
        CAPTURE(n);
        CHECK(a.is_exactly(sums));
        CHECK(b.is_exactly(curves));
        CHECK(c.is_exactly(twice));
    }
}

TEST_CASE("in place") {
    for (std::size_t const n : some_columns) {
        for (std::size_t const m : some_rows) {
            CAPTURE(n);
            CAPTURE(m);
            auto const x = noise<float, 2>({m, n}, 1), y = noise<float, 2>({m, n}, 2);
            xtensor<float, 2> const expected = interpreted(light, x, y), curves = interpreted(costly, x, y);
            matrix_with_gaps<float> first(x, 5), second(y, 3), third(x, 2);
            calque::function(light).into(first.view(), first.view(), y);
            CHECK(first.is_exactly(expected));
            calque::function(light).into(second.view(), x, second.view());
            CHECK(second.is_exactly(expected));
            calque::function(costly).into(third.view(), third.view(), y);
            CHECK(third.is_exactly(curves));
        }
    }
}
