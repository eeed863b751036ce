// SPDX-License-Identifier: MIT
// Policies, signatures, explanations and bounds: when a function traces, what it says, and what it refuses.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include "message_of.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace {

using tests::message_of;

using calque::dim;
using calque::dyn;
using calque::function_options;
using calque::shape_policy;
using calque::signature;
using calque::spec;
using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

inline constexpr auto total = [](auto x) { return calque::sum(x); };
inline constexpr auto product = [](auto a, auto b) { return calque::matmul(a, b); };
inline constexpr auto twice = [](auto x) { return x * 2; };
inline constexpr auto slope = calque::grad([](auto x, auto w) { return calque::sum(calque::tanh(x * w)); });

template <class M>
struct dense {
    calque::leaf<M, float, dyn, dyn> w;
    calque::leaf<M, float, dyn> b;
};
template <class M>
struct network {
    std::array<dense<M>, 2> layers;
};
inline constexpr auto add_weights = [](auto model, auto x) { return calque::sum(model.layers[1].w) + calque::sum(x); };

vector ones(std::size_t n) {
    return xt::ones<float>({n});
}

/// Collects warnings for as long as it lives.
struct warnings {
    std::vector<std::string> all;
    calque::warning_sink before =
        calque::set_warning_sink([this](std::string_view message) { all.emplace_back(message); });

    warnings() = default;
    warnings(warnings const&) = delete;
    ~warnings() { calque::set_warning_sink(before); }
};

