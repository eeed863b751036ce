// SPDX-License-Identifier: MIT
// Outputs that share memory with arguments, and outputs that cannot take their results: whatever lies where, a call
// computes from the arguments as they were, and a call that fails changes nothing.
#include "tensor_compare.hpp"

#include <array>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

namespace {

using tests::noise;
using xt::xtensor;

using matrix = xtensor<float, 2>;
using vector = xtensor<float, 1>;

inline constexpr auto smooth = [](auto x) { return tanh(x) * 2 + x; };
inline constexpr auto rows = [](auto x) { return calque::softmax<-1>(x); };
inline constexpr auto fractions = [](auto x) { return x / calque::sum<-1>(x * x + 1, calque::keepdims); };
inline constexpr auto columns = [](auto x) { return x - calque::mean<0>(x); };
inline constexpr auto decayed = [](auto x, auto rate) { return tanh(x * rate) - exp(x - rate); };
inline constexpr auto product = [](auto x, auto w) { return matmul(x, w); };
inline constexpr auto biased = [](auto c, auto x, auto w) { return relu(matmul(x, w) + c); };
inline constexpr auto symmetric = [](auto x) { return x + transpose(x); };
inline constexpr auto sum_of_two = [](auto x, auto y) { return x + y; };
inline constexpr auto swapped = [](auto a, auto b) { return std::tuple{b, a}; };
inline constexpr auto mixed_up = [](auto a, auto b) { return std::tuple{b * 2, a + b}; };
inline constexpr auto total_and_rest = [](auto x) {
    return std::tuple{calque::sum<-1>(x), x - calque::max<-1>(x, calque::keepdims)};
};
inline constexpr auto every_other = [](auto x) { return view(x, calque::range(0, calque::to_the_end, 2)) + 1; };
inline constexpr auto widened = [](auto x) { return calque::cast<double>(x) * 2; };
inline constexpr auto adam = [](auto p, auto m, auto v, auto g, auto rate) {
    auto const new_m = 0.9f * m + 0.1f * g;
    auto const new_v = 0.99f * v + 0.01f * square(g);
    return std::tuple{p - rate * new_m / (sqrt(new_v) + 1e-6f), new_m, new_v};
};

/// Whether `f` gives in the place of its first argument what it gives elsewhere.
template <class F, class First, class... Rest>
bool is_right_in_place(F const& f, First first, Rest const&... rest) {
    auto const fn = calque::function(f);
    auto const expected = fn(first, rest...);
    auto const* const memory = first.data();
    fn.into(first, first, rest...);
    return first == expected && first.data() == memory;
}

/// An array whose elements lie in someone else's memory.
template <std::size_t Rank>
auto array_at(float* data, std::array<std::size_t, Rank> const& extents) {
    std::size_t size = 1;
    for (std::size_t const e : extents) {
        size *= e;
    }
    return xt::adapt(data, size, xt::no_ownership(), extents);
}

constexpr std::array<std::size_t, 5> extents = {1, 7, 16, 33, 70};

} // namespace

TEST_CASE("an output takes the place of an argument") {
    for (std::size_t const n : extents) {
        CAPTURE(n);
        for (std::size_t const m : extents) {
            CAPTURE(m);
            matrix const x = noise<float, 2>({m, n}, 1);
            CHECK(is_right_in_place(smooth, x));
            CHECK(is_right_in_place(rows, x));
            CHECK(is_right_in_place(fractions, x));
            CHECK(is_right_in_place(columns, x));
        }
        matrix const x = noise<float, 2>({5, n}, 1);
        matrix const w = noise<float, 2>({n, n}, 2);
        CHECK(is_right_in_place(product, x, w));
        CHECK(is_right_in_place(biased, x, x, w));
        CHECK(is_right_in_place(biased, noise<float, 2>({5, n}, 3), x, w));
        CHECK(is_right_in_place(symmetric, w));
    }
}

