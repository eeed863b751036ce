// SPDX-License-Identifier: MIT
// Elementwise kernels on every length, layout and broadcast: the interpreter's bits.
#include "tensor_compare.hpp"

#include <calque/eager.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <vector>

namespace {

using calque::dim;
using calque::dyn;
using calque::with_shape;
using tests::check_fused;
using tests::equal_bits;
using tests::noise;
using xt::xtensor;

constexpr std::size_t lengths[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 1000};

inline constexpr auto broadcast = [](auto full, auto row, auto column, auto scalar) {
    auto const outer = row * column + scalar;
    return std::tuple{tanh(full * row + column) - scalar, outer, full + square(row) * exp(column)};
};

inline constexpr auto three_axes = [](auto full, auto middle, auto last_two) {
    return full * exp(middle) + sqrt(abs(last_two)) - middle * last_two;
};

inline constexpr auto chain = [](auto x, auto y) { return tanh(x * y + 0.5f) * sigmoid(x) - 0.25f * y; };

inline constexpr auto normalized = [](auto x, auto mean, auto scale, auto gain, auto shift) {
    return (x - mean) * scale * gain + shift;
};
inline constexpr auto affine = [](auto x, auto scale, auto shift) { return x * scale + shift; };
inline constexpr auto of_types = [](auto x, auto is_chosen, auto y) {
    return where(is_chosen && x > 3, calque::cast<float>(x) * y, y);
};
/// What each plane has once for all of its rows, where that is static, and where only the call knows it.
inline constexpr auto of_planes = [](auto x, auto of_plane, auto row) {
    auto const same = calque::expand_dims<1>(of_plane);
    return std::tuple{x * same + row, calque::max<-1>(x - same)};
};
inline constexpr auto of_open_planes = [](auto x, auto of_plane) {
    return std::tuple{x * of_plane, calque::sum<-1>(x - of_plane)};
};

inline constexpr auto of_rows = [](auto x, auto scale, auto shift) {
    auto const y = x * scale + shift;
    return std::tuple{calque::softmax<-1>(y), calque::max<-1>(y)};
};

} // namespace

TEST_CASE("every length, contiguous and strided") {
    for (std::size_t const n : lengths) {
        CAPTURE(n);
        xtensor<float, 1> const x = noise<float, 1>({2 * n + 3}, 1), y = noise<float, 1>({2 * n + 3}, 2);
        check_fused(chain, equal_bits, xtensor<float, 1>(xt::view(x, xt::range(0, n))),
                    xtensor<float, 1>(xt::view(y, xt::range(0, n))));
        check_fused(chain, equal_bits, xt::view(x, xt::range(1, 2 * n + 1, 2)), xt::view(y, xt::range(3, n + 3)));
        check_fused(chain, equal_bits, std::span<float const>(x.data() + 1, n),
                    std::vector<float>(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(n)));
    }
    check_fused(chain, equal_bits, xt::xtensor_fixed<float, xt::xshape<17>>(noise<float, 1>({17}, 1)),
                xt::xtensor_fixed<float, xt::xshape<17>>(noise<float, 1>({17}, 2)));
}

TEST_CASE("matrices in every layout") {
    xtensor<float, 2> const x = noise<float, 2>({65, 130}, 1), y = noise<float, 2>({130, 65}, 2);
    xtensor<float, 2, xt::layout_type::column_major> const z = noise<float, 2>({65, 130}, 3);
    check_fused(chain, equal_bits, x, xt::transpose(y));
    check_fused(chain, equal_bits, x, z);
    check_fused(chain, equal_bits, xt::transpose(y), z);
    check_fused(chain, equal_bits, xt::view(x, xt::range(0, 65, 3), xt::all()),
                xt::view(z, xt::range(5, 27), xt::all()));
    check_fused(chain, equal_bits, xt::view(x, xt::all(), xt::range(1, 64)),
                xt::view(y, xt::range(0, 65), xt::range(0, 63)));
    check_fused(chain, equal_bits, xt::view(x, xt::all(), xt::range(0, 130, 2)),
                xt::view(z, xt::all(), xt::range(65, 130)));
    check_fused(chain, equal_bits, x, xt::view(x, xt::range(7, 8), xt::all()));
    check_fused(chain, equal_bits, xt::view(x, xt::all(), xt::range(3, 4)), z);
}

