// SPDX-License-Identifier: MIT
// Random numbers: Philox's published vectors, and the same words from every executor, place and length.
// tests/random_statistics_test.cpp asks whether they are random.
#include <calque/random.hpp>

#include "tensor_compare.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace {

namespace philox = calque::philox;
namespace random = calque::random;
using calque::random::key;
using tests::check_fused;
using tests::equal_bits;
using xt::xtensor;

constexpr std::size_t lengths[] = {0, 1, 3, 17, 1000, 100'000};

/// Checks that packs are made of the words that stand from `first` on.
template <class T, int U>
void check_pack(std::uint64_t first) {
    using pack = calque::simd::pack<T, U>;
    constexpr std::uint64_t k = 0x0123456789abcdef;
    T words[pack::size];
    pack p;
    calque::simd::random_bits(k, first, p);
    p.store(words);
    CAPTURE(first);
    for (std::size_t i = 0; i < static_cast<std::size_t>(pack::size); ++i) {
        CHECK(words[i] == philox::random_word<T>(k, first + i));
    }
}

/// All that is drawn in the shape of an array.
inline constexpr auto everything = [](auto k, auto x) {
    auto const [a, b] = random::split(k);
    return std::tuple{random::uniform_like(a, x), random::normal_like(b, x), random::bernoulli_like(a, 0.25, x),
                      random::uniform_like(b, x, -2.0, 3.0)};
};

/// Rows that a kernel cannot merge: they begin at any place of the words.
inline constexpr auto with_a_row = [](auto k, auto row, auto x) { return random::uniform_like(k, x) * row; };

inline constexpr auto noisy_softmax = [](auto k, auto x) { return calque::softmax<-1>(x + random::normal_like(k, x)); };

/// Elementwise, then summed over rows.
inline constexpr auto totals = [](auto k, auto x) {
    return calque::sum<0>(x + cast<std::int32_t>(random::bernoulli_like(k, 0.5, x)));
};

inline constexpr auto dropped_product = [](auto k, auto a, auto b) {
    auto const y = matmul(a, b);
    return where(random::bernoulli_like(k, 0.75f, y), y, zeros_like(y));
};

inline constexpr auto transposed_noise = [](auto k, auto x) {
    return calque::transpose<2, 0, 1>(random::uniform_like(k, x)) + 1;
};

} // namespace

