// SPDX-License-Identifier: MIT
// Products of small matrices whose extents the compiler knows, through functions: every layout of the operands and of
// the result, aliases and batches, against loops. (The kernels by themselves: matmul_kernel_test.cpp.)
#include "tensor_compare.hpp"

#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using calque::array_view;
using calque::with_shape;

inline constexpr auto product = [](auto a, auto b) { return matmul(a, b); };

/// Elements in memory of `size`, whole numbers, so that sums are exact in any order.
template <class T>
std::vector<T> whole_numbers(std::ptrdiff_t size, int seed) {
    std::vector<T> x(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<T>((static_cast<int>(i) * 7 + seed) % 11 - 5);
    }
    return x;
}

struct matrix_layout {
    std::ptrdiff_t row, column; // strides
};

/// The product of matrices with these strides, by `f`, is that of loops; what lies between elements of C stays.
template <class T, std::ptrdiff_t M, std::ptrdiff_t N, std::ptrdiff_t K>
void check(matrix_layout of_a, matrix_layout of_b, matrix_layout of_c) {
    static auto const f = calque::function(product, {.max_warnings = 0});
    auto const a = whole_numbers<T>(400, 1), b = whole_numbers<T>(400, 4);
    std::vector<T> c(400, T(77)), expected = c;
    for (std::ptrdiff_t i = 0; i < M; ++i) {
        for (std::ptrdiff_t j = 0; j < N; ++j) {
            T sum = 0;
            for (std::ptrdiff_t k = 0; k < K; ++k) {
                sum += a[static_cast<std::size_t>(i * of_a.row + k * of_a.column)] *
                       b[static_cast<std::size_t>(k * of_b.row + j * of_b.column)];
            }
            expected[static_cast<std::size_t>(i * of_c.row + j * of_c.column)] = sum;
        }
    }
    array_view const left(a.data(), {M, K}, {of_a.row, of_a.column});
    array_view const right(b.data(), {K, N}, {of_b.row, of_b.column});
    array_view result(c.data(), {M, N}, {of_c.row, of_c.column});
    f.into(result, with_shape<M, K>(left), with_shape<K, N>(right));
    CHECK(c == expected);
}

template <class T, std::ptrdiff_t M, std::ptrdiff_t N, std::ptrdiff_t K>
void check_layouts() {
    CAPTURE(M);
    CAPTURE(N);
    CAPTURE(K);
    for (matrix_layout const a : {matrix_layout{K, 1}, {1, M}, {K + 3, 1}, {2 * K, 2}}) {
        for (matrix_layout const b : {matrix_layout{N, 1}, {1, K}, {N + 1, 1}, {2 * N, 2}}) {
            for (matrix_layout const c : {matrix_layout{N, 1}, {1, M}, {N + 2, 1}}) {
                check<T, M, N, K>(a, b, c);
            }
        }
    }
}

TEST_CASE_TEMPLATE("products of known extents, in every layout", T, float, double) {
    check_layouts<T, 3, 3, 3>();
    check_layouts<T, 4, 4, 4>();
    check_layouts<T, 3, 2, 4>();
    check_layouts<T, 1, 5, 2>();
    check_layouts<T, 5, 9, 3>();
}

inline constexpr auto of_transposes = [](auto a, auto b, auto turned_a, auto turned_b) {
    return std::tuple{matmul(a, transpose(turned_b)), matmul(transpose(turned_a), b),
                      matmul(transpose(turned_a), transpose(turned_b)), matmul(transpose(b), transpose(a))};
};
inline constexpr auto with_work_behind = [](auto a, auto b, auto turned_b, auto c, auto row, auto column) {
    auto const kept = matmul(a, b) * 2;
    return std::tuple{matmul(a, b) + c,
                      relu(matmul(a, transpose(turned_b)) - 0.5),
                      matmul(a, transpose(turned_b)) * c + row,
                      (matmul(a, b) - column) * 3,
                      std::tuple{kept, exp(-kept * kept)},
                      transpose(matmul(a, transpose(turned_b)) + c),
                      matmul(matmul(a, transpose(turned_b)) - c, transpose(c))};
};

