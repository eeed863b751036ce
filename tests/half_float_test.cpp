// SPDX-License-Identifier: MIT
// `half` and `bfloat16`: conversions of every number against arithmetic in double, and arrays of them in functions.
#include "agrees_with_interpreter.hpp"

#include <calque/interop/npy.hpp>

#include "random_graph.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace {

using calque::bfloat16;
using calque::half;

static_assert(sizeof(half) == 2 && std::is_trivially_copyable_v<half> && std::is_standard_layout_v<half>);
static_assert(sizeof(bfloat16) == 2 && std::is_trivially_copyable_v<bfloat16>);
static_assert(half(1.f).bits() == 0x3c00 && bfloat16(1.f).bits() == 0x3f80 && half(65520.f).bits() == 0x7c00);
static_assert(half(0.1).bits() == half(0.1f).bits() && half(bfloat16(3)) == half(3));
static_assert(std::numeric_limits<half>::epsilon() == 1.f / 1024 && std::numeric_limits<half>::max() == 65504.f);
static_assert(std::numeric_limits<half>::denorm_min() == 0x1p-24f && std::numeric_limits<half>::min() == 0x1p-14f);
static_assert(std::numeric_limits<bfloat16>::epsilon() == 1.f / 128);
static_assert(std::numeric_limits<bfloat16>::max() == 0x1.fep127f && std::numeric_limits<bfloat16>::min() == 0x1p-126f);
static_assert(std::numeric_limits<bfloat16>::quiet_NaN() != std::numeric_limits<bfloat16>::quiet_NaN());

template <class T>
inline constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;

/// The number that bits stand for, by the definition of the format; NaN if they are one.
template <class T>
double meaning(unsigned bits) {
    int const fraction = static_cast<int>(bits & ((1u << fraction_bits<T>)-1));
    int const exponent = static_cast<int>((bits & 0x7fffu) >> fraction_bits<T>);
    int const lowest = std::numeric_limits<T>::min_exponent - 1;
    double const sign = (bits & 0x8000u) != 0 ? -1 : 1;
    if (exponent == 2 * std::numeric_limits<T>::max_exponent - 1) {
        return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
    }
    int const whole = exponent == 0 ? fraction : fraction + (1 << fraction_bits<T>);
    return sign * std::ldexp(whole, lowest + (exponent == 0 ? 0 : exponent - 1) - fraction_bits<T>);
}

/// The nearest number of the format, of two the even one: by rounding in double.
template <class T>
double nearest(double x) {
    if (x == 0 || !std::isfinite(x)) {
        return x;
    }
    int const lowest = std::numeric_limits<T>::min_exponent - 1;
    int const exponent = std::max(std::ilogb(x), lowest) - fraction_bits<T>;
    double const rounded = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
    return std::abs(rounded) > double{std::numeric_limits<T>::max()} ? std::copysign(HUGE_VAL, x) : rounded;
}

bool are_same(double a, double b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

/// Every number of the format, both its neighbours' middles, the floats beside those, and random floats.
template <class T>
xt::xtensor<float, 1> floats_to_round() {
    std::vector<float> all;
    for (unsigned bits = 0; bits < 0x10000u; ++bits) {
        auto const x = static_cast<float>(meaning<T>(bits));
        auto const middle = static_cast<float>((meaning<T>(bits) + meaning<T>((bits + 1) & 0xffffu)) / 2);
        for (float const y : {x, middle, std::nextafterf(middle, -HUGE_VALF), std::nextafterf(middle, HUGE_VALF)}) {
            all.push_back(y);
        }
    }
    std::uint64_t state = 1;
    for (int i = 0; i < 1'000'000; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u; // Knuth's generator
        all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(state >> 32)));
    }
    xt::xtensor<float, 1> x(std::array{all.size()});
    std::copy(all.begin(), all.end(), x.begin());
    return x;
}

template <class T, class Extents = std::array<std::size_t, 1>>
auto numbers(Extents const& extents, int seed, double scale = 1) {
    xt::xtensor<T, std::tuple_size_v<Extents>> x(extents);
    std::uint64_t state = static_cast<std::uint64_t>(seed) * 0x9E3779B97F4A7C15u + 1;
    for (auto& element : x) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        element = T(static_cast<float>(scale * (static_cast<double>(state >> 40) / (1 << 23) - 1)));
    }
    return x;
}

} // namespace

