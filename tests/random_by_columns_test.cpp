// SPDX-License-Identifier: MIT
// Random graphs over arrays by columns, whose axes a pass reverses, against the interpreter, which runs them as they
// are.
#include "random_kernels.hpp"

using tests::check_random_function;
using tests::check_random_gradient;
using tests::mix;

namespace {

constexpr auto by_columns = xt::layout_type::column_major;

}

TEST_CASE("elementwise functions and maxima, bit by bit") {
    check_random_function<1, 60, mix::elementwise, 37, by_columns>({0, 1, 2, 7, 16, 33});
    check_random_function<5, 60, mix::maxima, 37, by_columns>();
    check_random_function<6, 60, mix::maxima, 5, by_columns>();
}

TEST_CASE("elements in other places, bit by bit") {
    check_random_function<13, 60, mix::places, 37, by_columns>();
    check_random_function<17, 80, mix::places, 20, by_columns>();
}

TEST_CASE("sums, means and products, up to rounding") {
    check_random_function<9, 60, mix::smooth, 37, by_columns>();
    check_random_function<22, 60, mix::smooth, 6, by_columns>();
}

TEST_CASE("gradients, up to rounding") {
    check_random_gradient<19, 50, mix::places, 6, by_columns>();
    check_random_gradient<20, 40, mix::smooth, 37, by_columns>();
}
