// SPDX-License-Identifier: MIT
// What calls cost beside their kernels: hits, new shapes, new extents under a dynamic plan. An item is a call.
#include "../../examples/digits/network.hpp"
#include "xtensor_data.hpp"

#include <concepts>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using rows::numbers;
using rows::vector;

inline constexpr auto plus_one = [](auto x) { return x + 1.f; };
inline constexpr auto total = [](auto x) { return sum(x); };
inline constexpr auto plus = [](auto x, auto y) { return x + y; };
inline constexpr auto softmax = [](auto x) { return calque::softmax<-1>(x); };
inline constexpr auto costly_chain = [](auto a, auto b, auto c) { return tanh(a * b + c) * sigmoid(a) - 0.5f * c; };

calque::function_options silent(calque::shape_policy shapes = calque::shape_policy::exact) {
    calque::function_options options;
    options.shapes = shapes;
    options.max_warnings = 0;
    return options;
}

/// The kernel of x + 1, by hand.
__attribute__((noinline)) void add_one(float* y, float const* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        y[i] = x[i] + 1.f;
    }
}

void add_hits() {
    rows::add("x + 1 of float[4], a loop in a function", 1, [x = numbers(4, 0), y = numbers(4, 1)]() mutable {
        benchmark::DoNotOptimize(y.data());
        add_one(y.data(), x.data(), x.size());
    });
    rows::add("x + 1 of float[4], a hit", 1,
              [f = calque::function(plus_one), x = numbers(4, 0), y = numbers(4, 1)]() mutable { f.into(y, x); });
    std::vector<vector> arrays;
    for (std::size_t n = 4; n < 13; ++n) {
        arrays.push_back(numbers(n, 0));
    }
    rows::add("x + 1 of nine shapes in rotation, a hit", 1,
              [f = calque::function(plus_one, silent()), x = arrays, y = arrays, i = std::size_t(0)]() mutable {
                  f.into(y[i], x[i]);
                  i = i == 8 ? 0 : i + 1;
              });
}

/// A trace a call: so many extents go by that the cache, of 256 plans, never has the one that comes.
/// `prepare(f, n)` makes the plan for extent n.
template <class Prepare>
void add_new_shapes(std::string const& name, calque::shape_policy shapes, auto fn, Prepare prepare) {
    rows::add(name, 1, [f = calque::function(fn, silent(shapes)), prepare, n = std::size_t(0)]() mutable {
        prepare(f, 10 + n);
        n = n == 999 ? 0 : n + 1;
    });
}

/// An array of these extents, which nobody reads.
auto array_of(std::convertible_to<std::size_t> auto... extents) {
    static std::vector<float> const memory(1 << 14);
    return calque::array_view(memory.data(), {static_cast<std::ptrdiff_t>(extents)...});
}

void add_traces(std::string const& what, calque::shape_policy shapes) {
    auto const vectors = [](auto const& f, std::size_t n) { f.prepare(array_of(n)); };
    auto const matrices = [](auto const& f, std::size_t n) { f.prepare(array_of(n, 8)); };
    add_new_shapes("x + 1" + what, shapes, plus_one, vectors);
    add_new_shapes("sum of a vector (example 002-1)" + what, shapes, total, vectors);
    add_new_shapes("sum of a matrix (example 001-2)" + what, shapes, total, matrices);
    add_new_shapes("x + y (example 001-3)" + what, shapes, plus,
                   [](auto const& f, std::size_t n) { f.prepare(array_of(n), array_of(n)); });
    add_new_shapes("softmax" + what, shapes, softmax, matrices);
    add_new_shapes("tanh(a*b+c)*sigmoid(a)-0.5c" + what, shapes, costly_chain,
                   [](auto const& f, std::size_t n) { f.prepare(array_of(n), array_of(n), array_of(n)); });
}

void add_train_step() {
    using digits::network, digits::zeros;
    auto const images = numbers(rows::extents{1500, digits::pixels}, 0);
    xt::xtensor<std::int32_t, 1> const labels = xt::zeros<std::int32_t>({1500});
    std::vector<std::int32_t> const batch(1024);
    auto const with_step = [=](auto use) {
        return [=, step = calque::function(digits::train_step, silent()), net = zeros(), mean = zeros(),
                variance = zeros()](std::size_t rows) mutable {
            use(step, net, mean, variance, calque::with_shape<calque::dim("rows"), digits::pixels>(images),
                calque::with_shape<calque::dim("rows")>(labels),
                calque::with_shape<calque::dim("batch")>(std::span<std::int32_t const>(batch.data(), rows)));
        };
    };
    rows::add("train step 64-128-10 of 64 rows, a hit", 1,
              [run = with_step([](auto& step, auto& net, auto& mean, auto& variance, auto const& images,
                                  auto const& labels, auto const& batch) {
                   float value = 0;
                   step.into(std::tie(net, mean, variance, value), net, mean, variance, 1.f, images, labels, batch);
               })]() mutable { run(64); });
    rows::add(
        "train step 64-128-10, a new shape", 1,
        [run = with_step([](auto& step, auto& net, auto& mean, auto& variance, auto const& images, auto const& labels,
                            auto const& batch) { step.prepare(net, mean, variance, 1.f, images, labels, batch); }),
         n = std::size_t(0)]() mutable {
            run(10 + n);
            n = n == 999 ? 0 : n + 1;
        });
}

} // namespace

int main(int argc, char** argv) {
    add_hits();
    add_traces(", a new shape", calque::shape_policy::exact);
    add_traces(", a new extent under dynamic", calque::shape_policy::dynamic);
    add_train_step();
    return rows::run(argc, argv);
}