TEST_CASE("last extents that are known to be 1") {
    using calque::dyn;
    for (std::size_t const n : {0u, 1u, 2u, 16u, 17u, 100u}) {
        CAPTURE(n);
        xtensor<float, 2> const x = noise<float, 2>({n, 1}, 1), y = noise<float, 2>({n, 1}, 2);
        xtensor<float, 2> const one = noise<float, 2>({1, 1}, 3), wide = noise<float, 2>({n, 5}, 4);
        check_fused(chain, equal_bits, with_shape<dyn, 1>(x), with_shape<dyn, 1>(y));
        check_fused(chain, equal_bits, with_shape<dyn, 1>(x), with_shape<1, 1>(one));
        check_fused(chain, equal_bits, with_shape<dyn, 1>(x), with_shape<dyn, 1>(one)); // stretched by the call
        check_fused(affine, equal_bits, with_shape<dyn, 1>(one), with_shape<dyn, 1>(y), with_shape<dyn, 1>(x));
        check_fused(chain, equal_bits, with_shape<dyn, 1>(xt::view(wide, xt::all(), xt::range(2, 3))),
                    with_shape<dyn, 1>(x));
        check_fused(affine, equal_bits, wide, with_shape<dyn, 1>(x), with_shape<dyn, 1>(y));
        xtensor<float, 4> const a = noise<float, 4>({3, n, 1, 1}, 5), b = noise<float, 4>({3, 1, 1, 1}, 6);
        check_fused(chain, equal_bits, with_shape<dyn, dyn, 1, 1>(a), with_shape<dyn, dyn, 1, 1>(b));
        check_fused(chain, equal_bits, with_shape<3, dyn, 1, 1>(a), with_shape<3, 1, 1, 1>(b));
        check_fused([](auto m, auto w, auto v) { return sigmoid(matmul(m, w) * 2.f + v); }, tests::closeness{8, 16},
                    wide, noise<float, 1>({5}, 7), noise<float, 1>({n}, 8));
        check_fused([](auto m, auto w) { return calque::sum<0>(sigmoid(matmul(m, w))); },
                    tests::closeness{8, 16 * static_cast<double>(n)}, wide, noise<float, 1>({5}, 7));
    }
}

TEST_CASE("broadcasts of dynamic extents, some of which are 1") {
    for (std::size_t const rows : {0u, 1u, 3u, 17u}) {
        for (std::size_t const columns : {0u, 1u, 16u, 33u, 70u}) {
            CAPTURE(rows);
            CAPTURE(columns);
            check_fused(broadcast, equal_bits, noise<float, 2>({rows, columns}, 1), noise<float, 1>({columns}, 2),
                        noise<float, 2>({rows, 1}, 3), 0.5f);
            check_fused(broadcast, equal_bits, noise<float, 2>({1, columns}, 1), noise<float, 1>({1}, 2),
                        noise<float, 2>({rows, columns}, 3), -2.f);
        }
    }
}

TEST_CASE("arrays that meet only behind what reads them") {
    auto const gradient = [](auto x, auto y) {
        return calque::grad([](auto a, auto b) { return calque::sum(b * calque::softmax<-1>(a)); })(x, y);
    };
    auto const sums = [](auto x, auto y) {
        auto const z = y / calque::sum<-1>(square(x) + 1.f, calque::keepdims);
        return std::tuple{calque::sum<-1>(z * z), x * y - z, calque::max<-1>(x)};
    };
    for (std::size_t const rows : {1u, 3u, 40u}) {
        for (std::size_t const columns : {1u, 17u, 130u}) {
            CAPTURE(rows);
            CAPTURE(columns);
            xtensor<float, 2> const x = noise<float, 2>({rows, columns}, 1), y = noise<float, 2>({rows, columns}, 2);
            xtensor<float, 2> const row = noise<float, 2>({1, columns}, 3), column = noise<float, 2>({rows, 1}, 4);
            xtensor<float, 2> const one = noise<float, 2>({1, 1}, 5);
            for (auto const* other : {&y, &row, &column, &one}) {
                check_fused(gradient, tests::closeness{32, 10}, x, *other);
                check_fused(sums, tests::closeness{32, 10}, x, *other);
                check_fused(sums, tests::closeness{32, 10}, *other, x);
            }
        }
    }
}

