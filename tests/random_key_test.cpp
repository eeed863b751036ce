// SPDX-License-Identifier: MIT
// Keys of random numbers: on the host and in traces, as arguments and results, and what is drawn with them.
#include <calque/random.hpp>
#include <calque/vmap.hpp>

#include "documents.hpp"
#include "tensor_compare.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace {

namespace random = calque::random;
using calque::random::key;
using tests::check_fused;
using tests::equal_bits;
using xt::xtensor;

template <class M>
struct generator {
    random::basic_key<M> key;
    calque::leaf<M, float, calque::dyn> x;
};

struct plain {
    float scale;
    random::key key;
};

inline constexpr auto step = [](auto state) {
    auto const [next, now] = random::split(state.key);
    return decltype(state){next, state.x + random::normal_like(now, state.x)};
};

inline constexpr auto all_kinds = [](auto k, auto x) {
    auto const [a, b] = random::split(k);
    return std::tuple{random::normal_like(a, x), random::uniform_like(b, cast<double>(x)), random::uniform(a),
                      random::permutation(b, 5)};
};

} // namespace

TEST_CASE("keys in a trace are those on the host") {
    auto const f = calque::function([](auto k, auto number, auto steps) {
        return std::tuple{random::split<3>(k), random::fold_in(k, 7), random::fold_in(k, number),
                          random::fold_in(k, sum(steps))};
    });
    xtensor<std::int32_t, 1> const steps = {-1, -2};
    auto const [three, seventh, at_step, at_sum] = f(key(11), 1234, steps);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(three)>, std::array<key, 3>>);
    CHECK(three == random::split<3>(key(11)));
    CHECK(seventh == random::fold_in(key(11), 7));
    CHECK(at_step == random::fold_in(key(11), 1234));
    CHECK(at_sum == random::fold_in(key(11), -3));
    CHECK(three[2] == random::fold_in(key(11), 2));
    std::set<std::uint64_t> distinct;
    for (key const& k : random::split<1000>(key(11))) {
        distinct.insert(k.bits);
    }
    CHECK(distinct.size() == 1000);
}

TEST_CASE("a new key is no new trace") {
    auto const f = calque::function([](auto k, auto x) { return x + random::normal_like(k, x); });
    xtensor<float, 1> const x = xt::zeros<float>({10});
    xtensor<float, 1> const first = f(key(1), x);
    xtensor<float, 1> const second = f(key(2), x);
    xtensor<float, 1> const again = f(key(1), x);
    CHECK(f.trace_count() == 1);
    CHECK(first == again);
    CHECK(first != second);
}

TEST_CASE("keys stand in structs, and come back in them") {
    auto const f = calque::function(step);
    generator<calque::host> state{key(3), xt::zeros<float>({6})};
    auto const once = f(state);
    auto const twice = f(once);
    CHECK(once.key == random::split(key(3))[0]);
    CHECK(twice.key == random::split(once.key)[0]);
    CHECK(once.x != twice.x);
    CHECK(f.trace_count() == 1);

    auto const scaled = calque::function([](auto p) {
        auto const [scale, k] = p;
        return random::uniform(k, 3) * scale;
    });
    auto const unscaled = calque::function([](auto k) { return random::uniform(k, 3); });
    auto const y = scaled(plain{2, key(8)});
    auto const u = unscaled(key(8));
    CHECK(y(2) == 2 * u(2));
}

TEST_CASE("a key that is a variable goes on from call to call") {
    auto const draw = calque::function([](auto k) {
        auto const [next, now] = random::split(k);
        auto const u = random::uniform(now, 3);
        k.bits.assign(next.bits);
        return u;
    });
    random::basic_key<calque::variables> state{calque::variable<std::uint64_t>(std::uint64_t{5})};
    auto const first = draw(state);
    auto const second = draw(state);
    CHECK(first != second);
    CHECK(state.bits.value() == random::split(random::split(key(5))[0])[0].bits);
}

TEST_CASE("keys go through loops, captured and carried") {
    auto const captured = calque::function([](auto k, auto x) {
        return calque::fori_loop(
            0, 5, [k](auto i, auto y) { return y + random::normal_like(random::fold_in(k, i), y); }, x);
    });
    auto const carried = calque::function([](auto k, auto x) {
        auto const body = [](auto, auto key_so_far, auto y) {
            auto const [next, now] = random::split(key_so_far);
            return std::tuple{next, y + random::uniform_like(now, y)};
        };
        return calque::fori_loop(0, 3, body, k, x);
    });
    auto const normal = calque::function([](auto k, auto x) { return random::normal_like(k, x); });
    auto const uniform = calque::function([](auto k, auto x) { return random::uniform_like(k, x); });

    xtensor<float, 1> const x = xt::zeros<float>({37});
    xtensor<float, 1> sum_of_normal = x, sum_of_uniform = x;
    key last(3);
    for (int i = 0; i < 5; ++i) {
        sum_of_normal += normal(random::fold_in(key(3), i), x);
    }
    for (int i = 0; i < 3; ++i) {
        auto const [next, now] = random::split(last);
        sum_of_uniform += uniform(now, x);
        last = next;
    }
    CHECK(captured(key(3), x) == sum_of_normal);
    auto const [final_key, total] = carried(key(3), x);
    CHECK(final_key == last);
    CHECK(total == sum_of_uniform);
}