template <class T, std::size_t M, std::size_t N, std::size_t K>
void check_transposes_and_work() {
    CAPTURE(M);
    CAPTURE(N);
    CAPTURE(K);
    using tests::check_fused;
    using tests::noise;
    constexpr auto m = static_cast<calque::extent_t>(M), n = static_cast<calque::extent_t>(N),
                   k = static_cast<calque::extent_t>(K);
    auto const a = noise<T, 2>({M, K}, 1), b = noise<T, 2>({K, N}, 2), c = noise<T, 2>({M, N}, 3);
    auto const turned_a = noise<T, 2>({K, M}, 4), turned_b = noise<T, 2>({N, K}, 5);
    auto const row = noise<T, 1>({N}, 6);
    auto const column = noise<T, 2>({M, 1}, 7);
    tests::closeness const allowed{16, 16};
    check_fused(of_transposes, allowed, with_shape<m, k>(a), with_shape<k, n>(b), with_shape<k, m>(turned_a),
                with_shape<n, k>(turned_b));
    check_fused(with_work_behind, allowed, with_shape<m, k>(a), with_shape<k, n>(b), with_shape<n, k>(turned_b),
                with_shape<m, n>(c), with_shape<n>(row), with_shape<m, 1>(column));
    auto const turned_c = noise<T, 2>({N, M}, 8);
    check_fused(with_work_behind, allowed, with_shape<m, k>(a), with_shape<k, n>(b), with_shape<n, k>(turned_b),
                with_shape<m, n>(xt::transpose(turned_c)), with_shape<n>(row), with_shape<m, 1>(column));
}

TEST_CASE_TEMPLATE("of transposes, and with work on the result", T, float, double) {
    check_transposes_and_work<T, 3, 3, 3>();
    check_transposes_and_work<T, 4, 4, 4>();
    check_transposes_and_work<T, 3, 2, 4>();
    check_transposes_and_work<T, 4, 1, 4>();
    check_transposes_and_work<T, 1, 4, 4>();
    check_transposes_and_work<T, 2, 5, 1>();
    check_transposes_and_work<T, 5, 9, 3>();
    check_transposes_and_work<T, 8, 8, 8>();
}

TEST_CASE_TEMPLATE("of vectors", T, float, double) {
    check_layouts<T, 3, 1, 3>();
    check_layouts<T, 1, 3, 3>();
    check_layouts<T, 4, 1, 4>();
    check_layouts<T, 1, 4, 4>();
    check_layouts<T, 6, 1, 5>();
    check_layouts<T, 1, 6, 5>();
    check_layouts<T, 9, 1, 9>();
    check_layouts<T, 1, 17, 9>();
    check_layouts<T, 1, 1, 5>();
    check_layouts<T, 1, 1, 33>();
    check_layouts<T, 33, 1, 1>();
}

TEST_CASE_TEMPLATE("of vectors, and what follows them", T, float, double) {
    auto const x = whole_numbers<T>(5, 2), a = whole_numbers<T>(35, 1), bias = whole_numbers<T>(7, 3);
    std::vector<T> y(7), expected(7);
    for (std::size_t i = 0; i < 7; ++i) {
        T sum = 0;
        for (std::size_t k = 0; k < 5; ++k) {
            sum += a[i * 5 + k] * x[k];
        }
        expected[i] = std::max(sum + bias[i], T(0));
    }
    auto const f = calque::function([](auto m, auto v, auto b) { return relu(matmul(m, v) + b); });
    array_view result(y.data(), {7});
    array_view const matrix(a.data(), {7, 5});
    array_view const turned(a.data(), {5, 7}, {1, 5});
    array_view const vector(x.data(), {5}), offset(bias.data(), {7});
    f.into(result, matrix, vector, offset);
    CHECK(y == expected);
    y.assign(7, T(0));
    auto const from_left = calque::function([](auto m, auto v, auto b) { return relu(matmul(v, m) + b); });
    from_left.into(result, turned, vector, offset);
    CHECK(y == expected);
    y.assign(7, T(0));
    f.into(result, with_shape<7, 5>(matrix), with_shape<5>(vector), with_shape<7>(offset));
    CHECK(y == expected);
    array_view const none(x.data(), {0});
    array_view const thin(a.data(), {7, 0});
    calque::function(product).into(result, thin, none);
    CHECK(y == std::vector<T>(7));
}

