// SPDX-License-Identifier: MIT
// The batch rule of every operation: what vectorization makes of a function, against a loop that runs the function on
// one example after the other. Every choice of mapped arguments, one batch axis or two, empty batches too.
#include <calque/graph/compositions.hpp>
#include <calque/graph/contraction.hpp>
#include <calque/graph/running.hpp>
#include <calque/passes/differentiate.hpp>
#include <calque/passes/optimize.hpp>
#include <calque/passes/vectorize.hpp>

#include "run_graph.hpp"

#include <cstdint>

namespace {

using namespace calque::graph;
using calque::dtype;
using calque::dyn;
using calque::extent_t;
using calque::shape;
using tests::extents;
using tests::graph_function;
using tests::make;
using tests::sketch;

using values = std::vector<value> const&;

/// An argument of one example: its extents, and how to fill a batch of them.
struct parameter {
    shape extents;
    tensor (*fill)(shape const&, unsigned seed) = &tests::noise<double>;
};

tensor positive(shape const& s, unsigned seed) {
    tensor t = tests::noise<double>(s, seed);
    for (extent_t i = 0; i < t.size(); ++i) {
        t.as<double>()[i] = 1.5 + t.as<double>()[i];
    }
    return t;
}
template <class T>
tensor small_integers(shape const& s, unsigned seed) { // -8 to 7, or 0 to 15
    tensor const wide = tests::noise<std::int32_t>(s, seed);
    tensor t(calque::dtype_of<T>, s);
    for (extent_t i = 0; i < t.size(); ++i) {
        t.as<T>()[i] =
            static_cast<T>(std::is_signed_v<T> ? wide.as<std::int32_t>()[i] : wide.as<std::int32_t>()[i] + 8);
    }
    return t;
}

shape joined(shape const& outer, shape const& inner) {
    shape all = outer;
    for (int axis = 0; axis < inner.rank; ++axis) {
        all.push_back(inner[axis]);
    }
    return all;
}

/// Example `i` of a batch.
tensor example_of(tensor const& batch, shape const& extents, extent_t i) {
    return calque::with_type_of(
        batch.type, [&]<class T>() { return tensor::copy_of(extents, batch.as<T>() + i * extents.size()); });
}

/// The results of the examples, one after the other.
tensor stacked(std::vector<tensor> const& results, shape const& batch) {
    tensor all(results[0].type, joined(batch, results[0].extents));
    calque::with_type_of(all.type, [&]<class T>() {
        T* to = all.as<T>();
        for (extent_t i = 0; i < batch.size(); ++i) {
            tensor const& one = results[static_cast<std::size_t>(i)];
            to = std::copy(one.as<T>(), one.as<T>() + one.size(), to);
        }
    });
    return all;
}

/// `f` over the axes of a batch: each turn of the loop maps one axis more, from the innermost on.
value mapped(std::vector<value> const& arguments, unsigned mask, int axes, graph_function const& f) {
    if (axes == 0) {
        return f(arguments);
    }
    std::vector<value> batches = arguments, parts = arguments;
    std::vector<calque::passes::mapped_argument> pairs;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        if ((mask >> k & 1u) != 0) {
            if (!pairs.empty()) {
                batches[k] = apply<ops::same_batch>(0, batches[k], pairs[0].batch);
            }
            parts[k] = apply<ops::example>(0, batches[k]);
            pairs.push_back({batches[k], parts[k]});
        }
    }
    value result = mapped(parts, mask, axes - 1, f);
    calque::passes::vectorize(pairs.data(), static_cast<int>(pairs.size()), &result, 1);
    return result;
}

/// Whether a graph has what tracing emits for dynamic extents only: optimization takes for granted that none
/// broadcasts.
bool stretches_unseen(graph_view const& g) {
    for (node_id id = 0; id < g.node_count; ++id) {
        if (g.is<ops::sum_to>(id)) {
            return true;
        }
    }
    return false;
}