TEST_CASE("what no derivative takes for equal has kernels, whatever meets later") {
    auto const parts = [](auto x, auto y) {
        auto const s = calque::softmax<-1>(x);
        return std::tuple{y * calque::sum<-1>(s * s, calque::keepdims), s * y};
    };
    xtensor<float, 2> const x = noise<float, 2>({40, 30}, 1), column = noise<float, 2>({40, 1}, 2);
    check_fused(parts, tests::closeness{32, 10}, x, column);
    std::string const plan = calque::function(parts).plan(x, column).text();
    CAPTURE(plan);
    CHECK(plan.find("op by op") == std::string::npos);
}

TEST_CASE("outputs that turn out to have fewer elements are computed for all, and copied") {
    auto const both = [](auto x, auto w) { return std::tuple{w * 2, tanh(x * w), w + 1}; };
    auto const scaled = [](auto x, auto w) { return std::tuple{x - calque::max<-1>(x, calque::keepdims), x * w, -w}; };
    auto const summed = [](auto x, auto w) { return std::tuple{calque::sum<-1>(w), x * w}; };
    auto const several = [](auto w, auto x) { return std::tuple{w * 2, w + 1, w * x, x - 1}; };
    auto const both_sums = [](auto w, auto x) { return std::tuple{w * 2, calque::sum<-1>(w * 2), w + x}; };
    auto const mode_of = [](auto const& f, auto const&... args) {
        std::string const plan = calque::function(f).plan(args...).text();
        return plan.starts_with("op by op") ? 2 : plan.find("from all elements") != std::string::npos ? 1 : 0;
    };
    for (std::size_t const columns : {1u, 2u, 7u, 17u, 64u}) {
        CAPTURE(columns);
        for (std::size_t const rows : {0u, 1u, 2u, 33u}) {
            CAPTURE(rows);
            xtensor<float, 2> const x = noise<float, 2>({rows, columns}, 1);
            for (xtensor<float, 2> const& w : {noise<float, 2>({rows, 1}, 2), noise<float, 2>({1, columns}, 3),
                                               noise<float, 2>({1, 1}, 4), noise<float, 2>({rows, columns}, 5)}) {
                check_fused(both, equal_bits, x, w);
                check_fused(scaled, equal_bits, x, w);
                check_fused(summed, tests::closeness{32, 10}, x, w);
                check_fused(several, equal_bits, w, x);
                check_fused(both_sums, tests::closeness{32, 10}, w, x);
            }
        }
    }
    xtensor<float, 2> const x = noise<float, 2>({6, 5}, 1), column = noise<float, 2>({6, 1}, 2),
                            row = noise<float, 2>({1, 5}, 3), none = xt::zeros<float>({0, 5});
    CHECK(mode_of(both, x, x) == 0);
    CHECK(mode_of(both, x, column) == 1);
    CHECK(mode_of(both, x, row) == 1);
    CHECK(mode_of(both, column, row) == 1);
    CHECK(mode_of(both, none, row) == 2); // no element could be copied
    CHECK(mode_of(several, row, x) == 1);
    CHECK(mode_of(both_sums, row, x) == 2); // a sum would count elements again and again

    // Where an output lies, and what it takes the place of, does not matter.
    auto const f = calque::function(both);
    auto const [doubled, product, plus_one] = f(x, column);
    xtensor<float, 2> a = column, b = x, c;
    auto in_place = std::tie(a, b, c);
    f.into(in_place, b, a);
    CHECK(a == doubled);
    CHECK(b == product);
    CHECK(c == plus_one);
    xtensor<float, 2> wide = xt::zeros<float>({6, 5});
    auto part = xt::view(wide, xt::all(), xt::range(0, 1));
    auto into_part = std::tie(part, b, c);
    f.into(into_part, x, column);
    CHECK(xtensor<float, 2>(part) == doubled);
    CHECK(xt::sum(xt::abs(xt::view(wide, xt::all(), xt::range(1, 5))))() == 0.f);

    calque::run_eagerly(true);
    auto const [by_ops, product_by_ops, plus_one_by_ops] = f(x, column);
    calque::run_eagerly(false);
    CHECK(by_ops == doubled);
    CHECK(plus_one_by_ops == plus_one);
}

