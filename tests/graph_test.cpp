// SPDX-License-Identifier: MIT
// The builder (value numbering, dtypes, shapes, failures), copies, printing and shape inference. What constant
// evaluation can check passes by compiling.
#include <calque/graph/compositions.hpp>
#include <calque/graph/copy.hpp>
#include <calque/graph/print.hpp>
#include <calque/graph/shape_inference.hpp>
#include <calque/passes/fold.hpp>
#include <doctest/doctest.h>

#include "sketch.hpp"

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace calque::graph;
using calque::dim;
using calque::dtype;
using calque::dyn;
using calque::shape;
using tests::sketch;

constexpr calque::extent_t batch = dim("batch");

// ---- value numbering

static_assert([] {
    sketch s;
    value const x = s.argument({batch, 4});
    value const y = s.argument({batch, 4});
    value const sum = x + y;
    int const count = s.node_count();
    return (x + y).id == sum.id && s.node_count() == count && (y + x).id != sum.id && (x - y).id != sum.id;
}());
static_assert([] { // constants are equal by their bits
    sketch s;
    value const x = s.argument({});
    auto const nan = std::numeric_limits<float>::quiet_NaN();
    return literal(x, 1).id == literal(x, 1.0).id && literal(x, 0.0).id != literal(x, -0.0).id &&
           literal(x, nan).id == literal(x, nan).id && literal(x, 1).id != literal(cast(x, dtype::float64), 1).id;
}());
static_assert([] { // attributes are part of a value, and so is being fresh
    sketch s;
    value const x = s.argument({3, 4});
    return sum(x, 1).id != sum(x, 2).id && sum(x, 1).id == sum(x, 1).id &&
           apply<ops::fresh>(0, x).id != apply<ops::fresh>(0, x).id;
}());
static_assert([] { // thousands of nodes: the tables grow
    sketch s;
    value const x = s.argument({dyn});
    value y = x;
    for (int i = 0; i < 3000; ++i) {
        y = y + x;
    }
    int const count = s.node_count();
    value z = x;
    for (int i = 0; i < 3000; ++i) {
        z = z + x;
    }
    return count == 3001 && s.node_count() == count && z.id == y.id;
}());
static_assert([] { // a node of a region is found from inside it only
    sketch s;
    value const x = s.argument({4});
    value const before = exp(x);
    s.enter_region();
    value const inside = log(x);
    bool const finds_outer = exp(x).id == before.id;
    bool const finds_own = log(x).id == inside.id;
    s.leave_region();
    bool const is_new = log(x).id != inside.id;
    return finds_outer && finds_own && is_new && s.error().why == reason::none;
}());
static_assert([] {
    sketch s;
    value const x = s.argument({4});
    s.enter_region();
    value const inside = exp(x);
    s.leave_region();
    (void)(inside + x);
    return s.error().why == reason::escapes_its_region;
}());

// ---- constants that are cast

template <class From, class To>
constexpr bool casts(From x, To y) {
    std::uint64_t bits = 0;
    return calque::passes::fold_cast(calque::dtype_of<From>, calque::dtype_of<To>, to_bits(x), bits) &&
           bits == to_bits(y);
}
static_assert(casts(-3.5f, std::int8_t{-3}) && casts(3.5, std::uint16_t{3}) && casts(0.1f, double{0.1f}));
static_assert(casts(std::int8_t{-1}, std::uint64_t{~0ull}) && casts(std::int32_t{-1}, std::uint16_t{0xffff}));
static_assert(casts(std::int64_t{300}, std::int8_t{44}) && casts(std::uint8_t{255}, std::int8_t{-1}));
static_assert(casts(std::int64_t{-7}, -7.f) && casts(std::uint64_t{1} << 63, 0x1p63) && casts(true, 1.f));
static_assert(casts(-0.0, false) && casts(std::numeric_limits<float>::quiet_NaN(), true) && casts(2, true));
static_assert(casts(false, std::int32_t{0}) && casts(true, true) && casts(std::int32_t{-5}, std::int64_t{-5}));
static_assert(!casts(1000.f, std::int32_t{1000}) && !casts(std::numeric_limits<double>::infinity(), 0.f));

