// SPDX-License-Identifier: MIT
// Products of arrays of any rank: `matmul` of batches, `dot`, `outer` and `einsum`, against loops over all indices.
// (Derivatives: gradient_test.cpp. vmap: vectorize_test.cpp.)
#include <calque/calque.hpp>

#include "run_graph.hpp"

namespace {

using calque::dyn;
using calque::extent_t;
using calque::spec;
using calque::detail::subscripts;
using tests::difference;
using tests::noise;
using tests::tensor;
using tests::tolerance;

// ---- subscripts

constexpr auto error_of(std::string_view text, int operands) {
    return subscripts::read(text, operands).error;
}
using enum calque::detail::subscripts_error;
static_assert(error_of("ij,jk->ik", 2) == none && error_of(" i j , j k -> i k ", 2) == none);
static_assert(error_of("->", 1) == none && error_of(",->", 2) == none && error_of("", 1) == none);
static_assert(error_of("ij,jk->ik", 3) == operand_count && error_of("ij,jk", 1) == operand_count);
static_assert(error_of("i1->i", 1) == character && error_of("ij-", 1) == character &&
              error_of("i->j->k", 1) == character);
static_assert(error_of("i,j->i,j", 2) == character && error_of("...i->i", 1) == character);
static_assert(error_of("ij->ii", 1) == repeated_in_output && error_of("ij->ik", 1) == unknown_in_output);
static_assert(error_of("abcdefghi->", 1) == too_long && error_of("abcd,efghi", 2) == too_long);
static_assert(subscripts::read("ba,cb", 2).output_rank == 2 && subscripts::read("bAA", 1).output_rank == 1);

/// A loop over all values of all letters; `extents` by letter, a to z.
tensor summed(std::string const& text, std::vector<tensor> const& operands) {
    std::string const output = text.substr(text.find("->") + 2);
    std::vector<std::string> inputs{""};
    for (char const c : text.substr(0, text.find("->"))) {
        c == ',' ? inputs.push_back("") : inputs.back().push_back(c);
    }
    std::string letters;
    calque::shape space;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        for (std::size_t axis = 0; axis < inputs[k].size(); ++axis) {
            if (letters.find(inputs[k][axis]) == std::string::npos) {
                letters.push_back(inputs[k][axis]);
                space.push_back(operands[k].extents[static_cast<int>(axis)]);
            }
        }
    }
    auto const extents_of = [&](std::string const& labels) {
        calque::shape s;
        for (char const c : labels) {
            s.push_back(space[static_cast<int>(letters.find(c))]);
        }
        return s;
    };
    auto const place = [&](std::string const& labels, calque::shape const& index) {
        calque::shape const s = extents_of(labels);
        extent_t at = 0;
        for (std::size_t axis = 0; axis < labels.size(); ++axis) {
            at = at * s[static_cast<int>(axis)] + index[static_cast<int>(letters.find(labels[axis]))];
        }
        return at;
    };
    tensor result(calque::dtype::float64, extents_of(output));
    calque::graph::detail::for_each_index(space, [&](calque::shape const& index) {
        double product = 1;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            product *= operands[k].as<double>()[place(inputs[k], index)];
        }
        result.as<double>()[place(output, index)] += product;
    });
    return result;
}

/// Subscripts, and what they are called with: the graph is built at run time.
void check_subscripts(std::string const& text, std::vector<tensor> const& operands) {
    INFO(text);
    subscripts const s = subscripts::read(text, static_cast<int>(operands.size()));
    REQUIRE(s.error == none);
    tests::check(
        operands,
        [&](std::vector<calque::graph::value> const& a) {
            std::vector<calque::graph::labelled> terms(a.size());
            for (std::size_t k = 0; k < a.size(); ++k) {
                terms[k].x = a[k];
                std::copy(s.labels[k], s.labels[k] + calque::max_rank, terms[k].labels);
            }
            return calque::graph::contract_all(terms.data(), s.count, s.output, s.output_rank);
        },
        summed(text, operands), tolerance{1e-13, 1e-13});
}

