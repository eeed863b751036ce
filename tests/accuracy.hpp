// SPDX-License-Identifier: MIT
// How exact the elementary functions are: tests/math_test.cpp measures it, the documents say it.
#pragma once

#include <string_view>

namespace tests {

/// The greatest error of a function in ULP, in the builds for AVX-512, AVX2 and SSE4.2, a little rounded up.
///
/// Measured at some 4 million arguments a dtype: where the function does something, and random bits.
struct accuracy {
    std::string_view function;
    double in_float;
    double in_double;
};
inline constexpr accuracy accuracy_bounds[] = {
    {"exp", 1.1, 1.1},   {"exp2", 1.3, 1.3},  {"expm1", 1.4, 1.4}, {"log", 0.9, 0.9},     {"log2", 1.1, 1.3},
    {"log1p", 0.9, 0.9}, {"pow", 0.6, 1.2},   {"sqrt", 0.5, 0.5},  {"rsqrt", 1.6, 1.6},   {"cbrt", 0.6, 0.6},
    {"sin", 1.6, 0.9},   {"cos", 1.6, 0.9},   {"tan", 3.1, 2.3},   {"asin", 0.7, 0.7},    {"acos", 0.7, 0.7},
    {"atan", 1.3, 1.3},  {"atan2", 1.4, 1.4}, {"sinh", 0.9, 0.9},  {"cosh", 0.9, 0.9},    {"tanh", 2.0, 2.0},
    {"asinh", 1.3, 1.3}, {"acosh", 0.9, 0.9}, {"atanh", 1.1, 1.1}, {"sigmoid", 2.0, 2.0}, {"erf", 1.8, 1.3},
    {"erfc", 3.4, 3.2},  {"fmod", 0, 0},      {"round", 0, 0},     {"floor", 0, 0},       {"ceil", 0, 0},
    {"trunc", 0, 0},     {"abs", 0, 0},
};

} // namespace tests