TEST_CASE_TEMPLATE("every number of two bytes as a float, by the type and by the kernels", T, half, bfloat16) {
    xt::xtensor<T, 1> all(std::array<std::size_t, 1>{0x10000});
    for (unsigned bits = 0; bits < 0x10000u; ++bits) {
        all(bits) = T::from_bits(static_cast<std::uint16_t>(bits));
    }
    auto const widen = calque::function([](auto x) { return calque::cast<float>(x); });
    auto const there_and_back = calque::function([](auto x) { return calque::cast<T>(calque::cast<float>(x) + 0.f); });
    xt::xtensor<float, 1> const by_kernels = widen(all);
    xt::xtensor<T, 1> const back = there_and_back(all);
    int wrong = 0;
    for (unsigned bits = 0; bits < 0x10000u; ++bits) {
        double const expected = meaning<T>(bits);
        T const x = all(bits);
        wrong += are_same(float{x}, expected) && are_same(by_kernels(bits), expected) ? 0 : 1;
        wrong += std::isnan(expected) ? (std::isnan(float{T(float{x})}) ? 0 : 1) : (T(float{x}).bits() == bits ? 0 : 1);
        wrong += are_same(float{back(bits)}, expected + 0.) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("floats are rounded to the nearest number of two bytes, of two the even one", T, half, bfloat16) {
    xt::xtensor<float, 1> const x = floats_to_round<T>();
    xt::xtensor<T, 1> const by_kernels = calque::function([](auto v) { return calque::cast<T>(v); })(x);
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const expected = nearest<T>(x(i));
        wrong += are_same(float{T(x(i))}, expected) && T(x(i)).bits() == by_kernels(i).bits() ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("each operation rounds its result", T, half, bfloat16) {
    auto const f = calque::function([](auto x, auto y) {
        return std::tuple{x * y + x, x * 0.1 - y, x / y, calque::sqrt(abs(x)), calque::where(x < y, x, y), -x, x > 0.5};
    });
    for (std::size_t const n : {0u, 1u, 15u, 16u, 17u, 100u}) {
        auto const x = numbers<T>(std::array{n}, 1), y = numbers<T>(std::array{n}, 2);
        auto const [sum, scaled, quotient, root, least, negative, is_large] = f(x, y);
        static_assert(std::is_same_v<std::remove_cvref_t<decltype(sum)>, xt::xtensor<T, 1>>);
        for (std::size_t i = 0; i < n; ++i) {
            float const a = x(i), b = y(i);
            CHECK(sum(i) == T(float{T(a * b)} + a));
            CHECK(scaled(i) == T(float{T(a * float{T(0.1)})} - b));
            CHECK(quotient(i) == T(a / b));
            CHECK(root(i) == T(std::sqrt(std::abs(a))));
            CHECK(least(i) == std::min(a, b));
            CHECK(negative(i) == -a);
            CHECK(is_large(i) == (a > 0.5f));
        }
    }
}

TEST_CASE("what is made of several operations is rounded once, and sums are sums of floats") {
    xt::xtensor<half, 1> x(std::array<std::size_t, 1>{5000});
    x.fill(half(60));
    CHECK(float{half(calque::function([](auto v) { return calque::mean(v); })(x))} == 60);
    CHECK(std::isinf(float{half(calque::function([](auto v) { return calque::sum(v); })(x))}));
    x.fill(half(0.125));
    CHECK(float{half(calque::function([](auto v) { return calque::sum(v); })(x))} == 625);
    auto const y = numbers<half>(std::array<std::size_t, 1>{37}, 3, 4);
    xt::xtensor<half, 1> const given = calque::function([](auto v) { return calque::softmax<0>(v); })(y);
    xt::xtensor<float, 1> const expected =
        calque::function([](auto v) { return calque::softmax<0>(calque::cast<float>(v)); })(y);
    for (std::size_t i = 0; i < y.size(); ++i) {
        CHECK(given(i) == half(expected(i)));
    }
}

TEST_CASE_TEMPLATE("kernels are the interpreter's, bit by bit", T, half, bfloat16) {
    auto const elementwise = [](auto x, auto y, auto row) {
        auto const a = calque::exp(x * row) - y;
        return std::tuple{calque::where(a > y, a, row), calque::tanh(a) + calque::cast<T>(calque::cast<double>(y)),
                          calque::max<-1>(a), calque::cast<std::int32_t>(x * 10), calque::gelu(a)};
    };
    auto const places = [](auto x, auto y, auto row) {
        auto const both = calque::concatenate<0>(x, transpose(transpose(y)));
        return std::tuple{calque::flip<1>(both),
                          calque::view(both, calque::range(0, calque::to_the_end, 2)),
                          calque::pad(x, 0.5, calque::padding{1, 1}),
                          calque::sort<-1>(x),
                          calque::argsort<-1>(y),
                          x.at(0).set(row),
                          calque::cumprod<0>(x),
                          calque::roll<1>(x, 2),
                          calque::take<1>(x, calque::argsort<-1>(row))};
    };
    for (std::size_t const n : {1u, 2u, 15u, 33u}) {
        auto const x = numbers<T>(std::array<std::size_t, 2>{3, n}, 4),
                   y = numbers<T>(std::array<std::size_t, 2>{3, n}, 5);
        auto const row = numbers<T>(std::array{n}, 6);
        CHECK(tests::agrees_with_interpreter(elementwise, x, y, row));
        CHECK(tests::agrees_with_interpreter(places, x, y, row));
    }
}

TEST_CASE("random graphs of halves are the interpreter's, bit by bit") {
    for (std::size_t const n : {1u, 7u, 33u}) {
        auto const x = numbers<half>(std::array<std::size_t, 2>{n, 6}, 16);
        auto const y = numbers<half>(std::array<std::size_t, 2>{n, 6}, 17);
        CHECK(tests::agrees_with_interpreter(tests::random_function<23, 40, tests::mix::elementwise>{}, x, y));
        CHECK(tests::agrees_with_interpreter(tests::random_function<24, 40, tests::mix::places>{}, x, y));
    }
}

TEST_CASE_TEMPLATE("products are sums of floats", T, half, bfloat16) {
    auto const a = numbers<T>(std::array<std::size_t, 2>{7, 40}, 7),
               b = numbers<T>(std::array<std::size_t, 2>{40, 9}, 8);
    xt::xtensor<T, 2> const c = calque::function([](auto x, auto y) { return calque::matmul(x, y); })(a, b);
    for (std::size_t i = 0; i < 7; ++i) {
        for (std::size_t j = 0; j < 9; ++j) {
            double exact = 0;
            for (std::size_t k = 0; k < 40; ++k) {
                exact += double{a(i, k)} * double{b(k, j)};
            }
            double const step = std::numeric_limits<T>::epsilon() * std::max(1e-3, std::abs(exact));
            CHECK(std::abs(float{c(i, j)} - exact) <= 0.51 * step + 1e-5);
        }
    }
}

TEST_CASE_TEMPLATE("gradients have the dtype of their arguments", T, half, bfloat16) {
    auto const loss = [](auto x, auto w) {
        return calque::sum(calque::square(calque::cast<float>(calque::tanh(x) * 2) - w) * 0.5f);
    };
    auto const x = numbers<T>(std::array<std::size_t, 1>{33}, 9);
    auto const w = numbers<float>(std::array<std::size_t, 1>{33}, 10);
    auto const [dx, dw] = calque::function(calque::grad<0, 1>(loss))(x, w);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(dx)>, xt::xtensor<T, 1>>);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(dw)>, xt::xtensor<float, 1>>);
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const t = std::tanh(double{x(i)});
        double const expected = 2 * (2 * t - w(i)) * (1 - t * t);
        CHECK(std::abs(float{dx(i)} - expected) <= 8 * std::numeric_limits<T>::epsilon());
        CHECK(std::abs(dw(i) - (w(i) - 2 * t)) <= 4 * std::numeric_limits<T>::epsilon());
    }
    // What one value gets from several places is added as floats: 1 + 2^-12 a hundred times is seen in the sum.
    auto const many = calque::grad([](auto v) {
        auto total = calque::cast<float>(v);
        for (int i = 0; i < 512; ++i) {
            total = total + calque::cast<float>(v) * (1.f / 512);
        }
        return calque::sum(total);
    });
    xt::xtensor<T, 1> const d = calque::function(many)(x);
    CHECK(float{d(0)} == 2);
    T const scalar = calque::function(calque::grad([](auto v) { return calque::sum(v * v); }))(T(1.5f));
    CHECK(float{scalar} == 3);
    auto const [y, dy] = calque::function(
        [](auto v, auto u) { return calque::jvp([](auto z) { return z * z; })(std::tuple{v}, std::tuple{u}); })(x, x);
    CHECK(dy(5) == T(2 * float{T(float{x(5)} * float{x(5)})}));
    CHECK(y(5) == T(float{x(5)} * float{x(5)}));
}