void check_batch(std::vector<parameter> const& parameters, unsigned mask, shape const& batch, graph_function const& f) {
    std::vector<tensor> arguments;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        bool const is_mapped = (mask >> k & 1u) != 0;
        arguments.push_back(parameters[k].fill(is_mapped ? joined(batch, parameters[k].extents) : parameters[k].extents,
                                               static_cast<unsigned>(k)));
    }
    for (extents const known : {extents::are_static, extents::are_dynamic}) {
        std::vector<tensor> results;
        for (extent_t i = 0; i < std::max<extent_t>(batch.size(), 1); ++i) { // of an empty batch the result's extents
            std::vector<tensor> one;
            for (std::size_t k = 0; k < parameters.size(); ++k) {
                bool const is_mapped = (mask >> k & 1u) != 0;
                one.push_back(!is_mapped          ? arguments[k]
                              : batch.size() == 0 ? parameters[k].fill(parameters[k].extents, 0)
                                                  : example_of(arguments[k], parameters[k].extents, i));
            }
            results.push_back(tests::run(one, known, f));
        }
        sketch s;
        tests::build(s, arguments, known, [&](values a) { return mapped(a, mask, batch.rank, f); });
        INFO(to_text(s.view()));
        CAPTURE(mask);
        tensor const expected = stacked(results, batch);
        tensor result;
        tests::interpreter::run(s.view(), arguments.data(), &result);
        CHECK(tests::difference(result, expected, {1e-12, 1e-14}) == "");
        builder optimized;
        calque::passes::optimize(s.view(), optimized);
        if (known == extents::are_static && !stretches_unseen(s.view())) {
            tests::interpreter::run(optimized.view(), arguments.data(), &result);
            CHECK(tests::difference(result, expected, {1e-12, 1e-14}) == "");
        }
    }
}

/// Checks `f` for every choice of mapped arguments, in batches of 0, 1 and 3 and of 2 times 3.
void check(std::vector<parameter> const& parameters, graph_function const& f) {
    for (unsigned mask = 1; mask < 1u << parameters.size(); ++mask) {
        for (shape const& batch : {shape{0}, shape{1}, shape{3}, shape{2, 3}}) {
            check_batch(parameters, mask, batch, f);
        }
    }
}

/// The gradient of a sum in which each element of `f` has a weight of its own, by argument `k`.
graph_function gradient_of(graph_function const& f, std::size_t k) {
    return [f, k](values a) {
        std::vector<value> fresh = a;
        fresh[k] = apply<ops::fresh>(0, a[k]);
        value const y = f(fresh);
        value weight = literal(y, 0.7);
        for (int axis = 0; axis < y.rank(); ++axis) {
            weight = weight + sin(iota_like(y, axis, y.type()) * (1.3 + axis));
        }
        value const loss = squeeze(sum(square(y) * weight, all_axes(y)), all_axes(y));
        value result;
        calque::passes::differentiate(loss, &fresh[k], 1, &result);
        return result;
    };
}

/// The same of a function, and of its gradients.
void check_with_gradients(std::vector<parameter> const& parameters, graph_function const& f) {
    check(parameters, f);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        if (parameters[k].fill(parameters[k].extents, 0).type == dtype::float64) {
            check(parameters, gradient_of(f, k));
        }
    }
}

template <class Op>
void check_unary() {
    INFO(Op::name);
    check_with_gradients({{{5}, &positive}}, [](values a) { return apply<Op>(0, a[0]); });
}

template <class Op>
void check_binary() {
    INFO(Op::name);
    graph_function const f = [](values a) { return apply<Op>(0, a[0], a[1]); };
    check_with_gradients({{{2, 3}, &positive}, {{2, 3}, &positive}}, f);
    check_with_gradients({{{3}, &positive}, {{2, 1}, &positive}}, f);
    check_with_gradients({{{2, 3, 2}, &positive}, {{2}, &positive}}, f);
    check_with_gradients({{{}, &positive}, {{3}, &positive}}, f);
}

std::uint64_t ranges(value v) {
    builder& b = *v.owner;
    return slice_lists{b.intern({0, -2, 1}), b.intern({1, to_the_end, 4}), b.intern({1, 1, 2})}.pack();
}

} // namespace

