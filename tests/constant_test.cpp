// SPDX-License-Identifier: MIT
// `constant` and `with_constant`: arguments that are part of a function's type.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

namespace {

using vector = xt::xtensor<float, 1>;
enum class fold { sum, mean, largest };

inline constexpr auto folded = [](auto how, auto times, auto x) {
    for (int i = 0; i < times; ++i) {
        x = x * 2.f;
    }
    if constexpr (how == fold::sum) {
        return calque::sum(x);
    } else if constexpr (how == fold::mean) {
        return calque::mean(x);
    } else {
        return calque::max(x);
    }
};

} // namespace

TEST_CASE("a constant is part of the key, and a C++ constant in the body") {
    auto const f = calque::function(folded);
    vector const x = {1.f, 2.f, 6.f};
    CHECK(f(calque::constant<fold::sum>, calque::constant<0>, x) == 9.f);
    CHECK(f(calque::constant<fold::mean>, calque::constant<1>, x) == 6.f);
    CHECK(f(calque::constant<fold::mean>, calque::constant<3>, x) == 24.f);
    CHECK(f.trace_count() == 3);
    CHECK(f(calque::constant<fold::mean>, calque::constant<3>, x) == 24.f);
    CHECK(f.trace_count() == 3);
}

TEST_CASE("a value of the run chooses among those that are declared") {
    auto const f = calque::function(folded);
    vector const x = {1.f, 2.f, 6.f};
    auto const run = [&](fold how) {
        return calque::with_constant<fold::sum, fold::largest>(
            how, [&](auto chosen) { return f(chosen, calque::constant<1>, x); });
    };
    CHECK(run(fold::sum) == 18.f);
    CHECK(run(fold::largest) == 12.f);
    CHECK_THROWS_WITH_AS(run(fold::mean), "calque: with_constant: 1 is none of 0 2", calque::signature_error);
}
