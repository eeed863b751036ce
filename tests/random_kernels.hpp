// SPDX-License-Identifier: MIT
// Compares the kernels of a random function with the interpreter, which runs the same optimized graph.
#pragma once

#include <calque/interop/with_shape.hpp>
#include <calque/interop/xtensor.hpp>
#include <calque/runtime/function.hpp>

#include "random_graph.hpp"
#include "run_graph.hpp"

#include <tuple>

namespace tests {

template <std::size_t Rank>
xt::xtensor<float, Rank> to_xtensor(tensor const& t) {
    std::array<std::size_t, Rank> extents{};
    for (std::size_t axis = 0; axis < Rank; ++axis) {
        extents[axis] = static_cast<std::size_t>(t.extents[static_cast<int>(axis)]);
    }
    xt::xtensor<float, Rank> x(extents);
    std::copy(t.as<float>(), t.as<float>() + t.size(), x.data());
    return x;
}

/// Checks a result of the kernels against that of the interpreter.
template <class Result>
void check_result(Result const& given, tensor const& expected, tolerance allowed) {
    tensor y(dtype::float32, expected.extents);
    if constexpr (std::is_arithmetic_v<Result>) {
        *y.as<float>() = given;
    } else {
        REQUIRE(static_cast<calque::extent_t>(given.size()) == expected.size());
        std::copy(given.data(), given.data() + given.size(), y.as<float>());
    }
    CHECK(difference(y, expected, allowed) == "");
}

/// Runs a function of [rows, Columns], [Columns] and [rows, 1] that returns two arrays, for some numbers of rows.
/// The matrices among the arguments lie in the order `Order`.
template <class traced, int Columns, xt::layout_type Order = xt::layout_type::row_major>
void check_kernels(std::initializer_list<calque::extent_t> row_counts, tolerance allowed) {
    constexpr calque::extent_t rows = calque::dim("rows");
    using compiled = calque::runtime::compiled<traced, calque::spec<float, rows, Columns>, calque::spec<float, Columns>,
                                               calque::spec<float, rows, 1>>;
    struct optimized {
        static constexpr calque::graph::graph_view view() { return compiled::optimized.view(); }
    };
    using interpreter_of_graph =
        calque::graph::interpreter<calque::kernels::interpreter_engine, calque::graph::used_by<optimized>>;
    auto const f = calque::function(traced{});
    for (calque::extent_t const n : row_counts) {
        tensor const arguments[] = {noise<float>({n, Columns}, 1), noise<float>({Columns}, 2), noise<float>({n, 1}, 3)};
        tensor expected[2];
        interpreter_of_graph::run(optimized::view(), arguments, expected);
        xt::xtensor<float, 2, Order> const x = to_xtensor<2>(arguments[0]);
        auto const row = to_xtensor<1>(arguments[1]);
        xt::xtensor<float, 2, Order> const column = to_xtensor<2>(arguments[2]);
        auto const [y, z] = f(calque::with_shape<rows, Columns>(x), calque::with_shape<Columns>(row),
                              calque::with_shape<rows, 1>(column));
        INFO(Columns, " columns, ", n, " rows");
        check_result(y, expected[0], allowed);
        check_result(z, expected[1], allowed);
    }
}

inline constexpr std::initializer_list<calque::extent_t> some_rows = {1, 2, 7, 16, 33};

/// Runs `random_function<Seed, Nodes, Kind>`.
template <unsigned Seed, int Nodes, mix Kind, int Columns, xt::layout_type Order = xt::layout_type::row_major>
void check_random_function(std::initializer_list<calque::extent_t> row_counts = some_rows) {
    INFO("seed ", Seed, ", ", Nodes, " nodes");
    check_kernels<random_function<Seed, Nodes, Kind>, Columns, Order>(
        row_counts, Kind == mix::smooth ? tolerance{1e-4, 1e-4} : tolerance{});
}

/// Runs the gradients of a random function.
template <unsigned Seed, int Nodes, mix Kind, int Columns, xt::layout_type Order = xt::layout_type::row_major>
void check_random_gradient(std::initializer_list<calque::extent_t> row_counts = some_rows) {
    INFO("gradients, seed ", Seed, ", ", Nodes, " nodes");
    check_kernels<random_gradient<Seed, Nodes, Kind>, Columns, Order>(row_counts, {1e-3, 1e-3});
}

} // namespace tests