TEST_CASE("Philox gives the words that are published with it") {
    // kat_vectors of Random123 1.14: philox4x32 10, counter, key, words
    CHECK(philox::random_block({0, 0, 0, 0}, 0) == philox::block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox::random_block({~0u, ~0u, ~0u, ~0u}, ~0ull) ==
          philox::block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox::random_block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
          philox::block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    static_assert(philox::random_word<std::uint32_t>(0, 0) == 0x6627e8d5);
    static_assert(philox::random_word<std::uint64_t>(0, 1) == 0x9b00dbd8bc57ac4c);
}

TEST_CASE("packs hold the words of their places, wherever they begin") {
    for (std::uint64_t const first : {0ull, 4ull, 8ull, 64ull, 1ull, 2ull, 3ull, 5ull, 1001ull, (1ull << 33) - 8,
                                      (1ull << 34) - 16, (1ull << 34) - 3, (1ull << 40) + 7}) {
        check_pack<std::uint32_t, 1>(first);
        check_pack<std::uint32_t, 2>(first);
        check_pack<std::uint32_t, 4>(first);
        check_pack<std::uint64_t, 1>(first);
        check_pack<std::uint64_t, 2>(first);
        check_pack<std::uint64_t, 4>(first);
    }
}

TEST_CASE("kernels give the interpreter's numbers, whatever the length") {
    for (std::size_t const n : lengths) {
        CAPTURE(n);
        check_fused(everything, equal_bits, key(n), xtensor<float, 1>(xt::zeros<float>({n})));
        check_fused(everything, equal_bits, key(n), xtensor<double, 1>(xt::zeros<double>({n})));
    }
}

TEST_CASE("a number depends on its key and place alone") {
    auto const f = calque::function([](auto k, auto x) { return random::uniform_like(k, x); });
    xtensor<float, 1> const many = f(key(5), xtensor<float, 1>(xt::zeros<float>({100'000})));
    for (std::size_t i = 0; i < many.size(); ++i) {
        REQUIRE(many(i) == static_cast<float>(philox::random_word<std::uint32_t>(5, i) >> 8) * 0x1p-24f);
    }
    xtensor<float, 2> const matrix = f(key(5), xtensor<float, 2>(xt::zeros<float>({321, 7})));
    CHECK(std::equal(matrix.data(), matrix.data() + matrix.size(), many.data()));
    xtensor<double, 1> const doubles = f(key(5), xtensor<double, 1>(xt::zeros<double>({1000})));
    for (std::size_t i = 0; i < doubles.size(); ++i) {
        REQUIRE(doubles(i) == static_cast<double>(philox::random_word<std::uint64_t>(5, i) >> 11) * 0x1p-53);
    }
}

TEST_CASE("rows, reductions, tiles and loops around kernels know their places") {
    for (std::size_t const columns : {1u, 3u, 16u, 67u, 1000u}) {
        CAPTURE(columns);
        auto const x = tests::noise<float, 2>({13, columns}, 1);
        check_fused(with_a_row, equal_bits, key(1), tests::noise<float, 1>({columns}, 2), x);
        check_fused(with_a_row, equal_bits, key(1), tests::noise<float, 2>({13, 1}, 2), x);
        check_fused(noisy_softmax, {8, 1}, key(2), x);
        check_fused(totals, equal_bits, key(3), tests::noise<std::int32_t, 2>({13, columns}, 4));
        check_fused(dropped_product, {200, 1}, key(4), tests::noise<float, 2>({37, 5}, 5),
                    tests::noise<float, 2>({5, columns}, 6));
    }
    auto const product = calque::function(dropped_product);
    xtensor<float, 2> const square = xt::zeros<float>({20, 20});
    CHECK(product.plan(key(4), square, square).text().find("on its tiles: random_bits uniform_of_bits less where") !=
          std::string::npos);
    auto const cube = tests::noise<float, 3>({5, 7, 11}, 7);
    check_fused(transposed_noise, equal_bits, key(5), cube);
    check_fused(with_a_row, equal_bits, key(6), tests::noise<float, 3>({5, 1, 11}, 8), cube);
    check_fused(with_a_row, equal_bits, key(6), 3.f, cube);
    auto const of_planes = tests::noise<float, 3>({40, 1, 3}, 9), planes = tests::noise<float, 3>({40, 4, 3}, 10);
    check_fused(with_a_row, equal_bits, key(7), of_planes, planes);
    check_fused(with_a_row, equal_bits, key(7), planes, of_planes);
}

TEST_CASE("an array of extent 1 that broadcasts in a call is drawn once") {
    auto const x = tests::noise<float, 1>({1}, 1);
    check_fused([](auto k, auto a, auto b) { return random::uniform_like(k, a) + b; }, equal_bits, key(3), x,
                tests::noise<float, 1>({19}, 2));
}

TEST_CASE("shapes that the compiler knows") {
    auto const f = calque::function([](auto k) {
        return std::tuple{
            random::uniform<float>(k),         random::uniform<double>(k, 2, 3),  random::normal(k, 4),
            random::bits<std::uint32_t>(k, 5), random::bits<std::uint64_t>(k, 3), random::bernoulli(k, 0.5, 2, 2),
            random::uniform(k, 5.0, 6.0, 10)};
    });
    auto const [scalar, matrix, normals, words, wide, flips, between] = f(key(9));
    CHECK(scalar == static_cast<float>(philox::random_word<std::uint32_t>(9, 0) >> 8) * 0x1p-24f);
    CHECK(matrix.shape(0) == 2);
    CHECK(matrix(1, 2) == static_cast<double>(philox::random_word<std::uint64_t>(9, 5) >> 11) * 0x1p-53);
    CHECK(normals.size() == 4);
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(words(i) == philox::random_word<std::uint32_t>(9, i));
    }
    CHECK(wide(2) == philox::random_word<std::uint64_t>(9, 2));
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(flips(i / 2, i % 2) == (philox::random_word<std::uint32_t>(9, i) < 0x80000000));
    }
    for (float const u : between) {
        CHECK(u >= 5);
        CHECK(u < 6);
    }
    CHECK(calque::is_static_v<decltype([](auto k) { return random::uniform(k, 3); }), key>);
}

TEST_CASE_TEMPLATE("numbers of two bytes are those of float, rounded", T, calque::half, calque::bfloat16) {
    auto const f = calque::function([](auto k, auto x) {
        auto const p = calque::cast<T>(0 * x + 0.25f);
        return std::tuple{random::uniform_like(k, calque::cast<T>(x)),
                          random::normal_like(k, calque::cast<T>(x)),
                          random::bernoulli_like(k, p, x),
                          random::bernoulli(k, p),
                          random::categorical(k, calque::cast<T>(x)),
                          random::uniform<T>(k, 3, 5),
                          random::normal<T>(k, 3, 5),
                          random::uniform<T>(k, -2.0, 2.0, 3, 5)};
    });
    auto const of_float = calque::function([](auto k, auto x) {
        return std::tuple{
            random::uniform_like(k, x),          random::normal_like(k, x),
            random::bernoulli_like(k, 0.25f, x), random::categorical(k, calque::cast<float>(calque::cast<T>(x))),
            random::uniform<float>(k, 3, 5),     random::normal<float>(k, 3, 5)};
    });
    constexpr float steps = std::is_same_v<T, calque::half> ? 2048 : 256;
    auto const rounded_down = [](float u) { return std::floor(u * steps) / steps; };
    for (std::size_t const n : {1u, 31u, 32u, 33u, 5000u}) {
        xtensor<float, 2> x({n, 7});
        for (std::size_t i = 0; i < x.size(); ++i) {
            x.data()[i] = static_cast<float>(i % 11) / 4;
        }
        auto const [u, z, b, c, choice, u15, z15, v15] = f(key(n), x);
        auto const [fu, fz, fb, fchoice, fu15, fz15] = of_float(key(n), x);
        static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(u)>::value_type, T>);
        bool are_rounded = true;
        bool are_in_range = true;
        for (std::size_t i = 0; i < u.size(); ++i) {
            are_rounded = are_rounded && float(u.data()[i]) == rounded_down(fu.data()[i]) &&
                          float(z.data()[i]) == float(T(fz.data()[i]));
            are_in_range = are_in_range && float(u.data()[i]) >= 0 && float(u.data()[i]) < 1;
        }
        CHECK(are_rounded);
        CHECK(are_in_range);
        CHECK(b == fb);
        CHECK(c == fb);
        CHECK(choice == fchoice);
        for (std::size_t i = 0; i < 15; ++i) {
            CHECK(float(u15.data()[i]) == rounded_down(fu15.data()[i]));
            CHECK(float(z15.data()[i]) == float(T(fz15.data()[i])));
            CHECK(std::abs(float(v15.data()[i]) - (4 * float(u15.data()[i]) - 2)) <= 4 / steps);
        }
    }
}
