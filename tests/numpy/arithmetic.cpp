// SPDX-License-Identifier: MIT
// Elementwise operations whose results are exact or rounded once, of floating numbers and integers.
#include "record.hpp"

namespace {

using numpy::group;
using numpy::operation;

constexpr group arithmetic{
    operation<"add">([](auto x, auto y) { return x + y; }),
    operation<"subtract">([](auto x, auto y) { return x - y; }),
    operation<"multiply">([](auto x, auto y) { return x * y; }),
    operation<"divide">([](auto x, auto y) { return x / y; }),
    operation<"negative">([](auto x, auto) { return -x; }),
    operation<"abs">([](auto x, auto) { return abs(x); }),
    operation<"square">([](auto x, auto) { return square(x); }),
    operation<"sign">([](auto x, auto) { return sign(x); }),
    operation<"fmod">([](auto x, auto y) { return fmod(x, y); }),
    operation<"minimum">([](auto x, auto y) { return minimum(x, y); }),
    operation<"maximum">([](auto x, auto y) { return maximum(x, y); }),
    operation<"clip">([](auto x, auto) { return clip(x, -1, 2); }),
    operation<"relu">([](auto x, auto) { return relu(x); }),
    operation<"where">([](auto x, auto y) { return where(x > y, x, y); }),
    operation<"add_row">([](auto x, auto y) { return x + view(y, calque::range(0, 1)); }),
    operation<"add_column">([](auto x, auto y) { return x + view(y, calque::all(), calque::range(0, 1)); }),
    operation<"number">([](auto x, auto) { return 3 - x * 2; }),
};

constexpr group comparisons{
    operation<"equal">([](auto x, auto y) { return x == y; }),
    operation<"not_equal">([](auto x, auto y) { return x != y; }),
    operation<"less">([](auto x, auto y) { return x < y; }),
    operation<"less_equal">([](auto x, auto y) { return x <= y; }),
    operation<"greater">([](auto x, auto y) { return x > y; }),
    operation<"greater_equal">([](auto x, auto y) { return x >= y; }),
    operation<"logical_and">([](auto x, auto y) { return x > 0 && y > 0; }),
    operation<"logical_or">([](auto x, auto y) { return x > 0 || y > 0; }),
    operation<"logical_not">([](auto x, auto y) { return !(x > y); }),
    operation<"bool_xor">([](auto x, auto y) { return (x > 0) ^ (y > 0); }),
};

constexpr group of_floating{
    operation<"floor">([](auto x, auto) { return floor(x); }),
    operation<"ceil">([](auto x, auto) { return ceil(x); }),
    operation<"trunc">([](auto x, auto) { return trunc(x); }),
    operation<"round">([](auto x, auto) { return round(x); }),
    operation<"reciprocal">([](auto x, auto) { return reciprocal(x); }),
    operation<"sqrt">([](auto x, auto) { return sqrt(x); }),
    operation<"isnan">([](auto x, auto) { return isnan(x); }),
    operation<"isinf">([](auto x, auto) { return isinf(x); }),
    operation<"isfinite">([](auto x, auto) { return isfinite(x); }),
    operation<"leaky_relu">([](auto x, auto) { return leaky_relu(x, 0.25); }),
    operation<"to_float">([](auto x, auto) { return calque::cast<float>(x); }),
    operation<"to_double">([](auto x, auto) { return calque::cast<double>(x); }),
};

constexpr group of_integers{
    operation<"remainder">([](auto x, auto y) { return x % y; }),
    operation<"bitwise_and">([](auto x, auto y) { return x & y; }),
    operation<"bitwise_or">([](auto x, auto y) { return x | y; }),
    operation<"bitwise_xor">([](auto x, auto y) { return x ^ y; }),
    operation<"bitwise_not">([](auto x, auto) { return ~x; }),
    operation<"shift_left">([](auto x, auto y) { return x << y; }),
    operation<"shift_right">([](auto x, auto y) { return x >> y; }),
    operation<"to_double">([](auto x, auto) { return calque::cast<double>(x); }),
    operation<"to_int64">([](auto x, auto) { return calque::cast<std::int64_t>(x); }),
    operation<"to_uint8">([](auto x, auto) { return calque::cast<std::uint8_t>(x); }),
    operation<"one_hot">([](auto x, auto) { return calque::one_hot<double>(x, 5); }),
};

} // namespace

int main(int argument_count, char** arguments) {
    return numpy::record("arithmetic", argument_count, arguments, [](numpy::recorder& to) {
        to.call<float>(arithmetic, {.are_special = true});
        to.call<double>(arithmetic, {.are_special = true});
        to.call<std::int32_t>(arithmetic, {.are_special = true});
        to.call<calque::half>(arithmetic, {.are_special = true});
        to.call<float>(comparisons, {.are_special = true});
        to.call<double>(comparisons, {.are_special = true});
        to.call<std::int32_t>(comparisons, {.are_special = true});
        to.call<float>(of_floating, {.are_special = true});
        to.call<double>(of_floating, {.are_special = true});
        to.call<std::int32_t>(of_integers, {.are_special = true});
        to.call<std::uint8_t>(of_integers, {.are_special = true});
    });
}
