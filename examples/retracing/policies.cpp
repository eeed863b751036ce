// SPDX-License-Identifier: MIT
// Shapes, dtypes and objects that change from call to call: when that traces, what a policy or a signature makes of it,
// and the warning. Each program in two forms, the mistake and the remedy, beside what TensorFlow 2.21 did (measured).
//
// The program fails if an output is not TensorFlow's, or if a function traces more often than TensorFlow's.
#include "table.hpp"

#include <calque/calque.hpp>

#include <array>
#include <cmath>
#include <tuple>

namespace {

using calque::dyn;
using calque::function_options;
using calque::shape_policy;
using calque::signature;
using calque::spec;
using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

table results;

inline constexpr auto total = [](auto x) { return calque::sum(x); };
inline constexpr auto add = [](auto x, auto y) { return x + y; };

vector ones(std::size_t n) {
    return xt::ones<float>({n});
}

template <class F, class... X>
std::vector<double> outputs_of(F const& f, X const&... x) {
    return {static_cast<double>(f(x))...};
}

// ---- 001-2: variable shapes

void variable_shapes() {
    xt::xtensor<std::int64_t, 2> const two = {{1, 2}, {3, 4}};
    xt::xtensor<std::int64_t, 2> const three = {{1, 2, 3}, {4, 5, 6}};
    auto const as_written = calque::function(total);
    results.line("001-2 variable shapes", outputs_of(as_written, two, three), {10, 21}, as_written, 2, "2");
    auto const any_shape = calque::function(total, signature<spec<std::int64_t, dyn, dyn>>{});
    results.line("001-2 a signature", outputs_of(any_shape, two, three), {10, 21}, any_shape, 1, "1");
}

// ---- 001-3: numbers are values, not keys

void numbers() {
    auto const sum = calque::function(add);
    results.line("001-3 adding numbers", {sum(10.f, 5.f), sum(10.f, 15.f)}, {15, 25}, sum, 1, "1");
}

// ---- 002-1: variable-sized input

void variable_sizes() {
    vector const a = {1, 2, 3}, b = {1, 2, 3, 4, 5}, c = {1, 2};
    auto const as_written = calque::function(total);
    results.line("002-1 variable-sized input", outputs_of(as_written, a, b, c), {6, 15, 3}, as_written, 3, "3");
    auto const padded = calque::function(total);
    results.line("002-1 zero-padded to 5", outputs_of(padded, vector{1, 2, 3, 0, 0}, b, vector{1, 2, 0, 0, 0}),
                 {6, 15, 3}, padded, 1, "1");
    auto const any_length = calque::function(total, signature<spec<float, dyn>>{});
    results.line("002-1 a signature", outputs_of(any_length, a, b, c), {6, 15, 3}, any_length, 1, "1");
    auto const relaxed = calque::function(total, function_options{.shapes = shape_policy::relax});
    results.line("002-1 relax (reduce_retracing)", outputs_of(relaxed, a, b, c), {6, 15, 3}, relaxed, 2, "2");
    auto const bucketed = calque::function(total, function_options{.shapes = shape_policy::bucket, .buckets = {8}});
    results.line("002-1 a bucket up to 8", outputs_of(bucketed, a, b, c), {6, 15, 3}, bucketed, 1, "has none");
}

// ---- 002-2: a dtype that changes
//
// As written, `x + y` of an int32 and a float array: TensorFlow raises, calque does not compile
// (tests/compile_fail/mixed_dtypes.cpp).

inline constexpr auto add_as_floats = [](auto x, auto y) { return calque::cast<float>(x) + calque::cast<float>(y); };

void dtypes() {
    vector const two = {2.f};
    auto const inside = calque::function(add_as_floats);
    std::vector<double> outputs{inside(xt::xtensor<std::int32_t, 1>{1}, two)(0), inside(vector{1.f}, two)(0),
                                inside(xt::xtensor<std::int64_t, 1>{1}, two)(0)};
    results.line("002-2 cast inside the function", outputs, {3, 3, 3}, inside, 3, "3");
    auto const before = calque::function(add);
    outputs = {before(vector(xt::cast<float>(xt::xtensor<std::int32_t, 1>{1})), two)(0), before(vector{1.f}, two)(0),
               before(vector(xt::cast<float>(xt::xtensor<std::int64_t, 1>{1})), two)(0)};
    results.line("002-2 cast before the call", outputs, {3, 3, 3}, before, 1, "1");
}

// ---- 002-3: an object as an argument
//
// TensorFlow keys on the object's identity: two equal ones trace twice, and one that has changed gives a stale result.
// A struct of numbers is a value here: it never traces anew, and never goes stale.

struct data {
    int value;
};
inline constexpr auto double_value = [](auto d) { return d[&data::value] * 2; };

void objects() {
    auto const f = calque::function(double_value);
    data d1{10};
    data const d2{10};
    results.line("002-3 an object as an argument", outputs_of(f, d1, d2, d1), {20, 20, 20}, f, 1,
                 "2; with __hash__ and __eq__ 1");
    d1.value = 99;
    results.line("002-3 the object has changed", outputs_of(f, d1), {198}, f, 1, "1, and a stale 20");
    auto const of_tuple = calque::function([](auto t) { return std::get<0>(t) * 2; });
    results.line("002-3 a tuple", outputs_of(of_tuple, std::tuple{10}, std::tuple{10}), {20, 20}, of_tuple, 1, "1");
}

// ---- 004: a training step, a dense layer with Adam (rate 1e-3, beta 0.9 and 0.999, epsilon 1e-7)

template <class M>
struct dense {
    calque::leaf<M, float, 5, 10> kernel;
    calque::leaf<M, float, 10> bias;
};

inline constexpr auto loss = [](auto const& layer, auto x, auto labels) {
    auto z = calque::matmul(x, layer.kernel) + layer.bias;
    return calque::mean(calque::logsumexp<-1>(z) - calque::sum<-1>(z * calque::one_hot(labels, 10)));
};

/// `rate`: of this step, with the corrections of both moments in it.
inline constexpr auto train_step = [](auto layer, auto mean, auto variance, auto rate, auto x, auto labels) {
    auto [value, gradient] = calque::value_and_grad(loss)(layer, calque::cast<float>(x), labels);
    auto new_mean = calque::tree_map([](auto m, auto g) { return m * 0.9 + g * 0.1; }, mean, gradient);
    auto new_variance =
        calque::tree_map([](auto v, auto g) { return v * 0.999 + square(g) * 0.001; }, variance, gradient);
    auto new_layer = calque::tree_map([&](auto w, auto m, auto v) { return w - rate * m / (sqrt(v) + 1e-7); }, layer,
                                      new_mean, new_variance);
    return std::tuple{new_layer, new_mean, new_variance, value};
};

/// `sin(0.37 i + phase)`: the data of all runs, here and there.
template <class T, class... Extents>
auto waves(double phase, Extents... extents) {
    xt::xtensor<T, sizeof...(Extents)> a(
        std::array<std::size_t, sizeof...(Extents)>{static_cast<std::size_t>(extents)...});
    double i = 0;
    for (T& x : a) {
        x = static_cast<T>(static_cast<float>(std::sin(0.37 * i++ + phase)));
    }
    return a;
}

xt::xtensor<std::int32_t, 1> labels(std::size_t count, int phase) {
    xt::xtensor<std::int32_t, 1> y(std::array<std::size_t, 1>{count});
    for (std::size_t i = 0; i < count; ++i) {
        y(i) = (7 * static_cast<int>(i) + 3 * phase) % 10;
    }
    return y;
}

/// A model in training. `Step`: the traced step, however it was made.
template <class Step>
class training {
public:
    explicit training(Step step) : step_(std::move(step)) {
        layer_.kernel = waves<float>(1.0, 5, 10) * 0.3f;
        layer_.bias = xt::zeros<float>({10});
        mean_.kernel = variance_.kernel = xt::zeros<float>({5, 10});
        mean_.bias = variance_.bias = xt::zeros<float>({10});
    }