TEST_CASE("operands of which only the call knows that they have one element a row are not copied") {
    for (std::size_t const columns : {2u, 16u, 33u, 64u, 130u}) {
        CAPTURE(columns);
        for (std::size_t const rows : {1u, 2u, 40u}) {
            xtensor<float, 2> const x = noise<float, 2>({rows, columns}, 1);
            xtensor<float, 2> const scale = noise<float, 2>({rows, 1}, 2), shift = noise<float, 2>({1, 1}, 3);
            check_fused(affine, equal_bits, x, scale, shift);
            check_fused(affine, equal_bits, scale, x, scale);
            check_fused(affine, equal_bits, scale, shift, x);
            check_fused(affine, equal_bits, shift, xtensor<float, 1>(noise<float, 1>({columns}, 4)), scale);
            check_fused(affine, equal_bits, xtensor<double, 2>(x), xtensor<double, 2>(scale),
                        xtensor<double, 1>(noise<double, 1>({1}, 4)));
            check_fused(of_types, equal_bits, xtensor<int, 2>(100.f * x), xtensor<bool, 2>(scale > 0.f), shift);
            check_fused(of_rows, tests::closeness{16, 100}, x, scale, shift);
            check_fused(of_rows, tests::closeness{16, 100}, scale, x, x);
        }
        xtensor<float, 3> const full = noise<float, 3>({3, 5, columns}, 1);
        xtensor<float, 3> const middle = noise<float, 3>({1, 5, 1}, 2), outer = noise<float, 3>({3, 1, 1}, 3);
        check_fused(affine, equal_bits, full, middle, outer);
        check_fused(affine, equal_bits, full, outer, noise<float, 2>({5, 1}, 4));
        check_fused(affine, equal_bits, middle, full, noise<float, 1>({1}, 4));
    }
    auto const f = calque::function(affine);
    xtensor<float, 2> const x = noise<float, 2>({40, 130}, 1), column = noise<float, 2>({40, 1}, 2);
    std::string const plan = f.plan(x, column, column).text();
    CAPTURE(plan);
    CHECK(plan.find("copy") == std::string::npos);
    CHECK(plan.find("one element a row") != std::string::npos);
    CHECK(f.plan(x, x, x).text().find("one element a row") == std::string::npos);
}

TEST_CASE("column reductions of operands of which only the call knows that they have one element a row") {
    auto const weighted_sums = [](auto x, auto weights, auto shift) {
        return std::tuple{calque::sum<0>(x * weights + shift), calque::max<0>(x - weights)};
    };
    for (std::size_t const columns : {1u, 2u, 16u, 33u, 64u, 130u, 600u}) {
        CAPTURE(columns);
        for (std::size_t const rows : {1u, 2u, 17u, 130u}) {
            CAPTURE(rows);
            tests::closeness const close{4, 8. * static_cast<double>(rows)};
            xtensor<float, 2> const x = noise<float, 2>({rows, columns}, 1);
            xtensor<float, 2> const weights = noise<float, 2>({rows, 1}, 2), shift = noise<float, 2>({1, 1}, 3);
            xtensor<float, 1> const row = noise<float, 1>({columns}, 4);
            check_fused(weighted_sums, close, x, weights, shift);
            check_fused(weighted_sums, close, x, weights, row);
            check_fused(weighted_sums, close, weights, x, weights);
            check_fused(weighted_sums, close, weights, shift, x);
            check_fused(weighted_sums, close, xtensor<double, 2>(x), xtensor<double, 2>(weights),
                        xtensor<double, 2>(shift));
        }
        xtensor<float, 3> const full = noise<float, 3>({3, 5, columns}, 1);
        check_fused(weighted_sums, tests::closeness{4, 30}, full, noise<float, 3>({3, 5, 1}, 2),
                    noise<float, 3>({1, 5, 1}, 3));
        check_fused(weighted_sums, tests::closeness{4, 30}, full, noise<float, 3>({3, 1, 1}, 2),
                    noise<float, 2>({5, columns}, 3));
    }
    auto const f = calque::function([](auto x, auto weights) { return calque::sum<0>(x * weights); });
    xtensor<float, 2> const x = noise<float, 2>({40, 130}, 1), column = noise<float, 2>({40, 1}, 2);
    std::string const plan = f.plan(x, column).text();
    CAPTURE(plan);
    CHECK(plan.find("copy") == std::string::npos);
    CHECK(plan.find("one element a row") != std::string::npos);
    CHECK(f.plan(x, x).text().find("one element a row") == std::string::npos);
}