TEST_CASE("elementwise operations") {
    check_unary<ops::negative>();
    check_unary<ops::sqrt>();
    check_unary<ops::tanh>();
    check_unary<ops::relu>();
    check_unary<ops::fresh>();
    check_binary<ops::add>();
    check_binary<ops::multiply>();
    check_binary<ops::pow>();
    check_binary<ops::maximum>();
    check({{{2, 3}}, {{3}}, {{2, 1}}}, [](values a) { return where(a[0] > a[1], a[1], a[2]); });
    check({{{3}}}, [](values a) { return cast(cast(a[0] * 4, dtype::int32), dtype::float64); });
    check({{{2}}}, [](values a) { return stop_gradient(a[0]) * literal(a[0], 2); });
}

TEST_CASE("broadcasts") {
    check_with_gradients({{{1, 3}}}, [](values a) { return square(broadcast_to(a[0], {4, 2, 3})); });
    check_with_gradients({{{1, 3}}, {{2, 3}}}, [](values a) { return broadcast_like(a[0], a[1]) * a[1]; });
    check_with_gradients({{{3}}, {{2, 3}}}, [](values a) { return square(broadcast_like(a[0], a[1])); });
    check({{{2, 1}}, {{2, 3}}}, [](values a) { return apply<ops::sum_to>(0, square(a[1]), a[0]) * a[0]; });
    check({{{2, 3}}}, [](values a) {
        return apply<ops::assert_shape>(static_cast<std::uint64_t>(a[0].owner->intern({2, dyn})), a[0]);
    });
    check({{{2, 3}}}, [](values a) { return zero_of(a[0]); });
}

TEST_CASE("reductions") {
    for (axis_set axes = 1; axes < 8; ++axes) {
        check({{{2, 3, 2}}}, [&](values a) { return squeeze(sum(a[0], axes), axes); });
        check({{{2, 3, 2}}}, [&](values a) { return reduce_max(a[0], axes); });
        check_with_gradients({{{2, 3, 2}}}, [&](values a) { return mean(a[0] * a[0], axes); });
    }
    check_with_gradients({{{3, 4}}}, [](values a) { return softmax(a[0], 2); });
    check_with_gradients({{{3, 4}}}, [](values a) { return logsumexp(a[0], 1); });
    check({{{3, 4}}}, [](values a) { return squeeze(argmax(a[0], 1), 2); });
    check({{{0, 2}}}, [](values a) { return sum(a[0], 1); });
}

TEST_CASE("products") {
    graph_function const f = [](values a) { return matmul(a[0], a[1]); };
    check_with_gradients({{{2, 3}}, {{3, 4}}}, f);
    check_with_gradients({{{3}}, {{3, 4}}}, f);
    check_with_gradients({{{2, 3}}, {{3}}}, f);
    check_with_gradients({{{3}}, {{3}}}, f);
    check_with_gradients({{{2, 1}}, {{1, 4}}}, f);
    check_with_gradients({{{1, 3}}, {{3, 1}}}, f);
    check({{{2, 0}}, {{0, 4}}}, f);
    check({{{2, 3}}}, [](values a) { return matmul(a[0], transpose(a[0])); });
    check_with_gradients({{{2, 2, 3}}, {{2, 3, 2}}}, [](values a) { return matmul_each(a[0], a[1]); });
}

TEST_CASE("views") {
    check_with_gradients({{{2, 3, 4}}}, [](values a) { return reshape(a[0], {6, dyn}); });
    check_with_gradients({{{2, 3}}, {{6}}}, [](values a) { return reshape_like(a[0], a[1]) * a[1]; });
    check_with_gradients({{{2, 3, 4}}}, [](values a) { return merge_axes(a[0], 1); });
    check_with_gradients({{{2, 3, 4}}}, [](values a) { return transpose(a[0], 0x102); });
    check_with_gradients({{{2, 3, 4}}}, [](values a) { return transpose(a[0], 0x021); });
    check_with_gradients({{{2, 3}}}, [](values a) { return expand_dims(a[0], 0b01001); });
    check_with_gradients({{{1, 2, 1}}}, [](values a) { return squeeze(a[0], 0b101); });
    check_with_gradients({{{2, 3, 4}}}, [](values a) { return slice(a[0], ranges(a[0])); });
}