    /// Trains on the next batch and returns its loss; `T`: the dtype of the examples.
    template <class T = float>
    double next(std::size_t batch) {
        matrix_of<T> const x = waves<T>(calls_, batch, 5);
        auto const y = labels(batch, calls_);
        ++calls_;
        double const rate = 1e-3 * std::sqrt(1 - std::pow(0.999, calls_)) / (1 - std::pow(0.9, calls_));
        float value = 0;
        std::tie(layer_, mean_, variance_, value) = step_(layer_, mean_, variance_, static_cast<float>(rate), x, y);
        return static_cast<double>(value);
    }

    std::vector<double> losses(std::vector<std::size_t> const& batches) {
        std::vector<double> all;
        for (std::size_t const batch : batches) {
            all.push_back(next(batch));
        }
        return all;
    }

    std::uint64_t trace_count() const { return step_.trace_count(); }

private:
    template <class T>
    using matrix_of = xt::xtensor<T, 2>;

    Step step_;
    dense<calque::host> layer_, mean_, variance_;
    int calls_ = 0;
};

void batch_sizes() {
    std::vector<std::size_t> const batches{10, 20, 10, 30, 10, 20, 10, 30};
    std::vector<double> const losses{2.326907, 2.322044, 2.283832, 2.366987, 2.253348, 2.381416, 2.232231, 2.374594};
    training as_written(calque::function(train_step));
    auto outputs = as_written.losses(batches);
    results.line("004-1 dynamic batch sizes", outputs, losses, as_written, 3, "3; 4 with a lazy layer");

    training constant(calque::function(train_step));
    outputs = constant.losses({10, 10, 10, 10, 10, 10, 10, 10});
    results.line("004-1 constant batch", outputs,
                 {2.326907, 2.30864, 2.283837, 2.34778, 2.25285, 2.377983, 2.230708, 2.384299}, constant, 1, "1");

    training relaxed(calque::function(train_step, function_options{.shapes = shape_policy::relax}));
    outputs = relaxed.losses(batches);
    results.line("004-1 relax (reduce_retracing)", outputs, losses, relaxed, 2, "2");

    using layer = dense<calque::host>;
    training any_batch(
        calque::function(train_step, signature<layer, layer, layer, float, spec<float, calque::dim("batch"), 5>,
                                               spec<std::int32_t, calque::dim("batch")>>{}));
    outputs = any_batch.losses(batches);
    results.line("004-1 a signature", outputs, losses, any_batch, 1, "1");

    training distinct(calque::function(train_step, function_options{.max_warnings = 0}));
    outputs = distinct.losses({10, 11, 12, 13, 14, 15, 16, 17});
    results.line("004-1 eight batch sizes", outputs,
                 {2.326907, 2.310529, 2.283531, 2.364821, 2.238694, 2.386214, 2.218504, 2.388552}, distinct, 8,
                 "8, and 2 warnings");
}

void inconsistent_dtypes() {
    training mixed(calque::function(train_step));
    std::vector<double> outputs{mixed.next<float>(32), mixed.next<double>(32), mixed.next<float>(32)};
    results.line("004-2 float, then double", outputs, {2.301437, 2.335564, 2.260072}, mixed, 2,
                 "2; 3 with a lazy layer");
    training cast(calque::function(train_step));
    outputs = {cast.next<float>(32), cast.next<float>(32), cast.next<float>(32)};
    results.line("004-2 cast before the call", outputs, {2.301437, 2.335564, 2.260072}, cast, 1, "1");
}

// ---- the warning

/// Calls a function with `shapes` lengths, each `times` times; prints the traces and compares the warnings.
void warn(char const* example, std::size_t shapes, int times, function_options options, std::uint64_t most_traces,
          int expected, bool shows) {
    int warnings = 0;
    auto const before = calque::set_warning_sink([&](std::string_view message) {
        if (++warnings == 1 && shows) {
            std::printf("  %.*s\n", static_cast<int>(message.size()), message.data());
        }
    });
    options.name = "total";
    options.arguments = {"x"};
    auto const f = calque::function(total, options);
    std::vector<double> outputs;
    std::vector<double> lengths;
    for (std::size_t n = 1; n <= shapes; ++n) {
        for (int i = 0; i < times; ++i) {
            outputs.push_back(static_cast<double>(f(ones(n))));
            lengths.push_back(static_cast<double>(n));
        }
    }
    calque::set_warning_sink(before);
    bool const agree = outputs == lengths && warnings == expected && f.trace_count() <= most_traces;
    results.fail_unless(agree);
    std::printf("%-58s warnings: %-34d %2d   TensorFlow: %d, and %d warnings%s\n", example, warnings,
                static_cast<int>(f.trace_count()), static_cast<int>(most_traces), expected, agree ? "" : "   DIFFERS");
}

void warnings() {
    warn("warning: 12 shapes", 12, 1, {}, 12, 2, true);
    warn("warning: 11 shapes", 11, 1, {}, 11, 2, false);
    warn("warning: 11 shapes, relax", 11, 1, {.shapes = shape_policy::relax}, 2, 0, false);
    warn("warning: 5 shapes", 5, 1, {}, 5, 1, false);
    warn("warning: 4 shapes", 4, 1, {}, 4, 0, false);
    warn("warning: 6 shapes, each called 3 times", 6, 3, {}, 6, 2, false);
    warn("warning: 6 shapes, each called twice", 6, 2, {}, 6, 2, false);

    auto const of_numbers = calque::function([](auto x) { return x + 1; });
    std::vector<double> outputs, expected;
    for (int i = 0; i < 12; ++i) {
        outputs.push_back(of_numbers(i));
        expected.push_back(i + 1);
    }
    results.line("warning: 12 numbers", outputs, expected, of_numbers, 12, "12, and 2 warnings");
}

} // namespace

int main() {
    std::printf("%-58s %-44s traces\n", "example", "outputs");
    variable_shapes();
    numbers();
    variable_sizes();
    dtypes();
    objects();
    batch_sizes();
    inconsistent_dtypes();
    warnings();
    return results.is_good() ? 0 : 1;
}
