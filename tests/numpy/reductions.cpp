// SPDX-License-Identifier: MIT
// What folds axes, and what goes along one.
#include "record.hpp"

namespace {

using numpy::group;
using numpy::operation;

constexpr group sums{
    operation<"sum">([](auto x, auto) { return sum(x); }),
    operation<"sum_0">([](auto x, auto) { return calque::sum<0>(x); }),
    operation<"sum_1">([](auto x, auto) { return calque::sum<1>(x); }),
    operation<"sum_1_keepdims">([](auto x, auto) { return calque::sum<1>(x, calque::keepdims); }),
    operation<"sum_of_product">([](auto x, auto y) { return calque::sum<-1>(x * y); }),
    operation<"sum_of_bool">([](auto x, auto y) { return calque::sum<0>(x > y); }),
    operation<"prod_0">([](auto x, auto) { return calque::prod<0>(x); }),
    operation<"prod_1">([](auto x, auto) { return calque::prod<1>(x); }),
    operation<"any_0">([](auto x, auto) { return calque::any<0>(x); }),
    operation<"any_1">([](auto x, auto) { return calque::any<1>(x); }),
    operation<"all_0">([](auto x, auto) { return calque::all<0>(x); }),
    operation<"all_1">([](auto x, auto) { return calque::all<1>(x); }),
    operation<"cumsum_0">([](auto x, auto) { return calque::cumsum<0>(x); }),
    operation<"cumsum_1">([](auto x, auto) { return calque::cumsum<1>(x); }),
    operation<"cumprod_0">([](auto x, auto) { return calque::cumprod<0>(x); }),
    operation<"cumprod_1">([](auto x, auto) { return calque::cumprod<1>(x); }),
};

constexpr group moments{
    operation<"mean">([](auto x, auto) { return mean(x); }),
    operation<"mean_0">([](auto x, auto) { return calque::mean<0>(x); }),
    operation<"mean_1">([](auto x, auto) { return calque::mean<1>(x); }),
    operation<"var_0">([](auto x, auto) { return calque::var<0>(x); }),
    operation<"var_1">([](auto x, auto) { return calque::var<1>(x); }),
    operation<"std_0">([](auto x, auto) { return calque::std<0>(x); }),
    operation<"std_1">([](auto x, auto) { return calque::std<1>(x); }),
};

constexpr group extremes_0{
    operation<"max_0">([](auto x, auto) { return calque::max<0>(x); }),
    operation<"min_0">([](auto x, auto) { return calque::min<0>(x); }),
    operation<"argmax_0">([](auto x, auto) { return calque::argmax<0>(x); }),
    operation<"argmin_0">([](auto x, auto) { return calque::argmin<0>(x); }),
};

constexpr group extremes_1{
    operation<"max_1">([](auto x, auto) { return calque::max<1>(x); }),
    operation<"min_1">([](auto x, auto) { return calque::min<1>(x); }),
    operation<"argmax_1">([](auto x, auto) { return calque::argmax<1>(x); }),
    operation<"argmin_1">([](auto x, auto) { return calque::argmin<1>(x); }),
};

constexpr group softmax_0{
    operation<"logsumexp_0">([](auto x, auto) { return calque::logsumexp<0>(x); }),
    operation<"softmax_0">([](auto x, auto) { return calque::softmax<0>(x); }),
    operation<"log_softmax_0">([](auto x, auto) { return calque::log_softmax<0>(x); }),
};

constexpr group softmax_1{
    operation<"logsumexp_1">([](auto x, auto) { return calque::logsumexp<1>(x); }),
    operation<"softmax_1">([](auto x, auto) { return calque::softmax<1>(x); }),
    operation<"log_softmax_1">([](auto x, auto) { return calque::log_softmax<1>(x); }),
};

template <class T>
void call_all(numpy::recorder& to) {
    for (bool const are_special : {false, true}) {
        to.call<T>(sums, {.are_special = are_special});
        to.call<T>(extremes_0, {.are_special = are_special, .least_rows = 1});
        to.call<T>(extremes_1, {.are_special = are_special, .least_columns = 1});
        if constexpr (calque::floating<T>) {
            to.call<T>(moments, {.are_special = are_special});
            to.call<T>(softmax_0, {.are_special = are_special, .least_rows = 1});
            to.call<T>(softmax_1, {.are_special = are_special, .least_columns = 1});
        }
    }
}

} // namespace

int main(int argument_count, char** arguments) {
    return numpy::record("reductions", argument_count, arguments, [](numpy::recorder& to) {
        call_all<float>(to);
        call_all<double>(to);
        call_all<std::int32_t>(to);
    });
}