TEST_CASE("vmap over keys draws for each what it would draw alone") {
    auto const each = calque::function(calque::vmap<0, 0>(
        [](auto seed, auto x) { return all_kinds(random::fold_in(random::basic_key<calque::traced>{seed}, 1), x); }));
    auto const one = calque::function([](auto k, auto x) { return all_kinds(random::fold_in(k, 1), x); });
    xtensor<std::uint64_t, 1> const seeds = {7, 8, 9};
    xtensor<float, 3> const x = xt::zeros<float>({3, 5, 7});
    auto const [normals, doubles, numbers, orders] = each(seeds, x);
    for (std::size_t i = 0; i < 3; ++i) {
        auto const [normal, uniform, number, order] = one(key(seeds(i)), xtensor<float, 2>(xt::zeros<float>({5, 7})));
        CHECK(xt::view(normals, i) == normal);
        CHECK(xt::view(doubles, i) == uniform);
        CHECK(numbers(i) == number);
        CHECK(xt::view(orders, i) == order);
    }
}

TEST_CASE("derivatives go through what numbers are scaled by, not through keys") {
    auto const f = calque::function(calque::grad<1, 2>(
        [](auto k, auto sigma, auto mu) { return sum(random::normal_like(k, mu) * sigma + square(mu)); }));
    auto const draw = calque::function([](auto k, auto x) { return random::normal_like(k, x); });
    xtensor<double, 1> const mu = {1, 2, 3};
    auto const [by_sigma, by_mu] = f(key(4), 2.0, mu);
    xtensor<double, 1> const z = draw(key(4), mu);
    CHECK(by_sigma == doctest::Approx(z(0) + z(1) + z(2)));
    CHECK(by_mu == xtensor<double, 1>{2, 4, 6});
}

TEST_CASE("a permutation has each number once") {
    auto const f = calque::function([](auto k, auto x) { return random::permutation_like(k, x); });
    for (std::size_t const n : {0u, 1u, 3u, 17u, 1000u}) {
        CAPTURE(n);
        auto const x = xtensor<float, 2>(xt::zeros<float>({n, std::size_t{2}}));
        check_fused([](auto k, auto a) { return random::permutation_like(k, a); }, equal_bits, key(n), x);
        xtensor<std::int64_t, 1> order = f(key(n), x);
        REQUIRE(order.size() == n);
        CHECK((n < 17 || !std::is_sorted(order.begin(), order.end())));
        std::sort(order.begin(), order.end());
        for (std::size_t i = 0; i < n; ++i) {
            REQUIRE(order(i) == static_cast<std::int64_t>(i));
        }
    }
    auto const known = calque::function([](auto k) { return random::permutation(k, 100); });
    CHECK(known(key(3)) == f(key(3), xtensor<float, 2>(xt::zeros<float>({100, 1}))));
    auto const shuffle = calque::function([](auto k, auto x) { return take<0>(x, random::permutation_like(k, x)); });
    xtensor<float, 1> const sorted = xt::arange<float>(20);
    xtensor<float, 1> const shuffled = shuffle(key(6), sorted);
    CHECK(shuffled != sorted);
    CHECK(std::is_permutation(shuffled.begin(), shuffled.end(), sorted.begin()));
}

TEST_CASE("probabilities of 0 and 1, and logits of minus infinity, are certain") {
    auto const f = calque::function([](auto k, auto p) { return random::bernoulli(k, p, 10'000, 1); });
    auto const flips = f(key(12), xtensor<float, 1>{0, 1});
    for (std::size_t i = 0; i < 10'000; ++i) {
        REQUIRE(!flips(i, 0));
        REQUIRE(flips(i, 1));
    }
    auto const choose = calque::function([](auto k, auto logits) { return random::categorical(k, logits); });
    xtensor<float, 2> logits = xt::zeros<float>({1000, 5});
    xt::view(logits, xt::all(), 3) = -std::numeric_limits<float>::infinity();
    auto const chosen = choose(key(13), logits);
    for (std::int64_t const i : chosen) {
        CHECK(i != 3);
    }
    CHECK(*std::max_element(chosen.begin(), chosen.end()) == 4);
}

TEST_CASE("what is no key, or no known shape, is an error of the trace") {
    using calque::graph::reason;
    constexpr auto of_dynamic = [](auto k, auto x) { return random::uniform(k, x.extent(0)); };
    using dynamic =
        calque::detail::evaluation<std::remove_const_t<decltype(of_dynamic)>, key, calque::spec<float, calque::dyn>>;
    CHECK(dynamic::value.why == reason::extents_not_known);
    constexpr auto of_many = [](auto k, auto steps) { return random::uniform(random::fold_in(k, steps), 3); };
    using many = calque::detail::evaluation<std::remove_const_t<decltype(of_many)>, key, calque::spec<std::int64_t, 4>>;
    CHECK(many::value.why == reason::one_key_needed);
}

TEST_CASE("the program of docs/random.md stands here") {
    int const steps = 2;
    xtensor<float, 1> y = xt::ones<float>({100});
    auto noisy = calque::function([](auto k, auto x) {
        auto [a, b] = split(k);                                // two keys for two uses
        auto kept = calque::random::bernoulli_like(a, 0.9, x); // dropout
        return where(kept, x / 0.9, zeros_like(x)) + 0.1 * calque::random::normal_like(b, x);
    });

    calque::random::key key(42);
    for (int i = 0; i < steps; ++i) {
        y = noisy(fold_in(key, i), y); // a new key is a new value, not a new trace
    }
    CHECK(noisy.trace_count() == 1);
    CHECK(noisy.plan(key, y).text().starts_with(" 0 elements"));

    std::vector<std::string> const source = documents::lines(documents::read("tests/random_key_test.cpp"));
    std::string const block = documents::blocks(documents::read("docs/random.md"), "cpp").at(0);
    for (std::string const& line : documents::lines(block)) {
        INFO(line);
        CHECK((line.empty() || std::find(source.begin(), source.end(), "    " + line) != source.end()));
    }
}
