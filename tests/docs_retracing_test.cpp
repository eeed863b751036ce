// SPDX-License-Identifier: MIT
// The programs of docs/retracing.md: each of its blocks stands here, line by line, in a test that holds it to what the
// page says. The last test finds blocks that do not.
#include <calque/calque.hpp>

#include "documents.hpp"

namespace {

TEST_CASE("policies") {
    constexpr auto total = [](auto x) { return calque::sum(x); };
    auto exact = calque::function(total);
    auto relaxed = calque::function(total, {.shapes = calque::shape_policy::relax});
    auto dynamic = calque::function(total, {.shapes = calque::shape_policy::dynamic});
    auto by_eights = calque::function(
        total, {.shapes = calque::shape_policy::bucket, .buckets = calque::bucket_list::multiples_of(8)});

    calque::warning_sink const before = calque::set_warning_sink([](std::string_view) {});
    for (std::size_t n = 1; n <= 16; ++n) {
        xt::xtensor<float, 1> const x = xt::ones<float>({n});
        float const sum = static_cast<float>(n);
        CHECK(exact(x) == sum);
        CHECK(relaxed(x) == sum);
        CHECK(dynamic(x) == sum);
        CHECK(by_eights(x) == sum);
    }
    calque::set_warning_sink(before);
    CHECK(exact.trace_count() == 16);
    CHECK(relaxed.trace_count() == 2);
    CHECK(relaxed.signatures() == std::vector<std::string>{"float[1]", "float[dyn]"});
    CHECK(dynamic.trace_count() == 1);
    CHECK(dynamic.signatures() == std::vector<std::string>{"float[dyn]"});
    CHECK(by_eights.trace_count() == 2);
    CHECK(by_eights.signatures() == std::vector<std::string>{"float[<=8]", "float[<=16]"});
}

TEST_CASE("signatures") {
    using batch = calque::signature<calque::spec<float, calque::dim("rows"), 3>, calque::spec<float, 3, calque::dyn>>;
    auto product = calque::function([](auto x, auto w) { return matmul(x, w); }, batch{});

    xt::xtensor<float, 2> const w = xt::ones<float>({3, 4});
    CHECK(product(xt::xtensor<float, 2>(xt::ones<float>({2, 3})), w)(1, 1) == 3);
    CHECK(product(xt::xtensor<float, 2>(xt::ones<float>({5, 3})), w)(4, 3) == 3);
    CHECK_THROWS_AS(product(w, w), calque::signature_error);
    CHECK(product.trace_count() == 1);
}

TEST_CASE("specializations") {
    using hot = calque::specialize<calque::signature<calque::spec<float, 4>>>;
    auto doubled = calque::function([](auto x) { return x * 2; }, hot{});
    xt::xtensor<float, 1> four = {1, 2, 3, 4}, three = {1, 2, 3};
    doubled(four);  // static kernels: no trace
    doubled(three); // the general ones

    CHECK(doubled.trace_count() == 1);
    CHECK(doubled.signatures() == std::vector<std::string>{"float[3]"});
}

TEST_CASE("explanations") {
    auto norm = calque::function([](auto v) { return sqrt(calque::sum(v * v)); }, {.name = "norm", .arguments = {"v"}});
    norm(xt::xtensor<float, 1>{3, 4});
    std::string why = norm.explain(xt::xtensor<float, 1>{1, 2, 2}).reason;

    CHECK(documents::read("docs/retracing.md").find("\n" + why + "\n") != std::string::npos);
    CHECK(norm.trace_count() == 1);
}

inline constexpr auto step = [](auto x, auto rate) {
    auto const gradient = calque::grad([](auto y) { return sum(square(y)); })(x);
    calque::debug::print<"gradient">(gradient);
    return x - rate * gradient;
};

TEST_CASE("prints") {
    std::string printed;
    calque::debug::print_to([&](std::string_view line) { printed = line; });
    xt::xtensor<float, 1> const next = calque::function(step)(xt::xtensor<float, 1>{1, -2}, 0.5f);
    calque::debug::print_to({});

    CHECK(next == xt::xtensor<float, 1>{0, 0});
    CHECK(documents::read("docs/retracing.md").find("\n" + printed + "\n") != std::string::npos);
}

TEST_CASE("arrays of unknown dtype") {
    auto sum_of_any = calque::function([](auto x) {
                          return calque::sum(x);
                      }).dispatch<calque::dtypes<float, double>, calque::ranks<1, 2>>();
    calque::any_array numbers(xt::xtensor<double, 2>{{1, 2}, {3, 4}});
    double ten = double(sum_of_any(numbers));

    CHECK(ten == 10);
}

TEST_CASE("every program of docs/retracing.md is in this file") {
    CHECK(documents::blocks_that_are_missing("docs/retracing.md", "tests/docs_retracing_test.cpp") == "");
    CHECK(documents::blocks_that_are_missing("docs/retracing.md", "tests/docs_test.cpp") != ""); // this test can fail
}

} // namespace