namespace {

template <class M>
struct layer {
    calque::leaf<M, half, calque::dyn> w;
    calque::leaf<M, bfloat16> scale;
};

struct third {
    static constexpr std::string_view name = "third";
    template <class T>
    static T apply(T x) {
        return x / 3;
    }
};

} // namespace

TEST_CASE("variables, trees, loops, batches, operations of users") {
    calque::variable<half, calque::dyn> v(numbers<half>(std::array<std::size_t, 1>{20}, 11));
    half const before = v.value()(3);
    calque::function([](auto s) { s.assign_add(s * 0.5); })(v);
    CHECK(v.value()(3) == half(float{before} + float{half(float{before} * 0.5f)}));

    layer<calque::host> const l{numbers<half>(std::array<std::size_t, 1>{20}, 12), bfloat16(2)};
    auto const f = calque::function([](auto p) {
        p.w = p.w * calque::cast<half>(p.scale);
        return p;
    });
    layer<calque::host> const doubled = f(l);
    CHECK(doubled.w(7) == 2 * float{l.w(7)});
    CHECK(float{doubled.scale} == 2);

    auto const x = numbers<half>(std::array<std::size_t, 2>{6, 20}, 13);
    auto const loops = [](auto rows) {
        auto const [last, tops] = calque::scan(
            [](auto h, auto row) {
                auto const next =
                    calque::cond(calque::max(row) > 0.5, [&] { return h * 0.5 + row; }, [&] { return h - row; });
                return std::tuple{next, calque::max(next)};
            },
            calque::view(rows, 0), rows);
        return std::tuple{last, tops};
    };
    CHECK(tests::agrees_with_interpreter(loops, x));
    CHECK(tests::agrees_with_interpreter(calque::vmap(([](auto row) { return calque::softmax<0>(row) * row; })), x));
    xt::xtensor<half, 2> const thirds = calque::function([](auto a) { return calque::apply<third>(a); })(x);
    CHECK(thirds(2, 3) == half(float{x(2, 3)} / 3));
    xt::xtensor<half, 1> const made =
        calque::function([](auto a) { return calque::arange<half>(20) * 0.5 + calque::view(a, 0); })(x);
    CHECK(made(4) == half(2 + float{x(0, 4)}));
}