// ---- shapes of the trace

constexpr bool broadcasts_to(shape const& a, shape const& b, shape const& joined) {
    sketch s;
    value const x = s.argument(a);
    value const y = s.argument(b);
    return s.shape_of(x + y) == joined && s.shape_of(y + x) == joined && s.error().why == reason::none;
}
static_assert(broadcasts_to({}, {2, 3}, {2, 3}));
static_assert(broadcasts_to({3}, {2, 3}, {2, 3}));
static_assert(broadcasts_to({2, 1}, {1, 3}, {2, 3}));
static_assert(broadcasts_to({0}, {1}, {0}));
static_assert(broadcasts_to({batch, 10}, {10}, {batch, 10}));
static_assert(broadcasts_to({batch, 10}, {dyn, 10}, {batch, 10}));
static_assert(broadcasts_to({dyn}, {784}, {784}));
static_assert(broadcasts_to({batch}, {784}, {784}));
static_assert(broadcasts_to({1}, {dyn}, {dyn}));

constexpr reason failure_of_sum(shape const& a, shape const& b) {
    sketch s;
    value const x = s.argument(a);
    value const y = s.argument(b);
    (void)(x + y);
    return s.error().why;
}
static_assert(failure_of_sum({2}, {3}) == reason::extents_do_not_broadcast);
static_assert(failure_of_sum({0}, {2}) == reason::extents_do_not_broadcast);
static_assert(failure_of_sum({batch}, {dim("rows")}) == reason::extents_do_not_broadcast);

static_assert([] {
    sketch s;
    value const x = s.argument({batch, 784});
    value const w = s.argument({784, 10});
    shape const product = s.shape_of(matmul(x, w));
    shape const vector = s.shape_of(matmul(s.argument({784}), w));
    shape const dot = s.shape_of(matmul(s.argument({784}), s.argument({dyn})));
    return product == shape{batch, 10} && vector == shape{10} && dot == shape{} && s.error().why == reason::none;
}());
static_assert([] {
    sketch s;
    value const x = s.argument({2, 3, 4});
    bool right = s.shape_of(sum(x, 0b101)) == shape{1, 3, 1};
    right &= s.shape_of(squeeze(sum(x, 0b101), 0b101)) == shape{3};
    right &= s.shape_of(expand_dims(x, 0b10001)) == shape{1, 2, 3, 4, 1};
    right &= s.shape_of(transpose(x)) == shape{4, 3, 2};
    right &= s.shape_of(transpose(x, 0x102)) == shape{4, 2, 3};
    right &= s.shape_of(reshape(x, {6, dyn})) == shape{6, 4};
    right &= s.shape_of(broadcast_to(x, {5, 2, dyn, 4})) == shape{5, 2, 3, 4};
    right &= s.shape_of(iota_like(x, 1, dtype::int32)) == shape{1, 3, 1};
    right &= s.shape_of(take(x, s.argument({5, 6}, dtype::int32), 1)) == shape{2, 5, 6, 4};
    return right && s.error().why == reason::none;
}());
static_assert([] {
    sketch s;
    value const x = s.argument({batch, 3});
    value const parts[] = {x, s.argument({dyn, 4}), s.argument({batch, 5})};
    return s.shape_of(concatenate(parts, 3, 1)) == shape{batch, 12} && s.error().why == reason::none;
}());
static_assert([] {
    sketch s;
    value const x = s.argument({10, dyn});
    slice_lists const lists{s.intern({2, 0}), s.intern({-1, to_the_end}), s.intern({3, 1})};
    return s.shape_of(slice(x, lists.pack())) == shape{3, dyn};
}());