TEST_CASE("functions of a few rows, whose last registers have columns of the ones before") {
    for (std::size_t const columns : {17u, 31u, 49u, 63u, 64u, 65u, 81u, 97u, 113u, 127u, 128u, 129u, 255u, 257u}) {
        CAPTURE(columns);
        auto const check = [&]<class T>(T) {
            xtensor<T, 2> const x = noise<T, 2>({7, columns}, 1), column = noise<T, 2>({7, 1}, 2);
            check_fused(chain, equal_bits, x, column);
            check_fused(chain, equal_bits, column, x);
            check_fused(chain, equal_bits, with_shape<dyn, 1>(column), x);
            check_fused(chain, equal_bits, x, noise<T, 1>({columns}, 3));
            check_fused(broadcast, equal_bits, x, noise<T, 1>({columns}, 4), column, T(0.25));
        };
        check(0.f);
        check(0.);
    }
}

TEST_CASE("many rows of a few columns, of which some operands have one") {
    for (std::size_t const rows : {31u, 32u, 127u, 128u, 131u, 500u}) {
        for (std::size_t const columns : {1u, 2u, 3u, 7u, 16u, 17u, 48u, 97u, 128u, 129u}) {
            CAPTURE(rows);
            CAPTURE(columns);
            xtensor<float, 2> const x = noise<float, 2>({rows, columns}, 1);
            xtensor<float, 1> const scale = noise<float, 1>({columns}, 2), shift = noise<float, 1>({columns}, 3);
            xtensor<float, 2> const row = noise<float, 2>({1, columns}, 4);
            check_fused(affine, equal_bits, x, scale, shift);
            check_fused(affine, equal_bits, scale, x, row);
            check_fused(affine, equal_bits, x, x, row);
            check_fused(affine, equal_bits, xtensor<double, 2>(x), xtensor<double, 1>(scale), 0.5);
            check_fused(of_types, equal_bits, xtensor<int, 2>(100.f * x), xtensor<bool, 1>(scale > 0.f), shift);
            check_fused(chain, equal_bits, x, row);
            check_fused(chain, equal_bits, xt::view(x, xt::all(), xt::range(0, columns / 2)),
                        xt::view(scale, xt::range(0, columns / 2)));
            check_fused(broadcast, equal_bits, x, scale, noise<float, 2>({rows, 1}, 5), 0.25f);
        }
    }
    for (std::size_t const columns : {33u, 65u, 127u, 193u, 200u, 257u, 500u, 512u, 513u}) { // what memory holds
        CAPTURE(columns);
        auto const check = [&]<class T>(T) {
            xtensor<T, 2> const x = noise<T, 2>({133, columns}, 1);
            check_fused(normalized, equal_bits, x, noise<T, 1>({columns}, 2), noise<T, 1>({columns}, 3),
                        noise<T, 1>({columns}, 4), noise<T, 1>({columns}, 5));
        };
        check(0.f);
        check(0.);
    }
    for (std::size_t const columns : {511u, 513u, 530u, 777u, 1024u}) { // rows that begin to store where lines begin
        CAPTURE(columns);
        check_fused(affine, equal_bits, noise<float, 2>({5, columns}, 1), noise<float, 1>({columns}, 2),
                    noise<float, 2>({5, columns}, 3));
    }
    check_fused(affine, equal_bits, noise<double, 2>({900, 777}, 1), noise<double, 1>({777}, 2),
                noise<double, 2>({900, 777}, 3));
    for (std::size_t const rows : {18u, 128u, 131u, 300u, 500u}) { // what a row has once
        for (std::size_t const columns : {1u, 2u, 3u, 7u, 8u, 10u, 16u, 17u, 24u, 31u, 47u, 65u, 80u, 81u}) {
            CAPTURE(rows);
            CAPTURE(columns);
            auto const check = [&]<class T>(T) {
                xtensor<T, 2> const x = noise<T, 2>({rows, columns}, 1), columns_of_rows = noise<T, 2>({rows, 2}, 2);
                xtensor<T, 2> column = noise<T, 2>({rows, 1}, 3), other = noise<T, 2>({rows, 1}, 4);
                column(rows / 2, 0) = std::numeric_limits<T>::quiet_NaN();
                other(rows - 1, 0) = std::numeric_limits<T>::infinity();
                xtensor<T, 1> const row = noise<T, 1>({columns}, 5);
                check_fused(affine, equal_bits, x, column, row);
                check_fused(affine, equal_bits, x, column, other);
                check_fused(affine, equal_bits, column, x, x);
                check_fused(affine, equal_bits, row, column, other);
                check_fused(affine, equal_bits, x, with_shape<dyn, 1>(column), with_shape<dyn, 1>(other));
                check_fused(affine, equal_bits, with_shape<dyn, 1>(column), x, row);
                check_fused(affine, equal_bits, x, xt::view(columns_of_rows, xt::all(), xt::range(1, 2)), row);
                check_fused(chain, equal_bits, column, x);
                check_fused(of_types, equal_bits, xtensor<int, 2>(T(100) * x), xtensor<bool, 2>(x > T(0)),
                            xtensor<float, 2>(column));
                check_fused(of_types, equal_bits, xtensor<int, 2>(T(100) * x), xtensor<bool, 2>(other > T(0)),
                            xtensor<float, 2>(x));
                check_fused(of_types, equal_bits, xtensor<std::int64_t, 2>(T(100) * noise<T, 2>({rows, 1}, 6)),
                            xtensor<bool, 2>(x > T(0)), xtensor<float, 2>(x));
            };
            check(0.f);
            check(0.);
        }
    }
    xtensor<float, 3> pixels = noise<float, 3>({20, 30, 3}, 1);
    xtensor<float, 1> const color = noise<float, 1>({3}, 2);
    check_fused(affine, equal_bits, pixels, color, color);
    check_fused(affine, equal_bits, pixels, noise<float, 3>({20, 1, 3}, 3), color);
    check_fused(affine, equal_bits, with_shape<dyn, dyn, 3>(pixels), with_shape<3>(color), with_shape<3>(color));
    check_fused(affine, equal_bits, with_shape<20, 30, 3>(pixels), with_shape<3>(color), with_shape<3>(color));
    xtensor<float, 3> const expected = calque::function(affine)(pixels, color, color);
    calque::function(affine).into(pixels, pixels, color, color);
    CHECK(pixels == expected);
}

