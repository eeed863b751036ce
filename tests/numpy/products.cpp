// SPDX-License-Identifier: MIT
// Products of matrices, of batches of them, and sums into places.
#include "record.hpp"

namespace {

using calque::all;
using calque::matmul;
using calque::stack;
using calque::swapaxes;
using numpy::element_of;
using numpy::group;
using numpy::operation;

constexpr group products{
    operation<"matmul">([](auto x, auto y) { return matmul(x, transpose(y)); }),
    operation<"matmul_transposed">([](auto x, auto y) { return matmul(transpose(x), y); }),
    operation<"matmul_batch">([](auto x, auto y) { return matmul(stack<0>(x, y), swapaxes<1, 2>(stack<0>(y, x))); }),
    operation<"matmul_broadcast">([](auto x, auto y) { return matmul(stack<0>(x, y), transpose(y)); }),
    operation<"dot">([](auto x, auto y) { return calque::dot(transpose(x), y); }),
    operation<"einsum_product">([](auto x, auto y) { return calque::einsum<"ij,kj->ik">(x, y); }),
    operation<"einsum_rows">([](auto x, auto y) { return calque::einsum<"ij,ij->i">(x, y); }),
    operation<"einsum_batch">(
        [](auto x, auto y) { return calque::einsum<"bij,bkj->bik">(stack<0>(x, y), stack<0>(y, x)); }),
    operation<"einsum_three">([](auto x, auto y) { return calque::einsum<"ij,kj,kl->il">(x, y, x); }),
};

constexpr group with_vector{
    operation<"outer">([](auto x, auto y) { return calque::outer(view(x, calque::range(0, 3)), view(y, 0)); }),
    operation<"matmul_vector">([](auto x, auto y) { return matmul(x, view(y, 0)); }),
    operation<"vector_matmul">([](auto x, auto y) { return matmul(view(y, all(), 0), x); }),
};

// Into axes of two elements or more.
constexpr group scattered{
    operation<"scatter_add">([]<class X>(X x, auto) {
        return calque::scatter_add<1>(x, calque::literal(std::array{1, 0, 1}), calque::ones<element_of<X>>(3));
    }),
};

template <class T>
void call_all(numpy::recorder& to) {
    for (bool const are_special : {false, true}) {
        to.call<T>(products, {.are_special = are_special});
    }
    to.call<T>(with_vector, {.least_rows = 1, .least_columns = 1});
    to.call<T>(scattered, {.are_special = true, .least_columns = 2});
}

} // namespace

int main(int argument_count, char** arguments) {
    return numpy::record("products", argument_count, arguments, [](numpy::recorder& to) {
        call_all<float>(to);
        call_all<double>(to);
        call_all<std::int32_t>(to);
    });
}