/// Operands of extents by letter: a is 2, b is 3, c is 1, d is 5, e is 4, z is 0.
std::vector<tensor> operands_of(std::string const& text) {
    std::vector<calque::shape> shapes(1);
    for (char const c : text.substr(0, text.find("->"))) {
        c == ',' ? shapes.push_back({})
                 : shapes.back().push_back(extent_t("23154"[c == 'z' ? 0 : c - 'a'] - '0') * (c != 'z'));
    }
    std::vector<tensor> all;
    for (calque::shape const& s : shapes) {
        all.push_back(noise<double>(s, static_cast<unsigned>(all.size())));
    }
    return all;
}

} // namespace

TEST_CASE("sums over labels, whatever the labels are") {
    for (std::string const text : {"ab,bd->ad",      "ab,bd->da",
                                   "ab,db->ad",      "a,a->",
                                   "a,b->ab",        "ab,ab->",
                                   "ab,ab->ab",      "ab,ab->b",
                                   "abd,adb->abd",   "abd,ade->abe",
                                   "abd,ade->eab",   "bad,dae->abe",
                                   "abde,de->ab",    "abde,abed->ba",
                                   "abd,e->",        "abd->da",
                                   "abd->",          "aa->a",
                                   "aa->",           "abab->ba",
                                   "aab,bb->ab",     "ac,cb->ab",
                                   "ab,cd->dacb",    "az,zb->ab",
                                   "az->z",          "zab,zbd->zad",
                                   ",a->a",          "ab,bd,de->ae",
                                   "a,ab,b->",       "abd,ad,be->ea",
                                   "abd,bd,d,a->ab", "ab,bd,de,ea->",
                                   "ab,ab,ab->ab",   "abc,cde->abde",
                                   "abde,abdc->ce",  "ab,bd,de,ec,ca,ab,ab->e",
                                   "abdeabde->ed",   "a,b,c,d,e->edcba",
                                   "abd,abd->abd",   "abde,adbe->abd"}) {
        check_subscripts(text, operands_of(text));
    }
}

TEST_CASE("the order of products takes the fewest multiplications") {
    // (a b) c is 1000 x 2 x 1000 + 1000 x 1000 x 3 multiplications, a (b c) 2 x 1000 x 3 + 1000 x 2 x 3.
    constexpr auto g = calque::trace<spec<float, 1000, 2>, spec<float, 2, 1000>, spec<float, 1000, 3>>(
        [](auto a, auto b, auto c) { return calque::einsum<"ij,jk,kl->il">(a, b, c); });
    CHECK(g.text().find("matmul(%1, %2) float[2,3]") != std::string::npos);
    // Unknown extents: from left to right.
    constexpr auto h = calque::trace<spec<float, dyn, 2>, spec<float, 2, dyn>, spec<float, dyn, 3>>(
        [](auto a, auto b, auto c) { return calque::einsum<"ij,jk,kl->il">(a, b, c); });
    CHECK(h.text().find("matmul(%0, %1) float[dyn,dyn]") != std::string::npos);
}