TEST_CASE("movements") {
    check({{{1, 2, 2}}, {{2, 3, 4}}}, [](values a) { return slice_adjoint(a[0], a[1], ranges(a[0])) * a[1]; });
    check_with_gradients({{{2, 3}}, {{2, 1}}}, [](values a) { return concatenate(a.data(), 2, 1); });
    check_with_gradients({{{3}}}, [](values a) {
        value const parts[] = {a[0], square(a[0]), literal(a[0], 1) + zero_of(a[0]) * a[0]};
        return concatenate(parts, 3, 0);
    });
    check({{{2, 3, 4}}}, [](values a) { return iota_like(a[0], 1, dtype::float64) + element_count(a[0], 6); });
    check({{{3}, &small_integers<std::int32_t>}}, [](values a) { return one_hot(a[0], 5, dtype::float64); });
    check({{{3}, &small_integers<std::int32_t>}, {{2, 5}}},
          [](values a) { return one_hot_like(a[0], a[1], a[1].rank() - 1, dtype::float64); });
}

TEST_CASE("taking elements, at the same positions of all examples and at positions of their own") {
    for (std::uint64_t axis = 0; axis < 3; ++axis) {
        graph_function const f = [axis](values a) { return take(a[0], a[1], axis); };
        check_with_gradients({{{2, 3, 4}}, {{2, 2}, &small_integers<std::int32_t>}}, f);
        check_with_gradients({{{2, 3, 4}}, {{}, &small_integers<std::int64_t>}}, f);
        check_with_gradients({{{2, 3, 4}}, {{5}, &small_integers<std::uint8_t>}}, f);
    }
    check({{{3}, &small_integers<std::uint64_t>}, {{4}, &small_integers<std::uint64_t>}},
          [](values a) { return take(a[0], a[1] - 2, 0); }); // some far beyond int64
    check({{{2, 2, 4}}, {{2}, &small_integers<std::int32_t>}, {{2, 3, 4}}},
          [](values a) { return take_adjoint(a[0], a[1], a[2], 1) * a[2]; });
}

TEST_CASE("along an axis in order, and elements in other places") {
    for (int axis = 0; axis < 2; ++axis) {
        check_with_gradients({{{3, 4}}}, [=](values a) { return cumulative_product(a[0], axis); });
        check_with_gradients({{{3, 4}}}, [=](values a) { return cumulative_sum(a[0], axis); });
        check_with_gradients({{{3, 4}}}, [=](values a) { return sort(a[0], axis); });
        check({{{3, 4}}}, [=](values a) { return argmin(a[0], axis); });
    }
    check_with_gradients({{{2, 3}}, {{2, 3}}},
                         [](values a) { return recurrence(a[0], a[1], ops::running_order{1, true, true}.pack()); });
    check({{{3, 4}}}, [](values a) { return apply<ops::sort_order>(ops::sort_order::pack(true, -1), a[0]); });
    for (axis_set const axes : {1u, 2u, 3u}) {
        check_with_gradients({{{2, 3}}}, [=](values a) { return reduce_product(a[0], axes); });
        check_with_gradients({{{2, 3}, &positive}}, [=](values a) { return variance(a[0], axes); });
        check_with_gradients({{{2, 3}}}, [=](values a) { return flip(a[0], axes); });
        check({{{2, 3}, &small_integers<std::int8_t>}}, [=](values a) { return any(a[0] == 1, axes); });
        check({{{2, 3}, &small_integers<std::int8_t>}}, [=](values a) { return all(a[0], axes); });
    }
    check_with_gradients({{{2, 6}}}, [](values a) { return split_axis(a[0], 1, 3); });
    check_with_gradients({{{3, 4}}}, [](values a) { return roll(a[0], 1, -1); });
    check({{{5}}, {{}, &small_integers<std::int64_t>}}, [](values a) { return roll(a[0], 0, a[1]); });
    check({{{3, 4}}, {{}, &small_integers<std::int64_t>}}, [](values a) { return roll(a[0], 1, a[1]); });
    check_with_gradients({{{3, 2}}, {{}}}, [](values a) { return pad_axis(a[0], 0, 1, 2, a[1]); });
    check_with_gradients({{{3, 4}}, {{3, 2}, &small_integers<std::int32_t>}},
                         [](values a) { return take_along_broadcast(a[0], a[1], 1); });
    check_with_gradients({{{3, 4}}, {{2}}},
                         [](values a) { return set_part(a[0], a[1], range_of_axis(a[0], 1, 1, 3), 0); });
    check({{{3}, &small_integers<std::int16_t>}}, [](values a) {
        auto const list = static_cast<std::uint64_t>(a[0].owner->intern({7, 8, 9}));
        return a[0] * apply<ops::literal_elements>(list, zero_of(a[0]));
    });
}