TEST_CASE("many rows of a few columns that begin anywhere in a cache line") {
    auto const f = calque::function([](auto x, auto less, auto more) { return x - less + more; });
    auto const check = [&]<class T>(T, std::size_t rows, std::size_t columns, std::size_t place) {
        CAPTURE(rows);
        CAPTURE(columns);
        CAPTURE(place);
        xtensor<T, 2> const x = noise<T, 2>({rows, columns}, 1);
        xtensor<T, 1> const less = noise<T, 1>({columns}, 2), more = noise<T, 1>({columns}, 3);
        constexpr T untouched = -77;
        std::vector<T> memory(rows * columns + 2 * 16, untouched);
        auto const begin = memory.begin() + static_cast<std::ptrdiff_t>(place);
        auto const end = begin + static_cast<std::ptrdiff_t>(rows * columns);
        auto matrix = xt::adapt(&*begin, rows * columns, xt::no_ownership(), std::array{rows, columns});
        xtensor<T, 2> const expected = x - less + more;
        f.into(matrix, x, less, more);
        CHECK(xtensor<T, 2>(matrix) == expected);
        std::copy(x.begin(), x.end(), begin);
        f.into(matrix, matrix, less, more); // in place
        CHECK(xtensor<T, 2>(matrix) == expected);
        bool const is_around_untouched = std::count(memory.begin(), begin, untouched) == begin - memory.begin() &&
                                         std::count(end, memory.end(), untouched) == memory.end() - end;
        CHECK(is_around_untouched);
    };
    for (std::size_t const rows : {96u, 128u, 131u, 500u}) {
        for (std::size_t const columns : {1u, 2u, 3u, 7u, 11u, 16u, 33u, 64u, 129u}) {
            for (std::size_t place = 0; place < 16; ++place) {
                check(0.f, rows, columns, place);
                check(0., rows, columns, place);
            }
        }
    }
}

TEST_CASE("broadcasts of static and named extents") {
    for (std::size_t const rows : {1u, 5u, 64u}) {
        xtensor<float, 2> const full = noise<float, 2>({rows, 33}, 1), column = noise<float, 2>({rows, 1}, 2);
        xtensor<float, 1> const row = noise<float, 1>({33}, 3);
        check_fused(broadcast, equal_bits, with_shape<dim("rows"), 33>(full), with_shape<33>(row),
                    with_shape<dim("rows"), 1>(column), 0.25f);
        xtensor<float, 2> const tall = noise<float, 2>({33, rows}, 4);
        check_fused(broadcast, equal_bits, with_shape<dim("rows"), 33>(xt::transpose(tall)), with_shape<33>(row),
                    with_shape<dim("rows"), 1>(xt::view(full, xt::all(), xt::range(2, 3))), 0.25f);
    }
}