TEST_CASE("a plan says how it computes a small product") {
    auto const f = calque::function(product, {.max_warnings = 0});
    std::vector<double> const memory(400);
    auto const text_of = [&](auto rows_and_depth, std::ptrdiff_t row_of_a, std::ptrdiff_t column_of_a) {
        constexpr std::ptrdiff_t n = decltype(rows_and_depth)::value;
        return f.plan(with_shape<n, n>(array_view(memory.data(), {n, n}, {row_of_a, column_of_a})),
                      with_shape<n, n>(array_view(memory.data(), {n, n})))
            .text();
    };
    auto const has = [](std::string const& text, char const* what) { return text.find(what) != std::string::npos; };
    CHECK(has(text_of(std::integral_constant<int, 4>(), 4, 1), "one function, all arrays in registers: matmul"));
    CHECK(has(text_of(std::integral_constant<int, 4>(), 9, 1), "(one tile)"));
    CHECK(has(text_of(std::integral_constant<int, 4>(), 1, 4), "(one tile)"));
    CHECK(!has(text_of(std::integral_constant<int, 17>(), 17, 1), "(one tile)"));
}

TEST_CASE("a product may be written to its own operand") {
    using matrix = xt::xtensor_fixed<float, xt::xshape<3, 3>>;
    matrix a = {{1, 2, 3}, {4, 5, 6}, {7, 8, 10}};
    matrix const b = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, expected = {{3, 1, 2}, {6, 4, 5}, {10, 7, 8}};
    auto const f = calque::function(product);
    f.into(a, a, b);
    CHECK(a == expected);
}

inline constexpr auto turned = [](auto points, auto rotation, auto shift) {
    auto const three = view(points, calque::all(), calque::range(0, 3));
    return std::tuple{matmul(points, rotation), matmul(three, transpose(view(rotation, calque::range(0, 3)))),
                      matmul(points, rotation) + shift, matmul(exp(points), rotation) * 2 - 1};
};

TEST_CASE_TEMPLATE("many points turned by a small matrix", T, float, double) {
    for (std::size_t const rows : {0u, 1u, 3u, 4u, 5u, 8u, 15u, 16u, 17u, 31u, 33u, 100u, 1000u}) {
        CAPTURE(rows);
        xt::xtensor_fixed<T, xt::xshape<4, 3>> const rotation(tests::noise<T, 2>({4, 3}, 1));
        xt::xtensor_fixed<T, xt::xshape<3>> const shift(tests::noise<T, 1>({3}, 2));
        tests::check_fused(turned, tests::closeness{16, 4}, tests::noise<T, 2>({rows, 4}, 3), rotation, shift);
    }
    auto const f = calque::function(product, {.max_warnings = 0});
    xt::xtensor<T, 2> points = tests::noise<T, 2>({100, 3}, 4);
    xt::xtensor_fixed<T, xt::xshape<3, 3>> const cycle = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    CHECK(f.plan(points, cycle).text().find("(a lane a row)") != std::string::npos);
    CHECK(f.plan(xt::view(points, xt::range(0, 1)), cycle).text().find("(a lane a row)") == std::string::npos);
    xt::xtensor<T, 2> const expected = xt::roll(points, 1, 1);
    f.into(points, points, cycle);
    CHECK(points == expected);
}

TEST_CASE_TEMPLATE("batches of small matrices", T, float, double) {
    for (std::size_t const count : std::vector<std::size_t>{0, 1, 5, 1000}) {
        xt::xtensor<T, 3> a = xt::zeros<T>({count, std::size_t(3), std::size_t(4)});
        xt::xtensor<T, 3> b = xt::zeros<T>({count, std::size_t(4), std::size_t(2)}), c;
        for (std::size_t i = 0; i < a.size(); ++i) {
            a.data()[i] = static_cast<T>(i % 13) - 6;
        }
        for (std::size_t i = 0; i < b.size(); ++i) {
            b.data()[i] = static_cast<T>(i % 7) - 3;
        }
        static auto const f = calque::function(product);
        c = f(with_shape<calque::dim("n"), 3, 4>(a), with_shape<calque::dim("n"), 4, 2>(b));
        bool is_equal = c.size() == count * 6;
        for (std::size_t n = 0; n < count; ++n) {
            for (std::size_t i = 0; i < 3; ++i) {
                for (std::size_t j = 0; j < 2; ++j) {
                    T sum = 0;
                    for (std::size_t k = 0; k < 4; ++k) {
                        sum += a(n, i, k) * b(n, k, j);
                    }
                    is_equal = is_equal && c(n, i, j) == sum;
                }
            }
        }
        CHECK(is_equal);
    }
}