TEST_CASE("numbers of two bytes as arguments take part like other numbers") {
    auto const f = calque::function([](auto x, auto s, auto n) { return x * (s * n); });
    xt::xtensor<half, 1> const x = numbers<half>(std::array<std::size_t, 1>{3}, 14);
    xt::xtensor<half, 1> const y = f(x, half(0.5), 3);
    CHECK(y(1) == half(float{x(1)} * 1.5f));
    xt::xtensor<double, 1> const d =
        calque::function([](auto a, auto s) { return a * s; })(xt::xtensor<double, 1>{1., 2.}, bfloat16(3));
    CHECK(d(1) == 6);
}

TEST_CASE("files, arrays of any dtype, and texts") {
    auto const x = numbers<half>(std::array<std::size_t, 2>{3, 5}, 15);
    std::string const path = "half_float_test.npy";
    calque::save_npy(path, x);
    std::string header(128, ' ');
    std::ifstream(path, std::ios::binary).read(header.data(), 128);
    CHECK(header.find("'descr': '<f2'") != std::string::npos);
    calque::any_array const read = calque::load_npy(path);
    std::remove(path.c_str());
    CHECK(read.type() == calque::dtype::float16);
    CHECK(read.as<xt::xtensor<half, 2>>()(2, 4) == x(2, 4));
    auto const f = calque::function([](auto a) {
                       return calque::sum(a * 2);
                   }).dispatch<calque::dtypes<float, half, bfloat16>, calque::ranks<1, 2>>();
    calque::any_array const sum = f(read);
    CHECK(sum.type() == calque::dtype::float16);
    float expected = 0;
    for (half const element : x) {
        expected += 2 * element;
    }
    CHECK(static_cast<double>(sum) == doctest::Approx(expected).epsilon(1e-3));

    constexpr auto g = calque::trace<calque::spec<half, 4>, calque::spec<bfloat16>>(
        [](auto a, auto b) { return std::tuple{a * 0.1, b * 0.1}; });
    std::string const text(g.text());
    CHECK(text.find("argument 0 half[4]") != std::string::npos);
    CHECK(text.find("constant 0.1 half[]") != std::string::npos);
    CHECK(text.find("constant 0.1 bfloat16[]") != std::string::npos);
}
