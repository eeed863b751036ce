// SPDX-License-Identifier: MIT
// Extents that only the call knows but that meet known ones: kernels are made for these, and a call that is otherwise
// gives the same result, or the same error, as without.
#include <calque/calque.hpp>
#include <calque/graph/interpreter.hpp>

#include <doctest/doctest.h>

#include "message_of.hpp"
#include "tensor_compare.hpp"

#include <string>
#include <tuple>
#include <vector>

namespace {

using calque::dyn;
using calque::spec;
using tests::message_of;
using tests::noise;
using matrix = xt::xtensor<float, 2>;
using vector = xt::xtensor<float, 1>;

inline constexpr auto loss = [](auto z, auto labels) {
    return -calque::mean(calque::sum<-1>(calque::one_hot(labels, 10) * calque::log_softmax<-1>(z)));
};
inline constexpr auto slope = calque::value_and_grad(loss);
inline constexpr auto classifier = [](auto x, auto w, auto b, auto labels) {
    return loss(calque::matmul(x, w) + b, labels);
};
inline constexpr auto classifier_slope = calque::value_and_grad<1, 2>(classifier);

// A column is not reduced: nothing is assumed of it.
inline constexpr auto beside_a_column = [](auto x, auto column) { return calque::softmax<-1>(x * column); };
// What meets two extents can only be 1.
inline constexpr auto contradiction = [](auto x) {
    return calque::sum(x * calque::arange<float>(10)) + calque::sum(x * calque::arange<float>(5));
};

std::vector<int> labels_of(std::size_t n) {
    std::vector<int> labels(n);
    for (std::size_t i = 0; i < n; ++i) {
        labels[i] = static_cast<int>(7 * i % 10);
    }
    return labels;
}

template <class F, class... Specs>
constexpr calque::extent_t assumed_columns() {
    return calque::runtime::compiled<F, Specs...>::optimized.view().shape(0)[1];
}

} // namespace

TEST_CASE("scores beside one_hot of known classes") {
    auto const f = calque::function(slope);
    for (std::size_t const n : {0u, 1u, 5u, 33u, 70u}) {
        CAPTURE(n);
        auto const z = noise<float, 2>({n, 10}, 1);
        auto const labels = labels_of(n);
        auto const [value, gradient] = f(z, labels);
        auto const [known_value, known_gradient] = f(calque::with_shape<dyn, 10>(z), labels);
        CHECK((value == known_value || n == 0));
        CHECK(gradient == known_gradient);
        CHECK(f.plan(z, labels).text().find("op by op") == std::string::npos);
    }
}

TEST_CASE("one column broadcasts, others are an error") {
    auto const f = calque::function(loss);
    matrix const column = noise<float, 2>({5, 1}, 2);
    auto const labels = labels_of(5);
    CHECK(f(column, labels) == 0.f); // log_softmax over one column
    CHECK(f.plan(column, labels).text().find("op by op") != std::string::npos);
    CHECK(message_of<calque::shape_error>([&] {
              f(noise<float, 2>({5, 7}, 3), labels);
          }).find("multiply: the extents do not broadcast") != std::string::npos);
}

TEST_CASE("what scores are computed of") {
    auto const f = calque::function(classifier_slope);
    auto const x = noise<float, 2>({20, 6}, 1);
    auto const w = noise<float, 2>({6, 10}, 2);
    auto const labels = labels_of(20);
    auto const [value, gradients] = f(x, w, noise<float, 1>({10}, 3), labels);
    auto const [known, known_gradients] =
        f(x, calque::with_shape<dyn, 10>(w), calque::with_shape<10>(noise<float, 1>({10}, 3)), labels);
    CHECK(value == doctest::Approx(known));
    CHECK(xt::allclose(std::get<0>(gradients), std::get<0>(known_gradients)));
    CHECK(xt::allclose(std::get<1>(gradients), std::get<1>(known_gradients)));

    vector const same = vector{0.5f};
    auto const [stretched, by_stretched] = f(x, w, same, labels);
    auto const [full, by_full] = f(x, w, vector(xt::ones<float>({10}) * 0.5f), labels);
    CHECK(stretched == doctest::Approx(full));
    CHECK(std::get<1>(by_stretched)(0) == doctest::Approx(xt::sum(std::get<1>(by_full))()).epsilon(1e-4));
}

TEST_CASE("what is assumed") {
    using slope_type = std::remove_cvref_t<decltype(slope)>;
    CHECK(assumed_columns<slope_type, spec<float, dyn, dyn>, spec<int, dyn>>() == 10);
    auto const f = calque::function(beside_a_column);
    matrix const x = noise<float, 2>({4, 10}, 1);
    matrix const column = noise<float, 2>({4, 1}, 2);
    CHECK(f.plan(calque::with_shape<dyn, 10>(x), column).text().find("op by op") == std::string::npos);
    auto const g = calque::function(contradiction);
    CHECK(g(vector{2}) == 110.f);
}
