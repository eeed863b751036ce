// SPDX-License-Identifier: MIT
// Elementary functions, and the activations that are composed of them.
#include "record.hpp"

namespace {

using numpy::group;
using numpy::operation;

constexpr group exponentials{
    operation<"exp">([](auto x, auto) { return exp(x); }),
    operation<"exp2">([](auto x, auto) { return exp2(x); }),
    operation<"expm1">([](auto x, auto) { return expm1(x); }),
    operation<"log">([](auto x, auto) { return log(x); }),
    operation<"log2">([](auto x, auto) { return log2(x); }),
    operation<"log1p">([](auto x, auto) { return log1p(x); }),
    operation<"pow">([](auto x, auto y) { return pow(x, y); }),
    operation<"rsqrt">([](auto x, auto) { return rsqrt(x); }),
    operation<"cbrt">([](auto x, auto) { return cbrt(x); }),
    operation<"erf">([](auto x, auto) { return erf(x); }),
    operation<"erfc">([](auto x, auto) { return erfc(x); }),
};

constexpr group trigonometric{
    operation<"sin">([](auto x, auto) { return sin(x); }),
    operation<"cos">([](auto x, auto) { return cos(x); }),
    operation<"tan">([](auto x, auto) { return tan(x); }),
    operation<"asin">([](auto x, auto) { return asin(x); }),
    operation<"acos">([](auto x, auto) { return acos(x); }),
    operation<"atan">([](auto x, auto) { return atan(x); }),
    operation<"atan2">([](auto x, auto y) { return atan2(x, y); }),
    operation<"sinh">([](auto x, auto) { return sinh(x); }),
    operation<"cosh">([](auto x, auto) { return cosh(x); }),
    operation<"tanh">([](auto x, auto) { return tanh(x); }),
    operation<"asinh">([](auto x, auto) { return asinh(x); }),
    operation<"acosh">([](auto x, auto) { return acosh(x); }),
    operation<"atanh">([](auto x, auto) { return atanh(x); }),
};

constexpr group activations{
    operation<"sigmoid">([](auto x, auto) { return sigmoid(x); }),
    operation<"softplus">([](auto x, auto) { return softplus(x); }),
    operation<"silu">([](auto x, auto) { return silu(x); }),
    operation<"gelu">([](auto x, auto) { return gelu(x); }),
    operation<"gelu_tanh">([](auto x, auto) { return gelu_tanh(x); }),
    operation<"elu">([](auto x, auto) { return elu(x); }),
};

} // namespace

int main(int argument_count, char** arguments) {
    return numpy::record("functions", argument_count, arguments, [](numpy::recorder& to) {
        to.call<float>(exponentials, {.are_special = true});
        to.call<double>(exponentials, {.are_special = true});
        to.call<float>(trigonometric, {.are_special = true});
        to.call<double>(trigonometric, {.are_special = true});
        to.call<float>(activations, {.are_special = true});
        to.call<double>(activations, {.are_special = true});
    });
}
