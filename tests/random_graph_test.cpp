// SPDX-License-Identifier: MIT
// Fused kernels against the interpreter on random graphs: bit by bit, but for sums, which round in another order.
#include "random_kernels.hpp"

using tests::check_random_function;
using tests::mix;

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

TEST_CASE("sums and means agree up to rounding") {
    check_random_function<9, 60, mix::smooth, 37>();
    check_random_function<10, 60, mix::smooth, 5>();
    check_random_function<11, 30, mix::smooth, 16>();
    check_random_function<12, 20, mix::smooth, 200>();
}
