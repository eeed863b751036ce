// SPDX-License-Identifier: MIT
// Fused kernels against the interpreter on random graphs: bit by bit, but for sums, which round in another order.
#include "random_kernels.hpp"

#include <calque/trace/trace.hpp>

using tests::check_random_function;
using tests::check_random_gradient;
using tests::mix;

namespace {

template <class Op, unsigned Seed, int Nodes, mix Kind>
constexpr int count_in() {
    constexpr calque::extent_t rows = calque::dim("rows");
    auto const g = calque::trace<calque::spec<float, rows, 6>, calque::spec<float, 6>, calque::spec<float, rows, 1>>(
        tests::random_function<Seed, Nodes, Kind>{});
    int count = 0;
    for (int id = 0; id < g.view().node_count; ++id) {
        count += g.view().template is<Op>(id) ? 1 : 0;
    }
    return count;
}

/// Whether each operation is in one of the graphs of places below.
template <class... Ops>
constexpr bool are_drawn(calque::graph::op_list<Ops...>) {
    return ((count_in<Ops, 14, 90, mix::places>() + count_in<Ops, 17, 100, mix::places>() != 0) && ...);
}

namespace ops = calque::graph::ops;

static_assert(are_drawn(calque::graph::op_list<ops::flip, ops::concatenate, ops::slice, ops::slice_adjoint, ops::take,
                                               ops::sort_order, ops::split_axis, ops::merge_axes, ops::running_sum,
                                               ops::recurrence, ops::first_index, ops::where>{}));
static_assert(count_in<ops::matmul, 22, 60, mix::smooth>() != 0);
static_assert(count_in<ops::batch_matmul, 22, 60, mix::smooth>() != 0);

} // namespace

TEST_CASE("elementwise kernels are the interpreter's, bit by bit") {
    check_random_function<1, 60, mix::elementwise, 37>({0, 1, 2, 7, 16, 33});
    check_random_function<2, 60, mix::elementwise, 16>();
    check_random_function<3, 40, mix::elementwise, 1>();
    check_random_function<4, 20, mix::elementwise, 200>();
}

TEST_CASE("so are maxima over axes, and transposes") {
    check_random_function<5, 60, mix::maxima, 37>();
    check_random_function<6, 60, mix::maxima, 5>();
    check_random_function<7, 30, mix::maxima, 16>();
    check_random_function<8, 20, mix::maxima, 200>();
}

TEST_CASE("so are elements in other places, orders, and running sums") {
    check_random_function<13, 60, mix::places, 37>();
    check_random_function<14, 90, mix::places, 6>();
    check_random_function<15, 60, mix::places, 1>();
    check_random_function<16, 60, mix::places, 64>();
    check_random_function<17, 100, mix::places, 20>();
}

TEST_CASE("sums and means agree up to rounding") {
    check_random_function<9, 60, mix::smooth, 37>();
    check_random_function<10, 60, mix::smooth, 5>();
    check_random_function<22, 60, mix::smooth, 6>();
    check_random_function<11, 30, mix::smooth, 16>();
    check_random_function<12, 20, mix::smooth, 200>();
}

TEST_CASE("so do gradients") {
    check_random_gradient<18, 50, mix::places, 16>();
    check_random_gradient<19, 50, mix::places, 6>();
    check_random_gradient<20, 40, mix::smooth, 37>();
}