/// The products of a batch whose extents the compiler does not know, of A and B as they are or transposed.
template <class T>
void check_batch(std::size_t count, std::size_t m, std::size_t n, std::size_t k) {
    static auto const plain = calque::function(product, {.max_warnings = 0});
    static auto const turned_product = calque::function(
        [](auto a, auto b) { return matmul(calque::transpose<0, 2, 1>(a), calque::transpose<0, 2, 1>(b)); },
        {.max_warnings = 0});
    auto const numbers = [](std::size_t batch, std::size_t rows, std::size_t columns, int seed) {
        xt::xtensor<T, 3> x = xt::zeros<T>({batch, rows, columns});
        std::ranges::copy(whole_numbers<T>(static_cast<std::ptrdiff_t>(x.size()), seed), x.begin());
        return x;
    };
    xt::xtensor<T, 3> const a = numbers(count, m, k, 1), b = numbers(count, k, n, 4);
    xt::xtensor<T, 3> const a_by_columns = xt::transpose(a, {0, 2, 1}), b_by_columns = xt::transpose(b, {0, 2, 1});
    xt::xtensor<T, 3> expected = xt::zeros<T>({count, m, n});
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t row = 0; row < m; ++row) {
            for (std::size_t column = 0; column < n; ++column) {
                for (std::size_t t = 0; t < k; ++t) {
                    expected(i, row, column) += a(i, row, t) * b(i, t, column);
                }
            }
        }
    }
    xt::xtensor<T, 3> const c = plain(a, b);
    CHECK(c == expected);
    xt::xtensor<T, 3> const of_turned = turned_product(a_by_columns, b_by_columns);
    CHECK(of_turned == expected);
}

TEST_CASE_TEMPLATE("batches of matrices of any extents", T, float, double) {
    for (std::size_t const count : std::vector<std::size_t>{1, 2, 9}) {
        for (std::size_t n = 1; n <= 9; ++n) {
            CAPTURE(n);
            check_batch<T>(count, n, n, n);
            check_batch<T>(count, n, 3, 2);
            check_batch<T>(count, 3, n, 4);
            check_batch<T>(count, 4, 2, n);
        }
        check_batch<T>(count, 20, 40, 7); // several tiles
    }
}

TEST_CASE_TEMPLATE("batches that lie in turn, and plans that say how they are multiplied", T, float, double) {
    static auto const f = calque::function(product, {.max_warnings = 0});
    auto const a = whole_numbers<T>(200, 1), b = whole_numbers<T>(200, 4);
    std::vector<T> c(54, T(77)), expected = c;
    for (std::ptrdiff_t i = 0; i < 3; ++i) { // the i-th of three matrices begins 10 elements behind the one before
        for (std::ptrdiff_t row = 0; row < 3; ++row) {
            for (std::ptrdiff_t column = 0; column < 3; ++column) {
                T sum = 0;
                for (std::ptrdiff_t t = 0; t < 3; ++t) {
                    sum += a[static_cast<std::size_t>(10 * i + 3 * row + t)] *
                           b[static_cast<std::size_t>(13 * i + 3 * t + column)];
                }
                expected[static_cast<std::size_t>(18 * i + 3 * row + column)] = sum;
            }
        }
    }
    array_view const left(a.data(), {3, 3, 3}, {10, 3, 1});
    array_view const right(b.data(), {3, 3, 3}, {13, 3, 1});
    array_view result(c.data(), {3, 3, 3}, {18, 3, 1});
    f.into(result, left, right);
    CHECK(c == expected);

    auto const has = [&](std::size_t extent, std::string_view text) {
        xt::xtensor<T, 3> const x = xt::ones<T>({std::size_t(9), extent, extent});
        return f.plan(x, x).text().find(text) != std::string::npos;
    };
    CHECK(has(3, "batch_matmul 3 x 3 over 3 (small squares)"));
    CHECK(has(5, "batch_matmul 5 x 5 over 5 (direct)"));
}

} // namespace
