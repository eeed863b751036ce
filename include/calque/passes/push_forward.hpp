// SPDX-License-Identifier: MIT
// Forward-mode differentiation: appends to a graph the nodes that compute how results change with some values. It
// nests.
#pragma once

#include <calque/passes/differentiate.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

using namespace graph;

/// Carries tangents from some values to what depends on them, node by node, in order.
///
/// An operation has one derivative rule, the reverse one, which is linear in the adjoint u of the result: it is J'u.
/// Its own reverse derivative by u, along the tangents t of the inputs, is J t: the forward rule. (J. Townsend, "A new
/// trick for calculating Jacobian vector products", 2017.) What is left depends on no element of u, which here is a
/// copy of the result.
template <class Ops>
class forward_mode {
public:
    constexpr forward_mode(value const* wrt, value const* tangents, int count, value const* results, int result_count)
        : owner_(*wrt[0].owner), first_(wrt[0].id) {
        node_id last = first_;
        for (int i = 0; i < count; ++i) {
            first_ = wrt[i].id < first_ ? wrt[i].id : first_;
            last = wrt[i].id > last ? wrt[i].id : last;
        }
        for (int i = 0; i < result_count; ++i) {
            last = results[i].id > last ? results[i].id : last;
        }
        tangents_.resize(last - first_ + 1);
        for (node_id& tangent : tangents_) {
            tangent = -1;
        }
        for (int i = 0; i < count; ++i) {
            tangents_[wrt[i].id - first_] = tangents[i].id;
        }
        find_needed(results, result_count);
        for (node_id id = first_; id <= last; ++id) {
            node const& n = owner_[id];
            if (!is_needed_[id - first_] || tangents_[id - first_] >= 0 || !owner_.is_visible(n.region)) {
                continue;
            }
            if (is_control(n)) {
                push_through_control(id);
            } else if (is_floating(n.type) && depends(id)) {
                tangents_[id - first_] = tangent_of(id);
            }
        }
    }

    /// The tangent of a value, of its shape.
    constexpr value of(value result) const {
        node_id const tangent = known(result.id);
        return tangent < 0 ? broadcast_like(zero_of(result), result) : value{&owner_, tangent};
    }

private:
    constexpr node_id known(node_id id) const { return id < first_ ? -1 : tangents_[id - first_]; }

    constexpr void find_needed(value const* results, int count) {
        is_needed_.resize(tangents_.size());
        for (int i = 0; i < count; ++i) {
            if (results[i].id >= first_) {
                is_needed_[results[i].id - first_] = true;
            }
        }
        for (node_id id = first_ + tangents_.size() - 1; id >= first_; --id) {
            for (int k = 0; is_needed_[id - first_] && k < owner_[id].input_count; ++k) {
                if (owner_.input(id, k) >= first_) {
                    is_needed_[owner_.input(id, k) - first_] = true;
                }
            }
        }
    }

    constexpr bool depends(node_id id) const {
        bool result = false;
        for (int k = 0; k < owner_[id].input_count && !is_shape_input(owner_[id], k); ++k) {
            result |= known(owner_.input(id, k)) >= 0;
        }
        return result;
    }

    constexpr node_id tangent_of(node_id id) {
        value const y{&owner_, id};
        bool const is_elementwise = info(owner_[id].op).kind == op_kind::elementwise;
        value const u = graph::apply<ops::fresh>(0, y);
        sequence<seed> seeds;
        auto const receive = [&](int k, value adjoint) {
            value const input{&owner_, owner_.input(id, k)};
            if (adjoint.exists() && known(input.id) >= 0) {
                seeds.push_back({is_elementwise ? sum_like(adjoint, input).id : adjoint.id, known(input.id)});
            }
        };
        vjp_table<decltype(receive)>::template call<Ops>(u, y, receive);
        if (seeds.empty()) {
            return -1;
        }
        sequence<node_id> by;
        by.push_back(u.id);
        sequence<node_id> result;
        differentiate_seeds<Ops>(owner_, seeds, by, result);
        return result[0];
    }

    /// A branch or loop with all its results, as one operation.
    constexpr void push_through_control(node_id control) {
        sequence<node_id> sources;
        collect_sources(control, sources);
        sequence<node_id> results;
        sequence<node_id> copies;
        sequence<seed> seeds;
        for (node_id id = control + 1; id < first_ + tangents_.size(); ++id) {
            node const n = owner_[id];
            bool const is_result =
                info(n.op).kind == op_kind::border && n.input_count > 1 && owner_.input(id, 0) == control;
            if (is_result && is_needed_[id - first_] && is_floating(n.type) && !sources.empty()) {
                results.push_back(id);
                copies.push_back(graph::apply<ops::fresh>(0, value{&owner_, id}).id);
                seeds.push_back({id, copies.back()});
            }
        }
        if (results.empty()) {
            return;
        }
        sequence<node_id> adjoints;
        differentiate_seeds<Ops>(owner_, seeds, sources, adjoints);
        sequence<seed> along;
        for (int i = 0; i < sources.size(); ++i) {
            along.push_back({adjoints[i], known(sources[i])});
        }
        sequence<node_id> changes;
        differentiate_seeds<Ops>(owner_, along, copies, changes);
        for (int i = 0; i < results.size(); ++i) {
            tangents_[results[i] - first_] = changes[i];
        }
    }

    /// The values with tangents that a branch or loop starts with, or that its regions capture.
    constexpr void collect_sources(node_id control, sequence<node_id>& sources) const {
        node const n = owner_[control];
        sequence<node_id> read;
        for (int k = 0; k < control_counts::unpack(n.attribute).data; ++k) {
            read.push_back(owner_.input(control, k));
        }
        for (int r = 0; r < region_count(n); ++r) {
            collect_captures(owner_.view(), region_of(owner_.view(), n, r), read);
        }
        sequence<bool> found(owner_.node_count());
        for (node_id const id : read) {
            if (known(id) >= 0 && !found[id]) {
                found[id] = true;
                sources.push_back(id);
            }
        }
    }

    builder& owner_;
    node_id first_;
    sequence<node_id> tangents_; // of the nodes from `first_` on; -1: none
    sequence<bool> is_needed_;
};

} // namespace detail

/// Writes to `changes` the tangents of `results` where `count` values have the `tangents`: the derivative, applied to
/// them. Each has its result's shape.
///
/// Forward mode: one walk over the nodes between them, in order.
template <class Ops = graph::op_set>
constexpr void push_forward(graph::value const* wrt, graph::value const* tangents, int count,
                            graph::value const* results, int result_count, graph::value* changes) {
    detail::forward_mode<Ops> const forward(wrt, tangents, count, results, result_count);
    for (int i = 0; i < result_count; ++i) {
        changes[i] = forward.of(results[i]);
    }
}

} // namespace passes
} // namespace v0
} // namespace calque
