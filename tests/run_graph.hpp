// SPDX-License-Identifier: MIT
// Runs graphs in tests: a function on `graph::value`s is built into a graph and interpreted.
#pragma once

#include <calque/graph/interpreter.hpp>
#include <calque/graph/print.hpp>
#include <calque/kernels/cpu/interpreter_engine.hpp>

#include <doctest/doctest.h>

#include "sketch.hpp"

#include <cmath>
#include <concepts>
#include <functional>
#include <string>
#include <vector>

namespace tests {

using calque::dtype;
using calque::shape;
using calque::graph::tensor;
using calque::graph::value;

using interpreter = calque::graph::interpreter<calque::kernels::interpreter_engine>;

template <class T>
tensor make(shape const& s, std::vector<T> const& elements) {
    REQUIRE(static_cast<calque::extent_t>(elements.size()) == s.size());
    if constexpr (std::same_as<T, bool>) {
        tensor t(dtype::bool_, s);
        for (std::size_t i = 0; i < elements.size(); ++i) {
            t.as<bool>()[i] = elements[i];
        }
        return t;
    } else {
        return tensor::copy_of(s, elements.data());
    }
}

/// Elements that are no pattern: -1 to 1, or small integers of both signs.
template <class T>
tensor noise(shape const& s, unsigned seed) {
    tensor t(calque::dtype_of<T>, s);
    std::uint64_t state = seed + 1;
    for (calque::extent_t i = 0; i < s.size(); ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        auto const bits = static_cast<std::int32_t>(state >> 32);
        if constexpr (std::floating_point<T>) {
            t.as<T>()[i] = static_cast<T>(bits / 2147483648.0);
        } else {
            t.as<T>()[i] = static_cast<T>(bits >> 28);
        }
    }
    return t;
}

/// What a trace knows of the arguments' extents.
enum class extents { are_static, are_dynamic };

/// A function of some arguments, as a graph.
using graph_function = std::function<value(std::vector<value> const&)>;

/// Builds the graph of `f(arguments)`.
inline void build(sketch& s, std::vector<tensor> const& arguments, extents known, graph_function const& f) {
    std::vector<value> handles;
    for (tensor const& a : arguments) {
        shape declared = a.extents;
        for (int axis = 0; axis < declared.rank && known == extents::are_dynamic; ++axis) {
            declared[axis] = calque::dyn;
        }
        handles.push_back(s.argument(declared, a.type));
    }
    s.add_output(f(handles).id);
    REQUIRE(s.error().why == calque::graph::reason::none);
}

/// `f(arguments)`, interpreted.
inline tensor run(std::vector<tensor> const& arguments, extents known, graph_function const& f) {
    sketch s;
    build(s, arguments, known, f);
    tensor result;
    interpreter::run(s.view(), arguments.data(), &result);
    return result;
}

/// What a comparison forgives. Without a tolerance, zeros have their signs; NaN is NaN in any case.
struct tolerance {
    double relative = 0;
    double absolute = 0;
};

template <class T>
bool is_close(T a, T b, tolerance allowed) {
    if constexpr (std::floating_point<T>) {
        if (std::isnan(a) || std::isnan(b)) {
            return std::isnan(a) && std::isnan(b);
        }
        if (a == b) {
            return std::signbit(a) == std::signbit(b) || allowed.relative != 0;
        }
        double const difference = std::abs(static_cast<double>(a) - static_cast<double>(b));
        return difference <= allowed.relative * std::abs(static_cast<double>(b)) + allowed.absolute;
    } else {
        return a == b;
    }
}

/// Empty, or how `y` differs from what is expected.
inline std::string difference(tensor const& y, tensor const& expected, tolerance allowed = {}) {
    calque::text out;
    if (y.type != expected.type || !(y.extents == expected.extents)) {
        out << "it is " << y.type << y.extents << ", not " << expected.type << expected.extents;
        return out.string();
    }
    calque::with_type_of(y.type, [&]<class T>() {
        T const* const given = y.as<T>();
        T const* const wanted = expected.as<T>();
        for (calque::extent_t i = 0; i < y.size(); ++i) {
            if (!is_close(given[i], wanted[i], allowed)) {
                out << "element " << i << " is ";
                calque::graph::append_number(out, given[i]) << ", not ";
                calque::graph::append_number(out, wanted[i]) << '\n';
            }
        }
    });
    return out.string();
}

/// Checks that `f(arguments)` is as expected, whether the trace knows the extents or not.
inline void check(std::vector<tensor> const& arguments, graph_function const& f, tensor const& expected,
                  tolerance allowed = {}) {
    for (extents const known : {extents::are_static, extents::are_dynamic}) {
        sketch s;
        build(s, arguments, known, f);
        INFO(calque::graph::to_text(s.view()));
        tensor result;
        interpreter::run(s.view(), arguments.data(), &result);
        CHECK(difference(result, expected, allowed) == "");
    }
}

} // namespace tests