/// The first failure of a graph that `make` builds on two arguments.
constexpr failure failure_of(shape const& a, shape const& b, auto make) {
    sketch s;
    value const x = s.argument(a);
    value const y = s.argument(b, dtype::float64);
    make(x, y);
    return s.error();
}
static_assert(failure_of({2, 3}, {}, [](value x, value) { (void)matmul(x, x); }).why == reason::inner_extents_differ);
static_assert(failure_of({2, 3, 4}, {}, [](value x, value) { (void)matmul(x, x); }).why == reason::matrices_needed);
static_assert(failure_of({2, 3}, {}, [](value x, value) { (void)squeeze(x, 1); }).why == reason::extent_not_one);
static_assert(failure_of({2, 3}, {}, [](value x, value) { (void)reshape(x, {5}); }).why == reason::sizes_differ);
static_assert(failure_of({INT32_MAX}, {1}, [](value x, value) { (void)argmax(x, 0); }).why == reason::none);
static_assert(failure_of({INT32_MAX + 1ll}, {1}, [](value x, value) { (void)argmax(x, 0); }).why ==
              reason::too_many_elements);
static_assert(failure_of({1}, {INT32_MAX + 1ll}, [](value, value y) { (void)argmin(y, 0); }).why == reason::none);
static_assert(failure_of({dyn}, {}, [](value x, value) { (void)reshape(x, {dyn, dyn}); }).why ==
              reason::extent_unknown);
static_assert(failure_of({2, 0}, {}, [](value x, value) { (void)reduce_max(x, 2); }).why == reason::empty_reduction);
static_assert(failure_of({2, 0}, {}, [](value x, value) { (void)sum(x, 2); }).why == reason::none);
static_assert(failure_of({2, 3}, {}, [](value x, value) { (void)broadcast_to(x, {3}); }).why ==
              reason::extents_do_not_broadcast);
static_assert(failure_of({2, 3}, {2, 4}, [](value x, value y) {
                  value const parts[] = {x, y};
                  (void)concatenate(parts, 2, 0);
              }).why == reason::extents_differ);
static_assert([] { // the first failure stays, with its operands
    failure const f = failure_of({2, 3}, {4, 5}, [](value x, value y) {
        (void)matmul(y, x);
        (void)reshape(x, {7});
    });
    return f.why == reason::inner_extents_differ && f.op == code_of<ops::matmul> && f.operands == 2 &&
           f.types[0] == dtype::float64 && f.types[1] == dtype::float32 && f.shapes[0] == shape{4, 5} &&
           f.shapes[1] == shape{2, 3};
}());

// ---- dtypes

static_assert([] {
    sketch s;
    value const x = s.argument({4}, dtype::int16);
    return (x + x).type() == dtype::int16 && (x < x).type() == dtype::bool_ &&
           where(x < x, x, x).type() == dtype::int16 && cast(x, dtype::float64).type() == dtype::float64 &&
           cast(x, dtype::int16).id == x.id && iota_like(x, 0, dtype::int64).type() == dtype::int64;
}());

// ---- copies

constexpr void build_layer(sketch& s) {
    value const x = s.argument({batch, 784});
    value const w = s.argument({784, 10});
    value const h = matmul(x, w) * 0.5;
    value const part = slice(h, slice_lists{s.intern({0, 2}), s.intern({3, to_the_end}), s.intern({1, 4})}.pack());
    s.add_output(squeeze(sum(h, 2), 2).id);
    s.add_output(transpose(part).id);
    s.add_output(broadcast_to(x, {2, dyn, 784}).id);
}

constexpr bool same(graph_view const& a, graph_view const& b) {
    calque::text s, t;
    print(a, s);
    print(b, t);
    return s.view() == t.view();
}

static_assert([] { // into a graph whose lists have other indices
    sketch from;
    build_layer(from);
    sketch to;
    for (calque::extent_t e = 0; e < 40; ++e) {
        to.intern({e, e});
    }
    node_map map(from.view(), to);
    for (node_id id = 0; id < from.node_count(); ++id) {
        map.copy(id);
    }
    map.copy_outputs();
    int const count = to.node_count();
    node_map again(from.view(), to);
    again.copy_with_inputs(from.node_count() - 1);
    return same(from.view(), to.view()) && to.node_count() == count && again[from.node_count() - 1] == count - 1;
}());
static_assert([] {
    constexpr auto make = [] {
        sketch s;
        build_layer(s);
        return s.size();
    };
    constexpr graph_size size = make();
    sketch s;
    build_layer(s);
    auto const frozen = freeze<size>(s);
    return same(s.view(), frozen.view());
}());