TEST_CASE("an output of functions of rows takes the place of any argument") {
    for (std::size_t const n : {65u, 97u, 111u, 113u, 127u, 255u}) { // 1 to 63 are left behind whole blocks
        CAPTURE(n);
        matrix const x = noise<float, 2>({5, n}, 1), rate = noise<float, 2>({5, 1}, 2);
        CHECK(is_right_in_place(decayed, x, rate));
        CHECK(is_right_in_place(decayed, x, noise<float, 1>({n}, 3)));
        CHECK(is_right_in_place(decayed, xtensor<double, 2>(x), xtensor<double, 2>(rate)));
        matrix y = x;
        auto const fn = calque::function(decayed);
        matrix const expected = fn(rate, x);
        fn.into(y, rate, y);
        CHECK(y == expected);
        auto const column = calque::with_shape<calque::dyn, 1>(rate);
        matrix const other_expected = fn(x, column);
        y = x;
        fn.into(y, y, column);
        CHECK(y == other_expected);
    }
}

TEST_CASE("the second factor of a product is overwritten by it") {
    auto const fn = calque::function(product);
    matrix const x = noise<float, 2>({40, 40}, 1);
    matrix w = noise<float, 2>({40, 40}, 2);
    matrix const expected = fn(x, w);
    fn.into(w, x, w);
    CHECK(w == expected);
}

TEST_CASE("several outputs take the places of several arguments") {
    vector const a0 = noise<float, 1>({37}, 1);
    vector const b0 = noise<float, 1>({37}, 2);
    SUBCASE("exchanged") {
        vector a = a0, b = b0;
        calque::function(swapped).into(std::tie(a, b), a, b);
        CHECK(a == b0);
        CHECK(b == a0);
        calque::function(swapped).into(std::tie(b, a), a, b);
        CHECK(b == a0);
        CHECK(a == b0);
    }
    SUBCASE("computed from each other") {
        vector a = a0, b = b0;
        calque::function(mixed_up).into(std::tie(a, b), a, b);
        CHECK(a == vector(b0 * 2.f));
        CHECK(b == vector(a0 + b0));
    }
    SUBCASE("exchanged trees of different shapes") {
        vector a = a0, b = noise<float, 1>({11}, 3);
        vector const b1 = b;
        calque::function(swapped).into(std::tie(a, b), a, b);
        CHECK(a == b1);
        CHECK(b == a0);
    }
    SUBCASE("one of them reduced") {
        matrix x = noise<float, 2>({9, 21}, 1);
        vector totals;
        auto const fn = calque::function(total_and_rest);
        auto const [expected_totals, expected_rest] = fn(x);
        fn.into(std::tie(totals, x), x);
        CHECK(totals == expected_totals);
        CHECK(x == expected_rest);
    }
}

TEST_CASE("views of arguments, into the memory of these and of others") {
    for (std::size_t const n : extents) {
        CAPTURE(n);
        vector const a = noise<float, 1>({n}, 5), b = noise<float, 1>({n}, 6);
        vector const turned = xt::flip(a, 0);
        CHECK(is_right_in_place([](auto x) { return calque::flip<0>(x); }, a));
        auto const with_sum = calque::function([](auto x, auto y) { return std::tuple{x + y, calque::flip<0>(x)}; });
        vector x = a, y = b, other = b;
        with_sum.into(std::tie(other, y), x, y); // the view takes the place of what the sum reads
        CHECK(y == turned);
        CHECK(other == vector(a + b));
        y = b;
        with_sum.into(std::tie(x, other), x, y); // the sum takes the place of what is viewed
        CHECK(other == turned);
        CHECK(x == vector(a + b));
    }
    // A part of an argument, to a place that overlaps it.
    std::vector<float> memory(100);
    for (std::size_t i = 0; i < memory.size(); ++i) {
        memory[i] = static_cast<float>(i);
    }
    auto const front = calque::function([](auto x) { return view(x, calque::range(0, 50)); });
    auto const all = array_at<1>(memory.data(), {60});
    auto part = array_at<1>(memory.data() + 1, {50});
    front.into(part, all);
    CHECK(part(0) == 0.f);
    CHECK(part(49) == 49.f);
}

TEST_CASE("an optimiser's update in place") {
    auto const fn = calque::function(adam);
    for (std::size_t const n : extents) {
        vector p = noise<float, 1>({n}, 1), m = noise<float, 1>({n}, 2), v = xt::abs(noise<float, 1>({n}, 3));
        vector const g = noise<float, 1>({n}, 4);
        auto const [new_p, new_m, new_v] = fn(p, m, v, g, 1e-2f);
        fn.into(std::tie(p, m, v), p, m, v, g, 1e-2f);
        CHECK(p == new_p);
        CHECK(m == new_m);
        CHECK(v == new_v);
    }
}

