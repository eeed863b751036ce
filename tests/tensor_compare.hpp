// SPDX-License-Identifier: MIT
// Compares what `calque::function` computes with what the interpreter makes of the same optimized graph.
#pragma once

#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tests {

using calque::graph::tensor;

/// How far results may be from the interpreter's: not at all, but that any NaN is as good as another; or `epsilons`
/// times the epsilon of the dtype times the larger of `scale` and the element's own size.
///
/// For a sum, `scale` is the sum of the absolute values of what is summed.
struct closeness {
    double epsilons = 0;
    double scale = 0;
};

inline constexpr closeness equal_bits{};

template <class T>
bool is_close(T actual, T expected, closeness allowed) {
    if constexpr (std::floating_point<T>) {
        if (std::isnan(actual) || std::isnan(expected)) {
            return std::isnan(actual) && std::isnan(expected);
        }
        if (actual == expected) {
            return allowed.epsilons != 0 || std::signbit(actual) == std::signbit(expected);
        }
        double const size = std::max(std::abs(static_cast<double>(expected)), allowed.scale);
        double const bound = allowed.epsilons * static_cast<double>(std::numeric_limits<T>::epsilon()) * size;
        return std::abs(static_cast<double>(actual) - static_cast<double>(expected)) <= bound;
    } else {
        return actual == expected;
    }
}

/// Empty, or how `actual` differs from what is expected: the first few elements.
inline std::string difference(tensor const& actual, tensor const& expected, closeness allowed) {
    calque::text out;
    if (actual.type != expected.type || !(actual.extents == expected.extents)) {
        out << "it is " << actual.type << actual.extents << ", not " << expected.type << expected.extents;
        return out.string();
    }
    int shown = 0;
    calque::with_type_of(actual.type, [&]<class T>() {
        for (calque::extent_t i = 0; i < actual.size(); ++i) {
            T const is = actual.as<T>()[i];
            T const wanted = expected.as<T>()[i];
            if (!is_close(is, wanted, allowed) && ++shown <= 4) {
                out << "element " << i << " of " << actual.extents << " is ";
                calque::graph::append_number(out, is) << ", not ";
                calque::graph::append_number(out, wanted) << '\n';
            }
        }
    });
    return out.string();
}

/// An array, or a number, as a tensor.
template <class A>
tensor to_tensor(A const& array) {
    if constexpr (std::is_arithmetic_v<A>) {
        return tensor::copy_of({}, &array);
    } else {
        auto const ref = calque::detail::refer_to<calque::array_value_t<A> const>(array);
        calque::shape extents;
        calque::strides steps;
        if constexpr (ref.rank != 0) {
            for (int axis = 0; axis < ref.rank; ++axis) {
                extents.push_back(ref.extents[axis]);
                steps[axis] = ref.stride(axis);
            }
        }
        tensor t(calque::dtype_of<calque::array_value_t<A>>, extents);
        calque::graph::detail::placement from;
        from.step = steps;
        auto* to = t.template as<calque::array_value_t<A>>();
        calque::graph::detail::for_each_index(extents,
                                              [&](calque::shape const& index) { *to++ = ref.data[from(index)]; });
        return t;
    }
}

/// The leaves of a tree of arrays. `Structure`: what the tree stands for, where that is not the tree itself.
template <class Structure, class Tree>
void append_leaves(std::vector<tensor>& to, Tree const& tree) {
    calque::for_each_indexed_leaf<Structure>(tree, [&](auto, auto const& leaf) { to.push_back(to_tensor(leaf)); });
}

/// Elements that are no pattern: -2 to 2, or small integers of both signs, or 0 and 1.
template <class T>
void fill_with_noise(T* elements, std::size_t n, unsigned seed) {
    std::uint64_t state = seed + 1;
    for (std::size_t i = 0; i < n; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        auto const bits = static_cast<std::int32_t>(state >> 32);
        if constexpr (std::floating_point<T>) {
            elements[i] = static_cast<T>(bits / 1073741824.0);
        } else if constexpr (std::same_as<T, bool>) {
            elements[i] = bits < 0;
        } else {
            elements[i] = static_cast<T>(bits >> 28);
        }
    }
}

template <class T, std::size_t Rank>
xt::xtensor<T, Rank> noise(std::array<std::size_t, Rank> const& extents, unsigned seed) {
    xt::xtensor<T, Rank> array(extents);
    fill_with_noise(array.data(), array.size(), seed);
    return array;
}

/// The graphs of compiled functions. (Named by what they depend on: other types of arrays share them.)
template <class Code>
struct optimized_graph {
    static constexpr calque::graph::graph_view view() { return Code::optimized.view(); }
};
template <class Code>
struct traced_graph {
    static constexpr calque::graph::graph_view view() { return Code::traced::graph.view(); }
};

/// A function on some arguments: how it runs, and what the interpreter makes of it.
template <class F, class... Args>
class comparison {
    using program = calque::runtime::program<F, Args...>;
    using code = typename program::code;

public:
    /// The interpreter's results: of the traced graph, where extents broadcast as only the call knows.
    static std::vector<tensor> expected(Args const&... args) {
        calque::runtime::call<program> const call("test", args...);
        typename program::plan plan;
        program::make(plan, call.key().words, "test");
        if constexpr (code::may_be_interpreted) {
            if (plan.mode == calque::runtime::execution_mode::op_by_op) {
                return of_traced_graph(args...);
            }
        }
        return run<optimized_graph<code>>(tensors(args...));
    }

    /// The same of what was traced, before any pass.
    static std::vector<tensor> of_traced_graph(Args const&... args) {
        return run<traced_graph<code>>(tensors(args...));
    }

    template <class Results>
    static std::string differences(Results const& results, std::vector<tensor> const& expected, closeness allowed) {
        std::vector<tensor> actual;
        append_leaves<typename program::result>(actual, results);
        REQUIRE(actual.size() == expected.size());
        std::string all;
        for (std::size_t i = 0; i < actual.size(); ++i) {
            if (std::string const one = difference(actual[i], expected[i], allowed); !one.empty()) {
                all += "result " + std::to_string(i) + ": " + one;
            }
        }
        return all;
    }

private:
    static std::vector<tensor> tensors(Args const&... args) {
        std::vector<tensor> arguments;
        (append_leaves<Args>(arguments, args), ...);
        return arguments;
    }

    template <class Graph>
    static std::vector<tensor> run(std::vector<tensor> const& arguments) {
        std::vector<tensor> results(static_cast<std::size_t>(Graph::view().output_count));
        calque::graph::interpreter<calque::kernels::interpreter_engine, calque::graph::used_by<Graph>>::run(
            Graph::view(), arguments.data(), results.data());
        return results;
    }
};

/// Checks that a call of `f` gives what the interpreter makes of the same graph.
template <class F, class... Args>
void check_fused(F const& f, closeness allowed, Args const&... args) {
    using compare = comparison<F, Args...>;
    auto const expected = compare::expected(args...);
    auto const fn = calque::function(f);
    auto const results = fn(args...);
    std::string const differences = compare::differences(results, expected, allowed);
    if (!differences.empty()) {
        INFO(fn.plan(args...).text());
        CHECK(differences == "");
    } else {
        CHECK(true);
    }
}

} // namespace tests
