// SPDX-License-Identifier: MIT
// The programs of docs/tracing.md: each of its blocks stands here, line by line, in a test that holds it to what the
// page says. The last test finds blocks that do not.
#include <calque/calque.hpp>

#include "documents.hpp"

#include <filesystem>
#include <type_traits>

namespace {

template <class M>
struct dense {
    calque::leaf<M, float, calque::dyn, calque::dyn> w;
    calque::leaf<M, float, calque::dyn> b;
};

struct config {
    float scale;
    int power;
};

inline constexpr auto descend = [](auto p, auto g) { return p - 0.1f * g; };

inline constexpr auto cubic = [](auto x, auto y) { return calque::sum(x * x * y); };

inline constexpr auto curve = [](auto x, auto y) {
    auto slope = [=](auto z) { return calque::sum(calque::grad(cubic)(z, y)); };
    return calque::grad(slope)(x); // 2 y
};

TEST_CASE("a first function") {
    auto f = calque::function([](auto x, auto y) { return tanh(x) * y + 1; });

    xt::xtensor<float, 1> x = {0, 1, 2}, y = {1, 2, 3};
    xt::xtensor<float, 1> z = f(x, y); // a trace: a plan for float[3], float[3]
    z = f(y, x);                       // a hit

    CHECK(z(0) == 1);
    CHECK(f.trace_count() == 1);
    CHECK(f.hit_count() == 1);
}

TEST_CASE("ordinary code in a body") {
    constexpr auto deep = [](auto x, auto w) {
        auto h = x;
        for (int layer = 0; layer < 3; ++layer) { // three layers in the graph
            h = tanh(matmul(h, w));
        }
        if (h.rank() == 2) { // the compiler knows the rank
            h = calque::mean<0>(h);
        }
        return h * calque::sqrt(2.f); // a constant
    };

    using result = calque::output_t<decltype(deep), calque::spec<float, calque::dyn, 4>, calque::spec<float, 4, 4>>;
    static_assert(std::is_same_v<result, calque::spec<float, 4>>);
}

TEST_CASE("graphs as text") {
    constexpr auto g = calque::trace<calque::spec<float, 4>>([](auto x) { return exp(x) + exp(x); });
    static_assert(g.size() == 3); // exp(x) is one value, however often it is written
    std::string const text = g.text();

    CHECK(text == "%0 = argument 0 float[4]\n%1 = exp(%0) float[4]\n%2 = add(%1, %1) float[4]\nreturn %2\n");
    CHECK(documents::blocks(documents::read("docs/tracing.md"), "text").at(0) == text);
}

TEST_CASE("static shapes") {
    constexpr auto total = [](auto x) { return calque::sum(x); };
    xt::xtensor_fixed<float, xt::xshape<2, 2>> x = {{1, 2}, {3, 4}};
    static_assert(calque::is_static_v<decltype(total), decltype(x)>);

    auto f = calque::function(total);
    float t = f(x); // no look-up: the plan is a constant

    CHECK(t == 10);
    CHECK(f.trace_count() == 0);
}

TEST_CASE("named extents") {
    using calque::dim;
    auto weigh = calque::function([](auto x, auto w) { return calque::sum<0>(x * calque::expand_dims<-1>(w)); },
                                  {.name = "weigh"});

    xt::xtensor<float, 2> x = xt::ones<float>({6, 3});
    xt::xtensor<float, 1> w = xt::ones<float>({4});
    std::string message;
    try {
        (void)weigh(calque::with_shape<dim("batch"), 3>(x), calque::with_shape<dim("batch")>(w));
    } catch (calque::shape_error const& e) {
        message = e.what();
    }

    CHECK(message + '\n' == documents::blocks(documents::read("docs/tracing.md"), "text").at(1));
}

TEST_CASE("asserted shapes") {
    constexpr auto checked = [](auto x, auto w) { return calque::assert_shape<calque::dyn, 10>(matmul(x, w)); };

    static_assert(std::is_same_v<calque::output_t<decltype(checked), calque::spec<float, 5, calque::dyn>,
                                                  calque::spec<float, calque::dyn, calque::dyn>>,
                                 calque::spec<float, 5, 10>>);
}

TEST_CASE("weak scalars") {
    auto scale = calque::function([](auto x, auto s) { return x * s / 2; });

    xt::xtensor<double, 1> x = {1, 2};
    auto half = scale(x, 1.f);    // s and 2 become doubles, as x is
    auto double_ = scale(x, 4.f); // another value is no other trace

    static_assert(std::is_same_v<decltype(half), xt::xtensor<double, 1>>);
    CHECK(half(1) == 1);
    CHECK(double_(1) == 4);
    CHECK(scale.trace_count() == 1);
}

TEST_CASE("arrays whose type does not say their rank") {
    auto total = calque::function([](auto x) { return calque::sum(x); });

    xt::xarray<float> x = xt::ones<float>({2, 3});
    float a = total(calque::with_rank<2>(x));
    float b = total(calque::with_shape<calque::dyn, 3>(x)); // throws shape_error if there are not 3 columns

    CHECK(a == 6);
    CHECK(b == 6);
}

TEST_CASE("views") {
    auto total = calque::function([](auto x) { return calque::sum(x); });

    xt::xtensor<float, 2> x = xt::ones<float>({4, 3});
    float t = total(xt::view(x, xt::all(), xt::range(0, 2))); // reads where the elements lie

    CHECK(t == 8);
}

TEST_CASE("families") {
    constexpr auto affine = [](auto layer, auto x) { return matmul(x, layer.w) + layer.b; };

    dense<calque::host> layer{xt::ones<float>({3, 2}), xt::zeros<float>({2})};
    xt::xtensor<float, 2> x = xt::ones<float>({4, 3});
    auto y = calque::function(affine)(layer, x);

    CHECK(y(3, 1) == 3);
}

TEST_CASE("tree_map") {
    auto update = calque::function([](auto p, auto g) { return calque::tree_map(descend, p, g); });

    dense<calque::host> p{xt::ones<float>({3, 2}), xt::zeros<float>({2})};
    dense<calque::host> g = p;
    dense<calque::host> next = update(p, g);
    next = calque::tree_map([](auto const& a) { return xt::eval(2 * a); }, next); // outside, on arrays

    CHECK(std::abs(next.w(0, 0) - 1.8f) < 1e-6f);
}

TEST_CASE("plain structs") {
    auto scaled = calque::function([](auto x, auto c) { return x * c[&config::scale]; });

    xt::xtensor<float, 1> x = {1, 2};
    auto y = scaled(x, config{3.f, 1});

    CHECK(y(1) == 6);
}

TEST_CASE("several results") {
    auto moments = calque::function([](auto x) {
        auto m = calque::mean(x);
        return std::tuple{m, calque::mean(square(x - m))};
    });

    xt::xtensor<float, 1> x = {1, 3};
    auto [mean, variance] = moments(x);
    moments.into(std::tie(mean, variance), x); // the same, without making anything

    CHECK(mean == 2);
    CHECK(variance == 1);
}

TEST_CASE("outputs in place") {
    auto sigmoid = calque::function([](auto x) { return calque::sigmoid(x); });

    xt::xtensor<float, 1> x = {0, 1}, y;
    sigmoid.into(y, x); // y is resized to [2]
    sigmoid.into(x, x); // in place

    CHECK(x(0) == 0.5f);
    CHECK(x(1) == y(1));
}

TEST_CASE("outputs of a fixed size") {
    auto sigmoid = calque::function([](auto x) { return calque::sigmoid(x); }, {.name = "sigmoid"});

    std::vector<float> x = {0, 1, 2}, y = {7, 7};
    std::string message;
    try {
        sigmoid.into(std::span<float>(y), x);
    } catch (calque::shape_error const& e) {
        message = e.what();
    }

    CHECK(message + '\n' == documents::blocks(documents::read("docs/tracing.md"), "text").at(2));
    CHECK(y[0] == 7);
}

TEST_CASE("gradients") {
    constexpr auto loss = [](auto layer, auto x) { return calque::mean(square(matmul(x, layer.w) + layer.b)); };

    dense<calque::host> layer{xt::ones<float>({3, 2}), xt::zeros<float>({2})};
    xt::xtensor<float, 2> x = xt::ones<float>({4, 3});
    auto [value, gradient] = calque::function(calque::value_and_grad(loss))(layer, x); // gradient.w, gradient.b

    CHECK(value == 9);
    CHECK(gradient.b(0) == 3);
}

TEST_CASE("gradients by several arguments, and of gradients") {
    xt::xtensor_fixed<double, xt::xshape<2>> x = {1, 2}, y = {3, 4};
    auto [dx, dy] = calque::function(calque::grad<0, 1>(cubic))(x, y); // 2 x y, and x x
    auto d2x = calque::function(curve)(x, y);

    CHECK(dx(1) == 16);
    CHECK(dy(1) == 4);
    CHECK(d2x(1) == 8);
}

TEST_CASE("gradients that stop") {
    auto slope = calque::function(calque::grad([](auto x) { return x * stop_gradient(x); }));
    double d = slope(3.); // 3, not 6

    CHECK(d == 3);
}

TEST_CASE("what a function can tell") {
    auto softmax = calque::function([](auto x) { return calque::softmax<-1>(x); }, {.name = "softmax", .capacity = 8});
    xt::xtensor<float, 2> x = xt::ones<float>({4, 100});
    softmax.prepare(x);                             // makes the plan that a call with such arguments will find
    std::string plan = softmax.plan(x).text();      // what runs
    std::string known = softmax.signatures().at(0); // float[4,100]

    CHECK(plan.starts_with(documents::blocks(documents::read("docs/tracing.md"), "text").at(3)));
    CHECK(known == "float[4,100]");
    CHECK(softmax.trace_count() == 1);
    softmax.clear();
    CHECK(softmax.cache_size() == 0);
}

TEST_CASE("every program of docs/tracing.md is in this file") {
    CHECK(documents::blocks(documents::read("docs/tracing.md"), "cpp").size() > 10);
    CHECK(documents::blocks_that_are_missing("docs/tracing.md", "tests/docs_test.cpp") == "");
    CHECK(documents::blocks_that_are_missing("docs/tracing.md", "tests/main.cpp") != ""); // this test can fail
}

/// All headers as one text, in which string literals that follow each other are one.
std::string all_headers() {
    std::string text;
    for (auto const& entry : std::filesystem::recursive_directory_iterator("include/calque")) {
        if (entry.path().extension() == ".hpp") {
            text += documents::read(entry.path().string());
        }
    }
    std::string joined;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::size_t const next = text[i] == '"' ? text.find_first_not_of(" \n", i + 1) : std::string::npos;
        if (next != std::string::npos && next != i + 1 && text[next] == '"') {
            i = next; // the end of one literal and the beginning of the next
        } else {
            joined += text[i];
        }
    }
    return joined;
}

TEST_CASE("every sentence in the tables of errors of docs/tracing.md is one that the headers say") {
    std::string const headers = all_headers();
    int sentences = 0;
    bool in_table = false;
    for (std::string const& line : documents::lines(documents::read("docs/tracing.md"))) {
        in_table = line.starts_with("|") && (in_table || line.find("| error |") != std::string::npos);
        std::size_t const end = line.rfind("` |");
        if (!in_table || end == std::string::npos) {
            continue;
        }
        std::size_t const begin = line.rfind('`', end - 1);
        std::string const sentence = line.substr(begin + 1, end - begin - 1);
        INFO(sentence);
        CHECK(headers.find(sentence) != std::string::npos);
        ++sentences;
    }
    CHECK(sentences > 15);
    CHECK(headers.find("a sentence that no header has") == std::string::npos);
}

} // namespace