TEST_CASE("three axes") {
    for (auto const& e : {std::array<std::size_t, 3>{2, 3, 40}, {5, 1, 17}, {1, 7, 16}, {4, 0, 3}, {3, 5, 1}}) {
        xtensor<double, 3> const full = noise<double, 3>(e, 1);
        xtensor<double, 3> const middle = noise<double, 3>({1, e[1], 1}, 2);
        xtensor<double, 2> const last_two = noise<double, 2>({e[1], e[2]}, 3);
        check_fused(three_axes, equal_bits, full, middle, last_two);
        xtensor<double, 3> const turned = noise<double, 3>({e[2], e[0], e[1]}, 4);
        check_fused(three_axes, equal_bits, xt::transpose(turned, std::array<std::size_t, 3>{1, 2, 0}), middle,
                    last_two);
    }
}

TEST_CASE_TEMPLATE("many planes of a few elements, of which the rows share something", T, float, double) {
    tests::closeness const allowed{16, 1};
    for (std::size_t const planes : std::vector<std::size_t>{3, 16, 17, 700}) {
        for (auto const& [rows, columns] : std::vector<std::array<std::size_t, 2>>{
                 {1, 3}, {2, 1}, {2, 2}, {3, 3}, {2, 8}, {4, 4}, {3, 10}, {6, 6}, {16, 4}, {20, 3}, {8, 8}, {2, 33}}) {
            CAPTURE(planes);
            xtensor<T, 3> const x = noise<T, 3>({planes, rows, columns}, 1);
            xtensor<T, 2> const of_plane = noise<T, 2>({planes, columns}, 2);
            xtensor<T, 1> const row = noise<T, 1>({columns}, 3);
            if constexpr (std::is_same_v<T, float>) { // a program takes long to compile
                check_fused(of_planes, allowed, x, of_plane, row);
            }
            xtensor<T, 3> const open = noise<T, 3>({planes, 1, columns}, 4);
            check_fused(of_open_planes, allowed, x, open);
            check_fused(of_open_planes, allowed, x, xtensor<T, 3>(noise<T, 3>({planes, rows, 1}, 5)));
            check_fused(of_open_planes, allowed, x, xtensor<T, 3>(noise<T, 3>({planes, 1, 1}, 6)));
        }
    }
    // Views with gaps, and four axes.
    xtensor<T, 3> const wide = noise<T, 3>({40, 3, 7}, 7), others = noise<T, 3>({40, 2, 7}, 8);
    check_fused(of_open_planes, allowed, xt::view(wide, xt::all(), xt::all(), xt::range(2, 6)),
                xt::view(others, xt::all(), xt::range(1, 2), xt::range(1, 5)));
    xtensor<T, 4> const grids = noise<T, 4>({9, 5, 3, 4}, 9), of_grids = noise<T, 4>({9, 1, 3, 1}, 10);
    check_fused(of_open_planes, allowed, grids, of_grids);
    xtensor<T, 4> const of_rows_of_grids = noise<T, 4>({9, 5, 1, 4}, 11);
    check_fused(of_open_planes, allowed, grids, of_rows_of_grids);
}

TEST_CASE("a plan says what it repeats for the rows of its planes, and planes that are large stay as they are") {
    static auto const f = calque::function([](auto x, auto y) { return x + calque::expand_dims<1>(y); });
    auto const text = [](std::size_t planes, std::size_t rows, std::size_t columns) {
        xtensor<float, 3> const x = xt::zeros<float>({planes, rows, columns});
        xtensor<float, 2> const y = xt::zeros<float>({planes, columns});
        return f.plan(x, y).text();
    };
    CHECK(text(1000, 3, 3).find("1 x 9000") != std::string::npos);
    CHECK(text(1000, 3, 3).find("contiguous memory") != std::string::npos);
    CHECK(text(1000, 3, 100).find("1000 x 3 x 100") != std::string::npos);
    CHECK(text(8, 3, 3).find("8 x 3 x 3") != std::string::npos);
}