TEST_CASE("spans that overlap but do not coincide") {
    auto const fn = calque::function(smooth);
    auto const add = calque::function(sum_of_two);
    for (std::ptrdiff_t const shift : {-17, -16, -3, -1, 0, 1, 2, 16, 31}) {
        CAPTURE(shift);
        std::vector<float> memory(200), other(64);
        tests::fill_with_noise(memory.data(), memory.size(), 1);
        tests::fill_with_noise(other.data(), other.size(), 2);
        std::vector<float> const before = memory;
        std::span<float> const in(memory.data() + 40, 64);
        std::span<float> const out(memory.data() + 40 + shift, 64);
        std::vector<float> const expected = [&] {
            std::vector<float> y(64);
            fn.into(y, in);
            return y;
        }();
        fn.into(out, in);
        CHECK(std::equal(out.begin(), out.end(), expected.begin()));
        std::copy(expected.begin(), expected.end(), memory.begin() + 40 + shift);
        std::vector<float> sums(64);
        add.into(sums, in, out);
        add.into(out, in, out);
        CHECK(std::equal(out.begin(), out.end(), sums.begin()));
        auto const in_front = static_cast<std::size_t>(39 + (shift < 0 ? shift : 0));
        auto const behind = static_cast<std::size_t>(104 + (shift > 0 ? shift : 0));
        CHECK(memory[in_front] == before[in_front]);
        CHECK(memory[behind] == before[behind]);
    }
}

TEST_CASE("an argument that is stretched lies where the output begins") {
    auto const fn = calque::function(sum_of_two);
    std::vector<float> memory(6 * 20);
    tests::fill_with_noise(memory.data(), memory.size(), 1);
    matrix const x = noise<float, 2>({6, 20}, 2);
    auto const row = array_at<2>(memory.data(), {1, 20});
    matrix const expected = x + matrix(row);
    auto out = array_at<2>(memory.data(), {6, 20});
    fn.into(out, x, row);
    CHECK(matrix(out) == expected);
}

TEST_CASE("an output of another element size than the argument in its place") {
    alignas(64) std::array<std::byte, 100 * sizeof(double)> memory;
    auto* const from = new (memory.data()) float[100];
    tests::fill_with_noise(from, 100, 1);
    std::vector<float> const x(from, from + 100);
    // Not an array of doubles yet: the call copies what it reads before it writes.
    std::span<double> const out(reinterpret_cast<double*>(memory.data()), 100);
    calque::function(widened).into(out, std::span<float const>(from, 100));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 100; ++i) {
        double y = 0;
        std::memcpy(&y, memory.data() + i * sizeof(double), sizeof(double));
        wrong += y != 2 * static_cast<double>(x[i]) ? 1 : 0;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a container is resized although it is an argument, or an argument is a part of it") {
    auto const fn = calque::function(every_other);
    vector x = noise<float, 1>({41}, 1);
    vector const x0 = x;
    vector const expected = fn(x0);
    fn.into(x, x);
    CHECK(x == expected);
    CHECK(fn.trace_count() == 1);
    CHECK(fn.hit_count() == 1);

    x = x0;
    vector const of_part = fn(vector(xt::view(x0, xt::range(20, 31))));
    fn.into(x, xt::view(x, xt::range(20, 31)));
    CHECK(x == of_part);

    std::vector<float> standard(x0.begin(), x0.end());
    fn.into(standard, std::span<float const>(standard).subspan(20, 11));
    CHECK(std::equal(standard.begin(), standard.end(), of_part.begin(), of_part.end()));

    xt::xarray<float> unranked = x0;
    fn.into(calque::with_rank<1>(unranked), calque::with_rank<1>(unranked));
    CHECK(unranked == expected);
}

