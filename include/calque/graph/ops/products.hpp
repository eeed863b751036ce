// SPDX-License-Identifier: MIT
// Products that sum over a shared axis.
#pragma once

#include <calque/graph/op.hpp>

#include <array>

namespace calque {
inline namespace v0 {
namespace graph::ops {

/// The product of an M x K and a K x N matrix. (Vectors become matrices before, and the result a vector after.)
struct matmul : op_defaults {
    static constexpr std::string_view name = "matmul";
    static constexpr op_kind kind = op_kind::contraction;
    static constexpr int arity = 2;
    static constexpr dtype_set accepts = dtype_set::numbers;
    static constexpr int cost = 1000;

    static constexpr shape infer(inference& in) {
        shape const& a = in.input(0);
        shape const& b = in.input(1);
        if (a.rank != 2 || b.rank != 2) {
            in.fail(reason::matrices_needed);
            return a;
        }
        extent_t const inner_a = a[1];
        extent_t const inner_b = b[0];
        if (inner_a != inner_b && inner_a != dyn && inner_b != dyn && is_named(inner_a) == is_named(inner_b)) {
            in.fail(reason::inner_extents_differ);
        }
        return {a[0], b[1]};
    }
    static constexpr auto vjp(auto dy, auto a, auto b, auto /*y*/) {
        return std::array{graph::matmul(dy, graph::transpose(b)), graph::matmul(graph::transpose(a), dy)};
    }
    static constexpr auto batch(auto const& in) {
        if (!in.is_mapped(1)) {
            return graph::matmul_rows(in.batch(0), in.part(1), in.shape_of_result());
        }
        if (!in.is_mapped(0)) { // (a b)' = b' a'
            auto const turned = [](auto x) { return graph::transpose(x, 0x120); };
            auto const left = graph::transpose(in.part(0));
            return turned(graph::matmul_rows(turned(in.batch(1)), left, turned(in.shape_of_result())));
        }
        return graph::matmul_each(in.batch(0), in.batch(1));
    }
};

/// The products of the matrices of two batches: [B,M,K] and [B,K,N] make [B,M,N]. They are stored: nothing is fused
/// with them.
struct batch_matmul : op_defaults {
    static constexpr std::string_view name = "batch_matmul";
    static constexpr op_kind kind = op_kind::movement;
    static constexpr int arity = 2;
    static constexpr dtype_set accepts = dtype_set::numbers;
    static constexpr int cost = 1000;

    static constexpr shape infer(inference& in) {
        shape const& a = in.input(0);
        shape const& b = in.input(1);
        if (a.rank != 3 || b.rank != 3) {
            in.fail(reason::matrices_needed);
            return a;
        }
        if (differ(a[2], b[1])) {
            in.fail(reason::inner_extents_differ);
        }
        if (differ(a[0], b[0])) {
            in.fail(reason::batches_differ);
        }
        return {is_static(b[0]) || a[0] == dyn ? b[0] : a[0], a[1], b[2]};
    }
    static constexpr auto vjp(auto dy, auto a, auto b, auto /*y*/) {
        return std::array{graph::batch_matmul(dy, graph::transpose(b, 0x120)),
                          graph::batch_matmul(graph::transpose(a, 0x120), dy)};
    }
    static constexpr auto batch(auto const& in) {
        auto const products = graph::matmul_each(graph::merge_axes(in.batch(0), 0), graph::merge_axes(in.batch(1), 0));
        return graph::reshape_like(products, in.shape_of_result());
    }

private:
    static constexpr bool differ(extent_t a, extent_t b) {
        return a != b && a != dyn && b != dyn && is_named(a) == is_named(b);
    }
};

} // namespace graph::ops
} // namespace v0
} // namespace calque