// ---- printing

template <class T>
constexpr bool prints(T number, std::string_view expected) {
    calque::text out;
    append_number(out, number);
    return out.view() == expected;
}
static_assert(prints(0.5, "0.5") && prints(0.1f, "0.1") && prints(0.1, "0.1") && prints(1.0 / 3, "0.3333333333333333"));
static_assert(prints(0.0, "0") && prints(-0.0, "-0") && prints(-2.5f, "-2.5") && prints(100.0, "100"));
static_assert(prints(1e15, "1000000000000000") && prints(1e16, "1e16") && prints(1.5e-7, "1.5e-7"));
static_assert(prints(0.0001, "0.0001") && prints(0.00001, "1e-5") && prints(123.456, "123.456"));
static_assert(prints(5e-324, "5e-324") && prints(1.7976931348623157e308, "1.7976931348623157e308"));
static_assert(prints(3.4028235e38f, "3.4028235e38") && prints(1e-45f, "1e-45"));
static_assert(prints(std::numeric_limits<double>::infinity(), "inf") &&
              prints(-std::numeric_limits<float>::infinity(), "-inf") &&
              prints(std::numeric_limits<double>::quiet_NaN(), "nan"));
static_assert(prints(true, "true") && prints(std::int8_t{-128}, "-128") &&
              prints(std::numeric_limits<std::uint64_t>::max(), "18446744073709551615"));

static_assert([] {
    sketch s;
    build_layer(s);
    calque::text out;
    print(s.view(), out);
    return out.view() == "%0 = argument 0 float[batch,784]\n"
                         "%1 = argument 1 float[784,10]\n"
                         "%2 = matmul(%0, %1) float[batch,10]\n"
                         "%3 = constant 0.5 float[]\n"
                         "%4 = multiply(%2, %3) float[batch,10]\n"
                         "%5 = slice(%4) [:3,2::4] float[dyn,2]\n"
                         "%6 = sum(%4) axes=[1] float[batch,1]\n"
                         "%7 = squeeze(%6) axes=[1] float[batch]\n"
                         "%8 = transpose(%5) axes=[1,0] float[2,dyn]\n"
                         "%9 = broadcast_to(%0) to=[2,dyn,784] float[2,batch,784]\n"
                         "return %7, %8, %9\n";
}());

// ---- shapes of a call

/// The concrete shape of the last node, or nothing that it could have.
constexpr shape shape_of_call(graph_view const& g, std::initializer_list<shape> arguments) {
    calque::sequence<shape> result(g.node_count);
    inference_failure failure;
    return infer_shapes(g, arguments.begin(), result.data(), failure) ? result.back() : shape{-7};
}
static_assert([] {
    sketch s;
    value const x = s.argument({batch, dyn});
    value const w = s.argument({dyn, 10});
    (void)broadcast_to(matmul(x, w) + s.argument({dyn}), {3, dyn, dyn});
    return shape_of_call(s.view(), {{64, 784}, {784, 10}, {10}}) == shape{3, 64, 10} &&
           shape_of_call(s.view(), {{64, 784}, {784, 10}, {1}}) == shape{3, 64, 10} &&
           shape_of_call(s.view(), {{0, 0}, {0, 10}, {10}}) == shape{3, 0, 10} &&
           shape_of_call(s.view(), {{64, 784}, {784, 10}, {9}}) == shape{-7};
}());

// ---- extents that are equal in every call