TEST_CASE("strided outputs") {
    auto const fn = calque::function(smooth);
    matrix const x = noise<float, 2>({6, 10}, 1);
    matrix const expected = fn(x);
    SUBCASE("a column range") {
        matrix big = xt::zeros<float>({6, 30});
        auto part = xt::view(big, xt::all(), xt::range(3, 23, 2));
        fn.into(part, x);
        CHECK(matrix(part) == expected);
        xt::view(big, xt::all(), xt::range(3, 23, 2)) = 0.f;
        CHECK(xt::sum(xt::abs(big))() == 0.f);
    }
    SUBCASE("transposed, column-major") {
        xt::xtensor<float, 2, xt::layout_type::column_major> column_major;
        fn.into(column_major, x);
        CHECK(matrix(column_major) == expected);
        matrix storage = xt::zeros<float>({10, 6});
        auto turned = xt::transpose(storage);
        fn.into(turned, x);
        CHECK(matrix(xt::transpose(storage)) == expected);
    }
    SUBCASE("in place, in a part of an array") {
        matrix big = noise<float, 2>({12, 30}, 2);
        auto part = xt::view(big, xt::range(0, 12, 2), xt::range(5, 15));
        matrix const y = fn(matrix(part));
        fn.into(part, part);
        CHECK(matrix(part) == y);
    }
    SUBCASE("a transposed argument into its own memory") {
        matrix square = noise<float, 2>({18, 18}, 3);
        matrix const y = fn(matrix(xt::transpose(square)));
        fn.into(square, xt::transpose(square));
        CHECK(square == y);
    }
}

TEST_CASE("an output that cannot take the result: nothing has changed") {
    auto const fn = calque::function(mixed_up);
    vector const a = noise<float, 1>({10}, 1), b = noise<float, 1>({10}, 2);
    std::vector<float> memory(16, 5.f);
    auto const unchanged = [&] { return std::count(memory.begin(), memory.end(), 5.f) == 16; };
    std::span<float> const small(memory.data(), 9), large(memory.data(), 11), right(memory.data(), 10);

    vector container = {7.f, 8.f};
    CHECK_THROWS_AS(fn.into(std::tie(container, small), a, b), calque::shape_error);
    CHECK(container == vector({7.f, 8.f}));
    CHECK_THROWS_AS(fn.into(std::tie(small, container), a, b), calque::shape_error);
    CHECK(container == vector({7.f, 8.f}));
    CHECK_THROWS_AS(fn.into(std::tie(right, large), a, b), calque::shape_error);
    auto view = xt::view(container, xt::range(0, 1));
    std::vector<float> other = {1.f};
    CHECK_THROWS_AS(fn.into(std::tie(other, view), a, b), calque::shape_error);
    CHECK(other == std::vector<float>{1.f});
    std::array<float, 9> fixed{};
    CHECK_THROWS_AS(fn.into(std::tie(other, fixed), a, b), calque::shape_error);
    xt::xarray<float> unranked = {3.f};
    auto shaped = calque::with_shape<9>(unranked);
    CHECK_THROWS_AS(fn.into(std::tie(container, shaped), a, b), calque::shape_error);
    CHECK(unranked == xt::xarray<float>({3.f}));
    CHECK(container == vector({7.f, 8.f}));
    CHECK(unchanged());

    fn.into(std::tie(container, right), a, b);
    CHECK(container == vector(b * 2.f));
    CHECK(std::equal(right.begin(), right.end(), vector(a + b).begin()));
}

TEST_CASE("arguments that do not fit: nothing has changed, nothing is kept") {
    auto const fn = calque::function(product, calque::function_options{.name = "product"});
    matrix const a = noise<float, 2>({4, 5}, 1), b = noise<float, 2>({6, 3}, 2);
    matrix y = {{1.f, 2.f}};
    matrix const y0 = y;
    for (int i = 0; i < 2; ++i) {
        try {
            fn.into(y, a, b);
            FAIL("the shapes do not fit");
        } catch (calque::shape_error const& error) {
            std::string const message = error.what();
            CHECK(message == "calque: product: matmul: the inner extents differ: float[4,5] and float[6,3]");
        }
    }
    CHECK(y == y0);
    CHECK(fn.trace_count() == 0);
    CHECK(fn.hit_count() == 0);
    CHECK(fn.cache_size() == 0);
    CHECK(fn.signatures().empty());
}