bool contains(std::string const& text, std::string const& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("dynamic: one trace a dtype and rank, whatever the extents and the layout") {
    auto const f = calque::function(total, function_options{.shapes = shape_policy::dynamic});
    CHECK(f(ones(3)) == 3.f);
    CHECK(f(ones(5)) == 5.f);
    CHECK(f(ones(3)) == 3.f);
    CHECK(f.trace_count() == 1);
    CHECK(f.shape_count() == 1);
    CHECK(f.hit_count() == 2);
    CHECK(f.cache_size() == 1);
    CHECK(f.signatures() == std::vector<std::string>{"float[dyn]"});
    matrix const m = xt::ones<float>({4, 6});
    CHECK(f(m) == 24.f);
    CHECK(f(xt::view(m, xt::all(), xt::range(0, 3))) == 12.f);
    CHECK(f(xt::xtensor<double, 1>{1, 2}) == 3.);
    CHECK(f.explain(xt::xtensor<double, 1>{1, 2, 3}).hit);
}

TEST_CASE("relax: the second shape makes all extents dynamic") {
    auto const f = calque::function(total, function_options{.shapes = shape_policy::relax});
    for (std::size_t n = 1; n <= 11; ++n) {
        CHECK(f(ones(n)) == static_cast<float>(n));
    }
    CHECK(f.trace_count() == 2);
    CHECK(f.shape_count() == 9);
    CHECK(f.signatures() == std::vector<std::string>{"float[1]", "float[dyn]"});
    CHECK(f(xt::xtensor<double, 1>{1, 2}) == 3.);
    CHECK(f.trace_count() == 3); // another dtype begins anew
}

TEST_CASE("bucket: powers of two, multiples, or a list") {
    auto const powers = calque::function(total, function_options{.shapes = shape_policy::bucket});
    for (std::size_t n = 1; n <= 16; ++n) {
        CHECK(powers(ones(n)) == static_cast<float>(n));
    }
    CHECK(powers.trace_count() == 5); // 1, 2, 4, 8, 16
    CHECK(powers.shape_count() == 11);
    CHECK(powers.signatures() ==
          std::vector<std::string>{"float[<=1]", "float[<=2]", "float[<=4]", "float[<=8]", "float[<=16]"});

    auto const multiples = calque::function(
        total, function_options{.shapes = shape_policy::bucket, .buckets = calque::bucket_list::multiples_of(10)});
    for (std::size_t n : {1u, 10u, 11u, 20u, 21u, 5u}) {
        CHECK(multiples(ones(n)) == static_cast<float>(n));
    }
    CHECK(multiples.trace_count() == 3);

    auto const list = calque::function(total, function_options{.shapes = shape_policy::bucket, .buckets = {64, 4}});
    for (std::size_t n : {1u, 4u, 5u, 64u, 65u, 1000u}) {
        CHECK(list(ones(n)) == static_cast<float>(n));
    }
    CHECK(list.trace_count() == 3);
    CHECK(list.signatures() == std::vector<std::string>{"float[<=4]", "float[<=64]", "float[dyn]"});
    CHECK(list.explain(ones(64)).hit);
}

TEST_CASE("a plan that was dropped is made again, without a trace if its class is known") {
    auto const f = calque::function(total, function_options{.shapes = shape_policy::dynamic, .capacity = 2});
    for (std::size_t round = 0; round < 3; ++round) {
        for (std::size_t n = 1; n <= 5; ++n) {
            CHECK(f(ones(n)) == static_cast<float>(n));
        }
    }
    CHECK(f.trace_count() == 1);
    f.clear();
    CHECK(f.cache_size() == 0);
    CHECK(f(ones(2)) == 2.f);
    CHECK(f.trace_count() == 2);
}

TEST_CASE("a signature: one trace; static extents are checked, names are compared") {
    auto const f = calque::function(product, signature<spec<float, dyn, 3>, spec<float, 3, dim("n")>>{});
    matrix const a = xt::ones<float>({2, 3});
    matrix const b = xt::ones<float>({3, 4});
    CHECK(f(a, b)(1, 3) == 3.f);
    matrix const c = xt::ones<float>({7, 3});
    CHECK(f(c, b)(6, 0) == 3.f);
    CHECK(f(xt::xtensor_fixed<float, xt::xshape<2, 3>>(a), b)(0, 0) == 3.f);
    CHECK(f.trace_count() == 1);
    CHECK(f.shape_count() == 1);
    CHECK(f.signatures() == std::vector<std::string>{"float[dyn,3], float[3,n]"});
    std::string const wrong = message_of<calque::signature_error>([&] { f(b, b); });
    contains(wrong, "argument 0");
    contains(wrong, "extent 1 is 4, not 3");

    auto const named = calque::function([](auto x, auto y) { return x + y; },
                                        signature<spec<float, dim("n")>, spec<float, dim("n")>>{});
    CHECK(named(ones(4), ones(4))(3) == 2.f);
    std::string const different = message_of<calque::signature_error>([&] { named(ones(4), ones(5)); });
    contains(different, "`n` is 4 in argument 0 and 5 in argument 1");
    CHECK(named.trace_count() == 1);
}

TEST_CASE("a static signature takes dynamic arrays and never traces") {
    auto const f = calque::function(twice, signature<spec<float, 3>>{});
    CHECK(f(ones(3))(2) == 2.f);
    CHECK(f.trace_count() == 0);
    contains(message_of<calque::signature_error>([&] { f(ones(4)); }), "extent 0 is 4, not 3");
}

TEST_CASE("of several signatures the most specific that fits") {
    using all = calque::signatures<signature<spec<float, dyn>>, signature<spec<float, 4>>,
                                   signature<spec<float, dyn, 2>>, signature<spec<double, 3>>>;
    auto const f = calque::function(twice, all{}, function_options{.name = "twice"});
    CHECK(f(ones(4))(3) == 2.f);
    CHECK(f.trace_count() == 0); // the static one
    CHECK(f(ones(5))(4) == 2.f);
    CHECK(f(ones(6))(5) == 2.f);
    CHECK(f.trace_count() == 1);
    CHECK(f(matrix(xt::ones<float>({3, 2})))(2, 1) == 2.f);
    CHECK(f.trace_count() == 2);
    vector result;
    f.into(result, ones(4));
    CHECK(result(3) == 2.f);
    std::string const wrong = message_of<calque::signature_error>([&] { f(matrix(xt::ones<float>({2, 3}))); });
    CHECK(wrong == "calque: twice has no signature for argument 0 of shape [2,3]");
}

TEST_CASE("specialized shapes are static, all others are not") {
    auto const f = calque::function(twice, calque::specialize<signature<spec<float, 2>>, signature<spec<float, 3>>>{});
    vector const three = f(ones(3));
    CHECK(three(2) == 2.f);
    CHECK(f(ones(2))(1) == 2.f);
    CHECK(f.trace_count() == 0);
    CHECK(f(ones(4))(3) == 2.f);
    CHECK(f.trace_count() == 1);
    CHECK(f.explain(ones(3)).hit);
    CHECK_FALSE(f.explain(ones(7)).hit);
}

TEST_CASE("a miss is explained against the closest key, by name, with a remedy") {
    auto const f = calque::function(product, function_options{.name = "product", .arguments = {"x", "w"}});
    matrix const w = xt::ones<float>({3, 4});
    CHECK(f.explain(matrix(xt::ones<float>({2, 3})), w).reason == "the first call");
    f.prepare(matrix(xt::ones<float>({2, 3})), w);
    f.prepare(matrix(xt::ones<float>({10, 3})), w);
    auto const why = f.explain(matrix(xt::ones<float>({20, 3})), w);
    CHECK_FALSE(why.hit);
    contains(why.reason, "argument 0 `x`: extent 0 was 10, is 20");
    contains(why.reason, "shape_policy::relax");
    CHECK(f.explain(matrix(xt::ones<float>({10, 3})), w).hit);
    CHECK(f.trace_count() == 2);
    auto const doubles = f.explain(xt::xtensor<double, 2>(xt::ones<double>({2, 3})), xt::xtensor<double, 2>(w));
    contains(doubles.reason, "argument 0 `x`: the dtype was float, is double");
    contains(doubles.reason, "cast");
}

TEST_CASE("contiguous arrays of all types share a trace") {
    auto const f = calque::function(total);
    CHECK(f(ones(3)) == 3.f);
    std::vector<float> const numbers = {1, 2, 3};
    CHECK(f(numbers) == 6.f);
    CHECK(f(std::span(numbers)) == 6.f);
    CHECK(f(calque::array_view(numbers.data(), {3})) == 6.f);
    CHECK(f.trace_count() == 1);
    CHECK(f.hit_count() == 3);
}

TEST_CASE("an array that may be strided is another type, which is explained") {
    auto const f = calque::function(total);
    f.prepare(ones(3));
    matrix const x = xt::ones<float>({2, 3});
    auto const why = f.explain(xt::view(x, 1, xt::all()));
    CHECK_FALSE(why.hit);
    contains(why.reason, "arrays of another C++ type");
    contains(why.reason, "signature");
    f.prepare(xt::view(x, 0, xt::all()));
    CHECK(f.explain(xt::view(x, 1, xt::all())).hit);
}

TEST_CASE("plans can be prepared by specs") {
    auto const f = calque::function(product);
    f.prepare<spec<float, 2, 3>, spec<float, 3, 4>>();
    CHECK(f.trace_count() == 1);
    f.freeze();
    CHECK(f(matrix(xt::ones<float>({2, 3})), matrix(xt::ones<float>({3, 4})))(1, 3) == 3.f);
    CHECK(f.hit_count() == 1);
}

TEST_CASE("explanations name the fields of structures") {
    auto const f = calque::function(add_weights);
    auto const layer = [](std::size_t n) { return dense<calque::host>{xt::ones<float>({n, n}), xt::ones<float>({n})}; };
    network<calque::host> model{{layer(2), layer(3)}};
    CHECK(f(model, ones(4)) == 13.f);
    model.layers[1].w = xt::ones<float>({3, 5});
    auto const why = f.explain(model, ones(4));
    contains(why.reason, "argument 0.layers[1].w: extent 1 was 3, is 5");
    CHECK(f(model, ones(4)) == 19.f);
}

TEST_CASE("on_retrace hears of each trace") {
    std::vector<calque::retrace_event> events;
    auto const f = calque::function(
        total,
        function_options{.name = "total", .on_retrace = [&](calque::retrace_event const& e) { events.push_back(e); }});
    f.prepare(ones(3));
    f.prepare(ones(3));
    f.prepare(ones(8));
    REQUIRE(events.size() == 2);
    CHECK(events[0].reason == "the first call");
    CHECK(events[0].remedy.empty());
    CHECK(events[1].function == "total");
    CHECK(events[1].signature == "float[8]");
    CHECK(events[1].reason == "argument 0: extent 0 was 3, is 8");
    CHECK(events[1].trace_count == 2);
    CHECK(events[1].cost.count() > 0);
}

TEST_CASE("an exception of on_retrace reaches the caller, and nothing is kept") {
    bool refuse = true;
    auto const f = calque::function(total, function_options{.on_retrace = [&](calque::retrace_event const&) {
                                        if (refuse) {
                                            throw std::runtime_error("refused");
                                        }
                                    }});
    CHECK(message_of<std::runtime_error>([&] { f(ones(3)); }) == "refused");
    CHECK(f.trace_count() == 0);
    CHECK(f.cache_size() == 0);
    refuse = false;
    CHECK(f(ones(3)) == 3.f);
    CHECK(f.trace_count() == 1);
}

TEST_CASE("warnings: TensorFlow's rule, run by run") {
    auto const warnings_of = [](std::size_t shapes, int times) {
        warnings heard;
        auto const f = calque::function(total, function_options{.name = "total"});
        for (std::size_t n = 1; n <= shapes; ++n) {
            for (int i = 0; i < times; ++i) {
                f.prepare(ones(n));
            }
        }
        CHECK(f.trace_count() == shapes);
        return heard.all;
    };
    CHECK(warnings_of(4, 1).size() == 0);
    CHECK(warnings_of(5, 1).size() == 1);
    CHECK(warnings_of(12, 1).size() == 2);
    CHECK(warnings_of(6, 2).size() == 2);
    CHECK(warnings_of(6, 3).size() == 2);
    CHECK(warnings_of(6, 4).size() == 0);
    std::string const text = warnings_of(5, 1).front();
    contains(text, "5 out of the last 5 calls of total were traces");
    contains(text, "extent 0 was 4, is 5");
    contains(text, "shape_policy::relax");
}

TEST_CASE("the thresholds of warnings can be chosen; strict makes them errors") {
    warnings heard;
    auto const often = calque::function(total, function_options{.warn_after = 2, .warn_window = 1, .max_warnings = 9});
    for (std::size_t n = 1; n <= 4; ++n) {
        often.prepare(ones(n));
    }
    CHECK(heard.all.size() == 3);
    auto const strict = calque::function(total, function_options{.name = "strict", .strict = true});
    for (std::size_t n = 1; n <= 4; ++n) {
        strict.prepare(ones(n));
    }
    contains(message_of<calque::retrace_error>([&] { strict.prepare(ones(5)); }), "5 out of the last 5 calls");
    CHECK(strict.trace_count() == 4);
    CHECK(heard.all.size() == 3);
}

TEST_CASE("a call without kernels is told of once, with a remedy") {
    warnings heard;
    auto const f = calque::function(
        slope, function_options{.name = "slope", .arguments = {"x", "w"}, .warn_after = 0});
    matrix const x = xt::ones<float>({4, 6}), row = xt::ones<float>({1, 6}), wide = xt::ones<float>({1, 3});
    f(x, x);
    f(x, calque::with_shape<1, dyn>(row));
    CHECK(heard.all.empty());
    f(x, row);
    REQUIRE(heard.all.size() == 1);
    CHECK(heard.all[0] ==
          "calque: slope runs op by op, without fusion, for x: float[4,6], w: float[1,6]: an extent of 1 that the "
          "compiler does not know stretches to another; remedy: declare it (calque::with_shape<1, calque::dyn>(w)), and "
          "such calls have kernels, too");
    f(matrix(xt::ones<float>({5, 3})), wide);
    CHECK(heard.all.size() == 1);

    auto const silent = calque::function(slope, function_options{.max_warnings = 0});
    silent(x, row);
    CHECK(heard.all.size() == 1);
}

TEST_CASE("freeze and max_traces refuse new keys, with the reason") {
    auto const frozen = calque::function(total, function_options{.name = "frozen"});
    CHECK(frozen(ones(3)) == 3.f);
    frozen.freeze();
    CHECK(frozen(ones(3)) == 3.f);
    std::string const message = message_of<calque::retrace_error>([&] { frozen(ones(4)); });
    contains(message, "frozen is frozen");
    contains(message, "extent 0 was 3, is 4");
    CHECK(frozen.trace_count() == 1);

    auto const bounded = calque::function(total, function_options{.shapes = shape_policy::relax, .max_traces = 2});
    for (std::size_t n = 1; n <= 9; ++n) {
        CHECK(bounded(ones(n)) == static_cast<float>(n));
    }
    contains(message_of<calque::retrace_error>([&] { bounded(xt::xtensor<double, 1>{1}); }), "max_traces");
}

TEST_CASE("a call that fails is no trace") {
    auto const f = calque::function(product, function_options{.max_traces = 1});
    matrix const a = xt::ones<float>({2, 3});
    CHECK_THROWS_AS(f(a, a), calque::shape_error);
    CHECK_THROWS_AS(f(a, a), calque::shape_error);
    CHECK(f.trace_count() == 0);
    CHECK(f(a, matrix(xt::ones<float>({3, 1})))(0, 0) == 3.f);
    CHECK(f.trace_count() == 1);
}

TEST_CASE("the report lists every function, also those that have ended") {
    auto const of = [](std::string const& name) {
        for (calque::function_report const& r : calque::report().functions()) {
            if (r.name == name) {
                return r;
            }
        }
        return calque::function_report{};
    };
    {
        auto const f = calque::function(total, function_options{.name = "reported \"f\"", .capacity = 2});
        auto const copy = f;
        for (std::size_t n : {1u, 2u, 3u, 3u}) {
            f(ones(n));
        }
        calque::time_calls(true);
        copy(ones(3));
        float result = 0;
        f.into(result, ones(3));
        calque::time_calls(false);
        f(ones(3));
        auto const r = of("reported \"f\"");
        CHECK(r.traces == 3);
        CHECK(r.hits == 4);
        CHECK(r.evictions == 1);
        CHECK(r.kept == 2);
        CHECK(r.trace_time.count() > 0);
        CHECK(r.timed_calls == 2);
        CHECK(r.run_time.count() > 0);
        CHECK(r.ended == 0);
        contains(calque::report().text(), "reported \"f\"");
        contains(calque::report().json(), R"({"name": "reported \"f\"", "traces": 3, "shapes": 0, "hits": 4, )");
    }
    auto const r = of("reported \"f\"");
    CHECK(r.ended == 1);
    CHECK(r.traces == 3);
    CHECK(r.kept == 0);
}

TEST_CASE("bounds that the compiler knows") {
    using calque::max_kernels_v;
    using calque::max_traces_v;
    using dense_call = signature<spec<float, dyn, 3>, spec<float, 3, dim("n")>>;
    static_assert(max_kernels_v<decltype(total), spec<float, dyn>> == 1);
    static_assert(max_kernels_v<decltype(product), dense_call> == 1);
    static_assert(
        max_kernels_v<decltype(total), calque::signatures<signature<spec<float, 3>>, signature<spec<float, dyn>>>> ==
        2);
    static_assert(max_kernels_v<decltype(total), calque::specialize<signature<spec<float, 3>>>, vector> == 2);
    constexpr auto branching = [](auto x) {
        return calque::cond(calque::sum(x) > 0.f, [&] { return x + 1.f; }, [&] { return x - 1.f; });
    };
    static_assert(max_kernels_v<decltype(branching), spec<float, dyn>> == 3); // the sum, and one for each branch
    static_assert(max_traces_v<decltype(product), dense_call> == 1);
    static_assert(max_traces_v<decltype(total), signature<spec<float, 4>>> == 0);

    // A static signature traces nothing, not even for an array with gaps.
    auto const f = calque::function(total, signature<spec<float, 4>>{});
    vector const eight = ones(8);
    CHECK(f(xt::view(eight, xt::range(0, 8, 2))) == 4.f);
    CHECK(f.trace_count() == 0);
}