/// The input that the last node has its shape from for certain; -1: none.
constexpr int equal_input(sketch const& s) {
    graph_view const g = s.view();
    return extent_symbols(g).equal_inputs()[g.node_count - 1];
}
static_assert([] { // what is made of one array has its shape
    sketch s;
    value const x = s.argument({dyn, dyn});
    value const y = sum(x, 1u << 1);
    value const centred = x - y;
    bool const first = equal_input(s) == x.id && !is_ambiguous(s.view());
    (void)(exp(centred) * x);
    return first && equal_input(s) >= 0 && !is_ambiguous(s.view());
}());
static_assert([] { // two dynamic extents may or may not be equal, and what they make has neither's shape for certain
    sketch s;
    value const x = s.argument({dyn});
    value const y = s.argument({dyn});
    value const z = x + y;
    bool const first = equal_input(s) == -1 && is_ambiguous(s.view());
    (void)exp(z);
    bool const second = equal_input(s) == z.id;
    (void)(z * x);
    return first && second && equal_input(s) == -1;
}());
static_assert([] { // a dynamic extent that meets a static one must be it, or 1: which is for the call to check
    sketch s;
    (void)(s.argument({5}) + s.argument({dyn}));
    return equal_input(s) == -1 && is_ambiguous(s.view());
}());
static_assert([] { // names are equal wherever they stand
    sketch s;
    value const x = s.argument({batch, 4});
    (void)(x + s.argument({batch, 4}));
    return equal_input(s) == x.id && !is_ambiguous(s.view());
}());
static_assert([] { // stretched to the extents of another array, which may be its own
    sketch s;
    value const x = s.argument({dyn});
    value const y = s.argument({dyn});
    (void)broadcast_like(x, exp(x));
    bool const own = is_ambiguous(s.view());
    (void)broadcast_like(x, y);
    return !own && is_ambiguous(s.view());
}());

/// Why a call of the graph that `make` builds fails.
std::string complaint(std::vector<shape> const& declared, std::vector<shape> const& concrete, auto make) {
    sketch s;
    std::vector<value> arguments;
    for (shape const& a : declared) {
        arguments.push_back(s.argument(a));
    }
    make(arguments);
    REQUIRE(s.error().why == reason::none);
    std::vector<shape> result(static_cast<std::size_t>(s.node_count()));
    inference_failure failure;
    return infer_shapes(s.view(), concrete.data(), result.data(), failure) ? "none"
                                                                           : describe(s.view(), result.data(), failure);
}

auto const product = [](std::vector<value> const& a) { (void)matmul(a[0], a[1]); };
auto const plus = [](std::vector<value> const& a) { (void)(a[0] + a[1]); };

} // namespace

TEST_CASE("a call whose shapes do not fit is told where, with the shapes of the call") {
    CHECK(complaint({{dyn, dyn}, {dyn, 10}}, {{64, 784}, {100, 10}}, product) ==
          "matmul: the inner extents differ: float[64,784] and float[100,10]");
    CHECK(complaint({{dyn}, {dyn}}, {{2}, {3}}, plus) == "add: the extents do not broadcast: float[2] and float[3]");
    CHECK(complaint({{dyn}, {dyn}}, {{2}, {1}}, plus) == "none");
    CHECK(complaint({{dyn}, {3}}, {{3}, {3}}, plus) == "none");
    CHECK(complaint({{dyn}, {3}}, {{2}, {3}}, plus) == "add: the extents do not broadcast: float[2] and float[3]");
    CHECK(complaint({{dyn, 4}, {dyn, 5}, {dyn, 6}}, {{2, 4}, {2, 5}, {3, 6}}, [](std::vector<value> const& a) {
              (void)concatenate(a.data(), 3, 1);
          }) == "concatenate: the extents differ: float[2,4], float[2,5] and float[3,6]");
    CHECK(complaint({{dyn}}, {{4}}, [](std::vector<value> const& a) { (void)broadcast_to(a[0], {2, 3}); }) ==
          "broadcast_to: the extents do not broadcast: float[4] to [2,3]");
    CHECK(complaint({{dyn}}, {{0}}, [](std::vector<value> const& a) { (void)reduce_max(a[0], 1); }) ==
          "max: it has no value over an empty axis: float[0]");
}

