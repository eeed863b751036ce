// SPDX-License-Identifier: MIT
// What `trace(...).schedule()` says of a graph's kernels, and what `plan(...).text()` says of the variants that run.
#include <calque/calque.hpp>

#include "documents.hpp"

#include <xtensor/xview.hpp>

namespace {

using calque::dyn;
using calque::spec;

using array2 = calque::array_view<float const, 2, false>; // any strides

inline constexpr auto softmax = [](auto x) { return calque::softmax<-1>(x); };

inline constexpr auto network = [](auto x, auto w, auto b, auto v) {
    auto h = maximum(matmul(x, w) + b, 0.f);
    return calque::softmax<-1>(matmul(h, v));
};

TEST_CASE("a schedule says what each kernel fuses, what it keeps, and whom it stores for") {
    CHECK(calque::trace<spec<float, dyn, 1000>>(softmax).schedule() ==
          "kernel 0: rows of [dyn,1000] (| waits for a whole row): max | subtract exp sum | divide multiply\n"
          "    keeps 1 row in scratch memory: a later walk would repeat more than 12 instructions\n"
          "    reads argument 0 float[dyn,1000]\n"
          "    stores multiply float[dyn,1000]: result 0\n");

    using batch = spec<float, calque::dim("batch"), 64>;
    std::string const text =
        calque::trace<batch, spec<float, 64, 32>, spec<float, 32>, spec<float, 32, 10>>(network).schedule();
    CHECK(text == documents::blocks(documents::read("docs/kernels.md"), "text").at(0));
}

TEST_CASE("arrays whose extents turn out to be equal are one kernel, wherever they do") {
    auto const gradient = [](auto x, auto y) {
        return calque::grad([](auto a, auto b) { return calque::sum(b * calque::softmax<-1>(a)); })(x, y);
    };
    std::string const text = calque::trace<spec<float, dyn, dyn>, spec<float, dyn, dyn>>(gradient).schedule();
    CAPTURE(text);
    CHECK(text.find("kernel 1") == std::string::npos); // y times 1 / sum comes before what multiplies both
    CHECK(text.find("kernel 0") != std::string::npos);
}

TEST_CASE("reductions over the same rows of one array are one kernel") {
    using two = spec<float, dyn, dyn>;
    auto const moments = [](auto x) {
        auto const mean = calque::mean<0>(x, calque::keepdims);
        return std::tuple{mean, calque::mean<0>(x * x), calque::mean<0>(square(x - mean))};
    };
    std::string const text = calque::trace<two>(moments).schedule();
    CAPTURE(text);
    CHECK(text.find("all rows folded into one: sum multiply sum\n") != std::string::npos);
    CHECK(text.find("all rows folded into one: subtract square sum\n") != std::string::npos); // reads the first one's

    auto const apart = calque::trace<two, two>([](auto x, auto y) {
                           return std::tuple{calque::sum<0>(x), calque::sum<0>(y)};
                       }).schedule();
    CHECK(apart.find("all rows folded into one: sum\n") != apart.rfind("all rows folded into one: sum\n"));

    auto const costly = [](auto x) {
        auto const e = exp(x);
        return std::tuple{calque::sum<0>(e), calque::sum<0>(e * x)};
    };
    CHECK(calque::trace<spec<float, dyn, 64>>(costly).schedule().find("exp sum multiply sum\n") != std::string::npos);
    CHECK(calque::trace<spec<float, dyn, 63>>(costly).schedule().find("stores exp") != std::string::npos);
}

TEST_CASE("a schedule says why a value is stored between kernels") {
    SUBCASE("it is expensive") {
        auto const text = calque::trace<spec<float, dyn, dyn>>([](auto x) {
                              auto e = exp(x);
                              return std::tuple{calque::sum<0>(e), calque::sum<1>(e)};
                          }).schedule();
        CHECK(text.find("stores exp float[dyn,dyn]: kernel 1 would repeat ") != std::string::npos);
        CHECK(text.find(" instructions, more than 4\n") != std::string::npos);
        CHECK(text.find("columns of [dyn,dyn], all rows folded into one: sum\n") != std::string::npos);
        CHECK(text.find("result 0: squeeze of sum of kernel 1, in its place\n") != std::string::npos);
    }
    SUBCASE("a cheap one is not") {
        auto const text = calque::trace<spec<float, dyn, dyn>>([](auto x) {
                              auto y = x + 1.f;
                              return std::tuple{calque::sum<0>(y), calque::sum<1>(y)};
                          }).schedule();
        CHECK(text.find("stores add") == std::string::npos);
    }
    SUBCASE("nor is one into which an expensive one broadcasts") {
        auto const text = calque::trace<spec<float, dyn, dyn>>([](auto x) {
                              auto const centred = x - calque::mean<0>(x, calque::keepdims);
                              return centred / sqrt(calque::mean<0>(square(centred), calque::keepdims));
                          }).schedule();
        CHECK(text.find("stores subtract") == std::string::npos);
        CHECK(text.find("stores divide float[1,dyn]") != std::string::npos);
    }
    SUBCASE("it is behind a reduction") {
        auto const text = calque::trace<spec<float, dyn, dyn>>([](auto x) {
                              return calque::sum<0>(x - calque::mean<1>(x, calque::keepdims));
                          }).schedule();
        CHECK(text.find("stores subtract float[dyn,dyn]: kernel 1 needs it after a reduction\n") != std::string::npos);
    }
    SUBCASE("it is what each row has once, for a function of it") {
        auto const likelihood = [](auto x) { return exp(-calque::sum<1>(x * x)); };
        std::string const of_rows = calque::trace<spec<float, dyn, 16>>(likelihood).schedule();
        CHECK(of_rows.find("stores negative float[dyn,1]: kernel 1 needs it after a reduction\n") != std::string::npos);
        CHECK(of_rows.find("kernel 1: elements of [dyn,1]: exp\n") != std::string::npos);
        for (std::string const& one_kernel :
             {calque::trace<spec<float, 7, 16>>(likelihood).schedule(), // of few rows
              calque::trace<spec<float, dyn, 16>>([](auto x) { return calque::log_softmax<1>(x); }).schedule(),
              calque::trace<spec<float, dyn, 16>>([](auto x) { return calque::logsumexp<1>(x); }).schedule()}) {
            CAPTURE(one_kernel);
            CHECK(one_kernel.find("kernel 1") == std::string::npos);
        }
    }
    SUBCASE("it is moved, viewed, or returned") {
        auto const text = calque::trace<spec<float, 4, 8>>([](auto x) {
                              auto y = tanh(x);
                              return std::tuple{calque::concatenate<0>(y, x), x, transpose(y)};
                          }).schedule();
        CHECK(text.find("stores tanh float[4,8]: result 2; kernel 1 reads it from memory, as concatenate does\n") !=
              std::string::npos);
        CHECK(text.find("result 1: argument 0, copied\n") != std::string::npos);
        CHECK(text.find("result 2: transpose of tanh of kernel 0, copied\n") != std::string::npos);
    }
}

struct doubled {
    static constexpr std::string_view name = "doubled";
    template <class T>
    static T apply(T x) {
        return x + x;
    }
};

TEST_CASE("a schedule has the names of users' operations") {
    auto const text = calque::trace<spec<float, 7>>([](auto x) { return calque::apply<doubled>(x); }).schedule();
    CHECK(text.starts_with("kernel 0: "));
    CHECK(text.find(" doubled to float[7]\n") != std::string::npos);
}

TEST_CASE("a schedule has the kernels of branches and loops") {
    auto const text = calque::trace<spec<float, dyn>, float>([](auto x, auto p) {
                          return calque::cond(p > 0.f, [&] { return exp(x); }, [&] { return x * 2.f; });
                      }).schedule();
    CHECK(text.find("kernel 0: elements of []: greater\n") != std::string::npos);
    CHECK(text.find("as cond does\n") != std::string::npos);
    CHECK(text.find("    body 0:\n    kernel 0: elements of [dyn]: exp\n") != std::string::npos);
    CHECK(text.find("    body 1:\n    kernel 0: elements of [dyn]: multiply\n") != std::string::npos);
    CHECK(text.find("        stores exp float[dyn]: yield 0\n") != std::string::npos);
}

/// The lines of a plan's text without what it says of scratch memory.
template <class F, class... Args>
std::string plan_of(F const& f, Args const&... args) {
    std::string const text = f.plan(args...).text();
    return text.substr(0, text.find("arena"));
}

TEST_CASE("a plan says which variant of a kernel runs") {
    auto const add = calque::function([](auto x, auto y) { return x + y; });
    std::vector<float> const memory(1000);
    auto const by_rows = [&](std::ptrdiff_t distance) { return array2(memory.data(), {6, 8}, {distance, 1}); };
    array2 const by_columns(memory.data(), {6, 8}, {1, 6});
    array2 const every_second(memory.data(), {6, 8}, {16, 2});
    array2 const every_tenth(memory.data(), {6, 8}, {80, 10});

    CHECK(plan_of(add, by_rows(8), by_rows(8)) == " 0 elements  1 x 48: add (one run)\n");
    CHECK(plan_of(add, by_rows(8), by_rows(10)) == " 0 elements  6 x 8: add (strided rows)\n");
    CHECK(plan_of(add, by_columns, by_columns) == " 0 elements  1 x 48: add (one run, not by rows)\n");
    CHECK(plan_of(add, by_rows(8), by_columns) ==
          "   copy      argument 1 [6,8] to contiguous memory, by transposing tiles\n"
          " 0 elements  1 x 48: add (one run)\n");
    CHECK(plan_of(add, every_second, by_rows(8)) ==
          "   copy      argument 0 [6,8] to contiguous memory, by permutations\n"
          " 0 elements  1 x 48: add (one run)\n");
    CHECK(plan_of(add, every_tenth, by_rows(8)) ==
          "   copy      argument 0 [6,8] to contiguous memory, element by element\n"
          " 0 elements  1 x 48: add (one run)\n");

    xt::xtensor<float, 1> const row = xt::zeros<float>({8});
    CHECK(plan_of(add, by_rows(8), row) == " 0 elements  6 x 8: add (rows)\n");

    auto const f = calque::function(softmax);
    auto const of_64_rows = [&](std::ptrdiff_t distance) { return array2(memory.data(), {64, 8}, {distance, 1}); };
    CHECK(plan_of(f, of_64_rows(8)) ==
          " 0 rows      64 x 8 (a lane a row): max subtract exp sum divide multiply (rows)\n");
    CHECK(plan_of(f, of_64_rows(9)) ==
          " 0 rows      64 x 8 (a lane a row): max subtract exp sum divide multiply (strided rows)\n");
    array2 const two_rows(memory.data(), {2, 8}, {8, 1});
    CHECK(plan_of(f, two_rows) == " 0 rows      2 x 8: max subtract exp sum divide multiply (rows)\n");
    CHECK(plan_of(f, by_columns).starts_with("   copy      argument 0 [6,8] "));

    auto const total = calque::function([](auto x) { return calque::sum<0>(x); });
    CHECK(plan_of(total, by_rows(9)) == " 0 columns   6 x 8: sum over rows (strided rows)\n");

    calque::array_view<float const, 3, false> const planes(memory.data(), {3, 4, 8}, {50, 10, 1});
    auto const twice = calque::function([](auto x) { return x * 2.f; });
    CHECK(plan_of(twice, planes) == " 0 elements  3 x 4 x 8: multiply (rows, loops around)\n");
}

TEST_CASE("rows that a transposition keeps are read as they lie") {
    auto const swapped = calque::function([](auto x) { return calque::transpose<1, 0, 2>(x) * 2; });
    xt::xtensor<float, 3> const long_rows = xt::ones<float>({4, 5, 64}), short_rows = xt::ones<float>({4, 5, 3});
    CHECK(plan_of(swapped, long_rows) == " 0 elements  5 x 4 x 64: multiply (rows, loops around)\n");
    CHECK(plan_of(swapped, short_rows) == " 0 elements  1 x 60: multiply (one run, not by rows)\n");
}

TEST_CASE("a plan says which variant of a product runs, and when no kernel does") {
    auto const product = calque::function([](auto x, auto y) { return matmul(x, y); });
    std::vector<float> const memory(1000);
    array2 const a(memory.data(), {5, 7}, {7, 1}), b(memory.data(), {7, 6}, {6, 1}),
        column(memory.data(), {7, 1}, {1, 1});
    array2 const a_by_columns(memory.data(), {5, 7}, {1, 5}), b_by_columns(memory.data(), {7, 6}, {1, 7});
    CHECK(plan_of(product, a, b) == " 0 product   5 x 6 over 7 (direct)\n");
    CHECK(plan_of(product, a, column) == " 0 product   5 x 1 over 7 (dots)\n");
    CHECK(plan_of(product, a_by_columns, b_by_columns) == " 0 product   6 x 5 over 7 (direct, by columns)\n");

    auto const both = calque::function([](auto x, auto y) { return std::tuple{x + y, x * 2.f}; });
    array2 const wide(memory.data(), {5, 7}, {7, 1}), narrow(memory.data(), {5, 1}, {1, 1});
    CHECK(plan_of(both, narrow, wide).find("   copy      outputs along which a dynamic extent of 1 broadcasts") !=
          std::string::npos);
    auto const reduced = calque::function([](auto x, auto y) { return std::tuple{x + y, calque::sum<-1>(x)}; });
    CHECK(plan_of(reduced, narrow, wide).starts_with("op by op, without fusion: a dynamic extent of 1 broadcasts"));
}

} // namespace
