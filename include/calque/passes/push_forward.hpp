// SPDX-License-Identifier: MIT
// Forward-mode differentiation: appends to a graph the nodes that compute how results change with some values. It nests.
#pragma once

#include <calque/passes/differentiate.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

using namespace graph;

/// Carries tangents from a node's inputs to its result.
///
/// An operation has one derivative rule, the reverse one, which is linear in the adjoint u of the result: it is J'u. Its
/// own reverse derivative by u, along the tangents t of the inputs, is J t: the forward rule. (J. Bradbury et al. call
/// this a double transposition; it was shown by J. Townsend, "A new trick for calculating Jacobian vector products",
/// 2017.) What is left depends on no element of u, which here is a copy of the result.
class forward_step {
public:
    constexpr forward_step(builder& owner, sequence<node_id> const& tangents, node_id first)
        : owner_(owner), tangents_(tangents), first_(first) {}

    /// The tangent of a node; none if it does not change.
    constexpr value tangent_of(node_id id) const {
        value const y{&owner_, id};
        bool const is_elementwise = info(owner_[id].op).kind == op_kind::elementwise;
        value const u = graph::apply<ops::fresh>(0, y);
        sequence<value> adjoints;
        sequence<value> along;
        auto const receive = [&](int k, value adjoint) {
            value const input{&owner_, owner_.input(id, k)};
            node_id const tangent = input.id < first_ ? -1 : tangents_[input.id - first_];
            if (adjoint.exists() && tangent >= 0) {
                adjoints.push_back(is_elementwise ? sum_like(adjoint, input) : adjoint);
                along.push_back({&owner_, tangent});
            }
        };
        vjp_table<decltype(receive)>::call(u, y, receive);
        if (adjoints.empty()) {
            return y.none();
        }
        value result;
        pull_back(adjoints.data(), along.data(), adjoints.size(), &u, 1, &result);
        return result;
    }

private:
    builder& owner_;
    sequence<node_id> const& tangents_;
    node_id first_;
};

} // namespace detail

/// Writes to `changes` the tangents of `results`, where `count` values have the `tangents`: the derivative, applied to
/// them. Each has its result's shape.
///
/// Forward mode: one walk over the nodes between them, in order.
constexpr void push_forward(graph::value const* wrt, graph::value const* tangents, int count,
                            graph::value const* results, int result_count, graph::value* changes) {
    using namespace graph;
    builder& owner = *wrt[0].owner;
    node_id first = wrt[0].id;
    node_id last = wrt[0].id;
    for (int i = 1; i < count; ++i) {
        first = wrt[i].id < first ? wrt[i].id : first;
        last = wrt[i].id > last ? wrt[i].id : last;
    }
    for (int i = 0; i < result_count; ++i) {
        last = results[i].id > last ? results[i].id : last;
    }
    sequence<bool> is_needed(last - first + 1);
    for (int i = 0; i < result_count; ++i) {
        if (results[i].id >= first) {
            is_needed[results[i].id - first] = true;
        }
    }
    for (node_id id = last; id >= first; --id) {
        for (int k = 0; is_needed[id - first] && k < owner[id].input_count; ++k) {
            if (owner.input(id, k) >= first) {
                is_needed[owner.input(id, k) - first] = true;
            }
        }
    }
    sequence<node_id> tangent_of(last - first + 1);
    for (node_id& tangent : tangent_of) {
        tangent = -1;
    }
    for (int i = 0; i < count; ++i) {
        tangent_of[wrt[i].id - first] = tangents[i].id;
    }
    detail::forward_step const step(owner, tangent_of, first);
    for (node_id id = first; id <= last; ++id) {
        bool depends = false;
        node const& n = owner[id];
        for (int k = 0; k < n.input_count && !is_shape_input(n, k); ++k) {
            node_id const input = owner.input(id, k);
            depends |= input >= first && tangent_of[input - first] >= 0;
        }
        if (is_needed[id - first] && depends && is_floating(n.type) && tangent_of[id - first] < 0) {
            tangent_of[id - first] = step.tangent_of(id).id;
        }
    }
    for (int i = 0; i < result_count; ++i) {
        node_id const tangent = results[i].id < first ? -1 : tangent_of[results[i].id - first];
        changes[i] = tangent < 0 ? broadcast_like(zero_of(results[i]), results[i]) : value{&owner, tangent};
    }
}

} // namespace passes
} // namespace v0
} // namespace calque