TEST_CASE("products over labelled axes") {
    check_with_gradients({{{2, 2, 3}}, {{3, 2}}}, [](values a) { return matmul_broadcast(a[0], a[1]); });
    check_with_gradients({{{2, 2, 3}}, {{1, 3, 2}}}, [](values a) { return matmul_broadcast(a[0], a[1]); });
    check_with_gradients({{{2, 3}}, {{3, 2}}}, [](values a) { // ij,ji->i
        labelled const terms[] = {{a[0], {0, 1}}, {a[1], {1, 0}}};
        int const output[] = {0};
        return contract_all(terms, 2, output, 1);
    });
}

TEST_CASE("rows by their numbers") { // of which many are the numbers of no row
    check_with_gradients({{{4, 3}}, {{5}, &small_integers<std::int32_t>}},
                         [](values a) { return gather_rows(a[0], a[1]); });
    check_with_gradients({{{4}}, {{2, 2}, &small_integers<std::uint64_t>}},
                         [](values a) { return gather_rows(a[0], a[1]); });
    check_with_gradients({{{5, 2}}, {{5}, &small_integers<std::int64_t>}, {{4, 2}}},
                         [](values a) { return segment_sum(a[0], a[1], a[2]) * a[2]; });
    check_with_gradients({{{2, 3}}, {{2, 3}, &small_integers<std::int8_t>}, {{4}}},
                         [](values a) { return segment_sum(a[0], a[1], a[2]) * a[2]; });
    for (auto const fold : {&segment_max, &segment_min}) {
        check({{{5, 2}}, {{5}, &small_integers<std::int32_t>}, {{4, 2}}},
              [&](values a) { return fold(a[0], a[1], a[2]); });
    }
    check({{{4}, &small_integers<std::int64_t>}, {{6}}}, [](values a) { return row_numbers(a[0], a[1]); });
}

TEST_CASE("what a network is made of, and its gradients") {
    check_with_gradients({{{3}}, {{3, 5}}, {{5}}, {{}, &small_integers<std::uint8_t>}}, [](values a) {
        value const h = apply<ops::tanh>(0, matmul(a[0], a[1]) + a[2]);
        return -squeeze(sum(one_hot(a[3], 5, dtype::float64) * log_softmax(h, 1), 1), 1);
    });
}

TEST_CASE("the graph of a batch is that of the operations on whole arrays") {
    sketch s;
    value const x = s.argument({4, 3}), w = s.argument({3, 5});
    value const part = apply<ops::example>(0, x);
    value y = apply<ops::tanh>(0, matmul(part, w));
    calque::passes::mapped_argument const argument{x, part};
    calque::passes::vectorize(&argument, 1, &y, 1);
    s.add_output(y.id);
    builder optimized;
    calque::passes::optimize(s.view(), optimized);
    CHECK(to_text(optimized.view()) == "%0 = argument 0 float[4,3]\n%1 = argument 1 float[3,5]\n"
                                       "%2 = matmul(%0, %1) float[4,5]\n%3 = tanh(%2) float[4,5]\nreturn %3\n");
}

TEST_CASE("batches that differ, and what has no batch rule") {
    sketch s;
    value const x = s.argument({4, 3}), y = s.argument({5, 3});
    apply<ops::same_batch>(0, x, y);
    CHECK(s.error().why == reason::batches_differ);

    std::vector<tensor> const arguments = {tests::noise<double>({4, 3}, 1), tests::noise<double>({1, 3}, 2)};
    CHECK_THROWS_WITH_AS(tests::run(arguments, extents::are_dynamic,
                                    [](values a) { return mapped(a, 3, 1, [](values b) { return b[0] * b[1]; }); }),
                         "same_batch: the mapped axes have different extents: double[1,3] and double[4,3]",
                         calque::shape_error const&);
}