TEST_CASE("a named extent of 1 does not broadcast, and the message says so") {
    CHECK(complaint({{batch}, {dyn}}, {{4}, {1}}, plus) == "none");
    CHECK(complaint({{batch}, {dyn}}, {{1}, {4}}, plus) ==
          "add: the extents do not broadcast: float[1] and float[4] (batch is 1 here, and an extent with a name does "
          "not broadcast)");
    CHECK(complaint({{batch}, {batch}}, {{1}, {1}}, plus) == "none");
}

TEST_CASE("extents get what they declare, equal names equal extents") {
    CHECK(complaint({{3, dyn}, {}}, {{4, 5}, {}}, plus) == "argument 0: it is float[4,5], declared float[3,dyn]");
    CHECK(complaint({{batch, 2}, {batch, 2}}, {{4, 2}, {5, 2}}, plus) ==
          "argument 1: it is float[5,2], declared float[batch,2] with batch = 4");
    CHECK(complaint({{dyn, 2}, {}}, {{4}, {}}, plus) == "argument 0: it is float[4], declared float[dyn,2]");
    auto const assert_equal = [](std::vector<value> const& a) {
        value const v = apply<ops::assert_shape>(static_cast<std::uint64_t>(a[0].owner->intern({batch})), a[0]);
        (void)(v + a[1]);
    };
    CHECK(complaint({{dyn}, {batch}}, {{4}, {4}}, assert_equal) == "none");
    CHECK(complaint({{dyn}, {batch}}, {{5}, {4}}, assert_equal) ==
          "assert_shape: the shape is not the asserted one: float[5], asserted [batch]");
    CHECK(complaint({{dyn}, {}}, {{5}, {}}, [](std::vector<value> const& a) {
              (void)apply<ops::assert_shape>(static_cast<std::uint64_t>(a[0].owner->intern({4})), a[0]);
          }) == "assert_shape: the shape is not the asserted one: float[5], asserted [4]");
}

TEST_CASE("more inputs and names than fit on the stack") {
    std::vector<shape> declared, concrete;
    for (int i = 0; i < 40; ++i) {
        declared.push_back({dim("n" + std::to_string(i)), 2});
        concrete.push_back({i, 2});
    }
    auto const join = [](std::vector<value> const& a) { (void)concatenate(a.data(), 40, 0); };
    CHECK(complaint(declared, concrete, join) == "none");
    declared.push_back({dim("n39")});
    concrete.push_back({40});
    CHECK(complaint(declared, concrete, join) == "argument 40: it is float[40], declared float[n39] with n39 = 39");
}

TEST_CASE("a graph is drawn for Graphviz") {
    sketch s;
    value const x = s.argument({dyn});
    value const twice = x * 2;
    s.add_output(broadcast_like(twice, s.argument({4, dyn})).id);
    CHECK(to_dot(s.view()) == "digraph calque {\n"
                              "    node [shape=box, fontname=monospace];\n"
                              "    n0 [label=\"argument 0\\nfloat[dyn]\"];\n"
                              "    n1 [label=\"constant 2\\nfloat[]\"];\n"
                              "    n2 [label=\"multiply\\nfloat[dyn]\"];\n"
                              "    n0 -> n2;\n"
                              "    n1 -> n2;\n"
                              "    n3 [label=\"argument 1\\nfloat[4,dyn]\"];\n"
                              "    n4 [label=\"broadcast_like\\nfloat[4,dyn]\"];\n"
                              "    n2 -> n4;\n"
                              "    n3 -> n4 [style=dashed];\n"
                              "    r0 [label=\"return 0\", shape=plaintext];\n"
                              "    n4 -> r0;\n"
                              "}\n");
}

TEST_CASE("printed numbers read back as the same number") {
    std::uint64_t state = 1;
    for (int i = 0; i < 20000; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        auto const f = std::bit_cast<float>(static_cast<std::uint32_t>(state >> 32));
        auto const d = std::bit_cast<double>(state ^ state >> 29);
        calque::text of_float, of_double;
        append_number(of_float, f);
        append_number(of_double, d);
        CHECK((f != f || std::strtof(of_float.string().c_str(), nullptr) == f));
        CHECK((d != d || std::strtod(of_double.string().c_str(), nullptr) == d));
        CHECK(of_double.view().size() <= 24);
    }
}