TEST_CASE("as NumPy's @: batches broadcast, vectors drop their axis") {
    struct product {
        calque::shape a, b;
        std::string text;
    };
    std::vector<product> const all{{{3, 2, 5}, {5, 4}, "bij,jk->bik"},
                                   {{2, 5}, {3, 5, 4}, "ij,bjk->bik"},
                                   {{3, 2, 5}, {3, 5, 4}, "bij,bjk->bik"},
                                   {{3, 2, 5}, {5}, "bij,j->bi"},
                                   {{5}, {3, 5, 4}, "j,bjk->bk"},
                                   {{2, 3, 2, 5}, {3, 5, 4}, "abij,bjk->abik"},
                                   {{3, 2, 5}, {2, 3, 5, 4}, "bij,abjk->abik"},
                                   {{0, 2, 5}, {0, 5, 4}, "bij,bjk->bik"},
                                   {{3, 2, 0}, {3, 0, 4}, "bij,bjk->bik"},
                                   {{31, 33}, {2, 33, 32}, "ij,bjk->bik"},
                                   {{2, 31, 1}, {2, 1, 33}, "bij,bjk->bik"}};
    for (product const& p : all) {
        INFO(p.text);
        std::vector<tensor> const operands{noise<double>(p.a, 1), noise<double>(p.b, 2)};
        tests::check(
            operands,
            [](std::vector<calque::graph::value> const& v) { return calque::graph::matmul_broadcast(v[0], v[1]); },
            summed(p.text, operands), tolerance{1e-13, 1e-13});
    }
    // Stretched batches: [2, 1, i, j] by [3, j, k].
    tensor const a = noise<double>({2, 1, 4, 5}, 1), b = noise<double>({3, 5, 2}, 2);
    tensor squeezed = a;
    squeezed.extents = {2, 4, 5};
    tests::check(
        {a, b}, [](std::vector<calque::graph::value> const& v) { return calque::graph::matmul_broadcast(v[0], v[1]); },
        summed("aij,bjk->abik", {squeezed, b}), tolerance{1e-13, 1e-13});
    tests::check(
        {squeezed, b}, [](std::vector<calque::graph::value> const& v) { return calque::graph::dot(v[0], v[1]); },
        summed("aij,bjk->aibk", {squeezed, b}), tolerance{1e-13, 1e-13});
}

TEST_CASE("by kernels, of dynamic extents") {
    auto const f = calque::function([](auto a, auto b, auto c) {
        return std::tuple(calque::einsum<"bij,bjk,lk->ilb">(a, b, c), matmul(a, b), matmul(a, transpose(c)),
                          outer(c, view(c, 0)), calque::einsum<"bij->jb">(a));
    });
    for (auto const& [batch, m, k] : {std::array{2u, 31u, 33u}, std::array{1u, 3u, 5u}, std::array{3u, 1u, 32u}}) {
        auto const fill = [](auto& x) {
            double next = 0;
            for (double& e : x) {
                e = std::sin(next += 1.1);
            }
        };
        xt::xtensor<double, 3> a(std::array<std::size_t, 3>{batch, m, k}), b(std::array<std::size_t, 3>{batch, k, k});
        xt::xtensor<double, 2> c(std::array<std::size_t, 2>{k, k});
        fill(a);
        fill(b);
        fill(c);
        auto const results = f(a, b, c);
        auto const x = calque::graph::tensor::copy_of({batch, m, k}, a.data());
        auto const y = calque::graph::tensor::copy_of({batch, k, k}, b.data());
        auto const z = calque::graph::tensor::copy_of({k, k}, c.data());
        auto const row = calque::graph::tensor::copy_of({k}, c.data());
        auto const flat = calque::graph::tensor::copy_of({k * k}, c.data());
        auto const compare = [](auto const& result, tensor const& expected) {
            CHECK(difference(tensor::copy_of(calque::shape_of(result), result.data()), expected,
                             tolerance{1e-12, 1e-12}) == "");
        };
        compare(std::get<0>(results), summed("bij,bjk,lk->ilb", {x, y, z}));
        compare(std::get<1>(results), summed("bij,bjk->bik", {x, y}));
        compare(std::get<2>(results), summed("bij,kj->bik", {x, z}));
        compare(std::get<3>(results), summed("i,j->ij", {flat, row}));
        compare(std::get<4>(results), summed("bij->jb", {x}));
    }
    auto const diagonal = calque::function([](auto x) { return calque::einsum<"ii->i">(x); });
    CHECK_THROWS_WITH_AS(diagonal(xt::xtensor<double, 2>(std::array<std::size_t, 2>{2, 3})),
                         doctest::Contains("the extents differ"), calque::shape_error);
    CHECK_THROWS_AS(f(xt::xtensor<double, 3>(std::array<std::size_t, 3>{2, 3, 4}),
                      xt::xtensor<double, 3>(std::array<std::size_t, 3>{2, 5, 4}),
                      xt::xtensor<double, 2>(std::array<std::size_t, 2>{4, 4})),
                    calque::shape_error);
}
